"""Which games of a run are to be played, are under way, or are learned: every game counts exactly once.

Workers get chunks of games in the order of their numbers. A chunk counts once what was learned from it is merged, and not
before: if its worker is lost, so is what it learned, and the chunk is played again.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from afterstate.games.results import Results
from afterstate.learning.update import TALLIED


@dataclass(frozen=True)
class Chunk:
    """Games first, first + 1, ... for one worker."""

    first: int
    count: int


@dataclass
class Played:
    """A chunk that a worker has learned from."""

    chunk: Chunk
    results: Results
    sums: NDArray[np.float64]  # what was tallied, see `update.Tally`
    busy: float  # seconds that the worker took
    seconds: float = 0.0  # its part of the run's time, known once it is merged


@dataclass
class Delivery:
    """What was handed over of some games, besides their results."""

    games: int
    sums: NDArray[np.float64]
    seconds: float


@dataclass
class Ledger:
    """The games from `next` on have not been handed out yet; those before are lost, under way, or merged."""

    next: int = 0
    lost: list[Chunk] = field(default_factory=list)  # to be played again
    merged: dict[int, Played] = field(default_factory=dict)  # by their first game; not delivered, or not completely

    def hand_out(self, count: int, limit: int | None) -> Chunk | None:
        """The next games to play, at most `count`: those that were lost first. None if there are none before `limit`."""
        if self.lost:
            chunk = self.lost.pop(0)
            if chunk.count > count:
                self.lost.insert(0, Chunk(chunk.first + count, chunk.count - count))
            return Chunk(chunk.first, min(chunk.count, count))
        count = count if limit is None else min(count, limit - self.next)
        if count <= 0:
            return None
        self.next += count
        return Chunk(self.next - count, count)

    def lose(self, chunks: Iterable[Chunk]) -> None:
        """Note chunks whose worker is gone."""
        self.lost = sorted([*self.lost, *chunks], key=lambda chunk: chunk.first)

    def merge(self, played: Iterable[Played]) -> None:
        """Note chunks that are merged."""
        self.merged |= {each.chunk.first: each for each in played}

    @property
    def ahead(self) -> int:
        """Games that are merged, but not delivered."""
        return sum(len(each.results.scores) for each in self.merged.values())

    def deliver(self, first: int, results: Results) -> Delivery:
        """Hand over the results of games from `first` on, as far as they are merged without a gap.

        A chunk that is handed over in part gives that part of its sums and seconds, by moves.
        """
        done = Delivery(0, np.zeros(TALLIED), 0.0)
        while done.games < len(results.scores) and (each := self.merged.pop(first + done.games, None)):
            count = min(len(each.results.scores), len(results.scores) - done.games)
            part = results.part(done.games, done.games + count)
            part.scores[:], part.moves[:], part.largest[:] = each.results.part(0, count)
            share = 1.0
            if count < len(each.results.scores):
                share = float(each.results.moves[:count].sum() / each.results.moves.sum())
                rest = Chunk(each.chunk.first + count, each.chunk.count - count)
                left = each.results.part(count, each.chunk.count)
                self.merged[rest.first] = Played(rest, left, each.sums * (1 - share), each.busy, each.seconds * (1 - share))
            done = Delivery(done.games + count, done.sums + each.sums * share, done.seconds + each.seconds * share)
        return done
