"""Patterns: sets of cells written as hex digits, presets, and drawings.

A pattern '012456' looks at the cells 0 1 2 4 5 6 (row by row, from the top left); cells of a smaller board are numbered
within that board. The order of the digits does not change what a network can learn.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from afterstate.bitboard import Shape
from afterstate.errors import InputError
from afterstate.units import shorten

MAX_CELLS = 8  # 16**8 weights fill 16 GiB
SYMMETRIES = (8, 4, 1)


@dataclass(frozen=True)
class Preset:
    """A named set of patterns for the 4x4 board, with the number of isomorphisms it was designed for."""

    patterns: str
    symmetry: int = 8
    origin: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.patterns.split())


_MATSUZAKI = "012456 456789 012345 234569 01259a 345678 134567 01489a"


def _first(count: int) -> Preset:
    return Preset(" ".join(_MATSUZAKI.split()[:count]), origin=f"Matsuzaki, the best {count} of eight")


PRESETS: dict[str, Preset] = {
    "4x6": Preset("012345 456789 012456 45689a", origin="Yeh, Wu; the four 6-tuples of most students' programs"),
    "8x6": Preset(_MATSUZAKI, origin="Matsuzaki"),
    "5x6": Preset("012345 456789 89abcd 012456 45689a", origin="the 42-33 set"),
    "4x6-matsuzaki": _first(4),
    "5x6-matsuzaki": _first(5),
    "6x6": _first(6),
    "7x6": _first(7),
    "4x5": Preset("01234 45678 01245 45689", origin="4x6 with five cells each"),
    "2x4": Preset("0123 4567", origin="an outer and an inner line"),
    "5x4": Preset("0123 4567 0145 1256 569a", origin="two lines, three squares"),
    "2x7": Preset("0123456 456789a", origin="7-tuples, 2 GiB"),
    "3x7": Preset("0123456 456789a 89abcde", origin="7-tuples, 3 GiB"),
    "1x8": Preset("01234567", origin="8-tuple, 16 GiB"),
    "2x8": Preset("01234567 456789ab", origin="8-tuples, 32 GiB"),
    "4x8": Preset("01234567 456789ab 01245689 0123458c", origin="8-tuples, 64 GiB"),
    "8x4": Preset("0123 4567 89ab cdef 048c 159d 26ae 37bf", symmetry=1, origin="all lines, no isomorphisms"),
    "9x4": Preset("0145 1256 2367 4589 569a 67ab 89cd 9ade abef", origin="all squares"),
    "hooks": Preset("048cd9 159dea 159a62 26ab73", origin="a student report's own design"),
}


def parse_pattern(text: str, shape: Shape) -> tuple[int, ...]:
    """Read one pattern as cells: '0145' -> (0, 1, 4, 5)."""
    if not 1 <= len(text) <= MAX_CELLS:
        raise InputError(f"pattern {shorten(text)!r} has {len(text)} cells; a pattern has 1 to {MAX_CELLS}")
    last = f"{shape.cells - 1:x}"
    if any(digit not in "0123456789abcdef" or int(digit, 16) >= shape.cells for digit in text.lower()):
        raise InputError(f"pattern {text!r} is not made of the cells 0 to {last} of a {shape} board, written as hex digits")
    cells = tuple(int(digit, 16) for digit in text.lower())
    repeated = sorted({f"{cell:x}" for cell in cells if cells.count(cell) > 1})
    if repeated:
        raise InputError(f"pattern {text!r} names cell {', '.join(repeated)} more than once")
    return cells


def parse_patterns(text: str, shape: Shape) -> tuple[str, ...]:
    """Read a preset's name, or patterns separated by commas: '4x6' -> ('012345', '456789', '012456', '45689a').

    A list of single cells is refused: who writes 0,1,2,3 most likely means 0123. `Network` takes ["0", "1"].
    """
    if text in PRESETS:
        if shape != Shape():
            raise InputError(
                f"network {text!r} is for the 4x4 board; give patterns for {shape}, such as {default_network(shape)}"
            )
        return PRESETS[text].names
    patterns = tuple(part.lower() for part in text.replace(",", " ").split())
    if len(patterns) == 1 and any(mark in text for mark in "x-"):
        raise InputError(
            f"no network is called {shorten(text)!r}; there are: {', '.join(PRESETS)}; or give patterns such as 0123,4567"
        )
    check_patterns(patterns, shape)
    if len(patterns) > 1 and all(len(pattern) == 1 for pattern in patterns):
        one = f"; one pattern of these cells is {''.join(patterns)}" if len(patterns) <= MAX_CELLS else ""
        raise InputError(f"{shorten(text)!r} would be {len(patterns)} patterns of one cell each{one}")
    return patterns


def check_patterns(patterns: Sequence[str], shape: Shape) -> None:
    """Refuse patterns that cannot make a network."""
    if not patterns:
        raise InputError("a network needs at least one pattern")
    seen: dict[frozenset[int], str] = {}
    for pattern in patterns:
        cells = frozenset(parse_pattern(pattern, shape))
        if cells in seen:
            raise InputError(f"patterns {seen[cells]!r} and {pattern!r} have the same cells")
        seen[cells] = pattern


def check_symmetry(symmetry: int, shape: Shape) -> None:
    """Refuse a number of isomorphisms that the board does not have."""
    if symmetry not in SYMMETRIES or symmetry > shape.symmetries:
        allowed = " or ".join(str(count) for count in SYMMETRIES if count <= shape.symmetries)
        raise InputError(f"a {shape} board can use {allowed} isomorphisms, not {symmetry}")


# where a pattern sees the whole board, smaller ones help to value boards that were never met
_SMALL_BOARDS = {
    (2, 2): "0123,01,0",
    (2, 3): "012345,0134,012,01,03,0,1",
    (2, 4): "012456,012345",
    (3, 3): "012345,012478",
    (3, 4): "012456,014589,012345",
}


def default_network(shape: Shape) -> str:
    """A sensible network for a board size: 4x6 on the full board, patterns of up to six cells on others."""
    if shape == Shape():
        return "4x6"
    if shape.rows <= shape.columns:
        return _SMALL_BOARDS[shape.rows, shape.columns]
    lying = _SMALL_BOARDS[shape.columns, shape.rows].split(",")
    turned = [sorted(cell % shape.rows * shape.columns + cell // shape.rows for cell in _cells(name)) for name in lying]
    return ",".join("".join(f"{cell:x}" for cell in cells) for cells in turned)


def _cells(pattern: str) -> list[int]:
    return [int(digit, 16) for digit in pattern]


def default_symmetry(network: str, shape: Shape) -> int:
    """The number of isomorphisms that a network is designed for."""
    return min(PRESETS[network].symmetry if network in PRESETS else 8, shape.symmetries)


def isomorphic_cells(cells: Sequence[int], shape: Shape, symmetry: int) -> list[tuple[int, ...]]:
    """Where a pattern's cells lie in each of its isomorphs, in the same order of cells."""
    rows, columns = shape.rows - 1, shape.columns - 1
    places = [divmod(cell, shape.columns) for cell in cells]
    turns = [places, [(rows - r, columns - c) for r, c in places]]
    mirrors = [[(r, columns - c) for r, c in places], [(rows - r, c) for r, c in places]]
    if shape.square:
        turns += [[(c, r) for r, c in mirror] for mirror in mirrors]
        mirrors += [[(c, r) for r, c in turn] for turn in turns[:2]]
    every = (turns + mirrors)[:symmetry]
    return [tuple(r * shape.columns + c for r, c in places) for places in every]


