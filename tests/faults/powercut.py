"""A disk that loses power: what a folder could hold afterwards, given what was brought to the disk and what was not.

While a `Disk` is watched, every fsync, rename, new folder and deletion below a root is noted, for real files that the real code
writes. Before and after each of them the power may fail. What is on the disk then:

    a file     its bytes at its last fsync; or what was written since, all of it or any of its pages
    a folder   its names at its last fsync; or as they are now

A page that was not written is what it was before, or zeros.
"""

import os
import random
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PAGE = 512  # bytes; small, so that small files have many


@dataclass
class Moment:
    """A moment at which the power may fail."""

    what: str  # the call that comes next, or has just ended
    names: dict[
        str, dict[str, int | None]
    ]  # names of each folder that are sure to be there; a file's number, None for a folder
    names_now: dict[str, dict[str, int | None]]
    data: dict[int, bytes]  # of files, by number, that are sure to be there
    data_now: dict[int, bytes]
    note: Any = None


@dataclass
class Disk:
    """Watches a folder; see `watched`."""

    root: Path
    note: Callable[[], Any]  # what to keep with a moment
    moments: list[Moment] = field(default_factory=list)
    _numbers: dict[int, int] = field(default_factory=dict)  # inode -> number of the file; an inode may be used again
    _count: int = 0
    _names: dict[str, dict[str, int | None]] = field(default_factory=dict)
    _data: dict[int, bytes] = field(default_factory=dict)

    def number(self, inode: int) -> int:
        if inode not in self._numbers:
            self._count += 1
            self._numbers[inode] = self._count
        return self._numbers[inode]

    def forget(self, path: str | Path) -> None:
        """A name goes away; its inode may be given to another file."""
        if os.path.isfile(path):
            self._numbers.pop(os.stat(path).st_ino, None)

    def see(self, what: str) -> None:
        """Keep what the disk is sure to hold, and what is there now."""
        names_now: dict[str, dict[str, int | None]] = {}
        data_now: dict[int, bytes] = {}
        for folder, folders, files in os.walk(self.root):
            place = os.path.relpath(folder, self.root)
            names_now[place] = dict.fromkeys(folders)
            for name in files:
                path = os.path.join(folder, name)
                number = names_now[place][name] = self.number(os.stat(path).st_ino)
                data_now[number] = Path(path).read_bytes()
        sure = {folder: dict(names) for folder, names in self._names.items()}
        self.moments.append(Moment(what, sure, names_now, dict(self._data), data_now, self.note()))

    def sync(self, handle: int) -> None:
        status = os.fstat(handle)
        path = os.readlink(f"/proc/self/fd/{handle}")
        if stat.S_ISDIR(status.st_mode):
            with os.scandir(path) as found:
                names = {each.name: None if each.is_dir() else self.number(each.inode()) for each in found}
            self._names[os.path.relpath(path, self.root)] = names
        else:
            self._data[self.number(status.st_ino)] = Path(path).read_bytes()


@contextmanager
def watched(root: Path, note: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """Note what happens to a folder."""
    disk = Disk(root, note)
    fsync, replace, rename, unlink, mkdir = os.fsync, os.replace, os.rename, os.unlink, os.mkdir

    def noted(name: str, call: Callable[..., Any], gone: int) -> Callable[..., Any]:
        def wrapper(*arguments: Any, **more: Any) -> Any:
            if not os.fspath(arguments[0]).startswith(str(root)):
                return call(*arguments, **more)
            disk.see(f"before {name} {arguments}")
            if gone >= 0:
                disk.forget(arguments[gone])
            found = call(*arguments, **more)
            disk.see(f"after {name} {arguments}")
            return found

        return wrapper

    def noted_fsync(handle: int) -> None:
        if not os.readlink(f"/proc/self/fd/{handle}").startswith(str(root)):
            return fsync(handle)
        disk.see("before fsync")
        fsync(handle)
        disk.sync(handle)
        disk.see("after fsync")
        return None

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", noted_fsync)
        patch.setattr(os, "replace", noted("replace", replace, 1))
        patch.setattr(os, "rename", noted("rename", rename, 1))
        patch.setattr(os, "unlink", noted("unlink", unlink, 0))
        patch.setattr(os, "mkdir", noted("mkdir", mkdir, -1))
        yield disk


def after_cut(moment: Moment, target: Path, *, new_names: bool, new_data: float, chance: random.Random) -> None:
    """Make the folder that is found after the power failed.

    `new_names`: whether folders are as they were at that moment, or as at their last fsync. `new_data`: the share of the pages
    written since the last fsync of a file that have reached the disk.
    """
    names = moment.names_now if new_names else moment.names

    def fill(place: str, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        for name, number in names.get(place, {}).items():
            if number is None:
                fill(os.path.normpath(os.path.join(place, name)), folder / name)
            else:
                old = moment.data.get(number, b"")
                (folder / name).write_bytes(_torn(old, moment.data_now.get(number, old), new_data, chance))

    fill(".", target)


def _torn(old: bytes, new: bytes, share: float, chance: random.Random) -> bytes:
    """A file of which only some of the pages that were written have reached the disk."""
    if share == 0:
        return old
    pages = []
    for start in range(0, len(new), PAGE):
        now, before = new[start : start + PAGE], old[start : start + PAGE]
        pages.append(now if now == before or chance.random() < share else before.ljust(len(now), b"\0"))
    return b"".join(pages)
