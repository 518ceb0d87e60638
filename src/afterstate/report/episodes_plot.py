"""Every training game of a run in one picture: points or a density, with a moving average and quantiles over them.

The results are read some at a time, so a run of ten million games takes seconds and little memory.
"""

import warnings
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import FileError
from afterstate.files import atomic_write
from afterstate.games.game import Game
from afterstate.learning.gamesfile import CHUNK, GamesFile
from afterstate.learning.plan import game_of
from afterstate.learning.runfolder import RunFolder
from afterstate.report.plot import _STYLE, COLOURS, GREY, _short, check_output

COLUMNS, ROWS = 500, 250  # cells of the density, and steps of the moving average
WINDOW = 10  # columns that the moving average is over
FEWEST = 100  # games that it is over, at least
POINTS = 20_000  # games that are drawn as points; more are drawn as a density
QUANTILES = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class Survey:
    """What the picture shows of all games."""

    games: int
    highest: int
    counts: NDArray[np.int64]  # (rows, columns) games in each cell of the picture
    window: int  # games of the moving average
    ends: NDArray[np.int64]  # (n,) the last game of each window
    means: NDArray[np.float64]  # (n,)
    quantiles: NDArray[np.float64]  # (n, 3)


def survey(file: GamesFile, game: Game) -> Survey:
    """Read all games of a run; those whose result was lost are left out."""
    games = len(file)
    stride = -(-games // COLUMNS)  # games of a column
    width = min(max(WINDOW, -(-FEWEST // stride)), -(-games // stride))
    highest = max(0, *(int(part["score"].max()) for part in file.parts(game)))
    counts = np.zeros((ROWS, -(-games // stride)), np.int64)
    recent: deque[NDArray[np.int64]] = deque(maxlen=width)
    lines = []
    number = 0
    for part in file.parts(game, stride * max(CHUNK // stride, 1)):
        for first in range(0, len(part), stride):
            column = part[first : first + stride]
            scores = column["score"][column["largest"] > 0]
            counts[:, number] = np.bincount(np.maximum(scores, 0) * ROWS // (highest + 1), minlength=ROWS)
            recent.append(scores)
            number += 1
            together = np.concatenate(recent)
            if number >= width and len(together):
                end = min(number * stride, games)
                lines.append((end, together.mean(), *np.quantile(together, QUANTILES)))
    table = np.array(lines).reshape(-1, 2 + len(QUANTILES))
    return Survey(games, highest, counts, width * stride, table[:, 0].astype(np.int64), table[:, 1], table[:, 2:])


def plot_episodes(run: Path, output: Path) -> None:
    """Draw all training games of a run."""
    check_output(output)
    folder = RunFolder.open(run)
    game = game_of(folder.read_config())
    file = GamesFile(folder.games)
    if not len(file):
        raise FileError(f"run {run} has no results of single games to plot: {folder.games.name} is missing or empty")
    found = survey(file, game)
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # a name in a script that our font lacks
        figure = Figure(figsize=(11, 5.6), layout="constrained")
        axes: Any = figure.subplots()
        if found.games <= POINTS:
            scores = np.concatenate([np.where(part["largest"] > 0, part["score"], -1) for part in file.parts(game)])
            _draw_points(axes, scores)
        else:
            _draw_density(axes, found)
        _draw_lines(axes, found)
        title = axes.set_title("title", loc="left", fontweight="bold")
        title.set_text(f"{run.resolve().name}: every training game")
        title.set_parse_math(False)
        axes.set_xlabel("training game")
        axes.set_ylabel("score")
        axes.xaxis.set_major_formatter(_short)
        axes.yaxis.set_major_formatter(_short)
        axes.set_xlim(0, found.games)
        axes.set_ylim(0, 1.02 * max(found.highest, 1))
        figure.legend(loc="outside lower left", ncols=4, frameon=False)
        kind = output.suffix.lower()[1:]
        with atomic_write(output) as picture:
            figure.savefig(picture, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)


def _draw_points(axes: Any, scores: NDArray[np.int64]) -> None:
    numbers = np.flatnonzero(scores >= 0)
    size, faint = (2.5, 0.5) if len(numbers) < POINTS // 10 else (1.5, 0.3)
    axes.plot(
        numbers + 1, scores[numbers], "o", markersize=size, alpha=faint, color=COLOURS[5], markeredgewidth=0, rasterized=True,
        zorder=2,
    )  # fmt: skip
    axes.plot([], [], "o", markersize=4, color=COLOURS[5], label="a game")


def _draw_density(axes: Any, found: Survey) -> None:
    from matplotlib.colors import LogNorm

    shown = np.ma.masked_equal(found.counts, 0)
    axes.imshow(
        shown, cmap="Blues", norm=LogNorm(vmin=0.3, vmax=max(int(found.counts.max()), 2)), origin="lower", aspect="auto",
        extent=(0, found.games, 0, found.highest + 1), interpolation="nearest", zorder=2,
    )  # fmt: skip
    axes.plot([], [], "s", markersize=6, color=COLOURS[5], label="games (the darker, the more)")


def _draw_lines(axes: Any, found: Survey) -> None:
    low, middle, high = found.quantiles.T
    axes.plot(found.ends, found.means, color=COLOURS[1], linewidth=2, label=f"mean of {found.window:,} games", zorder=4)
    axes.plot(found.ends, middle, color="black", linewidth=1, label="median", zorder=3)
    style: Any = {"color": GREY, "linewidth": 1, "linestyle": "--", "zorder": 3}
    axes.plot(found.ends, low, label="10 % and 90 % of games are below", **style)
    axes.plot(found.ends, high, **style)
