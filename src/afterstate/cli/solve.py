"""afterstate solve: compute optimal play on small boards."""

from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterstate.cli.common import compiling, console, print_json, progress_bar
from afterstate.units import format_time

if TYPE_CHECKING:
    from rich.table import Table

    from afterstate.games.game import State
    from afterstate.search.solve import Solution


def register(app: typer.Typer) -> None:
    app.command()(solve)


def solve(
    game: Annotated[str, typer.Argument(help="the game")],
    size: Annotated[str, typer.Option(help="board size, up to 3x3")] = "2x3",
    rules: Annotated[str | None, typer.Option(help="rule set")] = None,
    aim: Annotated[int | None, typer.Option(help="tile to reach, such as 256  [default: a high mean score]")] = None,
    board: Annotated[str | None, typer.Option(help="start from this state, and show what its slides are worth")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Compute optimal play on a small board, exactly.

    It enumerates every state: 2x3 takes a moment, 3x3 about a minute and 1 GB of memory.
    """
    from afterstate.games.game import make

    with compiling():
        played = make(game, rules=rules, size=size)
        state = None if board is None else played.parse(board)
        from afterstate.search.solve import check_solvable
        from afterstate.search.solve import solve as enumerate_all

        check_solvable(played, aim)
        enumerate_all(make(game, rules=rules, size="2x2"))  # compiles the kernels; solving 2x2 takes no time
    with progress_bar("solving", 100) as show:
        began = perf_counter()
        solution = enumerate_all(played, aim, start=state, progress=lambda share: show(int(100 * share)))
        seconds = perf_counter() - began
    if as_json:
        print_json(_as_dict(solution, state, seconds))
    else:
        _show(solution, state, seconds)


def _as_dict(solution: "Solution", state: "State | None", seconds: float) -> dict[str, Any]:
    game = solution.game
    found: dict[str, Any] = {"game": game.name, "rules": game.rules, "size": str(game.shape), "aim": solution.aim}
    if state is not None:
        best = solution.choose(state)
        found["board"] = game.format(state)
        found["move"] = None if best is None else str(best)
        found["values"] = {str(slide): value for slide, value in solution.values_of(state).items()}
    found |= {"states": solution.states, "value": solution.value, "seconds": seconds}
    found["reached"] = {str(rate.tile): rate.reached for rate in solution.tiles}
    found["ended"] = {str(rate.tile): rate.ended for rate in solution.tiles}
    return found


def _show(solution: "Solution", state: "State | None", seconds: float) -> None:
    from afterstate.report.tables import board_drawing, facts

    game, screen = solution.game, console()
    screen.print(f"{game.name} on {game.shape}, every state that can follow from {_start(solution, state)}\n", style="grey50")
    if state is not None:
        screen.print(board_drawing(game, state))
        if solution.choose(state) is None:
            screen.print("the game is over: no slide is legal")
        else:
            screen.print(_slides(solution, state))
        screen.print()
    points = "mean score" if state is None else "points to come"
    name = points if solution.aim is None else f"chance of {solution.aim}"
    rows = [("states", f"{solution.states:,} up to symmetry"), (name, _number(solution, solution.value))]
    screen.print(facts([*rows, ("time", format_time(seconds))]))
    screen.print()
    screen.print(_tiles(solution))


def _start(solution: "Solution", state: "State | None") -> str:
    return "the first two tiles" if state is None else solution.game.format(state)


def _number(solution: "Solution", value: float) -> str:
    """Format points, or a chance in percent."""
    return f"{value:,.4f}" if solution.aim is None else f"{value:.6%}"


def _slides(solution: "Solution", state: "State") -> "Table":
    """The four values, the best one marked."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right")
    best = solution.choose(state)
    for slide, value in solution.values_of(state).items():
        shown = "illegal" if value is None else _number(solution, value)
        table.add_row(str(slide), shown, "◀ best" if slide is best else "")
    return table


def _tiles(solution: "Solution") -> "Table":
    """How likely optimal play reaches each tile."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2))
    for name in ("tile", "reached", "ended"):
        table.add_column(name, justify="right")
    for rate in solution.tiles:
        table.add_row(str(rate.tile), _percent(rate.reached), _percent(rate.ended))
    return table


def _percent(chance: float) -> str:
    """0.25 -> '25.0000%'; a chance that would round to 0 is written like 2e-06%."""
    return f"{chance:.4%}" if chance == 0 or chance >= 5e-7 else f"{100 * chance:.0e}%"
