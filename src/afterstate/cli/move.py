"""afterstate move: here is my board, what now?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from afterstate.cli.common import MODEL, compiling, console, print_json
from afterstate.cli.options import with_options
from afterstate.search.options import TEXT, SearchOptions


def register(app: typer.Typer) -> None:
    app.command()(with_options(move, SearchOptions, before="threads", text=TEXT))


def move(
    model: Annotated[Path, typer.Argument(help=MODEL)],
    board: Annotated[
        list[str],
        typer.Argument(help="the tiles row by row: '2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2'; Threes! ends with '| next 2'"),
    ],
    threads: Annotated[int | None, typer.Option(help="threads  [default: all processors]")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    **search: Any,
) -> None:
    """Print the four values and the best slide for any board.

    Give the board as one text in quotes, or as separate numbers; 0 or . is an empty cell. A text may also be pasted: lists,
    what NumPy prints, a table with a frame, or one hex digit a cell.
    """
    SearchOptions.read(**search).resolve()  # report a wrong option before anything heavy is loaded
    from afterstate.learning.runfolder import find_model
    from afterstate.network.modelfile import load_model
    from afterstate.threads import count_threads

    path = find_model(model)
    with compiling():
        network = load_model(path)
        state = network.game.parse(" ".join(board))
        from afterstate.play.agent import Agent

        agent = Agent(network, threads=count_threads(threads), **search)
        agent.prepare()
    choice = agent.choose(state)
    if as_json:
        values = {str(slide): value for slide, value in choice.values.items()}
        best = str(choice.move) if choice.move is not None else None
        found = {"board": network.game.format(state), "max_depth": agent.depth, "move": best, "values": values}
        print_json(found | ({} if choice.search is None else {"search": choice.search.as_dict()}))
        return
    from afterstate.report.tables import board_drawing, search_line, values_table

    screen = console()
    screen.print(board_drawing(network.game, state))
    if choice.move is None:
        screen.print("the game is over: no slide is legal")
    else:
        screen.print(values_table(choice.values, choice.move))
        if choice.search is not None:
            screen.print("\n" + search_line(choice.search), style="grey50")
