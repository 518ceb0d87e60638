"""Runs of many days: counters beyond 2**32, and threads that share one network, run after run."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from afterstate.games.results import Summary
from afterstate.learning.options import TrainOptions
from afterstate.learning.progress import Listener
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.trainer import Trainer, resume, train
from afterstate.network.modelfile import ModelFile

FAR = 2**32 - 100  # games; and far more moves


def options(**given: object) -> TrainOptions:
    return TrainOptions(**({"network": "0123,4567", "games": 200, "block": 100, "threads": 1, "seed": 3} | given))  # type: ignore[arg-type]


def test_counters_beyond_32_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that has played 2**32 games goes on: games, moves and seconds count rightly, and each game has its own tiles."""
    train(options(), run=tmp_path / "run")
    restore = Trainer.restore

    def restore_far(self: Trainer, file: ModelFile) -> None:
        """As if it had played for years."""
        file.training = replace(file.training, games=FAR, evaluated=FAR, seconds=1e9, tally=(2.0**40,) * 5)
        restore(self, file)

    monkeypatch.setattr(Trainer, "restore", restore_far)
    told: list[tuple[int, Summary]] = []

    class Told(Listener):
        def on_block(self, games: int, block: Summary) -> None:
            told.append((games, block))

    run = resume(tmp_path / "run", {"games": FAR + 200}, listener=Told())
    assert run.games == FAR + 200 > 2**32
    assert run.seconds > 1e9
    assert [games for games, _ in told] == [FAR + 100, FAR + 200]
    assert told[0][1].mean != told[1][1].mean
    blocks = [record for record in run.metrics if record["games"] > 2**31]
    assert [record["games"] for record in blocks] == [FAR + 100, FAR + 200]
    assert blocks[0]["moves_per_s"] > 2.0**40 / 1e3 > 2.0**30
    with open(RunFolder(tmp_path / "run").games, "rb") as file:
        file.seek(13 * FAR)
        scores = np.fromfile(file, [("score", "<i8"), ("moves", "<u4"), ("largest", "u1")])["score"]
    assert len(scores) == 200
    assert len(set(scores.tolist())) > 100


def test_two_threads_learn_as_one(tmp_path: Path, long: bool) -> None:
    """Run after run of two threads on a fresh network: none collapses, and in the mean they learn what one thread does.

    How well a seed learns depends on its first games, which are the same for both, so seeds are compared in pairs.
    """
    given = {"network": "0123,4567,0145,1256,569a", "games": 2000, "block": 2000, "method": "tc", "lambda_": 0.5}
    ratios = []
    for seed in range(20 if long else 2):
        one, two = (
            train(options(**given, threads=threads, seed=seed), run=tmp_path / f"{threads}-{seed}").metrics[-1]["mean"]
            for threads in (1, 2)
        )
        ratios.append(two / one)
    assert min(ratios) > 0.8, ratios
    assert abs(np.mean(ratios) - 1) < 0.1, ratios
    print(f"two threads against one, game for game: {np.mean(ratios):.3f}, {min(ratios):.3f} to {max(ratios):.3f}")
