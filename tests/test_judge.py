"""The judge: its formulas, output and expected speed, and files of every kind."""

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import afterstate.play.judge as judges
from afterstate.cli.main import Exit
from afterstate.errors import InputError
from afterstate.games import points
from afterstate.games.game import make
from afterstate.games.points import VERSIONS, Merits
from afterstate.network.modelfile import save_model
from afterstate.network.network import Network
from afterstate.play.judge import REFERENCE, asked_speed, calibrate, judge
from commandline import BLOCK, LONG, USAGE, Result, check, done, judged, run
from otherprogram import Told, read_line, rules_of, write_line
from test_records import HAND_2048, HAND_THREES, NINE, line_of, write

FAST = ("--speed", "1")


def figures(mean: float = 0.0, rate: float = 0.0, wins: float = 0.0, largest: int = 0) -> Merits:
    return Merits(mean, rate, wins, largest)


# --- points ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "found", "points"),
    [
        ("1", figures(mean=560), 80.0),
        ("1", figures(mean=0), 61.02),
        ("1", figures(mean=1200), 99.38),
        ("1", figures(mean=1e6), 100.0),
        ("2", figures(rate=97.4), 94.9),
        ("2", figures(rate=90.9), 82.6),
        ("2", figures(rate=84.7), 71.7),
        ("2", figures(rate=100), 100.0),
        ("2", figures(rate=0), 0.0),
        ("2+", figures(rate=100), 100.0),
        ("2+", figures(rate=99.9), 99.9),
        ("2018-1", figures(mean=3, largest=5), 86.0),
        ("2018-1", figures(mean=96, largest=9), 91.0),
        ("2018-1", figures(mean=1e6, largest=14), 100.0),
        ("2018-1", figures(mean=0, largest=3), 85.0),
        ("2018-1", figures(mean=0.1, largest=1), 85.0),
        ("2018-2", figures(rate=97.1, largest=9), 98.0),
        ("2018-2", figures(rate=100 * (29 / 100), largest=10), 30.0),
        ("2018-2", figures(rate=100, largest=14), 105.0),
        ("win", figures(rate=3, wins=42.5), 42.5),
    ],
)
def test_points(version: str, found: Merits, points: float) -> None:
    assert VERSIONS[version].points(found) == pytest.approx(points, abs=0.06)


def test_rules_and_speeds_of_the_versions() -> None:
    asked = {name: (version.rules, version.speed, version.python_speed) for name, version in VERSIONS.items()}
    assert asked == {
        "1": ("tcg2022", 100_000, None),
        "2": ("tcg2022", 50_000, None),
        "2+": ("tcg2022", 100, None),
        "2018-1": ("tcg2018", 200_000, 2_000),
        "2018-2": ("tcg2018", 100_000, 1_000),
        "win": (None, 0, None),
    }
    assert asked_speed(VERSIONS["2018-1"], python=True) == 2_000
    with pytest.raises(InputError, match="2018-1, 2018-2"):
        asked_speed(VERSIONS["2"], python=True)


def test_the_help_tells_every_version() -> None:
    text = re.sub(r"\s+", " ", done("judge", "--help").out)
    for name, version in VERSIONS.items():
        assert f" {name} " in text
        assert not version.speed or f"{version.speed:,} ops" in text
    assert "8 failed" in text
    assert "8 failed" in done("--help").out.replace("\n", " ")


# --- whole files -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def threes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Told]]:
    """Twenty games of another program, and their points computed the slow way."""
    rules, generator = rules_of("threes", "tcg2022", 4, 4), random.Random(9)
    lines = [write_line(rules, generator) for _ in range(20)]
    path = tmp_path_factory.mktemp("judge") / "games.txt"
    path.write_text("".join(line + "\n" for line in lines))
    return path, [read_line(rules, line) for line in lines]


def test_the_words_of_the_course(threes: tuple[Path, list[Told]]) -> None:
    path, told = threes
    mean = sum(game.score for game in told) / 20
    slides, ms = sum(game.slides for game in told), sum(game.slider_ms for game in told)
    result = judged(path, "--version", "1", *FAST)
    block = BLOCK.match(result.out)
    assert block is not None
    assert (block["games"], int(block["mean"]), int(block["max"])) == ("20", round(mean), max(game.score for game in told))
    assert int(block["slides"]) == round(1000 * slides / ms)
    points = VERSIONS["1"].points(figures(mean=mean))
    assert result.out[block.end() :] == (
        "Judging the actions... Passed\n"
        "Judging the speed... Passed, expected 1 ops\n"
        f"Assessment: {points:.1f} points\n"
    )  # fmt: skip


