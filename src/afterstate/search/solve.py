"""Optimal play on small boards, by enumeration: no position is guessed, none is left out.

A slide keeps the sum of the tiles, the *level*, and a new tile raises it. So one sweep up finds every state that can be
reached, level by level, and one sweep down finds what each is worth, from the levels just above it:

    V(state)      = max over slides of reward + W(afterstate)      0 where no slide is legal
    W(afterstate) = sum over new tiles of probability * V(state)

With an aim rewards do not count, a state that has the tile is worth 1, and the rest of the game does not matter.

Values have 64 bits: on a 3x3 board early slides differ in the eleventh digit, which 32 bits cannot show.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import InputError, ResourceError
from afterstate.games.game import Afterstate, Game, Outcome, Slide, State
from afterstate.games.results import TileRate
from afterstate.kernel import u64
from afterstate.memory import free_memory
from afterstate.search.levels import (
    NO_KEY,
    Keys,
    Reals,
    add_afterstates,
    add_states,
    collect,
    decide,
    end,
    expect,
    flow,
    index,
    locate,
)
from afterstate.units import format_bytes, shorten

STEPS = {"2048": (2, 4)}  # by how much a new tile may raise the level; only these games can be solved
STATES = {"2048": {4: 110, 6: 21_752, 8: 4_980_767, 9: 48_713_519}}  # up to symmetry, by the number of cells
TOO_MANY = {12: "about 10**12", 16: "far more than 10**12"}  # states, by the number of cells
STATE_BYTES = 20  # key, value and best slide, and a little for the tables of a few levels that come and go
UP, DOWN = 0.35, 0.55  # parts of the whole time that the first two sweeps take

Roots = dict[int, dict[int, float]]  # where play begins: level -> key -> probability
Tell = Callable[[float], None]


class Level(NamedTuple):
    """All states with one sum of tiles."""

    keys: Keys  # (n,) rising
    values: Reals  # (n,)
    best: NDArray[np.uint8]  # (n,) the slide, as the key's own position lies, or STAYS

    def find(self, key: int) -> int | None:
        """The place of a key; None if there is no such state."""
        at = int(np.searchsorted(self.keys, u64(key)))
        return at if at < len(self.keys) and self.keys[at] == key else None


@dataclass(frozen=True)
class Solution:
    """What every state is worth under optimal play: points still to come, or with an aim the chance to reach it."""

    game: Game
    aim: int | None  # face of the tile to reach; None if the score counts
    states: int  # up to symmetry
    value: float  # expected at the start
    tiles: tuple[TileRate, ...]  # what optimal play reaches, and how likely
    levels: Mapping[int, Level] = field(repr=False)

    def value_of(self, state: State) -> float:
        """What a state is worth: exactly the same for all its symmetric images."""
        if self.aim is not None and self.game.face(self.game.largest(state)) >= self.aim:
            return 1.0
        number, key, _, _ = locate(self.game.tables, u64(state.board), u64(state.extra))
        level = self.levels.get(int(number))
        at = None if level is None else level.find(int(key))
        if level is None or at is None:
            raise InputError(f"this solution has no state {self.game.format(state)!r}; solve from there")
        return float(level.values[at])

    def values_of(self, state: State) -> dict[Slide, float | None]:
        """What the four slides are worth, reward included; None where a slide is illegal."""
        self.value_of(state)  # refuse a strange state by its own name, not by what follows from it
        after = self.game.afterstates(state)
        return {slide: self._worth(after[slide]) if slide in after else None for slide in Slide}

    def choose(self, state: State) -> Slide | None:
        """The best slide, the first of equals in the order U R D L; None if the game is over."""
        values = {slide: value for slide, value in self.values_of(state).items() if value is not None}
        return max(values, key=lambda slide: values[slide]) if values else None

    def _worth(self, after: Afterstate) -> float:
        """An afterstate's reward and expectation, added up in the order of its key: symmetric slides are exact ties."""
        _, _, board, extra = locate(self.game.tables, u64(after.board), u64(after.extra))
        following = self.game.outcomes(State(int(board), int(extra)))
        expected = sum(outcome.probability * self.value_of(outcome.state) for outcome in following)
        return expected + (after.reward if self.aim is None else 0)


def check_solvable(game: Game, aim: int | None = None) -> int:
    """Refuse a game, a board or an aim that cannot be solved, and too small a memory -> index of the aim, or 0."""
    if game.name not in STEPS:
        raise InputError(f"{game.name} cannot be solved yet; these can: {', '.join(STEPS)}")
    cells, known = game.shape.cells, STATES[game.name]
    if cells not in known:
        raise InputError(
            f"{game.name} on a {game.shape} board has {TOO_MANY[cells]} states up to symmetry, far too many to enumerate; "
            f"choose a board of up to {max(known)} cells, such as 3x3 ({max(known.values()):,} states)"
        )
    faces = [game.face(tile) for tile in range(1, cells + 2)]
    if aim is not None and aim not in faces:
        tiles = ", ".join(map(str, faces))
        raise InputError(
            f"the aim {shorten(str(aim))} is not a tile of {game.name} on a {game.shape} board; its tiles are {tiles}"
        )
    need, free = STATE_BYTES * known[cells], free_memory()
    if need > free:
        raise ResourceError(
            f"solving a {game.shape} board takes {format_bytes(need)}, but only {format_bytes(free)} of memory is free; "
            f"choose a smaller board"
        )
    return 0 if aim is None else faces.index(aim) + 1


