"""Training runs: exact with one thread, safe with two, and nothing lost at a stop."""

import json
import shutil
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from afterstate.engine.workers import Workers
from afterstate.errors import FileError, InputError, ResourceError
from afterstate.games.results import Summary
from afterstate.learning.options import TrainOptions
from afterstate.learning.progress import Listener, Progress
from afterstate.learning.runfolder import RunFolder, find_model
from afterstate.learning.team import WARM_UP
from afterstate.learning.trainer import Run, resume, train
from afterstate.network.modelfile import load_model, read_header, save_model
from afterstate.threads import count_threads
from commandline import PROGRAM, done, process
from listeners import StopAt

SMALL = "0123,4567"


def options(**given: Any) -> TrainOptions:
    """A run that takes a tenth of a second."""
    defaults: dict[str, Any] = {"network": SMALL, "games": 400, "block": 100, "threads": 1, "seed": 3}
    return TrainOptions(**(defaults | given))


def measured(run: Run) -> list[dict[str, Any]]:
    """The metrics without times."""
    clock = {"seconds", "moves_per_s", "training_seconds"}
    return [{key: value for key, value in record.items() if key not in clock} for record in run.metrics]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """An undisturbed run, to compare with."""
    return train(options(games=2000, eval_every=500, eval_games=20), run=tmp_path_factory.mktemp("runs") / "whole")


def test_a_run_folder_holds_everything(whole: Run) -> None:
    names = {path.relative_to(whole.folder).as_posix() for path in whole.folder.rglob("*") if path.is_file()}
    measurements = {"metrics.jsonl", "metrics.csv", "games.bin"}
    assert names == {"config.toml", *measurements, "checkpoints/last.safetensors", "checkpoints/best.safetensors"}
    assert RunFolder(whole.folder).read_config() == options(
        games=2000, eval_every=500, eval_games=20, rules="standard", symmetry=8, alpha=0.1, context=""
    )
    blocks = [record for record in whole.metrics if record["kind"] == "block"]
    assert [block["games"] for block in blocks] == list(range(100, 2001, 100))
    assert [record["games"] for record in whole.metrics if record["kind"] == "eval"] == [500, 1000, 1500, 2000]
    assert all(record["count"] == 20 for record in whole.metrics if record["kind"] == "eval")
    assert np.array_equal(load_model(find_model(whole.folder / "checkpoints/last.safetensors")).weights, whole.last.weights)


def test_it_learns(whole: Run) -> None:
    blocks = [record["mean"] for record in whole.metrics if record["kind"] == "block"]
    assert np.mean(blocks[-3:]) > 1.5 * blocks[0]


def test_one_thread_and_one_seed_are_one_run(whole: Run, tmp_path: Path) -> None:
    again = train(options(games=2000), run=tmp_path / "again")
    assert np.array_equal(again.last.weights, whole.last.weights), "evaluations must not disturb the learning"
    other = train(options(games=2000, seed=4), run=tmp_path / "other")
    assert not np.array_equal(other.last.weights, whole.last.weights)


@pytest.mark.parametrize("game", ["2048", "threes"])
def test_the_same_code_runs_as_plain_python(tmp_path: Path, game: str) -> None:
    """Without the compiler every kernel is an ordinary function, and what it learns is the same, bit for bit."""
    command = ("train", game, "--network", "01,45", "--games", "3", "--threads", "1", "--seed", "5", "--quiet", "--run")
    watched = f"import numba; assert numba.config.DISABLE_JIT; {PROGRAM[-1]}"
    plain = process(watched, *command, tmp_path / "plain", NUMBA_DISABLE_JIT="1")
    assert plain.code == 0, plain.err
    done(*command, tmp_path / "compiled")
    one, other = (load_file(tmp_path / name / "checkpoints" / "last.safetensors") for name in ("plain", "compiled"))
    for pattern in ("01", "45"):
        assert one[pattern].any()
        assert one[pattern].dtype == other[pattern].dtype
        assert one[pattern].tobytes() == other[pattern].tobytes()


