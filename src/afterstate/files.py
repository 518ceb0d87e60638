"""Files: written completely or not at all, and never over somebody else's; checks that do not raise."""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from afterstate.errors import FileError, ResourceError


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
    partial = path.with_name(f".{path.name}.partial")
    try:
        with open(partial, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise ResourceError(f"no room to write {path}: {error.strerror}; what was there before is untouched") from error
        raise FileError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()
