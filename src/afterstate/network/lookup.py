"""The kernels of an n-tuple network: from a board to indices of weights, and from indices to a value.

The eight isomorphs of a pattern share one table. We turn the board, not the pattern: `pext` with the same mask on each turned
board gives the index. The board is turned as planes, so an index begins with bit 0 of all the pattern's cells, then bit 1 of
all. Boards that differ in small tiles lie close together in the table, on few cache lines and pages.

A network with stages has a set of tables for each. A weight of 0 in a later stage was never written: the weight of the stage
before is used instead, and learning starts from it (weight promotion).
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.bitboard import flip_planes, mirror_planes, to_planes, transpose_planes
from afterstate.games.game import look
from afterstate.kernel import implement, kernel, pext, prefetch, specialised, u64

_0, _1, _4, _8 = u64(0), u64(1), u64(4), u64(8)
_EVERY_OTHER = u64(0x0F0F0F0F0F0F0F0F)
_CARRIES = u64(0x1010101010101010)


class OneStage(NamedTuple):
    """All positions share one set of tables."""

    unused: np.uint64 = u64(0)


class ByTile(NamedTuple):
    """A set of tables for each stage of a game; the largest tile on the board says which."""

    addends: NDArray[np.uint64]  # (stages - 1,) 16 - first tile in every byte: adding it carries for that tile or larger
    size: np.uint64  # weights of one stage


class Afterstates(NamedTuple):
    """The network's target: it values afterstates."""

    unused: np.uint64 = u64(0)


class States(NamedTuple):
    """The network's target: it values states."""

    unused: np.uint64 = u64(0)


Target = Literal["afterstate", "state"]  # what a network values
TARGETS: dict[Target, Afterstates | States] = {"afterstate": Afterstates(), "state": States()}


class NoCopies(NamedTuple):
    """No weight has a copy."""

    unused: np.uint64 = u64(0)


class Lookup(NamedTuple):
    """What kernels see of a network. A board looks up m = patterns x symmetry weights."""

    target: Any  # Afterstates or States
    weights: NDArray[np.float32]  # (stages * contexts * context_size + copies,) all tables, one after the other
    masks: NDArray[np.uint64]  # (patterns,) a bit in each plane at every cell of the pattern
    offsets: NDArray[np.uint64]  # (patterns,) where the pattern's table begins within a set
    stages: Any  # OneStage or ByTile
    copies: Any  # NoCopies, or the copies of a thread that learns with others
    sight: Any  # what is seen of a position, for `look`
    context_size: np.uint64  # weights of one context; a stage has a set of tables for each
    symmetry: np.uint64  # isomorphisms in use: 8, 4 or 1
    lookups: np.uint64  # m
    square: np.uint64  # 1 if rows and columns may be swapped
    right: np.uint64  # bits to shift a mirrored small board back to the left wall
    down: np.uint64  # bits to shift a flipped small board back to the top


@kernel
def isomorphs(board: u64, square: u64, right: u64, down: u64) -> tuple[u64, u64, u64, u64, u64, u64, u64, u64]:
    """The eight isomorphs of a board that is given as planes. The first four are the rotations.

    If the board is not square, the first four are the board, its half turn and both mirrors; the rest are not used.
    """
    mirrored = mirror_planes(board) >> right
    flipped = flip_planes(board) >> down
    turned = mirror_planes(flipped) >> right
    if square == _0:
        return board, turned, mirrored, flipped, _0, _0, _0, _0
    across, along = transpose_planes(mirrored), transpose_planes(flipped)
    return board, turned, across, along, mirrored, flipped, transpose_planes(board), transpose_planes(turned)


@specialised
def stage_of(stages: Any, board: u64) -> u64:
    """The stage that a board belongs to, counted from 0."""


@specialised
def stage_size(stages: Any) -> u64:
    """Weights of one stage; 0 if there is only one."""


@implement(stage_of, OneStage)
def _only_stage(stages: Any, board: u64) -> u64:
    return _0


@implement(stage_size, OneStage)
def _no_size(stages: Any) -> u64:
    return _0


@implement(stage_of, ByTile)
def _stage_by_tile(stages: Any, board: u64) -> u64:
    even, odd = board & _EVERY_OTHER, (board >> _4) & _EVERY_OTHER
    stage = _0
    for number in range(stages.addends.size):
        if (((even + stages.addends[number]) | (odd + stages.addends[number])) & _CARRIES) != _0:
            stage += _1
    return stage


@implement(stage_size, ByTile)
def _size_by_tile(stages: Any) -> u64:
    return stages.size  # type: ignore[no-any-return]


