"""A command line run as a user would run it, and how to look at what it left: for all tests of the commands."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from safetensors.numpy import load_file

from afterstate.cli.common import COMPILING
from afterstate.cli.main import Exit, main

NETWORK = "0123,4567"  # 131,072 weights
TRAIN = ("train", "2048", "--network", NETWORK, "--threads", "1")
SMALL = (*TRAIN, "--games", "300", "--block", "100")
TINY = (*TRAIN, "--games", "10")
BOARD = "2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2"
OVER = "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"
PNG = b"\x89PNG\r\n\x1a\n"
PROGRAM = (sys.executable, "-c", "from afterstate.__main__ import main; main()")
PATIENCE = 180.0  # seconds; a cold cache compiles first
USAGE = 2  # the exit code of a command line that cannot be read
LONG = "x" * 300  # no file system takes such a name

BLOCK = re.compile(
    r"^(?P<games>\d+)\tavg = (?P<mean>\d+), max = (?P<max>\d+), ops = (?P<ops>\d+)(?: \((?P<slides>\d+)\|(?P<tiles>\d+)\))?\n"
    r"(?P<rates>(?:\t\d+\t[\d.]+%\t\([\d.]+%\)\n)+)\n",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """Standard error without the word about compilation, which only comes with a cold cache."""
        return "".join(line for line in self.err.splitlines(keepends=True) if COMPILING not in line)

    @property
    def json(self) -> Any:
        return read_json(self.out)


def run(*arguments: object) -> Result:
    """Run a command in this process, as its own process would: what escapes is a traceback and code 1."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with (
        mock.patch.object(sys, "argv", ["afterstate", *map(str, arguments)]),
        mock.patch.dict(os.environ, {"COLUMNS": "160", "NO_COLOR": "1"}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        except Exception:
            code = Exit.BUG
            traceback.print_exc()
    assert isinstance(code, int)
    return Result(int(code), out.getvalue(), err.getvalue())


def done(*arguments: object) -> Result:
    """Run a command that must succeed and has nothing to complain of."""
    result = run(*arguments)
    assert result.code == Exit.DONE, result.err
    assert result.error == ""
    return result


def judged(*arguments: object) -> Result:
    """Judge a file of a few games: it passes, and the only complaint is that there are so few."""
    result = run("judge", *arguments)
    assert result.code == Exit.DONE, result.err
    assert re.fullmatch(r"warning: the points of so few games \(\d+\) mean little: judge at least 1000\n", result.error), (
        result.error
    )
    return result


def read_json(text: str) -> Any:
    """JSON as other programs read it: Infinity and NaN are errors."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    return [read_json(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def learned(folder: Path) -> tuple[dict[str, bytes], list[dict[str, Any]]]:
    """What a run has learned and measured, without what depends on the clock."""
    clock = {"training_seconds", "seconds", "moves_per_s"}
    tensors = {name: tensor.tobytes() for name, tensor in load_file(folder / "checkpoints" / "last.safetensors").items()}
    return tensors, [{key: value for key, value in record.items() if key not in clock} for record in read_metrics(folder)]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def process(program: str, *arguments: object, stdout: int = subprocess.PIPE, **environment: str) -> Result:
    """Run a command in its own process, with additions to its environment."""
    ended = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
        timeout=PATIENCE,
        check=False,
    )
    return Result(ended.returncode, ended.stdout or "", ended.stderr)


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


@pytest.fixture
def run_here(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the run in the current folder, called 'small'. Files of tests that need no other say `small = run_here`."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(original, "small")
    return Path("small")
