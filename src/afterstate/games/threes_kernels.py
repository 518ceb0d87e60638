"""The kernels of Threes!: every line moves by one cell, 1 and 2 make 3, equal tiles from 3 on merge; new tiles come from a bag.

A nibble of `board` is a tile's index: 0 empty, 1 2 3 are the tiles 1 2 3, then 4 = 6, 5 = 12, ... 14 = 6144, 15 = 12288.
`extra` holds what else there is to know, from its lowest bit on:

    3 + 3 + 3 bits   how many 1s, 2s and 3s are still in the bag
    3                the tile that comes next: 1, 2, 3, 4 for a bonus tile, 0 if the rules do not show it
    3                the last slide + 1; 0 before the first
    1                set in an afterstate: the new tile is due
    4                the lines that the slide moved, if the rules ask for it
    22 + 22          tiles given so far, and bonus tiles among them, if the rules count them

A tile of index i >= 3 is worth 3**(i-2). The reward of a slide is what it adds to the worth of the board; new tiles add theirs
without the player's doing, and so count in the score of a game, but not as rewards.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.bitboard import close_gaps, empty_cells, largest_nibble, transpose
from afterstate.games.game import (
    WRONG_CELL,
    WRONG_HINT,
    WRONG_TILE,
    announced,
    downgrade,
    enter,
    final_score,
    largest,
    outcomes,
    slides,
    spawn,
    start,
)
from afterstate.kernel import allocating, implement, kernel, pdep, popcount, u64
from afterstate.rng import below, chance, draw

BONUS = u64(round(2**32 / 21))  # chance of a bonus tile, in parts of 2**32
BONUS_FROM = u64(7)  # there are bonus tiles once a 48 is on the board

_0, _1, _2, _3, _4, _6, _7, _15 = (u64(n) for n in (0, 1, 2, 3, 4, 6, 7, 15))
_16, _32, _48 = u64(16), u64(32), u64(48)
_LOW16 = u64(0xFFFF)
_HIGH16 = u64(0xFFFF0000)
_LOW_BITS = u64(0x1111111111111111)

BAG = u64(0x1FF)  # nine bits
HINT, LAST, DUE, MOVED, GIVEN, GIVEN_BONUS = (u64(n) for n in (9, 12, 15, 16, 20, 42))
_COUNT = u64(0x3FFFFF)
_SLID = (_7 << LAST) | (_1 << DUE) | (_15 << MOVED)  # what a slide writes


class Walls(NamedTuple):
    """Where a new tile may enter: lowest bits of the cells at each wall, named by the slide that leaves it.

    Words, not an array: Numba counts references to an array again at every branch, and that took a third of the time.
    """

    up: np.uint64
    right: np.uint64
    down: np.uint64
    left: np.uint64
    moved: np.bool  # lines that moved only


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
    bag: np.uint64  # a full one
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
        # the tile steps to the wall's side, and all behind it follow
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
    """Every line of this length; tiles from `top` on do not merge."""
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
    """Whether there is a 12288."""
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


# --- new tiles ---------------------------------------------------------------------------------------------------------


@kernel
def entry_cells(walls: Any, empty: u64, extra: u64) -> u64:
    """Of the empty cells, those that a new tile may enter; none unless one is due."""
    last = (extra >> LAST) & _7
    wall = walls.up if last == _1 else (walls.right if last == _2 else (walls.down if last == _3 else walls.left))
    cells = empty & wall
    if walls.moved:
        cells &= _spread((extra >> MOVED) & _15, last & _1)
    return cells if (extra >> DUE) & _1 != _0 else _0


@kernel
def _spread(lines: u64, columns: u64) -> u64:
    """Lowest bits of all cells of a set of columns, or of rows: 0b0101 as columns -> 0x0101 in each row."""
    if columns != _0:
        cells = (lines & _1) | ((lines & _2) << _3) | ((lines & _4) << _6) | ((lines & u64(8)) << u64(9))
        return cells * u64(0x0001000100010001)
    cells = (lines & _1) | ((lines & _2) << _15) | ((lines & _4) << u64(30)) | ((lines & u64(8)) << u64(45))
    return cells * u64(0x1111)


@kernel
def _settle(extra: u64) -> u64:
    """No tile is due any more; the last slide is kept."""
    return extra & ~((_1 << DUE) | (_15 << MOVED))


@kernel
def _has_48(board: u64) -> bool:
    """Whether there is a tile of index BONUS_FROM, 0b0111, or above."""
    return bool(((board >> _3) | (board & (board >> _1) & (board >> _2))) & _LOW_BITS != _0)


@kernel
def _bonus_allowed(game: Any, board: u64, extra: u64) -> bool | np.bool:
    """Whether the next tile may be a bonus tile."""
    if not game.bonus or not _has_48(board):
        return False
    if not game.counted:
        return True
    given, among = (extra >> GIVEN) & _COUNT, (extra >> GIVEN_BONUS) & _COUNT
    return (among + _1) * u64(21) <= given + _1


@kernel
def _refill(game: Any, extra: u64) -> u64:
    full: u64 = extra | game.bag
    return full if extra & BAG == _0 else extra


@kernel
def in_bag(extra: u64, tile: u64) -> u64:
    """How many of a tile 1, 2 or 3 are in the bag."""
    return (extra >> (_3 * (tile - _1))) & _7


@kernel
def _take(game: Any, extra: u64, kind: u64) -> u64:
    """Take a tile of this kind out of the bag (which has one), or a bonus tile from beside it, and count it."""
    if kind < _4:
        extra = _refill(game, extra)
        extra -= _1 << (_3 * (kind - _1))
    if game.counted:
        extra += _1 << GIVEN
        if kind == _4:
            extra += _1 << GIVEN_BONUS
    return extra


@kernel
def _chance_of(game: Any, extra: u64, kind: u64, allowed: bool | np.bool) -> float:
    """The chance that the next tile is of this kind."""
    bonus = np.float64(BONUS) / np.float64(_1 << _32) if allowed else 0.0
    if kind == _4:
        return bonus
    extra = _refill(game, extra)
    left = in_bag(extra, _1) + in_bag(extra, _2) + in_bag(extra, _3)
    return (1.0 - bonus) * np.float64(in_bag(extra, kind)) / np.float64(left)


@kernel
def _draw_kind(game: Any, board: u64, extra: u64, bits: u64, rng: u64) -> tuple[u64, u64, u64]:
    """Draw the next tile from the low half of `bits` -> its kind, extra, rng."""
    if _bonus_allowed(game, board, extra):
        rng, more = draw(rng)
        if chance(more, BONUS):
            return _4, _take(game, extra, _4), rng
    extra = _refill(game, extra)
    ones, twos = in_bag(extra, _1), in_bag(extra, _2)
    at = below(bits << _32, ones + twos + in_bag(extra, _3))
    kind = _1 if at < ones else (_2 if at < ones + twos else _3)
    return kind, _take(game, extra, kind), rng


@kernel
def _draw_face(board: u64, kind: u64, rng: u64) -> tuple[u64, u64]:
    """The tile itself -> its index, rng: a bonus tile is 6 up to an eighth of the largest, all equally likely."""
    if kind < _4:
        return kind, rng
    rng, bits = draw(rng)
    return _4 + below(bits, largest_nibble(board) - _6), rng


@kernel
def _place(game: Any, board: u64, extra: u64, cells: u64, rng: u64) -> tuple[u64, u64, u64]:
    """Put the next tile on one of the cells, and draw the one after it if it is shown."""
    rng, bits = draw(rng)
    cell = pdep(_1 << below(bits, popcount(cells)), cells)
    kind = (extra >> HINT) & _7
    extra = _settle(extra) & ~(_7 << HINT)
    if kind == _0:
        kind, extra, rng = _draw_kind(game, board, extra, bits, rng)
    tile, rng = _draw_face(board, kind, rng)
    board |= tile * cell
    if game.shown:
        rng, bits = draw(rng)
        kind, extra, rng = _draw_kind(game, board, extra, bits, rng)
        extra |= kind << HINT
    return board, extra, rng


@implement(spawn, Threes)
def _spawn(game: Any, board: u64, extra: u64, rng: u64) -> tuple[u64, u64, u64]:
    return _place(game, board, extra, entry_cells(game.walls, empty_cells(board), extra), rng)


@implement(start, Threes)
def _start(game: Any, rng: u64) -> tuple[u64, u64, u64]:
    board, extra = _0, _0
    for _ in range(game.first):
        board, extra, rng = _place(game, board, extra, empty_cells(board) & game.cells, rng)
    return board, extra, rng


@implement(outcomes, Threes)
def _outcomes(game: Any, board: u64, extra: u64, boards: Any, extras: Any, chances: Any) -> int:
    cells = entry_cells(game.walls, empty_cells(board), extra)
    share = 1.0 / np.float64(popcount(cells))
    hint = (extra >> HINT) & _7
    before = _settle(extra) & ~(_7 << HINT)
    allowed = _bonus_allowed(game, board, before)
    count = 0
    for number in range(1, 5):
        kind = u64(number)
        likely = _chance_of(game, before, kind, allowed) if hint == _0 else (1.0 if kind == hint else 0.0)
        if likely == 0.0:
            continue
        taken = _take(game, before, kind) if hint == _0 else before
        faces = _1 if kind < _4 else largest_nibble(board) - _6
        for step in range(faces):
            each = share * likely / np.float64(faces)
            count = _write_outcomes(game, board, taken, cells, kind + u64(step), each, boards, extras, chances, count)
    return count


@kernel
def _write_outcomes(
    game: Any, board: u64, extra: u64, cells: u64, tile: u64, each: float, boards: Any, extras: Any, chances: Any, count: int
) -> int:
    """One tile on each of the cells, with each tile that may be shown next -> how many outcomes there are now."""
    while cells != _0:
        cell = cells & (~cells + _1)
        cells ^= cell
        placed = board | tile * cell
        if not game.shown:
            boards[count], extras[count], chances[count] = placed, extra, each
            count += 1
            continue
        allowed = _bonus_allowed(game, placed, extra)
        for number in range(1, 5):
            kind = u64(number)
            likely = _chance_of(game, extra, kind, allowed)
            if likely > 0.0:
                boards[count] = placed
                extras[count] = _take(game, extra, kind) | (kind << HINT)
                chances[count] = each * likely
                count += 1
    return count


@implement(enter, Threes)
def _enter(game: Any, board: u64, extra: u64, cell: u64, tile: u64, hint: u64) -> tuple[int, u64, u64]:
    cells = empty_cells(board) & game.cells
    if extra & (_1 << DUE) != _0:
        cells = entry_cells(game.walls, cells, extra)
    at = _1 << cell
    if cells & at == _0:
        return WRONG_CELL, board, extra
    if tile == _0 or tile >= _15:
        return WRONG_TILE, board, extra
    kind = min(tile, _4)
    known = (extra >> HINT) & _7
    extra = _settle(extra) & ~(_7 << HINT)
    if known == _0:
        if _chance_of(game, extra, kind, _bonus_allowed(game, board, extra)) == 0.0:
            return WRONG_TILE, board, extra
        extra = _take(game, extra, kind)
    if (known != _0 and known != kind) or (kind == _4 and tile + _3 > largest_nibble(board)):
        return WRONG_TILE, board, extra
    board |= tile * at
    if game.shown and hint != _0:
        if hint > _4 or _chance_of(game, extra, hint, _bonus_allowed(game, board, extra)) == 0.0:
            return WRONG_HINT, board, extra
        extra = _take(game, extra, hint) | (hint << HINT)
    return 0, board, extra


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
