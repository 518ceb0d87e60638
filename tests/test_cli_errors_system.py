"""Errors of the system: folders that cannot be written, no memory, a full disk, and output that nobody reads."""

import os
import re
import shutil
import tomllib
import tracemalloc
from pathlib import Path

import pytest

from afterstate import memory
from afterstate.cli.main import Exit
from commandline import LONG, PROGRAM, SMALL, TINY, Result, check, contents, done, learned, no_traceback, process, run, run_here

small = run_here  # the fixture: in this file, a copy in the current folder


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


@pytest.mark.parametrize("place", [*NOWHERE, "nosuch/{}", "folder.html"])
def test_a_page_that_cannot_be_written(place: str, small: Path, tmp_path: Path) -> None:
    Path("file.txt").write_text("mine")
    Path("folder.html").mkdir()
    before = contents(tmp_path)
    name = place.format("page.html")
    check(run("report", "small", "-o", name), Exit.FILE, name)
    assert contents(tmp_path) == before


# --- memory ----------------------------------------------------------------------------------------------------------


def test_a_network_larger_than_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = min(memory.free_memory(), 8 * 2**30)
    monkeypatch.setattr(memory, "free_memory", lambda: free)
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
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
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
    """Metrics cannot be written but checkpoints can: what was learned is not lost."""
    size = (small / "metrics.jsonl").stat().st_size
    result = limited(size + 10, "train", "--run", "small", "--resume", "--games", "600", "--quiet")
    no_traceback(result)
    assert result.code == Exit.RESOURCE, result.err
    assert not list(small.rglob("*.partial"))
    done("train", "--run", "small", "--resume", "--games", "600")


def test_games_that_have_no_room_leave_the_file_before(small: Path) -> None:
    Path("games.txt").write_text("mine")
    result = limited(2**16, "eval", "small", "--games", "100", "--threads", "1", "--save", "games.txt", "--force")
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
    """`afterstate info | head -1` ends as a program that SIGPIPE has ended."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        result = process(PROGRAM[-1], *arguments, stdout=writer)
    finally:
        os.close(writer)
    assert (result.code, result.error) == (Exit.UNREAD, "")


def test_a_run_whose_reader_has_left_goes_on_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    try:
        result = process(PROGRAM[-1], *SMALL, "--run", "run", stdout=writer)
    finally:
        os.close(writer)
    assert result.code == Exit.INTERRUPTED
    assert "since nobody reads the output any more" in result.error
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


# --- Ctrl-C before anything has happened -----------------------------------------------------------------------------

STOP = """
import sys

class Stop:
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Stop())
"""


@pytest.mark.parametrize("module", ["afterstate.cli.main", "typer", "afterstate.units", "rich.console", "numpy", "numba"])
def test_ctrl_c_while_the_program_is_loaded(module: str) -> None:
    """The import of this module is where Ctrl-C finds it."""
    result = process(STOP.format(module=module) + PROGRAM[-1], "perft", "2048", "--depth", "1")
    assert result.code == Exit.INTERRUPTED, result.err
    assert result.error in {"", "error: interrupted\n"}


def test_the_program_begins_where_ctrl_c_is_expected() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"afterstate": "afterstate.__main__:main"}
    loaded = process("import sys; before = set(sys.modules); import afterstate; print(*sorted(set(sys.modules) - before))").out
    assert loaded.split() == ["afterstate"]
