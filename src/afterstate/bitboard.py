"""A board of up to 4x4 cells in 64 bits, without rules: where a cell lies, symmetries, cells as text.

Cell (row, column) is the nibble at bits 16*row + 4*column; a smaller board lies in the top left corner and the rest is 0.
Nibbles are exponents (tile indices), not face values. For a 4x4 board:

    cell   0  1  2  3      bits   0-3   4-7   8-11  12-15
           4  5  6  7             16-19 20-23 24-27 28-31
           8  9  a  b             32-35 36-39 40-43 44-47
           c  d  e  f             48-51 52-55 56-59 60-63
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from afterstate.errors import InputError
from afterstate.kernel import BIT_GATHER, kernel, pext, routine, u64
from afterstate.units import shorten

_ZERO = u64(0)
_S1, _S2, _S3, _S4, _S6, _S8, _S12, _S16, _S24, _S32, _S48 = (u64(n) for n in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48))
_LOW_BITS = u64(0x1111111111111111)


@dataclass(frozen=True)
class Shape:
    """Rows and columns of a board, each 2 to 4."""

    rows: int = 4
    columns: int = 4

    def __post_init__(self) -> None:
        if not (2 <= self.rows <= 4 and 2 <= self.columns <= 4):
            raise InputError(f"a board cannot be {self}: rows and columns go from 2 to 4")

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}"

    @classmethod
    def parse(cls, text: str) -> "Shape":
        """Read '3x4' as 3 rows and 4 columns."""
        match = re.fullmatch(r"([0-9]{1,3})x([0-9]{1,3})", text.lower())
        if match is None:
            raise InputError(f"a board size is written like 4x4 or 3x3, not {shorten(text)!r}")
        return cls(int(match[1]), int(match[2]))

    @property
    def cells(self) -> int:
        return self.rows * self.columns

    @property
    def square(self) -> bool:
        return self.rows == self.columns

    def shift(self, cell: int) -> int:
        """Bit position of a cell that is numbered row by row within this shape."""
        return 16 * (cell // self.columns) + 4 * (cell % self.columns)

    @property
    def mask(self) -> int:
        """Lowest bit of every cell that exists: the 4x4 board gives 0x1111111111111111."""
        return sum(1 << self.shift(cell) for cell in range(self.cells))

    @property
    def symmetries(self) -> int:
        """How many symmetries the board itself has."""
        return 8 if self.square else 4


def pack(cells: Sequence[int], shape: Shape) -> int:
    """Cells row by row (each 0 to 15) as a board: pack([1, 2, 3, 4], Shape(2, 2)) -> 0x430021."""
    return sum(value << shape.shift(cell) for cell, value in enumerate(cells))


def unpack(board: int, shape: Shape) -> list[int]:
    """A board's cells row by row: the inverse of `pack`."""
    return [board >> shape.shift(cell) & 15 for cell in range(shape.cells)]


def format_cells(faces: Iterable[object], shape: Shape) -> str:
    """Cells as one line, rows separated by slashes: '2 4 / 0 2'."""
    words = [str(face) for face in faces]
    rows = (words[start : start + shape.columns] for start in range(0, shape.cells, shape.columns))
    return " / ".join(" ".join(row) for row in rows)


# --- symmetries ------------------------------------------------------------------------------------------------------


@kernel
def _swap(x: u64, shift: u64, mask: u64) -> u64:
    """Swap the bits under mask with the bits `shift` places above them."""
    t = (x ^ (x >> shift)) & mask
    return x ^ t ^ (t << shift)


@kernel
def transpose(x: u64) -> u64:
    """Swap rows and columns: cell (r, c) goes to (c, r)."""
    # two rounds of swaps: cells within each 2x2 block, then the blocks off the diagonal
    return _swap(_swap(x, _S12, u64(0x0000F0F00000F0F0)), _S24, u64(0x00000000FF00FF00))


