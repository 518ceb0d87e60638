"""Watch a run: which network is the best so far, does it still play, is its learning rate too large?

A judgement needs games. Blocks of fewer than ENOUGH games are judged together, as one stretch.
"""

import math
from typing import Any

from afterstate.files import is_file
from afterstate.learning.options import Best
from afterstate.learning.runfolder import RunFolder
from afterstate.network.modelfile import read_training
from afterstate.network.network import Network
from afterstate.network.training import Block
from afterstate.rng import Random

ENOUGH = 100  # games that a judgement needs, whatever the block
COLLAPSE = 0.2  # a stretch has collapsed if its mean is below this share of the best one
COLLAPSED = 3  # collapsed stretches in a row that stop the run
OUTSIDE = 0.1  # share of values out of range that is too much; sound runs of any method stay below 0.02
RUNAWAY = 1e9  # a value that no game can reach
FIRST_BOARDS = 20  # checked for such values


class Watch:
    """Follows a run by its lines of metrics. A resumed run is where it was once it has seen all lines so far."""

    def __init__(self, games: int | None, *, optimistic: float = 0.0) -> None:
        """`games` are those of the run, if it is limited by games: a shorter run is judged by all that it has."""
        self.optimistic = optimistic  # what every position was worth at first
        self.warned = False
        self.warning: str | None = None  # about the learning rate: found in the last stretch, for the first time
        self.enough = ENOUGH if games is None else min(ENOUGH, games)
        self.top = 0.0  # the best mean of a stretch
        self.low = 0  # stretches in a row that have collapsed
        self._blocks: list[dict[str, Any]] = []  # of the current stretch

    def see(self, record: dict[str, Any]) -> Block | None:
        """See a block of the metrics -> the stretch that ends with it; None if it has too few games yet."""
        self._blocks.append(record)
        self.warning = None
        self.warned |= "warning" in record
        count = sum(block["count"] for block in self._blocks)
        if count < self.enough:
            return None
        stretch = Block(record["games"], _mean(self._blocks, "win_rate"), _mean(self._blocks, "mean"), count)
        self._warn(stretch.mean)
        self._blocks.clear()
        self.top = max(self.top, stretch.mean)
        self.low = self.low + 1 if stretch.mean < COLLAPSE * self.top else 0
        return stretch

    def _warn(self, mean: float) -> None:
        """Find out if the learning rate is too large: errors beyond the score of a game, or many values that cannot be.

        In sound runs the mean error is at most half the mean score, after optimistic first values at most that much more.
        """
        known = [block for block in self._blocks if None not in map(block.get, ("mean_error", "out_of_range", "alpha"))]
        if self.warned or not known:
            return
        error, outside = _mean(known, "mean_error"), _mean(known, "out_of_range")
        if error > mean + self.optimistic:
            why = f"values are off by {error:,.0f} points on average, but a game brings only {mean:,.0f}"
        elif outside > OUTSIDE and not self.optimistic:
            why = f"{outside:.0%} of the values are below 0 or beyond the highest score"
        else:
            return
        self.warned = True
        self.warning = f"alpha {known[-1]['alpha']:g} is probably too large: {why}. Try a smaller --alpha"

    @property
    def collapsed(self) -> bool:
        """Whether the run has forgotten how to play."""
        return self.low >= COLLAPSED


def _mean(blocks: list[dict[str, Any]], name: str) -> float:
    """The mean over the games of some blocks, which all have the same number of games."""
    return float(blocks[0][name]) if len(blocks) == 1 else math.fsum(block[name] for block in blocks) / len(blocks)


def has_run_away(network: Network, seed: int) -> bool:
    """Whether values are no longer numbers, or beyond any score. Every value builds on later ones: the first boards show it."""
    states = [network.game.start(Random(seed, number=number)) for number in range(FIRST_BOARDS)]
    return not all(abs(network.value(state)) < RUNAWAY for state in states)


def is_better(new: Block, old: Block | None, by: Best) -> bool:
    """Whether a network is better than the best so far, by the games that it was judged by.

    By mean score. By win rate only if that is asked for and the two rates differ by more than chance explains: once nearly all
    games are won, or nearly none, win rates no longer tell networks apart. What was judged by too few games gives way.
    """
    if old is None:
        return True
    if min(new.count, ENOUGH) != min(old.count, ENOUGH):
        return new.count > old.count
    if by == "win" and _differ(new, old):
        return new.win_rate > old.win_rate
    return new.mean > old.mean


def better_than_best(folder: RunFolder) -> dict[str, Any] | None:
    """The last block of a run, if it says that the last checkpoint plays clearly better than the best; else None."""
    best = folder.best_so_far()
    if best is None or not is_file(folder.last):
        return None
    games = read_training(folder.last).games
    blocks = [record for record in folder.read_metrics() if record["kind"] == "block" and record["games"] <= games]
    if not blocks or blocks[-1]["interval"] is None:
        return None
    return blocks[-1] if blocks[-1]["mean"] - blocks[-1]["interval"] > best.mean else None


def _differ(one: Block, other: Block) -> bool:
    """Whether two win rates differ by more than chance explains, in 95 of 100 cases."""
    games = one.count + other.count
    rate = (one.win_rate * one.count + other.win_rate * other.count) / games
    spread = math.sqrt(max(rate * (1 - rate), 0.0) * (1 / one.count + 1 / other.count))
    return abs(one.win_rate - other.win_rate) > 1.959964 * spread