def first_states(game: Game) -> list[Outcome]:
    """Every state that a game may begin with: two new tiles on an empty board."""
    return [
        Outcome(second.state, first.probability * second.probability)
        for first in game.outcomes(State(0))
        for second in game.outcomes(first.state)
    ]


def solve(
    game: Game, aim: int | None = None, *, start: State | None = None, progress: Callable[[float], None] | None = None
) -> Solution:
    """Solve a game for its mean score, or for the chance to reach the tile `aim`.

    >>> from afterstate import make
    >>> solution = solve(make("2048", size="2x2"))
    >>> solution.states, round(solution.value, 4)
    (110, 66.9641)

    Where `start` is given, play begins there, and only what can follow is looked at. `progress` gets what is done, 0 to 1.
    """
    goal = u64(check_solvable(game, aim))
    roots: Roots = {}
    for first in first_states(game) if start is None else [Outcome(start, 1.0)]:
        level, key, _, _ = locate(game.tables, u64(first.state.board), u64(first.state.extra))
        keys = roots.setdefault(int(level), {})
        keys[int(key)] = keys.get(int(key), 0.0) + first.probability
    tell: Tell = progress or (lambda _: None)
    states = _enumerate(game, goal, roots, tell)
    levels = _evaluate(game, goal, states, tell)
    likely = {level: _likely(levels[level], keys) for level, keys in roots.items()}
    value = sum(float(chances @ levels[level].values) for level, chances in likely.items())
    tiles = _play(game, levels, likely, tell)
    return Solution(game, aim, sum(map(len, states.values())), value, tiles, levels)


def _likely(level: Level, chances: dict[int, float]) -> Reals:
    """Probabilities by key as an array beside the keys of a level."""
    beside = np.zeros(len(level.keys))
    for key, chance in chances.items():
        beside[level.find(key)] = chance
    return beside


def _enumerate(game: Game, aim: u64, roots: Roots, tell: Tell) -> dict[int, Keys]:
    """Sweep up: the keys of all states, level by level."""
    steps, expected = STEPS[game.name], STATES[game.name][game.shape.cells]
    states: dict[int, Keys] = {}
    after: dict[int, Keys] = {}  # afterstates of the levels from which a new tile may lead to this one
    level, found = min(roots), 0
    while level <= max(roots) or after:
        below = [after[level - step] for step in steps if level - step in after]
        table = collect(add_states, below, game.tables, level)
        keys = np.union1d(table[table != NO_KEY], np.array([*roots.get(level, ())], np.uint64))
        if len(keys):
            states[level] = keys
            slid = collect(add_afterstates, [keys], game.tables, aim)
            after[level] = slid[slid != NO_KEY]
            found += len(keys)
            tell(UP * min(found / expected, 1.0))
        after.pop(level - max(steps), None)
        level += 1
    return states


def _evaluate(game: Game, aim: u64, states: dict[int, Keys], tell: Tell) -> dict[int, Level]:
    """Sweep down: the value and the best slide of all states."""
    steps = STEPS[game.name]
    levels: dict[int, Level] = {}
    above: dict[int, tuple[Keys, Reals]] = {}  # tables of the levels that a new tile may lead to
    done, total = 0, sum(map(len, states.values()))
    for level in sorted(states, reverse=True):
        keys = states[level]
        after = collect(add_afterstates, [keys], game.tables, aim)
        expected = np.zeros(len(after))
        for step in steps:
            if level + step in above:
                expect(game.tables, after, level + step, *above[level + step], expected)
        found = Level(keys, np.zeros(len(keys)), np.zeros(len(keys), np.uint8))
        decide(game.tables, keys, aim, after, expected, found.values, found.best)
        levels[level] = found
        above = {other: table for other, table in above.items() if other < level + max(steps)}
        above[level] = index(keys, found.values)
        done += len(keys)
        tell(UP + DOWN * done / total)
    return levels


def _play(game: Game, levels: dict[int, Level], likely: dict[int, Reals], tell: Tell) -> tuple[TileRate, ...]:
    """Sweep up once more, with only the best slides: how likely each tile is."""
    ended = np.zeros(32)  # by the index of the largest tile
    mass: dict[int, tuple[Keys, Reals]] = {}  # tables with the probability of each state
    for number, level in enumerate(sorted(levels)):
        near = [other for other in (level, *(level + step for step in STEPS[game.name])) if other in levels]
        for other in near:
            if other not in mass:
                keys = levels[other].keys
                mass[other] = index(keys, likely.get(other, np.zeros(len(keys))))
        keys, _, best = levels[level]
        end(game.tables, keys, best, *mass[level], ended)
        for other in near[1:]:
            flow(game.tables, keys, best, *mass[level], other, *mass[other])
        del mass[level]
        tell(UP + DOWN + (1 - UP - DOWN) * (number + 1) / len(levels))
    reached, ended = np.minimum(ended[::-1].cumsum()[::-1], 1.0), np.minimum(ended, 1.0)  # sums may round to more
    tiles = np.flatnonzero(ended)
    return tuple(
        TileRate(game.face(int(tile)), float(reached[tile]), float(ended[tile])) for tile in range(tiles[0], tiles[-1] + 1)
    )
