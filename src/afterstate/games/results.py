"""The results of many games, and their summary: mean with interval, median, tile rates."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import InputError
from afterstate.games.game import Game
from afterstate.intervals import half_width, wilson


class Results(NamedTuple):
    """One entry per game; written by kernels."""

    scores: NDArray[np.int64]
    moves: NDArray[np.int64]  # slides; -1 for a game that was not finished
    largest: NDArray[np.uint8]  # index of the largest tile

    def part(self, start: int, end: int) -> "Results":
        return Results(self.scores[start:end], self.moves[start:end], self.largest[start:end])

    def fill(self, other: "Results") -> None:
        """Copy the results of as many games."""
        self.scores[:], self.moves[:], self.largest[:] = other

    def finished(self) -> int:
        """How many games were finished, from the first one to the first that was not."""
        unfinished = self.moves < 0
        return int(unfinished.argmax()) if unfinished.any() else len(unfinished)


def make_results(count: int) -> Results:
    return Results(np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.uint8))


@dataclass(frozen=True)
class TileRate:
    """How often a tile was reached, and how often it was the largest at the end."""

    tile: int  # face value
    reached: float  # 0 .. 1
    ended: float  # 0 .. 1


@dataclass(frozen=True)
class Summary:
    """What a set of games says about a player."""

    games: int
    mean: float
    interval: float  # half the width of the 95 % confidence interval of the mean (Student's t); inf for one game
    median: float
    maximum: int
    win_tile: int  # face value
    win_rate: float
    win_interval: tuple[float, float]  # 95 %, Wilson
    tiles: tuple[TileRate, ...]  # from the smallest largest tile to the largest
    moves: int
    seconds: float
    until: int | None = None  # the tile that ended a game as soon as it was there; None if games were played to their end

    @property
    def moves_per_s(self) -> float:
        return self.moves / self.seconds if self.seconds > 0 else 0.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON: tiles as {face: rate}."""
        return ({} if self.until is None else {"until": self.until}) | {
            "games": self.games,
            "mean": self.mean,
            "interval": self.interval if math.isfinite(self.interval) else None,
            "median": self.median,
            "max": self.maximum,
            "win_tile": self.win_tile,
            "win_rate": self.win_rate,
            "win_interval": list(self.win_interval),
            "reached": {str(rate.tile): rate.reached for rate in self.tiles},
            "ended": {str(rate.tile): rate.ended for rate in self.tiles},
            "moves": self.moves,
            "seconds": self.seconds,
            "moves_per_s": self.moves_per_s,
        }


@dataclass(frozen=True)
class Difference:
    """How much more one player scores than another, game by game with the same seeds."""

    games: int
    mean: float
    interval: float  # half the width of its 95 % interval, by Student's t; inf for one game
    correlation: float | None  # of the two scores of a game; None if one of them never varies
    ahead: float  # share of the games in which the first scores more; a tie counts as half


def compare(one: Results, other: Results) -> Difference:
    """Compare two players by the games that both have finished."""
    count = min(len(one.scores), len(other.scores))
    first, second = (results.scores[:count].astype(np.float64) for results in (one, other))
    gaps = first - second
    spread = float(gaps.std(ddof=1)) if count > 1 else math.inf
    varies = count > 1 and first.std() > 0 and second.std() > 0
    return Difference(
        games=count,
        mean=float(gaps.mean()),
        interval=half_width(spread, count),
        correlation=float(np.corrcoef(first, second)[0, 1]) if varies else None,
        ahead=float((gaps > 0).mean() + (gaps == 0).mean() / 2),
    )


def usual_tile(results: Results) -> int:
    """Index of the largest tile that at least one game in a hundred reached."""
    return int(np.sort(results.largest)[::-1][len(results.largest) // 100])


def find_tile(game: Game, face: int) -> int:
    """The index of the tile with this face."""
    faces = [game.face(index) for index in range(1, game.top + 1)]
    if face not in faces:
        raise InputError(f"{face} is not a tile of {game!r}; its tiles are {', '.join(map(str, faces))}")
    return faces.index(face) + 1


def summarise(game: Game, results: Results, seconds: float, *, until: int | None = None) -> Summary:
    """Summarise all games in `results`. If games end at the tile `until`, that tile is the win."""
    win = game.win if until is None else find_tile(game, until)
    count = len(results.scores)
    ended = np.bincount(results.largest, minlength=1)
    reached = ended[::-1].cumsum()[::-1]
    wins = int((results.largest >= win).sum())
    deviation = float(results.scores.std(ddof=1)) if count > 1 else math.inf
    return Summary(
        games=count,
        mean=float(results.scores.mean()),
        interval=half_width(deviation, count),
        median=float(np.median(results.scores)),
        maximum=int(results.scores.max()),
        win_tile=game.face(win),
        win_rate=wins / count,
        win_interval=wilson(wins, count),
        tiles=tuple(
            TileRate(game.face(index), float(reached[index] / count), float(ended[index] / count))
            for index in range(int(results.largest.min()), int(results.largest.max()) + 1)
        ),
        moves=int(results.moves.sum()),
        seconds=seconds,
        until=until,
    )
