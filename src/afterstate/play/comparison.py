"""Is one player stronger than another? The difference of their mean scores, with an interval that says what it covers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, SupportsIndex

import numpy as np

from afterstate.errors import InputError
from afterstate.games.results import Summary
from afterstate.intervals import welch
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.play.evaluation import measure

Contender = Agent | Network | Summary
Unit = Literal["game", "network"]


@dataclass(frozen=True)
class Side:
    """One side of a comparison."""

    summaries: tuple[Summary, ...]  # one for each network, with its games
    unit: Unit  # what its spread is measured over
    mean: float  # of the units
    deviation: float  # of the units; nan for one

    @property
    def count(self) -> int:
        """How many units there are."""
        return len(self.summaries) if self.unit == "network" else self.summaries[0].games


@dataclass(frozen=True)
class Comparison:
    """How much more `a` scores than `b`."""

    a: Side
    b: Side
    difference: float  # mean of a - mean of b
    interval: float  # half the width of its 95 % confidence interval, by Welch's t; inf for one game
    degrees: float  # of freedom

    @property
    def low(self) -> float:
        """Where the interval begins."""
        return self.difference - self.interval

    @property
    def high(self) -> float:
        """Where it ends."""
        return self.difference + self.interval

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves no doubt which side scores more."""
        return self.low > 0 or self.high < 0

    @property
    def covers(self) -> str:
        """What the interval covers, for people."""
        trained = [name for name, side in (("a", self.a), ("b", self.b)) if side.unit == "network"]
        if len(trained) == 2:
            return "the luck of games and of training: other training seeds are within it"
        if trained:
            only = "b" if trained == ["a"] else "a"
            return f"the luck of games, and of training only for {trained[0]}: {only} is this one network"
        return "the luck of games alone: these two networks, not how they were trained"

    def __str__(self) -> str:
        return f"{self.difference:+,.0f} ± {self.interval:,.0f} (95 %), which covers {self.covers}"


def compare(
    a: Contender | Sequence[Contender],
    b: Contender | Sequence[Contender],
    *,
    games: SupportsIndex | str = 1000,
    seed: SupportsIndex = 1,
    threads: SupportsIndex | None = None,
) -> Comparison:
    """Play `games` games with each network or agent, and compare the mean scores.

    >>> from afterstate import load
    >>> network = load("runs/mine")
    >>> found = compare(Agent(network, depth=2), network, games=100)
    >>> found.difference > 0, found.is_clear
    (True, True)
    >>> found.covers
    'the luck of games alone: these two networks, not how they were trained'

    A side may be several networks that were trained alike with different seeds. Each then counts as one value, its mean, and
    the interval covers the luck of training as well. What `evaluate` returned may be given instead of a player.
    """
    sides = {"a": _players(a, "a"), "b": _players(b, "b")}
    _check_same_game([player for players in sides.values() for player in players])
    one, other = (_side([_measured(player, games, seed, threads) for player in players]) for players in sides.values())
    half, degrees = welch(one.deviation, one.count, other.deviation, other.count)
    return Comparison(one, other, one.mean - other.mean, half, degrees)


def _players(given: Contender | Sequence[Contender], name: str) -> list[Contender]:
    """The players of a side, checked."""
    players = [given] if isinstance(given, Agent | Network | Summary) else list(given)
    if not players:
        raise InputError(f"there is nothing to compare: {name} is empty")
    for player in players:
        if not isinstance(player, Agent | Network | Summary):
            raise InputError(f"{name} is agents, networks or what evaluate() returned, not {type(player).__name__}")
        if isinstance(player, Summary) and len(player.episodes.scores) != player.games:
            raise InputError(f"{name} is a summary without its games: give what evaluate() returned")
    return players


def _check_same_game(players: Sequence[Contender]) -> None:
    """Refuse scores of different games. A summary does not say which game it is of."""
    games = [_network(player).game for player in players if not isinstance(player, Summary)]
    for game in games[1:]:
        if game != games[0]:
            raise InputError(f"a and b play different games, {games[0]!r} and {game!r}: their scores cannot be compared")


def _network(player: Agent | Network) -> Network:
    return player.network if isinstance(player, Agent) else player


def _measured(player: Contender, games: SupportsIndex | str, seed: SupportsIndex, threads: SupportsIndex | None) -> Summary:
    if isinstance(player, Summary):
        return player
    agent = Agent(player) if isinstance(player, Network) else player
    return measure(agent, games=games, seed=seed, threads=threads).finished()


def _side(summaries: Sequence[Summary]) -> Side:
    if len(summaries) > 1:
        means = np.array([summary.mean for summary in summaries])
        return Side(tuple(summaries), "network", float(means.mean()), float(means.std(ddof=1)))
    summary = summaries[0]
    deviation = float(summary.episodes.scores.std(ddof=1)) if summary.games > 1 else math.nan
    return Side((summary,), "game", summary.mean, deviation)
