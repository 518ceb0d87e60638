"""Files of your own games: their name, and errors in them."""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import afterstate as af
from afterstate.cli.main import Exit
from afterstate.games import game as games
from afterstate.games.own import OWN
from commandline import Result, check, done, run
from test_own_games import SQUARE
from test_players import EXAMPLES, with_games

DRIFT = (EXAMPLES / "drift.py").read_text()


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The file of a game called 'mine', which is forgotten afterwards."""
    path = tmp_path / "mine.py"
    monkeypatch.setitem(OWN, "mine", path)
    monkeypatch.setattr(games, "_make", cache(games._make.__wrapped__))
    yield path
    sys.modules.pop("afterstate_own_mine", None)


def test_a_copied_game_finds_its_model_again(mine: Path, tmp_path: Path) -> None:
    """The class still says 'square'; the file's name counts."""
    mine.write_text(SQUARE)
    run_folder = tmp_path / "run"
    done("train", "mine", "--games", "20", "--network", "0123,4567", "--threads", "1", "--run", run_folder)
    assert done("eval", run_folder, "--games", "2", "--json").json["games"] == 2
    assert af.load(run_folder).game is af.make("mine")
    assert af.make("mine").name == "mine"


def test_an_unknown_game_may_be_one_of_your_own() -> None:
    check(run("perft", "drift"), Exit.INPUT, "no game is called 'drift'", "2048, threes", "AFTERSTATE_GAMES")


LACKS_LARGEST = DRIFT.replace("@implement(largest, Drift)\n", "")

WRONG = {
    "a syntax error": (DRIFT.replace("TOP = 15", "TOP = = 15"), 22, "SyntaxError: invalid syntax"),
    "a name error": (DRIFT.replace("TOP = 15", "TOP = fifteen"), 22, "NameError: name 'fifteen' is not defined"),
    "a missing module": ("\nimport nosuch", 2, "ModuleNotFoundError: No module named 'nosuch'"),
    "an error while it is built": (
        SQUARE.replace("super().__init__(shape)", "self.edge = int('x')"), 14, "ValueError: invalid literal for int()",
    ),
    "a missing kernel": (LACKS_LARGEST, 25, "Drift has no kernel for largest; write @implement(largest, Drift)"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_an_error_in_the_file_has_its_line(name: str, mine: Path) -> None:
    text, line, words = WRONG[name]
    mine.write_text(text)
    check(run("perft", "mine"), Exit.FILE, f"{mine}, line {line}: {words}")
    check(run("perft", "mine"), Exit.FILE, f"{mine}, line {line}: {words}")  # not half loaded


def test_a_file_without_build(mine: Path) -> None:
    mine.write_text("RULES = ('standard',)")
    check(run("perft", "mine"), Exit.FILE, f"{mine} has no function build(rules, shape)")


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("transpose(board)\n", "transpos(board)\n", "45: this kernel does not compile: NameError: name 'transpos' is"),
        (
            "    result, reward = _0, 0\n",
            "    result, reward = _0, 'no'\n",
            "41: this kernel does not compile: there is no iadd",
        ),
    ],
)
def test_a_kernel_that_does_not_compile(right: str, wrong: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "drift.py"
    path.write_text(DRIFT.replace(right, wrong))
    ended = with_games(path, "perft", "drift", "--depth", "1")
    check(Result(ended.returncode, ended.stdout, ended.stderr), Exit.FILE, f"{path}, line {words}")
