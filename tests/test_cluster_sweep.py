"""Sweeps on a real Ray: which trials go on, what is kept, and what a killed worker or Ctrl-C costs (nothing)."""

import csv
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from afterstate.api import train
from afterstate.cli.main import Exit
from afterstate.cluster.sweeps.file import Sweep, Trial, parse_sweep
from afterstate.cluster.sweeps.folder import Result, Standing, SweepFolder, rank
from afterstate.cluster.sweeps.halving import Halving, Job, Watcher, run_sweep
from afterstate.cluster.sweeps.trial import Leg, train_leg
from afterstate.errors import FileError, ResourceError
from afterstate.learning.runfolder import RunFolder
from afterstate.network.modelfile import read_training
from commandline import PATIENCE, PNG, PROGRAM, contents, learned, no_traceback, read_json, read_metrics, run
from processes import SOON, are_gone, family, kill, named, second_node, wait_until

SMALL = """
games = 1200
seeds = [1, 5]
[halving]
first = 300
factor = 2
[train]
network = "0123,4567"
block = 300
save_every = 0.1
[vary]
alpha = [0.3, 0.5, 0.001, 0.0001]
[reference]
alpha = 0.1
"""
LONG = SMALL.replace("1200", "12000").replace("300", "3000")  # some seconds for each training


def small(text: str = SMALL) -> Sweep:
    return parse_sweep("small", text, "small.toml")


def facts(folder: SweepFolder) -> dict[int, Any]:
    """What a sweep has found, without what depends on the clock."""
    return {
        number: (one.ended, one.error, [(result.at, result.scores, result.games) for result in one.results])
        for number, one in folder.standings.items()
    }


@pytest.fixture(scope="module")
def whole(cluster: str, tmp_path_factory: pytest.TempPathFactory) -> SweepFolder:
    """A sweep that was trained without a disturbance, by the command."""
    place = tmp_path_factory.mktemp("whole")
    (place / "small.toml").write_text(SMALL)
    result = run("sweep", place / "small.toml", "--run", place / "sweep", "--cluster", cluster, "--json")
    assert result.code == 0, result.err
    told = result.json
    assert not told["stopped"]
    assert 0 < told["busy"] <= told["occupied"] + 0.2
    assert {one["trial"] for one in told["trials"][-2:]} == {3, 4}  # they hardly learn
    folder = SweepFolder.open(place / "sweep")
    assert told["trials"][0]["results"][-1]["scores"] == list(rank([*folder.standings.values()])[0].results[-1].scores)
    return folder


# --- who goes on ---------------------------------------------------------------------------------------------------------


def test_the_worse_half_is_stopped_and_the_reference_is_not() -> None:
    sweep = small()
    halving = Halving(sweep)

    def judge(number: int, at: float, score: float) -> str | None:
        trial = next(one for one in sweep.trials if one.number == number)
        return halving.judge(trial, Result(at, (score, score), (1, 1), 1.0))

    assert judge(1, 300, 100.0) is None  # the first has nobody to be compared with
    assert judge(2, 300, 50.0) == "stopped"
    assert judge(3, 300, 200.0) is None
    assert judge(0, 300, 10.0) is None  # the reference
    assert judge(4, 300, 60.0) == "stopped"  # the median of 100, 50, 200 and 10 is 75
    assert judge(3, 1200, 1.0) == "done"


def test_trials_end_as_ray_tune_says(whole: SweepFolder) -> None:
    judge = Halving(whole.sweep)
    for trial, result in whole.history:
        why = judge.judge(trial, result)
        ended = whole.standings[trial.number]
        assert (why is None) == (result is not ended.last)
        if why is not None:
            assert ended.ended == why
    ends = [one.ended for one in whole.standings.values()]
    assert ends[0] == "done"  # the reference
    assert ends[3:] == ["stopped", "stopped"]
    assert "done" in ends[1:3]


def test_a_training_is_the_one_that_train_does(whole: SweepFolder, tmp_path: Path) -> None:
    best = rank(list(whole.standings.values()))[0]
    options = whole.sweep.run_options(best.trial, 5)
    alone = train(
        network=options.network, alpha=options.alpha, games=1200, block=300, threads=1, seed=5, run=tmp_path / "alone"
    )
    assert best.last is not None
    assert best.last.scores[1] == alone.metrics[-1]["mean"]
    assert learned(alone.folder)[1] == _without_clock(whole.run(best.trial, 5).path)


def _without_clock(folder: Path) -> list[dict[str, Any]]:
    clock = {"training_seconds", "seconds", "moves_per_s"}
    return [{key: value for key, value in record.items() if key not in clock} for record in read_metrics(folder)]


