"""What a run keeps when it is complete: enough to play, and all of it only if it was asked to."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from safetensors import safe_open

import afterstate as af
from afterstate.cli.main import Exit
from afterstate.errors import FileError
from afterstate.learning.options import TrainOptions
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.trainer import Run, resume, train
from commandline import TRAIN, check, done, learned, run
from listeners import StopAt

OPTIONS: dict[str, Any] = {"network": "0123,4567", "method": "tc", "threads": 1, "block": 100}


@pytest.fixture(scope="module")
def slim(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train(TrainOptions(games=300, **OPTIONS), run=tmp_path_factory.mktemp("keep") / "slim")


def names(folder: Path) -> set[str]:
    with safe_open(str(RunFolder(folder).last), framework="numpy") as file:
        return set(file.keys())


def test_a_complete_run_keeps_what_play_needs(slim: Run) -> None:
    last, best = RunFolder(slim.folder).last.stat().st_size, RunFolder(slim.folder).best.stat().st_size
    assert last < 1.2 * best
    assert slim.dropped == 2 * slim.last.weights.nbytes
    assert (af.load(RunFolder(slim.folder).last).weights == slim.last.weights).all()
    assert af.load(slim.folder).training.block is not None


def test_all_is_kept_if_asked_for_and_can_be_continued(slim: Run, tmp_path: Path) -> None:
    kept = train(TrainOptions(games=200, keep=True, **OPTIONS), run=tmp_path / "kept")
    assert (kept.dropped, kept.stopped) == (0, False)
    assert RunFolder(kept.folder).last.stat().st_size > 2.5 * RunFolder(kept.folder).best.stat().st_size
    longer = resume(kept.folder, {"games": 300})
    assert (longer.last.weights == slim.last.weights).all(), "the run without a break"
    assert names(longer.folder) > names(slim.folder), "it goes on to keep all"


def test_a_run_that_is_stopped_keeps_all(slim: Run, tmp_path: Path) -> None:
    halt = StopAt(40)
    stopped = train(TrainOptions(games=300, **OPTIONS), run=tmp_path / "run", listener=halt, stop=halt.stop)
    assert stopped.stopped
    assert names(stopped.folder) > names(slim.folder)
    again = resume(stopped.folder)
    assert learned(again.folder) == learned(slim.folder)


def test_a_resume_of_what_was_not_kept_says_how_to_go_on(slim: Run, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(slim.folder, tmp_path / "my run"))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(FileError, match=r"complete after 300 games .*--keep .* afterstate train --from '.*my run'"):
        resume(folder, {"games": 400})
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert resume(folder).games == 300, "there is nothing to do"
    assert names(folder) == names(slim.folder)
    assert train(TrainOptions(games=100, from_=str(folder), **OPTIONS), run=tmp_path / "next").games == 100


def test_the_command_says_what_it_has_not_kept(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    out = done(*TRAIN, "--method", "tc", "--games", "10", "--run", folder).out
    assert f"not kept: 1 MiB that only a resume needs (--keep keeps them); train on: afterstate train --from {folder}\n" in out
    check(run("train", "--run", folder, "--resume", "--games", "20"), Exit.FILE, "--keep", "--from")
    kept = done(*TRAIN, "--method", "tc", "--games", "10", "--keep", "--run", tmp_path / "kept").out
    assert "not kept" not in kept
    done("train", "--run", tmp_path / "kept", "--resume", "--games", "20")
    assert "not kept" not in done(*TRAIN, "--games", "10", "--run", tmp_path / "td").out
    done("train", "--run", tmp_path / "td", "--resume", "--games", "20")