def places_of(pattern: str, shape: Shape, symmetry: int) -> dict[str, int]:
    """Where the isomorphs of a pattern look, each written as a pattern, and how many of them look there.

    '01' with 8 isomorphisms on 2x2 -> {'01': 2, '32': 2, '20': 2, '13': 2}: two read each edge, from opposite ends.
    """
    names: dict[frozenset[int], str] = {}
    looks: dict[str, int] = {}
    for cells in isomorphic_cells(parse_pattern(pattern, shape), shape, symmetry):
        name = names.setdefault(frozenset(cells), "".join(f"{cell:x}" for cell in cells))
        looks[name] = looks.get(name, 0) + 1
    return looks


def own_tables(patterns: Sequence[str], shape: Shape, symmetry: int) -> tuple[str, ...]:
    """All places where the isomorphs of some patterns look, each once: as patterns, they have a table each."""
    found: dict[frozenset[str], str] = {}
    for pattern in patterns:
        for name in places_of(pattern, shape, symmetry):
            found.setdefault(frozenset(name), name)
    return tuple(found.values())


def orient(pattern: str, shape: Shape, symmetry: int) -> tuple[int, ...]:
    """The isomorph of a pattern that its table is laid out for, as cells in rising order.

    All give the same values; the last in order touches the fewest cache lines and pages.
    """
    cells = parse_pattern(pattern, shape)
    return max(tuple(sorted(places)) for places in isomorphic_cells(cells, shape, symmetry))


def places_in(layout: Sequence[int], pattern: str, shape: Shape, symmetry: int) -> tuple[int, ...]:
    """Where in a table's layout the tile of each cell of a pattern stands, the cells in the order as written.

    Any isomorph of the table's pattern will do, with its cells in any order. If several turns fit, all give the same values.
    """
    for turned in isomorphic_cells(parse_pattern(pattern, shape), shape, symmetry):
        if set(turned) == set(layout):
            return tuple(layout.index(cell) for cell in turned)
    raise InputError(f"pattern {pattern!r} is no isomorph of {''.join(f'{cell:x}' for cell in layout)!r}")


def draw_pattern(pattern: str, shape: Shape) -> list[str]:
    """A pattern as lines of text, filled where it looks: '0145' on 4x4 -> ['■ ■ · ·', '■ ■ · ·', '· · · ·', '· · · ·']."""
    cells = parse_pattern(pattern, shape)
    marks = ["■" if cell in cells else "·" for cell in range(shape.cells)]
    return [" ".join(marks[start : start + shape.columns]) for start in range(0, shape.cells, shape.columns)]
