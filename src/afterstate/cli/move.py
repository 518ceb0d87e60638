"""afterstate move: here is my board, what now?"""

from pathlib import Path
from typing import Annotated

import typer

from afterstate.cli.common import compiling, console, print_json


def register(app: typer.Typer) -> None:
    app.command()(move)


def move(
    model: Annotated[Path, typer.Argument(help="a model file, or a run folder (its best checkpoint)")],
    board: Annotated[
        list[str],
        typer.Argument(help="the tiles row by row: '2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2'; Threes! ends with '| next 2'"),
    ],
    depth: Annotated[int, typer.Option(help="slides to look ahead, 1 to 4")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Print the four values and the best slide for any board.

    The board is one text in quotes, or its numbers one by one; 0 or . is an empty cell.
    """
    from afterstate.learning.runfolder import find_model
    from afterstate.network.modelfile import load_model

    path = find_model(model)
    with compiling():
        network = load_model(path)
        state = network.game.parse(" ".join(board))
        from afterstate.play.agent import Agent

        choice = Agent(network, depth=depth).choose(state)
    if as_json:
        values = {slide.name.lower(): value for slide, value in choice.values.items()}
        best = choice.move.name.lower() if choice.move is not None else None
        print_json({"board": network.game.format(state), "depth": depth, "move": best, "values": values})
        return
    from afterstate.report.tables import board_drawing, values_table

    screen = console()
    screen.print(board_drawing(network.game, state))
    if choice.move is None:
        screen.print("the game is over: no slide is legal")
    else:
        screen.print(values_table(choice.values, choice.move))
