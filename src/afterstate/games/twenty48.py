"""2048: every line moves to the wall, equal neighbours merge once, a merged tile's value is the reward.

A nibble of `board` holds min(exponent, 15), where 1 is a 2 and 15 is a 32768; the same nibble of `extra` holds the rest, so
exponent = nibble of board + nibble of extra. Until two 32768 merge, `extra` is 0 and a line table does all four slides. From
then on lines slide cell by cell, exactly, up to 131072, the largest tile of a 4x4 board.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.bitboard import (
    Shape,
    close_gaps,
    empty_cells,
    format_cells,
    largest_nibble,
    pack,
    transpose,
    unpack,
)
from afterstate.boardtext import parse_cells, quote
from afterstate.errors import InputError
from afterstate.games.arrays import pack_cells, unpack_cells
from afterstate.games.game import (
    WRONG_CELL,
    WRONG_TILE,
    Afterstate,
    Game,
    State,
    Words,
    downgrade,
    enter,
    largest,
    outcomes,
    slides,
    spawn,
    start,
)
from afterstate.kernel import allocating, implement, kernel, pdep, popcount, routine, u64
from afterstate.rng import below, chance, draw

FOUR = u64(round(0.1 * 2**32))  # chance of a 4, in parts of 2**32

# index of the tile that counts as a win, by the number of cells: what good play reaches in most games
WINS = {4: 4, 6: 5, 8: 7, 9: 9, 12: 10, 16: 11}

_0, _1, _2, _4, _15, _16, _24, _32, _48, _56 = (u64(n) for n in (0, 1, 2, 4, 15, 16, 24, 32, 48, 56))
_LOW16 = u64(0xFFFF)
_HIGH16 = u64(0xFFFF0000)
_REWARD = u64(0xFFFFFF)


class Twenty48(NamedTuple):
    """Tables of 2048 on one board size.

    An entry for a line of four nibbles: bits 0-15 the line slid to its start, 16-31 slid to its end, 32-55 the reward (the
    same for both), 56 set if a merge makes a tile above 32768, which 16 bits cannot hold.
    """

    rows: NDArray[np.uint64]  # (65536,) slides left and right
    columns: NDArray[np.uint64]  # (65536,) slides up and down, on the transposed board
    cells: np.uint64  # lowest bit of every cell
    row_length: np.uint64
    column_length: np.uint64


@kernel
def _slide_line(line: u64, high: u64, length: u64, to_end: bool) -> tuple[u64, u64, u64]:
    """Slide one line cell by cell -> line, high, reward: [2 2 2 0] to its start -> [4 2 0 0], 4."""
    result, result_high, reward = _0, _0, _0
    place = _0
    waiting = _0  # exponent of the last tile that may still merge
    for step in range(length + _1):
        if step < length:
            at = _4 * (length - _1 - step if to_end else step)
            tile = ((line >> at) & _15) + ((high >> at) & _15)
            if tile == _0:
                continue
        else:
            tile = _0
        out = waiting
        if waiting != _0 and tile == waiting:
            out = tile + _1
            reward += _1 << out
            waiting = _0
        else:
            waiting = tile
        if out != _0:
            at = _4 * (length - _1 - place if to_end else place)
            result |= min(out, _15) << at
            result_high |= (out - min(out, _15)) << at
            place += _1
    return result, result_high, reward


@allocating
def _line_table(length: u64) -> NDArray[np.uint64]:
    table = np.zeros(65536, np.uint64)
    for number in range(65536):
        line = u64(number)
        left, high, reward = _slide_line(line, _0, length, False)
        right, _, _ = _slide_line(line, _0, length, True)
        overflow = _1 if high != _0 else _0
        table[line] = left | (right << _16) | (reward << _32) | (overflow << _56)
    return table


@kernel
def _slide_pair(table: Any, board: u64) -> tuple[u64, u64, u64]:
    """Slide the four rows of a board by the table -> to their start, to their end, reward with the overflow flags."""
    a, b = table[board & _LOW16], table[(board >> _16) & _LOW16]
    c, d = table[(board >> _32) & _LOW16], table[board >> _48]
    to_start = (a & _LOW16) | ((b & _LOW16) << _16) | ((c & _LOW16) << _32) | (d << _48)
    to_end = ((a & _HIGH16) >> _16) | (b & _HIGH16) | ((c & _HIGH16) << _16) | ((d & _HIGH16) << _32)
    return to_start, to_end, (a >> _32) + (b >> _32) + (c >> _32) + (d >> _32)


@kernel
def _slide_exactly(board: u64, extra: u64, length: u64, to_end: bool) -> tuple[u64, u64, u64]:
    """Slide the four rows of any board cell by cell -> board, extra, reward."""
    result, result_extra, reward = _0, _0, _0
    for row in range(u64(4)):
        at = _16 * row
        line, high, gain = _slide_line((board >> at) & _LOW16, (extra >> at) & _LOW16, length, to_end)
        result |= line << at
        result_extra |= high << at
        reward += gain
    return result, result_extra, reward


@implement(slides, Twenty48)
def _slides(game: Any, board: u64, extra: u64, after: Any, extras: Any, rewards: Any) -> int:
    turned = transpose(board)
    left, right, across = _slide_pair(game.rows, board)
    up, down, along = _slide_pair(game.columns, turned)
    after[0], after[1], after[2], after[3] = transpose(up), right, transpose(down), left
    rewards[0] = rewards[2] = np.int64(along & _REWARD)
    rewards[1] = rewards[3] = np.int64(across & _REWARD)
    extras[0] = extras[1] = extras[2] = extras[3] = _0
    if ((across | along) >> _24) != _0 or extra != _0:
        _slides_exactly(game, board, extra, after, extras, rewards)
    legal = 0
    for slide in range(4):
        if after[slide] != board:
            legal |= 1 << slide
    return legal


@routine
def _slides_exactly(game: Any, board: u64, extra: u64, after: Any, extras: Any, rewards: Any) -> None:
    turned, turned_extra = transpose(board), transpose(extra)
    for slide in range(4):
        to_end = slide == 1 or slide == 2
        if slide % 2 == 1:
            result, high, reward = _slide_exactly(board, extra, game.row_length, to_end)
        else:
            result, high, reward = _slide_exactly(turned, turned_extra, game.column_length, to_end)
            result, high = transpose(result), transpose(high)
        after[slide], extras[slide], rewards[slide] = result, high, np.int64(reward)


@implement(spawn, Twenty48)
def _spawn(game: Any, board: u64, extra: u64, rng: u64) -> tuple[u64, u64, u64]:
    rng, bits = draw(rng)
    empty = empty_cells(board) & game.cells
    cell = pdep(_1 << below(bits, popcount(empty)), empty)
    tile = cell << _1 if chance(bits, FOUR) else cell
    return board | tile, extra, rng


@implement(start, Twenty48)
def _start(game: Any, rng: u64) -> tuple[u64, u64, u64]:
    board, extra, rng = spawn(game, _0, _0, rng)
    return spawn(game, board, extra, rng)


@implement(outcomes, Twenty48)
def _outcomes(game: Any, board: u64, extra: u64, boards: Any, extras: Any, chances: Any) -> int:
    empty = empty_cells(board) & game.cells
    share = 1.0 / np.float64(popcount(empty))
    count = 0
    while empty != _0:
        cell = empty & (~empty + _1)
        boards[count], boards[count + 1] = board | cell, board | (cell << _1)
        extras[count] = extras[count + 1] = extra
        chances[count], chances[count + 1] = 0.9 * share, 0.1 * share
        empty ^= cell
        count += 2
    return count


@implement(enter, Twenty48)
def _enter(game: Any, board: u64, extra: u64, cell: u64, tile: u64, hint: u64) -> tuple[int, u64, u64]:
    at = _1 << cell
    if empty_cells(board) & game.cells & at == _0:
        return WRONG_CELL, board, extra
    if tile != _1 and tile != _2:
        return WRONG_TILE, board, extra
    return 0, board | tile * at, extra


@implement(largest, Twenty48)
def _largest(game: Any, board: u64, extra: u64) -> u64:
    return largest_nibble(board) + largest_nibble(extra)


@implement(downgrade, Twenty48)
def _downgrade(game: Any, board: u64, extra: u64, highest: u64) -> tuple[u64, u64]:
    return close_gaps(board, extra, highest, _1)


@cache
def _lines(length: int) -> NDArray[np.uint64]:
    """The table for lines of one length, shared by all board sizes."""
    return _line_table(u64(length))


class Twenty48Game(Game):
    """2048 on a board of 2x2 to 4x4."""

    name = "2048"
    rules = "standard"
    note = "Equal tiles merge. A new tile is a 2, or a 4 one time in ten."
    firsts = 2
    symmetric = True
    lowest_downgrade = 1

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.win = WINS[shape.cells]
        self.top = shape.cells + 1
        self.goal = 11 if self.top >= 11 else 0  # the 2048 tile, on boards that can hold it
        # every move adds 2 or more to the tile sum, which is below 4 * 2**cells: tiles 2**(cells+1), 2**cells, ... 4
        self.longest = 2 ** (shape.cells + 1)
        # a tile 2**k made only of fours has scored (k - 2) * 2**k on its way
        self.most = sum((exponent - 2) * 2**exponent for exponent in range(2, shape.cells + 2))
        self.example = format_cells([2, *[0] * (shape.cells - 2), 2], shape)
        rows, columns = _lines(shape.columns), _lines(shape.rows)
        self.tables = Twenty48(rows, columns, u64(shape.mask), u64(shape.columns), u64(shape.rows))

    def face(self, index: int) -> int:
        return 2**index if index else 0

    def cells(self, position: State | Afterstate) -> list[int]:
        pairs = zip(unpack(position.board, self.shape), unpack(position.extra, self.shape), strict=True)
        return [low + high for low, high in pairs]

    def format(self, position: State | Afterstate) -> str:
        return format_cells((self.face(cell) for cell in self.cells(position)), self.shape)

    def parse(self, text: str) -> State:
        exponents = []
        largest = self.top
        for number, face in enumerate(parse_cells(text, self.shape, [self.face(index) for index in range(16)]), start=1):
            exponent = face.bit_length() - 1 if face else 0
            if face and (exponent < 1 or face != 1 << exponent or exponent > largest):
                raise InputError(
                    f"cell {number} of the board is {face}, which is not a tile of 2048 on a {self.shape} board "
                    f"(0, 2, 4, 8, ... {2**largest}): {quote(text)}"
                )
            exponents.append(exponent)
        low = [min(exponent, 15) for exponent in exponents]
        high = [exponent - min(exponent, 15) for exponent in exponents]
        return State(pack(low, self.shape), pack(high, self.shape), game=self)

    def pack_many(self, cells: NDArray[np.uint8], extras: Words | None) -> tuple[Words, Words]:
        if extras is not None:
            raise InputError("the cells of 2048 say everything: give no extras with them")
        return pack_cells(cells, self.shape)

    def unpack_many(self, boards: Words, extras: Words) -> NDArray[np.uint8]:
        return unpack_cells(boards, extras, self.shape)

    def check_words(self, boards: Words, extras: Words) -> None:
        super().check_words(boards, extras)
        if not extras.any():
            return
        empty = np.zeros_like(extras)
        low, high = unpack_cells(boards, empty, Shape()), unpack_cells(extras, empty, Shape())
        wrong = ((high > 0) & (low < 15) | (low + high > max(self.top, 15))).any(axis=1)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise InputError(f"board {at}: {int(boards[at]):#x} with extra {int(extras[at]):#x} is no position of {self!r}")


def build(rules: str, shape: Shape) -> Game:
    return Twenty48Game(shape)
