"""afterstate plot: draw curves of training runs."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from afterstate.cli.common import console


def register(app: typer.Typer) -> None:
    app.command()(plot)


def plot(
    runs: Annotated[list[Path], typer.Argument(help="run folders", metavar="RUN...")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="a .png or .svg file")] = None,
) -> None:
    """Draw score and tile rates over games.

    One run: its score and all its tiles, by default to report/curve.png in its folder. Several runs: their scores and win
    rates, by default to curves.png.
    """
    from afterstate.report.plot import plot_runs

    if output is None:
        output = runs[0] / "report" / "curve.png" if len(runs) == 1 else Path("curves.png")
        with suppress(OSError):
            output.parent.mkdir(exist_ok=True)
    plot_runs(runs, output)
    console().print(f"wrote {output}")
