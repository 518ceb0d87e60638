"""What a search knows already: values of afterstates by depth, and what the network said of positions.

The *transposition table* holds E(s', d) for d >= 1. An entry is four words: board, extra, value, and a tag: the generation in
which it was written, the depth, and the care that was taken, since a search leaves out more below improbable positions. A value
is found again by those that want the same depth and no more care. Two entries fill a cache line; of two that want the same line
the deeper stays, and the other takes the second place. A new generation empties the table without touching it.

The *memory of leaves* holds V of positions as the network sees them, two words each: in a search every second leaf is met
again within a few, since a slide brings new tiles from different cells to the same place.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import ResourceError
from afterstate.kernel import kernel, u64
from afterstate.memory import aligned, free_memory
from afterstate.units import format_bytes

LINE = 64  # bytes of two entries
LEAF_BITS = 13  # 8192 leaves for each context: 128 KiB stay in the cache of a core

_0, _1, _2, _4, _8, _32 = (u64(n) for n in (0, 1, 2, 4, 8, 32))
_ODD, _OTHER_ODD = u64(0x9E3779B97F4A7C15), u64(0xD6E8FEB86659FD93)
_LEAF_SHIFT = u64(64 - LEAF_BITS)


class Table(NamedTuple):
    """One thread's memory of a search. Words and values lie in the same memory, seen as two types."""

    words: NDArray[np.uint64]  # (8 * lines,)
    values: NDArray[np.float64]
    lines: np.uint64  # a power of two; 0 if there is no table
    leaf_words: NDArray[np.uint64]  # (2 * leaves * contexts,)
    leaf_values: NDArray[np.float64]


def make_table(size: int, contexts: int) -> Table:
    """A table of at most `size` bytes, and a cache of leaves for a network with this many contexts."""
    lines = 1 << (size // LINE).bit_length() - 1 if size >= LINE else 0
    free = free_memory()
    if lines * LINE > free:
        raise ResourceError(f"a table of {format_bytes(size)} needs more than the {format_bytes(free)} of free memory")
    words = aligned(max(8 * lines, 1), np.uint64)
    leaves = aligned(2 * contexts << LEAF_BITS, np.uint64)
    forget_leaves(leaves)
    return Table(words, words.view(np.float64), u64(lines), leaves, leaves.view(np.float64))


def forget_leaves(words: NDArray[np.uint64]) -> None:
    """Empty the memory of leaves. Every place gets a key that belongs to another place, so that none is found there."""
    leaves = words.reshape(-1, 1 << LEAF_BITS, 2)
    leaves[:, :, 0] = 0  # the key 0 belongs to place 0
    leaves[:, 0, 0] = 1  # and 1 does not


@kernel
def leaf_place(seen: u64, context: u64) -> u64:
    """The place of a position's value, if it is there."""
    return (((seen * _ODD) >> _LEAF_SHIFT) | (context << u64(LEAF_BITS))) * _2


@kernel
def line_of(table: Any, board: u64, extra: u64, depth: u64) -> u64:
    """Where the line of an afterstate begins."""
    mixed = (board ^ ((extra + depth) * _OTHER_ODD)) * _ODD
    mixed ^= mixed >> _32
    line: u64 = ((mixed * _OTHER_ODD) >> u64(20)) & (table.lines - _1)
    return line * _8


@kernel
def make_tag(generation: int, depth: int, care: int) -> u64:
    """What an entry says of its value. Of two tags the larger is the newer, deeper or more exact one."""
    return (u64(generation) << u64(16)) | (u64(depth) << _8) | u64(care)


@kernel
def find(table: Any, at: u64, board: u64, extra: u64, tag: u64) -> tuple[bool, float]:
    """The value of an afterstate, if its line has it, with the depth of the tag and at least its care."""
    words = table.words
    for place in (at, at + _4):
        known = words[place + u64(3)]
        if words[place] == board and words[place + _1] == extra and known >= tag and known >> _8 == tag >> _8:
            return True, table.values[place + _2]
    return False, 0.0


@kernel
def keep(table: Any, at: u64, board: u64, extra: u64, tag: u64, value: float) -> None:
    """Keep the value of an afterstate."""
    words = table.words
    place = at
    if words[at + u64(3)] > tag:
        place = at + _4
    else:
        for word in range(_4):
            words[at + _4 + word] = words[at + word]
    words[place], words[place + _1], words[place + u64(3)] = board, extra, tag
    table.values[place + _2] = value
