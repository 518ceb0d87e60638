"""Your own game in one file. Drift is 2048, but every line moves by only one cell, and every new tile is a 2.

Learn it:   AFTERSTATE_GAMES=examples/drift.py afterstate train drift --games 10k
Play it:    AFTERSTATE_GAMES=examples/drift.py afterstate play
docs/adding-a-game.md walks through this file.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.bitboard import Shape, empty_cells, format_cells, largest_nibble, pack, transpose, unpack
from afterstate.boardtext import parse_cells
from afterstate.errors import InputError
from afterstate.games.game import Afterstate, Game, State, largest, outcomes, slides, spawn, start
from afterstate.kernel import implement, kernel, pdep, popcount, u64
from afterstate.rng import below, draw

_0, _1, _4, _15, _16 = (u64(n) for n in (0, 1, 4, 15, 16))
_LINE = u64(0xFFFF)
TOP = 15  # 32768 does not merge: a cell has four bits


class Drift(NamedTuple):
    """Tables for the kernels. This class selects which kernels are used."""

    left: NDArray[np.uint64]  # (65536,) a line of four tiles, moved by one cell to its start
    right: NDArray[np.uint64]  # (65536,) and to its end
    gains: NDArray[np.int64]  # (2, 65536) the reward of each
    cells: np.uint64  # lowest bit of every cell


@kernel
def _slide_all(table: Any, gains: Any, board: u64) -> tuple[u64, int]:
    """Move the four rows of a board, looked up in a table -> board, reward."""
    result, reward = _0, 0
    for row in range(u64(4)):
        line = (board >> (_16 * row)) & _LINE
        result |= table[line] << (_16 * row)
        reward += gains[line]
    return result, reward


@implement(slides, Drift)
def _slides(game: Any, board: u64, extra: u64, after: Any, extras: Any, rewards: Any) -> int:
    turned = transpose(board)
    up, rewards[0] = _slide_all(game.left, game.gains[0], turned)
    after[1], rewards[1] = _slide_all(game.right, game.gains[1], board)
    down, rewards[2] = _slide_all(game.right, game.gains[1], turned)
    after[3], rewards[3] = _slide_all(game.left, game.gains[0], board)
    after[0], after[2] = transpose(up), transpose(down)
    legal = 0
    for slide in range(4):
        extras[slide] = _0
        if after[slide] != board:
            legal |= 1 << slide
    return legal


@implement(spawn, Drift)
def _spawn(game: Any, board: u64, extra: u64, rng: u64) -> tuple[u64, u64, u64]:
    rng, bits = draw(rng)
    empty = empty_cells(board) & game.cells
    return board | pdep(_1 << below(bits, popcount(empty)), empty), extra, rng


@implement(start, Drift)
def _start(game: Any, rng: u64) -> tuple[u64, u64, u64]:
    board, extra, rng = spawn(game, _0, _0, rng)
    return spawn(game, board, extra, rng)


@implement(outcomes, Drift)
def _outcomes(game: Any, board: u64, extra: u64, boards: Any, extras: Any, chances: Any) -> int:
    empty = empty_cells(board) & game.cells
    count = int(popcount(empty))
    for number in range(count):
        boards[number], extras[number] = board | pdep(_1 << u64(number), empty), extra
        chances[number] = 1.0 / count
    return count


@implement(largest, Drift)
def _largest(game: Any, board: u64, extra: u64) -> u64:
    return largest_nibble(board)


def _move(line: list[int]) -> tuple[list[int], int]:
    """[2 2 0 4] -> [4 0 4 0], 4: the first tile that can step or merge does so, and all behind it follow."""
    for place in range(1, len(line)):
        before, tile = line[place - 1], line[place]
        merges = before == tile and 0 < tile < TOP
        if before == 0 or merges:
            made = tile + 1 if merges else tile
            return [*line[: place - 1], made, *line[place + 1 :], 0], 2**made if merges else 0
    return line, 0


class DriftGame(Game):
    """The Python side: names, bounds and text."""

    name, title, rules, firsts, win = "drift", "Drift", "standard", 2, 9
    note = "Lines move by one cell only. Every new tile is a 2."
    symmetric = True
    example = "2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"

    def __init__(self, shape: Shape) -> None:
        if shape != Shape():
            raise InputError(f"Drift is played on a 4x4 board, not on {shape}")
        self.shape = shape
        self.longest = 16 * 2**TOP // 2  # every slide adds a 2, and merges keep the sum
        self.most = 16 * TOP * 2**TOP
        words, gains = np.zeros((2, 65536), np.uint64), np.zeros((2, 65536), np.int64)
        for number in range(65536):
            line = [number >> 4 * place & 15 for place in range(4)]
            for way, step in enumerate((1, -1)):
                moved, gains[way, number] = _move(line[::step])
                words[way, number] = sum(tile << 4 * place for place, tile in enumerate(moved[::step]))
        self.tables = Drift(words[0], words[1], gains, u64(shape.mask))

    def face(self, index: int) -> int:
        return 2**index if index else 0

    def cells(self, position: State | Afterstate) -> list[int]:
        return unpack(position.board, self.shape)

    def format(self, position: State | Afterstate) -> str:
        return format_cells((self.face(cell) for cell in self.cells(position)), self.shape)

    def parse(self, text: str) -> State:
        faces = {self.face(index): index for index in range(TOP + 1)}
        tiles = parse_cells(text, self.shape)
        if not set(tiles) <= set(faces):
            raise InputError(f"{text!r} has a tile that Drift does not know")
        return State(pack([faces[tile] for tile in tiles], self.shape), game=self)


def build(rules: str, shape: Shape) -> Game:
    """Called by `make`. A RULES tuple in this file would name several rule sets."""
    return DriftGame(shape)
