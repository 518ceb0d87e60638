"""metrics.jsonl is read on from where it was, and again if it is no longer the same file."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from afterstate.errors import FileError
from afterstate.files import parse_json
from afterstate.learning import metrics as module
from afterstate.learning.metrics import Metrics
from afterstate.learning.runfolder import RunFolder


def line(games: int, kind: str = "block") -> dict[str, Any]:
    return {
        "kind": kind, "games": games, "count": 1, "mean": 1.5, "win_tile": 2048, "win_rate": 0.5, "reached": {"2": 1},
        "interval": None,
    }  # fmt: skip


def text(*games: int) -> bytes:
    return "".join(json.dumps(line(each)) + "\n" for each in games).encode()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "metrics.jsonl"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every text that was parsed."""
    seen: list[bytes] = []

    def watch(given: bytes) -> Any:
        seen.append(given)
        return parse_json(given)

    monkeypatch.setattr(module, "parse_json", watch)
    return seen


def games(found: list[dict[str, Any]]) -> list[int]:
    return [each["games"] for each in found]


def append(path: Path, content: bytes) -> None:
    with open(path, "ab") as file:
        file.write(content)


def test_only_new_lines_are_read(path: Path, parsed: list[bytes]) -> None:
    metrics = Metrics(path)
    assert (metrics.lines(), metrics.newest().count) == ([], 0)
    path.write_bytes(text(1, 2, 3))
    assert games(metrics.lines()) == [1, 2, 3]
    del parsed[:]
    assert metrics.newest().count == 3
    assert parsed == []
    append(path, text(4) + json.dumps(line(4, "eval")).encode() + b"\n")
    newest = metrics.newest()
    assert (newest.count, newest.last, newest.block) == (5, line(4, "eval"), line(4))
    assert len(parsed) == 2
    found, newest = metrics.since(3)
    assert (games(found), newest.count) == ([4, 4], 5)
    assert metrics.since(9) == ([], newest)
    assert games(metrics.lines()) == [1, 2, 3, 4, 4] == games(Metrics(path).lines())


@pytest.mark.parametrize("cut", [1, 20, len(text(3)) - 1])
def test_a_line_that_is_being_written(path: Path, cut: int) -> None:
    metrics = Metrics(path)
    path.write_bytes(text(1, 2) + text(3)[:cut])
    whole = cut == len(text(3)) - 1  # only the end of the line is missing
    for _ in range(2):
        assert games(metrics.lines()) == ([1, 2, 3] if whole else [1, 2])
        assert games(metrics.since(2)[0]) == ([3] if whole else [])
        assert metrics.newest().last == line(3 if whole else 2)
    append(path, text(3)[cut:] + text(4))
    assert games(metrics.since(2)[0]) == [3, 4]
    assert metrics.newest().count == 4


def replace(path: Path, content: bytes) -> None:
    other = path.with_name("other")
    other.write_bytes(content)
    os.replace(other, path)


def rewrite(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1))  # a clock that is coarse must not hide it


@pytest.mark.parametrize("how", [replace, rewrite])
@pytest.mark.parametrize("now", [(), (1,), (7, 8, 9), (7, 8, 9, 10), (1, 2, 4, 5, 6)])
def test_another_file_is_read_again(path: Path, how: Any, now: tuple[int, ...]) -> None:
    """A resume rewinds; an editor writes in place; both may end shorter, equal or longer."""
    metrics = Metrics(path)
    path.write_bytes(text(1, 2, 3))
    metrics.newest()
    how(path, text(*now))
    assert games(metrics.lines()) == list(now)
    assert metrics.newest().count == len(now)


def test_a_file_that_is_gone_is_empty(path: Path) -> None:
    metrics = Metrics(path)
    path.write_bytes(text(1))
    assert metrics.newest().count == 1
    path.unlink()
    assert metrics.newest().count == 0


def test_what_is_no_file_is_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    assert Metrics(path).lines() == []


def test_a_wrong_line_stays_wrong_until_it_is_mended(path: Path, parsed: list[bytes]) -> None:
    metrics = Metrics(path)
    path.write_bytes(text(1, 2) + b"{}\n" + text(4))
    for _ in range(2):
        with pytest.raises(FileError, match="line 3: not a line of metrics"):
            metrics.newest()
    assert len(parsed) == 4  # two, then the wrong one each time
    path.write_bytes(text(1, 2, 3, 4, 5))
    assert metrics.newest().count == 5


@pytest.mark.parametrize(
    ("content", "words"),
    [(text(1) + b"{\n" + text(2), "line 2: not JSON"), (b"x" * 2**20 + text(1), "line 1: it has more than 1048576 characters")],
)
def test_lines_that_cannot_be_read(path: Path, content: bytes, words: str) -> None:
    path.write_bytes(content)
    with pytest.raises(FileError, match=words):
        RunFolder(path.parent).read_metrics()
