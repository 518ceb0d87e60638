"""afterstate conformance: does an environment of 2048 play by the rules?"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterstate.cli.common import compiling, console, print_json

if TYPE_CHECKING:
    from afterstate.play.conformance import Conformance

FAILED = 8


def register(app: typer.Typer) -> None:
    app.command()(conformance)


def conformance(
    env: Annotated[
        str | None, typer.Argument(help="an id of Gymnasium, or module:factory; its code is imported and run")
    ] = None,
    games: Annotated[int, typer.Option(help="games of random play")] = 50,
    seed: Annotated[int, typer.Option(help="seed of the random play")] = 1,
    size: Annotated[str, typer.Option(help="board size")] = "4x4",
    vectors: Annotated[Path | None, typer.Option(help="write test vectors for programs in other languages here")] = None,
    count: Annotated[int, typer.Option(help="boards in the test vectors")] = 1000,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Check an environment of 2048 against the rules; exit code 8 if it breaks them.

    ENV is code that you trust: it is imported from the current folder or the installed packages, and run.
    """
    from afterstate.errors import InputError

    if env is None and vectors is None:
        raise InputError("name an environment, as in afterstate/2048-v0 or mymodule:MyEnv, or write --vectors FILE")
    if vectors is not None:
        _write(vectors, size, count, seed)
    if env is None:
        return
    from afterstate.play.conformance import check_env, load_env

    _look_here()
    with compiling():
        found = check_env(load_env(env), name=env, games=games, seed=seed, size=size)
    if as_json:
        print_json(asdict(found) | {"passed": found.passed})
    else:
        _tell(found)
    if not found.passed:
        raise typer.Exit(FAILED)


def _look_here() -> None:
    """Modules in the current folder can be named, as with `python -m`."""
    import sys

    if "" not in sys.path:
        sys.path.insert(0, "")


def _write(path: Path, size: str, count: int, seed: int) -> None:
    from afterstate.errors import InputError
    from afterstate.files import atomic_write
    from afterstate.games.game import make
    from afterstate.play.vectors import make_vectors

    if not 1 <= count <= 1_000_000:
        raise InputError(f"--count is 1 to 1000000 boards, not {count}")
    with compiling():
        made = make_vectors(make("2048", size=size), count, seed=seed)
    with atomic_write(path) as file:
        file.write(json.dumps(made).encode())


def _tell(found: "Conformance") -> None:
    from rich.table import Table

    table = Table(box=None)
    for name in ("checked", "times", "wrong", "", "first thing wrong"):
        table.add_column(name)
    for finding in found.findings:
        table.add_row(finding.name, f"{finding.checked:,}", f"{finding.wrong:,}", finding.verdict, finding.example)
    screen = console()
    screen.print(f"{found.env}: {found.games} games, {found.steps:,} steps; actions {', '.join(found.actions)}; "
                 f"shows {'faces' if found.faces else 'exponents'}", style="grey50")  # fmt: skip
    screen.print(table)
    for note in found.notes:
        screen.print(f"note: {note}")
    screen.print("plays by the rules" if found.passed else "does not play by the rules")
