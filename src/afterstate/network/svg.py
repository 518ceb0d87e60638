"""Patterns as SVG: boards in a row, with the cells that a pattern looks at filled and numbered."""

from collections.abc import Sequence
from dataclasses import dataclass

from afterstate.bitboard import Shape
from afterstate.network.patterns import parse_pattern, places_of
from afterstate.pictures.markup import Markup, tag
from afterstate.pictures.panel import MONO

MADE = "<!-- drawn by Afterstate -->"  # tells our own files from others
STEP, SIDE, GAP = 16, 14, 18  # pixels: from cell to cell, of a cell, between boards
HEAD = 18  # above a board, for its name
ACROSS = 8  # boards in a row
STRONG, LIGHT = ("#0072B2", "#FFFFFF"), ("#BFDCEE", "#1F4E6B")  # a pattern and its isomorphs: cells, and the numbers on them


@dataclass(frozen=True)
class Board:
    """One board of a picture."""

    pattern: str
    colours: tuple[str, str] = STRONG
    looks: int = 1  # isomorphs that look at these cells

    @property
    def caption(self) -> str:
        return self.pattern if self.looks == 1 else f"{self.pattern} ×{self.looks}"


def draw_patterns(patterns: Sequence[str], shape: Shape, *, symmetry: int = 1, style: str | None = None) -> Markup:
    """All patterns; with more than one isomorphism, a row for each pattern with all its isomorphs.

    The numbers are the order of a pattern's cells, so that they show how each isomorph is turned. The words have the colour of
    the text around the picture.
    """
    if symmetry == 1:
        boards = [Board(pattern) for pattern in patterns]
        rows = [boards[start : start + ACROSS] for start in range(0, len(boards), ACROSS)]
    else:
        rows = [_isomorphs(pattern, shape, symmetry) for pattern in patterns]
    across, down = GAP + max(STEP * shape.columns, _text_width(rows)), HEAD + GAP + STEP * shape.rows
    width, height = across * max(map(len, rows)), down * len(rows)
    drawn = [
        tag("g", *_draw(board, shape), transform=f"translate({across * column} {down * line})")
        for line, row in enumerate(rows)
        for column, board in enumerate(row)
    ]
    return tag(
        "svg", tag("title", f"patterns {', '.join(patterns)}"), *drawn, xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}", width=width, height=height, role="img", style=style,
        font_family=MONO,
    )  # fmt: skip


def svg_file(patterns: Sequence[str], shape: Shape, *, symmetry: int = 1) -> str:
    """The same as a file of its own, on white: its words are black wherever it is shown."""
    return f"{MADE}\n{draw_patterns(patterns, shape, symmetry=symmetry, style='background: #FFFFFF')}\n"


def _isomorphs(pattern: str, shape: Shape, symmetry: int) -> list[Board]:
    places = places_of(pattern, shape, symmetry)
    return [Board(name, LIGHT if place else STRONG, looks) for place, (name, looks) in enumerate(places.items())]


def _text_width(rows: Sequence[Sequence[Board]]) -> int:
    return max(round(7.4 * len(board.caption)) for row in rows for board in row)


def _draw(board: Board, shape: Shape) -> list[Markup]:
    """A name and, below it, the cells."""
    order = {cell: place for place, cell in enumerate(parse_pattern(board.pattern, shape), start=1)}
    fill, ink = board.colours
    parts = [tag("text", board.caption, y=12, font_size=12, font_weight="bold", fill="currentColor")]
    for cell in range(shape.cells):
        x, y = STEP * (cell % shape.columns) + 1, HEAD + STEP * (cell // shape.columns)
        square = {"x": x, "y": y, "width": SIDE, "height": SIDE, "rx": 2.5}
        if cell not in order:
            parts.append(tag("rect", fill="none", stroke="#999999", stroke_opacity=0.6, **square))
            continue
        parts.append(tag("rect", fill=fill, stroke=fill, **square))
        middle = {"x": x + SIDE / 2, "y": y + SIDE / 2 + 3.2, "text_anchor": "middle"}
        parts.append(tag("text", str(order[cell]), font_size=9, fill=ink, **middle))
    return parts
