"""The course's judge: are all actions legal, is the slider fast enough, how many points are the games worth?

The expected speed depends on the machine, which is measured by a fixed piece of work. A machine that does REFERENCE steps of it
a second is expected to reach the version's speed, and one that is twice as fast to reach twice that.
"""

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from afterstate.errors import InputError
from afterstate.games.game import Game
from afterstate.games.points import VERSIONS, Version, default_version, describe_missed, find_merits, find_version
from afterstate.games.results import Results, Summary, find_tile, summarise
from afterstate.kernel import kernel, u64
from afterstate.play.episodes import Episode, IllegalActionError, read_episodes
from afterstate.play.recognise import recognise

REFERENCE = 400e6  # steps of the work a second on the course's machine
_STEPS, _TIMES = 10_000_000, 5


# --- speed ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pace:
    """Actions a second, by the times in a file."""

    everyone: float
    slider: float
    placer: float
    apart: bool  # slides and tiles have times of their own; if not, both share the time of the games


@kernel
def _work(table: Any, steps: int) -> u64:
    """Do 64-bit arithmetic and a table look-up in each step."""
    x, total = u64(0x9E3779B97F4A7C15), u64(0)
    for _ in range(steps):
        x ^= x << u64(13)
        x ^= x >> u64(7)
        x ^= x << u64(17)
        total += table[x & u64(0xFFFF)] ^ x
    return total


def calibrate() -> float:
    """Measure this machine's speed: 1.0 is the course's machine, 2.0 is twice as fast."""
    table = np.arange(65536, dtype=np.uint64)
    _work(table, 1)
    seconds = []
    for _ in range(_TIMES):
        began = perf_counter()
        _work(table, _STEPS)
        seconds.append(perf_counter() - began)
    return _STEPS / median(seconds) / REFERENCE


def asked_speed(version: Version, *, python: bool = False) -> int:
    """Slides a second that a version expects on the course's machine."""
    if not python:
        return version.speed
    if version.python_speed is None:
        slow = ", ".join(name for name, other in VERSIONS.items() if other.python_speed is not None)
        raise InputError(f"only the versions {slow} have a separate speed for Python programs; leave out --python")
    return version.python_speed


# --- games ---------------------------------------------------------------------------------------------------------------


class _Tally:
    """Totals of the games, and a few bytes of each."""

    def __init__(self) -> None:
        self.scores, self.moves, self.largest = array("q"), array("q"), array("B")
        self.places = self.slider_ms = self.placer_ms = self.all_ms = 0

    def add(self, episode: Episode) -> None:
        self.scores.append(episode.score)
        self.moves.append(len(episode))
        self.largest.append(episode.largest_index)
        self.places += episode.places
        self.slider_ms += episode.slider_ms
        self.placer_ms += episode.placer_ms
        self.all_ms += episode.all_ms

    def results(self) -> Results:
        return Results(np.array(self.scores, np.int64), np.array(self.moves, np.int64), np.array(self.largest, np.uint8))

    def speed(self) -> Pace:
        """Each side by its own time, or by the time of the games if the file has none; at least 1 ms, to divide by."""
        slides = sum(self.moves)
        total = max(self.all_ms, self.slider_ms + self.placer_ms, 1)
        return Pace(
            everyone=1000 * (slides + self.places) / total,
            slider=1000 * slides / (self.slider_ms if self.slider_ms > 0 else total),
            placer=1000 * self.places / (self.placer_ms if self.placer_ms > 0 else total),
            apart=self.slider_ms > 0 and self.placer_ms > 0,
        )


@dataclass(frozen=True)
class Verdict:
    """The judge's result."""

    version: str
    game: Game
    passed: bool
    points: float
    fault: str | None = None  # the first action or game that breaks the rules; then the fields below are not set
    summary: Summary | None = None
    speed: Pace | None = None
    expected: int | None = None  # slides a second; None if the version expects no speed
    quick: bool = False  # whether the slider reached them
    reason: str | None = None  # why games without a fault failed

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "version": self.version,
            "game": self.game.name,
            "rules": self.game.rules,
            "size": str(self.game.shape),
            "passed": self.passed,
            "points": self.points,
            "reason": self.fault or self.reason,
            "actions": {"passed": self.fault is None, "fault": self.fault},
            "speed": None if self.speed is None else {"passed": self.quick, "expected": self.expected} | vars(self.speed),
            "summary": None if self.summary is None else self.summary.as_dict(),
        }


def judge(
    path: Path | str,
    game: Game | None = None,
    *,
    version: str | None = None,
    speed: int | None = None,
    python: bool = False,
    until: int | None = None,
    on_read: Callable[[int], None] | None = None,
) -> Verdict:
    """Judge all games of a file. `speed` sets the expected slides a second; `on_read` is called with the bytes read so far.

    Without a game, the file tells which it is. Without a version it is 2 for the rules tcg2022, 2018-2 for tcg2018, or win.
    An illegal action, a game that stops early or a slider that is too slow gives 0 points. With `until`, the version is win:
    a game may end with the slide that makes this tile, which then is the tile to win with.
    """
    game = game or recognise(path)
    version = version or (default_version(game) if until is None else "win")
    rules = find_version(version)
    asked = asked_speed(rules, python=python)
    if until is not None and version != "win":
        raise InputError(f"version {version} wants games that are played to their end; --until needs --version win")
    win = None if until is None else find_tile(game, until)
    tally = _Tally()
    try:
        fault = _read_games(path, game, tally, win, on_read)
    except IllegalActionError as error:
        fault = str(error)
    if fault is not None:
        return Verdict(version, game, passed=False, points=0.0, fault=fault)
    results = tally.results()
    summary = summarise(game, results, max(tally.all_ms, 1) / 1000, until=until)
    merits = find_merits(game, results, win=win)
    pace = tally.speed()
    expected = speed if speed is not None else max(round(asked * calibrate()), 1) if asked else None
    quick = expected is None or pace.slider >= expected
    reason = None
    if not quick:
        reason = f"the slider makes {pace.slider:.0f} slides a second"
    elif rules.every:
        reason = describe_missed(merits)
    return Verdict(
        version,
        game,
        passed=reason is None,
        points=rules.points(merits) if quick else 0.0,
        summary=summary,
        speed=pace,
        expected=expected,
        quick=quick,
        reason=reason,
    )


def _read_games(
    path: Path | str, game: Game, tally: _Tally, win: int | None, on_read: Callable[[int], None] | None
) -> str | None:
    """Add up all games -> None, or an error about the first game that stops early."""
    read = 0
    for episode in read_episodes(path, game):
        if not episode.ended and not _ends_with(episode, win):
            board = game.format(episode.state(-1))
            over = "it is not over" if win is None else f"it is not over, and that slide did not make a {game.face(win)}"
            return f"{path}, line {episode.line}: the game stops after {len(episode)} slides, but {over}: {board}"
        tally.add(episode)
        read += episode.size
        if on_read:
            on_read(read)
    return None


def _ends_with(episode: Episode, win: int | None) -> bool:
    """Whether a game ends as soon as the tile `win` is on the board. The new tile after that slide may be there or not."""
    game, before = episode.game, max(len(episode) - 1, 0)
    if win is None or game.largest(episode.state(-1)) < win:
        return False
    return len(episode) == 0 or game.largest(episode.state(before)) < win
