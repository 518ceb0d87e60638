"""Training one network with workers on a cluster: the run is as ever, and no fault costs or doubles a game."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
from safetensors.numpy import load_file

import afterstate as af
from afterstate.cluster.crew import Hand
from afterstate.cluster.training import ClusterTeam, training_on
from afterstate.learning.options import TrainOptions
from afterstate.learning.progress import Listener, Progress
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.trainer import resume, train
from afterstate.learning.update import ERRORS, MOVES
from afterstate.network.modelfile import load_model
from commandline import read_metrics

SMALL: dict[str, Any] = {"network": "0123,0145", "method": "tc", "threads": 1, "keep": True}
ENDLESS = SMALL | {"games": 10_000_000, "block": 10_000_000}


class Watcher(Listener):
    """Does something once some games are played, and stops the run after some more."""

    def __init__(self, *steps: tuple[int, Callable[[], None]]) -> None:
        self.steps = list(steps)
        self.blocks: list[int] = []
        self.notes: list[str] = []

    def on_progress(self, progress: Progress) -> None:
        if self.steps and progress.games >= self.steps[0][0]:
            self.steps.pop(0)[1]()

    def on_block(self, games: int, block: Any) -> None:
        self.blocks.append(games)

    def on_note(self, text: str) -> None:
        self.notes.append(text)


def errors_and_moves(team: ClusterTeam, path: Path) -> None:
    """Every game that is counted was learned from exactly once: A of TC adds up the size of every error."""
    sizes = float(load_file(path / "checkpoints/last.safetensors")["coherence"][1::2].sum(dtype=np.float64))
    assert sizes == pytest.approx(float(team.sums()[ERRORS]) * team.network.lookups, rel=1e-4)
    episodes = af.training_games(path)
    assert episodes.moves.min() > 0
    assert int(episodes.moves.sum()) == pytest.approx(float(team.sums()[MOVES]))


def test_a_run_on_a_cluster_is_a_run(cluster: str, tmp_path: Path) -> None:
    """Blocks, evaluations, phases, checkpoints, best: and threads of one process take it further."""
    options = TrainOptions(**SMALL, games=1200, block=250, eval_every=600, eval_games=20, schedule="900:0.5")
    watcher = Watcher()
    with training_on(cluster, threading.Event(), workers=2) as make_team:
        one = train(options, run=tmp_path / "run", listener=watcher, make_team=make_team)
        assert make_team.team is not None
        traffic = make_team.team.traffic
    assert (one.games, one.stopped) == (1200, False)
    assert watcher.blocks == [250, 500, 750, 1000]
    assert traffic.merges >= 3  # before each evaluation and the new rate
    assert traffic.bytes > 100_000
    records = read_metrics(one.folder)
    assert [(record["kind"], record["games"]) for record in records if record["kind"] == "eval"] == [
        ("eval", 600),
        ("eval", 1200),
    ]
    assert [record["alpha"] for record in records if record["kind"] == "block"] == [1.0, 1.0, 1.0, 0.5]
    assert all(record["moves_per_s"] > 0 for record in records)
    assert records[-2]["mean"] > 1.5 * records[0]["mean"]
    assert RunFolder(one.folder).best.exists()
    assert np.array_equal(load_model(RunFolder(one.folder).last).weights, one.network.weights)
    assert len(one.episodes.moves) == 1200
    assert resume(one.folder, {"games": 1500}).games == 1500


def test_one_that_threads_began_goes_on_on_a_cluster(cluster: str, tmp_path: Path) -> None:
    train(TrainOptions(**SMALL, games=300, block=100), run=tmp_path / "run")
    before = load_file(tmp_path / "run/checkpoints/last.safetensors")["coherence"]
    with training_on(cluster, threading.Event(), workers=2) as make_team:
        more = resume(tmp_path / "run", {"games": 330}, make_team=make_team)
    after = load_file(tmp_path / "run/checkpoints/last.safetensors")["coherence"]
    assert more.games == 330
    assert (after[1::2] >= before[1::2]).all()
    assert 1 < after[1::2].sum() / before[1::2].sum() < 2


@pytest.mark.parametrize("whom", ["worker", "shard", "all"])
def test_who_is_killed_costs_and_doubles_no_game(cluster: str, tmp_path: Path, whom: str) -> None:
    """A worker in the middle of its games, a shard, or all at once; the run goes on, and new ones take their places."""
    stop = threading.Event()
    targets: list[int] = []

    def find() -> None:
        actors = team()._shards[:1] if whom == "shard" else [hand.actor for hand in hands()]
        targets.extend(ray.get([actor.ready.remote() for actor in actors[: 2 if whom == "all" else 1]]))

    def kill() -> None:
        for target in targets:
            os.kill(target, signal.SIGKILL)

    with training_on(cluster, stop, workers=2, merge_every=0.5) as make_team:

        def team() -> ClusterTeam:
            assert make_team.team is not None
            return make_team.team

        def hands() -> list[Hand]:
            crew = team()._crew
            assert crew is not None
            return crew.hands

        watcher = Watcher((100, find), (200, kill), (700, stop.set))
        one = train(TrainOptions(**ENDLESS), run=tmp_path / "run", listener=watcher, stop=stop, make_team=make_team)
        assert one.stopped
        assert len(targets) == (2 if whom == "all" else 1)
        assert one.games == len(one.episodes.moves) >= 700
        errors_and_moves(team(), tmp_path / "run")
        now = {ray.get(hand.actor.ready.remote()) for hand in hands()}
        assert not now & set(targets)
