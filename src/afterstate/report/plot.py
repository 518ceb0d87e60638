"""Curves of training runs: score and tile rates over games, as PNG or SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afterstate.errors import FileError, InputError
from afterstate.files import atomic_write
from afterstate.learning.runfolder import RunFolder

# also distinct for colour-blind people (Okabe and Ito)
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
FORMATS = (".png", ".svg")
GREY = "#666666"
FEWEST = 0.02  # a tile is shown if at least this share of a block's games reaches it


@dataclass(frozen=True)
class Curve:
    """The measurements of one run."""

    name: str
    blocks: list[dict[str, Any]]
    evals: list[dict[str, Any]]

    @classmethod
    def of(cls, path: Path) -> "Curve":
        records = RunFolder.open(path).read_metrics()
        blocks = [record for record in records if record["kind"] == "block"]
        if not blocks:
            raise FileError(f"run {path} has no finished block to plot yet")
        return cls(path.resolve().name, blocks, [record for record in records if record["kind"] == "eval"])


def check_output(output: Path) -> None:
    """Raise an error if the file name does not end in one of FORMATS."""
    if output.suffix.lower() not in FORMATS:
        raise InputError(f"a plot is a {' or '.join(FORMATS)} file, not {output.name!r}")


def plot_runs(runs: Sequence[Path], output: Path) -> None:
    """Draw one run (its score and all its tiles) or several (their scores and win rates)."""
    check_output(output)
    curves = [Curve.of(run) for run in runs]
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    style: Any = {
        "font.size": 10.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": GREY,
        "xtick.color": GREY,
        "ytick.color": GREY,
        "axes.grid": True,
        "grid.color": "#E5E5E5",
        "axes.axisbelow": True,
        "svg.fonttype": "none",
        "svg.hashsalt": "afterstate",
    }
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(11, 4.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw_scores(left, curves)
        if len(curves) == 1:
            _draw_tiles(right, curves[0])
        else:
            _draw_wins(right, curves)
        for axes in (left, right):
            axes.set_xlabel("training games")
            axes.xaxis.set_major_formatter(_short)
            axes.set_xlim(left=0)
        metadata = {"Date": None} if output.suffix.lower() == ".svg" else None
        with atomic_write(output) as file:
            figure.savefig(file, format=output.suffix.lower()[1:], dpi=150, metadata=metadata)


def _short(value: float, position: int | None = None) -> str:
    """Format a number of an axis: 20000 -> 20k."""
    for suffix, factor in (("M", 1e6), ("k", 1e3)):
        if abs(value) >= factor:
            return f"{value / factor:g}{suffix}"
    return f"{value:g}"


def _name(legend: Any, curves: Sequence[Curve]) -> None:
    """Show names as they are: matplotlib hides those with a leading underscore, and reads $ as a formula."""
    for text, curve in zip(legend.get_texts(), curves, strict=True):
        text.set_text(curve.name)
        text.set_parse_math(False)


def _draw_scores(axes: Any, curves: Sequence[Curve]) -> None:
    for curve, colour in zip(curves, COLOURS * len(curves), strict=False):
        games = [block["games"] for block in curve.blocks]
        means = [block["mean"] for block in curve.blocks]
        bars = [block["interval"] or 0.0 for block in curve.blocks]
        low = [mean - bar for mean, bar in zip(means, bars, strict=True)]
        high = [mean + bar for mean, bar in zip(means, bars, strict=True)]
        axes.fill_between(games, low, high, color=colour, alpha=0.18, linewidth=0)
        several = len(curves) > 1
        axes.plot(games, means, color=colour, linewidth=1.4, label=None if several else "training block, 95 % interval")
        if curve.evals:
            axes.errorbar(
                [record["games"] for record in curve.evals],
                [record["mean"] for record in curve.evals],
                yerr=[record["interval"] or 0.0 for record in curve.evals],
                fmt="o", markersize=4.5, capsize=2.5, color=colour, markeredgecolor="white",
                label=None if several else f"learning off, {curve.evals[0]['count']} games",
            )  # fmt: skip
    axes.set_ylabel("mean score")
    axes.yaxis.set_major_formatter(_short)
    axes.set_ylim(bottom=0)
    axes.set_title("Score", loc="left", fontweight="bold")
    if len(curves) == 1:
        axes.legend(frameon=False, loc="best")


def _draw_tiles(axes: Any, curve: Curve) -> None:
    tiles = sorted({int(tile) for block in curve.blocks for tile in block["reached"]})
    games = [block["games"] for block in curve.blocks]
    series = {tile: [100 * _reached(block, tile) for block in curve.blocks] for tile in tiles}
    shown = [tile for tile in tiles if max(series[tile]) >= 100 * FEWEST and min(series[tile]) < 99.9]
    win = curve.blocks[0]["win_tile"]
    for tile, colour in zip(shown[-len(COLOURS) :], COLOURS, strict=False):
        axes.plot(games, series[tile], color=colour, linewidth=2.2 if tile == win else 1.3, label=str(tile))
        axes.plot(
            [p["games"] for p in curve.evals],
            [100 * _reached(p, tile) for p in curve.evals],
            "o",
            color=colour,
            markersize=4,
            markeredgecolor="white",
        )
    _finish_rates(axes, "Games that reach a tile")
    if shown:
        axes.legend(title="tile", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), reverse=True)


def _draw_wins(axes: Any, curves: Sequence[Curve]) -> None:
    for curve, colour in zip(curves, COLOURS * len(curves), strict=False):
        axes.plot(
            [block["games"] for block in curve.blocks],
            [100 * block["win_rate"] for block in curve.blocks],
            color=colour, linewidth=1.4, label="run",
        )  # fmt: skip
    _finish_rates(axes, f"Games that reach {curves[0].blocks[0]['win_tile']}")
    _name(axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5)), curves)


def _finish_rates(axes: Any, title: str) -> None:
    axes.set_ylabel("games, %")
    axes.set_ylim(0, 101)
    axes.set_title(title, loc="left", fontweight="bold")


def _reached(record: dict[str, Any], tile: int) -> float:
    """Share of games that reach a tile. A record lists only tiles that were the largest of some game, and those between."""
    rates = record["reached"]
    if str(tile) in rates:
        return float(rates[str(tile)])
    return 1.0 if tile < min(int(name) for name in rates) else 0.0
