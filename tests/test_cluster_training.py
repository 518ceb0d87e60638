"""Training one network with workers on a cluster: the run is as ever, and no fault costs or doubles a game."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
from safetensors.numpy import load_file

import afterstate as af
from afterstate.cli.main import Exit
from afterstate.cluster.crew import Hand
from afterstate.cluster.training import ClusterTeam, training_on
from afterstate.learning.options import TrainOptions
from afterstate.learning.progress import Listener, Progress
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.trainer import resume, train
from afterstate.learning.update import ERRORS, MOVES
from afterstate.network.modelfile import load_model, read_training
from commandline import PATIENCE, PROGRAM, Result, check, read_metrics, run
from processes import SOON, are_gone, family, kill, named, second_node

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
    assert np.array_equal(load_model(RunFolder(one.folder).last).weights, one.last.weights)
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


def test_a_lost_node_costs_and_doubles_no_game(cluster: str, tmp_path: Path) -> None:
    """All that runs on one of two nodes is killed at once, and the run goes on with what is left."""
    stop = threading.Event()
    lost: set[int] = set()
    with second_node(cluster, tmp_path) as node, training_on(cluster, stop, workers=3, merge_every=0.5) as make_team:

        def pids() -> set[int]:
            assert make_team.team is not None
            assert make_team.team._crew is not None
            return set(ray.get([hand.actor.ready.remote() for hand in make_team.team._crew.hands]))

        def strike() -> None:
            found = family(node.pid)
            assert found & pids()
            lost.update(found)
            kill(lost)

        watcher = Watcher((200, strike), (700, stop.set))
        one = train(TrainOptions(**ENDLESS), run=tmp_path / "run", listener=watcher, stop=stop, make_team=make_team)
        assert lost
        assert one.games == len(one.episodes.moves) >= 700
        assert make_team.team is not None
        errors_and_moves(make_team.team, tmp_path / "run")
        assert not lost & pids()


# --- as a command ------------------------------------------------------------------------------------------------------


def begin(*arguments: object) -> "subprocess.Popen[str]":
    """Start to train, in a process of its own."""
    command = [*PROGRAM, "train", "2048", "--network", SMALL["network"], "--threads", "1", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())


def environment() -> dict[str, str]:
    """For a process that knows nothing of the tests' own Ray."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RAY_")} | {
        "RAY_AUTH_TOKEN": "0" * 32,
        "RAY_AUTH_MODE": "token",
    }


def wait_for_blocks(path: Path, count: int, process: "subprocess.Popen[str]") -> None:
    """Wait until a run has measured so many blocks."""
    deadline = time.monotonic() + PATIENCE
    while not ((path / "metrics.jsonl").exists() and len(read_metrics(path)) >= count):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_ctrl_c_saves_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with begin("--block", 100, "--run", path, "--cluster", "--workers", 2) as process:
        try:
            wait_for_blocks(path, 2, process)
            all_of_it = family(process.pid)
            assert len(all_of_it) >= 5
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=SOON)
            assert are_gone(all_of_it, SOON) == set()
        finally:
            process.kill()
    assert (process.returncode, Result(130, out, err).error) == (130, "")
    assert "2 workers: " in out
    assert "continue: afterstate train --run" in out
    games = read_training(RunFolder(path).last).games
    assert f"stopped at {games}" in out.replace(",", "")
    assert games >= 200


HEAD = """
import sys, threading
from afterstate.cluster.connection import connect
with connect("local", threading.Event()) as session:
    print(session.address, flush=True)
    sys.stdin.read()
"""


@contextlib.contextmanager
def head() -> "Iterator[tuple[str, subprocess.Popen[str]]]":
    """A cluster in a process of its own -> its address."""
    command = [sys.executable, "-c", HEAD]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())
    with process:
        all_of_it = {process.pid}
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            all_of_it = family(process.pid)
            yield address, process
        finally:
            kill(all_of_it)


def test_the_head_is_lost(tmp_path: Path, long: bool) -> None:
    """One line says so, soon; all that was merged is saved, and the run goes on without a cluster."""
    if not long:
        pytest.skip("after all other tests it may take longer than 30 s, alone it does not: run it with --long")
    path = tmp_path / "run"
    with head() as (address, other), begin("--block", 100, "--keep", "--run", path, "--cluster", address) as process:
        try:
            wait_for_blocks(path, 2, process)
            kill(named(family(other.pid), "gcs_server"))
            _, err = process.communicate(timeout=SOON)
        finally:
            process.kill()
    assert process.returncode == Exit.CLUSTER
    assert re.fullmatch(rf"error: the head of the Ray cluster at {address} is gone: .*\n", err)
    games = read_training(RunFolder(path).last).games
    assert games >= 200
    assert resume(path, {"games": games + 100}).games == games + 100


def test_what_needs_a_cluster_says_so(tmp_path: Path) -> None:
    for option in ("--workers", "--merge-every"):
        check(run("train", "2048", option, "2", "--run", tmp_path / "run"), Exit.INPUT, "add --cluster")
    check(run("train", "2048", "--cluster", "--workers", "0"), Exit.INPUT, "workers must be 1 to 1000, not 0")
    assert not (tmp_path / "run").exists()
