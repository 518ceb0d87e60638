"""docs/programs.md and docs/formats.md do as they say: every command, question, match and program in them is run."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from afterstate.games.game import make
from afterstate.network.modelfile import load_model, save_model
from afterstate.network.network import Network
from commandline import PATIENCE, PROGRAM, read_json
from test_readme import execute

DOCS = Path(__file__).parent.parent / "docs"


def blocks(name: str, kind: str = "") -> list[str]:
    """The blocks of code of a page that are of a kind."""
    found = re.findall(r"^```(\w*)\n(.*?)^```", (DOCS / name).read_text(), flags=re.MULTILINE | re.DOTALL)
    return [text for language, text in found if language == kind]


def command(folder: Path, *arguments: object, lines: str) -> list[str]:
    """What a command answers to lines."""
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)], cwd=folder, input=lines, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout.splitlines()


def test_the_questions(small: Path, tmp_path: Path) -> None:
    (questions,) = blocks("programs.md", "json")
    answers = [read_json(line) for line in command(tmp_path, "analyse", small, "--threads", "2", lines=questions)]
    assert not any("error" in answer for answer in answers), answers
    told = {(answer["id"], answer.get("turn")): answer for answer in answers}
    assert set(told) == {("first", None), ("deeper", None), ("timed", None), ("game", 0), ("game", 1), ("game", 2)}
    assert len(told["deeper", None]["line"]) == 2
    assert told["timed", None]["search"]["moves"] == 1
    assert set(told["game", 0]) == {"id", "turn", "board", "move", "values", "depth", "ms", "after"}
    page = (DOCS / "programs.md").read_text()
    for name in {name for answer in answers for name in answer} | {
        "include",
        "length",
        "episode",
        "exact",
        "cutoff",
        "downgrade",
    }:
        assert f"`{name}`" in page, name


def test_the_program(small: Path, tmp_path: Path) -> None:
    (program,) = blocks("programs.md", "python")
    shutil.copytree(small, tmp_path / "runs" / "mine")
    assert re.match(r"(up|right|down|left) \{'up'", execute([sys.executable, "-c", program], tmp_path))


def test_the_match(tmp_path: Path) -> None:
    """A network that knows nothing takes the first slide of those that are worth the same."""
    (text,) = blocks("programs.md")
    save_model(Network(make("2048"), "01"), tmp_path / "model.safetensors")
    lines = [line[2:] for line in text.splitlines() if line.startswith("> ")]
    told = [line[2:] for line in text.splitlines() if line.startswith("< ")]
    assert len(lines) + len(told) == len(text.splitlines())
    assert command(tmp_path, "arena", "model.safetensors", lines="\n".join(lines) + "\n") == told


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder after the commands of docs/formats.md."""
    folder = tmp_path_factory.mktemp("formats")
    for line in blocks("formats.md")[0].splitlines():
        assert execute(shlex.split(line), folder).strip(), line
    return folder


def test_the_conversions(converted: Path) -> None:
    best = load_model(converted / "runs" / "small" / "checkpoints" / "best.safetensors")
    assert best.weights.any()
    for name in ("small.w", "small.safetensors", "small.bin", "weights.bin", "again.safetensors"):
        assert load_model(converted / name).weights.tobytes() == best.weights.tobytes(), name
    assert (converted / "last.w").stat().st_size > 2 * (converted / "small.w").stat().st_size


def test_the_program_of_formats(tmp_path: Path) -> None:
    (program,) = blocks("formats.md", "python")
    assert execute([sys.executable, "-c", program], tmp_path) == ""
