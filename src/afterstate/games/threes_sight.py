"""What a network sees of a Threes! position besides the tiles, or instead of them."""

from typing import Any, NamedTuple

import numpy as np

from afterstate.bitboard import empty_cells
from afterstate.games.game import look
from afterstate.games.threes_kernels import BAG, HINT, Walls, has_last
from afterstate.games.threes_tiles import entry_cells, in_bag
from afterstate.kernel import implement, kernel, popcount, u64

_0, _1, _2, _3, _4, _7 = (u64(n) for n in (0, 1, 2, 3, 4, 7))
_LOW_BITS = u64(0x1111111111111111)


class Seen(NamedTuple):
    """What a network sees of a position besides the tiles.

    1 and 2 play the same part, so swapping all 1s and 2s does not change a value. Of the two boards we look up the one whose
    next tile is a 1, or else the one with more 1s. So a next tile of 2 needs no tables of its own.
    """

    walls: Walls  # of all lines, whatever the rules say: which of them moved is too much to learn
    swap: np.bool
    entry: np.bool  # an empty cell at the wall that a slide left is seen as 1, and tile i as i + 1
    hint: np.bool  # a set of tables for each kind of next tile
    bag: np.bool  # and for each state of a bag that holds one each of 1, 2, 3


@kernel
def swap_ones_and_twos(board: u64) -> u64:
    """Every 1 becomes a 2, and every 2 a 1."""
    either = (board ^ (board >> _1)) & ~((board >> _2) | (board >> _3)) & _LOW_BITS
    return board ^ (either | (either << _1))


@kernel
def _has_more_twos(board: u64) -> np.bool:
    small = ~((board >> _2) | (board >> _3)) & _LOW_BITS
    ones = board & ~(board >> _1) & small
    twos = (board >> _1) & ~board & small
    return popcount(twos) > popcount(ones)


@kernel
def _context(sight: Any, hint: u64, bag: u64) -> u64:
    """Which set of tables, by the next tile: 1, 2, 3 or a bonus tile. If 1 and 2 are swapped there is no 2.

    With the bag: four sets for each next tile, by whether the smaller and the larger of the other two are still in it.
    """
    if hint == _0:
        return _0
    kind = hint - _1 - (_1 if sight.swap and hint > _1 else _0)
    if not sight.bag:
        return kind
    smaller, larger = (_2 if hint == _1 else _1), (_2 if hint == _3 else _3)
    return _4 * kind + in_bag(bag, smaller) + _2 * in_bag(bag, larger)


@implement(look, Seen)
def _look(sight: Any, board: u64, extra: u64) -> tuple[u64, u64]:
    empty = empty_cells(board)
    hint, bag = (extra >> HINT) & _7, extra & BAG
    if sight.swap:
        ones, twos = bag & _7, (bag >> _3) & _7
        uneven = sight.bag and hint == _3 and ones != twos
        if hint == _2 or (hint != _1 and (twos > ones if uneven else _has_more_twos(board))):
            board = swap_ones_and_twos(board)
            bag = (bag & ~u64(0x3F)) | (ones << _3) | twos
            if hint == _2:
                hint = _1
    context = _context(sight, hint, bag) if sight.hint else _0
    if sight.entry:
        if has_last(board):
            return _0, context  # the game is over: such a position is worth nothing, like the empty board
        board = board + ((~empty & _LOW_BITS) | entry_cells(sight.walls, empty, extra))
    return board, context
