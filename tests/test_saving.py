"""Nothing that was learned is lost: checkpoints inside blocks, and a last one before a run ends for whatever reason."""

import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from afterstate.cli.main import Exit
from afterstate.engine.workers import Workers, stop_on_signal
from afterstate.errors import ResourceError
from afterstate.games.results import Summary
from afterstate.learning.keeper import InFolder
from afterstate.learning.options import TrainOptions
from afterstate.learning.progress import Listener, Progress
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.runlog import RunLog
from afterstate.learning.team import Team
from afterstate.learning.trainer import Run, Trainer, resume, train
from afterstate.network.modelfile import read_training
from commandline import PATIENCE, PROGRAM, SMALL, TRAIN, contents, done, learned, run


def options(**given: Any) -> TrainOptions:
    defaults: dict[str, Any] = {"network": "0123,4567", "games": 1000, "block": 200, "threads": 1, "seed": 3}
    return TrainOptions(**(defaults | given))


def measured(run: Run) -> list[dict[str, Any]]:
    clock = {"seconds", "moves_per_s", "training_seconds"}
    return [{key: value for key, value in record.items() if key not in clock} for record in run.metrics]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """An undisturbed run, to compare with."""
    return train(options(), run=tmp_path_factory.mktemp("runs") / "whole")


def check_equal(one: Run, other: Run) -> None:
    """Two runs have learned and measured the same, bit for bit."""
    assert np.array_equal(one.last.weights, other.last.weights)
    assert measured(one) == measured(other)
    assert RunFolder(one.folder).games.read_bytes() == RunFolder(other.folder).games.read_bytes()
    assert RunFolder(one.folder).best_so_far() == RunFolder(other.folder).best_so_far()


# --- checkpoints by time ---------------------------------------------------------------------------------------------


