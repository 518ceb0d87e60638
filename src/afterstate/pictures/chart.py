"""A small chart as SVG: a line with its band, and dots. Words and grid have the colour of the text around it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from afterstate.pictures.markup import Markup, tag
from afterstate.pictures.panel import ACCENT, FONT, SIGNS
from afterstate.units import format_count

WIDTH, HEIGHT = 560, 220
LEFT, RIGHT, TOP, BOTTOM = 46, 16, 12, 24  # around the plot
STEPS = 5  # of the grid, at most


class Point(NamedTuple):
    """A value, and half the width of its interval."""

    x: float
    y: float
    margin: float = 0.0


@dataclass(frozen=True)
class Frame:
    """Where numbers are on the picture. Both axes begin at 0."""

    right: float
    top: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        across = LEFT + (WIDTH - LEFT - RIGHT) * x / self.right
        return across, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * max(y, 0.0) / self.top

    def path(self, points: Sequence[tuple[float, float]]) -> str:
        """A line through some points, as SVG writes it."""
        return "M" + "L".join("{:.1f} {:.1f}".format(*self.at(*point)) for point in points)


def draw_chart(curve: Sequence[Point], dots: Sequence[Point] = (), *, title: str) -> Markup:
    """A curve, and dots of a second kind."""
    points = [*curve, *dots]
    frame = Frame(
        max((point.x for point in points), default=0) or 1, max((point.y + point.margin for point in points), default=0) or 1
    )
    drawn = _grid(frame)
    if curve:
        edge = [(point.x, point.y + point.margin) for point in curve]
        edge += [(point.x, point.y - point.margin) for point in reversed(curve)]
        drawn.append(tag("path", d=f"{frame.path(edge)}Z", fill=SIGNS[1], fill_opacity=0.25))
        middle = frame.path([(point.x, point.y) for point in curve])
        drawn.append(tag("path", d=middle, fill="none", stroke=SIGNS[1], stroke_width=2, stroke_linejoin="round"))
    for dot in dots:
        ends = frame.path([(dot.x, dot.y - dot.margin), (dot.x, dot.y + dot.margin)])
        x, y = frame.at(dot.x, dot.y)
        drawn.append(tag("path", d=ends, stroke=ACCENT, stroke_width=1.5))
        drawn.append(tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=3.5, fill=ACCENT))
    return tag(
        "svg", tag("title", title), *drawn, xmlns="http://www.w3.org/2000/svg", role="img", viewBox=f"0 0 {WIDTH} {HEIGHT}",
        width=WIDTH, height=HEIGHT, font_family=FONT, font_size=11, style="max-width: 100%; height: auto",
    )  # fmt: skip


def ticks(end: float, most: int = STEPS) -> list[float]:
    """Round numbers from 0 to `end`, with at most so many steps: 870 -> 0, 200, 400, 600, 800."""
    size = 10.0 ** math.floor(math.log10(end / most))
    step = next(factor * size for factor in (1, 2, 5, 10) if factor * size * most >= end * (1 - 1e-9))
    return [number * step for number in range(int(end / step + 1e-9) + 1)]


def _grid(frame: Frame) -> list[Markup]:
    """A line for each round value, and the numbers along both axes."""
    drawn, ink = [], {"fill": "currentColor", "fill_opacity": 0.7}
    for value in ticks(frame.top):
        (left, y), (right, _) = frame.at(0, value), frame.at(frame.right, value)
        drawn.append(tag("path", d=f"M{left:.1f} {y:.1f}H{right:.1f}", stroke="currentColor", stroke_opacity=0.18))
        drawn.append(tag("text", format_count(value), x=f"{left - 6:.1f}", y=f"{y + 4:.1f}", text_anchor="end", **ink))
    for value in ticks(frame.right):
        x, y = frame.at(value, 0)
        drawn.append(tag("text", format_count(value), x=f"{x:.1f}", y=f"{y + 17:.1f}", text_anchor="middle", **ink))
    return drawn