@specialised
def find_starts(copies: Any, planes: u64) -> None:
    """Find where each look-up of a board begins: at a table or at a copy."""


@specialised
def place_of(copies: Any, nth: u64, table: u64, index: u64) -> u64:
    """Where the nth look-up of a board finds weight `index` of the table that begins at `table`."""


@implement(find_starts, NoCopies)
def _find_no_starts(copies: Any, planes: u64) -> None:
    pass


@implement(place_of, NoCopies)
def _place_in_table(copies: Any, nth: u64, table: u64, index: u64) -> u64:
    return table + index


@kernel
def index_board(net: Any, board: u64, extra: u64, indices: Any, at: u64) -> None:
    """Write the m indices of a position's weights to indices[at:], pattern by pattern, and prefetch the weights."""
    seen, context = look(net.sight, board, extra)
    index_seen(net, board, seen, context, indices, at)


@kernel
def index_seen(net: Any, board: u64, seen: u64, context: u64, indices: Any, at: u64) -> None:
    """The same for a position that `look` sees as `seen` in `context`."""
    symmetry = net.symmetry
    base = stage_of(net.stages, board) * stage_size(net.stages) + context * net.context_size
    planes = to_planes(seen)
    find_starts(net.copies, planes)
    b0, b1, b2, b3, b4, b5, b6, b7 = isomorphs(planes, net.square, net.right, net.down)
    nth = _0  # look-up
    for number in range(u64(net.masks.size)):
        mask, table = net.masks[number], net.offsets[number] + base
        _write_index(net, indices, at, nth, table, pext(b0, mask))
        if symmetry >= _4:
            _write_index(net, indices, at + u64(1), nth + u64(1), table, pext(b1, mask))
            _write_index(net, indices, at + u64(2), nth + u64(2), table, pext(b2, mask))
            _write_index(net, indices, at + u64(3), nth + u64(3), table, pext(b3, mask))
        if symmetry == _8:
            _write_index(net, indices, at + u64(4), nth + u64(4), table, pext(b4, mask))
            _write_index(net, indices, at + u64(5), nth + u64(5), table, pext(b5, mask))
            _write_index(net, indices, at + u64(6), nth + u64(6), table, pext(b6, mask))
            _write_index(net, indices, at + u64(7), nth + u64(7), table, pext(b7, mask))
        at += symmetry
        nth += symmetry


@kernel
def _write_index(net: Any, indices: Any, at: u64, nth: u64, table: u64, index: u64) -> None:
    place = place_of(net.copies, nth, table, index)
    prefetch(net.weights, place)
    indices[at] = place


@kernel
def sum_weights(net: Any, indices: Any, at: u64) -> float:
    """The value behind indices[at : at + m]: the plain sum.

    Weights have 24 bits and the sum has 53, so the order of the terms does not matter: isomorphic boards have one value, and a
    tie is a tie. Four partial sums, so that no addition waits for the one before.
    """
    weights = net.weights
    if stage_size(net.stages) != _0 and indices[at] >= stage_size(net.stages):
        return _sum_late(net, indices, at)
    a = b = c = d = 0.0
    end = at + net.lookups
    while at + u64(3) < end:
        a += np.float64(weights[indices[at]])
        b += np.float64(weights[indices[at + u64(1)]])
        c += np.float64(weights[indices[at + u64(2)]])
        d += np.float64(weights[indices[at + u64(3)]])
        at += _4
    while at < end:
        a += np.float64(weights[indices[at]])
        at += _1
    return (a + b) + (c + d)


@kernel
def _sum_late(net: Any, indices: Any, at: u64) -> float:
    """Like `sum_weights`, for a board beyond the first stage: weights that were never written come from the stage before."""
    total = 0.0
    for place in range(at, at + net.lookups):
        total += np.float64(net.weights[last_written(net, u64(indices[place]))])
    return total


@kernel
def last_written(net: Any, index: u64) -> u64:
    """The index of the weight to use: this one, or the same weight in the last stage before that wrote it."""
    size = stage_size(net.stages)
    while size != _0 and index >= size and net.weights[index] == np.float32(0):
        index -= size
    return index


@kernel
def promote(net: Any, indices: Any, at: u64) -> None:
    """Before their first write in a stage, give weights the value they had in the stage before."""
    if stage_size(net.stages) != _0 and indices[at] >= stage_size(net.stages):
        for place in range(at, at + net.lookups):
            index = u64(indices[place])
            net.weights[index] = net.weights[last_written(net, index)]
