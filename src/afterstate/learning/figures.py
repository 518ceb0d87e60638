"""The figures of a report that a recipe repeats, as the recipe's TOML has them.

[report]
title = "a lab in Python"       # what pictures and tables call it
measure = "eval"                # how it measured: with learning off (eval), by its last block or its best block of training
depth = 1                       # how far it looked ahead to measure

[[report.figures]]
games = "100k"                  # of training
mean = 36147
points = 71.7                   # of the judge
reached = { 384 = 84.7 }        # percent of games
"""

from dataclasses import dataclass, field
from typing import Any

from afterstate.errors import FileError, InputError
from afterstate.learning.options import TrainOptions
from afterstate.units import parse_count, shorten

MEASURES = ("eval", "last", "best")
LONGEST_TITLE = 60


@dataclass(frozen=True)
class Figures:
    """What a report says of its player after so many games of training."""

    games: int
    mean: float | None = None
    points: float | None = None
    reached: dict[int, float] = field(default_factory=dict)  # tile -> 0 .. 1


@dataclass(frozen=True)
class Report:
    """What a report says that it reached."""

    title: str
    measure: str  # one of MEASURES
    depth: int
    figures: tuple[Figures, ...]  # by games


def read_report(table: Any, where: str) -> Report:
    """The report of a recipe; anything unknown or wrong is an error."""
    if not isinstance(table, dict) or not set(table) <= {"title", "measure", "depth", "figures"}:
        raise FileError(f"{where}: [report] has title, measure, depth and figures, and nothing else")
    title = table.get("title", "the report")
    if not isinstance(title, str) or not 0 < len(title) <= LONGEST_TITLE:
        raise FileError(f"{where}: the title of [report] is text of at most {LONGEST_TITLE} characters, not {title!r:.100}")
    measure, depth, figures = table.get("measure", "eval"), table.get("depth", 1), table.get("figures")
    if measure not in MEASURES:
        raise FileError(f"{where}: measure is {', '.join(MEASURES)}, not {measure!r:.60}")
    if type(depth) is not int or depth < 1 or (depth > 1 and measure != "eval"):
        raise FileError(f"{where}: depth is a whole number from 1 on, and above 1 only with measure eval, not {depth!r:.60}")
    if not isinstance(figures, list) or not figures:
        raise FileError(f"{where}: [report] needs [[report.figures]]")
    found = sorted((_read_figures(each, where) for each in figures), key=lambda each: each.games)
    return Report(title, measure, depth, tuple(found))


def check_report(report: Report, options: TrainOptions, where: str) -> None:
    """Refuse figures that a run with these options cannot be measured for."""
    if options.games is None:
        raise FileError(f"{where}: a recipe with [report] needs games in [train]: a report says how many it played")
    every, last = options.eval_every, options.games
    for figures in report.figures:
        at = f"{where}: the figures at {figures.games:,} games"
        if figures.games > last:
            raise FileError(f"{at} come after the end of the run, which has {last:,}")
        if figures.points is not None and options.judge is None:
            raise FileError(f"{at} have points: set judge in [train] to the version of the judge that gave them")
        if figures.games == last:
            continue
        if report.measure == "best" or report.depth > 1:
            raise FileError(f"{at} cannot be measured: the best block and a depth above 1 are only known at {last:,} games")
        if report.measure == "eval" and (every is None or figures.games % every):
            raise FileError(f"{at} cannot be measured: set eval_every in [train] so that the run is evaluated there")


def _read_figures(table: Any, where: str) -> Figures:
    if not isinstance(table, dict) or not set(table) <= {"games", "mean", "points", "reached"}:
        raise FileError(f"{where}: figures are games, mean, points and reached, and nothing else")
    try:
        games = parse_count(table.get("games", ""), name="games")
    except (InputError, TypeError, AttributeError) as error:
        raise FileError(f"{where}: figures need games, such as 100k") from error
    mean, points = (_number(table[name], where) if name in table else None for name in ("mean", "points"))
    reached = table.get("reached", {})
    if not isinstance(reached, dict) or not all(face.isascii() and face.isdecimal() and len(face) < 9 for face in reached):
        raise FileError(f"{where}: reached is a table of tiles and percent, not {shorten(str(reached))}")
    return Figures(games, mean, points, {int(face): _number(share, where) / 100 for face, share in reached.items()})


def _number(value: Any, where: str) -> float:
    if type(value) not in (int, float) or not 0 <= value < 1e12:
        raise FileError(f"{where}: a figure is a number, not {value!r:.60}")
    return float(value)
