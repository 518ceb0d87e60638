"""A sweep's file: which options vary, how long each training lasts, and when the worse ones are stopped.

games = "20k"                          # of one training; or time = "5m"
trials = 16                            # to draw; without it, every combination
seeds = 3                              # trainings of each trial
[halving]
first = "2k"                           # games until the first decision
factor = 3                             # one in three goes on
[train]                                # options of all trials
method = "tc"
[vary]                                 # options that differ
alpha = { log = [0.1, 1.0] }
network = ["4x6", "5x6"]
[reference]                            # the trial that all others are compared with; it is never stopped
network = "4x6"
"""

import re
from dataclasses import dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any

from afterstate.bitboard import Shape
from afterstate.cluster.sweeps.space import MOST, Values, draw_trials, read_values
from afterstate.errors import AfterstateError, FileError, InputError
from afterstate.files import parse_toml, reading
from afterstate.learning.options import TrainOptions, read_options
from afterstate.learning.plan import make_plan
from afterstate.learning.recipes import with_recipe
from afterstate.threads import count_threads
from afterstate.units import check_seed, parse_count, parse_time, shorten

LONGEST = 100_000  # bytes of a sweep's file
MOST_SEEDS = 100
FACTOR = 3  # one in three goes on, unless the file says otherwise
_TOP = ("about", "games", "time", "trials", "seeds", "seed", "keep", "halving", "train", "vary", "reference")
_TABLES = ("halving", "train", "vary", "reference")
_OURS = {  # options that a sweep sets itself, and where
    "games": "games at the top is the length of one training",
    "time": "time at the top is the length of one training",
    "seed": "seeds at the top says which seeds each trial has",
}
_SAME = ("game", "rules", "size", "block", "threads", "judge", "eval_every", "eval_games", "save_every", "keep", "snapshots")


@dataclass(frozen=True)
class Trial:
    """One set of options to try."""

    number: int  # 0 is the reference, the others begin with 1
    varied: dict[str, Any]  # what it does not share with the others, by the names of TrainOptions
    options: dict[str, Any]  # all that is given, without games, time and seed

    @property
    def label(self) -> str:
        """What is varied, as text: 'alpha 0.1, lambda 0.5'."""
        return ", ".join(f"{name.rstrip('_')} {value}" for name, value in self.varied.items())


@dataclass(frozen=True)
class Sweep:
    """A sweep with nothing left open."""

    name: str
    about: str
    text: str  # the file as it is
    by: str  # "games" or "time"
    rungs: tuple[float, ...]  # games or seconds at which trials are compared; the last is the length of a training
    factor: int
    seeds: tuple[int, ...]
    keep: int  # of the best trials, how many keep their checkpoints
    trials: tuple[Trial, ...]
    threads: int  # of one training
    block: int  # games, by whose mean trials are compared

    @property
    def reference(self) -> Trial | None:
        return next((trial for trial in self.trials if trial.number == 0), None)

    def run_options(self, trial: Trial, seed: int) -> TrainOptions:
        """The options of one training."""
        limit: Any = {"games": int(self.rungs[-1])} if self.by == "games" else {"time": self.rungs[-1]}
        ours = {"seed": seed, "threads": self.threads, "block": self.block} | limit  # a recipe's own give way
        return TrainOptions(**with_recipe(trial.options | ours))


def _folder() -> Any:
    return resources.files("afterstate") / "sweeps"


def sweep_names() -> list[str]:
    """The sweeps that come with the package."""
    return sorted(file.name.removesuffix(".toml") for file in _folder().iterdir() if file.name.endswith(".toml"))


def load_sweep(name: str) -> Sweep:
    """Load a sweep of the package by its name, or a TOML file."""
    if name in sweep_names():
        return parse_sweep(name, (_folder() / f"{name}.toml").read_text("utf-8"), f"sweep {name}")
    path = Path(name)
    if path.suffix != ".toml":
        raise InputError(
            f"no sweep is called {shorten(name)!r}; there are: {', '.join(sweep_names())}; or give a file that ends in .toml"
        )
    return read_sweep(path)


def read_sweep(path: Path, *, name: str | None = None) -> Sweep:
    """Read a sweep's file."""
    with reading(f"the sweep {path}"):
        with open(path, "rb") as file:
            raw = file.read(LONGEST + 1)
        if len(raw) > LONGEST:
            raise FileError(f"{path} is not a sweep: it is longer than {LONGEST} bytes")
        return parse_sweep(name or path.stem, raw.decode("utf-8"), str(path))


def parse_sweep(name: str, text: str, where: str) -> Sweep:
    """Read and check a whole sweep: every trial can be trained."""
    try:
        table = parse_toml(text.encode())
    except ValueError as error:
        raise FileError(f"{where} is not TOML: {error}") from error
    return _Reader(name, text, where, table).read()