@pytest.mark.parametrize("order", ["forward", "backward"])
@pytest.mark.parametrize("target", ["afterstate", "state"])
def test_a_stopped_run_goes_on_exactly(tmp_path: Path, order: str, target: str) -> None:
    """Stopped in the middle of a block, twice: weights and metrics are those of an undisturbed run, bit for bit."""
    given = {"order": order, "target": target, "games": 300, "block": 130, "schedule": "50:0.2,200:0.05"}
    undisturbed = train(options(**given), run=tmp_path / "undisturbed")
    halts = StopAt(40)
    stopped = train(options(**given), run=tmp_path / "stopped", listener=halts, stop=halts.stop)
    assert stopped.stopped
    assert 0 < stopped.games < 300
    for games in (stopped.games + 20, 10**9):
        halts = StopAt(games)
        stopped = resume(tmp_path / "stopped", listener=halts, stop=halts.stop)
    assert not stopped.stopped
    assert stopped.games == 300
    assert np.array_equal(stopped.last.weights, undisturbed.last.weights)
    assert measured(stopped) == measured(undisturbed)


def test_a_run_can_be_made_longer(whole: Run, tmp_path: Path) -> None:
    train(options(games=900, eval_every=500, eval_games=20), run=tmp_path / "run")
    longer = resume(tmp_path / "run", {"games": 2000})
    assert np.array_equal(longer.last.weights, whole.last.weights)
    assert measured(longer) == measured(whole)
    assert RunFolder(tmp_path / "run").read_config().games == 2000


