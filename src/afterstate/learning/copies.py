"""How threads that learn together share the tables: copies of the hottest weights, and how they are settled.

Threads learn on the same tables without locks. But a cache line that two cores write in turn moves between them each time. That
takes as long as going to memory, or longer on processors with several dies. The weights of small tiles change in every game,
many times per move. So each of several threads has a copy of the first weights of each table, learns on it, and from time to
time settles it with the table: the copy's change since the last time is added to the table, and the copy then takes the table's
values. The copies lie behind the tables in the same memory, so an index leads to either.

If both have changed, both may have moved all the way to the same value, and their sum would go twice as far as it should. Then
the table takes only `Kind.together` / threads of the copy's change. That stays below 2 / threads; above it, threads that all
correct the same error would swing around the right value for ever. The more threads there are, the older a copy's knowledge of
the others is, and the less is copied.

Weights of large tiles are never copied, however small their table is. A player learns them from few games, at the edge of what
it can do, and each thread needs at once what the others have just found out. When a small table was copied whole, two threads
took longer than one to reach 8192 regularly, and sometimes never did.

What a rule keeps for each weight (E and A of TC) is copied too. It adds up no matter which thread changed it, and is settled
when all threads pause.

One thread copies nothing. Networks with several sets of tables are shared without copies. With stages, a weight that was never
written is looked up in the stage before, which a copy knows nothing about. If a network sees more than the tiles, the hottest
weights are not the first ones of a table (for Threes!, copies were no faster).
"""

import threading
from collections.abc import Collection
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.kernel import implement, kernel, u64
from afterstate.learning.rules import RULES
from afterstate.memory import aligned, allocate
from afterstate.network.lookup import Lookup, find_starts, isomorphs, place_of
from afterstate.network.network import Network

SMALL = 3  # bits of a small tile's index: only weights of such tiles are copied, in 2048 those below 256
SETTLED = 80  # copied weights that may be looked through per move played
LINE = 16  # weights of a cache line
GLANCE = 16 * LINE  # copied weights that are settled together, or skipped if none has changed


# --- looking up with copies ----------------------------------------------------------------------------------------------


class Copies(NamedTuple):
    """Where a thread has its copies of the first weights of each table.

    Indices have 32 bits here: all tables and copies together must fit.
    """

    large: NDArray[np.uint64]  # (m,) bits of a board's planes that take each look-up beyond the copied weights
    tables: NDArray[np.uint32]  # (m,) where its table begins
    further: NDArray[np.uint32]  # (m,) how far behind that its copy begins
    starts: NDArray[np.uint32]  # (m,) working memory: where it begins for the current board


@implement(find_starts, Copies)
def _find_starts(copies: Any, planes: u64) -> None:
    for nth in range(copies.large.size):  # vectorised; choosing index by index costs more
        is_small = np.uint32((planes & copies.large[nth]) == u64(0))
        copies.starts[nth] = np.uint32(copies.tables[nth] + np.uint32(copies.further[nth] * is_small))


@implement(place_of, Copies)
def _place(copies: Any, nth: u64, table: u64, index: u64) -> u64:
    return u64(np.uint32(copies.starts[nth] + index))


def look_up_copies(network: Network, sizes: list[int], begins: list[int]) -> Lookup:
    """A look-up that uses copies of the first weights of each table: `sizes` (powers of two) that begin at `begins`.

    A weight is among the first if all bits of its index that are worth the copy's size or more are 0; `Copies.large` has these
    bits on the board before it is turned.
    """
    net, symmetry = network.lookup, network.symmetry
    large = np.zeros((len(network.patterns), symmetry), np.uint64)
    for bit in (1 << number for number in range(64)):
        turned = isomorphs(u64(bit), net.square, net.right, net.down)
        for pattern, mask in enumerate(net.masks.tolist()):
            for turn in range(symmetry):
                there = int(turned[turn])
                if mask & there and 1 << (mask & (there - 1)).bit_count() >= sizes[pattern]:
                    large[pattern, turn] |= u64(bit)
    tables = np.repeat(net.offsets, symmetry)
    further = (np.repeat(np.array(begins, np.uint64), symmetry) - tables).astype(np.uint32)  # which may wrap
    return net._replace(copies=Copies(large.ravel(), tables.astype(np.uint32), further, aligned(large.size, np.uint32)))


def default_size(threads: int) -> int:
    """How many weights of a table each thread has a copy of: 65,536 with two threads."""
    return (1 << 20) // threads**4


def copy_size(size: int, cells: int) -> int:
    """The same for a pattern with this many cells: a power of two, or 0 if a copy is not worth it."""
    return 1 << min(size.bit_length() - 1, SMALL * cells) if size >= LINE else 0


# --- bringing copies together --------------------------------------------------------------------------------------------


