"""What learning moves, as several threads share it: the weights, and what a rule keeps beside them.

Threads learn on the same tables without locks. But a cache line that two cores write to in turn travels each time, and the
weights of small tiles are moved in every game, many times a move. So each of several threads has a copy of the first weights of
each table (`lookup.Apart`), learns on that, and from time to time settles it with the table: what the copy has moved by since
the last time is added to the table, and the copy becomes what the table is then.

If both were moved, both may have moved all the way to the same value, and their sum would be twice too far: then the table gets
`BOTH` / threads of the copy's move. It stays below 2 / threads, beyond which threads that all correct the same error would
swing around the right value for ever; TC, whose weights may go all the way within a few steps, needs to stay further below. The
more threads, the older is what a copy knows of the others, and the less is copied.

Weights of large tiles are never copied, however small their table is. They are what a player learns at the edge of what it can
do, from a few games, and there each thread needs at once what the other has just found out. Where all of a small table was
copied, two threads took longer than one to make their first 8192s a habit, and now and then never did.

E and A of TC add up whoever moved them, and only their ratio counts, which a thread's own errors tell as well: they are settled
when all threads pause.

With one thread nothing is copied. Networks with several sets of tables are shared whole: with stages, a weight that was never
written is looked up in the stage before, of which a copy would know nothing; and where more is seen than the tiles, the hottest
weights are not the first ones of a table (for Threes!, copies brought no speed).
"""

import threading
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.kernel import kernel, u64
from afterstate.learning.options import Method
from afterstate.learning.rules import HALF, TC, TD, coherence_bound, make_tc
from afterstate.network.network import Network, allocate

COPIED = 1 << 20  # weights of a table that a thread has a copy of, at most, times the fourth power of the number of threads
SMALL = 3  # bits of a small tile's index: only weights of such tiles are copied, in 2048 those below 256
BOTH = {"td": 1.9, "tc": 1.5}  # by rule; a run that learns by both takes that of TC
SETTLED = 80  # copied weights that may be looked through for each move that is played
LINE = 16  # weights of a cache line
GLANCE = 16 * LINE  # copied weights that are settled at once, or not at all if none of them has moved


