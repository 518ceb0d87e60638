"""Terminals that are narrow, or know only ASCII."""

import pytest

from commandline import PROGRAM, process


@pytest.mark.parametrize(("columns", "names"), [(60, 5), (62, 6), (51, 5), (50, 4), (200, 6), (10, 1)])
def test_patterns_fit_the_terminal(columns: int, names: int) -> None:
    """A drawing is 7 wide, with 4 between two of them; no line of it is broken."""
    lines = process(PROGRAM[-1], "info", "8x6", COLUMNS=str(columns), PYTHONIOENCODING="utf-8").out.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("012456"))
    assert len(lines[first].split()) == names
    assert [line.split("    ")[0].strip() for line in lines[first + 1 : first + 5]] == ["■ ■ ■ ·"] * 2 + ["· · · ·"] * 2
    assert max(map(len, lines[first:])) <= columns


@pytest.mark.parametrize(
    "locale", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
def test_a_terminal_that_knows_only_ascii(locale: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in locale.items():
        monkeypatch.setenv(name, value)
    lines = process(PROGRAM[-1], "info", "2x4").out.splitlines()
    assert [line.rstrip() for line in lines[3:6]] == ["0123       4567", "# # # #    . . . .", ". . . .    # # # #"]
    solved = process(PROGRAM[-1], "solve", "2048", "--size", "2x2", "--board", "2 4 / 0 2").out
    assert "< best" in solved
    assert "?" not in solved


def test_other_letters_are_question_marks() -> None:
    refused = process(PROGRAM[-1], "perft", "größe", PYTHONIOENCODING="ascii").err
    assert "no game is called 'gr??e'" in refused