def test_the_rate_of_the_goal(threes: tuple[Path, list[Told]], monkeypatch: pytest.MonkeyPatch) -> None:
    """With a goal that random play reaches: 48, which has index 7."""
    path, told = threes
    monkeypatch.setattr(points, "GOAL", 48)
    rate = 100 * sum(game.largest >= 7 for game in told) / 20
    assert 0 < rate < 100
    found = judge(path, make("threes"), version="2", speed=1)
    assert found.passed
    assert found.points == pytest.approx(rate**2 / 100)
    most = judge(path, make("threes"), version="2+", speed=1)
    assert not most.passed
    assert most.points == pytest.approx(rate)
    short = [number for number, game in enumerate(told, 1) if game.largest < 7]
    assert most.reason == f"{len(short)} games do not reach 48, the first of them is game {short[0]}"
    monkeypatch.setattr(points, "GOAL", 3)
    every = judge(path, make("threes"), version="2+", speed=1)
    assert (every.passed, every.points, every.reason) == (True, 100.0, None)


def test_why_2_plus_failed(threes: tuple[Path, list[Told]], tmp_path: Path) -> None:
    result = run("judge", threes[0], "--version", "2+", *FAST)
    assert result.code == Exit.FAILED
    assert result.out.endswith("\nFailed: 20 games do not reach 384, the first of them is game 1\n")
    one = tmp_path / "one.txt"
    one.write_text(threes[0].read_text().splitlines()[0] + "\n")
    found = run("judge", one, "--version", "2+", *FAST, "--json").json
    assert (found["passed"], found["reason"]) == (False, "game 1 does not reach 384")


def test_the_command_line_of_the_course(threes: tuple[Path, list[Told]]) -> None:
    plain = judged(threes[0], "--version", "2", "--speed", "1")
    assert judged(f"--load={threes[0]}", "--judge=version=2 speed=1") == plain
    assert judged(f"--load={threes[0]}", "--judge=version=2", "--speed=1") == plain


def test_a_thousand_games_say_enough(threes: tuple[Path, list[Told]], tmp_path: Path) -> None:
    many = tmp_path / "many.txt"
    many.write_text(50 * threes[0].read_text())
    done("judge", many, "--version", "1", *FAST)


def test_json(threes: tuple[Path, list[Told]]) -> None:
    path, told = threes
    found = judged(path, "--version", "1", *FAST, "--json").json
    assert (found["file"], found["version"], found["game"], found["rules"], found["size"]) == (
        str(path), "1", "threes", "tcg2022", "4x4",
    )  # fmt: skip
    assert (found["passed"], found["actions"]) == (True, {"passed": True, "fault": None})
    assert found["summary"]["games"] == 20
    assert found["summary"]["moves"] == sum(game.slides for game in told)
    speed: dict[str, Any] = found["speed"]
    assert (speed["passed"], speed["expected"]) == (True, 1)
    assert speed["slider"] == pytest.approx(1000 * sum(g.slides for g in told) / sum(g.slider_ms for g in told))
    assert speed["placer"] == pytest.approx(1000 * sum(g.places for g in told) / sum(g.placer_ms for g in told))


def test_2048_is_judged_by_its_wins(tmp_path: Path) -> None:
    path = write(tmp_path, line_of(HAND_2048))
    out = judged(path).out
    assert out.startswith("1\tavg = 12, max = 12, ops = ")
    assert out.endswith("Judging the speed... Passed, no speed expected\nAssessment: 0.0 points\n")
    sixteen = HAND_2048.replace("#R22", "#R21") + "#D[0]"  # nonsense at its end
    check_failed(run("judge", write(tmp_path, line_of(sixteen)), "--game", "2048", "--size", "2x2"), "#D")


