"""Safetensors files with checksums: named arrays, and a header of text. Any safetensors reader can read them.

The header's metadata have two entries for the checksums, all CRC-32 in hex:

    sums     one for each tensor, in the order of the file
    check    of the header: of all bytes from the start of the file up to this number. It is the last entry of the header, which
             ends with "}} and spaces

The sum of a tensor is the CRC-32 of the CRC-32s (4 bytes each, little-endian) of its pieces of 1 MiB. So a piece that holds
only zeros costs nothing: it is a hole in the file, its CRC is known, and the memory it is read into is left alone.

A file is read through one handle into memory of our own. So it may be replaced, overwritten, cut or deleted at any time: what
was read stays, and a change while it is read is noticed by the sums. Files without these entries are read without checks.
"""

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import DivergedError, FileError, ModelError
from afterstate.files import atomic_write, is_file, parse_json, reading

PAGE = 4096  # data begin at a multiple of it, so that holes fit the blocks of the disk
PIECE = 1 << 20  # bytes that are read, written and checked at once
LONGEST = 1 << 24  # bytes of a header
_TYPES = {"float32": "F32", "int64": "I64", "uint64": "U64", "uint8": "U8"}
_DTYPES = {short: np.dtype(name) for name, short in _TYPES.items()}


@dataclass(frozen=True)
class Tensor:
    """Where an array is in a file."""

    dtype: str  # as safetensors names it
    shape: tuple[int, ...]
    start: int  # byte of the file
    size: int  # bytes
    sum: str | None  # see above


# --- writing -------------------------------------------------------------------------------------------------------------


