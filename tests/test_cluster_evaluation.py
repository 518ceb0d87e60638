"""Evaluation on Ray: the games of one machine, whoever is killed meanwhile."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray

import afterstate as af
from afterstate.cli.main import Exit
from afterstate.cluster import evaluation as cluster_evaluation
from afterstate.cluster.evaluation import play_on
from afterstate.engine.workers import Share
from afterstate.errors import ClusterError, InputError
from afterstate.play.evaluation import Evaluation, measure
from commandline import PATIENCE, PROGRAM, done, run
from processes import SOON, are_gone, family, kill, named, second_node, wait_until

PLAYING = "ray::_play_chunk"  # what a worker calls itself while it plays


@pytest.fixture(scope="module")
def agent(original: Path) -> af.Agent:
    return af.Agent(af.load(original))


def same(one: Evaluation, other: Evaluation) -> bool:
    """Whether two evaluations are of the same games."""
    mine, theirs = one.results, other.results
    return all(
        np.array_equal(getattr(mine, name), getattr(theirs, name)) for name in ("scores", "moves", "largest")
    )  # fmt: skip


def timeless(path: Path) -> list[str]:
    """The lines of an episode file without their times."""
    return [re.sub(r"@\d+", "", line) for line in path.read_text().splitlines()]


class TestSameGames:
    """A seed gives the games of one machine."""

    @pytest.mark.parametrize("options", [{}, {"threads": 2}, {"until": 64}], ids=str)
    def test_greedy(self, cluster: str, agent: af.Agent, options: dict[str, Any]) -> None:
        here = measure(agent, games=2000, seed=7, **options)
        there = measure(agent, games=2000, seed=7, **options, play=play_on(cluster))
        assert same(here, there)
        assert here.summary is not None
        assert there.summary is not None
        assert here.summary.as_dict() | {"seconds": 0, "moves_per_s": 0} == there.summary.as_dict() | {
            "seconds": 0, "moves_per_s": 0
        }  # fmt: skip

    def test_a_search_with_its_episode_file(self, cluster: str, original: Path, tmp_path: Path) -> None:
        agent = af.Agent(af.load(original), depth=2)
        here = measure(agent, games=12, seed=7, save=tmp_path / "here")
        there = measure(agent, games=12, seed=7, save=tmp_path / "there", play=play_on(cluster))
        assert same(here, there)
        assert here.search is not None
        assert there.search is not None
        assert (here.search.moves, here.search.nodes, here.search.leaves) == (
            there.search.moves, there.search.nodes, there.search.leaves
        )  # fmt: skip
        assert 0 < there.search.times["p50"] <= there.search.times["max"]
        assert timeless(tmp_path / "here") == timeless(tmp_path / "there")
        assert len(timeless(tmp_path / "there")) == 12

    def test_from_python(self, cluster: str, agent: af.Agent) -> None:
        assert af.evaluate(agent, games=20, seed=3, cluster=cluster).mean == af.evaluate(agent, games=20, seed=3).mean

    def test_from_the_command_line(self, cluster: str, small: Path) -> None:
        here = done("eval", small, "--games", "50", "--json").json
        there = done("eval", small, "--games", "50", "--json", "--cluster", cluster).json
        assert here | {"seconds": 0, "moves_per_s": 0} == there | {"seconds": 0, "moves_per_s": 0}

    def test_weights_are_in_memory_that_workers_share(self, cluster: str, agent: af.Agent) -> None:
        from afterstate.cluster.parcel import pack, unpack

        def look(parcel: Any) -> tuple[bool, bool, str]:
            mine = unpack(parcel).network
            kept = ray.get(parcel.weights)
            return (
                bool(np.shares_memory(mine.weights, kept)),
                bool(kept.flags.writeable),
                str(mine.lookup.weights.flags.writeable),
            )

        assert ray.get(ray.remote(look).remote(pack(agent))) == (True, False, "True")


class TestFaults:
    def test_a_worker_is_killed_while_it_plays(
        self, cluster: str, agent: af.Agent, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(cluster_evaluation, "SECONDS", 0.5)
        killed: set[int] = set()

        def strike(share: Share) -> None:
            if share.games > 500 and len(killed) < 2 and (found := named(family(os.getpid()), PLAYING) - killed):
                killed.add(min(found))
                kill({min(found)})

        there = measure(agent, games=20_000, seed=5, play=play_on(cluster), on_tick=strike)
        assert len(killed) == 2
        assert same(there, measure(agent, games=20_000, seed=5))
        assert capfd.readouterr() == ("", "")

    def test_a_node_is_lost(self, cluster: str, agent: af.Agent, tmp_path: Path) -> None:
        lost: set[int] = set()
        with second_node(cluster, tmp_path) as node:

            def strike(share: Share) -> None:
                if not lost and named(family(node.pid), PLAYING):
                    lost.update(family(node.pid))
                    kill(lost)

            there = measure(agent, games=20_000, seed=6, play=play_on(cluster), on_tick=strike)
        assert lost
        assert same(there, measure(agent, games=20_000, seed=6))

    def test_another_version_on_a_node(self, cluster: str, agent: af.Agent, tmp_path: Path) -> None:
        package = Path(af.__file__).parent
        shutil.copytree(package, tmp_path / "afterstate", ignore=shutil.ignore_patterns("__pycache__"))
        (tmp_path / "afterstate-0.0.9.dist-info").mkdir()
        (tmp_path / "afterstate-0.0.9.dist-info" / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: afterstate\nVersion: 0.0.9\n"
        )
        told = rf"node .* has afterstate 0\.0\.9 \(here {re.escape(af.__version__)}\)"
        with second_node(cluster, tmp_path, PYTHONPATH=str(tmp_path)), pytest.raises(ClusterError, match=told):
            measure(agent, games=10, seed=1, play=play_on(cluster))

    def test_the_head_is_lost(self, small: Path) -> None:
        command = [*PROGRAM, "eval", str(small), "--games", "100M", "--cluster"]
        environment = {name: value for name, value in os.environ.items() if name != "RAY_AUTH_MODE"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
            wait_until(lambda: bool(named(family(process.pid), PLAYING)), PATIENCE)
            processes = family(process.pid)
            kill(named(processes, "gcs_server"))
            out, err = process.communicate(timeout=SOON)
            assert (process.returncode, out) == (Exit.CLUSTER, "")
            assert re.fullmatch(r"error: the head of the Ray cluster at 127\.0\.0\.1:\d+ is gone: Connection refused\n", err)
            assert are_gone(processes, SOON) == set()


class TestStopping:
    def test_ctrl_c_reports_what_is_finished(self, cluster: str, agent: af.Agent, tmp_path: Path) -> None:
        stop = threading.Event()

        def tick(share: Share) -> None:
            if share.games > 100:
                stop.set()

        there = measure(
            agent, games=10_000_000, seed=5, play=play_on(cluster), on_tick=tick, stop=stop, save=tmp_path / "games"
        )  # fmt: skip
        assert there.stopped
        assert there.summary is not None
        assert 100 < there.summary.games < 10_000_000
        assert len(timeless(tmp_path / "games")) == there.summary.games
        assert same(there, measure(agent, games=there.summary.games, seed=5))
        wait_until(lambda: not named(family(os.getpid()), PLAYING), SOON)

    def test_nothing_is_left_after_ctrl_c(self, small: Path) -> None:
        command = [*PROGRAM, "eval", str(small), "--games", "100M", "--cluster", "--json"]
        environment = {name: value for name, value in os.environ.items() if name != "RAY_AUTH_MODE"}
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
        ) as process:
            wait_until(lambda: bool(named(family(process.pid), PLAYING)), PATIENCE)
            processes = family(process.pid)
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            out, err = process.communicate(timeout=SOON)
            assert (process.returncode, err) == (Exit.INTERRUPTED, "")
            assert 0 < json.loads(out)["games"] < 100_000_000
            assert are_gone(processes, SOON) == set()


class TestBadInput:
    def test_more_threads_than_any_node_has(self, cluster: str, agent: af.Agent) -> None:
        with pytest.raises(InputError, match="no node of the cluster has 200 processors"):
            measure(agent, games=10, seed=1, threads=200, play=play_on(cluster))

    def test_no_address(self, small: Path) -> None:
        failed = run("eval", small, "--cluster=nonsense")
        assert (failed.code, failed.error) == (
            Exit.INPUT,
            "error: a cluster's address is HOST:PORT, auto or local, not 'nonsense'\n",
        )

    def test_no_ray(self, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "ray", None)
        failed = run("eval", small, "--cluster")
        assert failed.code == Exit.INPUT
        assert failed.error == "error: a cluster needs Ray, which is not installed: pip install 'afterstate[cluster]'\n"
