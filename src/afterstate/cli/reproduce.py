"""afterstate reproduce: repeat a report, and compare its figures with ours."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterstate.cli.common import compiling, console, print_json
from afterstate.units import parse_count, parse_share

if TYPE_CHECKING:
    from afterstate.cli.display import Display
    from afterstate.play.reproduction import Reproduction

_HOW = {"eval": "with learning off", "last": "by the last block of training", "best": "by the best block of training"}


def register(app: typer.Typer) -> None:
    app.command()(reproduce)


def reproduce(
    name: Annotated[str | None, typer.Argument(help="a recipe that repeats a report, or your own TOML file with one")] = None,
    scale: Annotated[str, typer.Option(help="train only this share of the games, such as 10%")] = "100%",
    run: Annotated[Path | None, typer.Option(help="folder of the run  [default: runs/NAME]")] = None,
    seed: Annotated[int | None, typer.Option(help="seed of the training  [default: the recipe's]")] = None,
    threads: Annotated[int | None, typer.Option(help="threads  [default: all processors]")] = None,
    games: Annotated[
        str | None, typer.Option(help="games to measure with, if the report measured with learning off  [default: 1000]")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Repeat a report: train by its recipe, measure as it did, and compare.

    Prints the report's figures beside ours with 95 % intervals, and draws both into report/reproduce.png in the run's folder. A
    figure passes if ours is at least the report's, or if the report's lies within our interval. With --scale the run is
    shorter, and nothing fails. Without a name, this lists what can be repeated.

    Ctrl-C stops cleanly, and the same command continues. It measures a finished run again. Exit code: 0 passed, 8 failed.
    """
    share = parse_share(scale, name="scale")
    count = None if games is None else parse_count(games, name="games")
    if name is None:
        _list(as_json=as_json)
        return
    from afterstate.cli.main import Exit

    with compiling():
        from afterstate.cli.display import Steps
        from afterstate.play.reproduction import GAMES
        from afterstate.play.reproduction import reproduce as repeat

    display = Steps(as_json=as_json, measured=count or GAMES)
    with display:
        done = repeat(
            name, scale=share, run=run, seed=seed, threads=threads, games=count,
            listener=display, stop=display.stop, on_tick=display.on_measure,
        )  # fmt: skip
    if done.stopped:
        more = (
            ["--scale", scale] * (not done.is_whole) + ["--run", str(done.run)] + ["--games", str(games)] * (count is not None)
        )
        display.say(f"stopped; continue: {shlex.join(['afterstate', 'reproduce', name, *more])}")
        raise typer.Exit(Exit.INTERRUPTED)
    _finish(display, done, as_json=as_json)
    if not done.passed:
        raise typer.Exit(Exit.FAILED)


def _list(*, as_json: bool) -> None:
    """What can be repeated, and how long it takes."""
    from afterstate.play.reproduction import reports

    found = reports()
    if as_json:
        print_json([{"name": recipe.name, "about": recipe.about, "takes": recipe.takes} for recipe in found])
        return
    from afterstate.report.tables import facts

    console().print(facts([(recipe.name, f"{recipe.about}\n{recipe.takes}; {recipe.expect}\n") for recipe in found]))


def _finish(display: "Display", done: "Reproduction", *, as_json: bool) -> None:
    """Draw the picture, and print the comparison."""
    from afterstate.report.plot import plot_reproduction
    from afterstate.report.tables import comparison_table

    picture = done.run / "report" / "reproduce.png"
    plot_reproduction(done, picture)
    if as_json:
        print_json(done.as_dict() | {"picture": str(picture)})
        return
    report = done.report
    depth = f", depth {report.depth}" if report.depth > 1 else ""
    display.say(f"{report.title}, measured {_HOW[report.measure]}{depth}, as the report was\n")
    display.show(comparison_table(done))
    passed = sum(row.passed for row in done.rows)
    verdict = f"passed {passed} of {len(done.rows)} figures"
    if not done.is_whole:
        verdict = f"our figures are of a shorter run, {100 * done.scale:g} % of the report's games: none passes or fails"
    display.say(f"{verdict}\nrun: {done.run}\npicture: {picture}")
