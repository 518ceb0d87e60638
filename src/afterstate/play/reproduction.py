"""Repeat a report: train by its recipe, measure as it did, and set its figures beside ours.

    done = reproduce("report-python", scale="10%")
    for row in done.rows:
        print(row.games, row.what, row.theirs, row.ours, row.low, row.high)

A figure is passed if ours is at least the report's, or if the report's lies within our 95 % interval. The figures of a run that
was made shorter (`scale`) are shown, but neither passed nor failed.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from afterstate.engine.workers import Share
from afterstate.errors import FileError, InputError
from afterstate.files import is_file
from afterstate.games.game import Game
from afterstate.games.points import Merits, find_version, goal_tile
from afterstate.games.results import find_tile, summarise
from afterstate.intervals import wilson
from afterstate.learning.figures import Figures, Report
from afterstate.learning.gamesfile import GamesFile
from afterstate.learning.metrics import reached
from afterstate.learning.options import TrainOptions
from afterstate.learning.plan import game_of, make_plan
from afterstate.learning.progress import Listener, as_record
from afterstate.learning.recipes import Recipe, load_recipe, recipe_names, with_recipe
from afterstate.learning.runfolder import ROOT, RunFolder
from afterstate.learning.trainer import resume, train
from afterstate.network.modelfile import load_model
from afterstate.play.agent import Agent
from afterstate.play.evaluation import measure
from afterstate.threads import count_threads
from afterstate.units import parse_count, parse_share

GAMES = 1000  # to measure with
_FREE = ("threads", "save_every")  # options in which two runs of one recipe may differ


@dataclass(frozen=True)
class Row:
    """One figure of a report beside ours; a share of games is 0 .. 1."""

    games: int  # of our training
    their_games: int  # of the report's
    what: str  # "mean score", "judge's points", or "2048 reached"
    theirs: float
    ours: float
    low: float  # of the 95 % interval of ours
    high: float

    @property
    def is_share(self) -> bool:
        return self.what.endswith("reached")

    @property
    def passed(self) -> bool:
        """Whether ours is at least theirs, or theirs lies within our interval."""
        return self.ours >= self.theirs or self.low <= self.theirs <= self.high


@dataclass(frozen=True)
class Reproduction:
    """A report's figures beside ours."""

    recipe: Recipe
    report: Report
    run: Path
    scale: float  # share of the report's games that were trained
    stopped: bool  # before all was measured; then there are no rows
    rows: tuple[Row, ...] = ()
    measured: tuple[dict[str, Any], ...] = ()  # what was measured after the training, as lines of metrics

    @property
    def is_whole(self) -> bool:
        """Whether as many games were trained as in the report."""
        return self.scale == 1

    @property
    def passed(self) -> bool:
        """Whether no figure failed. A shorter run fails none."""
        return not self.is_whole or all(row.passed for row in self.rows)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        rows: list[dict[str, Any]] = [vars(row) | {"passed": row.passed if self.is_whole else None} for row in self.rows]
        facts: dict[str, Any] = {"recipe": self.recipe.label, "report": self.report.title, "measure": self.report.measure}
        facts |= {"depth": self.report.depth, "run": str(self.run), "scale": self.scale, "stopped": self.stopped}
        return facts | {"passed": self.passed if self.is_whole and not self.stopped else None, "figures": rows}


def reports() -> list[Recipe]:
    """The recipes of the package that repeat a report."""
    return [recipe for recipe in map(load_recipe, recipe_names()) if recipe.report is not None]


def reproduce(
    name: str,
    *,
    scale: float | str = 1.0,
    run: Path | str | None = None,
    seed: int | None = None,
    threads: int | None = None,
    games: int | str | None = None,
    listener: Listener | None = None,
    stop: threading.Event | None = None,
    on_tick: Callable[[Share], None] | None = None,
) -> Reproduction:
    """Train by a report's recipe, and compare figures. A run that is there already goes on, or is only measured if it is done.

    `scale` trains only that share of the games, such as "10%". `games` are played to measure with learning off. `on_tick` is
    called while they are played.
    """
    task = _Task.plan(name, parse_share(scale, name="scale"), run, seed, threads, games)
    if not task.train(listener, stop, threads):
        return task.result(stopped=True)
    return task.compare(threads, on_tick)


