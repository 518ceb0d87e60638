"""afterstate train: learn to play, and show how it goes."""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from afterstate.cli.common import COMPILING, compiling, console, print_json, tell_compiling
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
    resume: Annotated[bool, typer.Option("--resume", help="go on with the run in --run")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="do not print a block every --block games")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print what was reached as JSON")] = False,
    **given: Any,
) -> None:
    """Train a player.

    The run is a folder with its options, metrics, checkpoints (last and best) and a plot.

    Ctrl-C ends a run cleanly at any time; --resume goes on with it, and with one thread gives bit for bit what an undisturbed
    run gives.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    if game is not None:
        chosen["game"] = game
    if resume and run is None:
        raise InputError("say which run to go on with: --run DIR --resume")
    if resume and "recipe" in chosen:
        raise InputError("a run keeps the recipe that it was started with: leave --recipe out")
    if not resume:
        chosen = with_recipe(chosen)
        if "game" not in chosen:
            raise InputError("say which game to learn, such as: afterstate train 2048")
        TrainOptions(**chosen)  # a wrong option is told before anything heavy is loaded
    from afterstate.learning.options import normalise
    from afterstate.learning.trainer import resume as go_on
    from afterstate.learning.trainer import train as begin

    with compiling():
        from afterstate.games.game import make

        if not resume:
            make(chosen["game"], rules=chosen.get("rules"), size=chosen.get("size", "4x4"))
    display = _display(quiet=quiet, as_json=as_json)
    with display:
        if resume:
            assert run is not None
            done = go_on(run, normalise(chosen), listener=display.listener)
        else:
            done = begin(TrainOptions(**chosen), run=run, listener=display.listener)
    folder, games, seconds, stopped = done.folder, done.games, done.seconds, done.stopped
    del done, display  # the network's memory goes before the plot takes some
    _finish(folder, games, seconds, stopped=stopped, as_json=as_json)


def _display(*, quiet: bool, as_json: bool) -> Any:
    """The live display: a line that moves, and blocks of statistics above it."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    from afterstate.kernel import on_compile
    from afterstate.learning.progress import Listener
    from afterstate.learning.progress import Progress as RunProgress
    from afterstate.report.course import format_block
    from afterstate.units import format_rate

    screen = console(to_stderr=as_json)
    out = None if not as_json else sys.stderr  # None is standard output as it is when we print, above the moving line

    class Display(Progress):
        def __init__(self) -> None:
            columns = (SpinnerColumn(), BarColumn(bar_width=24), TextColumn("{task.description}"))
            super().__init__(*columns, console=screen, transient=True, disable=not screen.is_terminal, refresh_per_second=8)
            self.task = self.add_task("starting", total=None)
            self.listener: Listener = Hears()
            self.watch = on_compile(self.compile_begins)

        def compile_begins(self) -> None:
            self.update(self.task, description=f"{COMPILING} ...")
            if not screen.is_terminal:
                tell_compiling()

        def __enter__(self) -> "Display":
            self.watch.__enter__()
            super().__enter__()
            return self

        def __exit__(self, *error: Any) -> None:
            super().__exit__(*error)
            self.watch.__exit__(*error)

    class Hears(Listener):
        def on_progress(self, progress: RunProgress) -> None:
            if progress.total is not None:
                total, done = float(progress.total), float(progress.games)
            else:
                assert progress.limit is not None
                total, done = progress.limit, progress.seconds
            left = progress.seconds * (total - done) / done if done else 0.0
            parts = [f"{progress.games:,} games", f"{format_rate(progress.moves_per_s)} moves/s"]
            if progress.block is not None:
                parts += [f"mean {progress.block.mean:,.0f}", f"{progress.block.win_tile} in {progress.block.win_rate:.1%}"]
            if progress.learning is not None:
                parts += [f"rate {progress.learning.rate:.2g}", f"|error| {progress.learning.error:,.0f}"]
                if progress.learning.outside >= 0.001:
                    parts.append(f"{progress.learning.outside:.1%} out of range")
            parts.append("evaluating" if progress.doing == "evaluating" else f"{format_time(left)} left")
            display.update(display.task, total=total, completed=done, description=" · ".join(parts))

        def on_block(self, games: int, block: Any) -> None:
            if not quiet:
                print(format_block(games, block), file=out, flush=True)

        def on_eval(self, games: int, summary: Any) -> None:
            if not quiet:
                rate = f"{summary.win_tile} in {summary.win_rate:.1%} of {summary.games} games"
                print(
                    f"learning off at {games} games: mean {summary.mean:.0f} ± {summary.interval:.0f}, {rate}\n",
                    file=out,
                    flush=True,
                )

    display = Display()
    return display


def _finish(path: Path, games: int, seconds: float, *, stopped: bool, as_json: bool) -> None:
    """Draw the curve, and say what there is now and what to do next."""
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
            screen.print(f"go on: afterstate train --run {name} --resume")
        screen.print(f"measure: afterstate eval {name}")
    if stopped:
        raise typer.Exit(130)
