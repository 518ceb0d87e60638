"""The live display of a training run: a progress line, and blocks of statistics above it."""

import sys
from typing import Any

from rich.progress import BarColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as Bar

from afterstate.cli.common import COMPILING, console, tell_compiling
from afterstate.games.results import Summary
from afterstate.kernel import on_compile
from afterstate.learning.progress import Listener, Progress
from afterstate.report.course import format_block
from afterstate.units import format_rate, format_time


class Display(Listener):
    """Shows the progress of a run; outside a terminal there is no progress line."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self.quiet = quiet
        self.screen = console(to_stderr=as_json)
        self.out = sys.stderr if as_json else None  # None: standard output, which `Bar` redirects above its line
        columns = (SpinnerColumn(), BarColumn(bar_width=24), TextColumn("{task.description}"))
        still = not self.screen.is_terminal
        self.bar = Bar(*columns, console=self.screen, transient=True, disable=still, refresh_per_second=8)
        self.task = self.bar.add_task("starting", total=None)
        self.watch = on_compile(self._compile_begins)

    def __enter__(self) -> "Display":
        self.watch.__enter__()
        self.bar.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.bar.__exit__(*error)
        self.watch.__exit__(*error)

    def _compile_begins(self) -> None:
        self.bar.update(self.task, description=f"{COMPILING} ...")
        if not self.screen.is_terminal:
            tell_compiling()

    def on_progress(self, progress: Progress) -> None:
        total, done = float(progress.total or 0), float(progress.games)
        if progress.total is None:
            total, done = progress.limit or 0.0, progress.seconds
        left = progress.seconds * (total - done) / done if done else 0.0
        parts = [f"{progress.games:,} games", f"{format_rate(progress.moves_per_s)} moves/s"]
        if progress.block is not None:
            parts += [f"mean {progress.block.mean:,.0f}", f"{progress.block.win_tile} in {progress.block.win_rate:.1%}"]
        if progress.learning is not None:
            parts += [f"rate {progress.learning.rate:.2g}", f"|error| {progress.learning.error:,.0f}"]
            if progress.learning.outside >= 0.001:
                parts.append(f"{progress.learning.outside:.1%} out of range")
        parts.append("evaluating" if progress.doing == "evaluating" else f"{format_time(left)} left")
        self.bar.update(self.task, total=total, completed=done, description=" · ".join(parts))

    def on_block(self, games: int, block: Summary) -> None:
        if not self.quiet:
            print(format_block(games, block), file=self.out, flush=True)

    def on_eval(self, games: int, summary: Summary) -> None:
        if not self.quiet:
            rate = f"{summary.win_tile} in {summary.win_rate:.1%} of {summary.games} games"
            text = f"learning off at {games} games: mean {summary.mean:.0f} ± {summary.interval:.0f}, {rate}\n"
            print(text, file=self.out, flush=True)