# A board as *planes* has the same 64 bits in another order: first bit 0 of all sixteen cells, then bit 1 of all, and so on.
# Boards that differ only in small tiles differ only in the low planes, wherever those tiles lie.


@kernel
def to_planes(x: u64) -> u64:
    """Bit k of cell i goes from 4*i + k to 16*k + i: the board 0x21 (a 1 beside a 2) -> 0x20001."""
    if BIT_GATHER:
        low = pext(x, _LOW_BITS) | (pext(x, _LOW_BITS << _S1) << _S16)
        return low | (pext(x, _LOW_BITS << _S2) << _S32) | (pext(x, _LOW_BITS << _S3) << _S48)
    # twice: even bits to the low half, odd bits to the high half
    return _part_bits(_part_bits(x))


@kernel
def _part_bits(x: u64) -> u64:
    """Even bits to the low half in order, odd bits to the high half: 0b1101 -> bits 0, 1 and 33."""
    x = _swap(_swap(x, _S1, u64(0x2222222222222222)), _S2, u64(0x0C0C0C0C0C0C0C0C))
    x = _swap(_swap(x, _S4, u64(0x00F000F000F000F0)), _S8, u64(0x0000FF000000FF00))
    return _swap(x, _S16, u64(0x00000000FFFF0000))


@kernel
def transpose_planes(x: u64) -> u64:
    """Swap rows and columns of every plane."""
    return _swap(_swap(x, _S3, u64(0x0A0A0A0A0A0A0A0A)), _S6, u64(0x00CC00CC00CC00CC))


@kernel
def mirror_planes(x: u64) -> u64:
    """Reverse every row of every plane: cell (r, c) goes to (r, 3-c)."""
    x = ((x & u64(0x5555555555555555)) << _S1) | ((x >> _S1) & u64(0x5555555555555555))
    return ((x & u64(0x3333333333333333)) << _S2) | ((x >> _S2) & u64(0x3333333333333333))


@kernel
def flip_planes(x: u64) -> u64:
    """Reverse the order of the rows of every plane: cell (r, c) goes to (3-r, c)."""
    x = ((x & u64(0x00FF00FF00FF00FF)) << _S8) | ((x >> _S8) & u64(0x00FF00FF00FF00FF))
    return ((x & u64(0x0F0F0F0F0F0F0F0F)) << _S4) | ((x >> _S4) & u64(0x0F0F0F0F0F0F0F0F))


@kernel
def empty_cells(x: u64) -> u64:
    """Lowest bit of every nibble that is 0."""
    x = x | (x >> _S1)
    x = x | (x >> _S2)
    return ~x & _LOW_BITS


@kernel
def largest_nibble(x: u64) -> u64:
    """The largest of the sixteen nibbles."""
    largest = _ZERO
    while x != _ZERO:
        largest = max(largest, x & u64(15))
        x = x >> _S4
    return largest


@routine
def close_gaps(x: u64, more: u64, highest: u64, lowest: u64) -> tuple[u64, u64]:
    """Lower all tiles above the largest missing tile by one, again and again while a tile is above `highest` -> x, more.

    A tile is the sum of its nibbles in both words. Only tiles from `lowest` up count as missing. With `highest` 0 nothing
    changes. Different tiles stay different, so the same pairs can merge.
    """
    top = largest_nibble(x) + largest_nibble(more)
    while highest != _ZERO and top > highest:
        present = _ZERO  # a bit for each tile on the board
        for cell in range(_S16):
            present |= _S1 << (((x >> (_S4 * cell)) & u64(15)) + ((more >> (_S4 * cell)) & u64(15)))
        gap = top - _S1
        while gap >= lowest and (present >> gap) & _S1 != _ZERO:
            gap -= _S1
        if gap < lowest:
            break
        for cell in range(_S16):
            at = _S4 * cell
            if ((x >> at) & u64(15)) + ((more >> at) & u64(15)) > gap:
                if (more >> at) & u64(15) != _ZERO:
                    more -= _S1 << at
                else:
                    x -= _S1 << at
        top -= _S1
    return x, more
