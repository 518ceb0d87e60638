"""afterstate perft: count positions, to check the rules."""

from typing import Annotated

import typer

from afterstate.cli.common import compiling, console, print_json, progress_bar


def register(app: typer.Typer) -> None:
    app.command()(perft)


def perft(
    game: Annotated[str, typer.Argument(help="the game")],
    depth: Annotated[int, typer.Option(help="slides in a line of play, 1 to 6")] = 3,
    board: Annotated[str | None, typer.Option(help="first state  [default: a tile in two or three corners]")] = None,
    size: Annotated[str, typer.Option(help="board size")] = "4x4",
    rules: Annotated[str | None, typer.Option(help="rule set")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Count all lines of play up to a depth."""
    from rich.table import Table

    from afterstate.games.game import make

    with compiling():
        played = make(game, rules=rules, size=size)
        state = played.parse(played.example if board is None else board)
        from afterstate.games.perft import perft as count

        count(played, state, 1)
    with progress_bar("counting", 1) as show:
        rows = count(played, state, depth, progress=lambda done, total: show(done / total))
    if as_json:
        print_json({"game": played.name, "board": played.format(state), "rows": [vars(row) for row in rows]})
        return
    table = Table(box=None)
    for name in ("depth", "afterstates", "states", "reward", "ended"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*(f"{value:,}" for value in vars(row).values()))
    screen = console()
    screen.print(f"{played.name} from {played.format(state)}", style="grey50")
    screen.print(table)
