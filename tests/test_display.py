"""The live display: nothing is cut on a narrow terminal."""

import pytest

from afterstate.cli import display
from afterstate.cli.display import Display, break_lines
from afterstate.learning.progress import Learning, Progress
from test_report import summary


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160, 200])
def test_nothing_is_cut(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    shown = Display(quiet=False, as_json=False)
    learning = Learning(moves=10**6, error=123_456.0, rate=0.1, outside=0.123)
    progress = Progress(
        games=1_234_567, total=10**7, seconds=3600.0, limit=None, moves_per_s=2.5e6, block=summary(), learning=learning,
        doing="training",
    )  # fmt: skip
    shown.on_progress(progress)
    shown.screen.width = width
    with shown.screen.capture() as captured:
        shown.screen.print(shown.bar.get_renderable())
    text = captured.get()
    words = ("1,234,567 games", "left", "mean 17,483", "2048 in 40.6%", "2.5M moves/s", "|error| 123,456", "12.3% out of range")
    for part in words:
        assert part in text, text
    assert "…" not in text


def test_parts_stand_side_by_side_where_they_fit() -> None:
    assert break_lines(["one", "two", "three"], 100) == "one · two · three"
    assert break_lines(["one", "two", "three"], 9) == "one · two\nthree"
    assert break_lines(["a very long part", "two"], 5) == "a very long part\ntwo"
    assert display.NARROW + 4 < 60