@dataclass(frozen=True)
class _Task:
    """What is to be trained and measured."""

    recipe: Recipe
    report: Report
    game: Game
    options: TrainOptions  # of the run
    whole: TrainOptions  # as the recipe has them
    folder: RunFolder
    scale: float
    games: int  # to measure with

    @classmethod
    def plan(
        cls, name: str, scale: float, run: Path | str | None, seed: int | None, threads: int | None, games: int | str | None
    ) -> "_Task":
        """Refuse what cannot work before anything is trained."""
        recipe = load_recipe(name)
        report = recipe.report
        if report is None:
            known = ", ".join(each.name for each in reports())
            raise InputError(f"recipe {recipe.name} does not repeat a report; these do: {known}")
        if games is not None and report.measure != "eval":
            raise InputError(
                f"{recipe.name} is measured by its {report.measure} block of training, as the report was: leave out --games"
            )
        count = GAMES if games is None else parse_count(games, name="games")
        count_threads(threads)
        given = {key: value for key, value in {"recipe": name, "seed": seed, "threads": threads}.items() if value is not None}
        whole = TrainOptions(**with_recipe(given))
        options = replace(whole, **_shorter(whole, scale))
        game = game_of(options)
        for figures in report.figures:
            for face in figures.reached:
                find_tile(game, face)
        share = "" if scale == 1 else f"-x{scale:g}"
        folder = RunFolder(ROOT / f"{recipe.name}{share}" if run is None else run)
        return cls(recipe, report, game, _same_run(folder, options, seed), whole, folder, scale, count)

    def train(self, listener: Listener | None, stop: threading.Event | None, threads: int | None) -> bool:
        """Train to the end of the run -> whether it got there. A finished run is left as it is."""
        if not is_file(self.folder.config):
            done = train(self.options, run=self.folder.path, listener=listener, stop=stop)
        elif not self.folder.is_finished():
            given = {} if threads is None else {"threads": threads}
            done = resume(self.folder.path, given, listener=listener, stop=stop)
        else:
            return True
        return not done.stopped

    def compare(self, threads: int | None, on_tick: Callable[[Share], None] | None) -> Reproduction:
        """Measure as the report did, and compare."""
        rows: list[Row] = []
        measured: list[dict[str, Any]] = []
        for figures in self.report.figures:
            at = self._place(figures.games)
            if self.report.measure != "eval":
                record: dict[str, Any] | None = self._block(at)
            elif figures.games < (self.whole.games or 0):
                record = self._evaluation(at)
            elif (record := self._measure(at, threads, on_tick)) is not None:
                measured.append(record)
            if record is None:
                return self.result(stopped=True)
            rows += compare(figures, record, self.game, self.options.judge)
        return self.result(rows=tuple(rows), measured=tuple(measured))

    def result(self, *, stopped: bool = False, **found: Any) -> Reproduction:
        return Reproduction(self.recipe, self.report, self.folder.path, self.scale, stopped, **found)

    def _place(self, games: int) -> int:
        """After how many games of our run the figures of the report at `games` are measured."""
        every, shorter = self.whole.eval_every, self.options.eval_every
        if games == self.whole.games:
            return self.options.games or games
        if self.report.measure == "eval" and every is not None and shorter is not None:
            return games // every * shorter
        return _scaled(games, self.scale)

    def _block(self, at: int) -> dict[str, Any]:
        """The last block of training by game `at`, or the one that the best network was kept for."""
        first = max(at - self.options.block, 0)
        if self.report.measure == "best":
            best = self.folder.best_so_far()
            if best is None:
                raise FileError(f"run {self.folder.path} has no best checkpoint: it was lost, train again in another folder")
            first, at = best.games - best.count, best.games
        results = GamesFile(self.folder.games).results(self.game, first, at)
        if not len(results.scores):
            raise FileError(
                f"the results of games {first + 1:,} to {at:,} are not in {self.folder.games}: train again elsewhere"
            )
        return {"kind": "block", "games": at} | as_record(summarise(self.game, results, 0.0))

    def _evaluation(self, at: int) -> dict[str, Any]:
        """What the run measured with learning off after `at` games."""
        found = [record for record in self.folder.read_metrics() if record["kind"] == "eval" and record["games"] == at]
        if not found:
            raise FileError(f"{self.folder.metrics} has no evaluation at {at:,} games: train again in another folder")
        return found[-1]

    def _measure(self, at: int, threads: int | None, on_tick: Callable[[Share], None] | None) -> dict[str, Any] | None:
        """Play with the last network and learning off, other games than those of the evaluations; None if it was stopped."""
        agent = Agent(load_model(self.folder.last, game=self.game), depth=self.report.depth)
        agent.prepare()
        seed = (self.options.seed + 1) % 2**63
        match = measure(agent, games=self.games, seed=seed, threads=threads, on_tick=on_tick)
        if match.summary is None or match.stopped:
            return None
        record: dict[str, Any] = {"kind": "eval", "games": at} | as_record(match.summary)
        version = self.options.judge
        return (
            record if version is None else record | {"judge": _points(record, self.game, version)[0], "judge_version": version}
        )


