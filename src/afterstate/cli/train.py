"""afterstate train: train a player, and show its progress."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterstate.cli.common import compiling, print_json
from afterstate.cli.options import Cluster, ClusterCommand, with_options
from afterstate.errors import InputError
from afterstate.learning.options import TEXT, TrainOptions
from afterstate.learning.recipes import with_recipe
from afterstate.units import format_bytes, format_count, format_time, parse_time

if TYPE_CHECKING:
    from afterstate.cli.display import Display
    from afterstate.learning.trainer import TeamMaker


def register(app: typer.Typer) -> None:
    app.command(cls=ClusterCommand)(with_options(train, TrainOptions, before="quiet", text=TEXT, skip={"game"}))


def train(
    game: Annotated[str | None, typer.Argument(help="the game to learn, such as 2048")] = None,
    run: Annotated[Path | None, typer.Option(help="folder of the run  [default: a new one below runs/]")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="continue the run in --run")] = False,
    into: Annotated[
        Path | None,
        typer.Option(help="folder of the run that --cool-down branches into  [default: RUN-cooled-1, -2, ...]"),
    ] = None,
    cluster: Cluster = None,
    workers: Annotated[
        int | None, typer.Option(help="workers on the cluster, each with --threads threads  [default: one for each node]")
    ] = None,
    merge_every: Annotated[
        str | None,
        typer.Option(
            help="seconds after which workers merge what they have learned, or a time such as 1m; more often at first, less "
            "often if merging takes more than 5 % of the time  [default: 30]"
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="do not print a block every --block games")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as JSON")] = False,
    **given: Any,
) -> None:
    """Train a player.

    The run is a folder with its options, metrics, the result of every game, checkpoints (last and best) and a plot.

    Ctrl-C stops a run cleanly at any time, and --resume continues it. With one thread, the result is bit for bit that of a run
    without a stop. A closed terminal or pipe stops it in the same way. A run that is complete keeps what play needs. With
    --keep it keeps all, and --resume can continue it with more --games or --time; otherwise a new run can start --from it.

    A falling rate at the end makes a player much stronger. With --run RUN --cool-down 30m, a new run branches from the last
    checkpoint of RUN and ends after 30 minutes with a rate that falls. RUN is not changed, and may be training meanwhile.

    With --cluster, workers on its nodes learn together. The run is the same folder, and can go on with or without a cluster.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    if game is not None:
        chosen["game"] = game
    if cluster is None and (workers is not None or merge_every is not None):
        raise InputError("--workers and --merge-every are for a training on a cluster: add --cluster")
    every = None if merge_every is None else parse_time(merge_every, name="merge-every")
    if resume and run is None:
        raise InputError("say which run to continue: --run DIR --resume")
    if resume and "recipe" in chosen:
        raise InputError("a run keeps the recipe that it was started with: leave out --recipe")
    if resume and "from_" in chosen:
        raise InputError("--resume continues a run from its last game, --from starts a new one from its best network: give one")
    branch = False
    if not resume and (into is not None or (run is not None and "cool_down" in chosen)):
        from afterstate.learning.cooling import is_branch

        branch = is_branch(run, chosen, into)
    if not resume and not branch:
        chosen = with_recipe(chosen)
        if "from_" in chosen:
            from afterstate.learning.origin import with_model

            chosen = with_model(chosen)
        if "game" not in chosen:
            raise InputError("say which game to learn, such as: afterstate train 2048")
        TrainOptions(**chosen)  # report a wrong option before anything heavy is loaded
    from afterstate.learning.options import normalise
    from afterstate.learning.trainer import resume as go_on
    from afterstate.learning.trainer import train as begin

    with compiling():
        from afterstate.games.game import make

        if not resume and not branch:
            make(chosen["game"], rules=chosen.get("rules"), size=chosen.get("size", "4x4"))
    from afterstate.cli.display import Display

    display = Display(quiet=quiet, as_json=as_json)
    with display, _team(display, cluster, workers, every) as make_team:
        if run is not None and resume:
            done = go_on(run, normalise(chosen), listener=display, stop=display.stop, make_team=make_team)
        elif run is not None and branch:
            from afterstate.learning.cooling import cool_down

            done = cool_down(run, normalise(chosen), into=into, listener=display, stop=display.stop, make_team=make_team)
        else:
            done = begin(TrainOptions(**chosen), run=run, listener=display, stop=display.stop, make_team=make_team)
    folder, games, seconds, stopped, dropped = done.folder, done.games, done.seconds, done.stopped, done.dropped
    del done  # free the network's memory before the plot needs some
    _finish(display, folder, games, seconds, stopped=stopped, dropped=dropped, as_json=as_json)


@contextmanager
def _team(display: "Display", cluster: str | None, workers: int | None, every: float | None) -> "Iterator[TeamMaker | None]":
    """Who learns: workers on a cluster, or threads of this process."""
    if cluster is None:
        yield None
        return
    from afterstate.cluster.training import MERGE_EVERY, training_on

    display.doing("starting Ray")
    with training_on(cluster, display.stop, workers=workers, merge_every=MERGE_EVERY if every is None else every) as make_team:
        yield make_team
        if make_team.team is not None:
            display.say(f"{make_team.team.workers} workers: {make_team.team.traffic}")


def _finish(display: "Display", path: Path, games: int, seconds: float, *, stopped: bool, dropped: int, as_json: bool) -> None:
    """Draw the curve, and print the result and what to do next."""
    from afterstate.learning.runfolder import RunFolder
    from afterstate.report.plot import plot_runs
    from afterstate.report.tables import evaluations_table

    folder = RunFolder(path)
    records = folder.read_metrics()
    blocks, evals = ([record for record in records if record["kind"] == kind] for kind in ("block", "eval"))
    best = folder.best_so_far()
    curve = folder.report / "curve.png"
    if blocks:
        plot_runs([folder.path], curve)
    if as_json and not display.abandoned:
        kept = {} if best is None else next((block for block in blocks if block["games"] == best.games), {}) | asdict(best)
        print_json(
            {"run": str(folder.path), "games": games, "seconds": seconds, "stopped": stopped, "best": kept or None}
            | {"last": blocks[-1] if blocks else None}
        )
    else:
        name = shlex.quote(str(folder.path))
        why = ", since nobody reads the output any more" if display.abandoned and stopped else ""
        state = "stopped" if stopped else "done"
        if evals:
            display.show(evaluations_table(evals))
        display.say(f"{state} at {format_count(games)} games after {format_time(seconds)} of training{why}")
        if best is not None and blocks:
            figures = f"{blocks[-1]['win_tile']} in {best.win_rate:.1%}, mean {best.mean:,.0f}"
            display.say(f"best block: {figures}, at game {best.games:,}")
        if blocks:
            display.say(f"curve: {curve}")
        if stopped:
            display.say(f"continue: afterstate train --run {name} --resume")
        if dropped:
            size = format_bytes(dropped)
            display.say(
                f"not kept: {size} that only a resume needs (--keep keeps them); train on: afterstate train --from {name}"
            )
        display.say(f"measure: afterstate eval {name}")
    if stopped:
        raise typer.Exit(130)