def test_only_the_best_trial_keeps_a_network(whole: SweepFolder) -> None:
    best = rank(list(whole.standings.values()))[0].trial
    found = {path.relative_to(whole.path).as_posix() for path in whole.path.rglob("*.safetensors")}
    assert found == {f"trials/{best.number:03d}/seed-{seed}/checkpoints/best.safetensors" for seed in (1, 5)}


def test_results_as_a_table_and_a_plot(whole: SweepFolder) -> None:
    with open(whole.csv, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["rank"]) for row in rows] == [1, 2, 3, 4, 5]
    assert {int(row["trial"]): row["end"] for row in rows} == {n: one.ended for n, one in whole.standings.items()}
    first = whole.standings[int(rows[0]["trial"])]
    assert first.last is not None
    assert [float(rows[0]["score_seed_1"]), float(rows[0]["score_seed_5"])] == list(first.last.scores)
    assert float(rows[0]["alpha"]) == first.trial.options["alpha"]
    assert whole.plot.read_bytes().startswith(PNG)
    assert (whole.path / "sweep.toml").read_text() == SMALL


def test_seeds_are_compared_in_pairs() -> None:
    one, other = (Standing(Trial(number, {}, {})) for number in (1, 0))
    one.results = [Result(150, (10.0, 20.0, 33.0), (1, 1, 1), 1.0), Result(300, (1.0, 1.0, 1.0), (1, 1, 1), 1.0)]
    other.results = [Result(150, (9.0, 18.0, 30.0), (1, 1, 1), 1.0)]
    assert one.ahead_of(other) == pytest.approx((2.0, 4.302653 / 3**0.5), rel=1e-6)  # gaps of 1, 2 and 3
    assert one.ahead_of(one) is None


# --- stop and go on ------------------------------------------------------------------------------------------------------


class _StopsAfter(Watcher):
    """Ends a sweep after some results."""

    def __init__(self, results: int, stop: threading.Event) -> None:
        self.left, self.stop = results, stop

    def on_result(self, trial: Trial, result: Result) -> None:
        self.left -= 1
        if not self.left:
            self.stop.set()


def test_a_sweep_that_was_stopped_goes_on_as_if_it_was_not(whole: SweepFolder, cluster: str, tmp_path: Path) -> None:
    folder, stop = SweepFolder.make(tmp_path / "sweep", small()), threading.Event()
    assert run_sweep(folder, cluster=cluster, stop=stop, watcher=_StopsAfter(3, stop)).stopped
    before = len(folder.history)
    assert 3 <= before < len(whole.history)
    with open(folder.log, "ab") as file:
        file.write(b'{"kind": "result", "tri')  # cut off by a power cut
    again = run("sweep", "--run", tmp_path / "sweep", "--resume", "--cluster", cluster, "--json")
    assert again.code == 0, again.err
    ended = SweepFolder.open(tmp_path / "sweep")
    assert _scores(ended) == {key: value for key, value in _scores(whole).items() if key in _scores(ended)}
    assert all(one.ended for one in ended.standings.values())
    assert len({(trial.number, result.at) for trial, result in ended.history}) == len(ended.history)  # none twice


def _scores(folder: SweepFolder) -> dict[tuple[int, float], tuple[float, ...]]:
    """The scores of all results. Which trials are stopped also depends on who comes first."""
    return {(trial.number, result.at): result.scores for trial, result in folder.history}


def test_a_finished_sweep_has_nothing_left_to_do(whole: SweepFolder, cluster: str, tmp_path: Path) -> None:
    shutil.copytree(whole.path, tmp_path / "copy")
    before = (tmp_path / "copy" / "trials.jsonl").read_bytes()
    assert run("sweep", "--run", tmp_path / "copy", "--resume", "--cluster", cluster).code == 0
    assert (tmp_path / "copy" / "trials.jsonl").read_bytes() == before


class _Kills(Watcher):
    """Kills the worker of a training (SIGKILL) once it has written a checkpoint in the middle of its way."""

    def __init__(self) -> None:
        self.killed = 0

    def on_tick(self, folder: SweepFolder, running: list[Job]) -> None:
        for job in running:
            path = folder.run(job.trial, job.seed)
            for process in _holders(path.path) if path.last.exists() and self.killed < 2 else ():
                os.kill(process, signal.SIGKILL)
                self.killed += 1