# --- the run -------------------------------------------------------------------------------------------------------------


def _scaled(count: int, scale: float) -> int:
    return max(round(count * scale), 1)


def _shorter(options: TrainOptions, scale: float) -> dict[str, Any]:
    """The options of a run that change with its scale: as many evaluations, after fewer games each."""
    games, every = options.games or 0, options.eval_every
    if every is None:
        return {"games": _scaled(games, scale)}
    step = _scaled(every, scale)
    return {"games": games // every * step if games % every == 0 else _scaled(games, scale), "eval_every": step}


def _same_run(folder: RunFolder, options: TrainOptions, seed: int | None) -> TrainOptions:
    """The options of the run, with all defaults. A run that is in the folder already must have the same."""
    wanted = make_plan(options).options
    if not is_file(folder.config):
        return wanted
    found = folder.read_config()
    if seed is None:
        wanted = replace(wanted, seed=found.seed)
    for name, value in vars(wanted).items():
        if name not in _FREE and getattr(found, name) != value:
            raise InputError(
                f"run {folder.path} was made with {name.rstrip('_')} {getattr(found, name)}, not {value}: "
                "choose another folder with --run"
            )
    return found


# --- figures -------------------------------------------------------------------------------------------------------------


def compare(figures: Figures, record: dict[str, Any], game: Game, version: str | None) -> list[Row]:
    """The figures of a report beside a line of metrics; `version` is that of the judge who gave points."""
    rows = []
    at = int(record["games"]), figures.games
    if figures.mean is not None:
        mean, half = record["mean"], record["interval"] or 0.0
        rows.append(Row(*at, "mean score", figures.mean, mean, mean - half, mean + half))
    if figures.points is not None and version is not None:
        rows.append(Row(*at, "judge's points", figures.points, *_points(record, game, version)))
    for face, share in sorted(figures.reached.items()):
        rows.append(Row(*at, f"{face} reached", share, *_share(record, face)))
    return rows


def _share(record: dict[str, Any], face: int) -> tuple[float, float, float]:
    """How many games reach a tile, and the 95 % interval of that."""
    share, count = reached(record, face), record["count"]
    return share, *wilson(round(share * count), count)


def _points(record: dict[str, Any], game: Game, version: str) -> tuple[float, float, float]:
    """The judge's points, and their 95 % interval: that of what they are made of. More is never worth less."""
    goal, win = _share(record, game.face(goal_tile(game))), _share(record, game.face(game.win))
    mean, half = record["mean"], record["interval"] or 0.0
    largest = max(find_tile(game, int(face)) for face, share in record["reached"].items() if share > 0)
    points = find_version(version).points
    ours, low, high = (
        points(Merits(score, 100 * rate, 100 * wins, largest))
        for score, rate, wins in zip((mean, mean - half, mean + half), goal, win, strict=True)
    )
    return ours, low, high
