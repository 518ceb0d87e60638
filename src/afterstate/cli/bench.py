"""afterstate bench: speed, the gather limit, and the signature of the kernels."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from afterstate.cli.common import compiling, console, print_json
from afterstate.learning.options import TrainOptions
from afterstate.learning.rules import RULES
from afterstate.units import format_rate, parse_count


class What(StrEnum):
    ALL = "all"
    TRAIN = "train"
    EVAL = "eval"
    SEARCH = "search"
    SIGNATURE = "signature"


def register(app: typer.Typer) -> None:
    app.command()(bench)


def bench(
    what: Annotated[What, typer.Argument(help="what to measure")] = What.ALL,
    threads: Annotated[int | None, typer.Option(help="threads  [default: 1 and all processors]")] = None,
    game: Annotated[str, typer.Option(help="game")] = "2048",
    rules: Annotated[str | None, typer.Option(help="rule set")] = None,
    games: Annotated[str, typer.Option(help="training games from a fresh network")] = "10k",
    network: Annotated[str, typer.Option(help="network")] = "4x6",
    method: Annotated[str, typer.Option(help=f"learning rule, at its usual rate: {' or '.join(RULES)}")] = "td",
    decay: Annotated[float, typer.Option("--lambda", help="lambda, delayed by three moves")] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Measure the speed of this machine.

    Prints the moves/s of training and play, and how close training comes to the look-ups that the memory allows. `search`
    measures play that looks ahead, with the network that was just trained.

    With several threads, it also measures how long a cache line takes from core to core and back. Threads that learn share
    their tables, so they pay this price.

    Machines are noisy: to compare two programs, run them in turn, and take the median of several runs.
    """
    count = parse_count(games, name="games")
    options = TrainOptions.read(game, rules=rules, network=network, method=method, lambda_=decay)
    with compiling():
        from afterstate.play.bench import bench_train
        from afterstate.play.signature import SIGNED, signature
        from afterstate.threads import count_threads

        found: dict[str, Any] = {}
        if what is not What.SIGNATURE:
            found = {"games": count, "game": game, "rules": rules, "network": network, "method": method, "lambda": decay}
            sets = [count_threads(threads)] if threads is not None else sorted({1, count_threads(None)})
            bench_train(options, 1, games=1)
            found["runs"] = [_measure(what, options, number, count) for number in sets]
        if what in {What.ALL, What.SIGNATURE}:
            found["signatures"] = {name: signature(name) for name in SIGNED}
    if as_json:
        print_json(found)
    else:
        _show(found)


def _measure(what: What, options: TrainOptions, threads: int, games: int) -> dict[str, Any]:
    """Measure `what` with `threads` threads."""
    from afterstate.play.bench import (
        SEARCHES,
        Speed,
        bench_eval,
        bench_gather,
        bench_round_trip,
        bench_search,
        bench_train,
        legal_per_move,
    )

    def speed(one: Speed) -> dict[str, float]:
        return {"moves_per_s": one.moves_per_s, "mean": one.mean}

    trained, network = bench_train(options, threads, games=games)
    run: dict[str, Any] = {"threads": threads}
    if what in {What.ALL, What.TRAIN}:
        run["train"] = speed(trained)
        if threads > 1 and (there_and_back := bench_round_trip()) is not None:
            run["round_trip_ns"] = there_and_back
    if what in {What.ALL, What.EVAL}:
        run["eval"] = speed(bench_eval(network, threads))
    if what is What.SEARCH:
        run["search"] = {name: speed(bench_search(network, threads, name)) for name in SEARCHES}
    if what is What.ALL:
        limit = bench_gather(network, threads)
        looked_up = trained.moves_per_s * legal_per_move(network)
        run["gather"] = {"lookups_per_s": limit, "train_lookups_per_s": looked_up, "train_share": looked_up / limit}
    return run


def _show(found: dict[str, Any]) -> None:
    from rich.table import Table

    screen = console()
    if "runs" in found:
        table = Table(box=None)
        heads = ("threads", "train, moves/s", "eval, moves/s", "gather limit, look-ups/s", "training's look-ups/s", "share")
        searches = found["runs"][0].get("search", {})
        for name in ("threads", *(f"{how}, moves/s" for how in searches)) if searches else heads:
            table.add_column(name, justify="right")
        for run in found["runs"]:
            if searches:
                table.add_row(str(run["threads"]), *(format_rate(one["moves_per_s"]) for one in run["search"].values()))
                continue
            limits = ("", "", "")
            if gather := run.get("gather"):
                rates = (gather["lookups_per_s"], gather["train_lookups_per_s"])
                limits = (format_rate(rates[0]), format_rate(rates[1]), f"{gather['train_share']:.0%}")
            table.add_row(
                str(run["threads"]),
                format_rate(run["train"]["moves_per_s"]) if "train" in run else "",
                format_rate(run["eval"]["moves_per_s"]) if "eval" in run else "",
                *limits,
            )
        screen.print(
            f"{found['game']}{' ' + found['rules'] if found['rules'] else ''}, {found['network']}, "
            f"{found['method']}({found['lambda']:g}), "
            f"the first {found['games']:,} games",
            style="grey50",
        )
        screen.print(table)
        for run in found["runs"]:
            if "round_trip_ns" in run:
                screen.print(f"from core to core and back: {run['round_trip_ns']:.0f} ns")
    if "signatures" in found:
        for name, hashed in found["signatures"].items():
            screen.print(f"signature {hashed}  {name}")
