"""Files: written completely or not at all, and never over somebody else's; folders that one process writes to; checks."""

import contextlib
import errno
import json
import math
import os
import secrets
import time
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from afterstate.errors import AfterstateError, FileError, ResourceError

_fcntl: Any = None
with contextlib.suppress(ImportError):  # a system without locks of this kind
    _fcntl = import_module("fcntl")

_TRIES, _PAUSE = 10, 0.02  # to lock a folder; who only looks if it is locked holds the lock for an instant


def is_file(path: Path) -> bool:
    """Whether this is a regular file; False, not an error, for an impossible name."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Whether this is a folder; False, not an error, for an impossible name."""
    try:
        return path.is_dir()
    except OSError:
        return False


@contextlib.contextmanager
def reading(path: Path | str, kind: type[FileError] = FileError) -> Iterator[None]:
    """Turn whatever a file does to its reader into one error of ours, of this kind, that begins with the file's name.

    What the reader itself has to say as a `FileError` passes. So does a lack of memory, which is not the file's fault.
    """
    try:
        yield
    except (FileError, ResourceError):
        raise
    except AfterstateError as error:  # about an option or a pattern that stands in the file
        raise kind(f"{path}: {error}") from error
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error
    except RecursionError as error:
        raise kind(f"cannot read {path}: it is nested too deeply") from error
    except KeyError as error:
        raise kind(f"cannot read {path}: {error} is missing") from error
    except (ValueError, TypeError, IndexError, AttributeError, ArithmeticError) as error:
        raise kind(f"cannot read {path}: {error}") from error
    except MemoryError as error:
        raise ResourceError(f"there is not enough memory to read {path}") from error


def parse_json(text: bytes | str) -> Any:
    """JSON of a file, in UTF-8. Whatever is wrong with it is a ValueError, nesting without end included."""
    try:
        return json.loads(text.decode() if isinstance(text, bytes) else text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def parse_toml(text: bytes) -> dict[str, Any]:
    """TOML of a file, likewise."""
    try:
        return tomllib.loads(text.decode("utf-8"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def is_finite(value: Any) -> bool:
    """Whether something that was read has no nan and no infinity in it."""
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    if isinstance(value, list):
        return all(map(is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def check_ours(path: Path, mark: str, what: str) -> None:
    """Refuse to replace a file that this program has not made: its first 1000 bytes lack our mark."""
    if not is_file(path):
        return
    try:
        with open(path, "rb") as file:
            start = file.read(1000)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from error
    if mark.encode() not in start:
        raise FileError(f"{path} exists and is not {what} of this program: choose another name")


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears at `path` complete or not at all."""
    if not path.name or is_folder(path):
        raise FileError(f"cannot write {path}: it is a folder")
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")  # a name that no other writer has
    try:
        with open(partial, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
        sync_folder(path.parent)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise ResourceError(f"no room to write {path}: {error.strerror}; what was there before is untouched") from error
        raise FileError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def sync_file(path: Path) -> None:
    """Bring what was written to a file to the disk, if there is such a file."""
    with contextlib.suppress(FileNotFoundError), open(path, "r+b") as file:
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Bring the names of a folder to the disk, so that a power cut does not undo what was renamed."""
    with contextlib.suppress(OSError):  # not every system can
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def hold_folder(path: Path) -> Iterator[bool]:
    """Be the only writer of a folder while the block runs -> False if another process or thread is.

    The lock is on the folder itself: there is no file to clean up, and the system frees it when a process dies.
    """
    with _open_folder(path) as handle:
        free = _lock(handle)
        for _ in range(_TRIES):
            if free:
                break
            time.sleep(_PAUSE)
            free = _lock(handle)
        yield free


def is_held(path: Path) -> bool:
    """Whether somebody writes to a folder just now."""
    with _open_folder(path) as handle:
        return not _lock(handle, shared=True)


@contextlib.contextmanager
def _open_folder(path: Path) -> Iterator[int]:
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise FileError(f"cannot open {path}: {error.strerror}") from error
    try:
        yield handle
    finally:
        os.close(handle)  # which frees its lock


def _lock(handle: int, *, shared: bool = False) -> bool:
    """Lock a folder, without waiting -> whether that was possible. Where there are no such locks, it always is."""
    if _fcntl is None:
        return True
    try:
        _fcntl.flock(handle, (_fcntl.LOCK_SH if shared else _fcntl.LOCK_EX) | _fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
