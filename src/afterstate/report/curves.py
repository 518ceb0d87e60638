"""What runs have measured, as curves: read, thinned out, and named by what tells the runs apart."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from afterstate.errors import FileError
from afterstate.intervals import deviation_of, half_width
from afterstate.learning.metrics import reached
from afterstate.learning.options import COUNTS, TrainOptions
from afterstate.learning.runfolder import RunFolder
from afterstate.units import format_count

Record = dict[str, Any]  # a line of the metrics
MOST = 400  # points of a curve; more cannot be told apart
_NOT_LEARNED = {
    "recipe",
    "block",
    "best",
    "eval_every",
    "eval_games",
    "tensorboard",
}  # options that change nothing that is learned


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


# --- values of a record ----------------------------------------------------------------------------------------------


def number(record: Record, name: str) -> float | None:
    """A figure that a record may have; None if it is missing or not a number."""
    value = record.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63 else None


def merge(blocks: list[Record], most: int = MOST) -> list[Record]:
    """At most so many blocks: neighbours become one block, with the mean and the interval that all their games have."""
    size = -(-len(blocks) // most)
    return blocks if size == 1 else [_union(blocks[start : start + size]) for start in range(0, len(blocks), size)]


def _union(blocks: list[Record]) -> Record:
    """Several blocks as one. Sums of squares add up, so the interval is that of all games."""
    count = sum(block["count"] for block in blocks)

    def mean(values: list[float]) -> float:
        total = sum(value * block["count"] for value, block in zip(values, blocks, strict=True))
        return float(total / count)

    score = mean([block["mean"] for block in blocks])
    squares = 0.0
    for block in blocks:
        games = block["count"]
        deviation = deviation_of(block["interval"] or 0.0, games)
        squares += (games - 1) * deviation**2 + games * (block["mean"] - score) ** 2
    tiles = sorted({int(tile) for block in blocks for tile in block["reached"]})
    return blocks[-1] | {
        "count": count,
        "mean": score,
        "interval": half_width(math.sqrt(squares / (count - 1)), count) if count > 1 else None,
        "max": max((best for block in blocks if (best := number(block, "max")) is not None), default=None),
        "win_rate": mean([block["win_rate"] for block in blocks]),
        "reached": {str(tile): mean([reached(block, tile) for block in blocks]) for tile in tiles},
    }


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
