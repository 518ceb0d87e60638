"""afterstate report: a run as one HTML page, to hand in."""

from pathlib import Path
from typing import Annotated

import typer

from afterstate.cli.common import compiling, console


def register(app: typer.Typer) -> None:
    app.command()(report)


def report(
    run: Annotated[Path, typer.Argument(help="a run folder", metavar="RUN")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", "--out", help="an .html file  [default: report/report.html in the run's folder]"),
    ] = None,
) -> None:
    """Write a run as one HTML page, to read, print or hand in.

    Shows the learning curves, all evaluations with the judge's points, tile rates, blocks, the network with its isomorphs,
    every option, and the command lines that make the run again. The page needs no network and no other file.
    """
    with compiling():
        from afterstate.report.html import write_report

        written = write_report(run, output)
    console().print(f"wrote {written}")
