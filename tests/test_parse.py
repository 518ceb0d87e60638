"""Boards as people paste them: what is read, and what is refused with which words."""

import random

import numpy as np
import pytest

from afterstate.errors import InputError
from afterstate.games.game import Game, State, make

STATE = State(0x1000210032104321)  # 2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2
CELLS = [[2, 4, 8, 16], [0, 2, 4, 8], [0, 0, 2, 4], [0, 0, 0, 2]]
FRAMED = """
+------+------+------+------+
|    2 |    4 |    8 |   16 |
+------+------+------+------+
|      |    2 |    4 |    8 |
+------+------+------+------+
|      |      |    2 |    4 |
+------+------+------+------+
|      |      |      |    2 |
+------+------+------+------+
"""
BOXED = """
┌────┬────┬────┬────┐
│ 2  │ 4  │ 8  │ 16 │
├────┼────┼────┼────┤
│    │ 2  │ 4  │ 8  │
├────┼────┼────┼────┤
│ -  │ -  │ 2  │ 4  │
├────┼────┼────┼────┤
│ ·  │ ·  │ ·  │ 2  │
└────┴────┴────┴────┘
"""

READ = {
    "lists": "[[2, 4, 8, 16], [0, 2, 4, 8], [0, 0, 2, 4], [0, 0, 0, 2]]",
    "lists over lines": "[[2, 4, 8, 16],\n [0, 2, 4, 8],\n [0, 0, 2, 4],\n [0, 0, 0, 2]]\n",
    "tuples": "((2, 4, 8, 16), (0, 2, 4, 8), (0, 0, 2, 4), (0, 0, 0, 2))",
    "braces": "{{2, 4, 8, 16}, {0, 2, 4, 8}, {0, 0, 2, 4}, {0, 0, 0, 2}}",
    "texts": '[["2", "4", "8", "16"], ["0", "2", "4", "8"], ["0", "0", "2", "4"], ["0", "0", "0", "2"]]',
    "rows of lists": "[2 4 8 16]\n[0 2 4 8]\n[0 0 2 4]\n[0 0 0 2]",
    "numpy": str(np.array(CELLS)),
    "numpy repr": repr(np.array(CELLS)),
    "numpy of a type": repr(np.array(CELLS, np.int32)),
    "numpy of floats": str(np.array(CELLS, np.float64)),
    "numpy, flat": str(np.array(CELLS).reshape(-1)),
    "numpy, flat over lines": "[ 2  4  8 16  0  2  4  8  0  0\n  2  4  0  0  0  2]",
    "one list": str([cell for row in CELLS for cell in row]),
    "commas": "2,4,8,16,0,2,4,8,0,0,2,4,0,0,0,2",
    "rows with commas": "2,4,8,16\n0,2,4,8\n0,0,2,4\n0,0,0,2",
    "rows that end with commas": "2, 4, 8, 16,\n0, 2, 4, 8,\n0, 0, 2, 4,\n0, 0, 0, 2,",
    "semicolons": "[2 4 8 16; 0 2 4 8; 0 0 2 4; 0 0 0 2]",
    "frame": FRAMED,
    "frame in one line": " ".join(FRAMED.split("\n")),
    "frame without rules": "\n".join(line for line in FRAMED.splitlines() if "+" not in line),
    "frame without corners": FRAMED.replace("+", "-"),
    "only walls": "| 2 4 8 16 |\n| 0 2 4 8 |\n| 0 0 2 4 |\n| 0 0 0 2 |",
    "walls between": "2|4|8|16\n-|2|4|8\n-|-|2|4\n-|-|-|2",
    "markdown": "|2|4|8|16|\n|---|:--|--:|---|\n|0|2|4|8|\n|0|0|2|4|\n|0|0|0|2|",
    "box": BOXED,
    "dashes": "2 4 8 16\n- 2 4 8\n- - 2 4\n- - - 2",
    "dots": "2 4 8 16 / . 2 4 8 / . . 2 4 / . . . 2",
    "low lines": "2 4 8 16 / _ 2 4 8 / _ _ 2 4 / _ _ _ 2",
    "spreadsheet": "2\t4\t8\t16\n\t2\t4\t8\n\t\t2\t4\n\t\t\t2",
    "one cell a line": "\n".join(str(cell) for row in CELLS for cell in row),
    "hex": "1234012300120001",
}  # fmt: skip


@pytest.mark.parametrize("text", READ.values(), ids=READ)
def test_a_pasted_board_is_read(game: Game, text: str) -> None:
    assert game.parse(text) == STATE


def test_a_row_of_empty_cells_is_no_rule(game: Game) -> None:
    assert game.parse("- - - -\n2 - - -\n| - | - | - | - |\n_ . - 2") == game.parse("0 0 0 0 / 2 0 0 0 / 0 0 0 0 / 0 0 0 2")


