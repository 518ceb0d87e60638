"""Boards as people write and paste them, read as numbers. What could mean two things is refused.

    2 4 / 0 2                      the notation that this program writes; rows may also be lines, or end with ;
    [[2, 4], [0, 2]]               lists, with or without commas: JSON, Python, what NumPy prints
    +---+---+                      tables with frames of | and +---+, of box-drawing characters, or without corners;
    | 2 | 4 |                      an empty field is an empty cell
    | . | 2 |
    2,4,0,2                        all cells in one line, or one cell a line
    1201                           one hex digit a cell, its tile's number (2 is 1, 4 is 2, 8 is 3, ...), from the top left

An empty cell is 0, or one of . _ - and a middle dot. One word is hex digits only if it has exactly as many digits as the board
has cells: no board is a single number, so that means one thing. 0x1201 is refused, since programs differ in whether such a
number begins with the first cell or with the last.
"""

import re
from collections.abc import Sequence

from afterstate.bitboard import Shape
from afterstate.errors import InputError
from afterstate.units import shorten

_EMPTY = {".", "_", "-", "\N{MIDDLE DOT}"}
_ACROSS, _DOWN = "─━┄┅┈┉╌╍═╴╶╸╺╼╾", "│┃┆┇┊┋╎╏║╵╷╹╻╽╿"
_PLAIN = (
    dict.fromkeys(range(9472, 9600), "+")  # box-drawing characters
    | {ord(one): "-" for one in _ACROSS}
    | {ord(one): "|" for one in _DOWN}
    | {ord(one): " " for one in "\"'"}
    | {ord(one): "[" for one in "({"}
    | {ord(one): "]" for one in ")}"}
)
_LIST = re.compile(r"\[([^\[\]]*)\]")
_ARRAY = re.compile(r"\b(?:(?:np|numpy)\.)?array(?=\s*\[)|,\s*dtype\s*=\s*[\w.]{1,20}(?=\s*\])")
_EDGE = re.compile(r"\+[-=+]{2,}")


def quote(text: str) -> str:
    """A user's text for an error message: short, in one line."""
    return repr(shorten(" ".join(text[:1000].split())))


def parse_cells(text: str, shape: Shape, faces: Sequence[int] = ()) -> list[int]:
    """Read the number of each cell, row by row. With `faces`, what is written on each tile, hex digits can be read too."""
    rows = _rows(text, shape)
    words = [word for row in rows for word in row]
    if faces and len(words) == 1 and re.fullmatch(f"[0-9a-fA-F]{{{shape.cells}}}", words[0]):
        return [faces[int(digit, 16)] for digit in words[0]]
    if len(words) == 1 and re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}", words[0]):
        raise InputError(
            f"{quote(text)} may begin with the first cell or with the last: write the {shape.cells} digits without 0x, "
            "from the top left"
        )
    _check_count(rows, len(words), shape, text)
    return [_read(number, word, text) for number, word in enumerate(words, start=1)]


def _read(number: int, word: str, text: str) -> int:
    if word in _EMPTY:
        return 0
    digits = word.removesuffix(".")  # NumPy writes whole numbers of type float as 2.
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 9):
        raise InputError(f"cell {number} of the board is {quote(word)}, not a tile, in {quote(text)}")
    return int(digits)


def _check_count(rows: list[list[str]], count: int, shape: Shape, text: str) -> None:
    """Refuse too few or too many cells, and rows that do not have the length of the board's."""
    odd = [number for number, row in enumerate(rows, start=1) if len(row) != shape.columns]
    told = len(rows) > 1 and not all(len(row) == 1 for row in rows)  # one cell a line tells nothing about rows
    where = f" (row {odd[0]} has {len(rows[odd[0] - 1])}, not {shape.columns})" if told and odd else ""
    if told and not odd and len(rows) != shape.rows:
        where = f" ({len(rows)} rows, not {shape.rows})"
    if count != shape.cells:
        raise InputError(f"a {shape} board has {shape.cells} cells, but {count} were given{where}: {quote(text)}")
    if where:
        raise InputError(
            f"a {shape} board has {shape.rows} rows of {shape.columns} cells, but these differ{where}: {quote(text)}"
        )


def _rows(text: str, shape: Shape) -> list[list[str]]:
    """The words of each row; a single row if the text does not say where rows end."""
    text = text.translate(_PLAIN)
    if "[" in text or "]" in text:
        text = _ARRAY.sub("", text)
        lists = _LIST.findall(text)
        if not lists or _LIST.sub("", text).strip(" []|,\t\r\n") or text.count("[") != text.count("]"):
            raise InputError(f"the brackets do not match in {quote(text)}")
        if len(lists) > 1:
            return [_words(each) for each in lists]
        text = " ".join(lists[0].split())  # a long list goes on in the next line
    if "/" in text or ";" in text:
        parts = re.split("[/;]", text)
        return [_words(part.replace("|", " ")) for part in (parts[:-1] if not parts[-1].strip(" |\r\n") else parts)]
    lines = [line for line in text.splitlines() if line.strip() and not _is_rule(line)]
    return [row for line in lines for row in _line(_EDGE.sub(" ", line), shape)]


def _is_rule(line: str) -> bool:
    """Whether a line is drawn between rows: +---+---+ or |---|---|. A row of empty cells, - - - -, is not."""
    return set(line) <= set("-+=|: \t") and any(sign in line for sign in ("+", "--", "=="))


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _line(line: str, shape: Shape) -> list[list[str]]:
    """The rows of one line: most often one. Between | or tabs, an empty field is an empty cell."""
    sign = "|" if "|" in line else "\t"
    fields = [_words(field) for field in line.split(sign)]
    if sign == "|" and len(fields) > 2 and not fields[0] and not fields[-1]:
        fields = fields[1:-1]  # the frame
    if all(len(field) <= 1 for field in fields):
        if len(fields) == shape.columns:
            return [_filled(fields)]
        step = shape.columns + 1
        if len(fields) == shape.rows * step - 1 and not any(fields[shape.columns :: step]):  # a whole table in one line
            return [_filled(fields[start : start + shape.columns]) for start in range(0, len(fields), step)]
        return [[word for field in fields for word in field]]
    return [_words(line)] if sign == "\t" else [field for field in fields if field]


def _filled(fields: list[list[str]]) -> list[str]:
    return [field[0] if field else "0" for field in fields]
