"""What a notebook shows of a thing: figures, tables and pictures side by side. Colours fit light and dark notebooks."""

from collections.abc import Sequence

from afterstate.pictures.markup import Markup, tag

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SIGNS = ("#e0701a", "#3b8fd0")  # above and below 0; both can be seen on white and on black
ACCENT = "#d2691e"
SOFT = "opacity: .68"
_STACK = "display: flex; flex-direction: column; align-items: flex-start; align-self: center; gap: .6em"
_CELL = "padding: .15em .9em .15em 0; border: 0; text-align: {}; vertical-align: middle; white-space: nowrap; background: none"


def panel(*parts: str) -> Markup:
    """Parts side by side, or below each other where there is no room."""
    style = f"display: flex; flex-wrap: wrap; gap: .8em 2em; align-items: flex-start; padding: .3em 0; font: 13px/1.5 {FONT}"
    return tag("div", *parts, style=style)


def stack(*parts: str) -> Markup:
    """Parts below each other."""
    return tag("div", *parts, style=f"{_STACK}; font: 13px/1.5 {FONT}")


def line(text: str, *, soft: bool = False) -> Markup:
    """A line of text."""
    return tag("div", text, style=SOFT if soft else None)


def captioned(picture: str, caption: str) -> Markup:
    """A picture with words below it, if there is anything to say. They are not wider than the picture."""
    below = (
        [tag("div", caption, style=f"padding-top: .3em; text-align: center; font: 13px/1.4 {FONT}; {SOFT}")] if caption else []
    )
    return tag("div", picture, *below, style="width: min-content; line-height: 0")


def cards(figures: Sequence[tuple[str, str]]) -> Markup:
    """Large figures, each with its meaning below it."""
    drawn = [
        tag("div", tag("div", figure, style="font-size: 1.45em; font-weight: 650; line-height: 1.2"), line(words, soft=True))
        for figure, words in figures
    ]
    return tag("div", *drawn, style="display: flex; flex-wrap: wrap; gap: .5em 2em; font-variant-numeric: tabular-nums")


def table(rows: Sequence[Sequence[str]], *, heads: Sequence[str] = (), sides: str, best: int | None = None) -> Markup:
    """A table; `sides` has an l or r for each column, and the row `best` stands out."""
    names = {"l": "left", "r": "right"}
    styles = [_CELL.format(names[side]) for side in sides]

    def row(kind: str, cells: Sequence[str], style: str) -> Markup:
        inside = [tag(kind, cell, style=f"{own}; {style}") for cell, own in zip(cells, styles, strict=True)]
        return tag("tr", *inside, style="background: none")

    head = [tag("thead", row("th", heads, f"font-weight: 400; {SOFT}"), style="border: 0")] if heads else []
    found = [row("td", cells, "font-weight: 700" if number == best else "") for number, cells in enumerate(rows)]
    style = "border-collapse: collapse; border: 0; margin: 0; width: auto; font: inherit; font-variant-numeric: tabular-nums"
    return tag("table", *head, tag("tbody", *found), style=style)


def bar(share: float, *, colour: str = ACCENT, width: float = 10.0) -> Markup:
    """A bar as long as a share of `width`, in characters."""
    long = f"{width * min(max(share, 0.0), 1.0):.2f}em"
    return tag(
        "div", style=f"width: {long}; height: .75em; min-width: 1px; border-radius: .15em; background: {colour}"
    )  # fmt: skip
