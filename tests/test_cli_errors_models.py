"""Forged or damaged model files and checkpoints, and other files: each is refused in one line and left as it was."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from afterstate.cli.main import Exit
from afterstate.network.modelfile import load_model
from commandline import BOARD, NETWORK, PROGRAM, Result, check, contents, done, no_traceback, run, run_here

small = run_here  # the fixture: in this file, a copy in the current folder
Header = dict[str, str]
Tensors = dict[str, Any]


def read_model(path: Path) -> tuple[Header, Tensors]:
    """The header, as another program would write it that knows nothing of checksums, and the tensors."""
    with safe_open(str(path), framework="numpy") as file:
        header = dict(file.metadata()) | {"format": "afterstate-model-1"}
    return {key: value for key, value in header.items() if key not in {"sums", "check"}}, load_file(path)


def forge(source: Path, target: Path, changed: dict[str, str | None]) -> None:
    """A valid safetensors file with a changed header; None removes a key."""
    header, tensors = read_model(source)
    kept = {key: value for key, value in (header | changed).items() if value is not None}
    save_file({name: tensor for name, tensor in tensors.items() if not name.startswith("block.")}, target, metadata=kept)


def test_a_model_may_be_written_by_another_program(small: Path) -> None:
    own = small / "checkpoints" / "last.safetensors"
    forge(own, Path("model"), {})
    assert load_model("model").weights.tobytes() == load_model(own).weights.tobytes()
    means = [done("eval", path, "--games", "5", "--threads", "1", "--json").json["mean"] for path in ("model", own)]
    assert means[0] == means[1]


EVERY_KEY = ("format", "game", "rules", "size", "patterns", "layout", "symmetry", "stages", "target", "training")
WRONG_HEADERS: dict[str, tuple[dict[str, str | None], list[str]]] = {
    "another program's": (dict.fromkeys(EVERY_KEY), ["not a model of this program"]),
    "another format": ({"format": "afterstate-model-9"}, ["afterstate-model-9", "afterstate-model-2"]),
    "no layout": ({"layout": None}, ["lacks layout"]),
    "no training": ({"training": None}, ["lacks training"]),
    "another game": ({"game": "chess"}, ["'chess'"]),
    "other rules": ({"rules": "nosuch"}, ["'nosuch'"]),
    "no size": ({"size": "9x9"}, ["9x9"]),
    "another size": ({"size": "2x2"}, ["'4567'", "2x2"]),
    "symmetry 3": ({"symmetry": "3"}, ["3"]),
    "symmetry x": ({"symmetry": "x"}, ["x"]),
    "another symmetry": ({"symmetry": "1"}, ["0123 4567"]),
    "no stages": ({"stages": None}, ["lacks stages"]),
    "a stage without tables": ({"stages": "0 64"}, ["'0123@64'"]),
    "a stage that is no tile": ({"stages": "0 100"}, ["100 is not a tile"]),
    "stages that are no numbers": ({"stages": "0 x"}, []),
    "stages without a first": ({"stages": ""}, ["begin with 0"]),
    "target of nothing": ({"target": "nothing"}, ["'nothing'"]),
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
    check(run(command, name), Exit.FILE, name)


def test_a_model_that_never_comes(tmp_path: Path) -> None:
    """A pipe that nobody writes to is refused; it does not hang."""
    os.mkfifo(tmp_path / "pipe")
    command = [*PROGRAM, "eval", str(tmp_path / "pipe")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    check(Result(ended.returncode, ended.stdout, ended.stderr), Exit.FILE, str(tmp_path / "pipe"))


def test_info_of_a_model_that_nobody_trained(small: Path) -> None:
    forge(small / "checkpoints" / "last.safetensors", Path("model"), {"training": "{}"})
    for arguments in ((), ("--json",)):
        assert NETWORK.split(",")[0] in done("info", "model", *arguments).out


@pytest.mark.parametrize("training", ["[1, 2]", '"text"', "3", "null", '{"by": "hand"}', '{"games": "7"}'])
def test_info_of_a_model_whose_training_is_no_record(training: str, small: Path) -> None:
    forge(small / "checkpoints" / "last.safetensors", Path("model"), {"training": training})
    for arguments in ((), ("--json",)):
        check(run("info", "model", *arguments), Exit.MODEL, "model", "training")


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
    check(run("train", "--run", "small", "--resume", "--games", "400"), Exit.MODEL, str(path))
    assert contents(small) == before
