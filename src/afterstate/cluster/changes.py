"""What a worker has learned since the last merge: found by comparing its tables with what they were, and kept sparse.

A `Change` lists the weights that differ, how far each has moved, and by how much what the rules keep for it (E and A of TC) has
grown. It is plain arrays: 6 bytes for each weight, 4 for each number that the rules keep for it, and 6 for each page.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.learning.rules import Kind
from afterstate.memory import allocate
from afterstate.network.network import Network

PAGE = 1 << 12  # weights of a page: places in it have 16 bits
PIECE = 1 << 17  # weights that are compared at a time: what was found stays in the cache


class Change(NamedTuple):
    """How some weights have changed; pages and places rise."""

    pages: NDArray[np.uint32]  # (p,) numbers of the pages with changed weights
    counts: NDArray[np.uint16]  # (p,) how many each has
    places: NDArray[np.uint16]  # (n,) where in their page these are
    moves: NDArray[np.float32]  # (n,) how far each weight has moved
    kept: NDArray[np.float32]  # (n, numbers) growth of all that the rules keep for it

    @property
    def nbytes(self) -> int:
        """Bytes to send."""
        return sum(array.nbytes for array in self)

    def indices(self) -> NDArray[np.int64]:
        """(n,) where in the tables the weights are."""
        return np.repeat(self.pages.astype(np.int64) * PAGE, self.counts) + self.places

    def split(self, shards: int) -> list["Change"]:
        """One change for each shard, see `shard_of`."""
        owners = shard_of(self.pages, shards)
        each = np.repeat(owners, self.counts)
        return [self._of(owners == shard, each == shard) for shard in range(shards)]

    def _of(self, pages: NDArray[np.bool_], weights: NDArray[np.bool_]) -> "Change":
        return Change(self.pages[pages], self.counts[pages], self.places[weights], self.moves[weights], self.kept[weights])


def make_change(indices: NDArray[np.int64], moves: NDArray[np.float32], kept: NDArray[np.float32]) -> Change:
    """Write down what has changed; the indices rise."""
    pages, counts = np.unique(indices // PAGE, return_counts=True)
    return Change(pages.astype(np.uint32), counts.astype(np.uint16), (indices % PAGE).astype(np.uint16), moves, kept)


def shard_of(pages: NDArray[np.uint32], shards: int) -> NDArray[np.uint8]:
    """The shard of each page. Neighbours change together, so a hash scatters them."""
    scattered = (pages.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    return (scattered % np.uint64(shards)).astype(np.uint8)


class Replica:
    """The tables of a network and what its rules keep for each weight, with what both were at the last merge.

    All replicas of a run take the same changes by the same arithmetic, so after a merge they are equal bit for bit. One that
    does not learn needs no memory for what was before.
    """

    def __init__(
        self, network: Network, kinds: Sequence[Kind], kept: Sequence[NDArray[np.float32]], *, learns: bool = True
    ) -> None:
        """`kept` is what rules of these kinds keep, one array for each kind that keeps anything."""
        size = network.weights.size
        self._network = network
        self._kinds = [kind for kind in kinds if kind.numbers]
        self._tables = [network.weights.reshape(size, 1), *(array.reshape(size, -1) for array in kept)]
        self._before = [allocate(table.size).reshape(table.shape) for table in self._tables] if learns else self._tables

    def find_change(self) -> Change:
        """What was learned since the last merge."""
        indices = self._changed()
        moves = self._tables[0][indices, 0] - self._start(indices)
        kept = [table[indices] - before[indices] for table, before in self._beside()]
        return make_change(indices, moves, _beside(kept, len(indices)))

    def find_all(self) -> Change:
        """All that was ever learned: the change from a network of zeros."""
        indices = _join(
            np.flatnonzero(reduce(np.bitwise_or, [table[part].any(axis=1) for table in self._tables])) + part.start
            for part in self._pieces()
        )
        weights, *kept = [table[indices] for table in self._tables]
        return make_change(indices, weights[:, 0], _beside(kept, len(indices)))

    def take(self, change: Change) -> None:
        """Replace what was learned since the last merge by what all have learned."""
        indices = change.indices()
        weights = (self._start(indices) + change.moves)[:, None]
        news, first = [weights], 0
        for kind, (_, before) in zip(self._kinds, self._beside(), strict=True):
            new = before[indices] + change.kept[:, first : first + kind.numbers]
            if kind.tidy:
                kind.tidy(self._network, new.reshape(-1))
            news.append(new)
            first += kind.numbers
        for table, before, new in zip(self._tables, self._before, news, strict=True):
            table[indices] = new
            before[indices] = new

    def _beside(self) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """What the rules keep, now and at the last merge."""
        return list(zip(self._tables[1:], self._before[1:], strict=True))

    def _changed(self) -> NDArray[np.int64]:
        """The weights that have moved, or of which the rules keep something new."""
        pairs = list(zip(self._tables, self._before, strict=True))
        return _join(
            np.flatnonzero(reduce(np.bitwise_or, [_rows_differ(now[part], before[part]) for now, before in pairs])) + part.start
            for part in self._pieces()
        )

    def _pieces(self) -> list[slice]:
        return [slice(start, start + PIECE) for start in range(0, len(self._tables[0]), PIECE)]

    def _start(self, indices: NDArray[np.int64]) -> NDArray[np.float32]:
        """What weights moved from: what they were at the last merge, or in the stage before if they had never been written."""
        before, stage = self._before[0][:, 0], self._network.stage_weights
        values = before[indices]
        for _ in self._network.stages[1:]:
            unwritten = (values == 0) & (indices >= stage)
            if not unwritten.any():
                break
            indices = np.where(unwritten, indices - stage, indices)
            values = before[indices]
        return values


def _join(found: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate(list(found))


def _beside(kept: Sequence[NDArray[np.float32]], count: int) -> NDArray[np.float32]:
    """(count, numbers) what all rules keep, side by side."""
    return np.concatenate([np.empty((count, 0), np.float32), *kept], axis=1)


def _rows_differ(one: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.bool_]:
    """(n,) which rows of two (n, 1) or (n, numbers) arrays differ in any bit."""
    width = {1: np.uint32, 2: np.uint64}.get(one.shape[1])  # then a row is one number
    differ: NDArray[np.bool_] = (one != other).any(axis=1) if width is None else (one.view(width) != other.view(width))[:, 0]
    return differ
