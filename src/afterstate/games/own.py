"""Games of your own: Python files that AFTERSTATE_GAMES lists. An error in one is one message with its file and line."""

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from typing import Any

from afterstate.errors import AfterstateError, FileError
from afterstate.kernel import find_bodies

_PREFIX = "afterstate_own_"


def _listed() -> dict[str, Path]:
    """The files that AFTERSTATE_GAMES lists, by the name of the game."""
    paths = [Path(text) for text in os.environ.get("AFTERSTATE_GAMES", "").split(os.pathsep) if text]
    return {path.stem: path for path in paths}


OWN = _listed()


def load_own(name: str) -> Any:
    """The module of a game; it is run once."""
    path, module_name = OWN[name], f"{_PREFIX}{name}"
    if module_name not in sys.modules:
        spec = spec_from_file_location(module_name, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise FileError(f"AFTERSTATE_GAMES names {path}, which is not a Python file")
        module = module_from_spec(spec)
        sys.modules[module_name] = module  # its classes are found by this name when compiled kernels are loaded
        try:
            with blame(path):
                spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[module_name]  # half of it is missing
            raise
    return sys.modules[module_name]


@contextmanager
def blame(path: Path) -> Iterator[None]:
    """Turn an error in a game's file into one that says where it is. A game's own refusals pass."""
    try:
        yield
    except AfterstateError:
        raise
    except SyntaxError as error:
        raise FileError(f"{error.filename or path}, line {error.lineno}: {type(error).__name__}: {error.msg}") from error
    except Exception as error:
        lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == str(path)]
        where = f"{path}, line {lines[-1]}" if lines else str(path)
        raise FileError(f"{where}: {type(error).__name__}: {error}") from error


def check_kernels(path: Path, tables: Any, required: tuple[Callable[..., Any], ...]) -> None:
    """Refuse a game that lacks kernels."""
    kind = type(tables)
    missing = [function.__name__ for function in required if find_bodies(function).keys().isdisjoint({kind, object})]
    if missing:
        raise FileError(
            f"{path}, line {_line_of(kind)}: {kind.__name__} has no kernel for {', '.join(missing)}; "
            f"write @implement({missing[0]}, {kind.__name__}) above a function"
        )


def _line_of(thing: Any) -> int:
    try:
        return inspect.getsourcelines(thing)[1]
    except (OSError, TypeError):
        return 1


def explain(error: BaseException) -> str | None:
    """Why a kernel in a game's file does not compile, from Numba's long error; None for other errors.

    Numba says what it could not do, the innermost call last, and where it was at that moment, the innermost place first.
    """
    if not type(error).__module__.startswith("numba."):
        return None
    text = re.sub(r"\x1b\[[\d;]*m", "", str(error))  # where colorama is installed, Numba writes in colours
    reasons = [one for one in re.findall(r"\b\w+Error: [^\n]+", text) if "Failed in nopython mode" not in one]
    calls = re.findall(r">>> ((\w+)\([^\n]*)", text)
    reason = reasons[-1] if reasons else f"there is no {calls[-1][0]}" if calls else text.splitlines()[0]
    places = re.findall(r"During: [^\n]* at ([^\n]+) \((\d+)\)", text)
    for path in OWN.values():
        lines = [int(line) for place, line in places if Path(place).resolve() == path.resolve()]
        lines += [line for _, name in reversed(calls) for line in _lines_with(path, rf"@implement\({name}\b")]
        if lines:
            return f"{path}, line {lines[0]}: this kernel does not compile: {reason}"
    return None


def _lines_with(path: Path, pattern: str) -> list[int]:
    """Numbers of the lines of a file that match a pattern."""
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return []
    return [number for number, line in enumerate(text.splitlines(), 1) if re.search(pattern, line)]
