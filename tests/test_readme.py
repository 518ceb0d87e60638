"""The README and the Makefile do as they say: every command is run as written."""

import doctest
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import afterstate
from afterstate import api
from afterstate.play import agent

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", (ROOT / "README.md").read_text(), flags=re.MULTILINE | re.DOTALL)
COMMANDS = [
    line.split("#")[0].strip()
    for kind, text in BLOCKS
    if not kind
    for line in text.splitlines()
    if line.startswith("afterstate ")
]
PROGRAMS = [text for kind, text in BLOCKS if kind == "python"]


def execute(command: list[str], folder: Path) -> str:
    """Run a command where its own program comes first on the path -> what it printed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readme")


def test_there_is_something_to_run() -> None:
    names = {command.split()[1] for command in COMMANDS}
    assert names == {
        *("train", "recipes", "reproduce", "eval", "move", "plot", "report"),
        *("info", "bench", "perft", "judge", "solve", "play", "convert"),
    }
    assert len(PROGRAMS) == 1


def test_the_commands_in_their_order(folder: Path) -> None:
    """Train, then ask the trained player: what each prints is not empty."""
    for command in COMMANDS:
        if command.split()[1] != "play":  # which does not end; test_web_process.py runs it
            assert execute(shlex.split(command), folder).strip(), command
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_the_program(folder: Path) -> None:
    """The Python example prints a slide with four values, and a mean."""
    printed = execute([sys.executable, "-c", PROGRAMS[0]], folder).splitlines()
    assert re.match(r"(up|right|down|left) \{", printed[0])
    assert float(printed[1]) > 1000


def make(*arguments: str) -> str:
    outside = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}}
    done = subprocess.run(["make", *arguments], cwd=ROOT, env=outside, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_make_help_lists_what_there_is() -> None:
    assert [line.split()[0] for line in make("help").splitlines()] == ["help", "train", "test", "faults", "models", "clean"]
    assert make() == make("help")


def test_make_train_is_a_run_that_works(folder: Path) -> None:
    """Its commands with fewer games and a smaller network; the rest is as the Makefile and the recipe say."""
    lines = [line for line in make("-n", "train", "RUN=made").splitlines() if "/afterstate " in line and "echo" not in line]
    assert [shlex.split(line)[1] for line in lines] == ["train", "eval"]
    for line in lines:
        words = shlex.split(line)
        if words[1] == "train":
            words += ["--games", "200", "--network", "0123", "--beside", "01", "--block", "50"]
        else:
            words[words.index("--games") + 1] = "200"
        assert execute(["afterstate", *words[1:]], folder)
    assert (folder / "made" / "checkpoints" / "best.safetensors").exists()
    assert (folder / "made" / "report" / "curve.png").exists()


def test_the_diagrams_are_what_their_script_draws(tmp_path: Path) -> None:
    runpy.run_path(str(ROOT / "docs" / "diagrams.py"))["draw"](tmp_path)
    drawn = sorted(tmp_path.iterdir())
    assert len(drawn) == 3
    for path in drawn:
        assert path.read_text() == (ROOT / "docs" / "images" / path.name).read_text(), path.name
        assert path.name in (ROOT / "docs" / "learning.md").read_text()


def test_the_examples_of_docstrings_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order in which a reader meets them; each says what comes out."""
    monkeypatch.chdir(tmp_path)
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    for thing in (afterstate, api.train, api.load, agent.Agent):
        for example in finder.find(thing, globs=vars(sys.modules[getattr(thing, "__module__", thing.__name__)]).copy()):
            runner.run(example)
    assert runner.tries >= 12
    assert runner.failures == 0
