"""afterstate analyse: questions of other programs, as lines of JSON."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from afterstate.cli.common import MODEL, compiling
from afterstate.cli.options import with_options
from afterstate.search.options import TEXT, SearchOptions


def register(app: typer.Typer) -> None:
    app.command()(with_options(analyse, SearchOptions, before="threads", text=TEXT))


def analyse(
    model: Annotated[Path, typer.Argument(help=MODEL)],
    threads: Annotated[int | None, typer.Option(help="questions answered at once  [default: all processors]")] = None,
    **search: Any,
) -> None:
    """Answer questions about positions: lines of JSON in, lines of JSON out.

    A question: {"id": 1, "board": "2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2", "depth": 3}. Answers come as they are ready, with
    the id of the question. The options here are for questions that give none. See docs/programs.md.
    """
    SearchOptions.read(**search).resolve()  # report a wrong option before anything heavy is loaded
    from afterstate.engine.workers import count_threads
    from afterstate.learning.runfolder import find_model
    from afterstate.network.modelfile import load_model

    count = count_threads(threads)
    path = find_model(model)
    with compiling():
        network = load_model(path)
        from afterstate.play.agent import Agent
        from afterstate.play.analyst import Analyst

        for options in (search, {"depth": 2}):
            Agent(network, **options).prepare()
    print(f"ready: {path}, {count} at once", file=sys.stderr, flush=True)
    with compiling():
        Analyst(network, lambda text: print(text, flush=True), threads=count, search=search).serve(sys.stdin.buffer)
