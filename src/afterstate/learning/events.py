"""The metrics of a run as an event file of TensorBoard: metrics.jsonl in another form.

Everything in it comes from the metrics. So a resume makes it again from the lines that its checkpoint keeps: no point is
doubled, and a run that asks for it late has all its points. A step is a game of training. The time of a point is the time that
the training took, counted from the start of the run, so that pauses do not show.
"""

from collections.abc import Sequence
from pathlib import Path
from time import time
from typing import Any

from afterstate.errors import InputError, ResourceError
from afterstate.learning.metrics import reached

Record = dict[str, Any]  # a line of the metrics

FILES = "events.out.tfevents.*"
# what a figure of a line is called; of an evaluation it is eval/ instead of train/
_OF_GAMES = {
    "mean": "score_mean",
    "interval": "score_interval",
    "median": "score_median",
    "max": "score_max",
    "win_rate": "win_rate",
    "judge": "judge_points",
}
_OF_LEARNING = {
    "alpha": "train/learning_rate",
    "mean_rate": "train/learning_rate_mean",
    "mean_error": "train/td_error",
    "out_of_range": "train/out_of_range",
    "moves_per_s": "time/moves_per_second",
    "training_seconds": "time/training_seconds",
}


class EventFile:
    """The event file in a run's folder. It is made when the first line comes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files, self._event, self._summary = _find_library()
        self._writer: Any = None
        self._start = 0.0  # of the training, by the clock, if it had never paused
        self._tiles: set[int] = set()  # that some game has reached

    def begin(self, records: Sequence[Record]) -> None:
        """Make the file again, with these lines."""
        self.close()
        try:
            for old in self.folder.glob(FILES):
                old.unlink()
            self._writer = self._files.EventFileWriter(str(self.folder))
        except OSError as error:
            raise self._failed(error) from error
        self._start = time() - (_seconds(records[-1]) if records else 0.0)
        self._tiles = set()
        self._write(records)

    def add(self, record: Record) -> None:
        """Add a line; whoever looks at the file sees it at once."""
        if self._writer is None:
            self.begin([record])
        else:
            self._write([record])

    def close(self) -> None:
        """Close the file."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            try:
                writer.close()
            except OSError as error:
                raise self._failed(error) from error

    def _write(self, records: Sequence[Record]) -> None:
        try:
            for record in records:
                values = [self._summary.Value(tag=tag, simple_value=value) for tag, value in self._scalars(record).items()]
                when = self._start + _seconds(record)
                self._writer.add_event(
                    self._event(wall_time=when, step=record["games"], summary=self._summary(value=values))
                )  # fmt: skip
            self._writer.flush()
        except OSError as error:
            raise self._failed(error) from error

    def _scalars(self, record: Record) -> dict[str, float]:
        """The figures of a line by their tags. A tile that was reached once is told from then on."""
        kind = "train" if record["kind"] == "block" else "eval"
        self._tiles |= {int(tile) for tile in record["reached"]}
        found = {f"{kind}/{name}": record.get(key) for key, name in _OF_GAMES.items()}
        found[f"{kind}/largest_tile"] = max(map(int, record["reached"]))
        found |= {f"{kind}/reached_{tile}": reached(record, tile) for tile in sorted(self._tiles)}
        if kind == "train":
            found |= {name: record.get(key) for key, name in _OF_LEARNING.items()}
        return {tag: float(value) for tag, value in found.items() if value is not None}

    def _failed(self, error: OSError) -> ResourceError:
        return ResourceError(f"cannot write an event file to {self.folder}: {error.strerror}")


def _seconds(record: Record) -> float:
    """How long the training had taken."""
    return float(record.get("training_seconds") or 0.0)


def _find_library() -> tuple[Any, Any, Any]:
    """TensorBoard's module that writes event files, and its types of an event and of a summary."""
    try:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer import event_file_writer
    except ImportError as error:
        raise InputError("event files need the package tensorboard: pip install 'afterstate[tensorboard]'") from error
    return event_file_writer, Event, Summary
