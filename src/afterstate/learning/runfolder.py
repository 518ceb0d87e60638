"""A run is a folder: config.toml, metrics.jsonl, checkpoints/ (last and best), report/."""

import json
import os
import shutil
import tomllib
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from afterstate.errors import FileError, InputError, ModelError, ResourceError
from afterstate.files import atomic_write, is_file, is_folder
from afterstate.learning.options import TrainOptions, read_options
from afterstate.network.modelfile import read_training

ROOT = Path("runs")


class RunFolder:
    """Where a training run keeps what it has learned and measured."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.config = self.path / "config.toml"
        self.metrics = self.path / "metrics.jsonl"
        self.last = self.path / "checkpoints" / "last.safetensors"
        self.best = self.path / "checkpoints" / "best.safetensors"
        self.report = self.path / "report"

    @classmethod
    def plan(cls, path: Path | str | None, options: TrainOptions, *, room: int = 0, root: Path = ROOT) -> "RunFolder":
        """Choose the folder of a new run: it must be free, with `room` bytes on its disk; if unnamed, the next in `root`."""
        folder = cls(path) if path is not None else cls(_free_name(options, root))
        if is_file(folder.path) or (is_folder(folder.path) and any(folder.path.iterdir())):
            if is_file(folder.config):
                raise FileError(f"run {folder.path} exists: continue it with --resume, or choose another name with --run")
            raise FileError(f"{folder.path} exists and is not a run: choose another name with --run")
        folder._check_room(room)
        return folder

    def make(self, options: TrainOptions) -> None:
        """Make the folder and write the options to it."""
        try:
            self.last.parent.mkdir(parents=True, exist_ok=True)
            self.report.mkdir(exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot make the run folder {self.path}: {error.strerror}") from error
        self.write_config(options)

    @classmethod
    def open(cls, path: Path | str) -> "RunFolder":
        """Open a folder that holds a run."""
        folder = cls(path)
        if not is_file(folder.config):
            raise FileError(f"there is no run in {folder.path} (no config.toml)")
        return folder

    def write_config(self, options: TrainOptions) -> None:
        """Write all options as TOML."""
        lines = []
        for spec in fields(options):
            value = getattr(options, spec.name)
            name = spec.name.rstrip("_")  # `lambda` is a keyword of Python
            text = f"# {name} =" if value is None else f"{name} = {json.dumps(value)}"
            lines.append(f"{text:<40}  # {spec.metadata['help']}\n")
        with atomic_write(self.config) as file:
            file.write("".join(lines).encode())

    def read_config(self) -> TrainOptions:
        """The options that the run was started with; an unknown key is an error."""
        try:
            with open(self.config, "rb") as file:
                values = tomllib.load(file)
        except (OSError, ValueError) as error:
            raise FileError(f"cannot read {self.config}: {error}") from error
        try:
            return TrainOptions(**read_options(values, str(self.config)))
        except InputError as error:
            raise FileError(f"{self.config}: {error}") from error

    def _check_room(self, room: int) -> None:
        """Refuse to start a run whose checkpoints would not fit on the disk."""
        place = next(path for path in (self.path.absolute(), *self.path.absolute().parents) if is_folder(path))
        free = shutil.disk_usage(place).free
        if room > free:
            raise ResourceError(
                f"the checkpoints of this run need {room / 2**20:.0f} MiB in {self.path}, "
                f"but the disk has only {free / 2**20:.0f} MiB left"
            )

    def append(self, record: dict[str, Any]) -> None:
        """Add one line to the metrics."""
        line = (json.dumps(record) + "\n").encode()
        try:
            with open(self.metrics, "ab") as file:
                file.write(line)
        except OSError as error:
            raise ResourceError(f"cannot write {self.metrics}: {error.strerror}") from error

    def read_metrics(self) -> list[dict[str, Any]]:
        """All lines of the metrics; a last line that was cut off is ignored."""
        records = []
        try:
            lines = self.metrics.read_bytes().splitlines() if self.metrics.exists() else []
        except OSError as error:
            raise FileError(f"cannot read {self.metrics}: {error.strerror}") from error
        for number, line in enumerate(lines, start=1):
            try:
                record = json.loads(line)
            except ValueError as error:
                if number == len(lines):
                    break
                raise FileError(f"{self.metrics}, line {number}: not JSON") from error
            if wrong := _wrong_field(record):
                raise FileError(f"{self.metrics}, line {number}: not a line of metrics: {wrong!r} is missing or wrong")
            records.append(record)
        return records

    def rewind_metrics(self, games: int) -> None:
        """Drop what was measured after game number `games`: the run continues from there."""
        kept = [record for record in self.read_metrics() if record["games"] <= games]
        with atomic_write(self.metrics) as file:
            file.write("".join(json.dumps(record) + "\n" for record in kept).encode())

    def best_so_far(self) -> tuple[float, float]:
        """Win rate and mean of the best block; lower than any block if there is none yet."""
        if not is_file(self.best):
            return (-1.0, 0.0)
        block = read_training(self.best).block
        if block is None:
            raise ModelError(f"{self.best} is not a best checkpoint of a run: it does not say which block it is from")
        return block.win_rate, block.mean

    @property
    def checkpoints(self) -> tuple[tuple[str, Path], ...]:
        """The checkpoints that a run writes, the one to play with first."""
        return ("best", self.best), ("last", self.last)

    @property
    def model(self) -> Path:
        """The model to play with: the best checkpoint, or the last if no block was finished."""
        for _, path in self.checkpoints:
            if path.exists():
                return path
        raise FileError(f"run {self.path} has no checkpoint yet")


def find_model(path: Path | str) -> Path:
    """A model file as it is, or the best checkpoint of a run folder."""
    path = Path(path)
    if is_folder(path):
        return RunFolder.open(path).model
    if not is_file(path):
        raise FileError(f"there is no model or run {path}")
    return path


_WHOLE = ("games", "count", "win_tile")
_REAL = ("mean", "win_rate")
_PERHAPS = ("interval", "moves_per_s", "training_seconds")  # may be null: a block of one game has no interval


def _wrong_field(record: Any) -> str | None:
    """The first field of a metrics line that readers need but cannot use; None if all are valid."""
    if not isinstance(record, dict):
        return "kind"
    sound = {"kind": record.get("kind") in ("block", "eval"), "reached": _are_rates(record.get("reached"))}
    sound |= {name: type(record.get(name)) is int and _is_number(record[name]) for name in _WHOLE}
    sound |= {name: _is_number(record.get(name)) for name in _REAL}
    sound |= {name: record.get(name) is None or _is_number(record[name]) for name in _PERHAPS}
    sound["interval"] &= "interval" in record
    return next((name for name, is_sound in sound.items() if not is_sound), None)


def _are_rates(reached: Any) -> bool:
    """Whether this maps tiles to rates."""
    if not isinstance(reached, dict) or not reached:
        return False
    return all(tile.isdecimal() and _is_number(rate) for tile, rate in reached.items())


def _is_number(value: Any) -> bool:
    """Whether this is a number that can be plotted: no bool, no NaN, and within 64 bits."""
    return type(value) in (int, float) and abs(value) < 2**63


def options_as_dict(options: TrainOptions) -> dict[str, Any]:
    """The options that are set, for a header."""
    return {name.rstrip("_"): value for name, value in asdict(options).items() if value is not None}


def _free_name(options: TrainOptions, root: Path) -> Path:
    """The next free name in a folder: runs/2048-4x6-td-1."""
    network = (options.network or "").replace(",", "-")
    stem = f"{options.game}-{network if len(network) < 30 else 'patterns'}-{options.method}"
    number = 1
    while os.path.lexists(root / f"{stem}-{number}"):
        number += 1
    return root / f"{stem}-{number}"
