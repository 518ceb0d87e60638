"""afterstate sweep: train with many sets of options, and find the best."""

import shlex
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterstate.cli.common import console, print_json
from afterstate.cli.options import Cluster, ClusterCommand
from afterstate.cluster.address import LOCAL
from afterstate.errors import InputError

if TYPE_CHECKING:
    from afterstate.cluster.sweeps.folder import SweepFolder
    from afterstate.cluster.sweeps.halving import Outcome, Watcher


def register(app: typer.Typer) -> None:
    app.command(cls=ClusterCommand)(sweep)


def sweep(
    file: Annotated[str | None, typer.Argument(help="a TOML file, or the name of a sweep that comes with the package")] = None,
    run: Annotated[Path | None, typer.Option(help="folder of the sweep  [default: a new one below runs/]")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="continue the sweep in --run")] = False,
    cluster: Cluster = None,
    show: Annotated[bool, typer.Option("--show", help="print the file, as a start for your own, and train nothing")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="do not print a line for each result")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as JSON")] = False,
) -> None:
    """Train with many sets of options (trials), and stop the worse ones early.

    Without a FILE, the sweeps that come with the package are listed. `afterstate sweep tuples` asks: which patterns?

    The file says which options of `afterstate train` vary, and how long a training lasts:

    \b
        games = "20k"                  # of one training; or time = "5m"
        trials = 16                    # to draw; without it, every combination
        seeds = 3                      # trainings of each trial; or a list
        [halving]                      # leave it out to train all to the end
        first = "2k"                   # games (or time) until the first decision
        factor = 2                     # one in two goes on, to twice the games
        [train]                        # options of all trials
        method = "tc"
        [vary]
        lambda = [0.0, 0.5, 0.9]               # one of a list
        alpha = { log = [0.01, 1.0] }          # drawn from a log range
        horizon = { range = [1, 9], count = 5 }   # five values of a range
        network = { tuples = 4, cells = 6 }    # four random connected 6-tuples
        [reference]                    # compared with all others, never stopped
        network = "4x6"

    Trials are compared by the mean score of their last block, over all seeds. Ray Tune's ASHA says which go on. Each training
    has one thread, unless [train] has threads, and as many run at once as there are processors and memory.

    The folder gets trials.jsonl, results.csv, sweep.png, and a run folder for each training. Only the best trial keeps its
    networks (keep = N keeps those of N). Ctrl-C stops a sweep cleanly, and --run DIR --resume continues it. If all trials
    fail, the exit code is 8.
    """
    if resume and (run is None or file is not None):
        raise InputError("say which sweep to continue, and give no file: afterstate sweep --run DIR --resume")
    if file is None and not resume:
        _list(as_json)
        return
    from afterstate.cluster.sweeps.file import load_sweep

    if show and file is not None:
        print(load_sweep(file).text, end="")
        return
    from afterstate.cluster.failures import check_cluster

    check_cluster(cluster or LOCAL)  # before a folder is made
    from afterstate.cluster.sweeps.folder import SweepFolder
    from afterstate.cluster.sweeps.halving import run_sweep

    folder = SweepFolder.open(run) if resume and run else SweepFolder.make(run, load_sweep(str(file)))
    stop = threading.Event()
    with _Live(folder, quiet=quiet, to_stderr=as_json) as live:
        outcome = run_sweep(folder, cluster=cluster or LOCAL, stop=stop, watcher=live.watcher)
    _finish(folder, outcome, as_json)


def _list(as_json: bool) -> None:
    from afterstate.cluster.sweeps.file import load_sweep, sweep_names

    found = [load_sweep(name) for name in sweep_names()]
    if as_json:
        print_json([{"name": each.name, "about": each.about, "trials": len(each.trials)} for each in found])
    else:
        from afterstate.report.tables import facts

        console().print(facts([(each.name, f"{each.about}\n{len(each.trials)} trials") for each in found]))


class _Live:
    """The table of trials while they train; outside a terminal a line for each result."""

    def __init__(self, folder: "SweepFolder", *, quiet: bool, to_stderr: bool) -> None:
        from rich.live import Live

        self.screen = console(to_stderr=to_stderr)
        self.live = Live(console=self.screen, transient=True, auto_refresh=False) if self.screen.is_terminal else None
        self.watcher = _make_watcher(folder, self.live, None if quiet else sys.stderr if to_stderr else sys.stdout)
        if self.live is None and not quiet:
            print(f"{len(folder.standings)} trials in {folder.path}", file=sys.stderr, flush=True)

    def __enter__(self) -> "_Live":
        if self.live is not None:
            self.live.__enter__()
            self.live.update("starting Ray ...", refresh=True)
        return self

    def __exit__(self, *error: Any) -> None:
        if self.live is not None:
            with suppress(OSError):
                self.live.__exit__(*error)


def _make_watcher(folder: "SweepFolder", live: Any, output: Any) -> "Watcher":
    from afterstate.cluster.sweeps.figures import name_amount, now_running, sweep_table
    from afterstate.cluster.sweeps.halving import Watcher

    class Show(Watcher):
        def on_tick(self, folder: Any, running: Any) -> None:
            if live is not None:
                from rich.console import Group

                rows = max(live.console.height - 6 - len(running), 3)
                live.update(Group(sweep_table(folder, running, most=rows), now_running(folder, running)), refresh=True)

        def on_result(self, trial: Any, result: Any) -> None:
            self._say(
                f"trial {trial.number} after {name_amount(folder.sweep, result.at)}: {result.score:,.0f}  ({trial.label})"
            )

        def on_end(self, trial: Any, why: Any, error: Any) -> None:
            if error or why != "done":
                self._say(f"trial {trial.number} {why}{f': {error}' if error else ''}")

        def _say(self, text: str) -> None:
            if live is None and output is not None:
                print(text, file=output, flush=True)

    return Show()


def _finish(folder: "SweepFolder", outcome: "Outcome", as_json: bool) -> None:
    """Draw the plot, and print the trials, the best one, and what to do next."""
    from afterstate.cluster.sweeps.figures import best_drawn, plot_sweep, sweep_as_dict, sweep_table

    drawn = plot_sweep(folder)
    if as_json:
        print_json(sweep_as_dict(folder, outcome))
    else:
        screen = console()
        screen.print(sweep_table(folder))
        screen.print()
        if (best := best_drawn(folder)) is not None:
            screen.print(best)
        name = shlex.quote(str(folder.path))
        print(f"results: {folder.csv}" + (f", plot: {folder.plot}" if drawn else ""))
        given, used = f"{outcome.occupied:.0%}", f"{outcome.busy:.0%}"
        print(f"{outcome.processors} processors had a training to do in {given} of the time, and were busy with it in {used}")
        if outcome.stopped:
            print(f"continue: afterstate sweep --run {name} --resume")
    if outcome.stopped:
        raise typer.Exit(130)
    if all(standing.ended == "failed" for standing in folder.standings.values()):
        raise typer.Exit(8)