def test_measurements_after_the_checkpoint_are_dropped(whole: Run, tmp_path: Path) -> None:
    """A run that was killed after a block and before a checkpoint measures that block again."""
    train(options(games=1000, eval_every=500, eval_games=20), run=tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    folder.append(folder.read_metrics()[0] | {"games": 1100, "mean": -1})
    with open(folder.metrics, "a") as file:
        file.write('{"kind": "bl')  # cut off
    assert measured(resume(tmp_path / "run", {"games": 2000})) == measured(whole)


def test_a_killed_run_without_a_checkpoint_starts_again(tmp_path: Path) -> None:
    finished = train(options(), run=tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    folder.last.unlink()
    again = resume(tmp_path / "run")
    assert np.array_equal(again.last.weights, finished.last.weights)
    assert len(again.metrics) == 4


# --- the best checkpoint -------------------------------------------------------------------------------------------------


def test_the_best_block_is_kept(whole: Run) -> None:
    """The best checkpoint is the network at the end of the block with the highest mean."""
    blocks = [record for record in whole.metrics if record["kind"] == "block"]
    top = max(blocks, key=lambda block: float(block["mean"]))
    kept = json.loads(read_header(RunFolder(whole.folder).best)["training"])
    assert kept["block"] == {key: top[key] for key in ("games", "win_rate", "mean", "count")}
    assert kept["games"] == top["games"]


def test_the_best_checkpoint_is_the_network_of_that_game(whole: Run, tmp_path: Path) -> None:
    folder = RunFolder(whole.folder)
    games = json.loads(read_header(folder.best)["training"])["games"]
    until = train(options(games=games), run=tmp_path / "until")
    assert np.array_equal(load_model(folder.best).weights, until.last.weights)


def test_a_worse_block_never_overwrites_the_best(tmp_path: Path) -> None:
    """A resumed run whose blocks are worse than the best found before leaves that one alone."""
    run = train(options(games=1500), run=tmp_path / "run")
    folder = RunFolder(run.folder)
    network, best = load_model(folder.best), folder.best_so_far()
    assert best is not None
    network.training = replace(network.training, block=replace(best, mean=10 * best.mean))
    save_model(network, folder.best)  # as if a block had been much better
    before = folder.best.read_bytes()
    assert (folder.best_so_far() or best).mean > best.mean
    resume(run.folder, {"games": 2500})
    assert folder.best.read_bytes() == before


def test_a_run_is_offered_by_its_best(whole: Run, tmp_path: Path) -> None:
    assert find_model(whole.folder) == RunFolder(whole.folder).best
    halts = StopAt(1)
    short = train(options(games=5000, block=5000), run=tmp_path / "short", listener=halts, stop=halts.stop)
    assert find_model(short.folder) == RunFolder(short.folder).last, "no block was finished"


# --- threads, time, schedules ----------------------------------------------------------------------------------------------


def test_two_threads_learn_as_one_does(tmp_path: Path) -> None:
    """Four runs of each: no run with two threads falls behind, which lost updates on a fresh network would cause."""

    def final(threads: int, seed: int) -> float:
        games = 6 * WARM_UP
        run = train(options(games=games, block=WARM_UP, threads=threads, seed=seed), run=tmp_path / f"{threads}-{seed}")
        return float(run.metrics[-1]["mean"])

    one = [final(1, seed) for seed in range(4)]
    two = [final(2, seed) for seed in range(4)]
    assert min(two) > 0.8 * np.mean(one)


def test_time_ends_a_run(tmp_path: Path) -> None:
    run = train(TrainOptions(network=SMALL, time=0.5, threads=2, block=200), run=tmp_path / "run")
    assert not run.stopped
    assert 0.5 <= run.seconds < 5
    assert run.games > 0


def test_the_learning_rate_changes_at_its_game(tmp_path: Path) -> None:
    """A step to a tiny rate after game 150 freezes the network there."""
    whole = train(options(games=150), run=tmp_path / "until")
    stepped = train(options(games=400, schedule="150:1e-30"), run=tmp_path / "stepped")
    np.testing.assert_allclose(stepped.last.weights, whole.last.weights, atol=1e-20)
    rates = [record["alpha"] for record in stepped.metrics]
    assert rates == [0.1, 1e-30, 1e-30, 1e-30]


def test_a_block_is_never_longer_than_the_run(tmp_path: Path) -> None:
    run = train(options(games=30, block=1000), run=tmp_path / "run")
    assert [record["games"] for record in run.metrics] == [30]


def test_progress_is_told(tmp_path: Path) -> None:
    class Hears(Listener):
        told: list[Progress] = []
        blocks: list[int] = []

        def on_progress(self, progress: Progress) -> None:
            self.told.append(progress)

        def on_block(self, games: int, block: Summary) -> None:
            self.blocks.append(games)

    train(options(games=300, eval_every=300, eval_games=5), run=tmp_path / "run", listener=Hears())
    assert Hears.blocks == [100, 200, 300]
    assert {progress.doing for progress in Hears.told} == {"training", "evaluating"}
    assert all(0 <= progress.games <= 300 for progress in Hears.told)
    assert Hears.told[-1].games == 300


def test_a_failing_worker_is_heard() -> None:
    """An error in a thread reaches the caller, and the others stop."""

    def play(thread: int, first: int, count: int) -> int:
        raise ValueError(f"game {first}")

    with pytest.raises(ValueError, match="game"):
        Workers(2, threading.Event()).run(play, 0, 100)


def test_every_game_is_handed_out_once() -> None:
    played: list[int] = []
    lock = threading.Lock()

    def play(thread: int, first: int, count: int) -> int:
        with lock:
            played.extend(range(first, first + count))
        return count

    assert Workers(3, threading.Event()).run(play, 10, 1000) == 1000
    assert sorted(played) == list(range(10, 1010))


def test_the_number_of_threads() -> None:
    assert count_threads(None) >= 1
    assert count_threads(5) == 5
    for wrong in (0, -1, 1000):
        with pytest.raises(InputError, match="threads"):
            count_threads(wrong)


# --- what is refused -----------------------------------------------------------------------------------------------------


def test_a_run_that_exists(whole: Run, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="--resume"):
        train(options(), run=whole.folder)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("do not lose me")
    with pytest.raises(FileError, match="is not a run"):
        train(options(), run=tmp_path / "other")
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("given", [{"alpha": 0.2}, {"network": "0123"}, {"seed": 9}, {"order": "backward"}, {"block": 50}])
def test_a_resume_that_contradicts(whole: Run, given: dict[str, Any]) -> None:
    before = (whole.folder / "config.toml").read_bytes()
    with pytest.raises(InputError, match="leave --"):
        resume(whole.folder, given)
    assert (whole.folder / "config.toml").read_bytes() == before


def test_a_schedule_in_percent_holds_the_number_of_games(tmp_path: Path) -> None:
    train(options(schedule="50%:0.01"), run=tmp_path / "run")
    with pytest.raises(InputError, match="percent"):
        resume(tmp_path / "run", {"games": 800})


def test_no_room_on_the_disk_is_told_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It requires room for three checkpoints; only the system's answer is faked."""

    class Usage:
        free = 1000

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage)
    with pytest.raises(ResourceError, match="MiB"):
        train(options(), run=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_model_is_not_a_checkpoint(whole: Run, tmp_path: Path) -> None:
    run = train(options(), run=tmp_path / "run")
    folder = RunFolder(run.folder)
    folder.last.write_bytes(folder.best.read_bytes())
    with pytest.raises(FileError, match="not a checkpoint"):
        resume(run.folder)
