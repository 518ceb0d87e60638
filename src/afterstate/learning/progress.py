"""What a run reports: how far it is, how well it plays, how the learning itself goes."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.games.results import Summary
from afterstate.learning.options import Phase
from afterstate.learning.update import ERRORS, MOVES, OUTSIDE, RATES, UPDATES
from afterstate.network.training import Block
from afterstate.units import plain

Callback = Callable[[int, Summary], object]  # games of training, and a block or an evaluation -> True to stop


@dataclass(frozen=True)
class Learning:
    """How the learning itself goes: means over all updates and values in a part of a run."""

    moves: int  # all that were learned from, including restarts
    error: float  # |target - value|
    rate: float  # learning rate of a weight, which for TC is beta times its coherence
    outside: float  # share of values that no position can have: below 0, or above the highest score

    @classmethod
    def of(cls, sums: NDArray[np.float64]) -> "Learning | None":
        """From the sums of tallies; None before the first update."""
        if not (sums[MOVES] > 0 and sums[UPDATES] > 0):
            return None
        return cls(
            int(sums[MOVES]),
            float(sums[ERRORS] / sums[UPDATES]),
            float(sums[RATES] / sums[UPDATES]),
            float(sums[OUTSIDE] / sums[MOVES]),
        )


@dataclass(frozen=True)
class Progress:
    """How a run is going; sent about ten times a second."""

    games: int
    total: int | None  # games of the whole run, if it is limited by games
    seconds: float  # of training, since the run began
    limit: float | None  # seconds of the whole run, if it is limited by time
    moves_per_s: float  # in the current block
    block: Summary | None  # the last finished block
    learning: Learning | None  # since the block began
    doing: str  # "training" or "evaluating"


class Listener:
    """Gets reports from a run. The default ignores them; a display overrides what it shows."""

    def on_start(self, rate: str, origin: str | None) -> None:
        """A new run begins: what its learning rate means, and what it takes from another model."""

    def on_progress(self, progress: Progress) -> None:
        """How far the run is, several times a second."""

    def on_block(self, games: int, block: Summary) -> None:
        """A block was finished, after so many games of training."""

    def on_eval(self, games: int, summary: Summary, points: float | None) -> None:
        """An evaluation was finished. `points` are those of the judge, if it was asked for."""

    def on_best(self, new: Block, old: Block | None, path: Path) -> None:
        """A network was saved that is better than the best before; `path` is its file."""

    def on_note(self, text: str) -> None:
        """Something that people should know, such as where a resume starts."""

    def on_warning(self, text: str) -> None:
        """Something that is probably wrong with the options."""


class Callbacks(Listener):
    """Calls functions. One that returns True stops the run, which then keeps all that it has learned."""

    def __init__(self, stop: threading.Event, on_block: Callback | None = None, on_eval: Callback | None = None) -> None:
        self._stop = stop
        self._on_block, self._on_eval = on_block, on_eval

    def on_block(self, games: int, block: Summary) -> None:
        self._call(self._on_block, games, block)

    def on_eval(self, games: int, summary: Summary, points: float | None) -> None:  # noqa: ARG002
        self._call(self._on_eval, games, summary)

    def _call(self, callback: Callback | None, games: int, summary: Summary) -> None:
        if callback is not None and plain(callback(games, summary)) is True:
            self._stop.set()


def as_record(summary: Summary) -> dict[str, Any]:
    """A summary as a line of metrics: its number of games is called `count`, since `games` counts training games."""
    values = summary.as_dict()
    values["count"] = values.pop("games")
    return values


def block_record(games: int, seconds: float, phase: Phase, block: Summary, learning: Learning | None) -> dict[str, Any]:
    """A block as a line of metrics: games and seconds of training by its end, its phase, and what was measured."""
    record = {"kind": "block", "games": games, "training_seconds": seconds, "method": phase.method, "alpha": phase.alpha}
    record |= as_record(block)
    if learning is not None:
        record |= {"mean_error": learning.error, "mean_rate": learning.rate, "out_of_range": learning.outside}
        record |= {"moves_per_s": learning.moves / block.seconds}  # including restarts
    return record
