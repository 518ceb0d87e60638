"""Successive halving on Ray: trainings are tasks, and Ray Tune's ASHA says which trials go on.

Each training runs to the next comparison, saves, and gives its processor back. A trial is compared once all its seeds are
there: ASHA lets it go on if it is among the best so far at this comparison. A task that is killed is started again by Ray, and
goes on from its checkpoint. docs/notebook.md says why Tune does not run the trials as well.
"""

import threading
from collections import deque
from dataclasses import dataclass, field
from time import perf_counter
from types import SimpleNamespace
from typing import Any

from afterstate.cluster.address import LOCAL
from afterstate.cluster.connection import Session, connect
from afterstate.cluster.failures import load_ray, translated
from afterstate.cluster.sweeps.file import Sweep, Trial
from afterstate.cluster.sweeps.folder import Result, SweepFolder, Why
from afterstate.cluster.sweeps.trial import Leg, Report, train_leg
from afterstate.errors import AfterstateError, ClusterError, ResourceError
from afterstate.learning.plan import count_bytes, make_plan
from afterstate.units import format_bytes

RETRIES = 3  # of a training whose process dies
TICK = 0.5  # seconds between two reports
GRACE = 15.0  # seconds in which trainings must have saved after a stop
LOOK = 5.0  # seconds between two looks at the nodes
PROCESS = 300 * 2**20  # bytes that a worker takes besides its network


@dataclass(frozen=True)
class Job:
    """One training of a trial to one comparison."""

    trial: Trial
    seed: int
    at: float
    again: int = 0  # times that it came back without a result


@dataclass(frozen=True)
class Outcome:
    """What a sweep did this time."""

    stopped: bool
    seconds: float  # from the first task on
    processors: int  # that it could use
    cpu: float  # seconds of processor time of its trainings
    work: float  # seconds that processors were given to them; less was used if the machine has other work

    @property
    def busy(self) -> float:
        """The share of the processors' time that its trainings used."""
        return self.cpu / (self.processors * self.seconds)

    @property
    def occupied(self) -> float:
        """The share of the time in which a processor had a training to do."""
        return self.work / (self.processors * self.seconds)


class Watcher:
    """Is told how a sweep goes; the default ignores it."""

    def on_tick(self, folder: SweepFolder, running: list[Job]) -> None:
        """About twice a second."""

    def on_result(self, trial: Trial, result: Result) -> None:
        pass

    def on_end(self, trial: Trial, why: Why, error: str | None) -> None:
        pass


class Halving:
    """Which trials go on? The answers are those of Ray Tune's ASHA; the reference always does."""

    def __init__(self, sweep: Sweep) -> None:
        load_ray()
        from ray.tune.schedulers import ASHAScheduler, TrialScheduler

        self.last = sweep.rungs[-1]
        self._stop = TrialScheduler.STOP
        self._asha: Any = ASHAScheduler(
            time_attr="at", metric="score", mode="max", max_t=self.last, grace_period=sweep.rungs[0],
            reduction_factor=sweep.factor,
        )  # fmt: skip
        self._known = {trial.number: SimpleNamespace(trial_id=str(trial.number)) for trial in sweep.trials}
        for each in self._known.values():
            self._asha.on_trial_add(None, each)

    def judge(self, trial: Trial, result: Result) -> Why | None:
        """Take a result -> why the trial ends here, or None if it goes on."""
        known = self._known[trial.number]
        answer = self._asha.on_trial_result(None, known, {"at": result.at, "score": result.score})
        if result.at >= self.last:
            return "done"
        return "stopped" if answer == self._stop and trial.number else None


def run_sweep(
    folder: SweepFolder, *, cluster: str = LOCAL, stop: threading.Event | None = None, watcher: Watcher | None = None
) -> Outcome:
    """Train all trials that have not ended, to the end or until `stop` is set or Ctrl-C is pressed."""
    stop = stop or threading.Event()
    with folder.hold(), connect(cluster, stop) as session:
        work = _Work(folder, session, stop, watcher or Watcher())
        try:
            with translated():
                return work.run()
        except ClusterError:
            work.running.clear()  # nobody is left to be asked
            raise
        finally:
            work.leave()
            folder.write_csv()


