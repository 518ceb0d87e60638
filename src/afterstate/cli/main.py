"""The command `afterstate`: subcommands, errors and exit codes. Heavy imports wait until a command runs.

A command whose output nobody reads any more (`afterstate info | head -1`) ends silently with 141, as if by SIGPIPE. A training
saves first, and says so.
"""

import codecs
import errno
import os
import sys
from contextlib import suppress
from enum import IntEnum
from io import TextIOWrapper

import typer

import afterstate
from afterstate.cli import (
    analyse,
    arena,
    bench,
    conformance,
    convert,
    evaluate,
    info,
    judge,
    move,
    perft,
    play,
    plot,
    recipes,
    report,
    reproduce,
    solve,
    train,
)
from afterstate.cli.common import show_warnings
from afterstate.errors import AfterstateError, ClusterError, DivergedError, FileError, InputError, ModelError, ResourceError


class Exit(IntEnum):
    """One exit code for each kind of failure. 2 is a command line that cannot be read."""

    DONE = 0
    BUG = 1
    INPUT = 3
    FILE = 4
    MODEL = 5
    RESOURCE = 6
    DIVERGED = 7
    FAILED = 8  # by the judge, or a report's figures were not reached; not an error of the program
    CLUSTER = 9
    INTERRUPTED = 130
    UNREAD = 141  # nobody reads the output any more: 128 + the number of SIGPIPE


app = typer.Typer(
    name="afterstate",
    help="Learn, measure and play 2048-like games with n-tuple networks and temporal-difference learning.",
    epilog="Exit codes: 0 done, 2 wrong command line, 3 wrong input, 4 file, 5 model file, 6 memory or disk, 7 diverged, "
    "8 failed by the judge or the referee, or behind a report, 9 cluster, 130 interrupted, 141 nobody reads the output.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (
    *(train, recipes, reproduce, evaluate, move, play, plot, report, info, judge, bench, perft, solve),
    *(convert, analyse, arena, conformance),
):
    module.register(app)


@app.callback(invoke_without_command=True)
def version(
    show: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if show:
        print(afterstate.__version__)
        raise typer.Exit
    show_warnings()


def exit_code(error: BaseException) -> Exit:
    """The exit code of an error."""
    kinds: list[tuple[type[BaseException], Exit]] = [
        (ModelError, Exit.MODEL),
        (FileError, Exit.FILE),
        (InputError, Exit.INPUT),
        (ResourceError, Exit.RESOURCE),
        (DivergedError, Exit.DIVERGED),
        (ClusterError, Exit.CLUSTER),
        (MemoryError, Exit.RESOURCE),
        (OSError, Exit.RESOURCE),
        (KeyboardInterrupt, Exit.INTERRUPTED),
    ]
    return next((code for kind, code in kinds if isinstance(error, kind)), Exit.BUG)


def main() -> None:
    """Run the command line. Our own errors are one line on standard error, never a traceback."""
    codecs.register_error("plain", _write_plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="plain")
    try:
        try:
            app(prog_name="afterstate")
        finally:
            sys.stdout.flush()  # an error is reported here, and not by Python at its end
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # typer has met it, and ended with 1
            _discard_output()
            sys.exit(Exit.UNREAD)
        raise
    except AfterstateError as error:
        _fail(str(error), error)
    except MemoryError as error:
        _fail("out of memory", error)
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EPIPE}:
            raise
        _discard_output()
        if error.errno == errno.EPIPE:
            sys.exit(Exit.UNREAD)
        _fail(f"cannot write the output: {error.strerror}", error)
    except KeyboardInterrupt as error:
        _fail("interrupted", error)
    except Exception as error:
        if not type(error).__module__.startswith("numba."):
            raise
        from afterstate.games.own import explain

        if (text := explain(error)) is None:
            raise
        _fail(text, FileError(text))


def _fail(text: str, error: BaseException) -> None:
    with suppress(BrokenPipeError):
        print(f"error: {text}", file=sys.stderr)
    sys.exit(exit_code(error))


def _discard_output() -> None:
    """What is still in a buffer has nowhere to go."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115


_PLAIN = str.maketrans({"■": "#", "·": ".", "━": "=", "◀": "<", "±": "+-", "…": "..."})


def _write_plainly(error: UnicodeError) -> tuple[str, int]:
    """What stands for characters that a terminal cannot show: filled and empty cells differ, the rest is a question mark."""
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end].translate(_PLAIN)
    return "".join(letter if letter.isascii() else "?" for letter in text), error.end
