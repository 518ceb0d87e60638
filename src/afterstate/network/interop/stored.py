"""What a weight file of another program holds, found without reading the weights; and how to read on in such a file."""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import ModelError

MOST_TABLES = 4096
MOST_CELLS = 8  # of a pattern


@dataclass(frozen=True)
class Block:
    """Numbers that follow each other in a file."""

    at: int  # where they begin
    count: int
    width: int = 4  # bytes of each: 2, 4 or 8


@dataclass(frozen=True)
class Stored:
    """One table of a file."""

    weights: Block  # 16**cells of them
    pattern: str | None = None  # None if the format has no names
    stage: int = 0
    coherence: Block | None = None  # E of all weights, then A of all

    @property
    def cells(self) -> int:
        """How many cells index it."""
        return self.weights.count.bit_length() // 4


class Source:
    """A file that is read from its beginning: every number and every length is checked before it is believed."""

    def __init__(self, file: IO[bytes], path: Path, what: str) -> None:
        self._file, self._path, self._what = file, path, what
        self.size = file.seek(0, 2)
        file.seek(0)

    @property
    def at(self) -> int:
        return self._file.tell()

    @property
    def left(self) -> int:
        """Bytes that follow."""
        return self.size - self.at

    def error(self, reason: str) -> ModelError:
        return ModelError(f"{self._path} is not a whole {self._what}: {reason}")

    def rewind(self) -> None:
        self._file.seek(0)

    def text(self, length: int, name: str) -> bytes:
        """The next bytes."""
        at = self.at
        if length > self.size - at:
            raise self.error(f"it ends at byte {self.size}, within {name}, which begins at byte {at}")
        return self._file.read(length)

    def number(self, code: str, name: str) -> int:
        """The next number, little-endian, by its code of `struct`."""
        (value,) = struct.unpack(f"<{code}", self.text(struct.calcsize(code), name))
        return int(value)

    def tables(self, code: str) -> int:
        """How many tables follow."""
        count = self.number(code, "the number of its tables")
        if not 1 <= count <= MOST_TABLES:
            raise self.error(f"it says that it has {count} tables; 1 to {MOST_TABLES} are possible")
        return count

    def block(self, name: str, *, width: int = 4) -> Block:
        """A count of 16**cells, and as many numbers, which are skipped."""
        count = self.number("Q", f"the size of {name}")
        cells = (count.bit_length() - 1) // 4
        if not 1 <= cells <= MOST_CELLS or count != 16**cells:
            raise self.error(f"{name} has {count} weights; a table has 16, 256, ... 16**8, 16 for each cell of its pattern")
        return self.skip(count, width, name)

    def skip(self, count: int, width: int, name: str) -> Block:
        """Numbers that follow."""
        block = Block(self.at, count, width)
        if count * width > self.left:
            raise self.error(f"{name} should have {count * width} bytes from byte {block.at} on, but only {self.left} follow")
        self._file.seek(count * width, 1)
        return block


def read_floats(file: IO[bytes], block: Block, start: int, count: int, path: Path) -> NDArray[np.float32]:
    """Some numbers of a block, as float32; those of more bits are rounded. Nan and infinity are refused."""
    file.seek(block.at + start * block.width)
    raw = file.read(count * block.width)
    if len(raw) < count * block.width:
        raise ModelError(f"{path} became shorter while it was read")
    stored: NDArray[Any] = np.frombuffer(raw, f"<f{block.width}")
    with np.errstate(over="ignore"):
        values = stored.astype(np.float32)
    if not (sound := np.isfinite(values)).all():
        number = int(np.argmin(sound))
        at = block.at + (start + number) * block.width
        raise ModelError(f"{path} holds {stored[number]} at byte {at}, where a weight that float32 can hold is expected")
    return values
