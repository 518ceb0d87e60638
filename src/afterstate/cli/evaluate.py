"""afterstate eval: measure how strong a model is."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterstate.cli.common import compiling, console, print_json, progress_bar
from afterstate.cli.options import Cluster, ClusterCommand, with_options
from afterstate.cluster.failures import check_cluster
from afterstate.errors import FileError
from afterstate.files import is_file
from afterstate.search.options import TEXT, SearchOptions
from afterstate.units import parse_count

if TYPE_CHECKING:
    from afterstate.play.agent import Agent
    from afterstate.play.evaluation import Evaluation


def register(app: typer.Typer) -> None:
    app.command(name="eval", cls=ClusterCommand)(with_options(evaluate, SearchOptions, before="threads", text=TEXT))


def evaluate(
    model: Annotated[Path, typer.Argument(help="a model file, or a run folder (its best checkpoint)")],
    games: Annotated[str, typer.Option(help="games to play, such as 1000 or 100k")] = "1000",
    threads: Annotated[
        int | None, typer.Option(help="threads  [default: all processors]; for a worker of a cluster: 1")
    ] = None,
    seed: Annotated[int, typer.Option(help="seed; the same seed gives the same games with any number of threads")] = 1,
    until: Annotated[
        int | None, typer.Option(help="end a game as soon as this tile is on the board, such as 2048", metavar="TILE")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="save the games to an episode file in the course's format")] = None,
    force: Annotated[bool, typer.Option("--force", help="let --save replace a file")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    cluster: Cluster = None,
    **search: Any,
) -> None:
    """Measure a model over many games.

    Learning is off. Prints the mean score with its 95 % interval, the median, and how often each tile was reached.

    With --until 2048 a game ends with the slide that makes this tile, and the score is that at the win.

    With --depth or --move-time the player looks ahead. From depth 3 on it skips what hardly matters, see docs/search.md.

    With --cluster the games are played by a Ray cluster, see docs/cluster.md. They are the same games.
    """
    count = parse_count(games, name="games")
    SearchOptions.read(**search).resolve()  # report a wrong option before anything heavy is loaded
    if save is not None and is_file(save) and not force:
        raise FileError(f"{save} exists: choose another name, or give --force to replace it")
    if cluster is not None:
        check_cluster(cluster)
    from afterstate.cluster.evaluation import play_on
    from afterstate.engine.workers import Share
    from afterstate.games.results import find_tile
    from afterstate.learning.runfolder import find_model
    from afterstate.network.modelfile import load_model
    from afterstate.play.agent import Agent
    from afterstate.play.evaluation import measure
    from afterstate.threads import count_threads

    count_threads(threads)
    path = find_model(model)
    with compiling():
        network = load_model(path)
        if until is not None:
            find_tile(network.game, until)
        agent = Agent(network, **search)
        if cluster is None:
            agent.prepare()
    with compiling(), progress_bar("playing", count) as show:

        def on_tick(share: Share) -> None:
            show(share.games, f"playing, {share.moves:,} moves" if agent.searches and share.moves else None)

        play = None if cluster is None else play_on(cluster, on_phase=lambda text: show(0, text))
        match = measure(agent, games=count, seed=seed, threads=threads, save=save, until=until, on_tick=on_tick, play=play)
    if match.summary is None:
        raise typer.Exit(130)
    _report(match, agent, model, path, seed=seed, save=save, as_json=as_json)
    if match.stopped:
        raise typer.Exit(130)


def _report(
    match: "Evaluation", agent: "Agent", model: Path, path: Path, *, seed: int, save: Path | None, as_json: bool
) -> None:
    """Print what was found out about a model, and what else is worth a look."""
    from afterstate.learning.runfolder import RunFolder
    from afterstate.learning.watch import better_than_best
    from afterstate.search.optimum import optimum

    assert match.summary is not None
    best = optimum(agent.network.game) if match.summary.until is None else None
    folder = RunFolder(model)
    better = better_than_best(folder) if path == folder.best else None
    if as_json:
        known = {} if best is None else {"optimum": best}
        how = {"max_depth": agent.depth, "move_time": agent.plan.move_time, "exact": agent.plan.exact}
        done = {} if match.search is None else {"search": match.search.as_dict()}
        other = {} if better is None else {"better": {"model": str(folder.last), "mean": better["mean"]}}
        print_json({"model": str(path), **how, "seed": seed} | match.summary.as_dict() | done | known | other)
    else:
        screen = console()
        screen.print(f"{path}, {agent.manner}, seed {seed}\n", style="grey50")
        _show(match, best)
        if better is not None:
            screen.print(
                f"\nthe last checkpoint of this run is probably better, its last block has a mean of {better['mean']:,.0f}: "
                f"afterstate eval {shlex.quote(str(folder.last))}"
            )
        if save is not None:
            screen.print(f"\nwrote {match.summary.games} games to {save}")


def _show(match: "Evaluation", best: float | None) -> None:
    """Print the results, and how far they are from optimal play if that is known."""
    from afterstate.report.tables import search_line, summary_table

    assert match.summary is not None
    screen = console()
    screen.print(summary_table(match.summary))
    if match.search is not None:
        screen.print("\n" + search_line(match.search), style="grey50")
    if best is not None:
        behind = 1 - match.summary.mean / best
        screen.print(
            f"\noptimal play has a mean of {best:,.2f}; this is {abs(behind):.2%} {'below' if behind >= 0 else 'above'} it"
        )
