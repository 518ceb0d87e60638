"""What the commands share: output, and the note that kernels are being compiled."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

COMPILING = "compiling, first run only"
MODEL = "a model file, a run folder (its best checkpoint), or the name of a model of the package (see afterstate models)"
_told = False


def tell_compiling() -> None:
    """Print once, where there is no spinner, that kernels are being compiled."""
    global _told  # noqa: PLW0603
    if not _told:
        _told = True
        print(f"{COMPILING} ...", file=sys.stderr, flush=True)


def show_warnings() -> None:
    """Print what the package warns of as one line each on standard error, beside any progress bar."""
    import logging

    class Printer(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            with suppress(OSError):  # nobody reads it
                print(f"warning: {record.getMessage()}", file=sys.stderr, flush=True)

    log = logging.getLogger("afterstate")
    if not log.handlers:
        log.addHandler(Printer())
        log.propagate = False


def console(*, to_stderr: bool = False) -> "Console":
    """Make a console for people; it prints plain text if the output is not a terminal."""
    from rich.console import Console

    return Console(stderr=to_stderr, highlight=False, markup=False, emoji=False, soft_wrap=not sys.stdout.isatty())


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


@contextmanager
def compiling() -> Iterator[None]:
    """Show a spinner on standard error while a kernel is compiled, and only then."""
    from afterstate.kernel import on_compile

    screen = console(to_stderr=True)
    status = screen.status(f"{COMPILING} ...")
    try:
        with on_compile(status.start if screen.is_terminal else tell_compiling):
            yield
    finally:
        status.stop()


@contextmanager
def progress_bar(text: str, total: int) -> Iterator[Callable[..., None]]:
    """Show a progress bar on standard error. Call what it yields with the amount done, and optionally a new text."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    screen = console(to_stderr=True)
    if not screen.is_terminal:  # a bar that is switched off still prints an empty line, in Rich before 14.3
        yield lambda *_, **_more: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task(text, total=total)
        yield lambda done, text=None: progress.update(task, completed=done, description=text)
