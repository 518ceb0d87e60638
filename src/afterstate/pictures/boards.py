"""Boards as SVG, for light and dark surroundings: tiles, or a number in each cell."""

from collections.abc import Sequence
from dataclasses import dataclass

from afterstate.pictures.markup import Markup, tag
from afterstate.pictures.panel import FONT, SIGNS

GAP = 0.1  # between cells, as a share of a cell
# half transparent, so that a board is a bit darker than a light page, and a bit lighter than a dark one
_BOARD, _CELL = ("#968264", 0.45), ("#fffaf0", 0.18)
_SIZES = (0.46, 0.46, 0.385, 0.305, 0.25, 0.21, 0.18)  # of the text, by its length


@dataclass(frozen=True)
class Face:
    """A tile as it is drawn."""

    text: str
    fill: str
    ink: str


def draw_board(faces: Sequence[Face | None], columns: int, *, cell: float = 44.0, title: str = "") -> Markup:
    """A board of tiles, row by row; None is an empty cell."""
    step, drawn = cell * (1 + GAP), []
    for number, face in enumerate(faces):
        x, y = cell * GAP + step * (number % columns), cell * GAP + step * (number // columns)
        fill, opacity = _CELL if face is None else (face.fill, 1.0)
        drawn.append(_square(x, y, cell, fill, opacity))
        if face is not None:
            size = cell * _SIZES[min(len(face.text), len(_SIZES)) - 1]
            drawn.append(_text(face.text, x + cell / 2, y + cell / 2, size, face.ink))
    return _frame(drawn, len(faces), columns, cell, title)


def draw_shares(shares: Sequence[float], columns: int, *, cell: float = 44.0, title: str = "") -> Markup:
    """A board with a number in each cell: the larger, the stronger its colour, which says whether it is above or below 0."""
    step, drawn = cell * (1 + GAP), []
    strongest = max((abs(share) for share in shares), default=0.0) or 1.0
    for number, share in enumerate(shares):
        x, y = cell * GAP + step * (number % columns), cell * GAP + step * (number // columns)
        drawn.append(_square(x, y, cell, SIGNS[share < 0], round(0.08 + 0.72 * abs(share) / strongest, 3)))
        text = short_number(share)
        drawn.append(_text(text, x + cell / 2, y + cell / 2, cell * (0.26 if len(text) < 6 else 0.22), "currentColor"))
    return _frame(drawn, len(shares), columns, cell, title)


def short_number(value: float) -> str:
    """A number in a few characters: -3.2, 48, 1,204, 12.3k."""
    if abs(value) < 9.95:
        return f"{value:.1f}"
    return f"{value:,.0f}" if abs(value) < 9999.5 else f"{value / 1000:,.1f}k"


def _frame(drawn: Sequence[Markup], cells: int, columns: int, cell: float, title: str) -> Markup:
    """The board behind the cells."""
    width = cell * (columns * (1 + GAP) + GAP)
    height = cell * (-(-cells // columns) * (1 + GAP) + GAP)
    fill, opacity = _BOARD
    back = tag("rect", width=_round(width), height=_round(height), rx=_round(cell * 0.14), fill=fill, fill_opacity=opacity)
    return tag(
        "svg", *([tag("title", title)] if title else []), back, *drawn, xmlns="http://www.w3.org/2000/svg", role="img",
        viewBox=f"0 0 {_round(width)} {_round(height)}", width=_round(width), height=_round(height), font_family=FONT,
        style="max-width: none",
    )  # fmt: skip


def _square(x: float, y: float, side: float, fill: str, opacity: float) -> Markup:
    return tag(
        "rect", x=_round(x), y=_round(y), width=_round(side), height=_round(side), rx=_round(side * 0.1), fill=fill,
        fill_opacity=None if opacity == 1.0 else opacity,
    )  # fmt: skip


def _text(text: str, x: float, y: float, size: float, ink: str) -> Markup:
    place = {"x": _round(x), "y": _round(y + size * 0.35), "text_anchor": "middle"}
    return tag("text", text, font_size=_round(size), font_weight=700, fill=ink, **place)


def _round(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
