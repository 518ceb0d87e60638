"""The new tiles of Threes!: which one comes, where it may enter, and what is left in the bag.

`threes_kernels` says what `extra` holds.
"""

from typing import Any

import numpy as np

from afterstate.bitboard import empty_cells, largest_nibble
from afterstate.games.game import WRONG_CELL, WRONG_HINT, WRONG_TILE, enter, outcomes, spawn, start
from afterstate.games.threes_kernels import BAG, DUE, GIVEN, GIVEN_BONUS, HINT, LAST, MOVED, Threes
from afterstate.kernel import implement, kernel, pdep, popcount, u64
from afterstate.rng import below, chance, draw

BONUS = u64(round(2**32 / 21))  # chance of a bonus tile, in parts of 2**32
BONUS_FROM = u64(7)  # there are bonus tiles once a 48 is on the board

_0, _1, _2, _3, _4, _6, _7, _15, _32 = (u64(n) for n in (0, 1, 2, 3, 4, 6, 7, 15, 32))
_LOW_BITS = u64(0x1111111111111111)
_COUNT = u64(0x3FFFFF)


@kernel
def entry_cells(walls: Any, empty: u64, extra: u64) -> u64:
    """The empty cells that a new tile may enter; none if no new tile comes now."""
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
def _clear_due(extra: u64) -> u64:
    """Mark that the new tile has come; the last slide is kept."""
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
    """How many of a tile (1, 2 or 3) are in the bag."""
    return (extra >> (_3 * (tile - _1))) & _7


@kernel
def _take(game: Any, extra: u64, kind: u64) -> u64:
    """Take a tile of this kind out of the bag (which must have one), or a bonus tile, and count it."""
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
    """Draw the tile itself -> its index, rng. A bonus tile is 6 up to an eighth of the largest, all equally likely."""
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
    extra = _clear_due(extra) & ~(_7 << HINT)
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
    before = _clear_due(extra) & ~(_7 << HINT)
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
    """Write the outcomes of one tile on each of the cells, with each next tile that may be shown -> the new count."""
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
    extra = _clear_due(extra) & ~(_7 << HINT)
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
