"""What runs have measured, as curves: read, and named by what tells the runs apart."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from afterstate.errors import FileError
from afterstate.learning.blocks import Record
from afterstate.learning.options import COUNTS, TrainOptions
from afterstate.learning.runfolder import RunFolder
from afterstate.units import format_count

# options that change nothing that is learned
_NOT_LEARNED = {"recipe", "block", "best", "eval_every", "eval_games", "tensorboard"}


@dataclass(frozen=True)
class Curve:
    """The measurements of one run."""

    path: Path
    options: TrainOptions
    blocks: list[Record]  # at least one
    evals: list[Record]

    @classmethod
    def of(cls, path: Path) -> "Curve":
        folder = RunFolder.open(path)
        records = folder.read_metrics()
        blocks = [record for record in records if record["kind"] == "block"]
        if not blocks:
            raise FileError(f"run {path} has no finished block to show yet")
        return cls(path, folder.read_config(), blocks, [record for record in records if record["kind"] == "eval"])

    @property
    def game(self) -> str:
        """The game with its rules and board; only runs of one game can be compared."""
        rules = "" if self.options.rules in (None, "standard") else f", {self.options.rules} rules"
        return f"{self.options.game} {self.options.size}{rules}"

    @property
    def win_tile(self) -> int:
        return int(self.blocks[0]["win_tile"])


# --- names -----------------------------------------------------------------------------------------------------------


def fit(text: str, width: int) -> str:
    """A text of at most so many characters; the middle is left out, since names often differ at their end."""
    if len(text) <= width:
        return text
    tail = width // 2
    return f"{text[: width - tail - 1]}…{text[-tail:]}"


def name_runs(curves: Sequence[Curve]) -> list[str]:
    """The name of each run's folder, with as much of the path as tells it from the others."""
    paths = [curve.path.resolve() for curve in curves]

    def tail(path: Path, parts: int) -> str:
        return "/".join(path.parts[-parts:])

    names = []
    for path in paths:
        others = {other for other in paths if other != path}
        parts = 1
        while parts < len(path.parts) and any(tail(path, parts) == tail(other, parts) for other in others):
            parts += 1
        names.append(tail(path, parts))
    return names


def label_runs(curves: Sequence[Curve]) -> list[str]:
    """The name of each run, and in which options it differs from the others: 'two (alpha 0.5)'."""
    names = [spec.name for spec in fields(TrainOptions) if spec.name not in _NOT_LEARNED]
    differ = [name for name in names if len({getattr(curve.options, name) for curve in curves}) > 1]
    labels = []
    for curve, label in zip(curves, name_runs(curves), strict=True):
        set_to = [(name, getattr(curve.options, name)) for name in differ]
        told = ", ".join(f"{option_name(name)} {_briefly(name, value)}" for name, value in set_to if value is not None)
        labels.append(f"{fit(label, 60)} ({fit(told, 50)})" if told else fit(label, 60))
    return labels


def _briefly(name: str, value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) and name != "time" else option_text(name, value)


def option_name(name: str) -> str:
    """As on the command line: lambda_ -> lambda, eval_every -> eval-every."""
    return name.rstrip("_").replace("_", "-")


def option_text(name: str, value: Any) -> str:
    """As people write it on the command line, and exact: games 100000 -> 100k, time 600.0 -> 10m, alpha 0.1 -> 0.1."""
    if name in COUNTS:
        return format_count(value)
    if name == "time":
        unit, seconds = next((pair for pair in (("h", 3600), ("m", 60)) if value % pair[1] == 0), ("s", 1))
        return f"{option_text('', value / seconds)}{unit}"
    if isinstance(value, float):
        return short if float(short := f"{value:g}") == value else repr(value)
    return str(value)
