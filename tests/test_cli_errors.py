"""Command lines that are wrong: one line on standard error, the right exit code, no traceback, and nothing made."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from afterstate.cli.main import Exit
from commandline import BOARD, LONG, TINY, TRAIN, USAGE, check, contents, done, run, run_here

small = run_here  # the fixture: in this file, a copy in the current folder
SIXTEEN = BOARD.replace("/", " ").split()


def short(arguments: Sequence[str]) -> str:
    """A command line as the name of a test."""
    return " ".join(arguments).replace(" ".join(TINY), "train").replace(BOARD, "BOARD")[:50]


# --- options, boards and networks ------------------------------------------------------------------------------------

WRONG_OPTIONS: list[tuple[tuple[str, ...], int, list[str]]] = [
    # commands and options that do not exist
    (("nosuch",), USAGE, ["nosuch"]),
    (("train", "2048", "--nosuch"), USAGE, ["--nosuch"]),
    (("train", "2048", "more"), USAGE, ["more"]),
    (("eval",), USAGE, ["model"]),
    (("move", "model"), USAGE, ["board"]),
    (("plot",), USAGE, ["RUN"]),
    (("report",), USAGE, ["RUN"]),
    (("bench", "nosuch"), USAGE, ["nosuch", "signature"]),
    # the game
    (("train",), Exit.INPUT, ["afterstate train 2048"]),
    ((*TINY[:1], "chess", *TINY[2:]), Exit.INPUT, ["'chess'", "2048"]),
    ((*TINY, "--rules", "nosuch"), Exit.INPUT, ["'nosuch'", "standard"]),
    ((*TINY, "--rules", ""), Exit.INPUT, ["standard"]),
    ((*TINY, "--size", "5x4"), Exit.INPUT, ["5x4", "2 to 4"]),
    ((*TINY, "--size", "1x4"), Exit.INPUT, ["1x4", "2 to 4"]),
    ((*TINY, "--size", "four"), Exit.INPUT, ["'four'", "4x4"]),
    ((*TINY, "--size", "4x"), Exit.INPUT, ["'4x'", "4x4"]),
    ((*TINY, "--size", "4x4x4"), Exit.INPUT, ["'4x4x4'"]),
    ((*TINY, "--size", "-4x4"), Exit.INPUT, ["'-4x4'"]),
    ((*TINY, "--size", "9" * 5000 + "x4"), Exit.INPUT, ["999"]),
    # the network
    ((*TINY, "--network", "9x9"), Exit.INPUT, ["'9x9'", "4x6", "8x6"]),
    ((*TINY, "--network", "no-such"), Exit.INPUT, ["'no-such'", "4x6"]),
    ((*TINY, "--network", "nosuch"), Exit.INPUT, ["'nosuch'", "0 to f"]),
    ((*TINY, "--network", "0012"), Exit.INPUT, ["'0012'", "cell 0 more than once"]),
    ((*TINY, "--network", "0123,456g"), Exit.INPUT, ["'456g'", "0 to f"]),
    ((*TINY, "--network", "0145", "--size", "2x2"), Exit.INPUT, ["'0145'", "0 to 3", "2x2"]),
    ((*TINY, "--network", "012345678"), Exit.INPUT, ["'012345678'", "9 cells", "1 to 8"]),
    ((*TINY, "--network", ""), Exit.INPUT, ["at least one pattern"]),
    ((*TINY, "--network", ","), Exit.INPUT, ["at least one pattern"]),
    ((*TINY, "--network", "0123,0123"), Exit.INPUT, ["'0123'", "same cells"]),
    ((*TINY, "--network", "0123,3210"), Exit.INPUT, ["'0123'", "'3210'", "same cells"]),
    ((*TINY, "--network", "4x6", "--size", "3x3"), Exit.INPUT, ["'4x6'", "3x3", "012345,012478"]),
    ((*TINY, "--symmetry", "3"), Exit.INPUT, ["3", "8 or 4 or 1"]),
    ((*TINY, "--symmetry", "0"), Exit.INPUT, ["0", "8 or 4 or 1"]),
    ((*TINY, "--symmetry", "-8"), Exit.INPUT, ["-8"]),
    ((*TINY, "--symmetry", "8", "--size", "2x3", "--network", "012"), Exit.INPUT, ["8", "2x3", "4 or 1"]),
    ((*TINY, "--symmetry", "x"), USAGE, ["--symmetry"]),
    # how much
    ((*TINY, "--games", "0"), Exit.INPUT, ["games", "at least 1", "0"]),
    ((*TINY, "--games", "-5"), Exit.INPUT, ["games", "-5", "100k"]),
    ((*TINY, "--games", "abc"), Exit.INPUT, ["games", "'abc'", "100k"]),
    ((*TINY, "--games", "1.5"), Exit.INPUT, ["games", "whole number", "1.5"]),
    ((*TINY, "--games", ""), Exit.INPUT, ["games", "100k"]),
    ((*TINY, "--games"), USAGE, ["--games"]),
    ((*TINY, "--block", "0"), Exit.INPUT, ["block", "at least 1"]),
    ((*TINY, "--eval-every", "-1"), Exit.INPUT, ["eval-every", "-1"]),
    ((*TINY, "--eval-games", "none"), Exit.INPUT, ["eval-games", "'none'"]),
    ((*TINY, "--time", "0"), Exit.INPUT, ["time", "more than 0"]),
    ((*TINY, "--time", "5x"), Exit.INPUT, ["time", "'5x'", "10m"]),
    ((*TINY, "--time", "-1s"), Exit.INPUT, ["time", "'-1s'", "10m"]),
    ((*TINY, "--threads", "0"), Exit.INPUT, ["threads", "1 to 256", "0"]),
    ((*TINY, "--threads", "-1"), Exit.INPUT, ["threads", "1 to 256", "-1"]),
    ((*TINY, "--threads", "100000"), Exit.INPUT, ["threads", "1 to 256", "100000"]),
    ((*TINY, "--threads", "two"), USAGE, ["--threads"]),
    ((*TINY, "--seed", "-1"), Exit.INPUT, ["seed", "-1"]),
    ((*TINY, "--seed", "9223372036854775808"), Exit.INPUT, ["seed", "2**63"]),
    ((*TINY, "--seed", "x"), USAGE, ["--seed"]),
    # how to learn
    ((*TINY, "--alpha", "0"), Exit.INPUT, ["alpha", "above 0", "0"]),
    ((*TINY, "--alpha", "-1"), Exit.INPUT, ["alpha", "above 0", "-1"]),
    ((*TINY, "--alpha", "nan"), Exit.INPUT, ["alpha", "nan"]),
    ((*TINY, "--alpha", "inf"), Exit.INPUT, ["alpha", "inf"]),
    ((*TINY, "--alpha", "x"), Exit.INPUT, ["alpha", "'x'", "1/64"]),
    ((*TINY, "--alpha", "1/0"), Exit.INPUT, ["alpha", "'1/0'", "1/64"]),
    ((*TINY, "--schedule", "garbage"), Exit.INPUT, ["'garbage'", "50k:0.01"]),
    ((*TINY, "--schedule", "50%:x"), Exit.INPUT, ["'50%:x'", "75%:tc"]),
    ((*TINY, "--schedule", "50%:0"), Exit.INPUT, ["alpha", "above 0"]),
    ((*TINY, "--schedule", "50%:0.01,20%:0.001"), Exit.INPUT, ["50%:0.01,20%:0.001", "rising order"]),
    ((*TRAIN, "--time", "1s", "--schedule", "50%:0.01,75k:0.001"), Exit.INPUT, ["percent", "not both"]),
    ((*TINY, "--lambda", "1.5"), Exit.INPUT, ["lambda must be 0 to 1", "1.5"]),
    ((*TINY, "--steps", "0"), Exit.INPUT, ["steps must be 1 to 100", "0"]),
    ((*TINY, "--stages", "0,64,32"), Exit.INPUT, ["stages 0,64,32 must rise"]),
    ((*TINY, "--stages", "0,100"), Exit.INPUT, ["100 is not a tile of 2048"]),
    ((*TINY, "--optimistic", "1e30"), Exit.INPUT, ["optimistic must be 0 to"]),
    ((*TINY, "--beside", "05"), Exit.INPUT, ["contains '05'"]),
    ((*TINY, "--recipe", "none"), Exit.INPUT, ["no recipe is called 'none'", "quick"]),
    ((*TINY, "--recipe", "none.toml"), Exit.FILE, ["none.toml"]),
    ((*TINY, "--method", "magic"), Exit.INPUT, ["'magic'", "td"]),
    ((*TINY, "--target", "both"), Exit.INPUT, ["'both'", "afterstate or state"]),
    ((*TINY, "--order", "sideways"), Exit.INPUT, ["'sideways'", "forward or backward"]),
    # runs, models and pictures that are not there
    ((*TINY, "--resume"), Exit.INPUT, ["--run DIR --resume"]),
    (("train", "--resume"), Exit.INPUT, ["--run DIR --resume"]),
    (("train", "--resume", "--run", "nosuch"), Exit.FILE, ["nosuch", "config.toml"]),
    (("eval", "nosuch"), Exit.FILE, ["nosuch"]),
    (("move", "nosuch", BOARD), Exit.FILE, ["nosuch"]),
    (("plot", "nosuch"), Exit.FILE, ["nosuch"]),
    (("report", "nosuch"), Exit.FILE, ["nosuch", "config.toml"]),
    (("report", LONG), Exit.FILE, [LONG]),
    (("info", "--isomorphs"), Exit.INPUT, ["what to draw", "8x6"]),
    (("info", "--svg", "patterns.svg"), Exit.INPUT, ["what to draw", "8x6"]),
    (("info", "4x6", "--svg", "patterns.png"), Exit.INPUT, ["'patterns.png'", ".svg"]),
    (("info", "4x6", "--svg", "nosuch/patterns.svg"), Exit.FILE, ["nosuch/patterns.svg"]),
    (("info", "no such"), Exit.FILE, ["no such", "no model or run"]),
    (("info", "nosuch.safetensors"), Exit.FILE, ["nosuch.safetensors", "no model or run"]),
    (("info", "0123", "--size", "9x9"), Exit.INPUT, ["9x9", "2 to 4"]),
    (("eval", "nosuch", "--games", "0"), Exit.INPUT, ["games", "at least 1"]),
    # names longer than a file may have
    ((*TINY, "--run", LONG), Exit.FILE, [LONG]),
    (("train", "--resume", "--run", LONG), Exit.FILE, [LONG]),
    (("eval", LONG), Exit.FILE, [LONG]),
    (("move", LONG, BOARD), Exit.FILE, [LONG]),
    (("plot", LONG), Exit.FILE, [LONG]),
    (("info", LONG), Exit.FILE, ["xxx"]),
    # perft and bench
    (("perft", "chess"), Exit.INPUT, ["'chess'", "2048"]),
    (("perft", "2048", "--depth", "0"), Exit.INPUT, ["depth", "1 to 6", "0"]),
    (("perft", "2048", "--depth", "9"), Exit.INPUT, ["depth", "1 to 6", "9"]),
    (("perft", "2048", "--size", "4"), Exit.INPUT, ["'4'", "4x4"]),
    (("perft", "2048", "--rules", "nosuch"), Exit.INPUT, ["'nosuch'", "standard"]),
    (("perft", "2048", "--depth", "1", "--board", "2 2"), Exit.INPUT, ["'2 2'", "16 cells", "2 were given"]),
    (("perft", "2048", "--depth", "1", "--board", ""), Exit.INPUT, ["16 cells", "0 were given"]),
    (("bench", "train", "--threads", "0"), Exit.INPUT, ["threads", "1 to 256"]),
    (("bench", "train", "--games", "none"), Exit.INPUT, ["games", "'none'"]),
    (("bench", "train", "--games", "1", "--network", "9x9"), Exit.INPUT, ["'9x9'", "4x6"]),
]


@pytest.mark.parametrize(("arguments", "code", "words"), WRONG_OPTIONS, ids=[short(row[0]) for row in WRONG_OPTIONS])
def test_a_wrong_command_line(
    arguments: tuple[str, ...], code: int, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check(run(*arguments), code, *words)
    assert list(tmp_path.iterdir()) == []


def test_a_long_list_of_patterns_is_no_file_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    patterns = [f"{a:x}{b:x}{c:x}{d:x}" for a in range(4) for b in range(4, 8) for c in range(8, 12) for d in (12, 13)]
    assert done("info", ",".join(patterns), "--json").json["patterns"] == patterns


# --- boards and depths -----------------------------------------------------------------------------------------------

WRONG_MOVES: list[tuple[tuple[str, ...], int, list[str]]] = [
    (("move", "small", *SIXTEEN[:15]), Exit.INPUT, ["4x4", "16 cells", "15 were given"]),
    (("move", "small", *SIXTEEN, "2"), Exit.INPUT, ["4x4", "16 cells", "17 were given"]),
    (("move", "small", "3", *SIXTEEN[1:]), Exit.INPUT, ["cell 1", "is 3", "not a tile"]),
    (("move", "small", "1", *SIXTEEN[1:]), Exit.INPUT, ["cell 1", "is 1", "not a tile"]),
    (("move", "small", *SIXTEEN[:15], "262144"), Exit.INPUT, ["cell 16", "262144", "131072"]),
    (("move", "small", *SIXTEEN[:15], "9" * 400), Exit.INPUT, ["cell 16", "999"]),
    (("move", "small", *SIXTEEN[:15], "two"), Exit.INPUT, ["cell 16", "'two'"]),
    (("move", "small", "what now?"), Exit.INPUT, ["16 cells", "what now?"]),
    (("move", "small", ""), Exit.INPUT, ["16 cells", "0 were given"]),
    (("move", "small", BOARD, "--depth", "0"), Exit.INPUT, ["depth", "1 to 8", "0"]),
    (("move", "small", BOARD, "--depth", "9"), Exit.INPUT, ["depth", "1 to 8", "9", "would take"]),
    (("move", "small", BOARD, "--depth", "deep"), USAGE, ["--depth"]),
    (("eval", "small", "--depth", "0"), Exit.INPUT, ["depth", "1 to 8", "0"]),
    (("eval", "small", "--depth", "9"), Exit.INPUT, ["depth", "1 to 8", "9", "would take"]),
    (("eval", "small", "--games", "0"), Exit.INPUT, ["games", "at least 1"]),
    (("eval", "small", "--games", "few"), Exit.INPUT, ["games", "'few'"]),
    (("eval", "small", "--threads", "0"), Exit.INPUT, ["threads", "1 to 256"]),
    (("eval", "small", "--games", "2", "--seed", "-1"), Exit.INPUT, ["seed", "-1"]),
    (("eval", "small", "--games", "2", "--seed", str(2**64)), Exit.INPUT, ["seed", str(2**64)]),
    (("plot", "small", "-o", "curve.gif"), Exit.INPUT, ["'curve.gif'", ".png or .svg"]),
    (("plot", "small", "-o", "curve"), Exit.INPUT, ["'curve'", ".png or .svg"]),
    (("plot", "small", "nosuch", "-o", "curve.png"), Exit.FILE, ["nosuch"]),
    (("report", "small", "-o", "page.pdf"), Exit.INPUT, ["'page.pdf'", ".html"]),
    (("report", "small", "-o", "nosuch/page.html"), Exit.FILE, ["nosuch/page.html"]),
    (("report", "small/config.toml"), Exit.FILE, ["small/config.toml"]),
]


@pytest.mark.parametrize(("arguments", "code", "words"), WRONG_MOVES, ids=[short(row[0]) for row in WRONG_MOVES])
def test_a_wrong_question_to_a_run(
    arguments: tuple[str, ...], code: int, words: list[str], small: Path, tmp_path: Path
) -> None:
    before = contents(tmp_path)
    check(run(*arguments), code, *words)
    assert contents(tmp_path) == before
