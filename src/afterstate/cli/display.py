"""The live display of a training run: a progress line, and blocks of statistics above it."""

import errno
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.progress import BarColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as Bar

from afterstate.cli.common import COMPILING, console, tell_compiling
from afterstate.engine.workers import Share
from afterstate.games.results import Summary
from afterstate.kernel import on_compile
from afterstate.learning.progress import Listener, Progress
from afterstate.network.training import Block
from afterstate.report.course import format_block
from afterstate.units import format_rate, format_time

BAR = 24  # characters of the progress bar
NARROW = 10  # on a narrow terminal
WIDE = 120  # columns from which on a terminal is not narrow
STEPS = 10  # lines about a long training
GONE = {errno.EPIPE, errno.EIO}  # errors of an output that nobody reads any more: a closed pipe, a closed terminal


class Display(Listener):
    """Shows the progress of a run; outside a terminal there is no progress line.

    If nobody reads the output any more, it sets `stop`, so that the run saves what it has and ends.
    """

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self.quiet = quiet
        self.stop = threading.Event()
        self.abandoned = False  # nobody reads the output any more
        self.screen = console(to_stderr=as_json)
        self.to_stderr = as_json
        self.bar_width = BAR if self.screen.width >= WIDE else NARROW
        columns = (SpinnerColumn(), BarColumn(bar_width=self.bar_width), TextColumn("{task.description}"))
        still = not self.screen.is_terminal
        self.bar = Bar(*columns, console=self.screen, transient=True, disable=still, refresh_per_second=8)
        self.task = self.bar.add_task("starting", total=None)
        self.watch = on_compile(self._compile_begins)

    def __enter__(self) -> "Display":
        self.watch.__enter__()
        if self.screen.is_terminal:
            self.bar.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self.screen.is_terminal:
            with suppress(OSError):  # of a terminal that was closed
                self.bar.__exit__(*error)
        self.watch.__exit__(*error)

    def say(self, text: str, *, to_stderr: bool = False) -> None:
        """Print a text: to standard output, or to standard error beside JSON or if nobody reads the output any more."""
        while True:
            to_stderr |= self.to_stderr
            try:
                print(text, file=sys.stderr if to_stderr else sys.stdout, flush=True)
            except OSError as error:
                if error.errno not in GONE:
                    raise
                self._give_up_output()
                if not to_stderr:
                    continue
            return

    def show(self, what: RenderableType) -> None:
        """Print a table, in plain text outside a terminal."""
        with self.screen.capture() as captured:
            self.screen.print(what)
        self.say(captured.get())

    def _give_up_output(self) -> None:
        if not self.abandoned:
            self.abandoned = self.to_stderr = True
            self.stop.set()
            with open(os.devnull, "w") as nowhere:  # for what is still in a buffer
                os.dup2(nowhere.fileno(), sys.__stdout__.fileno() if sys.__stdout__ else 1)

    def _compile_begins(self) -> None:
        self.bar.update(self.task, description=f"{COMPILING} ...")
        if not self.screen.is_terminal:
            tell_compiling()

    def doing(self, what: str) -> None:
        """Say on the progress line what takes time now."""
        self.bar.update(self.task, description=f"{what} ...")

    def on_start(self, rate: str, origin: str | None) -> None:
        if not self.quiet:
            self.say(f"{rate}\n" if origin is None else f"{rate}\nstarts with the {origin}\n")

    def on_progress(self, progress: Progress) -> None:
        total, done = float(progress.total or 0), float(progress.games)
        if progress.total is None:
            total, done = progress.limit or 0.0, progress.seconds
        left = progress.seconds * (total - done) / done if done else 0.0
        parts = [f"{progress.games:,} games"]
        parts.append("evaluating" if progress.doing == "evaluating" else f"{format_time(left)} left")
        if progress.block is not None:
            parts += [f"mean {progress.block.mean:,.0f}", f"{progress.block.win_tile} in {progress.block.win_rate:.1%}"]
        parts.append(f"{format_rate(progress.moves_per_s)} moves/s")
        if progress.learning is not None:
            parts += [f"rate {progress.learning.rate:.2g}", f"|error| {progress.learning.error:,.0f}"]
            if progress.learning.outside >= 0.001:
                parts.append(f"{progress.learning.outside:.1%} out of range")
        room = self.screen.width - self.bar_width - 4  # for the spinner and spaces
        self.bar.update(self.task, total=total, completed=done, description=break_lines(parts, room))

    def on_block(self, games: int, block: Summary) -> None:
        if not self.quiet:
            self.say(format_block(games, block))

    def on_eval(self, games: int, summary: Summary, points: float | None) -> None:
        if not self.quiet:
            judged = "" if points is None else f", {points:.1f} points"
            mean = f"mean {summary.mean:.0f} ± {summary.interval:.0f} ({summary.games} games)"
            self.say(f"learning off at {games} games: {mean}{judged}\n{format_block(games, summary)}")

    def on_best(self, new: Block, old: Block | None, path: Path) -> None:
        if not self.quiet:
            mean, rate = ("", "") if old is None else (f" > {old.mean:,.0f}", f" (before: {old.win_rate:.1%})")
            self.say(f"new best: mean {new.mean:,.0f}{mean}, win rate {new.win_rate:.1%}{rate}, saved to {path.name}\n")

    def on_note(self, text: str) -> None:
        self.say(text)

    def on_warning(self, text: str) -> None:
        self.say(f"warning: {text}\n", to_stderr=not self.screen.is_terminal)


def break_lines(parts: Sequence[str], width: int) -> str:
    """Parts side by side, with a new line where one does not fit any more."""
    lines = [""]
    for part in parts:
        longer = f"{lines[-1]} · {part}" if lines[-1] else part
        if lines[-1] and len(longer) > width:
            lines.append(part)
        else:
            lines[-1] = longer
    return "\n".join(lines)


class Steps(Display):
    """Shows a long training in a few lines, and the games that measure it after it."""

    def __init__(self, *, as_json: bool, measured: int) -> None:
        super().__init__(quiet=True, as_json=as_json)
        self.measured = measured  # games
        self.total = 0  # of the training
        self.told = 0  # steps of it

    def on_progress(self, progress: Progress) -> None:
        self.total = progress.total or 0
        super().on_progress(progress)

    def on_block(self, games: int, block: Summary) -> None:
        step = STEPS * games // self.total if self.total else 0
        if step > self.told:
            self.told = step
            win = f"{block.win_tile} in {block.win_rate:.1%}"
            self.say(f"{games:,} of {self.total:,} games: mean {block.mean:,.0f}, {win}")

    def on_eval(self, games: int, summary: Summary, points: float | None) -> None:
        judged = "" if points is None else f", {points:.1f} points"
        self.say(f"learning off at {games:,} games: mean {summary.mean:,.0f} ± {summary.interval:,.0f}{judged}")

    def on_measure(self, share: Share) -> None:
        """Some games were played to measure with."""
        text = f"measuring, {share.games:,} of {self.measured:,} games, {share.moves:,} moves"
        self.bar.update(self.task, total=self.measured, completed=share.games, description=text)
