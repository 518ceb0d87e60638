"""afterstate arena: play matches by the line protocol of the course's arena."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from afterstate.cli.common import MODEL, compiling
from afterstate.cli.options import with_options
from afterstate.search.options import TEXT, SearchOptions


def register(app: typer.Typer) -> None:
    app.command()(with_options(arena, SearchOptions, before="threads", text=TEXT))


def arena(
    model: Annotated[Path, typer.Argument(help=MODEL)],
    account: Annotated[str, typer.Option(help="account at the arena")] = "afterstate",
    slider: Annotated[str, typer.Option(help="name of our player that slides")] = "afterstate",
    placer: Annotated[str, typer.Option(help="name of our player that places new tiles, at random by the rules")] = "random",
    seed: Annotated[int, typer.Option(help="seed of the new tiles")] = 1,
    threads: Annotated[int | None, typer.Option(help="threads  [default: all processors]")] = None,
    **search: Any,
) -> None:
    """Play at the course's arena: lines of its protocol on standard input and output.

    The model slides; we also place new tiles, if asked. Other programs play against it by lines such as #1 open
    afterstate:theirs, #1 ?, #1 51+2 and #1 close. See docs/programs.md.
    """
    SearchOptions.read(**search).resolve()  # report a wrong option before anything heavy is loaded
    from afterstate.engine.workers import count_threads
    from afterstate.learning.runfolder import find_model
    from afterstate.network.modelfile import load_model
    from afterstate.units import check_seed

    path, count = find_model(model), count_threads(threads)
    check_seed(seed)
    with compiling():
        network = load_model(path)
        from afterstate.play.agent import Agent
        from afterstate.play.arena import LONGEST, Arena

        agent = Agent(network, threads=count, **search)
        agent.prepare()
    here = Arena(agent, _note, account=account, slider=slider, placer=placer, seed=seed)
    with compiling():
        while not here.over and (line := sys.stdin.buffer.readline(2 * LONGEST)):
            if (reply := here.answer(line.decode(errors="replace"))) is not None:
                print(reply, flush=True)


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
