"""The folder of a sweep: sweep.toml, trials.jsonl, results.csv, sweep.png, and a run folder for each training.

trials.jsonl is the one record of what has happened. It has a line for each trial, for each comparison that it came to, and for
its end. All else can be made from it and from the run folders.
"""

import csv
import io
import json
import math
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from afterstate.cluster.sweeps.file import Sweep, Trial, read_sweep
from afterstate.errors import FileError, ResourceError
from afterstate.files import atomic_write, hold_folder, is_file, is_finite, is_folder, parse_json, reading, sync_folder
from afterstate.intervals import half_width
from afterstate.learning.metrics import Metrics
from afterstate.learning.runfolder import ROOT, RunFolder

Why = Literal["done", "stopped", "failed"]
LONGEST = 50_000_000  # bytes of trials.jsonl


@dataclass(frozen=True)
class Result:
    """What a trial reached by one comparison."""

    at: float  # games or seconds
    scores: tuple[float, ...]  # mean of the last block, for each seed
    games: tuple[int, ...]  # played by then, for each seed
    seconds: float  # of training, all seeds together

    @property
    def score(self) -> float:
        """What trials are compared by."""
        return math.fsum(self.scores) / len(self.scores)


@dataclass
class Standing:
    """How far a trial has come."""

    trial: Trial
    results: list[Result] = field(default_factory=list)
    ended: Why | None = None
    error: str | None = None

    @property
    def last(self) -> Result | None:
        return self.results[-1] if self.results else None

    def ahead_of(self, other: "Standing | None") -> tuple[float, float] | None:
        """How much better it is than another, by seeds in pairs at the last comparison of both: the mean, half its interval."""
        if other is None or other is self:
            return None
        theirs = {result.at: result for result in other.results}
        mine = [result for result in self.results if result.at in theirs]
        if not mine:
            return None
        pairs = zip(mine[-1].scores, theirs[mine[-1].at].scores, strict=True)
        gaps = [one - another for one, another in pairs]
        mean = math.fsum(gaps) / len(gaps)
        spread = math.sqrt(math.fsum((gap - mean) ** 2 for gap in gaps) / (len(gaps) - 1)) if len(gaps) > 1 else 0.0
        return mean, half_width(spread, len(gaps))


def rank(standings: list[Standing]) -> list[Standing]:
    """The best first: who came further, then who has the higher score."""
    return sorted(standings, key=lambda one: (-one.last.at, -one.last.score) if one.last else (1.0, 0.0))


