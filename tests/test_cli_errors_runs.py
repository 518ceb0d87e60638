"""Runs that exist, that do not, and that are broken: each is refused in one line and left as it was."""

import json
import re
import shutil
from math import inf, nan
from pathlib import Path

import pytest

from afterstate.cli.main import Exit
from afterstate.learning.options import TrainOptions
from afterstate.learning.runfolder import RunFolder
from commandline import BOARD, NETWORK, PNG, TINY, check, contents, done, read_metrics, run, run_here

small = run_here  # the fixture: in this file, a copy in the current folder


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
    for command in ("plot", "report"):
        check(run(command, name), Exit.FILE, name)
    assert [path.name for path in sorted(tmp_path.rglob("*"))] == ["notes", "thesis.txt"]
    assert contents(tmp_path) == {"notes/thesis.txt": b"years of work"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--alpha", "0.2"], ["alpha 0.1", "alpha 0.2", "leave --alpha out"]),
        (["--network", "0145"], [f"network {NETWORK}", "network 0145", "leave --network out"]),
        (["--seed", "2"], ["seed 1", "seed 2", "leave --seed out"]),
        (["threes"], ["game 2048", "game threes", "leave the game out"]),
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
        (b'alpha = "fast"\n', ["alpha", "1/64", "'fast'"]),
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
    text = (small / "config.toml").read_text()
    (small / "config.toml").write_text(re.sub(rf"^{line.split(maxsplit=1)[0]} = \S+", line, text, flags=re.MULTILINE))
    before = contents(small)
    check(run("train", "--run", "small", "--resume"), Exit.INPUT, line.split('"')[1])
    assert contents(small) == before


@pytest.mark.parametrize(("key", "value"), [("network", '"0145"'), ("symmetry", "4"), ("target", '"state"')])
def test_a_config_that_is_not_the_checkpoints(key: str, value: str, small: Path) -> None:
    """A run must not silently ignore a change to config.toml by hand."""
    text = (small / "config.toml").read_text()
    (small / "config.toml").write_text(re.sub(rf"^{key} = \S+", f"{key} = {value}", text, flags=re.MULTILINE))
    before = contents(small)
    check(run("train", "--run", "small", "--resume", "--games", "310"), Exit.FILE, "small", key)
    assert contents(small) == before


def test_a_run_without_a_checkpoint_begins_again(small: Path) -> None:
    shutil.rmtree(small / "checkpoints")
    (small / "checkpoints").mkdir()
    RunFolder(small).write_config(TrainOptions(network="0123", games=10, threads=1))
    done("train", "--run", "small", "--resume")
    assert [record["games"] for record in read_metrics(small)] == [10]
    assert (small / "checkpoints" / "best.safetensors").exists()


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


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("kind", [[]]),
        ("games", [None, 1.5, True, "100", 10**30]),
        ("count", [None, 1.5, 0, -1]),
        ("mean", [None, "x", True, nan, inf, -inf, 10**400]),
        ("interval", ["x", False, nan, inf]),
        ("win_tile", [None, nan]),
        ("win_rate", [None, "0.5", inf, 1.5, -0.1]),
        ("reached", [None, {}, [1.0], {"many": 1.0}, {"2048": None}, {"2048": nan}, {"2048": 2}]),
        ("moves_per_s", ["x", inf]),
        ("training_seconds", ["x", nan]),
    ],
)
def test_a_line_of_metrics_with_a_wrong_field(field: str, wrong: list[object], small: Path) -> None:
    """What readers need must be there, of the right kind, and a number that can be drawn."""
    lines = (small / "metrics.jsonl").read_text().splitlines()
    record = json.loads(lines[1])
    without = {key: value for key, value in record.items() if key != field}
    needed = [without] if field not in {"moves_per_s", "training_seconds"} else []
    for broken in [*needed, *(record | {field: value} for value in wrong)]:
        lines[1] = json.dumps(broken)
        (small / "metrics.jsonl").write_text("\n".join(lines) + "\n")
        check(run("plot", "small", "-o", "curve.png"), Exit.FILE, "small/metrics.jsonl, line 2", f"'{field}'")
    assert not Path("curve.png").exists()


@pytest.mark.parametrize("changed", [{"interval": None}, {"mean": 7}, {"moves_per_s": None}, {"a new one": []}], ids=str)
def test_a_line_of_metrics_that_can_be_read(changed: dict[str, object], small: Path) -> None:
    """A block of one game has no interval; whole numbers are numbers; fields that nobody reads can be anything."""
    lines = (small / "metrics.jsonl").read_text().splitlines()
    lines[1] = json.dumps(json.loads(lines[1]) | changed)
    (small / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    done("plot", "small", "-o", "curve.png")
    assert Path("curve.png").read_bytes().startswith(PNG)


def test_a_run_without_blocks_cannot_be_drawn(small: Path) -> None:
    (small / "metrics.jsonl").unlink()
    before = contents(small)
    check(run("plot", "small"), Exit.FILE, "small", "no finished block")
    check(run("plot", "small", "-o", "curve.png"), Exit.FILE, "small", "no finished block")
    check(run("report", "small"), Exit.FILE, "small", "no finished block")
    assert contents(small) == before
    assert not Path("curve.png").exists()


def test_a_run_without_a_checkpoint_has_no_model(small: Path) -> None:
    shutil.rmtree(small / "checkpoints")
    check(run("eval", "small"), Exit.FILE, "small", "no checkpoint")
    check(run("move", "small", BOARD), Exit.FILE, "small", "no checkpoint")
    check(run("info", "small"), Exit.FILE, "small", "no checkpoint")
