"""Methods of learning as options of a run: each does something, each survives a stop, and what cannot be is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from afterstate.errors import DivergedError, FileError, InputError, ResourceError
from afterstate.games.results import Summary
from afterstate.learning.options import TrainOptions
from afterstate.learning.plan import make_plan, new_network
from afterstate.learning.progress import Listener
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.trainer import Run, Trainer, resume, train
from afterstate.network.modelfile import load_model, save_model
from listeners import StopAt

SMALL = "0123,4567"


def learn(folder: Path, **given: Any) -> Run:
    defaults: dict[str, Any] = {"network": SMALL, "games": 300, "block": 100, "threads": 1, "seed": 3}
    return train(TrainOptions(**(defaults | given)), run=folder)


VARIANTS: dict[str, dict[str, Any]] = {
    "td": {},
    "tc": {"method": "tc"},
    "td-lambda": {"lambda_": 0.5},
    "td-other-lambda": {"lambda_": 0.6},
    "td-other-horizon": {"lambda_": 0.5, "horizon": 5},
    "td-steps": {"steps": 3},
    "td-backward": {"order": "backward"},
    "td-backward-lambda": {"order": "backward", "lambda_": 0.5},
    "tc-lambda": {"method": "tc", "lambda_": 0.5},
    "optimistic": {"optimistic": 5000.0},
}


def test_every_option_changes_what_is_learned(tmp_path: Path) -> None:
    """No two of these runs end with the same weights."""
    seen: dict[bytes, str] = {}
    for name, given in VARIANTS.items():
        weights = learn(tmp_path / name, games=40, **given).last.weights.tobytes()
        assert weights not in seen, f"{name} learns as {seen.get(weights)} does"
        seen[weights] = name


@pytest.mark.parametrize("given", [{"lambda_": 0.0, "horizon": 7}, {"steps": 1}], ids=str)
def test_without_lambda_and_steps_it_is_td0(tmp_path: Path, given: dict[str, Any]) -> None:
    assert np.array_equal(learn(tmp_path / "a", **given).last.weights, learn(tmp_path / "b").last.weights)


@pytest.mark.parametrize(
    "given", [{"method": "tc"}, {"method": "tc", "lambda_": 0.5}, {"steps": 3, "optimistic": 900.0}], ids=str
)
def test_a_stopped_run_goes_on_exactly(tmp_path: Path, given: dict[str, Any]) -> None:
    """The rates of TC are part of the checkpoint."""
    whole = learn(tmp_path / "whole", games=600, **given)
    halts = StopAt(50)
    options = TrainOptions(network=SMALL, games=600, block=100, threads=1, seed=3, **given)
    stopped = train(options, run=tmp_path / "stopped", listener=halts, stop=halts.stop)
    assert stopped.stopped
    finished = resume(tmp_path / "stopped")
    assert np.array_equal(finished.last.weights, whole.last.weights)


def test_coherence_is_kept_and_asked_for(tmp_path: Path) -> None:
    """E is at most A in size, both move only where a weight was looked up; a checkpoint without them is refused."""
    run = learn(tmp_path / "run", method="tc", keep=True)
    folder = RunFolder(run.folder)
    pairs = load_file(folder.last)["coherence"].reshape(-1, 2)
    assert (np.abs(pairs[:, 0]) <= pairs[:, 1] * 1.001).all()
    assert ((pairs[:, 1] > 0) >= (run.last.weights != 0)).all()
    part = {
        f"block.{name}": np.zeros(0, np.uint8 if name == "largest" else np.int64) for name in ("scores", "moves", "largest")
    }
    save_model(run.last, folder.last, more=part)
    with pytest.raises(FileError, match="has kept only what play needs"):
        resume(run.folder, {"games": 400})


def test_tc_learns_faster_than_td(tmp_path: Path) -> None:
    tc = learn(tmp_path / "tc", method="tc", games=1500, block=500)
    td = learn(tmp_path / "td", games=1500, block=500)
    assert tc.metrics[-1]["mean"] > 1.2 * td.metrics[-1]["mean"]


def test_hopes_begin_where_they_are_set(tmp_path: Path) -> None:
    """Weights that no game has met stay at V / m."""
    weights = learn(tmp_path / "run", optimistic=1600.0, games=10).last.weights
    assert np.median(weights) == 100.0
    assert (weights != 100.0).any()


def test_a_run_that_diverges_is_stopped(tmp_path: Path) -> None:
    """It says what to change, ends in a moment, and never breaks a board."""
    with pytest.raises(DivergedError, match=r"smaller --alpha than 90.*no checkpoint was written"):
        learn(tmp_path / "run", alpha=90.0, games=3000)
    with pytest.raises(DivergedError, match=r"smaller --alpha than 80.*the best checkpoint is kept in"):
        learn(tmp_path / "later", games=3000, schedule="200:80")
    assert load_model(RunFolder(tmp_path / "later").best).weights.any()


def test_a_run_whose_score_collapses_is_stopped(tmp_path: Path) -> None:
    """Once every good move is thought bad, three blocks are enough to see it; the best checkpoint stays."""
    plan = make_plan(TrainOptions(network=SMALL, games=5000, block=100, threads=1, method="tc", schedule="1k:td:0.0001"))
    network, folder = new_network(plan), RunFolder(tmp_path / "run")

    class Spoil(Listener):
        def on_block(self, games: int, block: Summary) -> None:
            if games == 1000:
                np.negative(network.weights, out=network.weights)

    folder.make(plan.options)
    with pytest.raises(DivergedError, match=r"collapsed by game 1300: .*smaller --alpha than 0.0001.*best checkpoint is kept"):
        Trainer(plan, folder, network, Spoil()).run()
    means = [record["mean"] for record in folder.read_metrics()]
    assert len(means) == 12
    best = folder.best_so_far()
    assert best is not None
    assert best.mean > 5 * means[-1]


def test_a_checkpoint_of_values_that_ran_away_is_not_written(tmp_path: Path) -> None:
    """The last good one stays, even if the run is stopped before its block ends."""
    run = learn(tmp_path / "run", games=100)
    before = RunFolder(run.folder).last.read_bytes()
    trainer = Trainer(make_plan(TrainOptions(network=SMALL, games=100)), RunFolder(run.folder), run.last)
    run.last.weights[:] = np.nan
    with pytest.raises(DivergedError):
        trainer.save()
    assert RunFolder(run.folder).last.read_bytes() == before


def test_values_out_of_range_are_counted(tmp_path: Path) -> None:
    """High hopes beyond any score: nearly every value is too high at first."""
    hopes = learn(tmp_path / "hopes", games=100, optimistic=9e6).metrics[0]
    plain = learn(tmp_path / "plain", games=100).metrics[0]
    assert hopes["out_of_range"] > 0.9
    assert plain["out_of_range"] < 0.5


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"lambda_": -0.1}, "lambda must be 0 to 1"),
        ({"lambda_": 1.1}, "lambda must be 0 to 1"),
        ({"lambda_": float("nan")}, "lambda must be 0 to 1"),
        ({"horizon": 0}, "horizon must be 1 to 100"),
        ({"horizon": 101}, "horizon must be 1 to 100"),
        ({"steps": 0}, "steps must be 1 to 100"),
        ({"steps": 2, "lambda_": 0.5}, "need lambda 0"),
        ({"steps": 2, "order": "backward"}, "order forward"),
        ({"optimistic": -1.0}, "optimistic must be"),
        ({"optimistic": float("inf")}, "optimistic must be"),
        ({"method": "sarsa"}, "method is tc or td"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word):
        TrainOptions(**given)


def test_each_method_has_its_own_learning_rate() -> None:
    assert TrainOptions().rate == 0.1
    assert TrainOptions(method="tc").rate == 1.0
    assert TrainOptions(method="tc", alpha=0.5).rate == 0.5


def test_the_memory_of_tc_is_counted_before_it_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three numbers a weight: room for the weights alone is not enough."""
    monkeypatch.setattr("afterstate.memory.free_memory", lambda: 2 * 4 * 2 * 16**4)
    learn(tmp_path / "td", games=10)
    with pytest.raises(ResourceError, match="GiB"):
        learn(tmp_path / "tc", games=10, method="tc")
    assert not (tmp_path / "tc").exists()


def test_the_memory_of_folding_is_counted_before_it_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is written, the best checkpoint is a separate network."""
    monkeypatch.setattr("afterstate.memory.free_memory", lambda: 4 * (2 * 16**4 + 256) + 1000)
    learn(tmp_path / "plain", games=10, network="0123,4567,01")
    with pytest.raises(ResourceError, match="GiB"):
        learn(tmp_path / "beside", games=10, network="0123,4567", beside="01")
    assert not (tmp_path / "beside").exists()


def test_a_run_cannot_change_its_method(tmp_path: Path) -> None:
    run = learn(tmp_path / "run")
    for given in ({"method": "tc"}, {"lambda_": 0.5}, {"steps": 2}):
        with pytest.raises(InputError, match="cannot continue"):
            resume(run.folder, given)


def test_the_best_block_is_that_of_the_highest_mean(tmp_path: Path) -> None:
    run = learn(tmp_path / "run", games=1500, method="tc")
    blocks = {block["games"]: block for block in run.metrics}
    kept = blocks[load_model(RunFolder(run.folder).best).training.games]
    assert kept["mean"] == max(block["mean"] for block in blocks.values())
