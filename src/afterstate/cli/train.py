"""afterstate train: train a player, and show its progress."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from afterstate.cli.common import compiling, console, print_json
from afterstate.cli.options import with_options
from afterstate.errors import InputError
from afterstate.learning.options import TrainOptions
from afterstate.learning.recipes import with_recipe
from afterstate.units import format_count, format_time

_TEXT = {"games", "time", "block", "eval_every", "eval_games"}  # written like 100k and 10m


def register(app: typer.Typer) -> None:
    app.command()(with_options(train, TrainOptions, before="quiet", text=_TEXT, skip={"game"}))


def train(
    game: Annotated[str | None, typer.Argument(help="the game to learn, such as 2048")] = None,
    run: Annotated[Path | None, typer.Option(help="folder of the run  [default: a new one below runs/]")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="continue the run in --run")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="do not print a block every --block games")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as JSON")] = False,
    **given: Any,
) -> None:
    """Train a player.

    The run is a folder with its options, metrics, checkpoints (last and best) and a plot.

    Ctrl-C stops a run cleanly at any time, and --resume continues it. With one thread, the result is bit for bit that of a run
    without a stop.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    if game is not None:
        chosen["game"] = game
    if resume and run is None:
        raise InputError("say which run to continue: --run DIR --resume")
    if resume and "recipe" in chosen:
        raise InputError("a run keeps the recipe that it was started with: leave out --recipe")
    if not resume:
        chosen = with_recipe(chosen)
        if "game" not in chosen:
            raise InputError("say which game to learn, such as: afterstate train 2048")
        TrainOptions(**chosen)  # report a wrong option before anything heavy is loaded
    from afterstate.learning.options import normalise
    from afterstate.learning.trainer import resume as go_on
    from afterstate.learning.trainer import train as begin

    with compiling():
        from afterstate.games.game import make

        if not resume:
            make(chosen["game"], rules=chosen.get("rules"), size=chosen.get("size", "4x4"))
    from afterstate.cli.display import Display

    display = Display(quiet=quiet, as_json=as_json)
    with display:
        if run is not None and resume:
            done = go_on(run, normalise(chosen), listener=display)
        else:
            done = begin(TrainOptions(**chosen), run=run, listener=display)
    folder, games, seconds, stopped = done.folder, done.games, done.seconds, done.stopped
    del done, display  # free the network's memory before the plot needs some
    _finish(folder, games, seconds, stopped=stopped, as_json=as_json)


def _finish(path: Path, games: int, seconds: float, *, stopped: bool, as_json: bool) -> None:
    """Draw the curve, and print the result and what to do next."""
    from afterstate.learning.runfolder import RunFolder
    from afterstate.report.plot import plot_runs

    folder = RunFolder(path)
    blocks = [record for record in folder.read_metrics() if record["kind"] == "block"]
    rank = folder.read_config().rank
    best = max(blocks, key=lambda record: rank(record["win_rate"], record["mean"]), default=None)
    curve = folder.report / "curve.png"
    if blocks:
        plot_runs([folder.path], curve)
    if as_json:
        print_json(
            {"run": str(folder.path), "games": games, "seconds": seconds, "stopped": stopped, "best": best}
            | {"last": blocks[-1] if blocks else None}
        )
    else:
        name = shlex.quote(str(folder.path))
        screen = console()
        state = "stopped" if stopped else "done"
        screen.print(f"{state} at {format_count(games)} games after {format_time(seconds)} of training")
        if best is not None:
            screen.print(
                f"best block: {best['win_tile']} in {best['win_rate']:.1%}, mean {best['mean']:,.0f}, at game {best['games']:,}"
            )
            screen.print(f"curve: {curve}")
        if stopped:
            screen.print(f"continue: afterstate train --run {name} --resume")
        screen.print(f"measure: afterstate eval {name}")
    if stopped:
        raise typer.Exit(130)
