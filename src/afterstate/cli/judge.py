"""afterstate judge: are the games of a file legal, fast enough, and how good?"""

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from afterstate.cli.common import compiling, print_json, progress_bar
from afterstate.units import parse_count

if TYPE_CHECKING:
    from afterstate.play.judge import Verdict

_MIB = 1 << 20


def register(app: typer.Typer) -> None:
    app.command()(judge)


def judge(
    file: Annotated[Path, typer.Argument(help="an episode file in the course's format, from any program")],
    version: Annotated[
        str | None,
        typer.Option(help="rules and points to use: 1, 2, 2+, 2018-1, 2018-2, or win for any game  [default: 2; win for 2048]"),
    ] = None,
    speed: Annotated[
        str | None, typer.Option(help="expected slides a second  [default: the version's, scaled to this machine]")
    ] = None,
    python: Annotated[bool, typer.Option("--python", help="expect the speed of a Python program (2018-1, 2018-2)")] = False,
    game: Annotated[str, typer.Option(help="the game: threes or 2048")] = "threes",
    rules: Annotated[str | None, typer.Option(help="rule set  [default: the version's]")] = None,
    size: Annotated[str, typer.Option(help="board size")] = "4x4",
    until: Annotated[
        int | None, typer.Option(help="tile at which a game may end, such as 2048; with version win", metavar="TILE")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Judge an episode file as the course does.

    Every action is replayed and must be legal, and every game must be played to its end, or with --until to that tile. By the
    times in the file, the slider must make at least the expected slides a second (ops). The points depend on the scores and the
    largest tiles:

    \b
    1       60 + 40 / (1 + exp(-0.0065 (mean - 560)))         100,000 ops
    2       (rate of 384 in % / 10)^2                          50,000 ops
    2+      rate of 384 in %; passed if it is 100                 100 ops
    2018-1  85 + min(log2(mean / 3) + 1, 10) + max(k - 9, 0)  200,000 ops
    2018-2  rate of 384 in %, rounded up, + max(k - 9, 0)     100,000 ops
    win     rate of the win tile in %                              any

    k is the index of the largest tile: 9 for 192, 10 for 384. With --python, 2018-1 and 2018-2 expect a hundredth of the speed.
    The speeds are for the course's machine; a short benchmark scales them to yours. --speed sets the speed without scaling.

    An illegal action or a slider that is too slow gives 0 points. Exit code: 0 passed, 8 failed.
    """
    from afterstate.cli.main import Exit

    expected = None if speed is None else parse_count(speed, name="speed")
    with compiling():
        verdict = _judge(file, version, expected, python, game, rules, size, until)
    if as_json:
        print_json({"file": str(file)} | verdict.as_dict())
    else:
        _print(verdict)
    if not verdict.passed:
        raise typer.Exit(Exit.FAILED)


def _judge(
    file: Path,
    version: str | None,
    speed: int | None,
    python: bool,
    game: str,
    rules: str | None,
    size: str,
    until: int | None,
) -> "Verdict":
    from afterstate.errors import InputError
    from afterstate.files import is_file
    from afterstate.games.game import make
    from afterstate.games.points import find_version
    from afterstate.play.judge import judge as judge_file

    name = version or ("2" if game == "threes" else "win")
    wanted = find_version(name)
    if wanted.rules is not None and game != "threes":
        make(game)  # report an unknown game first
        raise InputError(f"version {name} judges Threes!; for {game} use --version win")
    played = make(game, rules=rules or wanted.rules, size=size)
    size_of_file = file.stat().st_size if is_file(file) else 0
    shown = perf_counter()

    with progress_bar("judging, MiB", size_of_file // _MIB + 1) as show:

        def tell(read: int) -> None:
            nonlocal shown
            if perf_counter() - shown > 0.1:
                shown = perf_counter()
                show(read // _MIB)

        return judge_file(file, played, version=name, speed=speed, python=python, until=until, on_read=tell)


def _print(verdict: "Verdict") -> None:
    """Print the verdict in the course's format."""
    from afterstate.report.course import format_block

    if verdict.summary is None:
        print("Judging the actions... Failed")
        print(verdict.fault)
    else:
        print(format_block(verdict.summary.games, verdict.summary, verdict.speed))
        print("Judging the actions... Passed")
        print(f"Judging the speed... {'Passed' if verdict.quick else 'Failed'}, expected {verdict.expected} ops")
    print(f"Assessment: {verdict.points:.1f} points")
