"""Tables and drawings for the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from afterstate.bitboard import Shape
from afterstate.games.game import Game, Slide, State
from afterstate.games.results import Summary
from afterstate.learning.metrics import reached
from afterstate.network.patterns import draw_pattern
from afterstate.play.reproduction import Reproduction, Row
from afterstate.search.statistics import SearchStatistics
from afterstate.units import format_count, format_rate, format_time

_GAP = 4  # blanks between drawings

# colours of tiles by index; later tiles have the last one
_COLOURS = ["grey50", "grey70", "wheat1", "light_goldenrod2", "orange1", "dark_orange", "orange_red1", "red1"]
_COLOURS += ["yellow1", "gold1", "gold3", "green_yellow", "spring_green2", "cyan1", "deep_sky_blue1", "medium_purple1"]


def summary_table(summary: Summary) -> RenderableType:
    """A player's results: score with interval, and how often each tile was reached."""
    figures = Table.grid(padding=(0, 2))
    figures.add_column(style="bold")
    figures.add_column()
    low, high = summary.win_interval
    places = 0 if summary.mean >= 10_000 else 1
    interval = f" ± {summary.interval:,.{places}f}   (95 %, {summary.games:,} games)" if summary.games > 1 else "   (one game)"
    figures.add_row("mean score", f"{summary.mean:,.{places}f}{interval}")
    figures.add_row("median, max", f"{summary.median:,.0f}, {summary.maximum:,}")
    figures.add_row(f"{summary.win_tile} reached", f"{summary.win_rate:.1%}   ({low:.1%} to {high:.1%})")
    if summary.until is not None:
        figures.add_row("games end", f"as soon as {summary.until} is on the board; the score is that at this moment")
    figures.add_row(
        "speed", f"{format_rate(summary.moves_per_s)} moves/s, {summary.moves:,} moves in {format_time(summary.seconds)}"
    )
    tiles = Table(box=None, padding=(0, 2))
    for name in ("tile", "reached", "ended"):
        tiles.add_column(name, justify="right")
    tiles.add_column()
    for rate in summary.tiles:
        tiles.add_row(
            str(rate.tile), f"{rate.reached:.1%}", f"{rate.ended:.1%}", Text("━" * round(30 * rate.reached), style="green")
        )
    return Group(figures, Text(), tiles)


def evaluations_table(records: Sequence[dict[str, Any]]) -> RenderableType:
    """The evaluations of a run, one line each: games of training, mean, how often the largest tiles were reached, points."""
    faces = sorted({int(face) for record in records for face in record["reached"]})[-3:]
    win = records[0]["win_tile"]
    shown = sorted({win, *faces})
    judged = any("judge" in record for record in records)
    table = Table(box=None, padding=(0, 2), title="evaluations", title_justify="left")
    for name in ("games", "mean", "", *map(str, shown), *(["points"] if judged else [])):
        table.add_column(name, justify="right")
    for record in records:
        interval = "" if record["interval"] is None else f"± {record['interval']:,.0f}"
        rates = [f"{reached(record, face):.1%}" for face in shown]
        points = [f"{record['judge']:.1f}" if "judge" in record else ""] if judged else []
        table.add_row(f"{record['games']:,}", f"{record['mean']:,.0f}", interval, *rates, *points)
    return table


def comparison_table(done: Reproduction) -> RenderableType:
    """The figures of a report beside ours, one line each; a shorter run passes and fails nothing."""
    table = Table(box=None, padding=(0, 1))
    ours = "ours" if done.is_whole else "ours, shorter"
    for name in ("games", "figure", "report", ours, "95 % interval", ""):
        table.add_column(name, justify="left" if name in {"figure", ""} else "right", no_wrap=True)
    for row in done.rows:
        judged = Text("passed", style="green") if row.passed else Text("failed", style="bold red")
        trained = f"{row.games:,}" if done.is_whole else f"{format_count(row.games)} of {format_count(row.their_games)}"
        between = f"{_figure(row, row.low)} to {_figure(row, row.high)}"
        table.add_row(
            trained, row.what, _figure(row, row.theirs), _figure(row, row.ours), between,
            judged if done.is_whole else "",
        )  # fmt: skip
    return table


def _figure(row: Row, value: float) -> str:
    if row.is_share:
        return f"{value:.1%}"
    return f"{value:,.0f}" if abs(row.theirs) >= 1000 else f"{value:,.1f}"


def board_drawing(game: Game, state: State) -> RenderableType:
    """A board drawn as a grid."""
    cells = game.cells(state)
    width = max(len(str(game.face(cell))) for cell in cells)
    table = Table.grid(padding=(0, 1))
    for start in range(0, len(cells), game.shape.columns):
        row = cells[start : start + game.shape.columns]
        table.add_row(*(_tile(game.face(cell), cell, width) for cell in row))
    beside = game.format(state).partition("|")[2].strip()  # such as the next tile of Threes!
    drawing = Panel(table, expand=False, padding=(0, 1))
    return Group(drawing, Text(f" {beside}", style="grey70")) if beside else drawing


def _tile(face: int, index: int, width: int) -> Text:
    if not face:
        return Text("·".rjust(width), style="grey35")
    return Text(str(face).rjust(width), style=_COLOURS[min(index, len(_COLOURS) - 1)])


def values_table(values: dict[Slide, float | None], best: Slide | None) -> RenderableType:
    """The four values, the best one marked."""
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    top = max((value for value in values.values() if value is not None), default=0.0)
    for slide, value in values.items():
        if value is None:
            table.add_row(Text(str(slide), style="grey50"), Text("illegal", style="grey50"), "")
        elif slide is best:
            table.add_row(Text(str(slide), style="bold green"), Text(f"{value:,.1f}", style="bold green"), "◀ best")
        else:
            behind = f"{value - top:,.1f}" if top - value >= 0.05 else "equal"
            table.add_row(str(slide), f"{value:,.1f}", Text(behind, style="grey50"))
    return table


def search_line(search: SearchStatistics) -> str:
    """Statistics of a search in one line."""
    reached = search.moves_by_depth
    depth = f"depth {search.mean_depth:.2g} on average" if len(reached) > 1 else f"depth {max(reached, default=0)}"
    times = search.times
    if search.moves <= 1:
        parts = [depth, f"{search.leaves:,} leaves", format_time(times["max"])]
    else:
        took = ", ".join(f"{format_time(times[name])} ({name})" for name in ("p50", "p95", "p99", "max"))
        parts = [depth, f"{search.leaves / search.moves:,.0f} leaves a move", f"a move took {took}"]
    if search.probes:
        parts.append(f"{search.hits / search.probes:.0%} found in the table")
    return "; ".join(parts)


@dataclass(frozen=True)
class PatternDrawings:
    """All patterns side by side, each under its name; as many in a row as fit."""

    patterns: Sequence[str]
    shape: Shape
    across: int = 6  # patterns in a row, at most

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        drawn = [(pattern, draw_pattern(pattern, self.shape)) for pattern in self.patterns]
        width = max(len(line) for pattern, lines in drawn for line in (pattern, *lines)) + _GAP
        across = max(min(self.across, (options.max_width + _GAP) // width), 1)
        table = Table.grid(padding=(0, _GAP))
        for start in range(0, len(drawn), across):
            group = drawn[start : start + across]
            table.add_row(*(Text(pattern, style="bold") for pattern, _ in group))
            table.add_row(*(Text("\n".join(lines) + "\n") for _, lines in group))
        yield table


def facts(rows: Sequence[tuple[str, str]]) -> RenderableType:
    """A table of names and their values."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(value))
    return table
