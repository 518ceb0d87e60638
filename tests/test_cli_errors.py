"""Everything that can be wrong: one line on standard error, the right exit code, no traceback, and nothing made or lost."""

import os
import re
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import afterstate.network.network as network_module
from afterstate.cli.main import Exit
from afterstate.network.modelfile import load_model
from test_cli import BOARD, NETWORK, PATIENCE, PROGRAM, SMALL, TRAIN, Result, contents, done, learned, run

USAGE = 2  # a command line that cannot be read
TINY = (*TRAIN, "--games", "10")
UNLIMITED = ("train", "2048", "--network", NETWORK, "--threads", "1")
SIXTEEN = BOARD.replace("/", " ").split()
LONG = "x" * 300  # no file system takes such a name


def no_traceback(result: Result) -> None:
    if "Traceback" in result.err:
        pytest.fail(f"a traceback that ends with {result.err.splitlines()[-1]}")


def check(result: Result, code: int, *words: str) -> None:
    """A refusal as it should be: its code, one line that names what was given, nothing else."""
    no_traceback(result)
    assert result.code == code, result.err
    assert result.out == ""
    for word in words:
        assert word in result.err
    if code != USAGE:
        assert re.fullmatch(r"error: [^\n]+\n", result.error), result.error


def process(program: str, *arguments: object, stdout: int = subprocess.PIPE) -> Result:
    """Run a command in a process of its own."""
    ended = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Result(ended.returncode, ended.stdout or "", ended.stderr)