class _Reader:
    """Reads one file; an error names the line of the key that is wrong."""

    def __init__(self, name: str, text: str, where: str, table: dict[str, Any]) -> None:
        self.name, self.text, self.where, self.table = name, text, where, table

    def error(self, what: object, *path: str) -> FileError:
        line = line_of(self.text, *path)
        return FileError(f"{self.where}{f', line {line}' if line else ''}: {what}")

    def read(self) -> Sweep:
        for key in self.table:
            if key not in _TOP:
                raise self.error(f"unknown key {shorten(key)!r}; training options belong under [train] or [vary]", key)
        for key in _TABLES:
            if not isinstance(self.table.get(key, {}), dict):
                raise self.error(f"{key} is a table: write [{key}] and its keys below", key)
        about = self.table.get("about", "")
        if not isinstance(about, str):
            raise self.error(f"about must be text, not {about!r:.60}", "about")
        by, rungs, factor = self._rungs()
        shared = self._options("train")
        threads, block = shared.pop("threads", 1), self._block(shared.pop("block", TrainOptions.block))
        trials = self._trials(shared)
        sweep = Sweep(
            self.name, about, self.text, by, rungs, factor, self._seeds(), self._whole("keep", 1, 0, MOST), trials, threads,
            block,
        )  # fmt: skip
        self._check(sweep)
        return sweep

    def _whole(self, key: str, default: Any, least: int, most: int) -> Any:
        value = self.table.get(key, default)
        if value is default and key not in self.table:
            return default
        if type(value) is not int or not least <= value <= most:
            raise self.error(f"{key} is a whole number from {least} to {most}, not {shorten(repr(value))}", key)
        return value

    def _seeds(self) -> tuple[int, ...]:
        seeds = self.table.get("seeds", 1)
        if not isinstance(seeds, list):
            return tuple(range(1, 1 + self._whole("seeds", 1, 1, MOST_SEEDS)))
        if not 1 <= len(seeds) <= MOST_SEEDS or len(set(map(repr, seeds))) < len(seeds):
            raise self.error(f"seeds are 1 to {MOST_SEEDS} different numbers, not {shorten(repr(seeds))}", "seeds")
        try:
            return tuple(check_seed(seed) for seed in seeds)
        except InputError as error:
            raise self.error(error, "seeds") from error

    # --- how long ------------------------------------------------------------------------------------------------------

    def _rungs(self) -> tuple[str, tuple[float, ...], int]:
        """What is counted, at which of its values trials are compared, and how many of them go on."""
        if "games" in self.table and "time" in self.table:
            raise self.error("games contradicts time: give one of them as the length of a training", "time")
        by = "time" if "time" in self.table else "games"
        if by not in self.table:
            raise FileError(f'{self.where} does not say how long a training lasts: give games = "100k" or time = "10m"')
        whole = self._amount(by, self.table[by], by)
        halving = self.table.get("halving", {})
        for key in halving:
            if key not in ("first", "factor"):
                raise self.error(f"unknown key {shorten(key)!r} in [halving], which has first and factor", "halving", key)
        factor = halving.get("factor", FACTOR)
        if type(factor) is not int or not 2 <= factor <= 100:
            raise self.error(f"factor is a whole number from 2 to 100, not {shorten(repr(factor))}", "halving", "factor")
        if not halving:
            return by, (whole,), factor
        if "first" not in halving:
            raise self.error('[halving] does not say when trials are first compared: give first = "2k"', "halving")
        rung = self._amount(by, halving["first"], "halving", "first")
        if rung >= whole:
            raise self.error(
                f"first contradicts {by}: the first decision must come before the end of a training", "halving", "first"
            )
        rungs = []
        while rung < whole:
            rungs.append(rung)
            rung *= factor
        return by, (*rungs, whole), factor

    def _amount(self, by: str, value: Any, *path: str) -> float:
        try:
            return parse_count(value, name=path[-1]) if by == "games" else parse_time(value, name=path[-1])
        except InputError as error:
            raise self.error(error, *path) from error

    # --- what varies ---------------------------------------------------------------------------------------------------

    def _options(self, table: str) -> dict[str, Any]:
        """The options of [train] or [reference], by their names in TrainOptions."""
        given = self.table.get(table, {})
        for key in given:
            self._check_key(table, key)
        try:
            return {name: value for key in given for name, value in read_options({key: given[key]}, self.where).items()}
        except FileError as error:  # about a value; find its key for the line
            key = next(key for key in given if _fails(key, given[key]))
            raise self.error(str(error).removeprefix(f"{self.where}: "), table, key) from error

    def _check_key(self, table: str, key: str) -> str:
        known = {spec.name.rstrip("_"): spec.name for spec in fields(TrainOptions)}
        if key not in known:
            raise self.error(f"unknown key {shorten(key)!r} in [{table}]; options are those of afterstate train", table, key)
        if key in _OURS:
            raise self.error(f"[{table}] cannot have {key}: {_OURS[key]}", table, key)
        if table != "train" and known[key] in _SAME:
            raise self.error(f"{key} must be the same for all trials: it belongs under [train]", table, key)
        return known[key]

    def _trials(self, shared: dict[str, Any]) -> tuple[Trial, ...]:
        vary = self.table.get("vary", {})
        if not vary:
            raise self.error("there is nothing to vary: give at least one option under [vary]", "vary")
        shape = self._shape(shared)
        space = [self._values(key, given, shared, shape) for key, given in vary.items()]
        try:
            drawn = draw_trials(space, self._whole("trials", None, 1, MOST), self._whole("seed", 1, 0, 2**63 - 1))
        except InputError as error:
            raise self.error(error, "trials" if "trials" in self.table else "vary") from error
        reference = self._options("reference")
        found = [Trial(number, varied, shared | varied) for number, varied in enumerate(drawn, start=1)]
        if "reference" in self.table:
            found = [Trial(0, reference, shared | reference), *(trial for trial in found if trial.varied != reference)]
        return tuple(found)

    def _shape(self, shared: dict[str, Any]) -> Shape:
        try:
            return Shape.parse(shared.get("size", TrainOptions.size))
        except InputError as error:
            raise self.error(error, "train", "size") from error

    def _values(self, key: str, given: Any, shared: dict[str, Any], shape: Shape) -> Values:
        name = self._check_key("vary", key)
        if name in shared:
            raise self.error(f"{key} contradicts [train], which also has it: vary it or fix it", "vary", key)
        try:
            values = read_values(key, name, given, shape)
            for value in values.listed:
                read_options({key: value}, "")
        except AfterstateError as error:
            raise self.error(str(error).removeprefix(": "), "vary", key) from error
        return values

    # --- whether it can be trained ---------------------------------------------------------------------------------------

    def _check(self, sweep: Sweep) -> None:
        """Make the options of every trial; an error names the key that causes it, if it is one alone."""
        made = []
        for trial in sweep.trials:
            try:
                made.append(sweep.run_options(trial, sweep.seeds[0]))
                make_plan(made[-1])
            except AfterstateError as error:
                raise self._cause(sweep, trial, error) from error
        try:
            count_threads(sweep.threads)
        except InputError as error:
            raise self.error(error, "train", "threads") from error
        for name in ("game", "rules", "size"):
            different = {getattr(options, name) for options in made}
            if len(different) > 1:
                what = " and ".join(sorted(map(str, different)))
                raise self.error(f"all trials need the same {name}, but the recipes have {what}", "vary", "recipe")
        self._check_blocks(sweep)

    def _block(self, given: Any) -> int:
        try:
            return parse_count(given, name="block")
        except InputError as error:
            raise self.error(error, "train", "block") from error

    def _check_blocks(self, sweep: Sweep) -> None:
        block = min(sweep.block, sweep.rungs[-1])
        for rung in sweep.rungs if sweep.by == "games" else ():
            if rung % block:
                why = f"{rung:,.0f} games are not a whole number of blocks of {block:,}, and trials are compared by blocks"
                path = ("halving", "first") if len(sweep.rungs) > 1 else ("games",)
                raise self.error(f"{why}: change games, first, factor or block", *path)

    def _cause(self, sweep: Sweep, trial: Trial, error: AfterstateError) -> FileError:
        """The error with the line of the one option that is wrong by itself; else that of the table."""
        shared = {name: value for name, value in trial.options.items() if name not in trial.varied}
        table = "vary" if trial.number else "reference"
        alone = [("train", name, {name: value}) for name, value in shared.items()]
        alone += [(table, name, shared | {name: value}) for name, value in trial.varied.items()]
        for place, name, options in alone:
            try:
                make_plan(sweep.run_options(Trial(trial.number, {}, options), sweep.seeds[0]))
            except AfterstateError as reason:
                return self.error(reason, place, name.rstrip("_"))
        return self.error(f"the trial with {trial.label}: {error}", table)


def _fails(key: str, value: Any) -> bool:
    try:
        read_options({key: value}, "")
    except FileError:
        return True
    return False


_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?")
_KEY = re.compile(r"""\s*["']?([A-Za-z0-9_-]+)["']?\s*(=|\.\s*["']?([A-Za-z0-9_-]+))""")


def line_of(text: str, *path: str) -> int | None:
    """The line in which a key of a TOML file is set, or else its table begins: ('vary', 'alpha') -> 12; None if not found."""
    table: list[str] = []
    begins = None
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _HEADER.fullmatch(line):
            table = [part.strip(" \t\"'") for part in match[1].split(".")]
            if table == list(path):
                return number
            if begins is None and table[0] == path[0]:
                begins = number
        elif match := _KEY.match(line):
            here = [*table, match[1], *([match[3]] if match[3] else [])]
            if here[: len(path)] == list(path):
                return number
    return begins