@pytest.mark.parametrize(("game", "rules"), [("2048", "standard"), ("threes", "tcg2022"), ("threes", "official")])
def test_our_own_games(game: str, rules: str, tmp_path: Path) -> None:
    """A model that has learned almost nothing, measured and judged by the same games."""
    path, model = tmp_path / "games.txt", tmp_path / "model.safetensors"
    save_model(Network(make(game, rules=rules), "0123,4567"), model)
    found = done("eval", model, "--games", "20", "--save", path, "--json").json
    verdict = judged(path, "--version", "win", "--json").json
    assert (verdict["game"], verdict["rules"], verdict["size"]) == (game, rules, "4x4")
    assert verdict["summary"]["mean"] == found["mean"]
    assert verdict["summary"]["reached"] == found["reached"]
    assert verdict["points"] == 100 * found["win_rate"]


# --- failed ----------------------------------------------------------------------------------------------------------


def check_failed(result: Result, *words: str) -> None:
    assert (result.code, result.error) == (Exit.FAILED, "")
    assert result.out.startswith("Judging the actions... Failed\n")
    assert result.out.endswith("\nAssessment: 0.0 points\n")
    for word in words:
        assert word in result.out


def test_an_illegal_action_fails(tmp_path: Path) -> None:
    path = write(tmp_path, line_of(HAND_THREES), line_of(HAND_THREES + "#U"))
    check_failed(run("judge", path, "--size", "2x2", *FAST), "line 2, action 13 (#U): the game is over, on 6 3 / 3 1")
    found = run("judge", path, "--size", "2x2", *FAST, "--json")
    assert found.code == Exit.FAILED
    assert (found.json["passed"], found.json["points"], found.json["summary"]) == (False, 0.0, None)
    assert "line 2, action 13" in found.json["actions"]["fault"]


def test_a_game_that_stops_early_fails(tmp_path: Path) -> None:
    path = write(tmp_path, line_of(NINE))
    check_failed(run("judge", path, *FAST), "line 1: the game stops after 0 slides, but it is not over: 1 2 3 1 / 2 3 1 2")


def test_the_longest_times_add_up(tmp_path: Path) -> None:
    """300 years for each slide, in many games."""
    path = write(tmp_path, "\n".join([line_of("0131#L12#U[4](9999999999999)31#L[8](9999999999999)")] * 200))
    verdict = judge(path, make("2048", size="2x2"), until=8)
    assert verdict.passed
    assert verdict.speed is not None
    assert 0 < verdict.speed.slider < 1e-9


def test_a_slow_slider_fails(tmp_path: Path) -> None:
    """Four slides in the 5 ms that the file gives; without times, in the 500 ms of the game."""
    told, untold = line_of(HAND_2048), line_of(re.sub(r"\(\d+\)", "", HAND_2048))
    for line, speed in ((told, 800), (untold, 8)):
        path = write(tmp_path, line)
        command = ("judge", path, "--game", "2048", "--size", "2x2", "--speed")
        assert f"Passed, expected {speed} ops\n" in judged(*command[1:], speed).out
        slow = run(*command, speed + 1)
        assert slow.code == Exit.FAILED
        assert slow.out.endswith(
            f"Judging the speed... Failed, expected {speed + 1} ops\nAssessment: 0.0 points\n"
            f"Failed: the slider makes {speed} slides a second\n"
        )


def test_no_time_at_all_is_a_millisecond(tmp_path: Path) -> None:
    path = write(tmp_path, "me:you@1000|" + re.sub(r"\(\d+\)", "", HAND_2048) + "|you@1000\n")
    found = judged(path, "--game", "2048", "--size", "2x2", "--json").json
    assert (found["speed"]["slider"], found["speed"]["placer"], found["speed"]["everyone"]) == (4000, 6000, 10000)


# --- speed -----------------------------------------------------------------------------------------------------------