@kernel
def settle(table: Any, copy: Any, before: Any, both: np.float32) -> None:
    """Bring a part of a table and a copy of it together; `before` is what both were the last time.

    Where both have moved, the table follows by only `both` of the copy's way. Where nothing has moved, nothing is written.
    """
    words, own, old = table.view(np.uint64), copy.view(np.uint64), before.view(np.uint64)
    size = u64(table.size)
    for first in range(u64(0), size, u64(GLANCE)):
        end = min(first + u64(GLANCE), size)
        moved = u64(0)
        for place in range(first // u64(2), end // u64(2)):
            moved |= (own[place] ^ old[place]) | (words[place] ^ old[place])
        if moved == u64(0):
            continue
        for place in range(first, end):  # no branch from weight to weight, so that many are done at once
            value, by = table[place], copy[place] - before[place]
            table[place] = copy[place] = before[place] = copy[place] if value == before[place] else value + both * by


def _halve(pairs: NDArray[np.float32], bound: np.float32) -> None:
    """Halve E and A, (weights, 2), until no A is above its bound; see `TC`."""
    while (above := pairs[:, 1] > bound).any():
        pairs[above] *= HALF


def copied(threads: int, cells: int) -> int:
    """How many weights each of some threads has a copy of, of a pattern with so many cells: a power of two, or 0."""
    size = COPIED // threads**4
    return 1 << min(size.bit_length() - 1, SMALL * cells) if size >= LINE else 0


class _Piece(NamedTuple):
    """A part of a table that a thread has a copy of; see `settle`."""

    table: NDArray[np.float32]
    copy: NDArray[np.float32]
    before: NDArray[np.float32]
    both: np.float32


class SharedTables:
    """A network while it learns, with what each of some threads has for itself."""

    def __init__(self, network: Network, threads: int, *, keeps_coherence: bool) -> None:
        self.threads = threads
        self._network = network
        copies = threads > 1 and network.sets == 1 and not network.context
        self._sizes = [copied(threads, len(pattern)) if copies else 0 for pattern in network.patterns]  # of each table's copy
        if network.weights.size + threads * sum(self._sizes) > 2**32 - threads * LINE:  # see `Apart`
            self._sizes = [0] * len(network.patterns)
        self._part = -(-sum(self._sizes) // LINE) * LINE  # weights that one thread has of its own, on lines of its own
        network.make_room(threads * self._part)
        self._coherence = allocate(2 * network.lookup.weights.size) if keeps_coherence else None
        self.bound = coherence_bound(network)  # of A
        self.lookups = [network.lookup] * threads
        self._copies: list[list[_Piece]] = [[] for _ in range(threads)]  # weights that each thread has copies of
        self._rates: list[list[_Piece]] = [[] for _ in range(threads)]  # E and A of these
        if self._part:
            every, memory = range(threads), network.lookup.weights
            self.lookups = [network.lookup_with_copies(self._sizes, self._starts(thread)) for thread in every]
            both = BOTH["tc" if keeps_coherence else "td"] / threads
            self._copies = [self._copied(thread, memory, 1, both) for thread in every]
            if self._coherence is not None:
                self._rates = [self._copied(thread, self._coherence, 2, 1.0) for thread in every]
        self._moves = [0] * threads  # since a thread last settled
        self._lock = threading.Lock()

    @property
    def coherence(self) -> NDArray[np.float32] | None:
        """E and A of each weight, side by side, if the rule keeps them; without what threads have for themselves."""
        return None if self._coherence is None else self._coherence[: 2 * self._network.weights.size]

    def _starts(self, thread: int) -> list[int]:
        """Where a thread's copies begin, table by table."""
        begin = self._network.weights.size + thread * self._part
        return [begin + sum(self._sizes[:number]) for number in range(len(self._sizes))]

    def _copied(self, thread: int, memory: NDArray[np.float32], wide: int, both: float) -> list[_Piece]:
        """What a thread has copies of, table by table; memory has `wide` numbers for each weight."""
        pieces = []
        for table, own, size in zip(self._network.lookup.offsets.tolist(), self._starts(thread), self._sizes, strict=True):
            there, here = (memory[wide * begin : wide * (begin + size)] for begin in (table, own))
            pieces.append(_Piece(there, here, np.zeros(there.size, np.float32), np.float32(both)))
        return pieces

    def rule(self, method: Method, alpha: float) -> TD | TC:
        """A learning rule that moves these weights."""
        if method == "td":
            return TD(np.float64(alpha))
        assert self._coherence is not None
        return make_tc(self._network, alpha, self._coherence)

    def clear(self) -> None:
        """Forget everything; all memory is touched by that."""
        self._network.weights.fill(0.0)
        if self._coherence is not None:
            self._coherence.fill(0.0)

    def renew(self) -> None:
        """Let all copies be as the tables are; no thread may be learning."""
        for piece in chain(*self._copies, *self._rates):
            piece.copy[:] = piece.before[:] = piece.table

    def played(self, thread: int, moves: int) -> None:
        """A thread has played so many moves: settle its copies of weights if that is worth the time by now."""
        self._moves[thread] += moves
        if not self._part or SETTLED * self._moves[thread] < self._part:
            return
        self._moves[thread] = 0
        with self._lock:
            for piece in self._copies[thread]:
                settle(*piece)

    def settle(self) -> None:
        """Let the tables hold all that was learned; no thread may be learning."""
        for piece in chain(*self._copies, *self._rates):
            settle(*piece)
        for piece in self._rates[0]:  # the tables are the same for all threads
            _halve(piece.table.reshape(-1, 2), self.bound)
        self._moves = [0] * self.threads