def _holders(folder: Path) -> list[int]:
    """The processes that have a folder open: a training holds its run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/fd"):
        try:
            links = [os.readlink(link) for link in path.iterdir()]
        except OSError:
            continue
        if str(folder) in links and int(path.parent.name) != os.getpid():
            found.append(int(path.parent.name))
    return found


def test_a_killed_worker_costs_no_game(cluster: str, tmp_path: Path) -> None:
    text = LONG.replace("[0.3, 0.5, 0.001, 0.0001]", "[0.3]").partition("[reference]")[0].replace("[1, 5]", "[5]")
    text = text.replace("12000", "60000").replace("3000", "15000")  # long enough to be met on its way
    killer = _Kills()
    folder = SweepFolder.make(tmp_path / "sweep", small(text))
    run_sweep(folder, cluster=cluster, watcher=killer)
    assert killer.killed >= 1  # the second may come too late
    (standing,) = folder.standings.values()
    assert standing.ended == "done"
    alone = train(network="0123,4567", alpha=0.3, games="60k", block="15k", threads=1, seed=5, run=tmp_path / "alone")
    ours = folder.run(standing.trial, 5)
    assert _without_clock(ours.path) == _without_clock(alone.folder)
    assert ours.games.read_bytes() == (alone.folder / "games.bin").read_bytes()


def test_a_lost_node_costs_no_game(cluster: str, tmp_path: Path) -> None:
    text = LONG.replace("[0.3, 0.5, 0.001, 0.0001]", "[0.3]").partition("[reference]")[0].replace("[1, 5]", "[5, 6, 7, 8]")
    folder = SweepFolder.make(tmp_path / "sweep", small(text))
    lost: set[int] = set()
    with second_node(cluster, tmp_path) as node:

        class Strikes(Watcher):
            def on_tick(self, folder: SweepFolder, running: list[Job]) -> None:
                runs = [folder.run(job.trial, job.seed).path for job in running]
                if not lost and family(node.pid) & {process for path in runs for process in _holders(path)}:
                    lost.update(family(node.pid))
                    kill(lost)

        run_sweep(folder, cluster=cluster, watcher=Strikes())
    assert lost
    (standing,) = folder.standings.values()
    assert standing.ended == "done"
    alone = train(network="0123,4567", alpha=0.3, games="12k", block="3k", threads=1, seed=5, run=tmp_path / "alone")
    assert _without_clock(folder.run(standing.trial, 5).path) == _without_clock(alone.folder)
    assert [len(read_metrics(folder.run(standing.trial, seed).path)) for seed in (5, 6, 7, 8)] == [4] * 4


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(LONG.replace("12000", "3000000"))
    command = [*PROGRAM, "sweep", str(tmp_path / "long.toml"), "--run", str(tmp_path / "sweep")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment |= {"RAY_AUTH_TOKEN": "0" * 32}  # else Ray writes one to the home folder
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            wait_until(lambda: bool(list((tmp_path / "sweep").glob("trials/*/*/metrics.jsonl"))), PATIENCE)
            processes = family(process.pid)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=SOON)
        finally:
            process.kill()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert f"continue: afterstate sweep --run {tmp_path / 'sweep'} --resume" in out
    assert are_gone(processes, SOON) == set()
    folder = SweepFolder.open(tmp_path / "sweep")
    begun = [run for trial in folder.sweep.trials for seed in (1, 5) if (run := folder.run(trial, seed)).config.exists()]
    assert begun
    for run_folder in begun:  # it was saved, not killed: what was played is in the checkpoint
        written = run_folder.games.stat().st_size if run_folder.games.exists() else 0  # none if it had only begun
        assert read_training(run_folder.last).games * 13 == written


def test_a_lost_head_costs_no_game(cluster: str, tmp_path: Path) -> None:
    """The sweep ends with one line, and another cluster continues it from its checkpoints."""
    text = LONG.replace("12000", "3000000").partition("[reference]")[0].replace("[1, 5]", "[5]")
    (tmp_path / "one.toml").write_text(text.replace("[0.3, 0.5, 0.001, 0.0001]", "[0.3]"))
    command = [*PROGRAM, "sweep", str(tmp_path / "one.toml"), "--run", str(tmp_path / "sweep"), "--quiet"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment |= {"RAY_AUTH_TOKEN": "0" * 32}  # else Ray writes one to the home folder
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            wait_until(lambda: bool(list((tmp_path / "sweep").glob("trials/*/*/checkpoints/last.safetensors"))), PATIENCE)
            processes = family(process.pid)
            kill(named(processes, "gcs_server"))
            _, err = process.communicate(timeout=SOON)
        finally:
            process.kill()
    assert process.returncode == Exit.CLUSTER, err
    assert "Traceback" not in err
    assert are_gone(processes, SOON) == set()
    folder, stop = SweepFolder.open(tmp_path / "sweep"), threading.Event()
    ours = folder.run(folder.sweep.trials[0], 5)
    before = read_training(ours.last).games
    assert before > 0

    class Stops(Watcher):
        def on_tick(self, folder: SweepFolder, running: list[Job]) -> None:
            if read_training(ours.last).games > before:
                stop.set()

    run_sweep(folder, cluster=cluster, stop=stop, watcher=Stops())
    after = read_training(ours.last).games
    assert after > before
    assert ours.games.stat().st_size == 13 * after


# --- what can go wrong -----------------------------------------------------------------------------------------------------


def test_a_trial_that_fails_does_not_end_the_others(cluster: str, tmp_path: Path) -> None:
    sweep = small(SMALL.replace("[0.3, 0.5, 0.001, 0.0001]", "[0.2, 0.3]"))
    folder = SweepFolder.make(tmp_path / "sweep", sweep)
    broken = folder.run(sweep.trials[1], 5)
    broken.path.mkdir(parents=True)
    broken.config.write_text("nonsense = 1\n")
    run_sweep(folder, cluster=cluster)
    assert folder.standings[1].ended == "failed"
    assert "unknown key 'nonsense'" in str(folder.standings[1].error)
    assert folder.standings[2].ended == folder.standings[0].ended == "done"


def test_all_trials_fail(cluster: str, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(
        "games = 20000\n[train]\nnetwork = '0123'\nblock = 1000\nfrom = 'nothing.safetensors'\n[vary]\nalpha = [0.1]\n"
    )
    result = run("sweep", tmp_path / "bad.toml", "--run", tmp_path / "sweep", "--cluster", cluster)
    assert result.code == 8
    assert "there is no model or run nothing.safetensors" in result.out


def test_a_training_waits_for_one_that_is_ending(tmp_path: Path) -> None:
    sweep = small()
    folder = RunFolder(tmp_path / "run")
    folder.path.mkdir()
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with folder.hold():
            held.set()
            release.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(10)
    threading.Timer(0.5, release.set).start()
    report = train_leg(Leg(folder.path, sweep.run_options(sweep.trials[0], 1), 300, "games"))
    holder.join()
    assert (report.error, report.games) == (None, 300)


def test_a_network_that_no_node_can_hold(cluster: str, tmp_path: Path) -> None:
    folder = SweepFolder.make(tmp_path / "sweep", small(SMALL.replace('"0123,4567"', '"4x8"')))
    with pytest.raises(ResourceError, match=r"needs .* GiB of memory, but no node has more than"):
        run_sweep(folder, cluster=cluster)


def test_a_sweep_has_one_writer_and_one_name(whole: SweepFolder, cluster: str, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    before = contents(whole.path)
    result = run("sweep", tmp_path / "small.toml", "--run", whole.path, "--cluster", cluster)
    assert (result.code, "continue it with --resume" in result.error) == (4, True)
    with whole.hold(), pytest.raises(FileError, match="under way in another process"):
        run_sweep(SweepFolder.open(whole.path), cluster=cluster)
    assert contents(whole.path) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace('"kind": "end"', '"kind": "odd"', 1), "not a record of this sweep"),
        (lambda text: text.replace('"alpha": 0.5}', '"alpha": 0.4}', 1), "has other trials than sweep.toml"),
        (lambda text: "no JSON\n" + text, "line 1: not a record"),
    ],
)
def test_a_damaged_record_is_refused(whole: SweepFolder, tmp_path: Path, change: Any, message: str) -> None:
    shutil.copytree(whole.path, tmp_path / "copy")
    log = tmp_path / "copy" / "trials.jsonl"
    log.write_text(change(log.read_text()))
    with pytest.raises(FileError, match=message):
        SweepFolder.open(tmp_path / "copy")


def test_without_ray_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    monkeypatch.setitem(sys.modules, "ray", None)
    result = run("sweep", tmp_path / "small.toml", "--run", tmp_path / "sweep")
    no_traceback(result)
    assert result.code == 3
    assert "pip install 'afterstate[cluster]'" in result.error
    assert not (tmp_path / "sweep").exists()


def test_the_table_for_people(whole: SweepFolder, cluster: str, tmp_path: Path) -> None:
    shutil.copytree(whole.path, tmp_path / "copy")
    result = run("sweep", "--run", tmp_path / "copy", "--resume", "--cluster", cluster)
    best = rank(list(whole.standings.values()))[0]
    assert f"best: trial {best.trial.number}, alpha {best.trial.varied['alpha']}" in result.out
    assert "ahead of alpha 0.1" in result.out
    assert read_json((tmp_path / "copy" / "trials.jsonl").read_text().splitlines()[0])["kind"] == "trial"
