"""One writer: a run is trained by one process at a time, and files that several write at once are never mixed."""

import os
import subprocess
from pathlib import Path

import pytest

from afterstate.cli.main import Exit
from afterstate.errors import FileError
from afterstate.files import atomic_write, hold_folder, is_held
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.trainer import resume
from afterstate.network.modelfile import read_training
from commandline import PROGRAM, TRAIN, check, run
from test_saving import wait_for


def test_a_run_has_one_writer(tmp_path: Path) -> None:
    """A second process that resumes it is refused, and changes nothing; after a SIGKILL the run is free."""
    folder = tmp_path / "run"
    command = [*PROGRAM, *TRAIN, "--games", "10M", "--block", "300", "--save-every", "1", "--run", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for((folder / "checkpoints" / "last.safetensors").exists, process)
        check(run("train", "--run", folder, "--resume"), Exit.FILE, "is being trained by another process")
        with pytest.raises(FileError, match="being trained"):
            resume(folder)
        process.kill()
        process.communicate()
    left = folder / "checkpoints" / ".last.safetensors.0123abcd.partial"
    left.write_bytes(b"cut off")
    games = read_training(RunFolder(folder).last).games
    again = resume(folder, {"games": games + 10})
    assert again.games == games + 10
    assert not left.exists()


def test_writers_of_one_file_do_not_mix(tmp_path: Path) -> None:
    """Each has a partial file of its own; the last one to end wins, whole."""
    path = tmp_path / "file"
    with atomic_write(path) as one:
        one.write(b"1" * 10)
        with atomic_write(path) as other:
            other.write(b"2" * 20)
        one.write(b"1" * 10)
        assert path.read_bytes() == b"2" * 20
    assert path.read_bytes() == b"1" * 20
    assert os.listdir(tmp_path) == ["file"]


def test_who_only_looks_holds_nobody_up(tmp_path: Path) -> None:
    assert not is_held(tmp_path)
    with hold_folder(tmp_path) as free:
        assert free
        assert is_held(tmp_path)
        with hold_folder(tmp_path) as second:
            assert not second
    assert not is_held(tmp_path)
    with pytest.raises(FileError, match="cannot open"):
        is_held(tmp_path / "nothing")