def test_hex_digits_are_the_numbers_of_tiles() -> None:
    assert make("2048", size="2x2").parse("1 2 0 1".replace(" ", "")) == State(0x100021)
    threes = make("threes", rules="tcg2018")
    assert threes.parse("123e000000000000") == threes.parse("1 2 3 6144 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    assert make("2048").parse("F00000000000000f") == make("2048").parse("32768 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 32768")


@pytest.mark.parametrize(
    "board",
    [
        "[[0, 3, 0, 1], [2, 0, 0, 3], [0, 12, 0, 0], [1, 0, 2, 6]] | next 2",
        "+--+--+--+--+\n| 0| 3|  | 1|\n+--+--+--+--+\n| 2| 0| 0| 3|\n|  |12| 0| 0|\n| 1| 0| 2| 6|\n+--+--+--+--+\n| next 2",
        "│ 0│ 3│  │ 1│\n│ 2│ 0│ 0│ 3│\n│  │12│ 0│ 0│\n│ 1│ 0│ 2│ 6│ next 2".replace("│ next", "| next"),
        "- 3 - 1\n2 - - 3\n- 12 - -\n1 - 2 6\n| next 2",
    ],
)
def test_threes_beside_its_next_tile(board: str) -> None:
    game = make("threes")
    assert game.parse(board) == game.parse("0 3 0 1 / 2 0 0 3 / 0 12 0 0 / 1 0 2 6 | next 2")


@pytest.mark.parametrize("size", ["2x2", "2x3", "3x2", "3x3", "4x2", "4x4"])
def test_every_form_on_every_size(size: str) -> None:
    game = make("2048", size=size)
    rows, columns = game.shape.rows, game.shape.columns
    draw = random.Random(size)
    for _ in range(20):
        cells = [[draw.choice([0, 2, 4, 16]) for _ in range(columns)] for _ in range(rows)]
        state = game.parse(" / ".join(" ".join(map(str, row)) for row in cells))
        framed = "\n".join("|" + "|".join(f"{cell or '':>4}" for cell in row) + "|" for row in cells)
        digits = "".join(str(cell.bit_length() - 1 if cell else 0) for row in cells for cell in row)
        for text in (str(cells), str(np.array(cells)), framed, " ".join(framed.split("\n")), digits, game.format(state)):
            assert game.parse(text) == state, text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[2, 4, 8, 16], [0, 2, 4], [0, 0, 2, 4], [0, 0, 0, 2]]", r"16 cells, but 15 were given \(row 2 has 3, not 4\): "),
        ("2 4 8 16\n0 2 4 8\n0 0 2 4", r"16 cells, but 12 were given \(3 rows, not 4\)"),
        ("2 4 8 16\n0 2 4\n0 0 2 4 2\n0 0 0 2", r"4 rows of 4 cells, but these differ \(row 2 has 3, not 4\)"),
        ("2 4 8 16 0 2 4 8\n0 0 2 4 0 0 0 2", r"4 rows of 4 cells, but these differ \(row 1 has 8, not 4\)"),
        ("2 4 / / 8 16", r"but 4 were given \(row 1 has 2, not 4\)"),
        ("[[2, 4, 8, 16], [0, 2, 4, 8", "brackets do not match"),
        ("2 4 8 16 [0 2 4 8] 0 0 2 4 0 0 0 2", "brackets do not match"),
        ("0x1234012300120001", "may begin with the first cell or with the last: write the 16 digits without 0x"),
        ("123401230012000", "16 cells, but 1 were given"),
        (FRAMED.replace("16", "17"), "cell 4 of the board is 17, which is not a tile of 2048"),
        (FRAMED.replace("16", "-2"), "cell 4 of the board is '-2', not a tile"),
        ("2.5 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2", "cell 1 of the board is '2.5', not a tile"),
    ],
)  # fmt: skip
def test_what_is_not_clear_is_refused(game: Game, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        game.parse(text)
    assert "\\n" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    ["-" * 10**6 + "x", "[" * 10**6, "[" * 10**6 + "]" * 10**6, "|" * 10**6, "+-" * 500_000, "[2" * 500_000, "\n" * 10**6 + "2",
     "," * 10**6 + "dtype", "/" * 10**6, "| " * 500_000 + "next 2"],
    ids=lambda text: text[:6],
)  # fmt: skip
@pytest.mark.parametrize("name", ["2048", "threes"])
def test_a_million_characters_are_refused_at_once(name: str, text: str) -> None:
    with pytest.raises(InputError) as refused:
        make(name).parse(text)
    assert len(str(refused.value)) < 500
