"""The slides of Threes!: every line moves by one cell, 1 and 2 make 3, equal tiles from 3 on merge.

A nibble of `board` is a tile's index: 0 empty, 1 2 3 are the tiles 1 2 3, then 4 = 6, 5 = 12, ... 14 = 6144, 15 = 12288.
`extra` holds everything else, from the lowest bit up:

    3 + 3 + 3 bits   how many 1s, 2s and 3s are still in the bag
    3                the tile that comes next: 1, 2, 3, 4 for a bonus tile, 0 if the rules do not show it
    3                the last slide + 1; 0 before the first
    1                set in an afterstate: the new tile is still to come
    4                the lines that the slide moved, if the rules need them
    22 + 22          tiles given so far, and how many were bonus tiles, if the rules count them

A tile of index i >= 3 is worth 3**(i-2). The reward of a slide is what it adds to the worth of the board. New tiles add theirs
to the score, but not to the rewards: the player did not make them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.bitboard import close_gaps, largest_nibble, transpose
from afterstate.games.game import announced, downgrade, final_score, largest, slides
from afterstate.kernel import allocating, implement, kernel, u64

_0, _1, _2, _3, _4, _7, _15 = (u64(n) for n in (0, 1, 2, 3, 4, 7, 15))
_16, _32, _48 = u64(16), u64(32), u64(48)
_LOW16 = u64(0xFFFF)
_HIGH16 = u64(0xFFFF0000)
_LOW_BITS = u64(0x1111111111111111)

BAG = u64(0x1FF)  # nine bits
HINT, LAST, DUE, MOVED, GIVEN, GIVEN_BONUS = (u64(n) for n in (9, 12, 15, 16, 20, 42))
_SLID = (_7 << LAST) | (_1 << DUE) | (_15 << MOVED)  # what a slide writes


class Walls(NamedTuple):
    """Where a new tile may enter: lowest bits of the cells at each wall, named by the slide that leaves it.

    Words, not an array: Numba's reference counting at every branch took a third of the time.
    """

    up: np.uint64
    right: np.uint64
    down: np.uint64
    left: np.uint64
    moved: np.bool  # only lines that moved


class Threes(NamedTuple):
    """Tables of Threes! under one set of rules on one board size.

    An entry for a line of four nibbles: bits 0-15 the line slid to its start, 16-31 slid to its end, 32-35 and 36-39 the tile
    that a merge made on the way to its start and to its end, 0 if none.
    """

    rows: NDArray[np.uint64]  # (65536,) slides left and right
    columns: NDArray[np.uint64]  # (65536,) slides up and down, on the transposed board
    gains: NDArray[np.int64]  # (16,) reward of a merge that made this tile
    worth: NDArray[np.int64]  # (16,) of a tile on the board
    walls: Walls
    cells: np.uint64  # lowest bit of every cell
    bag: np.uint64  # a full bag
    first: np.int64  # tiles on the first board
    shown: np.bool  # the next tile is known
    bonus: np.bool  # there are bonus tiles
    counted: np.bool  # bonus tiles are never more than one in 21
    ends: np.bool  # a 12288 can be made, and ends the game


# --- slides ------------------------------------------------------------------------------------------------------------


@kernel
def _merge(one: u64, other: u64, top: u64) -> u64:
    """The tile that two make, 0 if they do not merge: 1, 2 -> 3; 4, 4 -> 5."""
    if one + other == _3 and one != _0 and other != _0:
        return _3
    if one == other and one >= _3 and one < top:
        return one + _1
    return _0


@kernel
def _slide_line(line: u64, length: u64, top: u64, to_end: bool) -> tuple[u64, u64]:
    """Slide one line by one cell -> line, the tile that a merge made: [3 3 1 0] to its start -> [4 1 0 0], 4."""
    for place in range(_1, length):
        here = _4 * (length - _1 - place if to_end else place)
        wall = _4 * (length - place if to_end else place - _1)
        tile, before = (line >> here) & _15, (line >> wall) & _15
        made = _merge(before, tile, top)
        if before != _0 and made == _0:
            continue
        # the tile takes one step to the wall, and all behind it follow
        result = (line & ~(_15 << wall)) | ((made if made != _0 else tile) << wall)
        for behind in range(place, length):
            to = _4 * (length - _1 - behind if to_end else behind)
            follower = _0
            if behind + _1 < length:
                follower = (line >> (_4 * (length - _2 - behind if to_end else behind + _1))) & _15
            result = (result & ~(_15 << to)) | (follower << to)
        return result, made
    return line, _0


@allocating
def line_table(length: u64, top: u64) -> NDArray[np.uint64]:
    """Slide every line of this length; tiles from `top` up do not merge."""
    table = np.zeros(65536, np.uint64)
    for number in range(65536):
        line = u64(number)
        left, made_left = _slide_line(line, length, top, False)
        right, made_right = _slide_line(line, length, top, True)
        table[line] = left | (right << _16) | (made_left << _32) | (made_right << u64(36))
    return table


@kernel
def _slide_pair(game: Any, table: Any, board: u64) -> tuple[u64, u64, int, int]:
    """Slide the four rows of a board -> to their start, to their end, the reward of each."""
    a, b = table[board & _LOW16], table[(board >> _16) & _LOW16]
    c, d = table[(board >> _32) & _LOW16], table[board >> _48]
    to_start = (a & _LOW16) | ((b & _LOW16) << _16) | ((c & _LOW16) << _32) | (d << _48)
    to_end = ((a & _HIGH16) >> _16) | (b & _HIGH16) | ((c & _HIGH16) << _16) | ((d & _HIGH16) << _32)
    at, gains = u64(36), game.gains
    left = gains[(a >> _32) & _15] + gains[(b >> _32) & _15] + gains[(c >> _32) & _15] + gains[(d >> _32) & _15]
    right = gains[a >> at] + gains[b >> at] + gains[c >> at] + gains[d >> at]
    return to_start, to_end, left, right


@implement(slides, Threes)
def _slides(game: Any, board: u64, extra: u64, after: Any, extras: Any, rewards: Any) -> int:
    turned = transpose(board)
    left, right, gain_left, gain_right = _slide_pair(game, game.rows, board)
    up, down, gain_up, gain_down = _slide_pair(game, game.columns, turned)
    after[0], after[1], after[2], after[3] = transpose(up), right, transpose(down), left
    rewards[0], rewards[1], rewards[2], rewards[3] = gain_up, gain_right, gain_down, gain_left
    if game.ends and has_last(board):
        return 0
    kept = (extra & ~_SLID) | (_1 << DUE)
    legal = 0
    for slide in range(u64(4)):
        extras[slide] = kept | ((slide + _1) << LAST)
        if after[slide] != board:
            legal |= 1 << slide
            if game.walls.moved:
                extras[slide] |= _moved_lines(board ^ after[slide], u64(slide)) << MOVED
    return legal


@kernel
def has_last(board: u64) -> bool:
    """Whether the board has a 12288."""
    twice = board & (board >> _1)
    return bool((twice & (twice >> _2) & _LOW_BITS) != _0)


@kernel
def _moved_lines(change: u64, slide: u64) -> u64:
    """The rows (of a slide left or right) or columns that changed, a bit each."""
    moved = _0
    for line in range(_4):
        cells = u64(0xFFFF) << (_16 * line) if slide & _1 else u64(0x000F000F000F000F) << (_4 * line)
        if change & cells:
            moved |= _1 << line
    return moved


# --- the rest ----------------------------------------------------------------------------------------------------------


@implement(downgrade, Threes)
def _downgrade(game: Any, board: u64, extra: u64, highest: u64) -> tuple[u64, u64]:
    lowered, _ = close_gaps(board, _0, highest, _4)
    return lowered, extra


@implement(announced, Threes)
def _announced(game: Any, extra: u64) -> u64:
    return (extra >> HINT) & _7


@implement(largest, Threes)
def _largest(game: Any, board: u64, extra: u64) -> u64:
    return largest_nibble(board)


@implement(final_score, Threes)
def _final_score(game: Any, board: u64, extra: u64, rewards: int) -> int:
    total = 0
    for cell in range(_16):
        total += game.worth[(board >> (_4 * cell)) & _15]
    return total
