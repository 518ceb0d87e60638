"""Compile in a process of its own: a compiler keeps some 100 MB for good after its work is done, a cache folder does not."""

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

from afterstate.kernel import CACHE, on_compile

LOOK = 0.1  # seconds between two looks at the stop flag


class _NotCompiledError(Exception):
    """A kernel is not in the cache folder."""


def load_or_compile(load: Callable[[], None], code: str, arguments: Sequence[str], stop: threading.Event) -> None:
    """Call `load`, which uses kernels; if any is yet to be compiled, let another process that runs `code` do it first.

    Whatever hinders that process, this one then compiles for itself. After a stop nothing is loaded.
    """
    if CACHE is not None and sys.executable and not hasattr(sys, "frozen"):
        caller = threading.get_ident()

        def refuse() -> None:
            if threading.get_ident() == caller:  # other threads may compile what they like
                raise _NotCompiledError

        try:
            with on_compile(refuse):
                load()
        except _NotCompiledError:
            _run([sys.executable, "-P", "-c", code, *arguments], stop)
        else:
            return
    if not stop.is_set():
        load()


def _run(command: list[str], stop: threading.Event) -> None:
    """Run a command without a word, to its end or until a stop."""
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
