"""metrics.jsonl: one line for each block and each evaluation. A reader that comes again reads on from where it was."""

import os
import threading
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from afterstate.errors import FileError
from afterstate.files import is_file, is_finite, parse_json

LONGEST = 2**20  # bytes of a line
TAIL = 256  # bytes before the place where we stopped: if they have changed, it is another file

Line = dict[str, Any]


@dataclass(frozen=True)
class Newest:
    """The end of the metrics."""

    count: int = 0  # lines
    last: Line | None = None
    block: Line | None = None  # the last line that is a block


class Metrics:
    """The metrics of one run. Only new lines are read and checked; of the old ones their places are kept, not their content.

    A file that was cut, rewritten or replaced is read again: a resume rewinds the metrics to its checkpoint.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._starts = array("q", [0])  # where each complete line starts, and where the next one will
        self._seen = (0, 0, 0, 0)
        self._tail = b""
        self._newest = self._checked = Newest()  # with and without a last line that does not end yet

    def newest(self) -> Newest:
        """How many lines there are, and the last ones."""
        with self._lock:
            self._read(None)
            return self._newest

    def since(self, after: int) -> tuple[list[Line], Newest]:
        """All lines from number `after` on, which is 0 for the first, and where they end."""
        with self._lock:
            return self._read(after), self._newest

    def lines(self) -> list[Line]:
        """All lines; a last one that was cut off is ignored."""
        return self.since(0)[0]

    def _read(self, after: int | None) -> list[Line]:
        if not is_file(self.path):
            self._forget()
            return []
        try:
            with open(self.path, "rb") as file:
                return self._read_from(file, after)
        except OSError as error:
            raise FileError(f"cannot read {self.path}: {error.strerror}") from error

    def _read_from(self, file: IO[bytes], after: int | None) -> list[Line]:
        status = os.fstat(file.fileno())
        now = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        if not self._goes_on(file, now):
            self._forget()
        self._seen = now
        known = len(self._starts) - 1
        old = self._again(file, after) if after is not None and after < known else []
        new = self._read_on(file) if self._starts[-1] < status.st_size else []
        return old + ([] if after is None else new[max(after - known, 0) :])

    def _goes_on(self, file: IO[bytes], now: tuple[int, int, int, int]) -> bool:
        """Whether this is the file that we have read, with nothing but new lines at its end."""
        (*place, size, _), (*known, before, _) = now, self._seen
        if now == self._seen:
            return True
        if place != known or size <= before:
            return False
        file.seek(self._starts[-1] - len(self._tail))
        return file.read(len(self._tail)) == self._tail

    def _again(self, file: IO[bytes], after: int) -> list[Line]:
        """Complete lines that were read before, from number `after` on."""
        file.seek(self._starts[after])
        texts = file.read(self._starts[-1] - self._starts[after]).splitlines()
        try:
            return [self._check(parse_json(text), number) for number, text in enumerate(texts, start=after + 1)]
        except ValueError as error:
            raise FileError(f"{self.path} was changed, and is no longer JSON") from error

    def _read_on(self, file: IO[bytes]) -> list[Line]:
        """Read what is new. What was sound stays known if a later line is wrong."""
        found: list[Line] = []
        self._newest = self._checked
        file.seek(self._starts[-1])
        while text := file.readline(LONGEST):
            number = self._newest.count + 1
            if len(text) == LONGEST:
                raise self._wrong(number, f"it has more than {LONGEST} characters")
            try:
                parsed = parse_json(text)
            except ValueError as error:
                if not file.read(1):
                    break  # the last line, cut off
                raise self._wrong(number, "not JSON") from error
            found.append(self._check(parsed, number))
            self._newest = Newest(number, found[-1], found[-1] if found[-1]["kind"] == "block" else self._newest.block)
            if text.endswith(b"\n"):
                self._checked = self._newest
                self._starts.append(self._starts[-1] + len(text))
                self._tail = text[-TAIL:]
        return found

    def _check(self, parsed: Any, number: int) -> Line:
        if wrong := _wrong_field(parsed):
            raise self._wrong(number, f"not a line of metrics: {wrong!r} is missing or wrong")
        line: Line = parsed
        return line

    def _wrong(self, number: int, what: str) -> FileError:
        return FileError(f"{self.path}, line {number}: {what}")


def reached(record: Line, tile: int) -> float:
    """Share of games that reach a tile. A record lists only tiles that were the largest of some game, and those between."""
    rates = record["reached"]
    if str(tile) in rates:
        return float(rates[str(tile)])
    return 1.0 if tile < min(int(name) for name in rates) else 0.0


_WHOLE = ("games", "count", "win_tile")
_PERHAPS = ("interval", "moves_per_s", "training_seconds")  # may be null: a block of one game has no interval


def _wrong_field(record: Any) -> str | None:
    """The first field of a metrics line that readers need but cannot use; None if all are valid."""
    if not isinstance(record, dict):
        return "kind"
    sound = {"kind": record.get("kind") in ("block", "eval"), "reached": _are_rates(record.get("reached"))}
    sound |= {name: type(record.get(name)) is int and _is_number(record[name]) for name in _WHOLE}
    sound["count"] = sound["count"] and record["count"] > 0
    sound |= {"mean": _is_number(record.get("mean")), "win_rate": _is_rate(record.get("win_rate"))}
    sound |= {name: record.get(name) is None or _is_number(record[name]) for name in _PERHAPS}
    sound["interval"] &= "interval" in record
    sound |= {name: is_finite(value) for name, value in record.items() if name not in sound}
    return next((name for name, is_sound in sound.items() if not is_sound), None)


def _are_rates(reached: Any) -> bool:
    """Whether this maps tiles to rates."""
    if not isinstance(reached, dict) or not reached:
        return False
    return all(tile.isascii() and tile.isdecimal() and len(tile) < 10 and _is_rate(rate) for tile, rate in reached.items())


def _is_rate(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _is_number(value: Any) -> bool:
    """Whether this is a number that can be plotted: no bool, no NaN, and within 64 bits."""
    return type(value) in (int, float) and abs(value) < 2**63
