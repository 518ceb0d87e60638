"""Options to vary: lists, ranges, log ranges and sets of patterns, and the trials that are drawn from them."""

import math
import random
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from afterstate.bitboard import Shape
from afterstate.errors import InputError
from afterstate.learning.options import option_type
from afterstate.network.tuples import count_sets, draw_set
from afterstate.units import parse_rate, shorten

MOST = 1000  # trials of a sweep, and values of a list
DIGITS = 4  # of a number that is drawn: enough to try, short enough to read
TRIES = 1000  # draws of a trial that differs from those before
_SHAPES = ("list", "{ range = [low, high] }", "{ log = [low, high] }", "{ tuples = 4, cells = 6 }")


@dataclass(frozen=True)
class Values:
    """What one option may be: `listed` values, or what `draw` finds between two bounds."""

    name: str  # of TrainOptions
    listed: tuple[Any, ...] = ()
    bounds: tuple[float, float] | None = None
    log: bool = False
    whole: bool = False
    tuples: int = 0  # patterns of a set
    cells: int = 0  # of each
    shape: Shape = field(default_factory=Shape)

    @property
    def count(self) -> float:
        """How many different values there are."""
        if self.tuples:
            return count_sets(self.tuples, self.cells, self.shape)
        if self.bounds is not None:
            return self.bounds[1] - self.bounds[0] + 1 if self.whole else math.inf
        return len(self.listed)

    def draw(self, generator: random.Random) -> Any:
        if self.tuples:
            return draw_set(generator, self.tuples, self.cells, self.shape)
        if self.bounds is None:
            return generator.choice(self.listed)
        return _between(*self.bounds, generator.random(), log=self.log, whole=self.whole)


def _between(low: float, high: float, share: float, *, log: bool, whole: bool) -> float:
    """A number a share of the way from low to high: 0.5 of a log range from 0.01 to 1 -> 0.1."""
    if whole and not log:
        return min(math.floor(low + share * (high - low + 1)), int(high))
    value = low * (high / low) ** share if log else low + share * (high - low)
    return round(value) if whole else min(max(float(f"{value:.{DIGITS}g}"), low), high)


def read_values(key: str, name: str, given: Any, shape: Shape) -> Values:
    """Read what a key of [vary] holds; `name` is the option in TrainOptions."""
    if isinstance(given, list):
        if not 1 <= len(given) <= MOST:
            raise InputError(f"{key} has {len(given)} values; a list has 1 to {MOST}")
        if len({repr(value) for value in given}) < len(given):
            raise InputError(f"{key} names a value twice: {shorten(repr(given))}")
        return Values(name, tuple(given))
    if isinstance(given, dict):
        for kind, read in (("range", _read_range), ("log", _read_range), ("tuples", _read_tuples)):
            if kind in given:
                return read(key, name, given, shape)
    raise InputError(f"{key} must be one of {', '.join(_SHAPES)}, not {shorten(repr(given))}")


def _read_range(key: str, name: str, given: dict[str, Any], shape: Shape) -> Values:
    log = "log" in given
    _check_keys(key, given, {"log" if log else "range", "count"})
    kind = option_type(name)
    if kind not in (int, float):
        raise InputError(f"{key} is not a number, so it cannot have a range: give a list of values")
    ends = given["log" if log else "range"]
    if not isinstance(ends, list) or len(ends) != 2:
        raise InputError(f"{key}: a range is written [low, high], not {shorten(repr(ends))}")
    low, high = (_number(key, end, kind) for end in ends)
    if not low < high or (log and low <= 0):
        raise InputError(
            f"{key}: a {'log ' if log else ''}range needs {'0 < ' if log else ''}low < high, not {low:g} and {high:g}"
        )
    whole = kind is int
    if "count" not in given:
        return Values(name, bounds=(low, high), log=log, whole=whole)
    count = given["count"]
    if type(count) is not int or not 2 <= count <= MOST:
        raise InputError(f"{key}: count is a whole number from 2 to {MOST}, not {shorten(repr(count))}")
    steps = [low if not n else high if n == count - 1 else _step(low, high, n / (count - 1), log, whole) for n in range(count)]
    return Values(name, tuple(dict.fromkeys(kind(step) for step in steps)))


def _step(low: float, high: float, share: float, log: bool, whole: bool) -> float:
    value = low * (high / low) ** share if log else low + share * (high - low)
    return round(value) if whole else float(f"{value:.{DIGITS}g}")


def _number(key: str, value: Any, kind: type) -> float:
    if kind is int and type(value) is not int:
        raise InputError(f"{key} takes whole numbers, not {shorten(repr(value))}")
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise InputError(f"{key}: {shorten(repr(value))} is not a number")
    number = parse_rate(value, name=key)
    if not math.isfinite(number) or abs(number) > 1e15:
        raise InputError(f"{key}: {shorten(repr(value))} is out of range")
    return number


def _read_tuples(key: str, name: str, given: dict[str, Any], shape: Shape) -> Values:
    _check_keys(key, given, {"tuples", "cells"})
    if name not in ("network", "beside"):
        raise InputError(f"{key} is not a set of patterns: only network and beside can have tuples")
    found = given["tuples"], given.get("cells", 6)
    if any(type(number) is not int for number in found):
        raise InputError(f"{key}: tuples and cells are whole numbers, not {found[0]!r} and {found[1]!r}")
    values = Values(name, tuples=found[0], cells=found[1], shape=shape)
    values.draw(random.Random(0))  # refuses numbers that are out of range
    return values


def _check_keys(key: str, given: dict[str, Any], known: set[str]) -> None:
    for name in given:
        if name not in known:
            raise InputError(f"{key} has an unknown key {shorten(name)!r}; here there may be {' and '.join(sorted(known))}")


# --- trials ------------------------------------------------------------------------------------------------------------


def draw_trials(space: list[Values], trials: int | None, seed: int) -> list[dict[str, Any]]:
    """The trials of a sweep, all different: every combination, or as many as `trials` says, drawn at random."""
    combinations = math.prod(values.count for values in space)
    if trials is None:
        endless = [values.name.rstrip("_") for values in space if not values.listed]
        if endless:
            raise InputError(f"{endless[0]} is drawn at random: say how many trials to draw, such as trials = 16")
        trials = int(combinations)
        if trials > MOST:
            raise InputError(
                f"these are {trials:,} combinations, and a sweep has at most {MOST} trials: say trials = N to draw N"
            )
    if trials > combinations:
        raise InputError(f"trials is {trials}, but there are only {int(combinations)} different combinations")
    if trials == combinations and all(values.listed for values in space):
        names = [values.name for values in space]
        return [dict(zip(names, combination, strict=True)) for combination in product(*(values.listed for values in space))]
    return _draw_different(space, trials, random.Random(seed))


def _draw_different(space: list[Values], trials: int, generator: random.Random) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for _ in range(trials):
        for _ in range(TRIES):
            trial = {values.name: values.draw(generator) for values in space}
            if repr(trial) not in found:
                break
        else:
            raise InputError(f"found only {len(found)} of {trials} trials that differ: ask for fewer, or widen the ranges")
        found[repr(trial)] = trial
    return list(found.values())
