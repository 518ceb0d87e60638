"""What a run reports: how far it is, how well it plays, how the learning itself goes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.games.results import Summary
from afterstate.learning.update import ERRORS, MOVES, OUTSIDE, RATES, UPDATES
from afterstate.network.training import Block


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
        pass

    def on_block(self, games: int, block: Summary) -> None:
        pass

    def on_eval(self, games: int, summary: Summary, points: float | None) -> None:
        """`points` are those of the judge, if it was asked for."""

    def on_best(self, new: Block, old: Block | None, path: Path) -> None:
        """A network was saved that is better than the best before; `path` is its file."""

    def on_note(self, text: str) -> None:
        """Something that people should know, such as where a resume starts."""

    def on_warning(self, text: str) -> None:
        """Something that is probably wrong with the options."""


def as_record(summary: Summary) -> dict[str, Any]:
    """A summary as a line of metrics: its number of games is called `count`, since `games` counts training games."""
    values = summary.as_dict()
    values["count"] = values.pop("games")
    return values
