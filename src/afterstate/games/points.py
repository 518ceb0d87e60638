"""The points of the course's judge: what results are worth in each of its projects."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from afterstate.errors import InputError
from afterstate.units import shorten

if TYPE_CHECKING:
    from afterstate.games.game import Game
    from afterstate.games.results import Results

GOAL = 384  # the tile that the course asks for


@dataclass(frozen=True)
class Merits:
    """What earns points."""

    mean: float
    rate: float  # percent of games that reach the GOAL tile
    wins: float  # percent of games that reach the win tile
    largest: int  # index of the largest tile in any game
    missed: int = 0  # games that do not reach the GOAL tile
    first_missed: int | None = None  # number of the first of them, from 1


@dataclass(frozen=True)
class Version:
    """How the judge rates one of the course's projects."""

    rules: str | None  # rule set of Threes!; None for any game and rules
    points: Callable[[Merits], float]
    speed: int  # slides a second expected on the course's machine
    python_speed: int | None = None  # the same for programs in Python
    every: bool = False  # passed only if all games reach the goal


def _points_of_mean(found: Merits) -> float:
    return 60 + 40 / (1 + math.exp(-0.0065 * (found.mean - 560)))


def _points_of_doublings(found: Merits) -> float:
    """85, plus log2(mean / 3) + 1 between 0 and 10, plus the points of the largest tile."""
    doublings = math.log2(found.mean / 3) if found.mean > 0 else -1.0
    return 85 + min(max(doublings + 1, 0.0), 10.0) + _points_of_largest(found)


def _points_of_largest(found: Merits) -> int:
    """384 -> 1, 768 -> 2, and so on."""
    return max(found.largest - 9, 0)


def _points_of_rate(found: Merits) -> float:
    return math.ceil(round(found.rate, 6)) + _points_of_largest(found)  # else 29.000000000000004 % counts as 30


VERSIONS = {
    "1": Version("tcg2022", _points_of_mean, speed=100_000),
    "2": Version("tcg2022", lambda found: (found.rate / 10) ** 2, speed=50_000),
    "2+": Version("tcg2022", lambda found: found.rate, speed=100, every=True),
    "2018-1": Version("tcg2018", _points_of_doublings, speed=200_000, python_speed=2_000),
    "2018-2": Version("tcg2018", _points_of_rate, speed=100_000, python_speed=1_000),
    "win": Version(None, lambda found: found.wins, speed=0),
}


def find_version(name: str) -> Version:
    if name not in VERSIONS:
        raise InputError(f"no version of the judge is called {shorten(name)!r}; choose one of: {', '.join(VERSIONS)}")
    return VERSIONS[name]


def default_version(game: "Game") -> str:
    """The version that judges games if none is given: the course's second project, or the win rate for other rules."""
    usual = {("threes", "tcg2022"): "2", ("threes", "tcg2018"): "2018-2"}
    return usual.get((game.name, game.rules), "win")


def judge_results(game: "Game", results: "Results", version: str) -> float:
    """The points that these games are worth, if they are legal and fast enough."""
    return find_version(version).points(find_merits(game, results))


def check_rules(version: str, game: "Game") -> None:
    """Refuse a version of the judge that is for other rules."""
    rules = find_version(version).rules
    if rules is not None and (game.name, game.rules) != ("threes", rules):
        raise InputError(f"version {version} of the judge is for Threes! by the rules {rules}, not for {game!r}")


def describe_missed(found: Merits) -> str | None:
    """Which games did not reach the goal, in words; None if all did."""
    if found.missed == 0:
        return None
    many = f"{found.missed} games do not reach {GOAL}, the first of them is game {found.first_missed}"
    return many if found.missed > 1 else f"game {found.first_missed} does not reach {GOAL}"


def goal_tile(game: "Game") -> int:
    """Index of the first tile that is at least the GOAL."""
    return next(index for index in range(64) if game.face(index) >= GOAL)


def find_merits(game: "Game", results: "Results", *, win: int | None = None) -> Merits:
    """What earns points in these games. `win` is the index of the tile that counts as a win, if it is not the game's own."""
    goal = goal_tile(game)
    rate, wins = (100 * float((results.largest >= least).mean()) for least in (goal, game.win if win is None else win))
    below = np.flatnonzero(results.largest < goal)
    first = int(below[0]) + 1 if below.size else None
    return Merits(float(results.scores.mean()), rate, wins, int(results.largest.max()), below.size, first)
