"""afterstate judge: are the games of a file legal, quick, and how good?"""

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
    file: Annotated[Path, typer.Argument(help="an episode file of the course's format, of this program or another")],
    version: Annotated[
        str | None,
        typer.Option(help="whose rules and points: 1, 2, 2+, 2018-1, 2018-2, or win for any game  [default: 2; win for 2048]"),
    ] = None,
    speed: Annotated[
        str | None, typer.Option(help="slides a second that are expected  [default: the version's, for this machine]")
    ] = None,
    python: Annotated[bool, typer.Option("--python", help="expect the speed of a Python program (2018-1, 2018-2)")] = False,
    game: Annotated[str, typer.Option(help="the game: threes or 2048")] = "threes",
    rules: Annotated[str | None, typer.Option(help="rule set  [default: the version's]")] = None,
    size: Annotated[str, typer.Option(help="board size")] = "4x4",
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Judge an episode file as the course does.

    Every action of every game is played again by the rules, and must be legal up to the end of the game. The slider's actions
    a second, by the times in the file, must be as many as expected. The points follow from the scores and the largest tiles:

    \b
    1       60 + 40 / (1 + exp(-0.0065 (mean - 560)))         100,000 ops
    2       (rate of 384 in % / 10)^2                          50,000 ops
    2+      rate of 384 in %; passed if it is 100                 100 ops
    2018-1  85 + min(log2(mean / 3) + 1, 10) + max(k - 9, 0)  200,000 ops
    2018-2  rate of 384 in %, rounded up, + max(k - 9, 0)     100,000 ops
    win     rate of the tile that counts as a win in %             any

    k is the index of the largest tile: 9 for 192, 10 for 384. --python asks for a hundredth of the speed in 2018. The speeds
    are those of the course's machine; for yours they are scaled by a short piece of work that is timed here. --speed sets the
    number itself, the same on every machine.

    An illegal action or a slider that is too slow gives 0 points. Exit code 0 passed, 8 failed.
    """
    from afterstate.cli.main import Exit

    expected = None if speed is None else parse_count(speed, name="speed")
    with compiling():
        verdict = _judge(file, version, expected, python, game, rules, size)
    if as_json:
        print_json({"file": str(file)} | verdict.as_dict())
    else:
        _print(verdict)
    if not verdict.passed:
        raise typer.Exit(Exit.FAILED)


def _judge(
    file: Path, version: str | None, speed: int | None, python: bool, game: str, rules: str | None, size: str
) -> "Verdict":
    from afterstate.errors import InputError
    from afterstate.files import is_file
    from afterstate.games.game import make
    from afterstate.play.judge import find_version
    from afterstate.play.judge import judge as judge_file

    name = version or ("2" if game == "threes" else "win")
    wanted = find_version(name)
    if wanted.rules is not None and game != "threes":
        make(game)  # if it is no game at all, say that
        raise InputError(f"version {name} judges Threes!; for {game} there is --version win")
    played = make(game, rules=rules or wanted.rules, size=size)
    size_of_file = file.stat().st_size if is_file(file) else 0
    shown = perf_counter()

    with progress_bar("judging, MiB", size_of_file // _MIB + 1) as show:

        def tell(read: int) -> None:
            nonlocal shown
            if perf_counter() - shown > 0.1:
                shown = perf_counter()
                show(read // _MIB)

        return judge_file(file, played, version=name, speed=speed, python=python, on_read=tell)


def _print(verdict: "Verdict") -> None:
    """In the words of the course."""
    from afterstate.report.course import format_block

    if verdict.summary is None:
        print("Judging the actions... Failed")
        print(verdict.fault)
    else:
        print(format_block(verdict.summary.games, verdict.summary, verdict.speed))
        print("Judging the actions... Passed")
        print(f"Judging the speed... {'Passed' if verdict.quick else 'Failed'}, expected {verdict.expected} ops")
    print(f"Assessment: {verdict.points:.1f} points")
