"""One training of a sweep: from where it is to the next comparison, in a worker of Ray."""

import shutil
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

from afterstate.errors import AfterstateError
from afterstate.files import is_file, is_folder, is_held
from afterstate.games.results import Summary
from afterstate.learning.options import TrainOptions
from afterstate.learning.progress import Listener, Progress
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.trainer import resume, train
from afterstate.network.modelfile import read_training

PATIENCE = 20.0  # seconds for another process to let go of a run


@dataclass(frozen=True)
class Leg:
    """What to train: a run, and how far."""

    path: Path
    options: TrainOptions
    until: float  # games or seconds
    by: str  # "games" or "time"


@dataclass(frozen=True)
class Report:
    """What came of it."""

    score: float | None  # mean of the last block; None if the training did not get there
    games: int = 0
    seconds: float = 0.0  # of training, since the run began
    error: str | None = None
    cpu: float = 0.0  # seconds of processor time that this leg took
    wall: float = 0.0  # seconds that it took


class _Pause(Listener):
    """Stops a run at the end of the block in which it gets there."""

    def __init__(self, until: float, by: str, stop: threading.Event) -> None:
        self.until, self.by, self.stop = until, by, stop
        self.seconds = 0.0

    def on_progress(self, progress: Progress) -> None:
        self.seconds = progress.seconds

    def on_block(self, games: int, block: Summary) -> None:  # noqa: ARG002
        if (games if self.by == "games" else self.seconds) >= self.until:
            self.stop.set()


def train_leg(leg: Leg) -> Report:
    """Train a run until it has so many games, or seconds.

    It may be called again after it was killed: the run goes on from its checkpoint, and what came after that is played again.
    """
    began, cpu = time.perf_counter(), time.process_time()
    run = RunFolder(leg.path)
    try:
        if not _is_there(run, leg):
            _train(run, leg)
        report = _read_report(run, leg)
    except AfterstateError as error:
        report = Report(None, error=str(error))
    return replace(report, cpu=time.process_time() - cpu, wall=time.perf_counter() - began)


def _train(run: RunFolder, leg: Leg) -> None:
    _wait_for(run)
    stop = threading.Event()
    listener = _Pause(leg.until, leg.by, stop)
    if is_file(run.config):
        resume(run.path, listener=listener, stop=stop)
    else:
        shutil.rmtree(run.path, ignore_errors=True)  # what is left of a process that was killed while it made the folder
        train(leg.options, run=run.path, listener=listener, stop=stop)


def _wait_for(run: RunFolder) -> None:
    """Wait until nobody trains the run: who did before was killed, and its process may need a moment to end."""
    deadline = time.monotonic() + PATIENCE
    while is_folder(run.path) and is_held(run.path) and time.monotonic() < deadline:
        time.sleep(0.2)


def _is_there(run: RunFolder, leg: Leg) -> bool:
    """Whether the last checkpoint is as far as the leg goes."""
    if not is_file(run.last):
        return False
    training = read_training(run.last)
    return (training.games if leg.by == "games" else training.seconds) >= leg.until


def _read_report(run: RunFolder, leg: Leg) -> Report:
    """The mean of the last block, if the run has got there."""
    if not _is_there(run, leg):
        return Report(None)
    training = read_training(run.last)
    blocks = [record for record in run.read_metrics() if record["kind"] == "block"]
    if not blocks:
        return Report(None, error=f"no block was finished within {leg.until:g} seconds: give more time, or a smaller block")
    return Report(float(blocks[-1]["mean"]), training.games, training.seconds)