@pytest.fixture
def saves(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The games at which checkpoints were written."""
    written: list[int] = []
    save = Trainer.save

    def noted(self: Trainer) -> None:
        save(self)
        written.append(self.state.games)

    monkeypatch.setattr(Trainer, "save", noted)
    monkeypatch.setattr("afterstate.engine.workers.TICK", 0.01)
    return written


def test_checkpoints_come_inside_a_block(saves: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of one block: checkpoints on the way change nothing of what is learned."""
    monkeypatch.setattr("afterstate.learning.trainer.SAVE_SHARE", 1.0)
    often = train(options(games=3000, block=3000, save_every=0.02), run=tmp_path / "often")
    assert len([games for games in saves if 0 < games < 3000]) >= 2
    saves.clear()
    rarely = train(options(games=3000, block=3000), run=tmp_path / "rarely")
    assert saves == [3000]
    check_equal(often, rarely)


def test_the_first_checkpoint_comes_soon(saves: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long before the others."""
    from afterstate.learning import trainer

    assert trainer.FIRST_SAVE <= 5.0
    monkeypatch.setattr(trainer, "FIRST_SAVE", 0.02)
    train(options(games=3000, block=3000, save_every=100.0), run=tmp_path / "run")
    assert len(saves) == 2
    assert 0 < saves[0] < 3000


def test_checkpoints_take_little_of_the_time(saves: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After one that took long, the next one has to wait."""
    monkeypatch.setattr("afterstate.learning.trainer.SAVE_SHARE", 1e-9)
    train(options(games=3000, save_every=0.02), run=tmp_path / "run")
    assert len(saves) == 2  # the first, and the one at the end


def test_a_run_that_is_killed_inside_its_first_block_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = [*PROGRAM, *TRAIN, "--games", "1M", "--block", "1M", "--save-every", "0.2", "--run", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        wait_for((folder / "checkpoints" / "last.safetensors").exists, process)
        process.kill()
    games = read_training(folder / "checkpoints" / "last.safetensors").games
    assert games > 0
    result = done("train", "--run", folder, "--resume", "--games", str(games + 50))
    assert result.out.startswith(f"{folder} goes on at game {games:,} of {games + 50:,}\n")
    done(*TRAIN, "--games", str(games + 50), "--block", "1M", "--run", tmp_path / "whole")
    for name in ("0123", "4567"):
        assert learned(folder)[0][name] == learned(tmp_path / "whole")[0][name]
    assert (folder / "games.bin").read_bytes() == (tmp_path / "whole" / "games.bin").read_bytes()


def wait_for(condition: Callable[[], bool], process: "subprocess.Popen[Any]") -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.005)


def test_how_often_to_save_may_change(copy: Path) -> None:
    done("train", "--run", copy, "--resume", "--games", "310", "--save-every", "10m")
    assert RunFolder(copy).read_config().save_every == 600.0
    assert run("train", "--run", copy, "--resume", "--save-every", "0").code == Exit.INPUT


# --- errors ----------------------------------------------------------------------------------------------------------


class Fails(Listener):
    """Raises an error after some games, at the end of a block or in the middle of one."""

    def __init__(self, games: int, *, in_block: bool) -> None:
        self.games = games
        self.in_block = in_block

    def on_progress(self, progress: Progress) -> None:
        if self.in_block and progress.games >= self.games:
            raise RuntimeError("a bug in a display")

    def on_block(self, games: int, block: Summary) -> None:
        if not self.in_block and games >= self.games:
            raise RuntimeError("a bug in a display")


@pytest.mark.parametrize("in_block", [True, False])
def test_an_error_of_a_listener_loses_nothing(in_block: bool, whole: Run, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="a bug in a display"):
        train(options(), run=tmp_path / "run", listener=Fails(300, in_block=in_block))
    assert read_training(RunFolder(tmp_path / "run").last).games >= 300
    check_equal(resume(tmp_path / "run"), whole)


def test_an_error_of_a_thread_loses_nothing(whole: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play = Team._play

    def fail_once(self: Team, thread: int, first: int, results: Any) -> int:
        if first >= 500:
            raise MemoryError
        return play(self, thread, first, results)

    monkeypatch.setattr(Team, "_play", fail_once)
    with pytest.raises(MemoryError):
        train(options(), run=tmp_path / "run")
    assert read_training(RunFolder(tmp_path / "run").last).games == 500
    monkeypatch.setattr(Team, "_play", play)
    check_equal(resume(tmp_path / "run"), whole)


@pytest.mark.parametrize("place", ["add", "add_games"])
def test_a_full_disk_loses_nothing(place: str, whole: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measurements that cannot be written stop the run; a resume measures the block again."""
    write = getattr(RunLog, place)
    calls = 0

    def fail(*given: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise ResourceError("no room")
        write(*given)

    monkeypatch.setattr(RunLog, place, fail)
    with pytest.raises(ResourceError, match="no room"):
        train(options(), run=tmp_path / "run")
    monkeypatch.setattr(RunLog, place, write)
    again = resume(tmp_path / "run")
    assert np.array_equal(again.last.weights, whole.last.weights)
    assert measured(again) == measured(whole)


def test_a_full_disk_while_the_best_is_saved(whole: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The block is in the metrics already: a resume must not have it twice."""
    save = InFolder.keep_best

    def fail(self: InFolder, *given: Any) -> None:
        raise ResourceError("no room")

    monkeypatch.setattr(InFolder, "keep_best", fail)
    with pytest.raises(ResourceError, match="no room"):
        train(options(), run=tmp_path / "run")
    assert len(RunFolder(tmp_path / "run").read_metrics()) == 1
    monkeypatch.setattr(InFolder, "keep_best", save)
    check_equal(resume(tmp_path / "run"), whole)


def test_a_block_that_is_judged_by_a_resume_has_its_own_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The block was complete and saved, but not judged; a resume judges it before it plays."""
    falling = options(schedule="50%:0.05")
    close = Trainer._close_block

    def fail(self: Trainer) -> None:
        if self.state.games == 800:
            raise RuntimeError("no time to judge")
        close(self)

    monkeypatch.setattr(Trainer, "_close_block", fail)
    with pytest.raises(RuntimeError, match="no time"):
        train(falling, run=tmp_path / "run")
    monkeypatch.setattr(Trainer, "_close_block", close)
    check_equal(resume(tmp_path / "run"), train(falling, run=tmp_path / "whole"))


def test_an_error_of_a_display_ends_all_threads() -> None:
    """No game begins after the error was raised."""
    played = 0

    def play(thread: int, first: int, count: int) -> int:
        nonlocal played
        time.sleep(0.005)
        played += count
        return count

    def on_tick(share: Any) -> None:
        raise ValueError("no screen")

    with pytest.raises(ValueError, match="no screen"):
        Workers(2, threading.Event()).run(play, 0, 10**6, on_tick=on_tick)
    before = played
    time.sleep(0.05)
    assert played == before < 10**6


# --- a closed terminal, a closed pipe ----------------------------------------------------------------------------------


def test_a_closed_terminal_stops_a_run_cleanly(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = [*PROGRAM, *TRAIN, "--games", "4k", "--block", "300", "--run", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for((folder / "metrics.jsonl").exists, process)
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == Exit.INTERRUPTED
    assert f"continue: afterstate train --run {folder} --resume" in out
    assert "goes on at game" in done("train", "--run", folder, "--resume").out
    done(*TRAIN, "--games", "4k", "--block", "300", "--run", tmp_path / "whole")
    assert learned(folder) == learned(tmp_path / "whole")


def test_a_terminal_that_is_gone(tmp_path: Path) -> None:
    """The terminal disappears under the live display: nobody can read a word, but everything is saved."""
    folder = tmp_path / "run"
    command = [*PROGRAM, *TRAIN, "--games", "100k", "--block", "300", "--run", str(folder)]
    master, terminal = os.openpty()
    process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)
    os.close(terminal)
    drain = threading.Thread(target=read_all, args=(master, folder / "metrics.jsonl"))
    drain.start()
    drain.join(PATIENCE)
    process.send_signal(signal.SIGHUP)  # the terminal is not its own, so the system does not send it
    assert process.wait(PATIENCE) == Exit.INTERRUPTED
    assert read_training(folder / "checkpoints" / "last.safetensors").games >= 300


def read_all(master: int, until: Path) -> None:
    """Read what is written to a terminal until a file appears, then close the terminal."""
    while not until.exists():
        os.read(master, 65536)
    os.close(master)


def test_hang_ups_that_are_ignored_stay_ignored() -> None:
    """With nohup, a run goes on when the terminal is closed."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stop = threading.Event()
    try:
        with stop_on_signal(stop):
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stop.wait(0.01)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("more", [[], ["--json"]], ids=" ".join)
def test_a_reader_that_leaves_stops_a_run_cleanly(more: list[str], tmp_path: Path) -> None:
    """`train | head -1`: the run is saved, and standard error says so."""
    folder = tmp_path / "run"
    command = [*PROGRAM, *TRAIN, "--games", "4k", "--block", "300", "--run", str(folder), *more]
    where = {"stderr" if more else "stdout": subprocess.PIPE, "stdout" if more else "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **where) as process:  # type: ignore[call-overload]
        read, told = (process.stderr, process.stdout) if more else (process.stdout, process.stderr)
        while "avg" not in read.readline():
            pass
        read.close()
        words = told.read()
        assert process.wait(PATIENCE) == Exit.INTERRUPTED
    if not more:
        assert re.search(r"^stopped at \d+ games after .*, since nobody reads the output any more$", words, re.MULTILINE)
        assert f"continue: afterstate train --run {folder} --resume" in words
        assert "Traceback" not in words
    done("train", "--run", folder, "--resume")
    done(*TRAIN, "--games", "4k", "--block", "300", "--run", tmp_path / "whole")
    assert learned(folder) == learned(tmp_path / "whole")


# --- what a resume says and keeps --------------------------------------------------------------------------------------


def test_a_resume_says_where_it_starts(copy: Path) -> None:
    assert done("train", "--run", copy, "--resume", "--games", "350").out.startswith(f"{copy} goes on at game 300 of 350\n")
    assert "goes on at game 350" in run("train", "--run", copy, "--resume", "--json").error


def test_metrics_without_a_checkpoint_are_kept(copy: Path, small: Path) -> None:
    """A run that starts again says so, and keeps what it had measured."""
    before = contents(copy)
    for number in (1, 2):
        (copy / "checkpoints" / "last.safetensors").unlink()
        result = done("train", "--run", copy, "--resume")
        aside = copy / f"before-{number}"
        words = f"{copy} has no checkpoint, so it starts again at game 0; what it had measured is now in {aside}\n"
        assert result.out.startswith(words)
        assert set(contents(aside)) == {"metrics.jsonl", "metrics.csv", "games.bin"}
    for name in ("metrics.jsonl", "metrics.csv", "games.bin"):
        assert contents(copy)[f"before-1/{name}"] == before[name]
    assert learned(copy) == learned(small)


def test_a_resume_makes_missing_folders_again(copy: Path) -> None:
    shutil.rmtree(copy / "report")
    done("train", "--run", copy, "--resume", "--games", "350")
    assert (copy / "report" / "curve.png").is_file()
    shutil.rmtree(copy / "checkpoints")
    done("train", "--run", copy, "--resume")
    assert (copy / "checkpoints" / "last.safetensors").is_file()


# --- unnamed runs --------------------------------------------------------------------------------------------------------


def test_runs_that_start_together_have_folders_of_their_own(tmp_path: Path) -> None:
    """Both have chosen the same name before either has made it."""
    folders = [RunFolder.plan(None, options(), root=tmp_path / "runs") for _ in range(3)]
    assert len({folder.path for folder in folders}) == 1
    for folder in folders:
        folder.make(options())
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [f"2048-0123-4567-td-{n}" for n in (1, 2, 3)]
    assert all(folder.config.is_file() and folder.metrics.parent == folder.path for folder in folders)


def test_of_two_runs_with_one_name_the_second_fails(tmp_path: Path) -> None:
    folders = [RunFolder.plan(tmp_path / "run", options()) for _ in range(2)]
    folders[0].make(options())
    with pytest.raises(Exception, match="exists"):
        folders[1].make(options(seed=4))
    assert folders[0].read_config().seed == 3


def test_processes_that_start_together_have_folders_of_their_own(tmp_path: Path) -> None:
    command = [*PROGRAM, *SMALL, "--quiet"]
    started = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    for process in started:
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        assert "done at 300 games" in out
    assert len(list((tmp_path / "runs").iterdir())) == 2
