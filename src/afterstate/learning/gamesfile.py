"""games.bin: score, moves and largest tile of every training game, in the order of their numbers.

A game is a record of 13 bytes, so any program can read the file, and game number n lies at byte 13 * n:

    numpy.fromfile("games.bin", [("score", "<i8"), ("moves", "<u4"), ("largest", "u1")])

`largest` is the index of the largest tile. A record of zeros is a game whose result was lost.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import FileError, ResourceError
from afterstate.files import is_file
from afterstate.games.game import Game
from afterstate.games.results import Episodes, Results

RECORD = np.dtype([("score", "<i8"), ("moves", "<u4"), ("largest", "u1")])
CHUNK = 1 << 18  # games that are read or written at once, 3.25 MiB


class GamesFile:
    """The results of all training games of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __len__(self) -> int:
        """Games in the file. What is left of a record that was cut off does not count."""
        return self.path.stat().st_size // RECORD.itemsize if is_file(self.path) else 0

    def write(self, first: int, results: Results) -> None:
        """Write games number first, first + 1, ... to their places."""
        try:
            with open(self.path, "r+b" if is_file(self.path) else "w+b") as file:
                file.seek(first * RECORD.itemsize)
                for start in range(0, len(results.scores), CHUNK):
                    part = results.part(start, start + CHUNK)
                    records = np.zeros(len(part.scores), RECORD)
                    records["score"], records["moves"], records["largest"] = part
                    file.write(records.data)
        except OSError as error:
            raise ResourceError(f"cannot write {self.path}: {error.strerror}") from error

    def cut(self, games: int) -> int:
        """Keep exactly the first `games` games -> how many of them were missing at the end; they become records of zeros."""
        missing = max(games - len(self), 0)
        if games == 0 and not is_file(self.path):
            return 0
        try:
            with open(self.path, "ab") as file:
                file.truncate((games - missing) * RECORD.itemsize)  # also drops a part of a record
                file.truncate(games * RECORD.itemsize)
        except OSError as error:
            raise ResourceError(f"cannot write {self.path}: {error.strerror}") from error
        return missing

    def parts(self, game: Game, size: int = CHUNK) -> Iterator[NDArray[Any]]:
        """All records, `size` at a time, checked."""
        games = len(self)
        for start in range(0, games, size):
            yield self._read_part(game, start, min(start + size, games))

    def _read_part(self, game: Game, first: int, end: int) -> NDArray[Any]:
        try:
            with open(self.path, "rb") as file:
                file.seek(first * RECORD.itemsize)
                part = np.frombuffer(file.read((end - first) * RECORD.itemsize), RECORD)
        except (OSError, ValueError) as error:
            raise FileError(f"cannot read {self.path}: {error}") from error
        if (part["largest"] > game.top).any() or (part["score"] > game.most).any():
            raise FileError(f"{self.path} does not hold games of {game!r}: a score or a tile is too large")
        return part

    def results(self, game: Game, first: int, end: int) -> Results:
        """The results of games number first to end - 1; those that were lost are left out."""
        part = self._read_part(game, first, min(end, len(self)))
        part = part[part["largest"] > 0]
        return Results(part["score"].astype(np.int64), part["moves"].astype(np.int64), part["largest"].astype(np.uint8))

    def read(self, game: Game) -> Episodes:
        """All games as arrays."""
        faces = np.array([game.face(index) for index in range(game.top + 1)], np.int64)
        found = Episodes(*np.zeros((3, len(self)), np.int64))
        at = 0
        for part in self.parts(game):
            here = slice(at, at := at + len(part))
            found.scores[here], found.moves[here], found.largest[here] = part["score"], part["moves"], faces[part["largest"]]
        return found
