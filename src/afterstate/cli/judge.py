"""afterstate judge: are the games of a file legal, fast enough, and how good?"""

import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from afterstate.cli.common import compiling, print_json, progress_bar
from afterstate.errors import InputError
from afterstate.units import parse_count, shorten

if TYPE_CHECKING:
    from afterstate.games.game import Game
    from afterstate.play.judge import Verdict

_MIB = 1 << 20
T = TypeVar("T")
ENOUGH = 1000  # games; fewer say little about the points


def register(app: typer.Typer) -> None:
    app.command()(judge)


def judge(
    file: Annotated[Path | None, typer.Argument(help="an episode file in the course's format, from any program")] = None,
    version: Annotated[
        str | None,
        typer.Option(
            help="rules and points to use: 1, 2, 2+, 2018-1, 2018-2, or win for any game  [default: by the rules of the file]"
        ),
    ] = None,
    speed: Annotated[
        str | None, typer.Option(help="expected slides a second  [default: the version's, scaled to this machine]")
    ] = None,
    python: Annotated[bool, typer.Option("--python", help="expect the speed of a Python program (2018-1, 2018-2)")] = False,
    game: Annotated[str | None, typer.Option(help="the game: threes or 2048  [default: by the file]")] = None,
    rules: Annotated[str | None, typer.Option(help="rule set  [default: the version's, or by the file]")] = None,
    size: Annotated[str | None, typer.Option(help="board size  [default: by the file]")] = None,
    until: Annotated[
        int | None, typer.Option(help="tile at which a game may end, such as 2048; with version win", metavar="TILE")
    ] = None,
    load: Annotated[Path | None, typer.Option(help="the file, as the course's judge is called")] = None,
    course: Annotated[
        str | None, typer.Option("--judge", help='version and speed, as for the course: "version=2 speed=1000"')
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Judge an episode file as the course does.

    \b
    afterstate judge stats.txt --version 2 --speed 1000
    afterstate judge --load=stats.txt --judge="version=2 speed=1000"

    Both lines mean the same. The file tells which game, rules and board it is of, unless options say it.

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

    path = _only_one(file, load, "the file is given twice: as FILE and by --load")
    if path is None:
        raise typer.BadParameter("give an episode file", param_hint="FILE")
    told = _read_course(course)
    version = _only_one(version, told.get("version"), "the version is given twice: by --version and by --judge")
    speed = _only_one(speed, told.get("speed"), "the speed is given twice: by --speed and by --judge")
    expected = None if speed is None else parse_count(speed, name="speed")
    with compiling():
        verdict = _judge(path, version, expected, python, _find_game(path, version, game, rules, size), until)
    if verdict.summary is not None and verdict.summary.games < ENOUGH:
        few = f"the points of so few games ({verdict.summary.games}) mean little: judge at least {ENOUGH}"
        print(f"warning: {few}", file=sys.stderr)
    if as_json:
        print_json({"file": str(path)} | verdict.as_dict())
    else:
        _print(verdict)
    if not verdict.passed:
        raise typer.Exit(Exit.FAILED)


def _only_one(one: T | None, other: T | None, twice: str) -> T | None:
    """The one of two options that was given."""
    if one is not None and other is not None:
        raise InputError(twice)
    return other if one is None else one


def _read_course(text: str | None) -> dict[str, str]:
    """Read what the course's judge is told: "version=2 speed=1000"."""
    found = dict(part.partition("=")[::2] for part in (text or "").split())
    for name, value in found.items():
        if name not in {"version", "speed"} or not value:
            raise InputError(f'--judge takes "version=2", "speed=1000" or both with a blank between, not {shorten(name)!r}')
    return found


def _find_game(file: Path, version: str | None, game: str | None, rules: str | None, size: str | None) -> "Game":
    """The game that the file is of, or that options say, by the rules of the version."""
    from afterstate.games.game import make
    from afterstate.games.points import find_version
    from afterstate.play.recognise import recognise

    of_version = None if version is None else find_version(version).rules
    found = recognise(file, game=game, rules=rules, size=size)
    if of_version is None:
        return found
    if found.name != "threes":
        raise InputError(f"version {version} judges Threes!, and these are games of {found.name}: use --version win")
    return make("threes", rules=rules or of_version, size=str(found.shape))


def _judge(file: Path, version: str | None, speed: int | None, python: bool, game: "Game", until: int | None) -> "Verdict":
    from afterstate.files import is_file
    from afterstate.play.judge import judge as judge_file

    size_of_file = file.stat().st_size if is_file(file) else 0
    shown = perf_counter()

    with progress_bar("judging, MiB", size_of_file // _MIB + 1) as show:

        def tell(read: int) -> None:
            nonlocal shown
            if perf_counter() - shown > 0.1:
                shown = perf_counter()
                show(read // _MIB)

        return judge_file(file, game, version=version, speed=speed, python=python, until=until, on_read=tell)


def _print(verdict: "Verdict") -> None:
    """Print the verdict in the course's format."""
    from afterstate.report.course import format_block

    if verdict.summary is None:
        print("Judging the actions... Failed")
        print(verdict.fault)
    else:
        print(format_block(verdict.summary.games, verdict.summary, verdict.speed))
        print("Judging the actions... Passed")
        expected = "no speed expected" if verdict.expected is None else f"expected {verdict.expected} ops"
        print(f"Judging the speed... {'Passed' if verdict.quick else 'Failed'}, {expected}")
    print(f"Assessment: {verdict.points:.1f} points")
    if verdict.reason is not None:
        print(f"Failed: {verdict.reason}")
