"""What a run tells while it goes on: how far it is, how well it plays, how the learning itself goes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.games.results import Summary
from afterstate.learning.update import ERRORS, MOVES, OUTSIDE, RATES, UPDATES


@dataclass(frozen=True)
class Learning:
    """How the learning itself goes: means over all updates, and over all values, of a part of a run."""

    moves: int  # all that were learned from, those of restarts too
    error: float  # |target - value|
    rate: float  # learning rate of a weight, which for TC is beta times its coherence
    outside: float  # part of the values that no position can have: below 0, or above the highest score

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
    total: int | None  # games in all, if the run is limited by games
    seconds: float  # of training, over all sittings
    limit: float | None  # seconds in all, if the run is limited by time
    moves_per_s: float  # of the block under way
    block: Summary | None  # the last whole block
    learning: Learning | None  # of the learning since the block began
    doing: str  # "training" or "evaluating"


class Listener:
    """Hears what a run does. The default hears nothing; a display overrides what it shows."""

    def on_progress(self, progress: Progress) -> None:
        pass

    def on_block(self, games: int, block: Summary) -> None:
        pass

    def on_eval(self, games: int, summary: Summary) -> None:
        pass


def as_record(summary: Summary) -> dict[str, Any]:
    """A summary as a line of metrics: its number of games is called `count`, since `games` counts the training."""
    values = summary.as_dict()
    values["count"] = values.pop("games")
    return values