@dataclass
class _Work:
    folder: SweepFolder
    session: Session
    stop: threading.Event
    watcher: Watcher
    waiting: deque[Job] = field(default_factory=deque)
    running: dict[Any, Job] = field(default_factory=dict)  # by Ray's reference
    reports: dict[int, dict[int, Report]] = field(default_factory=dict)  # of a trial's next result, by seed
    cpu: float = 0.0
    work: float = 0.0

    def run(self) -> Outcome:
        ray = load_ray()
        sweep = self.folder.sweep
        self.train = ray.remote(train_leg)
        if not (slots := self._count_slots()):
            raise ResourceError(f"a training takes {sweep.threads} threads, and no node has so many processors")
        self.memory = {trial.number: self._memory(trial) for trial in sweep.trials}
        self.halving = Halving(sweep)
        self._continue()
        began = looked = perf_counter()
        while (self.waiting or self.running) and not self.stop.is_set():
            while self.waiting and len(self.running) < slots:
                self._submit(self.waiting.popleft())
            done, _ = ray.wait(list(self.running), timeout=TICK)
            for reference in done:
                self._take(self.running.pop(reference), reference)
            self.watcher.on_tick(self.folder, list(self.running.values()))
            if perf_counter() - looked > LOOK:
                self.session.check()
                slots, looked = max(self._count_slots(), 1), perf_counter()
        seconds, left = perf_counter() - began, bool(self.waiting or self.running)
        return Outcome(left, seconds, slots * sweep.threads, self.cpu, self.work)

    def _count_slots(self) -> int:
        """How many trainings the nodes can do at once; nodes come and go."""
        return sum(node.processors // self.folder.sweep.threads for node in self.session.nodes())

    def _memory(self, trial: Trial) -> int:
        """The bytes that a training of this trial needs; refuse what no node has."""
        need = count_bytes(make_plan(self.folder.sweep.run_options(trial, 1))) + PROCESS
        most = max(node["Resources"].get("memory", 0) for node in load_ray().nodes() if node["Alive"])
        if need > most:
            raise ResourceError(
                f"trial {trial.number} ({trial.label}) needs {format_bytes(need)} of memory, but no node has more than "
                f"{format_bytes(most)} for it: choose fewer or smaller patterns"
            )
        return need

    def _continue(self) -> None:
        """Tell ASHA all results that are known, and put what is left to do into the queue."""
        verdicts = {trial.number: self.halving.judge(trial, result) for trial, result in self.folder.history}
        open_trials = [standing for standing in self.folder.standings.values() if standing.ended is None]
        open_trials.sort(key=lambda standing: not self._has_begun(standing.trial))  # those first that have checkpoints
        for standing in open_trials:
            why = verdicts.get(standing.trial.number)
            if why is not None:  # the sweep was ended between a result and its consequence
                self._end(standing.trial, why)
            else:
                at = self.folder.sweep.rungs[len(standing.results)]
                self.waiting.extend(Job(standing.trial, seed, at) for seed in self.folder.sweep.seeds)

    def _has_begun(self, trial: Trial) -> bool:
        return any(self.folder.run(trial, seed).config.exists() for seed in self.folder.sweep.seeds)

    def _submit(self, job: Job) -> None:
        sweep = self.folder.sweep
        path = self.folder.run(job.trial, job.seed).path.absolute()
        leg = Leg(path, sweep.run_options(job.trial, job.seed), job.at, sweep.by)
        task = self.train.options(num_cpus=sweep.threads, memory=self.memory[job.trial.number], max_retries=RETRIES)
        self.running[task.remote(leg)] = job

    def _take(self, job: Job, reference: Any) -> None:
        """A training has come back."""
        trial = job.trial
        try:
            with translated():
                report: Report = load_ray().get(reference)
        except AfterstateError as error:
            self.session.check()  # if the head is gone, that is no fault of the trial
            report = Report(None, error=str(error))
        self.cpu += report.cpu
        self.work += report.wall * self.folder.sweep.threads
        if self.folder.standings[trial.number].ended is not None:
            return  # another seed has failed
        if report.score is None and report.error is None and job.again < RETRIES:  # a signal from outside has stopped it
            self.waiting.appendleft(Job(trial, job.seed, job.at, job.again + 1))
        elif report.score is None:
            self.waiting = deque(other for other in self.waiting if other.trial is not trial)
            self._end(trial, "failed", report.error or "it was stopped again and again from outside")
        else:
            found = self.reports.setdefault(trial.number, {})
            found[job.seed] = report
            if len(found) == len(self.folder.sweep.seeds):
                self._compare(trial, job.at, self.reports.pop(trial.number))

    def _compare(self, trial: Trial, at: float, reports: dict[int, Report]) -> None:
        """All seeds of a trial are there: does it go on?"""
        sweep = self.folder.sweep
        ordered = [reports[seed] for seed in sweep.seeds]
        scores = tuple(report.score for report in ordered if report.score is not None)
        result = Result(at, scores, tuple(report.games for report in ordered), sum(report.seconds for report in ordered))
        self.folder.add_result(trial, result)
        self.watcher.on_result(trial, result)
        why = self.halving.judge(trial, result)
        if why is not None:
            self._end(trial, why)
            return
        further = sweep.rungs[sweep.rungs.index(at) + 1]
        self.waiting.extendleft(Job(trial, seed, further) for seed in reversed(sweep.seeds))

    def _end(self, trial: Trial, why: Why, error: str | None = None) -> None:
        self.folder.add_end(trial, why, error)
        self.folder.write_csv()
        self.watcher.on_end(trial, why, error)

    def leave(self) -> None:
        """Ask trainings that are under way to save and end; those that do not are killed."""
        if not self.running:
            return
        ray = load_ray()
        left = list(self.running)
        for force in (False, True):
            for reference in left:
                ray.cancel(reference, force=force)
            _, left = ray.wait(left, num_returns=len(left), timeout=GRACE if not force else 2.0)
            if not left:
                return
