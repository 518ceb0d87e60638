"""Boards as 64-bit words, against the same boards as lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterstate.bitboard import (
    Shape,
    _part_bits,
    empty_cells,
    flip_planes,
    format_cells,
    largest_nibble,
    mirror_planes,
    pack,
    to_planes,
    transpose,
    transpose_planes,
    unpack,
)
from afterstate.boardtext import parse_cells
from afterstate.errors import InputError
from afterstate.kernel import u64
from afterstate.units import shorten

SHAPES = [Shape(rows, columns) for rows in (2, 3, 4) for columns in (2, 3, 4)]
FULL = Shape(4, 4)

words = st.integers(0, 2**64 - 1)
# half of the nibbles are 0: random words nearly never have empty cells
sparse = st.lists(st.one_of(st.just(0), st.integers(0, 15)), min_size=16, max_size=16).map(lambda c: pack(c, FULL))
boards = words | sparse


def nibbles(board: int) -> list[list[int]]:
    """The board as a list of rows, by its hex digits: the last digit is cell 0."""
    digits = [int(digit, 16) for digit in reversed(f"{board:016x}")]
    return [digits[0:4], digits[4:8], digits[8:12], digits[12:16]]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@given(data=st.data())
def test_unpack_is_the_inverse_of_pack(shape: Shape, data: st.DataObject) -> None:
    cells = data.draw(st.lists(st.integers(0, 15), min_size=shape.cells, max_size=shape.cells))
    board = pack(cells, shape)
    assert unpack(board, shape) == cells
    padded = [cells[row * shape.columns :][: shape.columns] + [0] * (4 - shape.columns) for row in range(shape.rows)]
    assert nibbles(board) == padded + [[0] * 4] * (4 - shape.rows)


def test_pack_examples() -> None:
    assert pack([1, 2, 3, 4], Shape(2, 2)) == 0x430021
    assert pack(list(range(16)), FULL) == 0xFEDCBA9876543210
    assert unpack(0xFEDCBA9876543210, FULL) == list(range(16))
    assert unpack(0xFEDCBA9876543210, Shape(2, 3)) == [0, 1, 2, 4, 5, 6]


@given(board=boards)
def test_symmetries_equal_those_of_lists(board: int) -> None:
    rows = nibbles(board)
    assert nibbles(int(transpose(u64(board)))) == [list(column) for column in zip(*rows, strict=True)]
    x = u64(to_planes(u64(board)))
    assert int(mirror_planes(x)) == planes([row[::-1] for row in rows])
    assert int(flip_planes(x)) == planes(rows[::-1])
    assert int(transpose_planes(x)) == planes([list(column) for column in zip(*rows, strict=True)])


def planes(rows: list[list[int]]) -> int:
    """Bit 0 of all cells, then bit 1 of all, one by one."""
    cells = [cell for row in rows for cell in row]
    return sum((cell >> bit & 1) << 16 * bit + place for bit in range(4) for place, cell in enumerate(cells))


@given(board=boards)
def test_planes_hold_the_same_bits(board: int) -> None:
    assert int(to_planes(u64(board))) == planes(nibbles(board))
    assert int(_part_bits(u64(_part_bits(u64(board))))) == planes(nibbles(board))  # as processors without `pext` do it


@given(board=boards)
def test_symmetries_form_the_group_of_the_square(board: int) -> None:
    x = u64(board)

    def quarter_turn(y: u64) -> u64:
        return u64(mirror_planes(u64(transpose_planes(y))))

    assert transpose(u64(transpose(x))) == x
    assert transpose_planes(u64(transpose_planes(x))) == x
    assert mirror_planes(u64(mirror_planes(x))) == x
    assert flip_planes(u64(flip_planes(x))) == x
    assert mirror_planes(u64(flip_planes(x))) == flip_planes(u64(mirror_planes(x)))
    assert transpose_planes(u64(mirror_planes(u64(transpose_planes(x))))) == flip_planes(x)
    assert quarter_turn(quarter_turn(x)) == flip_planes(u64(mirror_planes(x)))
    assert quarter_turn(quarter_turn(quarter_turn(quarter_turn(x)))) == x


def test_the_eight_symmetries_of_a_board_without_symmetry_differ() -> None:
    x = u64(to_planes(u64(0xFEDCBA9876543210)))
    found = set()
    for _ in range(4):
        x = u64(mirror_planes(u64(transpose_planes(x))))
        found |= {int(x), int(mirror_planes(x))}
    assert len(found) == 8


@given(board=boards)
def test_empty_cells_marks_every_zero(board: int) -> None:
    expected = [[int(cell == 0) for cell in row] for row in nibbles(board)]
    assert nibbles(int(empty_cells(u64(board)))) == expected


@given(board=boards)
def test_largest_nibble(board: int) -> None:
    assert largest_nibble(u64(board)) == max(max(row) for row in nibbles(board))


@pytest.mark.parametrize(
    ("board", "largest", "empty"),
    [
        (0, 0, 0x1111111111111111),
        (0xFFFFFFFFFFFFFFFF, 15, 0),
        (0x8000000000000000, 8, 0x0111111111111111),
        (0x0000000000000001, 1, 0x1111111111111110),
    ],
)
def test_extreme_boards(board: int, largest: int, empty: int) -> None:
    assert largest_nibble(u64(board)) == largest
    assert empty_cells(u64(board)) == empty


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shape_properties(shape: Shape) -> None:
    assert shape.cells == len(range(shape.rows)) * len(range(shape.columns))
    assert shape.square == (shape.rows == shape.columns)
    assert shape.symmetries == (8 if shape.rows == shape.columns else 4)
    places = [16 * row + 4 * column for row in range(shape.rows) for column in range(shape.columns)]
    assert [shape.shift(cell) for cell in range(shape.cells)] == places
    assert shape.mask == sum(2**place for place in places)
    assert Shape.parse(str(shape)) == shape


def test_shape_examples() -> None:
    assert Shape() == Shape(4, 4)
    assert Shape().mask == 0x1111111111111111
    assert Shape(2, 3).mask == 0x01110111
    assert str(Shape(2, 3)) == "2x3"
    assert Shape.parse("3X4") == Shape(3, 4)


@pytest.mark.parametrize(("rows", "columns"), [(1, 4), (4, 1), (5, 4), (4, 5), (0, 0), (-2, 2)])
def test_shape_refuses_other_sizes(rows: int, columns: int) -> None:
    with pytest.raises(InputError, match=f"{rows}x{columns}.*2 to 4"):
        Shape(rows, columns)


@pytest.mark.parametrize("text", ["", "4", "axb", "4x", "x4", "4x4x4", "-4x4", "4.0x4", "4 4", "٤x٤", "x" * 10**6])
def test_shape_refuses_other_text(text: str) -> None:
    with pytest.raises(InputError, match="like 4x4") as refused:
        Shape.parse(text)
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize("digits", [100, 5000, 10**6])
def test_shape_refuses_a_number_with_very_many_digits(digits: int) -> None:
    with pytest.raises(InputError) as refused:
        Shape.parse("9" * digits + "x4")
    assert len(str(refused.value)) < 500


@given(data=st.data())
def test_cells_as_text_and_back(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(SHAPES))
    cells = data.draw(st.lists(st.integers(0, 999_999_999), min_size=shape.cells, max_size=shape.cells))
    text = format_cells(cells, shape)
    assert parse_cells(text, shape) == cells
    assert text.count("/") == shape.rows - 1


def test_format_cells_example() -> None:
    assert format_cells([2, 4, 0, 2], Shape(2, 2)) == "2 4 / 0 2"


def test_shorten_keeps_short_text_and_cuts_long_text() -> None:
    assert shorten("abc") == "abc"
    assert shorten("a" * 80) == "a" * 80
    assert shorten("a" * 81) == "a" * 77 + "..."
    assert shorten("abcdefgh", width=6) == "abc..."
