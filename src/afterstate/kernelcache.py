"""The cache folder: compiled kernels between runs, each in a file of its own, checked by its hash before anything is loaded.

What cannot be used (cut off, changed, unreadable, of a class that is gone) is compiled again. What cannot be written is told
once, and work goes on. Numba's own cache has an index for each kernel: nothing is checked, and one bad entry spoils all others.

A pickle can run code. So the folder must be the user's, and nobody else may write to it.

Kernels of the package are in a folder named after its sources. Kernels that use code of yours, such as a game, are in another,
named after your files as well. Code without a file, in a notebook or at a prompt, is compiled anew by each process.
"""

import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from numba.core import types
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

from afterstate.cachefolder import cache_home, open_private, tidy, warn_once
from afterstate.files import atomic_write, is_file

LARGEST = 1 << 26  # bytes; a kernel takes less than one
HASH = hashlib.sha256().digest_size
_stamps: dict[str, str] = {}  # modules outside the package: a hash of their file, taken when they declare kernels

Bodies = Callable[[type], Iterable[Callable[..., Any]]]


def prepare_folder(sources: str) -> Path | None:
    """Make the folder for kernels of these sources (a hash); None if there is no place. Tidies up beside it."""
    home = Path()
    try:
        home = cache_home()
        folder = open_private(home / f"kernels-{sources}")
    except (OSError, RuntimeError) as error:  # no such place, or no home folder
        _warn(home, error)
        return None
    tidy(home, "kernels-*")
    return folder


def _warn(place: Path, error: Exception) -> None:
    warn_once("compiled kernels", place, error, "compiles them again")


def stamp(thing: Any) -> None:
    """Remember the file of a function or class that is not of the package, as it is now, while it is being loaded."""
    name = str(thing.__module__)
    if _is_ours(name) or name == "__main__":
        return
    try:
        path = Path(str(sys.modules[name].__file__)).absolute()
        _stamps[name] = hashlib.sha256(f"{name} {path}\n".encode() + path.read_bytes()).hexdigest()
    except (KeyError, AttributeError, OSError):
        _stamps.pop(name, None)


def _is_ours(module: str) -> bool:
    return module == "afterstate" or module.startswith("afterstate.")


class KernelCache(NullCache):  # type: ignore[misc]
    """Where Numba looks for the compiled code of one kernel, and puts it."""

    def __init__(self, function: Callable[..., Any], folder: Path, bodies: Bodies) -> None:
        self.function, self.folder = function, folder
        self.bodies = bodies  # what may be called for the sake of a class among the arguments

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code for a signature; None if it is not there, or not as it was written."""
        try:
            found = self._find(normalize_signature(sig)[0], target_context.codegen())
            return None if found is None else _load(*found, sig, target_context)
        except Exception:  # whatever a file can do
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code, if there is room and if it means the same in another process."""
        try:
            arguments = normalize_signature(sig)[0]
            found = self._find(arguments, data.codegen)
            if found is None or data.library.has_dynamic_globals or any(not lifted.can_cache for lifted in data.lifted):
                return
            path, key = found
            body = dumps((arguments, data._reduce()))
            with atomic_write(path) as file:
                file.write(_hash(key, body) + body)
        except Exception as error:
            _warn(self.folder.parent, error)

    def _find(self, arguments: Any, codegen: Any) -> tuple[Path, str] | None:
        """The file for a signature, and what it is for in full; None if that cannot be told from one process to the next."""
        classes = [kind for argument in arguments for kind in _named_tuples(argument)]
        own = _own_modules([self.function, *classes, *(body for kind in (*classes, object) for body in self.bodies(kind))])
        code = self.function.__code__
        if not own <= _stamps.keys() or self.function.__closure__ is not None or not os.path.isfile(code.co_filename):
            return None
        folder = self.folder
        if own:
            text = " ".join([folder.name, *(_stamps[name] for name in sorted(own))])
            folder = folder.with_name(f"kernels-{hashlib.sha256(text.encode()).hexdigest()[:16]}")
        things: list[Any] = [self.function, *classes]
        names = [f"{thing.__module__}.{thing.__qualname__}" for thing in things]
        key = f"{names} {code.co_firstlineno} {code.co_code.hex()} {arguments} {codegen.magic_tuple()}"
        name = f"{self.function.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.kernel"
        return open_private(folder) / name, key


def _load(path: Path, key: str, sig: Any, target: Any) -> Any:
    if not is_file(path) or path.stat().st_size > LARGEST:
        return None
    content = path.read_bytes()
    if content[:HASH] != _hash(key, content[HASH:]):
        return None
    arguments, parts = pickle.loads(content[HASH:])
    if arguments != normalize_signature(sig)[0]:
        return None
    target.refresh()
    return CompileResult._rebuild(target, *parts)


def _hash(key: str, body: bytes) -> bytes:
    """What a file begins with. It covers what the file is for: a file under another's name is noticed, too."""
    digest = hashlib.sha256(f"{key}\n".encode())
    digest.update(body)
    return digest.digest()


def _named_tuples(kind: Any) -> Iterator[type]:
    """The classes of all named tuples in a type, the outer ones first."""
    if isinstance(kind, types.BaseNamedTuple):  # type: ignore[attr-defined]
        yield kind.instance_class
    if isinstance(kind, types.BaseTuple):  # type: ignore[attr-defined]
        for inner in kind.types:
            yield from _named_tuples(inner)


def _own_modules(things: list[Any]) -> set[str]:
    """The modules outside the package that these functions and classes are in, and those of the kernels they know."""
    found: set[str] = set()
    while things:
        name = str(things.pop().__module__)
        if not _is_ours(name) and name not in found:
            found.add(name)
            known = vars(sys.modules[name]).values() if name in sys.modules else ()
            things += [value.py_func for value in known if isinstance(value, Dispatcher)]
    return found
