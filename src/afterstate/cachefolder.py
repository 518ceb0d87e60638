"""Folders for what can be made again, in AFTERSTATE_CACHE or in the user's cache folder. Only their owner may write to them."""

import logging
import os
import shutil
import stat
import time
from contextlib import suppress
from pathlib import Path

_log = logging.getLogger("afterstate")
_told: set[str] = set()
KEPT = 30 * 86400  # seconds that a folder stays unused


def cache_home() -> Path:
    """Where our folders are; RuntimeError if there is no home folder."""
    home = os.environ.get("XDG_CACHE_HOME")
    return Path(os.environ.get("AFTERSTATE_CACHE") or (Path(home) if home else Path.home() / ".cache") / "afterstate")


def open_private(folder: Path) -> Path:
    """Make a folder if it is not there, mark it as used, and refuse one that other users may have written to."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        raise PermissionError(f"other users may write to {folder.name}")
    with suppress(OSError):  # a read-only disk
        os.utime(folder)
    return folder


def tidy(home: Path, pattern: str) -> None:
    """Remove the folders of this name that have not been used for long."""
    for other in home.glob(pattern):
        with suppress(OSError):  # another process may be tidying up, too
            if time.time() - other.stat().st_mtime > KEPT:
                shutil.rmtree(other, ignore_errors=True)


def warn_once(what: str, place: Path, error: Exception, advice: str) -> None:
    """Say that something is not kept, and what follows from that, once in a process."""
    if what in _told:
        return
    _told.add(what)
    system = error if isinstance(error, OSError) else error.__cause__
    reason = getattr(system, "strerror", None) or error
    advice += "; set AFTERSTATE_CACHE to a folder that has room"
    _log.warning("%s cannot be kept in %s (%s): every start %s", what, place, reason, advice)
