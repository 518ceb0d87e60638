"""A run is a folder: config.toml, metrics.jsonl, metrics.csv, games.bin, checkpoints/ (last and best), report/."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from afterstate.errors import FileError, ModelError, ResourceError
from afterstate.files import atomic_write, hold_folder, is_file, is_folder, parse_toml, reading, sync_folder
from afterstate.learning.metrics import Metrics
from afterstate.learning.options import TrainOptions, read_options
from afterstate.network.interop.reading import split_reading
from afterstate.network.modelfile import read_training
from afterstate.network.shipped import find_shipped, shipped_models
from afterstate.network.training import Block, Training

ROOT = Path("runs")
_LONGEST_CONFIG = 1_000_000  # bytes
_LAST_OPTION = re.compile(rb"^(# )?recipe =", re.MULTILINE)  # `write_config` writes every option, and this one last


class RunFolder:
    """Where a training run keeps what it has learned and measured."""

    def __init__(self, path: Path | str) -> None:
        self._stem: Path | None = None  # of names, for a new run without one
        self._move(Path(path))

    def _move(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.toml"
        self.metrics = path / "metrics.jsonl"
        self.csv = path / "metrics.csv"
        self.games = path / "games.bin"
        self.last = path / "checkpoints" / "last.safetensors"
        self.best = path / "checkpoints" / "best.safetensors"
        self.report = path / "report"

    @classmethod
    def plan(
        cls, path: Path | str | None, options: TrainOptions, *, room: int = 0, root: Path = ROOT, stem: str | None = None
    ) -> "RunFolder":
        """Choose the folder of a new run: it must be free, with `room` bytes on its disk.

        If unnamed, it is the next free one of stem-1, stem-2, ... in `root`; the stem is made from the options, if not given.
        """
        start = root / (stem or _stem(options))
        folder = cls(_free_name(start) if path is None else path)
        folder._stem = start if path is None else None
        if is_file(folder.path) or (is_folder(folder.path) and any(folder.path.iterdir())):
            raise folder._taken()
        folder._check_room(room)
        return folder

    def _taken(self) -> FileError:
        if is_file(self.config):
            return FileError(f"run {self.path} exists: continue it with --resume, or choose another name with --run")
        return FileError(f"{self.path} exists and is not a run: choose another name with --run")

    def make(self, options: TrainOptions) -> None:
        """Make the folder and write the options to it."""
        self.take()
        self.write_config(options)

    def take(self) -> None:
        """Make the folder, which is no run before its options are written to it.

        Of several runs that are started at the same time, the one that makes checkpoints/ has the folder. The others take the
        next free name, or fail if the name was given.
        """
        while True:
            new = [parent for parent in self.path.absolute().parents if not is_folder(parent)]
            try:
                self.path.mkdir(parents=True, exist_ok=True)
                self.last.parent.mkdir()
                for parent in (self.path.parent, *(parent.parent for parent in new)):
                    sync_folder(parent)
                break
            except FileExistsError as error:
                if self._stem is None or not is_folder(self._stem.parent):
                    raise self._taken() from error
                self._move(_free_name(self._stem))
            except OSError as error:
                raise FileError(f"cannot make the run folder {self.path}: {error.strerror}") from error
        self.make_folders()

    def make_folders(self) -> None:
        """Make the folders for checkpoints and plots, if they are not there."""
        try:
            self.last.parent.mkdir(exist_ok=True)
            self.report.mkdir(exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot make the folders of run {self.path}: {error.strerror}") from error

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Be the only one to train this run while the block runs; remove what a writer left that was killed."""
        with hold_folder(self.path) as free:
            if not free:
                raise FileError(f"run {self.path} is being trained by another process: wait for its end, or stop it")
            for left in self.path.rglob(".*.partial"):
                with suppress(OSError):
                    left.unlink()
            yield

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
        """The options that the run was started with; an unknown key is an error, and so is a file that was cut off."""
        with reading(self.config):
            with open(self.config, "rb") as file:
                text = file.read(_LONGEST_CONFIG + 1)
            if len(text) > _LONGEST_CONFIG:
                raise FileError(f"{self.config} is longer than {_LONGEST_CONFIG} bytes: it is not the config of a run")
            options = TrainOptions(**read_options(parse_toml(text), str(self.config)))
        if not _LAST_OPTION.search(text):
            raise FileError(f"{self.config} is cut off: the last of its options, recipe, is not there, not even as a comment")
        return options

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
        return Metrics(self.metrics).lines()

    def best_so_far(self) -> Block | None:
        """The games that the best checkpoint was kept for; None if there is none yet."""
        if not is_file(self.best):
            return None
        block = read_training(self.best).block
        if block is None:
            raise ModelError(f"{self.best} is not a best checkpoint of a run: it does not say which block it is from")
        return block

    def is_finished(self) -> bool:
        """Whether the run has played all its games, and been evaluated after the last if it had to be."""
        if not is_file(self.last):
            return False
        return is_complete(self.read_config(), read_training(self.last))

    def disk_usage(self) -> int:
        """Bytes that the folder takes on its disk. Links are not followed, and holes in files do not count."""
        found = 0
        for folder, _, names in os.walk(self.path):
            for name in names:
                with suppress(OSError):  # a checkpoint was just replaced
                    status = os.lstat(os.path.join(folder, name))
                    found += 512 * status.st_blocks if hasattr(status, "st_blocks") else status.st_size
        return found

    def snapshot(self, games: int) -> Path:
        """Where the network of an evaluation is kept."""
        return self.last.parent / f"at-{games}.safetensors"

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


def is_complete(options: TrainOptions, training: Training) -> bool:
    """Whether a run with these options is complete, by what its last checkpoint says."""
    over = options.games is not None and training.games >= options.games
    over |= options.time is not None and training.seconds >= options.time
    return over and (training.evaluated >= training.games or not options.evaluates_at(training.games))


def find_model(path: Path | str) -> Path:
    """A model file as it is, the best checkpoint of a run folder, or the model of the package with this name.

    A file or a run comes before a model of the package; a folder that is no run does not. How to read a weight file of another
    program may follow its name: weights.bin:network=4x6
    """
    path = Path(path)
    shipped = find_shipped(path)
    if shipped is not None and not is_file(path) and not is_file(RunFolder(path).config):
        return shipped.path
    if is_folder(path):
        return RunFolder.open(path).model
    if not is_file(split_reading(path)[0]):
        names = ", ".join(model.name for model in shipped_models())
        known = f"; the models of the package are {names}" if names else ""
        raise FileError(f"there is no model or run {path}{known}")
    return path


def options_as_dict(options: TrainOptions) -> dict[str, Any]:
    """The options that are set, for a header."""
    return {name.rstrip("_"): value for name, value in asdict(options).items() if value is not None}


def _stem(options: TrainOptions) -> str:
    network = (options.network or "").replace(",", "-")
    return f"{options.game}-{network if len(network) < 30 else 'patterns'}-{options.method}"


def _free_name(stem: Path) -> Path:
    """The next free name: runs/2048-4x6-td-1."""
    number = 1
    while os.path.lexists(name := stem.with_name(f"{stem.name}-{number}")):
        number += 1
    return name
