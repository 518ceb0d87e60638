"""The kernels of an n-tuple network: from a board to indices of weights, and from indices to a value.

The eight isomorphs of a pattern share one table. Instead of turning the pattern, the board is turned: `pext` with the same mask
on each turned board gives the index, with the pattern's smallest cell in the low nibble.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.bitboard import flip, mirror, transpose
from afterstate.kernel import kernel, pext, prefetch, u64

_0, _1, _4, _8 = u64(0), u64(1), u64(4), u64(8)


class Lookup(NamedTuple):
    """What kernels see of a network. A board looks up m = patterns x symmetry weights."""

    weights: NDArray[np.float32]  # (size,) all tables, one after the other
    masks: NDArray[np.uint64]  # (patterns,) 15 at every cell of the pattern
    offsets: NDArray[np.uint64]  # (patterns,) where the pattern's table begins
    symmetry: np.uint64  # isomorphisms in use: 8, 4 or 1
    lookups: np.uint64  # m
    square: np.uint64  # 1 if rows and columns may be swapped
    right: np.uint64  # bits that bring a mirrored small board back to the left wall
    down: np.uint64  # bits that bring a flipped small board back to the top


@kernel
def isomorphs(board: u64, square: u64, right: u64, down: u64) -> tuple[u64, u64, u64, u64, u64, u64, u64, u64]:
    """The eight ways to look at a board. The first four are the rotations.

    On a board that is not square the first four are the half turn and both mirrors, and the rest are of no use.
    """
    mirrored = mirror(board) >> right
    flipped = flip(board) >> down
    turned = mirror(flipped) >> right
    if square == _0:
        return board, turned, mirrored, flipped, _0, _0, _0, _0
    return board, turned, transpose(mirrored), transpose(flipped), mirrored, flipped, transpose(board), transpose(turned)


@kernel
def index_board(net: Any, board: u64, indices: Any, at: u64) -> None:
    """Write the m indices of a board's weights to indices[at:], pattern by pattern, and ask the memory for each."""
    weights, symmetry = net.weights, net.symmetry
    b0, b1, b2, b3, b4, b5, b6, b7 = isomorphs(board, net.square, net.right, net.down)
    for number in range(u64(net.masks.size)):
        mask, offset = net.masks[number], net.offsets[number]
        _note(weights, indices, at, offset + pext(b0, mask))
        if symmetry >= _4:
            _note(weights, indices, at + u64(1), offset + pext(b1, mask))
            _note(weights, indices, at + u64(2), offset + pext(b2, mask))
            _note(weights, indices, at + u64(3), offset + pext(b3, mask))
        if symmetry == _8:
            _note(weights, indices, at + u64(4), offset + pext(b4, mask))
            _note(weights, indices, at + u64(5), offset + pext(b5, mask))
            _note(weights, indices, at + u64(6), offset + pext(b6, mask))
            _note(weights, indices, at + u64(7), offset + pext(b7, mask))
        at += symmetry


@kernel
def _note(weights: Any, indices: Any, at: u64, index: u64) -> None:
    prefetch(weights, index)
    indices[at] = index


@kernel
def sum_weights(net: Any, indices: Any, at: u64) -> float:
    """The value behind indices[at : at + m]: the plain sum.

    Weights have 24 bits and the sum has 53, so that the order of the terms does not matter: isomorphic boards have one value,
    and a tie is a tie. Four strands, so that no addition waits for the last.
    """
    weights = net.weights
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