def short(arguments: Sequence[str]) -> str:
    """A command line as the name of a test."""
    return " ".join(arguments).replace(" ".join(TINY), "train").replace(BOARD, "BOARD")[:50]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 300 games that no test changes."""
    folder = tmp_path_factory.mktemp("errors") / "original"
    done(*SMALL, "--run", folder)
    return folder


@pytest.fixture
def small(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it in the current folder, called 'small'."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(original, "small")
    return Path("small")


# --- options, boards and networks ------------------------------------------------------------------------------------

WRONG_OPTIONS: list[tuple[tuple[str, ...], int, list[str]]] = [
    # commands and options that do not exist
    (("nosuch",), USAGE, ["nosuch"]),
    (("train", "2048", "--nosuch"), USAGE, ["--nosuch"]),
    (("train", "2048", "more"), USAGE, ["more"]),
    (("eval",), USAGE, ["model"]),
    (("move", "model"), USAGE, ["board"]),
    (("plot",), USAGE, ["RUN"]),
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
    ((*TINY, "--network", "4x6", "--size", "3x3"), Exit.INPUT, ["'4x6'", "3x3", "012345,345678"]),
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
    ((*TINY, "--eval-every", "0"), Exit.INPUT, ["eval-every", "at least 1"]),
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
    ((*TINY, "--alpha", "x"), USAGE, ["--alpha"]),
    ((*TINY, "--schedule", "garbage"), Exit.INPUT, ["'garbage'", "50k:0.01"]),
    ((*TINY, "--schedule", "50%:x"), Exit.INPUT, ["'50%:x'", "75%:0.001"]),
    ((*TINY, "--schedule", "50%:0"), Exit.INPUT, ["alpha", "above 0"]),
    ((*TINY, "--schedule", "50%:0.01,20%:0.001"), Exit.INPUT, ["50%:0.01,20%:0.001", "one after the other"]),
    ((*UNLIMITED, "--time", "1s", "--schedule", "50%:0.01"), Exit.INPUT, ["50%", "--games"]),
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
    (("move", "small", "3", *SIXTEEN[1:]), Exit.INPUT, ["cell 1", "is 3", "no tile"]),
    (("move", "small", "1", *SIXTEEN[1:]), Exit.INPUT, ["cell 1", "is 1", "no tile"]),
    (("move", "small", *SIXTEEN[:15], "262144"), Exit.INPUT, ["cell 16", "262144", "131072"]),
    (("move", "small", *SIXTEEN[:15], "9" * 400), Exit.INPUT, ["cell 16", "999"]),
    (("move", "small", *SIXTEEN[:15], "two"), Exit.INPUT, ["cell 16", "'two'"]),
    (("move", "small", "what now?"), Exit.INPUT, ["16 cells", "what now?"]),
    (("move", "small", ""), Exit.INPUT, ["16 cells", "0 were given"]),
    (("move", "small", BOARD, "--depth", "0"), Exit.INPUT, ["depth", "1 to 4", "0"]),
    (("move", "small", BOARD, "--depth", "9"), Exit.INPUT, ["depth", "1 to 4", "9"]),
    (("move", "small", BOARD, "--depth", "deep"), USAGE, ["--depth"]),
    (("eval", "small", "--depth", "0"), Exit.INPUT, ["depth", "1 to 4", "0"]),
    (("eval", "small", "--depth", "9"), Exit.INPUT, ["depth", "1 to 4", "9"]),
    (("eval", "small", "--games", "0"), Exit.INPUT, ["games", "at least 1"]),
    (("eval", "small", "--games", "few"), Exit.INPUT, ["games", "'few'"]),
    (("eval", "small", "--threads", "0"), Exit.INPUT, ["threads", "1 to 256"]),
    (("eval", "small", "--games", "2", "--seed", "-1"), Exit.INPUT, ["seed", "-1"]),
    (("eval", "small", "--games", "2", "--seed", str(2**64)), Exit.INPUT, ["seed", str(2**64)]),
    (("plot", "small", "-o", "curve.gif"), Exit.INPUT, ["'curve.gif'", ".png or .svg"]),
    (("plot", "small", "-o", "curve"), Exit.INPUT, ["'curve'", ".png or .svg"]),
    (("plot", "small", "nosuch", "-o", "curve.png"), Exit.FILE, ["nosuch"]),
]


@pytest.mark.parametrize(("arguments", "code", "words"), WRONG_MOVES, ids=[short(row[0]) for row in WRONG_MOVES])
def test_a_wrong_question_to_a_run(
    arguments: tuple[str, ...], code: int, words: list[str], small: Path, tmp_path: Path
) -> None:
    before = contents(tmp_path)
    check(run(*arguments), code, *words)
    assert contents(tmp_path) == before


# --- runs that exist, and runs that do not ---------------------------------------------------------------------------


def test_a_run_is_never_overwritten(small: Path) -> None:
    before = contents(small)
    check(run(*TINY, "--run", "small"), Exit.FILE, "small", "--resume", "--run")
    assert contents(small) == before


@pytest.mark.parametrize("name", ["notes", "notes/thesis.txt", "."])
def test_what_is_no_run_is_left_alone(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes").mkdir()
    Path("notes/thesis.txt").write_text("years of work")
    check(run(*TINY, "--run", name), Exit.FILE, f"{name} exists", "--run")
    check(run("train", "--run", name, "--resume"), Exit.FILE, name, "config.toml")
    check(run("plot", name), Exit.FILE, name)
    assert contents(tmp_path) == {"notes/thesis.txt": b"years of work"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--alpha", "0.2"], ["alpha 0.1", "alpha 0.2", "leave --alpha out"]),
        (["--network", "0145"], [f"network {NETWORK}", "network 0145", "leave --network out"]),
        (["--seed", "2"], ["seed 1", "seed 2", "leave --seed out"]),
        (["--symmetry", "4"], ["symmetry 8", "symmetry 4"]),
        (["--size", "3x3"], ["size 4x4", "size 3x3"]),
        (["--block", "50"], ["block 100", "block 50"]),
        (["--target", "state"], ["target afterstate", "target state"]),
        (["--order", "backward"], ["order forward", "order backward"]),
        (["--schedule", "50%:0.01"], ["schedule"]),
        (["--games", "0"], ["games", "at least 1"]),
        (["--threads", "0"], ["threads", "1 to 256"]),
        (["--time", "5x"], ["time", "5x"]),
    ],
    ids=" ".join,
)
def test_a_run_cannot_go_on_as_another(arguments: list[str], words: list[str], small: Path) -> None:
    before = contents(small)
    check(run("train", "--run", "small", "--resume", *arguments), Exit.INPUT, *words)
    assert contents(small) == before


def test_a_run_cannot_go_on_as_another_game(small: Path) -> None:
    before = contents(small)
    check(run("train", "chess", "--run", "small", "--resume"), Exit.INPUT, "chess", "2048")
    assert contents(small) == before


# --- files of a run that are broken ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b'colour = "red"\n', ["unknown key", "'colour'"]),
        (b"seed = 1.5\n", ["seed", "int", "1.5"]),
        (b'alpha = "0.1"\n', ["alpha", "float", "'0.1'"]),
        (b"alpha = 0\n", ["alpha", "above 0"]),
        (b"games = -1\n", ["games", "-1"]),
        (b"this is no TOML\n", ["line 1"]),
        (b"\xff\xfe\x00", []),
        (b"# \xff\n", []),
    ],
    ids=str,
)
def test_a_wrong_config(text: bytes, words: list[str], small: Path) -> None:
    (small / "config.toml").write_bytes(text)
    before = contents(small)
    check(run("train", "--run", "small", "--resume", "--games", "400"), Exit.FILE, "small/config.toml", *words)
    assert contents(small) == before


@pytest.mark.parametrize("line", ['game = "chess"', 'size = "9x9"', 'rules = "nosuch"'])
def test_a_config_of_a_game_that_does_not_exist(line: str, small: Path) -> None:
    (small / "config.toml").write_text(line)
    before = contents(small)
    result = run("train", "--run", "small", "--resume")
    assert result.code in {Exit.INPUT, Exit.FILE}
    check(result, result.code, line.split('"')[1])
    assert contents(small) == before


@pytest.mark.parametrize(("key", "value"), [("network", '"0145"'), ("symmetry", "4"), ("target", '"state"')])
def test_a_config_that_is_not_the_checkpoints(key: str, value: str, small: Path) -> None:
    """Who changes config.toml by hand must not believe that the run follows it."""
    text = (small / "config.toml").read_text()
    (small / "config.toml").write_text(re.sub(rf"^{key} = \S+", f"{key} = {value}", text, flags=re.MULTILINE))
    before = contents(small)
    result = run("train", "--run", "small", "--resume", "--games", "310")
    assert result.code in {Exit.FILE, Exit.MODEL}
    check(result, result.code, "small", key)
    assert contents(small) == before


def test_a_short_config_without_a_checkpoint_is_no_traceback(small: Path) -> None:
    shutil.rmtree(small / "checkpoints")
    (small / "checkpoints").mkdir()
    (small / "config.toml").write_text('network = "0123"\ngames = 10\nthreads = 1\n')
    result = run("train", "--run", "small", "--resume")
    no_traceback(result)
    assert result.code in {Exit.DONE, Exit.FILE}


@pytest.mark.parametrize(
    "line", [b"what?", b"[]", b'{"kind": "song"}', b'{"kind": "block"}', b'{"kind": "block", "games": "x"}', b"\xff"]
)
@pytest.mark.parametrize(
    "command", [("plot", "small"), ("train", "--run", "small", "--resume", "--games", "400")], ids=["plot", "resume"]
)
def test_a_line_of_metrics_that_is_broken(line: bytes, command: tuple[str, ...], small: Path) -> None:
    lines = (small / "metrics.jsonl").read_bytes().splitlines()
    lines[1] = line
    (small / "metrics.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    before = contents(small)
    check(run(*command), Exit.FILE, "small/metrics.jsonl", "line 2")
    assert contents(small) == before


def test_a_run_without_blocks_cannot_be_drawn(small: Path) -> None:
    (small / "metrics.jsonl").unlink()
    before = contents(small)
    check(run("plot", "small"), Exit.FILE, "small", "no finished block")
    check(run("plot", "small", "-o", "curve.png"), Exit.FILE, "small", "no finished block")
    assert contents(small) == before
    assert not Path("curve.png").exists()


def test_a_run_without_a_checkpoint_has_no_model(small: Path) -> None:
    shutil.rmtree(small / "checkpoints")
    check(run("eval", "small"), Exit.FILE, "small", "no checkpoint")
    check(run("move", "small", BOARD), Exit.FILE, "small", "no checkpoint")
    check(run("info", "small"), Exit.FILE, "small", "no checkpoint")


# --- model files -----------------------------------------------------------------------------------------------------

Header = dict[str, str]
Tensors = dict[str, Any]


def read_model(path: Path) -> tuple[Header, Tensors]:
    with safe_open(str(path), framework="numpy") as file:
        header = dict(file.metadata())
    return header, load_file(path)


def forge(source: Path, target: Path, changed: dict[str, str | None]) -> None:
    """A file that the safetensors library writes and believes in, with another header; None takes a key away."""
    header, tensors = read_model(source)
    kept = {key: value for key, value in (header | changed).items() if value is not None}
    save_file({name: tensor for name, tensor in tensors.items() if not name.startswith("block.")}, target, metadata=kept)


def test_a_model_may_be_written_by_another_program(small: Path) -> None:
    own = small / "checkpoints" / "last.safetensors"
    forge(own, Path("model"), {})
    assert load_model("model").weights.tobytes() == load_model(own).weights.tobytes()
    means = [done("eval", path, "--games", "5", "--threads", "1", "--json").json["mean"] for path in ("model", own)]
    assert means[0] == means[1]


EVERY_KEY = ("format", "game", "rules", "size", "patterns", "layout", "symmetry", "values", "training")
WRONG_HEADERS: dict[str, tuple[dict[str, str | None], list[str]]] = {
    "another program's": (dict.fromkeys(EVERY_KEY), ["not a model of this program"]),
    "another format": ({"format": "afterstate-model-9"}, ["afterstate-model-9", "afterstate-model-1"]),
    "no layout": ({"layout": None}, ["lacks layout"]),
    "no training": ({"training": None}, ["lacks training"]),
    "another game": ({"game": "chess"}, ["'chess'"]),
    "other rules": ({"rules": "nosuch"}, ["'nosuch'"]),
    "no size": ({"size": "9x9"}, ["9x9"]),
    "another size": ({"size": "2x2"}, ["'4567'", "2x2"]),
    "symmetry 3": ({"symmetry": "3"}, ["3"]),
    "symmetry x": ({"symmetry": "x"}, ["x"]),
    "another symmetry": ({"symmetry": "1"}, ["0123 4567"]),
    "values of nothing": ({"values": "nothing"}, ["'nothing'"]),
    "training that is no JSON": ({"training": "{"}, []),
    "another layout": ({"layout": "0123 4567"}, ["'0123 4567'"]),
    "other patterns": ({"patterns": "0123 0145"}, []),
    "a pattern without a table": ({"patterns": "0123 4567 0145", "layout": "cdef 89ab abef"}, ["'0145'"]),
    "tables in another order": ({"patterns": "4567 0123", "layout": "89ab cdef"}, ["one after the other"]),
    "the same pattern twice": ({"patterns": "0123 0123"}, ["same cells"]),
    "no patterns": ({"patterns": "", "layout": ""}, []),
    "a pattern of nine cells": ({"patterns": "012345678"}, ["012345678"]),
    "a pattern of many cells": ({"patterns": "01" * 50}, []),
}
COMMANDS = {"eval": ("eval", "model"), "move": ("move", "model", BOARD), "info": ("info", "model")}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(("changed", "words"), WRONG_HEADERS.values(), ids=WRONG_HEADERS)
def test_a_model_with_another_header(
    changed: dict[str, str | None], words: list[str], command: tuple[str, ...], small: Path
) -> None:
    forge(small / "checkpoints" / "last.safetensors", Path("model"), changed)
    before = Path("model").read_bytes()
    check(run(*command), Exit.MODEL, "model", *words)
    assert Path("model").read_bytes() == before


WRONG_TABLES: dict[str, tuple[Callable[[Tensors], Tensors], list[str]]] = {
    "a short table": (lambda tables: tables | {"0123": tables["0123"][: 16**3]}, ["65536", "'0123'"]),
    "a table of 64 bits": (lambda tables: tables | {"0123": tables["0123"].astype(np.float64)}, ["65536", "'0123'"]),
    "a table with two axes": (lambda tables: tables | {"0123": tables["0123"].reshape(256, 256)}, ["65536", "'0123'"]),
    "no table": (lambda tables: {"0123": tables["0123"]}, ["65536", "'4567'"]),
    "a table in between": (lambda tables: tables | {"3": tables["0123"].copy()}, ["one after the other"]),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(("change", "words"), WRONG_TABLES.values(), ids=WRONG_TABLES)
def test_a_model_with_other_tables(
    change: Callable[[Tensors], Tensors], words: list[str], command: tuple[str, ...], small: Path
) -> None:
    header, tensors = read_model(small / "checkpoints" / "last.safetensors")
    save_file(change({pattern: tensors[pattern] for pattern in ("0123", "4567")}), "model", metadata=header)
    before = Path("model").read_bytes()
    check(run(*command), Exit.MODEL, "model", *words)
    assert Path("model").read_bytes() == before


def half(model: bytes) -> bytes:
    return model[: len(model) // 2]


BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "a few bytes": lambda _: b"1234",
    "text": lambda _: b"This is a letter, not a model.\n" * 100,
    "random": lambda model: np.random.default_rng(1).bytes(len(model)),
    "half": half,
    "cut in the header": lambda model: model[:100],
    "without its last byte": lambda model: model[:-1],
    "with a byte too many": lambda model: model + b"\0",
    "a header without an end": lambda model: b"\xff" * 8 + model[8:],
    "a header that is no JSON": lambda model: model[:8] + b"#" + model[9:],
    "zeros": lambda model: bytes(len(model)),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("damage", BROKEN.values(), ids=BROKEN)
def test_a_broken_model(damage: Callable[[bytes], bytes], command: tuple[str, ...], small: Path) -> None:
    broken = damage((small / "checkpoints/last.safetensors").read_bytes())
    Path("model").write_bytes(broken)
    check(run(*command), Exit.MODEL, "model")
    assert Path("model").read_bytes() == broken


@pytest.mark.parametrize("command", ["eval", "info"])
@pytest.mark.parametrize("name", ["/dev/null", "/dev", "empty"])
def test_what_is_no_model_at_all(name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    result = run(command, name)
    assert result.code in {Exit.FILE, Exit.MODEL}
    check(result, result.code, name)


def test_a_model_that_never_comes(tmp_path: Path) -> None:
    """A pipe that nobody writes to is refused; it does not hang."""
    os.mkfifo(tmp_path / "pipe")
    command = [*PROGRAM, "eval", str(tmp_path / "pipe")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode in {Exit.FILE, Exit.MODEL}
    check(Result(ended.returncode, ended.stdout, ended.stderr), ended.returncode, str(tmp_path / "pipe"))


@pytest.mark.parametrize("training", ['{"by": "hand"}', "[1, 2]", '"text"', "3", "null"])
def test_info_of_a_model_whose_training_is_not_ours(training: str, small: Path) -> None:
    """To say nothing about its training is fine, and so is to refuse it; a traceback is not."""
    forge(small / "checkpoints" / "last.safetensors", Path("model"), {"training": training})
    for arguments in ((), ("--json",)):
        result = run("info", "model", *arguments)
        no_traceback(result)
        assert result.code in {Exit.DONE, Exit.MODEL}


@pytest.mark.parametrize("name", ["last", "best"])
@pytest.mark.parametrize("damage", [half, lambda _: b""], ids=["half", "empty"])
def test_a_run_with_a_broken_checkpoint(damage: Callable[[bytes], bytes], name: str, small: Path) -> None:
    path = small / "checkpoints" / f"{name}.safetensors"
    path.write_bytes(damage(path.read_bytes()))
    before = contents(small)
    check(run("train", "--run", "small", "--resume", "--games", "400"), Exit.MODEL, str(path))
    check(run("info", "small"), Exit.MODEL, str(path))
    assert contents(small) == before


@pytest.mark.parametrize("name", ["last", "best"])
def test_a_run_with_a_model_for_a_checkpoint(name: str, small: Path) -> None:
    """A model of the right network that does not say where the run was."""
    path = small / "checkpoints" / f"{name}.safetensors"
    forge(path, path, {"training": "{}"})
    before = contents(small)
    check(run("train", "--run", "small", "--resume", "--games", "400"), Exit.MODEL, str(path))
    no_traceback(run("info", "small"))
    assert contents(small) == before


def test_a_run_with_the_checkpoint_of_another_game(small: Path) -> None:
    done("train", "2048", "--size", "2x2", "--games", "20", "--threads", "1", "--run", "other")
    shutil.copy("other/checkpoints/last.safetensors", small / "checkpoints/last.safetensors")
    before = contents(small)
    check(run("train", "--run", "small", "--resume", "--games", "400"), Exit.MODEL, "last.safetensors", "2x2", "4x4")
    assert contents(small) == before


def test_a_checkpoint_whose_block_is_torn(small: Path) -> None:
    path = small / "checkpoints" / "last.safetensors"
    header, tensors = read_model(path)
    tensors |= {
        "block.scores": np.ones(3, np.int64),
        "block.moves": np.ones(2, np.int64),
        "block.largest": np.ones(3, np.uint8),
    }
    save_file(tensors, path, metadata=header)
    before = contents(small)
    result = run("train", "--run", "small", "--resume", "--games", "400")
    assert result.code in {Exit.FILE, Exit.MODEL}, result.err
    check(result, result.code, str(path))
    assert contents(small) == before


# --- places that cannot be written -----------------------------------------------------------------------------------

NOWHERE = ["file.txt/{}", "/dev/null/{}", "/proc/{}", pytest.param(LONG + "{}", id="a long name")]


@pytest.mark.parametrize("place", NOWHERE)
def test_a_run_that_cannot_be_made(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file.txt").write_text("mine")
    result = run(*TINY, "--run", place.format("run"))
    assert result.code == Exit.FILE or place.startswith("/proc"), result.err  # /proc is also a disk without any room
    check(result, result.code, place.format("run"))
    assert contents(tmp_path) == {"file.txt": b"mine"}


def test_a_file_where_the_runs_should_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").write_text("mine")
    check(run(*TINY), Exit.FILE, "runs/2048-0123-4567-td-1")
    assert contents(tmp_path) == {"runs": b"mine"}


@pytest.mark.parametrize("place", [*NOWHERE, "nosuch/{}", "folder", ".", "/"])
def test_games_that_cannot_be_saved(place: str, small: Path, tmp_path: Path) -> None:
    Path("file.txt").write_text("mine")
    Path("folder").mkdir()
    before = contents(tmp_path)
    name = place.format("games.txt")
    check(run("eval", "small", "--games", "2", "--threads", "1", "--save", name), Exit.FILE, name)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("place", [*NOWHERE, "nosuch/{}", "folder.png"])
def test_a_plot_that_cannot_be_written(place: str, small: Path, tmp_path: Path) -> None:
    Path("file.txt").write_text("mine")
    Path("folder.png").mkdir()
    before = contents(tmp_path)
    name = place.format("curve.png")
    check(run("plot", "small", "-o", name), Exit.FILE, name)
    assert contents(tmp_path) == before


# --- memory ----------------------------------------------------------------------------------------------------------


def test_a_network_larger_than_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = min(network_module.free_memory(), 8 * 2**30)
    monkeypatch.setattr(network_module, "free_memory", lambda: free)
    monkeypatch.chdir(tmp_path)
    tracemalloc.start()
    try:
        result = run("train", "2048", "--network", "2x8", "--games", "1", "--threads", "1", "--run", "run")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    check(result, Exit.RESOURCE, "32.0 GiB", f"{free / 2**30:.1f} GiB", "fewer or smaller patterns")
    assert peak < 2**30
    assert list(tmp_path.iterdir()) == []


def test_a_model_larger_than_the_memory(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_module, "free_memory", lambda: 1000)
    before = contents(small)
    check(run("eval", "small", "--games", "2"), Exit.RESOURCE, "memory")
    check(run("train", "--run", "small", "--resume", "--games", "400"), Exit.RESOURCE, "memory")
    assert contents(small) == before


@pytest.mark.parametrize("place", ["afterstate.network.network.allocate", "afterstate.learning.trainer.make_results"])
def test_the_memory_runs_out(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr(place, fail)
    monkeypatch.chdir(tmp_path)
    check(run(*TINY, "--run", "run"), Exit.RESOURCE, "memory")
    assert list(tmp_path.iterdir()) == []


# --- the disk --------------------------------------------------------------------------------------------------------


def limited(limit: int, *arguments: object) -> Result:
    """Run a command in a process that may write no file longer than `limit` bytes."""
    program = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit})); {PROGRAM[-1]}"
    return process(program, *arguments)


def test_a_disk_too_small_for_the_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    monkeypatch.chdir(tmp_path)
    check(run(*TINY, "--run", "run"), Exit.RESOURCE, "run", "MiB")
    assert list(tmp_path.iterdir()) == []
    check(run(*TINY), Exit.RESOURCE, "MiB")
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_that_has_no_room_leaves_the_one_before(small: Path, tmp_path: Path) -> None:
    checkpoints = contents(small / "checkpoints")
    result = limited(2**16, "train", "--run", "small", "--resume", "--games", "600", "--quiet")
    no_traceback(result)
    assert result.code == Exit.RESOURCE, result.err
    assert re.fullmatch(r"error: no room to write small/checkpoints/\w+\.safetensors: [^\n]+\n", result.error)
    assert contents(small / "checkpoints") == checkpoints
    assert not list(small.rglob("*.partial"))
    assert done("eval", "small", "--games", "2", "--json").json["games"] == 2

    done("train", "--run", "small", "--resume", "--games", "600")  # there is room again
    done(*SMALL, "--games", "600", "--run", tmp_path / "whole")
    assert learned(small) == learned(tmp_path / "whole")


def test_a_new_run_that_has_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = limited(2**16, *TINY, "--run", "run", "--quiet")
    no_traceback(result)
    assert result.code == Exit.RESOURCE, result.err
    assert not list(tmp_path.rglob("*.partial"))
    assert not list(tmp_path.rglob("*.safetensors"))
    done("train", "--run", "run", "--resume")


def test_metrics_that_have_no_room(small: Path) -> None:
    """The metrics are full, the checkpoints are not: what is learned is not lost."""
    size = (small / "metrics.jsonl").stat().st_size
    result = limited(size + 10, "train", "--run", "small", "--resume", "--games", "600", "--quiet")
    no_traceback(result)
    assert result.code == Exit.RESOURCE, result.err
    assert not list(small.rglob("*.partial"))
    done("train", "--run", "small", "--resume", "--games", "600")


def test_games_that_have_no_room_leave_the_file_before(small: Path) -> None:
    Path("games.txt").write_text("mine")
    result = limited(2**16, "eval", "small", "--games", "100", "--threads", "1", "--save", "games.txt")
    check(result, Exit.RESOURCE, "games.txt", "no room")
    assert Path("games.txt").read_text() == "mine"
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["games.txt", "small"]


def test_a_plot_that_has_no_room_leaves_the_one_before(small: Path) -> None:
    before = contents(small)
    check(limited(2**12, "plot", "small"), Exit.RESOURCE, "curve.png", "no room")
    assert contents(small) == before


# --- the other end of the pipe ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [("info",), ("info", "--json"), ("--help",), ("perft", "2048", "--depth", "1")], ids=" ".join
)
def test_who_reads_may_leave(arguments: tuple[str, ...]) -> None:
    """`afterstate info | head -1` is no error."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        result = process(PROGRAM[-1], *arguments, stdout=writer)
    finally:
        os.close(writer)
    assert result.error == ""
    assert result.code in {0, 1}, "typer ends such a command with 1"


def test_a_run_whose_reader_has_left_goes_on_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    try:
        result = process(PROGRAM[-1], *SMALL, "--run", "run", stdout=writer)
    finally:
        os.close(writer)
    assert result.error == ""
    done("train", "--run", "run", "--resume")
    done(*SMALL, "--run", "whole")
    assert learned(tmp_path / "run") == learned(tmp_path / "whole")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [("info",), ("info", "--json"), ("perft", "2048", "--depth", "1")], ids=" ".join)
def test_output_that_has_no_room(arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        result = process(PROGRAM[-1], *arguments, stdout=full.fileno())
    no_traceback(result)
    assert result.code == Exit.RESOURCE
