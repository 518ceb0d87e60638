"""Who compiles: a separate process, for a compiler never frees some 100 MB; or one of many processes, while others wait.

Kernels loaded from the cache folder need no compiler.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence

from afterstate.files import hold_folder
from afterstate.kernel import CACHE, on_compile

LOOK = 0.1  # seconds between checks of the stop flag


class _NotCompiledError(Exception):
    """A kernel is not in the cache folder."""


def load_or_compile(load: Callable[[], None], code: str, arguments: Sequence[str], stop: threading.Event) -> None:
    """Call `load`, which uses kernels; if any is not compiled yet, first run `code` in another process to compile it.

    If that process fails, this one compiles. After a stop nothing is loaded.
    """
    if CACHE is not None and os.access(CACHE, os.W_OK) and sys.executable and not hasattr(sys, "frozen"):
        if _is_compiled(load):
            return
        _run([sys.executable, "-P", "-c", code, *arguments], stop)
    if not stop.is_set():
        load()


def load_in_turn(load: Callable[[], None]) -> None:
    """Call `load`, which uses kernels. If any is not compiled yet, one process of this machine compiles, and others wait."""
    while CACHE is not None and not _is_compiled(load):
        with hold_folder(CACHE) as alone:
            if alone:
                load()
                return
        time.sleep(LOOK)
    if CACHE is None:
        load()


def _is_compiled(load: Callable[[], None]) -> bool:
    """Call `load` up to the first kernel that is not in the cache folder -> whether there is none."""
    caller = threading.get_ident()

    def refuse() -> None:
        if threading.get_ident() == caller:  # other threads may compile what they like
            raise _NotCompiledError

    try:
        with on_compile(refuse):
            load()
    except _NotCompiledError:
        return False
    return True


def _run(command: list[str], stop: threading.Event) -> None:
    """Run a command silently, to its end or until a stop."""
    quiet = subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)
    except OSError:
        return
    with process:
        while process.poll() is None:
            if stop.wait(LOOK):
                process.terminate()
                return
