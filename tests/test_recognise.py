"""Files of games tell by themselves which game, rules and board they are of."""

import random
import re
from pathlib import Path

import pytest

from afterstate.errors import FileError, InputError
from afterstate.play.judge import judge
from afterstate.play.recognise import recognise
from otherprogram import rules_of, write_line
from test_records import HAND_2048, HAND_THREES, NINE, line_of, write

KINDS = [
    *(("2048", "standard", size) for size in ("4x4", "2x3", "3x2", "2x2")),
    *(("threes", rules, "4x4") for rules in ("tcg2022", "tcg2018", "tcg2018-bonus", "official")),
    ("threes", "tcg2022", "3x4"),
    ("threes", "tcg2018", "4x3"),
]


def file_of(folder: Path, kind: tuple[str, str, str], *, games: int = 5) -> Path:
    name, rules, size = kind
    program, generator = rules_of(name, rules, int(size[0]), int(size[2])), random.Random(3)
    return write(folder, *(write_line(program, generator) + "\n" for _ in range(games)))


@pytest.mark.parametrize("kind", KINDS, ids=" ".join)
def test_a_file_tells_its_game(kind: tuple[str, str, str], tmp_path: Path) -> None:
    found = recognise(file_of(tmp_path, kind))
    assert (found.name, found.rules, str(found.shape)) == kind


@pytest.mark.parametrize("kind", [("2048", "standard", "4x4"), ("threes", "tcg2022", "4x4"), ("threes", "official", "4x4")])
def test_a_wrong_action_does_not_hide_the_game(kind: tuple[str, str, str], tmp_path: Path) -> None:
    path = file_of(tmp_path, kind, games=1)
    head, actions, tail = path.read_text().split("|")
    path.write_text("|".join((head, actions + "#U#U", tail)))
    assert recognise(path).rules == kind[1]
    verdict = judge(path)
    assert verdict.fault is not None
    assert "#U" in verdict.fault


@pytest.mark.parametrize(
    ("line", "version", "shape"), [(HAND_2048, "win", "2x2"), (HAND_THREES, "2", "2x2"), (NINE, "2", "4x4")]
)
def test_the_usual_version_of_a_file(line: str, version: str, shape: str, tmp_path: Path) -> None:
    verdict = judge(write(tmp_path, line_of(line)), speed=1)
    assert (verdict.version, str(verdict.game.shape)) == (version, shape)


def test_what_is_given_is_taken(tmp_path: Path) -> None:
    path = file_of(tmp_path, ("threes", "tcg2018", "4x4"))
    assert recognise(path, rules="tcg2018-bonus").rules == "tcg2018-bonus"
    assert recognise(path, game="2048").name == "2048"
    assert recognise(path, game="2048", size="2x3").name == "2048"
    assert str(recognise(path, size="4x4").shape) == "4x4"
    with pytest.raises(InputError, match=r"no game has a rule set 'odd'; there are: standard, tcg2022"):
        recognise(path, rules="odd")
    with pytest.raises(InputError, match=r"2048 has no rule set 'odd'; there are: standard"):
        recognise(path, game="2048", rules="odd")


def test_a_file_that_tells_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"could be a file of 2048 or of threes; say which with --game"):
        recognise(write(tmp_path, line_of("0112")))
    with pytest.raises(FileError, match="no game begins with these tiles"):
        recognise(write(tmp_path, line_of("011")))
    assert recognise(write(tmp_path, "no game\n")).name == "2048"


def test_the_program_of_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/judging.md: read a file of games from Python, and judge it."""
    file_of(tmp_path, ("threes", "tcg2022", "4x4"), games=2)
    monkeypatch.chdir(tmp_path)
    guide = (Path(__file__).parent.parent / "docs" / "judging.md").read_text()
    for program in re.findall(r"^```python\n(.*?)^```", guide, flags=re.MULTILINE | re.DOTALL):
        exec(program, {})
