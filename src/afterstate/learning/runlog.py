"""What a run measures, as it is written to its folder: metrics.jsonl and metrics.csv line by line, games.bin game by game.

With `--tensorboard`, the same lines go to an event file, too.
"""

import csv
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from afterstate.errors import FileError, ResourceError
from afterstate.files import atomic_write, is_file, reading, sync_file, sync_folder
from afterstate.games.game import Game
from afterstate.games.results import Results
from afterstate.learning.events import EventFile
from afterstate.learning.gamesfile import GamesFile
from afterstate.learning.metrics import reached
from afterstate.learning.runfolder import RunFolder

# what a line of metrics.csv has before the tiles
COLUMNS = (
    "kind", "games", "count", "mean", "interval", "median", "max", "win_tile", "win_rate", "moves", "seconds", "moves_per_s",
    "training_seconds", "method", "alpha", "mean_error", "mean_rate", "out_of_range", "warning",
)  # fmt: skip


class RunLog:
    """Writes the measurements of a run, and takes back what came after a checkpoint."""

    def __init__(self, folder: RunFolder, game: Game, *, tensorboard: bool = False) -> None:
        self.folder = folder
        self.tiles = [game.face(index) for index in range(1, game.top + 1)]
        self.events = EventFile(folder.path) if tensorboard else None

    @property
    def games(self) -> GamesFile:
        return GamesFile(self.folder.games)

    def add(self, record: dict[str, Any]) -> None:
        """Add a block or an evaluation to the metrics."""
        self.folder.append(record)
        try:
            new = not is_file(self.folder.csv)
            with open(self.folder.csv, "ab") as file:
                file.write((self._header() if new else b"") + self._lines([record]))
        except OSError as error:
            raise ResourceError(f"cannot write {self.folder.csv}: {error.strerror}") from error
        if self.events is not None:
            self.events.add(record)

    def close(self) -> None:
        """End the event file, if there is one."""
        if self.events is not None:
            self.events.close()

    def add_games(self, first: int, results: Results) -> None:
        """Add the results of games number first, first + 1, ..."""
        self.games.write(first, results)

    def sync(self) -> int:
        """Bring all that was measured to the disk -> the bytes of the metrics."""
        try:
            for path in (self.folder.games, self.folder.csv, self.folder.metrics):
                sync_file(path)
            sync_folder(self.folder.path)
            return self.folder.metrics.stat().st_size if is_file(self.folder.metrics) else 0
        except OSError as error:
            raise ResourceError(f"cannot write to {self.folder.path}: {error.strerror}") from error

    def rewind(self, games: int, *, blocks: int, evals: int, measured: int | None) -> str | None:
        """Drop what was measured after a checkpoint at game number `games` -> what to tell if results of games are missing.

        Its last finished block ended at game number `blocks`, its last evaluation was at `evals`, and `measured` bytes of the
        metrics were on the disk before it.
        """
        last = {"block": blocks, "eval": evals}
        kept = [record for record in self._read_metrics(measured) if record["games"] <= last[record["kind"]]]
        with atomic_write(self.folder.metrics) as file:
            file.write("".join(json.dumps(record) + "\n" for record in kept).encode())
        with atomic_write(self.folder.csv) as file:
            file.write(self._header() + self._lines(kept))
        if self.events is not None:
            self.events.begin(kept)
        missing = self.games.cut(games)
        if not missing:
            return None
        return f"the results of games {games - missing + 1:,} to {games:,} are not known: {self.folder.games} was too short"

    def _read_metrics(self, measured: int | None) -> list[dict[str, Any]]:
        """The metrics. A power cut may leave anything behind the last checkpoint, so that part may be damaged."""
        try:
            return self.folder.read_metrics()
        except FileError:
            if measured is None or self.folder.metrics.stat().st_size <= measured:
                raise
            with reading(self.folder.metrics):
                os.truncate(self.folder.metrics, measured)
            return self.folder.read_metrics()

    def set_aside(self) -> Path | None:
        """Move all measurements to a new folder in the run -> the folder; None if there are none."""
        files = [path for path in (self.folder.metrics, self.folder.csv, self.folder.games) if is_file(path)]
        if not any(path.stat().st_size for path in files):
            return None
        number = 1
        while os.path.lexists(aside := self.folder.path / f"before-{number}"):
            number += 1
        try:
            aside.mkdir()
            for path in files:
                path.rename(aside / path.name)
        except OSError as error:
            raise FileError(f"cannot keep the metrics in {aside}: {error.strerror}") from error
        return aside

    # --- metrics.csv -------------------------------------------------------------------------------------------------------

    def _header(self) -> bytes:
        return _text([[*COLUMNS, *(f"reached_{tile}" for tile in self.tiles)]])

    def _lines(self, records: Sequence[dict[str, Any]]) -> bytes:
        return _text(
            [[*(record.get(name) for name in COLUMNS), *(reached(record, tile) for tile in self.tiles)] for record in records]
        )


def _text(rows: Sequence[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
