"""A disk that is full or read-only in the middle of a training, a folder that is moved or deleted under it: nothing is lost."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from afterstate.cli.main import Exit
from nursery import Nursery
from runs import begin, check_complete, saved_games


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own, in memory."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", place], capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a disk")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def fill(disk: Path) -> None:
    with open(disk / "filler", "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 2**12)


@pytest.mark.parametrize("kind", ["td", "tc"])
def test_a_disk_that_fills_up(kind: str, disk: Path, nursery: Nursery, whole: dict[str, Path]) -> None:
    folder = disk / "run"
    child = begin(nursery, kind, folder)
    assert child.wait_until(lambda: saved_games(folder))
    fill(disk)
    assert child.wait() == Exit.RESOURCE, child.log.read_text()
    assert "error: " in child.log.read_text()
    assert saved_games(folder) > 0
    (disk / "filler").unlink()
    assert begin(nursery, kind, folder).wait() == Exit.DONE
    check_complete(kind, folder, whole[kind])


def test_a_disk_that_becomes_read_only(disk: Path, nursery: Nursery, whole: dict[str, Path]) -> None:
    folder = disk / "run"
    child = begin(nursery, "td", folder)
    assert child.wait_until(lambda: saved_games(folder))
    while subprocess.run(["mount", "-o", "remount,ro", disk], capture_output=True, check=False).returncode:
        pass  # a file is open for writing just now
    assert child.wait() in {Exit.RESOURCE, Exit.FILE}, child.log.read_text()
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    assert begin(nursery, "td", folder).wait() == Exit.DONE
    check_complete("td", folder, whole["td"])


def test_a_folder_that_is_moved(tmp_path: Path, nursery: Nursery, whole: dict[str, Path]) -> None:
    child = begin(nursery, "td", tmp_path / "run")
    assert child.wait_until(lambda: saved_games(tmp_path / "run"))
    os.rename(tmp_path / "run", tmp_path / "moved")
    assert child.wait() in {Exit.RESOURCE, Exit.FILE}, child.log.read_text()
    assert not (tmp_path / "run").exists()
    assert begin(nursery, "td", tmp_path / "moved").wait() == Exit.DONE
    check_complete("td", tmp_path / "moved", whole["td"])


def test_a_folder_that_is_deleted(tmp_path: Path, nursery: Nursery) -> None:
    """What is gone is gone; the training ends with a word about it."""
    child = begin(nursery, "td", tmp_path / "run")
    assert child.wait_until(lambda: saved_games(tmp_path / "run"))
    shutil.rmtree(tmp_path / "run", ignore_errors=True)
    assert child.wait() in {Exit.RESOURCE, Exit.FILE}, child.log.read_text()
    assert str(tmp_path / "run") in child.log.read_text()