def test_the_speed_goes_with_the_machine(threes: tuple[Path, list[Told]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judges, "calibrate", lambda: 1.04)
    assert judge(threes[0], make("threes"), version="2").expected == 52_000
    assert judge(threes[0], make("threes"), version="2+").expected == 104
    assert judge(threes[0], make("threes"), version="2", speed=77).expected == 77
    assert judge(threes[0], make("threes"), version="win").expected is None


def test_python_programs_may_be_slower(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judges, "calibrate", lambda: 0.5)
    rules = rules_of("threes", "tcg2018", 4, 4)
    path = write(tmp_path, write_line(rules, random.Random(1), timed=False) + "\n")
    found = run("judge", path, "--version", "2018-2", "--python", "--json").json
    assert (found["rules"], found["speed"]["expected"]) == ("tcg2018", 500)
    assert run("judge", path, "--version", "2018-1", "--json").json["speed"]["expected"] == 100_000


@pytest.mark.parametrize("speed", [0.5, 1.0, 4.0])
def test_calibration(speed: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The speed of a machine is that of the work, without compiling and without delays by other programs."""
    clock, calls = 0.0, 0

    def work(table: Any, steps: int) -> None:
        nonlocal clock, calls
        calls += 1
        clock += steps / (speed * REFERENCE) + {1: 1000.0, 3: 20.0, 5: 20.0}.get(calls, 0.0)

    monkeypatch.setattr(judges, "_work", work)
    monkeypatch.setattr(judges, "perf_counter", lambda: clock)
    assert calibrate() == pytest.approx(speed)


def test_the_work_of_the_calibration_is_done() -> None:
    """REFERENCE counts these steps: each draws a number and looks it up in a table."""
    x, total = 0x9E3779B97F4A7C15, 0
    table = np.arange(65536, dtype=np.uint64)[::-1].copy()
    for _ in range(1000):
        x ^= x << 13 & 2**64 - 1
        x ^= x >> 7
        x ^= x << 17 & 2**64 - 1
        total += (65535 - (x & 0xFFFF)) ^ x
    assert judges._work(table, 1000) == total % 2**64


# --- wrong command lines ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), USAGE, ["file"]),
        (("nosuch.txt",), Exit.FILE, ["nosuch.txt", "No such file"]),
        ((LONG,), Exit.FILE, [LONG]),
        ((".",), Exit.FILE, ["directory"]),
        (("games.txt", "--version", "3"), Exit.INPUT, ["'3'", "1, 2, 2+, 2018-1, 2018-2, win"]),
        (("games.txt", "--version", "2", "--game", "2048"), Exit.INPUT, ["version 2 judges Threes!", "--version win"]),
        (("games.txt", "--version", "2", "--game", "chess"), Exit.INPUT, ["'chess'"]),
        (("games.txt", "--game", "chess"), Exit.INPUT, ["'chess'", "2048, threes"]),
        (("games.txt", "--rules", "nosuch"), Exit.INPUT, ["'nosuch'", "tcg2022"]),
        (("games.txt", "--size", "5x5"), Exit.INPUT, ["5x5"]),
        (("games.txt", "--speed", "0"), Exit.INPUT, ["speed", "at least 1"]),
        (("games.txt", "--speed", "fast"), Exit.INPUT, ["speed", "'fast'"]),
        (("games.txt", "--python"), Exit.INPUT, ["2018-1, 2018-2"]),
        (("empty.txt",), Exit.FILE, ["there is no game in empty.txt"]),
        (("games.txt", "--rules", "official"), Exit.FILE, ["games.txt, line 1", "read it with --game 2048 --rules standard"]),
        (("games.txt", "--version", "2"), Exit.INPUT, ["version 2 judges Threes!", "games of 2048", "--version win"]),
        (("games.txt",), Exit.FILE, ["games.txt is cut off in the middle of line 2"]),
        (("odd.txt",), Exit.FILE, ["odd.txt", "no game begins", "--game, --rules and --size"]),
        (("two.txt",), Exit.FILE, ["two.txt", "2048 or of threes", "--game"]),
        (("games.txt", "--load", "games.txt"), Exit.INPUT, ["twice", "--load"]),
        (("games.txt", "--judge", "version=2", "--version", "2"), Exit.INPUT, ["twice", "--version"]),
        (("games.txt", "--judge", "speed=1", "--speed", "2"), Exit.INPUT, ["twice", "--speed"]),
        (("games.txt", "--judge", "edition=2"), Exit.INPUT, ["'edition'", "version=2"]),
        (("games.txt", "--judge", "version"), Exit.INPUT, ["'version'", "version=2"]),
    ],
)
def test_a_wrong_question(
    arguments: tuple[str, ...], code: int, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, line_of(HAND_2048), "me:you@1000|0131#L")
    Path("empty.txt").touch()
    Path("odd.txt").write_text(line_of("013#U"))
    Path("two.txt").write_text(line_of("0112"))
    check(run("judge", *arguments), code, *words)