def write_tensors(path: Path, metadata: Mapping[str, str], tensors: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays and text. Pieces that hold only zeros become holes; nan and infinity are refused."""
    start = len(_header(metadata, tensors, ["0" * 8] * len(tensors)))
    with atomic_write(path) as file:
        file.seek(start)
        sums = [_write(file, name, tensor, path) for name, tensor in tensors.items()]
        file.truncate()
        file.seek(0)
        file.write(_header(metadata, tensors, sums))


def _write(file: IO[bytes], name: str, tensor: NDArray[Any], path: Path) -> str:
    """Write one array -> its sum."""
    flat = np.ascontiguousarray(tensor).reshape(-1)
    checks = []
    for start in range(0, flat.nbytes, PIECE):
        piece = flat.view(np.uint8)[start : start + PIECE]
        if not piece.any():
            checks.append(_check_of_zeros(piece.size))
            file.seek(piece.size, os.SEEK_CUR)
            continue
        if not _is_finite(piece, _TYPES[str(tensor.dtype)]):
            raise DivergedError(f"{name} has numbers that are nan or infinite, so {path} was not written")
        checks.append(zlib.crc32(piece.data))
        file.write(piece.data)
    return _sum(checks)


def _header(metadata: Mapping[str, str], tensors: Mapping[str, NDArray[Any]], sums: list[str]) -> bytes:
    """Everything before the data. Its length does not depend on the sums."""
    entries: dict[str, Any] = {}
    end = 0
    for name, tensor in tensors.items():
        place = [end, end := end + tensor.nbytes]
        entries[name] = {"dtype": _TYPES[str(tensor.dtype)], "shape": list(tensor.shape), "data_offsets": place}
    entries["__metadata__"] = {**metadata, "sums": " ".join(sums), "check": "0" * 8}
    text = json.dumps(entries).encode()
    padding = b" " * (-(8 + len(text)) % PAGE)
    covered = (len(text) + len(padding)).to_bytes(8, "little") + text[: -len(_END) - 8]
    return covered + _hex(zlib.crc32(covered)).encode() + _END + padding


_END = b'"}}'  # of a header, behind its check


def _hex(check: int) -> str:
    return f"{check:08x}"


def _sum(checks: list[int]) -> str:
    return _hex(zlib.crc32(np.array(checks, "<u4").tobytes()))


@lru_cache
def _check_of_zeros(size: int) -> int:
    return zlib.crc32(bytes(size))


def _is_finite(piece: NDArray[np.uint8], dtype: str) -> bool:
    return dtype != "F32" or bool(np.isfinite(piece.view(np.float32)).all())


# --- reading -------------------------------------------------------------------------------------------------------------


class TensorFile:
    """An open file whose header has been checked; see `open_tensors`."""

    def __init__(self, path: Path, file: IO[bytes], metadata: dict[str, str], tensors: dict[str, Tensor]) -> None:
        self.path = path
        self.metadata = metadata
        self.tensors = tensors
        self._file = file
        self._piece = np.empty(PIECE, np.uint8)

    @property
    def used(self) -> int:
        """Bytes that the file takes on the disk: holes take none."""
        status = os.fstat(self._file.fileno())
        return 512 * status.st_blocks if hasattr(status, "st_blocks") else status.st_size

    def read(self, name: str) -> NDArray[Any]:
        """An array; memory is taken only for one that is really there."""
        tensor = self._find(name)
        if tensor.dtype not in _DTYPES:
            raise ModelError(f"{self.path}: {name} is of a type that this program does not use: {tensor.dtype!r:.40}")
        array = np.zeros(tensor.shape, _DTYPES[tensor.dtype])
        self.read_into(name, array)
        return array

    def read_into(self, name: str, array: NDArray[Any]) -> None:
        """Read an array of exactly this type and shape into memory that is 0. Zeros are not written."""
        tensor = self._find(name)
        if _DTYPES.get(tensor.dtype) != array.dtype or tensor.shape != array.shape:
            raise ModelError(
                f"{self.path}: {name} must have the shape {array.shape} and type {_TYPES[str(array.dtype)]}, "
                f"not {tensor.shape!r:.60} and {tensor.dtype!r:.20}"
            )
        checks = []
        into = array.reshape(-1).view(np.uint8)
        with reading(self.path, ModelError):
            self._file.seek(tensor.start)
            for start in range(0, tensor.size, PIECE):
                piece = self._read_piece(min(PIECE, tensor.size - start))
                if not piece.any():
                    checks.append(_check_of_zeros(piece.size))
                    continue
                checks.append(zlib.crc32(piece.data))
                if not _is_finite(piece, tensor.dtype):
                    raise ModelError(f"{self.path}: {name} has numbers that are nan or infinite")
                into[start : start + piece.size] = piece
        if tensor.sum not in (None, _sum(checks)):
            raise ModelError(f"{self.path} is damaged: the checksum of {name} is not the one that was saved")

    def _find(self, name: str) -> Tensor:
        if name not in self.tensors:
            raise ModelError(f"{self.path} lacks {name}: it is a model, not a checkpoint")
        return self.tensors[name]

    def _read_piece(self, size: int) -> NDArray[np.uint8]:
        piece = self._piece[:size]
        done = 0
        while done < size:
            count = self._file.readinto(piece[done:].data)  # type: ignore[attr-defined]
            if not count:
                raise ModelError(f"{self.path} was cut off while it was read")
            done += count
        return piece


@contextmanager
def open_tensors(path: Path) -> Iterator[TensorFile]:
    """Open a file and check its header."""
    if not is_file(path):
        raise FileError(f"there is no file {path}")
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from error
    with file:
        with reading(path, ModelError):
            try:
                metadata, tensors = _read_header(file)
            except ValueError as error:
                raise ModelError(f"{path} is not a model file, or is incomplete: {error}") from error
        yield TensorFile(path, file, metadata, tensors)


def _read_header(file: IO[bytes]) -> tuple[dict[str, str], dict[str, Tensor]]:
    size = os.fstat(file.fileno()).st_size
    start = file.read(8)
    length = int.from_bytes(start, "little")
    if len(start) < 8 or length > min(LONGEST, size - 8):
        raise ValueError("it does not begin with a header")
    text = file.read(length)
    while len(text) < length and (more := file.read(length - len(text))):
        text += more
    entries = parse_json(text)
    metadata = entries.pop("__metadata__", {}) if isinstance(entries, dict) else None
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError("its header is not one of a model")
    if "check" in metadata:
        _verify(start + text)
    sums: list[str | None] = [*metadata["sums"].split()] if "sums" in metadata else [None] * len(entries)
    if len(sums) != len(entries):
        raise ValueError(f"it has {len(entries)} tensors, and {len(sums)} checksums")
    tensors = {name: _read_entry(each, 8 + length, sum_) for (name, each), sum_ in zip(entries.items(), sums, strict=True)}
    _check_places(tensors, 8 + length, size)
    return metadata, tensors


def _verify(header: bytes) -> None:
    """Compare a header with its check."""
    text = header.rstrip(b" ")
    end = len(text) - len(_END) - 8
    if text[end:] != _hex(zlib.crc32(text[:end])).encode() + _END:
        raise ValueError("its header is damaged: its checksum is not the one that was saved")


def _read_entry(entry: Any, start: int, sum_: str | None) -> Tensor:
    """Where a tensor is; raises ValueError for what is none."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"a tensor is described as {entry!r:.60}")
    dtype, shape, place = entry["dtype"], entry["shape"], entry["data_offsets"]
    numbers = [*shape, *place] if isinstance(shape, list) and isinstance(place, list) and len(place) == 2 else [-1]
    if not isinstance(dtype, str) or len(numbers) > 10 or not all(type(each) is int and 0 <= each < 2**62 for each in numbers):
        raise ValueError(f"a tensor is described as {entry!r:.60}")
    size = place[1] - place[0]
    if size < 0 or (dtype in _DTYPES and prod(shape) * _DTYPES[dtype].itemsize != size):
        raise ValueError(f"a tensor has another size than its shape: {entry!r:.60}")
    return Tensor(dtype, tuple(shape), start + place[0], size, sum_)


def _check_places(tensors: Mapping[str, Tensor], start: int, end: int) -> None:
    """Refuse tensors that overlap, leave gaps, or end before or after the file does."""
    for tensor in sorted(tensors.values(), key=lambda each: (each.start, each.size)):
        if tensor.start != start:
            raise ValueError("its tensors do not lie one after the other")
        start += tensor.size
    if start != end:
        raise ValueError(f"it has {end} bytes, but its header speaks of {start}")