class SweepFolder:
    """Where a sweep keeps what it has found."""

    def __init__(self, path: Path, sweep: Sweep) -> None:
        self.path, self.sweep = path, sweep
        self.standings = {trial.number: Standing(trial) for trial in sweep.trials}
        self._metrics: dict[Path, Metrics] = {}
        self.history: list[tuple[Trial, Result]] = []  # all results, in the order in which they came

    @property
    def log(self) -> Path:
        return self.path / "trials.jsonl"

    @property
    def csv(self) -> Path:
        return self.path / "results.csv"

    @property
    def plot(self) -> Path:
        return self.path / "sweep.png"

    def run(self, trial: Trial, seed: int) -> RunFolder:
        """The run folder of one training."""
        return RunFolder(self.path / "trials" / f"{trial.number:03d}" / f"seed-{seed}")

    def progress(self, trial: Trial, seed: int) -> dict[str, Any] | None:
        """The newest block of a training that is under way; None if there is none yet."""
        run = self.run(trial, seed)
        metrics = self._metrics.setdefault(run.path, Metrics(run.metrics))
        try:
            return metrics.newest().block
        except FileError:
            return None

    # --- begin, go on ------------------------------------------------------------------------------------------------------

    @classmethod
    def make(cls, path: Path | None, sweep: Sweep) -> "SweepFolder":
        """Make the folder of a new sweep; without a path, the next free one below runs/."""
        path = path or _free_name(sweep.name)
        if os.path.lexists(path) and not (is_folder(path) and not any(path.iterdir())):
            what = "continue it with --resume" if is_file(path / "sweep.toml") else "it is not a sweep"
            raise FileError(f"{path} exists: {what}, or choose another name with --run")
        folder = cls(path, sweep)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot make the folder {path}: {error.strerror}") from error
        lines = [{"kind": "trial", "trial": trial.number, "options": trial.varied} for trial in sweep.trials]
        with atomic_write(folder.log) as file:
            file.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        with atomic_write(path / "sweep.toml") as file:
            file.write(sweep.text.encode())
        return folder

    @classmethod
    def open(cls, path: Path) -> "SweepFolder":
        """Open the folder of a sweep that was begun."""
        if not is_file(path / "sweep.toml"):
            raise FileError(f"there is no sweep in {path} (no sweep.toml)")
        folder = cls(path, read_sweep(path / "sweep.toml", name=path.name))
        with reading(folder.log):
            folder._read()
        return folder

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Be the only one to work on this sweep while the block runs."""
        with hold_folder(self.path) as free:
            if not free:
                raise FileError(f"the sweep in {self.path} is under way in another process: wait for its end, or stop it")
            yield

    # --- trials.jsonl ----------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        with open(self.log, "rb") as file:
            raw = file.read(LONGEST + 1)
        if len(raw) > LONGEST:
            raise FileError(f"{self.log} is longer than {LONGEST} bytes: it is not of a sweep")
        *lines, cut = raw.split(b"\n")  # a last line that was cut off is not there
        told = {}
        for number, line in enumerate(lines, start=1):
            try:
                record = parse_json(line)
                if not is_finite(record):
                    raise ValueError("a number is nan or infinite")
                if record["kind"] == "trial":
                    told[record["trial"]] = record["options"]
                else:
                    self._take(record)
            except (ValueError, KeyError, TypeError) as error:
                raise FileError(f"{self.log}, line {number}: not a record of this sweep ({error})") from error
        if told != {trial.number: trial.varied for trial in self.sweep.trials}:
            raise FileError(f"{self.log} has other trials than sweep.toml beside it gives: was it changed? Start a new sweep")
        if cut:
            os.truncate(self.log, len(raw) - len(cut))

    def _take(self, record: dict[str, Any]) -> None:
        standing = self.standings[record["trial"]]
        if record["kind"] == "end":
            if record["why"] not in ("done", "stopped", "failed"):
                raise ValueError(f"an unknown end, {record['why']!r:.40}")
            standing.ended, standing.error = record["why"], record.get("error")
            return
        if record["kind"] != "result" or record["at"] not in self.sweep.rungs:
            raise ValueError("neither a result nor an end")
        scores, games = tuple(map(float, record["scores"])), tuple(map(int, record["games"]))
        if len(scores) != len(self.sweep.seeds) or len(games) != len(scores):
            raise ValueError(f"{len(scores)} scores of {len(self.sweep.seeds)} seeds")
        self._keep(standing.trial, Result(record["at"], scores, games, float(record["seconds"])))

    def add_result(self, trial: Trial, result: Result) -> None:
        """Keep what a trial has reached, on the disk first."""
        self._append(
            {"kind": "result", "trial": trial.number, "at": result.at, "score": result.score, "scores": result.scores}
            | {"games": result.games, "seconds": round(result.seconds, 3)}
        )
        self._keep(trial, result)

    def _keep(self, trial: Trial, result: Result) -> None:
        self.standings[trial.number].results.append(result)
        self.history.append((trial, result))

    def add_end(self, trial: Trial, why: Why, error: str | None = None) -> None:
        """Keep that a trial has ended. What only more training would need is deleted."""
        self._append({"kind": "end", "trial": trial.number, "why": why} | ({"error": error} if error else {}))
        standing = self.standings[trial.number]
        standing.ended, standing.error = why, error
        self.clean()

    def _append(self, record: dict[str, Any]) -> None:
        try:
            with open(self.log, "ab") as file:
                file.write((json.dumps(record) + "\n").encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ResourceError(f"cannot write {self.log}: {error.strerror}") from error

    # --- what is kept ------------------------------------------------------------------------------------------------------

    def clean(self) -> None:
        """Delete the checkpoints of ended trials, except those of the best complete ones."""
        complete = [one for one in rank(list(self.standings.values())) if one.ended == "done"]
        winners = {one.trial.number for one in complete[: self.sweep.keep]}
        for standing in self.standings.values():
            if standing.ended is None:
                continue
            for seed in self.sweep.seeds:
                run = self.run(standing.trial, seed)
                if standing.trial.number not in winners:
                    shutil.rmtree(run.last.parent, ignore_errors=True)
                elif is_file(run.best):
                    run.last.unlink(missing_ok=True)
        sync_folder(self.path)

    def write_csv(self) -> None:
        """Write results.csv: a line for each trial, the best first."""
        reference = self.standings.get(0)
        names = list(dict.fromkeys(name for trial in self.sweep.trials for name in trial.varied))
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        seeds = [f"score_seed_{seed}" for seed in self.sweep.seeds]
        against = ["ahead", "ahead_interval"] if reference else []
        options = [name.rstrip("_") for name in names]
        writer.writerow(
            ["rank", "trial", "end", self.sweep.by, "score", *against, *seeds, "games", "seconds", *options, "error"]
        )
        for place, standing in enumerate(rank(list(self.standings.values())), start=1):
            writer.writerow([place, standing.trial.number, standing.ended or "open", *self._figures(standing, reference)]
                            + [standing.trial.options.get(name, "") for name in names] + [standing.error or ""])  # fmt: skip
        with atomic_write(self.csv) as file:
            file.write(text.getvalue().encode())

    def _figures(self, standing: Standing, reference: Standing | None) -> list[Any]:
        last = standing.last
        ahead = standing.ahead_of(reference)
        against: list[Any] = [""] * 2 if reference else []
        if ahead is not None:
            against = [round(ahead[0], 1), round(ahead[1], 1) if math.isfinite(ahead[1]) else ""]
        if last is None:
            return ["", "", *against, *("" for _ in self.sweep.seeds), "", ""]
        return [last.at, round(last.score, 1), *against, *last.scores, sum(last.games), round(last.seconds, 1)]


def _free_name(name: str) -> Path:
    number = 1
    while os.path.lexists(ROOT / f"sweep-{name}-{number}"):
        number += 1
    return ROOT / f"sweep-{name}-{number}"
