"""A power cut at any moment loses at most what came after the last checkpoint, and never mixes two states."""

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from afterstate.learning.options import TrainOptions
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.trainer import Run, Trainer, resume, train
from afterstate.network.modelfile import load_model, read_training
from powercut import Moment, after_cut, watched

# TC keeps numbers beside the weights; blocks, evaluations and checkpoints do not end together
OPTIONS = TrainOptions(
    network="012,345", method="tc", games=450, block=50, eval_every=150, eval_games=3, threads=1, save_every=1e-9
)
CHECKPOINTS = (50, 150, 350, 450)  # several lines of metrics between them, and one before a block has ended
CUTS: dict[str, dict[str, Any]] = {
    "all that was not brought to the disk is lost": {"new_names": False, "new_data": 0.0},
    "names are there, data are not": {"new_names": True, "new_data": 0.0},
    "data are there, names are not": {"new_names": False, "new_data": 1.0},
    "half of the pages are there": {"new_names": True, "new_data": 0.5},
}


@pytest.fixture(scope="module")
def cut_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, list[Moment]]:
    """An undisturbed run, and all the moments at which the power could have failed."""
    root = tmp_path_factory.mktemp("disk")
    saved = [0]
    save = Trainer.save

    def noted(self: Trainer) -> None:
        if self.state.games in CHECKPOINTS:
            save(self)
            saved[0] = self.state.games

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "save", noted)
        patch.setattr("afterstate.learning.trainer.SAVE_SHARE", 1e9)  # it may come after each part, however long it takes
        patch.setattr("afterstate.engine.workers.TICK", 60.0)  # and none inside a part, for that would depend on the clock
        patch.setattr("afterstate.learning.trainer.FIRST_SAVE", 0.0)
        with watched(root, lambda: saved[0], patch) as disk:
            run = train(OPTIONS, run=root / "run")
    return run, disk.moments


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_a_power_cut_at_any_moment(
    cut: dict[str, Any],
    cut_run: tuple[Run, list[Moment]],
    tmp_path: Path,
    pytestconfig: pytest.Config,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, moments = cut_run
    monkeypatch.setattr(os, "fsync", lambda _: None)  # the power fails once; a real disk would only take time
    chance = random.Random(1)
    step = 1 if pytestconfig.getoption("--long") else 8
    assert len(moments) > 100
    for number, moment in enumerate(moments[::step]):
        root = tmp_path / str(number)
        after_cut(moment, root, chance=chance, **cut)
        run = RunFolder(root / "run")
        if not run.config.is_file():
            assert moment.note == 0, moment.what  # cut before the run had begun
            continue
        if run.last.is_file():
            assert read_training(run.last).games >= moment.note, moment.what
        else:
            assert moment.note == 0, moment.what
        check_equal(resume(run.path), whole)


def check_equal(ended: Run, whole: Run) -> None:
    """A run that was cut off has learned and measured the same as one that was not."""
    assert np.array_equal(ended.last.weights, whole.last.weights)
    one, other = RunFolder(ended.folder), RunFolder(whole.folder)
    assert one.games.read_bytes() == other.games.read_bytes()
    assert measured(one) == measured(other)
    assert np.array_equal(load_model(one.best).weights, load_model(other.best).weights)


def measured(run: RunFolder) -> list[dict[str, Any]]:
    clock = {"seconds", "moves_per_s", "training_seconds"}
    return [{key: value for key, value in record.items() if key not in clock} for record in run.read_metrics()]
