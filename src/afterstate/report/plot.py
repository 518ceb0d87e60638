"""Curves of training runs: score and tile rates over games, as PNG or SVG."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, Literal

from afterstate.errors import InputError
from afterstate.files import atomic_write
from afterstate.learning.blocks import Record, merge, number
from afterstate.learning.figures import Report
from afterstate.learning.metrics import reached
from afterstate.pictures.markup import clean
from afterstate.play.reproduction import Reproduction
from afterstate.report.curves import Curve, fit, label_runs, name_runs

# also distinct for colour-blind people (Okabe and Ito)
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
DASHES = ["-", "--", ":", "-."]  # once all colours are in use
FORMATS = (".png", ".svg")
GREY = "#666666"
FEWEST = 0.02  # a tile is shown if at least this share of a block's games reaches it
MOST_TILES = 7  # the win tile may be one more
MANY = 50  # evaluations that are drawn with small dots
FONT = 10.5  # points
WIDTH, HEIGHT, LINE = 11.0, 4.7, 0.24  # inches: of the picture, of a game's panels, of a line of their legend

Format = Literal["png", "svg"]
Style = dict[str, Any]

_STYLE: Any = {
    "font.size": FONT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "axes.grid": True,
    "grid.color": "#808080",
    "grid.alpha": 0.22,
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "figure.constrained_layout.w_pad": 0.1,
    "figure.constrained_layout.h_pad": 0.09,
    "figure.titleweight": "bold",
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "afterstate",
}


def check_output(output: Path) -> None:
    """Raise an error if the file name does not end in one of FORMATS."""
    if output.suffix.lower() not in FORMATS:
        raise InputError(f"a plot is a {' or '.join(FORMATS)} file, not {output.name!r}")


def plot_runs(runs: Sequence[Path], output: Path) -> None:
    """Draw one run (its score and all its tiles) or several (their scores and win rates), one row of panels a game."""
    check_output(output)
    curves = [Curve.of(run) for run in runs]
    with atomic_write(output) as file:
        draw_curves(curves, file, "svg" if output.suffix.lower() == ".svg" else "png")


def plot_reproduction(done: Reproduction, output: Path) -> None:
    """Draw our run as lines, what was measured after it as dots, and the figures of the report as stars."""
    check_output(output)
    curve = Curve.of(done.run)
    games = {record["games"] for record in done.measured}  # measured again, so those of the run are left out
    curve = replace(curve, evals=[*(record for record in curve.evals if record["games"] not in games), *done.measured])
    with atomic_write(output) as file:
        draw_curves([curve], file, "svg" if output.suffix.lower() == ".svg" else "png", theirs=done.report)


def draw_curves(
    curves: Sequence[Curve], file: IO[bytes], kind: Format, *, on_page: bool = False, theirs: Report | None = None
) -> None:
    """Draw to a file. `on_page`: without a title and a background, which the page around it has.

    `theirs` are the figures of a report, to draw beside a single curve.
    """
    import matplotlib
    from matplotlib.figure import Figure

    games: dict[str, list[Curve]] = {}
    for curve in curves:
        games.setdefault(curve.game, []).append(curve)
    styles: list[Style] = [
        {"color": COLOURS[place % len(COLOURS)], "linestyle": DASHES[place // len(COLOURS) % len(DASHES)]}
        for place in range(max(map(len, games.values())))
    ]
    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # a name in a script that our font lacks
        heights = [HEIGHT + LINE * _legend_lines(_explain(group, theirs)) for group in games.values()]
        figure = Figure(figsize=(WIDTH, sum(heights)), layout="constrained")
        rows = figure.subfigures(len(games), 1, squeeze=False, height_ratios=heights)[:, 0]
        for row, (name, group) in zip(rows, games.items(), strict=True):
            if not on_page:
                _write(row.suptitle("title", x=0.012, ha="left", fontsize=13.5), _title(name, group))
            _draw_row(row, group, styles, theirs)
        metadata = {"Date": None} if kind == "svg" else None
        figure.savefig(file, format=kind, dpi=150, metadata=metadata, transparent=on_page)


def _title(game: str, curves: Sequence[Curve]) -> str:
    """What the runs have in common."""
    networks, methods = {curve.options.network for curve in curves}, {curve.options.method for curve in curves}
    common = [f"network {fit(str(*networks), 30)}"] if len(networks) == 1 else []
    common += methods if len(methods) == 1 else []
    name = f"{fit(name_runs(curves)[0], 70)}: " if len(curves) == 1 else ""
    return name + ", ".join([game, *common])


def _write(text: Any, words: str) -> None:
    """Show words as they are: matplotlib hides labels with a leading underscore, and reads $ as a formula."""
    text.set_text(clean(words))
    text.set_parse_math(False)


def _draw_row(row: Any, curves: Sequence[Curve], styles: Sequence[Style], theirs: Report | None) -> None:
    """The two panels of a game, and below them what is what."""
    left, right = row.subplots(1, 2)
    for curve, style in zip(curves, styles, strict=False):
        _draw_score(left, curve, style)
    if theirs is not None:
        means = [(figures.games, figures.mean) for figures in theirs.figures if figures.mean is not None]
        _draw_stars(left, means, styles[0]["color"])
    left.set_title("Score")
    left.set_ylabel("mean score")
    left.yaxis.set_major_formatter(_short)
    left.set_ylim(bottom=0)
    if len(curves) == 1:
        _draw_tiles(right, curves[0], theirs)
    else:
        for curve, style in zip(curves, styles, strict=False):
            _draw_rate(right, curve, curve.win_tile, style)
        right.set_title(f"Games that reach {curves[0].win_tile}")
        right.set_ylabel("games, %")
    right.set_ylim(0, max(101.0, right.dataLim.ymax))
    for axes in (left, right):
        axes.set_xlabel("training games")
        axes.xaxis.set_major_formatter(_short)
        axes.set_xlim(left=0)
    _draw_legend(row, curves, styles, theirs)


def _short(value: float, position: int | None = None) -> str:
    """Format a number of an axis: 20000 -> 20k."""
    for suffix, factor in (("M", 1e6), ("k", 1e3)):
        if abs(value) >= factor:
            return f"{value / factor:g}{suffix}"
    return f"{value:g}"


# --- panels ----------------------------------------------------------------------------------------------------------


def _span(blocks: Sequence[Record]) -> list[Record]:
    """Blocks to draw a line through; a single one lasts from its first game to its last."""
    return [blocks[0] | {"games": blocks[0]["games"] - blocks[0]["count"]}, *blocks] if len(blocks) == 1 else [*blocks]


def _dots(evals: Sequence[Record]) -> Style:
    many = len(evals) > MANY
    return {"markersize": 2.5 if many else 5, "markeredgecolor": "white", "markeredgewidth": 0.3 if many else 0.8}


def _draw_score(axes: Any, curve: Curve, style: Style) -> None:
    blocks = _span(merge(curve.blocks))
    games = [block["games"] for block in blocks]
    low = [block["mean"] - (block["interval"] or 0.0) for block in blocks]
    high = [block["mean"] + (block["interval"] or 0.0) for block in blocks]
    axes.fill_between(games, low, high, color=style["color"], alpha=0.18, linewidth=0)
    axes.plot(games, [block["mean"] for block in blocks], linewidth=1.5, **style)
    if curve.evals:
        axes.errorbar(
            [record["games"] for record in curve.evals],
            [record["mean"] for record in curve.evals],
            yerr=[record["interval"] or 0.0 for record in curve.evals],
            fmt="o", color=style["color"], elinewidth=0.9, capsize=0 if len(curve.evals) > MANY else 2.5, **_dots(curve.evals),
        )  # fmt: skip


def _draw_rate(axes: Any, curve: Curve, tile: int, style: Style) -> None:
    """How many games reach a tile, while learning and with learning off."""
    blocks = _span(merge(curve.blocks))
    axes.plot([block["games"] for block in blocks], [100 * reached(block, tile) for block in blocks], **style)
    games = [record["games"] for record in curve.evals]
    rates = [100 * reached(record, tile) for record in curve.evals]
    axes.plot(games, rates, "o", color=style["color"], **_dots(curve.evals))


def tiles_to_show(curve: Curve) -> list[int]:
    """The tiles whose rates say something: neither always reached nor hardly ever; the win tile is always one."""
    blocks = merge(curve.blocks)
    tiles = sorted({int(tile) for block in blocks for tile in block["reached"]})
    rates = {tile: [reached(block, tile) for block in blocks] for tile in tiles}
    telling = [tile for tile in tiles if max(rates[tile]) >= FEWEST and min(rates[tile]) < 0.999]
    return sorted({*telling[-MOST_TILES:], curve.win_tile})


def _draw_tiles(axes: Any, curve: Curve, theirs: Report | None) -> None:
    import matplotlib

    figures = () if theirs is None else theirs.figures
    shown = sorted({*tiles_to_show(curve), *(tile for each in figures for tile in each.reached)})
    shades = matplotlib.colormaps["viridis_r"]
    for place, tile in enumerate(shown):
        wins = tile == curve.win_tile
        colour = COLOURS[1] if wins else matplotlib.colors.to_hex(shades(0.2 + 0.8 * place / max(len(shown) - 1, 1)))
        label = f"{tile} (win)" if wins else str(tile)
        axes.plot([], [], color=colour, linewidth=2.4 if wins else 1.5, label=label)
        _draw_rate(axes, curve, tile, {"color": colour, "linewidth": 2.4 if wins else 1.5, "zorder": 3 if wins else 2})
        _draw_stars(axes, [(each.games, 100 * each.reached[tile]) for each in figures if tile in each.reached], colour)
    axes.legend(title="tile", loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.set_title("Games that reach a tile")
    axes.set_ylabel("games, %")
    judged = [(record["games"], points) for record in curve.evals if (points := number(record, "judge")) is not None]
    if judged:
        axes.plot(*zip(*judged, strict=True), **_JUDGE)
    _draw_stars(axes, [(each.games, each.points) for each in figures if each.points is not None], _JUDGE["color"])


def _draw_stars(axes: Any, points: Sequence[tuple[int, float]], colour: str) -> None:
    """The figures of a report, at the games that it trained."""
    if points:
        axes.plot(*zip(*points, strict=True), color=colour, **_STAR)


# --- what is what ----------------------------------------------------------------------------------------------------

_JUDGE: Style = {"color": "#000000", "linestyle": ":", "marker": "D", "markersize": 4.5, "linewidth": 1.2}
_STAR: Style = {
    "marker": "*",
    "markersize": 13,
    "linestyle": "",
    "markeredgecolor": "black",
    "markeredgewidth": 0.8,
    "zorder": 5,
}


def _explain(curves: Sequence[Curve], theirs: Report | None) -> list[str]:
    """The words of a legend: the runs, if there are several, then what lines, dots and stars are."""
    points = {merge(curve.blocks)[0]["count"] for curve in curves}
    evals = [record for curve in curves for record in curve.evals]
    words = label_runs(curves) if len(curves) > 1 else []
    words.append(f"training, {_counts(points)} games a point, 95 % interval")
    if evals:
        words.append(f"learning off, {_counts({record['count'] for record in evals})} games a point")
    if len(curves) == 1 and any(number(record, "judge") is not None for record in evals):
        words.append("the judge's points")
    return words if theirs is None else [*words, f"the report: {theirs.title}"]


def _counts(found: set[int]) -> str:
    """Numbers of games: 1,000, or 100 to 1,000."""
    return f"{min(found):,}" if len(found) == 1 else f"{min(found):,} to {max(found):,}"


def _columns(words: Sequence[str]) -> int:
    """How many columns of a legend fit below the panels; it is filled column by column."""
    for columns in range(len(words), 1, -1):
        size, longer = divmod(len(words), columns)
        starts = [column * size + min(column, longer) for column in range(columns + 1)]
        parts = [words[start:end] for start, end in pairwise(starts)]
        if sum(4.5 + 0.56 * max(map(len, part)) for part in parts) * FONT < 72 * WIDTH:
            return columns
    return 1


def _legend_lines(words: Sequence[str]) -> int:
    return -(-len(words) // _columns(words))


def _draw_legend(row: Any, curves: Sequence[Curve], styles: Sequence[Style], theirs: Report | None) -> None:
    """Below the panels, where no curve can cross it."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    several = len(curves) > 1
    colour = GREY if several else styles[0]["color"]
    words = _explain(curves, theirs)
    handles: list[Any] = [Line2D([], [], linewidth=2, **style) for style in styles[: len(curves)]] if several else []
    handles += [(Patch(color=colour, alpha=0.18, linewidth=0), Line2D([], [], color=colour, linewidth=1.5))]
    handles += [Line2D([], [], color=colour, marker="o", linestyle="", **_dots([])), Line2D([], [], **_JUDGE)]
    if theirs is not None:
        handles[len(words) - 1 :] = [Line2D([], [], color=colour, **_STAR)]
    legend = row.legend(handles[: len(words)], ["?"] * len(words), loc="outside lower left", ncols=_columns(words))
    for text, word in zip(legend.get_texts(), words, strict=True):
        _write(text, word)
