"""afterstate plot: draw curves of training runs."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from afterstate.cli.common import console
from afterstate.errors import InputError


def register(app: typer.Typer) -> None:
    app.command()(plot)


def plot(
    runs: Annotated[list[Path], typer.Argument(help="run folders", metavar="RUN...")],
    output: Annotated[Path | None, typer.Option("-o", "--output", "--out", help="a .png or .svg file")] = None,
    episodes: Annotated[bool, typer.Option("--episodes", help="draw the score of every training game of one run")] = False,
) -> None:
    """Draw score and tile rates over games.

    One run: its score and all its tiles, by default to report/curve.png in its folder. Several runs: their scores and win
    rates, by default to curves.png. Runs of different games, rules or boards get separate panels. Dots are evaluations.

    With --episodes: every training game of one run, with a moving average and quantiles, by default to report/episodes.png.
    """
    from afterstate.learning.runfolder import RunFolder
    from afterstate.report.episodes_plot import plot_episodes
    from afterstate.report.plot import plot_runs

    if episodes and len(runs) > 1:
        raise InputError("--episodes draws the games of one run: give only one")
    if output is None:
        name = "episodes.png" if episodes else "curve.png"
        output = RunFolder.open(runs[0]).report / name if len(runs) == 1 else Path("curves.png")
        with suppress(OSError):
            output.parent.mkdir(exist_ok=True)
    if episodes:
        plot_episodes(runs[0], output)
    else:
        plot_runs(runs, output)
    console().print(f"wrote {output}")
