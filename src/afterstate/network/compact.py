"""Tables of weights in few bytes: rounded to a step, without what is rounded to 0, and compressed.

A table becomes three streams of bytes:

    places   one bit for each weight: is it there? As `numpy.packbits` packs them; LZMA2, raw
    low      for each weight that is there, the low byte of its number of steps, with -1, 1, -2, 2 ... as 1, 2, 3, 4 ...; zlib
    high     the high bytes of the same numbers; zlib

A weight is its number of steps times the step. In a later stage it is that much more than the weight that stands in for it, the
one of the stage before. So what a later stage has hardly changed costs nothing. A sum of 0 there is written as `ZERO`, since 0
would mean that the stage before stands in.

Streams are made and read in parts of `PART` weights: however much a file promises, reading it takes little memory besides the
tables themselves.
"""

import lzma
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PART = 1 << 20  # weights that are packed or unpacked at once
MOST = 1 << 15  # steps that fit into two bytes
ZERO = np.float32(2.0**-149)  # a weight of 0 in a later stage
_FILTERS: list[dict[str, Any]] = [{"id": lzma.FILTER_LZMA2, "preset": 6}]


class Packed(NamedTuple):
    """A table as bytes."""

    places: NDArray[np.uint8]
    low: NDArray[np.uint8]
    high: NDArray[np.uint8]


def pack(weights: NDArray[np.float32], before: NDArray[np.float32] | None, step: np.float32) -> Packed:
    """Pack a table; `before` are the weights that stand in for those of a later stage, as they will be unpacked."""
    places = lzma.LZMACompressor(lzma.FORMAT_RAW, filters=_FILTERS)
    low, high = zlib.compressobj(9), zlib.compressobj(9)
    streams: tuple[list[bytes], ...] = ([], [], [])
    for part in _parts(weights.size):
        steps = _steps(weights[part], None if before is None else before[part], step)
        there = steps != 0
        numbers = steps[there]
        codes = np.where(numbers >= 0, 2 * numbers, -2 * numbers - 1).astype(np.uint16)
        streams[0].append(places.compress(np.packbits(there).tobytes()))
        streams[1].append(low.compress((codes & 0xFF).astype(np.uint8).tobytes()))
        streams[2].append(high.compress((codes >> 8).astype(np.uint8).tobytes()))
    packers: tuple[Any, ...] = (places, low, high)
    for stream, packer in zip(streams, packers, strict=True):
        stream.append(packer.flush())
    return Packed(*(np.frombuffer(b"".join(stream), np.uint8) for stream in streams))


def round_off(weights: NDArray[np.float32], before: NDArray[np.float32] | None, step: np.float32) -> NDArray[np.float32]:
    """A table as it is after packing and unpacking."""
    found = np.zeros_like(weights)
    for part in _parts(weights.size):
        base = None if before is None else before[part]
        _put(found[part], _steps(weights[part], base, step), base, step)
    return found


def unpack(packed: Packed, into: NDArray[np.float32], before: NDArray[np.float32] | None, step: np.float32) -> None:
    """Unpack a table into memory that is 0. Zeros are not written. Raises ValueError for what is not a table of this size."""
    places = _Stream(packed.places, lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=_FILTERS))
    low, high = _Stream(packed.low, zlib.decompressobj()), _Stream(packed.high, zlib.decompressobj())
    for part in _parts(into.size):
        size = part.stop - part.start
        there = np.unpackbits(places.take((size + 7) // 8), count=size).view(np.bool_)
        count = int(there.sum())
        if count:
            codes = low.take(count) | high.take(count).astype(np.uint16) << 8
            steps = np.zeros(size, np.int32)
            steps[there] = np.where(codes & 1, -(codes.astype(np.int32) + 1 >> 1), codes.astype(np.int32) >> 1)
            if not steps[there].all():
                raise ValueError("a weight that is there is 0 steps")
            _put(into[part], steps, None if before is None else before[part], step)
    for stream in (places, low, high):
        stream.check_end()


def _parts(size: int) -> Iterator[slice]:
    for start in range(0, size, PART):
        yield slice(start, min(start + PART, size))


def _steps(weights: NDArray[np.float32], before: NDArray[np.float32] | None, step: np.float32) -> NDArray[np.int32]:
    """The number of steps of each weight; 0 for one that need not be there."""
    change = weights if before is None else np.where(weights != 0, weights - before, np.float32(0))
    return np.clip(np.rint(change / step), -MOST + 1, MOST - 1).astype(np.int32)


def _put(into: NDArray[np.float32], steps: NDArray[np.int32], before: NDArray[np.float32] | None, step: np.float32) -> None:
    """Write the weights that are there."""
    there = steps != 0
    found = steps[there].astype(np.float32) * step
    if before is not None:
        found += before[there]
        found[found == 0] = ZERO
    into[there] = found


class _Stream:
    """Bytes that are decompressed as they are asked for."""

    def __init__(self, data: NDArray[np.uint8], unpacker: Any) -> None:
        self._unpacker = unpacker
        self._rest = data.tobytes()

    def take(self, count: int) -> NDArray[np.uint8]:
        """Exactly the next `count` bytes."""
        found = b""
        while len(found) < count:
            more = self._more(count - len(found))
            if not more:
                raise ValueError("a table ends too early")
            found += more
        return np.frombuffer(found, np.uint8)

    def _more(self, most: int) -> bytes:
        try:
            found = b"" if self._unpacker.eof else self._unpacker.decompress(self._rest, most)
        except (lzma.LZMAError, zlib.error, EOFError) as error:
            raise ValueError(f"a table cannot be decompressed: {error}") from error
        self._rest = getattr(self._unpacker, "unconsumed_tail", b"")
        return bytes(found)

    def check_end(self) -> None:
        """Refuse bytes behind the last one that was needed."""
        if self._more(1) or not self._unpacker.eof or self._unpacker.unused_data:
            raise ValueError("a table goes on behind its end")