@kernel
def settle(table: Any, copy: Any, before: Any, both: np.float32) -> None:
    """Settle a part of a table with a copy of it; `before` is what both were the last time.

    Where both have changed, the table takes only `both` of the copy's change. Where nothing has changed, nothing is written.
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
        for place in range(first, end):  # no branches, so that it is vectorised
            value, by = table[place], copy[place] - before[place]
            table[place] = copy[place] = before[place] = copy[place] if value == before[place] else value + both * by


class _Piece(NamedTuple):
    """A part of a table that a thread has a copy of; see `settle`."""

    table: NDArray[np.float32]
    copy: NDArray[np.float32]
    before: NDArray[np.float32]
    both: np.float32


class SharedTables:
    """The tables of a network that learns by some rules, and each thread's copies.

    `size` is how many weights of a table each thread copies at most. With `tidies` False, what the rules keep only adds up: who
    brings it together with that of others tidies it then.
    """

    def __init__(
        self, network: Network, rules: Collection[str], threads: int, *, size: int | None = None, tidies: bool = True
    ) -> None:
        self.threads = threads
        self.tidies = tidies
        self._network = network
        self._kinds = {name: RULES[name].kind for name in rules}
        self._sizes = self._copy_sizes(default_size(threads) if size is None else size)
        self._part = -(-sum(self._sizes) // LINE) * LINE  # copied weights of one thread, on its own cache lines
        network.move_to(allocate(network.weights.size + threads * self._part))
        self._kept = {name: allocate(kind.numbers * network.lookup.weights.size) for name, kind in self._kinds.items()}
        self.lookups = [network.lookup] * threads
        self._weights: list[list[_Piece]] = [[] for _ in range(threads)]  # the copied weights of each thread
        self._beside: dict[str, list[list[_Piece]]] = {}  # what each rule keeps for these
        if self._part:
            self.lookups = [look_up_copies(network, self._sizes, self._begins(thread)) for thread in range(threads)]
            together = min(kind.together for kind in self._kinds.values()) / threads
            self._weights = self._pieces(network.lookup.weights, 1, together)
            self._beside = {
                name: self._pieces(self._kept[name], kind.numbers, 1.0) for name, kind in self._kinds.items() if kind.numbers
            }
        self._moves = [0] * threads  # since a thread last settled
        self._lock = threading.Lock()

    def _copy_sizes(self, size: int) -> list[int]:
        """How many weights of each table a thread copies."""
        network = self._network
        sizes = [copy_size(size, len(pattern)) for pattern in network.patterns]
        fits = network.weights.size + self.threads * sum(sizes) <= 2**32 - self.threads * LINE  # see `Copies`
        copies = self.threads > 1 and network.sets == 1 and not network.context and fits
        return sizes if copies else [0] * len(sizes)

    def _begins(self, thread: int) -> list[int]:
        """Where a thread's copies begin, table by table."""
        begin = self._network.weights.size + thread * self._part
        return [begin + sum(self._sizes[:number]) for number in range(len(self._sizes))]

    def _pieces(self, memory: NDArray[np.float32], wide: int, both: float) -> list[list[_Piece]]:
        """The copies of each thread, table by table; memory has `wide` numbers for each weight."""
        offsets = self._network.lookup.offsets.tolist()
        return [
            [
                _Piece(
                    memory[wide * table : wide * (table + size)],
                    memory[wide * own : wide * (own + size)],
                    np.zeros(wide * size, np.float32),
                    np.float32(both),
                )
                for table, own, size in zip(offsets, self._begins(thread), self._sizes, strict=True)
            ]
            for thread in range(self.threads)
        ]

    @property
    def kept(self) -> dict[str, NDArray[np.float32]]:
        """What the rules keep for each weight, by its name in a checkpoint; without the threads' copies."""
        size = self._network.weights.size
        return {kind.kept_as: self._kept[name][: kind.numbers * size] for name, kind in self._kinds.items() if kind.numbers}

    def rule(self, name: str, rate: float) -> Any:
        """A learning rule that moves these weights."""
        kind = self._kinds[name]
        rule = kind.make(self._network, rate, self._kept[name])
        return rule if self.tidies or kind.untidied is None else kind.untidied(rule)

    def clear(self) -> None:
        """Set everything to 0. This touches all memory."""
        for memory in (self._network.weights, *self._kept.values()):
            memory.fill(0.0)

    def renew(self) -> None:
        """Set all copies to the tables' values; no thread may be learning."""
        for piece in self._all_pieces():
            piece.copy[:] = piece.before[:] = piece.table

    def played(self, thread: int, moves: int) -> None:
        """Count the moves of a thread, and settle its copies of weights once that is worth the time."""
        self._moves[thread] += moves
        if not self._part or SETTLED * self._moves[thread] < self._part:
            return
        self._moves[thread] = 0
        with self._lock:
            for piece in self._weights[thread]:
                settle(*piece)

    def settle(self) -> None:
        """Settle all copies, so that the tables hold all that was learned; no thread may be learning."""
        for piece in self._all_pieces():
            settle(*piece)
        for name, pieces in self._beside.items() if self.tidies else ():
            if tidy := self._kinds[name].tidy:
                for piece in pieces[0]:  # the tables are the same for all threads
                    tidy(self._network, piece.table)
        self._moves = [0] * self.threads

    def _all_pieces(self) -> list[_Piece]:
        return list(chain(*self._weights, *chain(*self._beside.values())))
