"""A referee: does an environment of 2048 play by the rules? It is played through `reset` and `step`, and every step is checked.

The order of its actions, and whether it shows exponents or faces, are found out. An environment of another form needs a small
adapter: a class with `reset(seed=...)` and `step(action)` as in Gymnasium, and, if needed, `read_board(observation, info)` and
`set_board(exponents)`.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import InputError
from afterstate.games.game import Game, Slide, State, make
from afterstate.units import shorten

Board = NDArray[np.int64]  # (rows, columns) exponents
ERROR = 1e-6  # probability that a right environment fails one test of chance
EXPECTED = 5  # a count below this many expected ones says little
PROBES = 24  # steps that find out the order of actions, for each game
ILLEGAL_SHARE = 0.1  # of actions that are illegal on purpose


@dataclass
class Finding:
    """One thing that was checked."""

    name: str
    checked: int = 0
    wrong: int = 0
    example: str = ""  # the first thing that was wrong

    def note(self, right: bool, tell: Callable[[], str]) -> None:
        self.checked += 1
        if not right:
            self.wrong += 1
            self.example = self.example or tell()

    @property
    def verdict(self) -> str:
        return "not seen" if not self.checked else "wrong" if self.wrong else "right"


@dataclass(frozen=True)
class Conformance:
    """What the referee found."""

    env: str
    actions: tuple[str, ...]  # what the actions 0, 1, 2, 3 do
    faces: bool  # it shows faces, not exponents
    games: int
    steps: int
    findings: tuple[Finding, ...]
    fours: float  # share of new tiles that are a 4
    notes: tuple[str, ...]  # what is not wrong, but good to know

    @property
    def passed(self) -> bool:
        return not any(finding.wrong for finding in self.findings)


@dataclass
class _Step:
    before: Board
    action: int
    after: Board
    reward: float
    over: bool
    mask: Any


@dataclass
class _Referee:
    """What was seen so far."""

    game: Game
    findings: dict[str, Finding] = field(default_factory=dict)
    tiles: Counter[int] = field(default_factory=Counter)
    ranks: Counter[tuple[int, int]] = field(default_factory=Counter)  # (empty cells, which of them)
    notes: dict[str, None] = field(default_factory=dict)  # what is not wrong, but good to know

    def note(self, name: str, right: bool, tell: Callable[[], str]) -> None:
        self.findings.setdefault(name, Finding(name)).note(bool(right), tell)


NAMES = (
    *("first board", "slides", "illegal actions", "rewards", "mask"),
    *("end of the game", "new tiles", "cells of new tiles", "large tiles"),
)


# --- the environment --------------------------------------------------------------------------------------------------------


def load_env(name: str) -> Any:
    """An environment by "module:factory", which is imported and called, or by an id that Gymnasium knows."""
    module, _, factory = name.partition(":")
    if not factory or "/" in factory:
        import gymnasium

        try:
            return gymnasium.make(name)
        except (gymnasium.error.Error, ImportError) as error:
            raise InputError(f"there is no environment {shorten(name)!r}: {error}") from error
    try:
        found = import_module(module)
    except ImportError as error:
        raise InputError(f"{name!r}: the module {module!r} cannot be imported: {error}") from error
    if not callable(make_env := getattr(found, factory, None)):
        raise InputError(f"the module {module!r} has no class or function {factory!r}")
    return make_env()


class _Reader:
    """Finds the board in what an environment gives."""

    def __init__(self, env: Any, game: Game) -> None:
        self.env, self.game, self.faces = env, game, False

    def __call__(self, observation: Any, info: Any) -> Board:
        read = getattr(self.env, "read_board", None)
        shown = read(observation, info) if read else self._guess(observation, info)
        array = np.array(shown, np.int64)
        if self.faces:
            array = np.where(array > 0, np.round(np.log2(np.maximum(array, 1))), 0).astype(np.int64)
        return array

    def _guess(self, observation: Any, info: Any) -> Any:
        shape = (self.game.shape.rows, self.game.shape.columns)
        own = getattr(self.env, "unwrapped", self.env)
        candidates = [observation, info.get("board"), getattr(own, "board", None)]
        if isinstance(observation, dict):
            candidates += [observation.get("board"), observation.get("observation")]
        for one in candidates:
            if one is None or isinstance(one, dict):
                continue
            array = np.asarray(one)
            if array.shape == shape or array.shape == (shape[0] * shape[1],):
                return array.reshape(shape)
            if array.ndim == 3 and array.shape[:2] == shape and (array.sum(axis=2) <= 1).all():
                return array.argmax(axis=2)
            if array.ndim == 3 and array.shape[1:] == shape and (array.sum(axis=0) <= 1).all():
                return array.argmax(axis=0)
        raise InputError(
            f"no {shape[0]}x{shape[1]} board was found in the observation, info['board'] or env.board: "
            "write an adapter with read_board(observation, info)"
        )


def _mask_of(env: Any, info: Any) -> Any:
    """The mask of legal actions that an environment offers; None if it offers none."""
    if "action_mask" in info:
        return np.asarray(info["action_mask"]).astype(bool)
    own = getattr(env, "unwrapped", env)
    return np.asarray(own.action_masks()).astype(bool) if hasattr(own, "action_masks") else None


def _finds_faces(env: Any, read: _Reader, seed: int) -> bool:
    """Whether it shows faces: a first board of exponents has a 1 nine times in ten, one of faces never."""
    seen: set[int] = set()
    for number in range(12):
        observation, info = env.reset(seed=seed + number)
        seen |= set(np.unique(read(observation, info)).tolist())
    return 1 not in seen


# --- what is compared -------------------------------------------------------------------------------------------------------


def _state(game: Game, board: Board) -> State:
    return game.from_array(board[None])[0]


def _text(game: Game, board: Board) -> str:
    return str(_state(game, board))


def _fits(game: Game, step: _Step, slide: Slide) -> bool:
    """Whether a step can be this slide: the afterstate and one new tile, or nothing if it is illegal."""
    slid = game.slide(_state(game, step.before), slide)
    if slid is None:
        return bool((step.before == step.after).all())
    after = np.array(game.cells(slid)).reshape(step.after.shape)
    new = after != step.after
    return int(new.sum()) == 1 and not after[new].any()


def _find_order(game: Game, steps: list[_Step]) -> tuple[Slide, ...]:
    """Which slide each action is: the order that contradicts the fewest steps."""
    return min(
        permutations(Slide),
        key=lambda order: sum(not _fits(game, step, order[step.action]) for step in steps),
    )


def _check_step(referee: _Referee, step: _Step, order: tuple[Slide, ...]) -> None:
    game = referee.game
    state, slide = _state(game, step.before), order[step.action]
    slid = game.slide(state, slide)
    if slid is None:
        if step.over:  # then it does not matter what the board shows
            referee.notes["an illegal action ends the game"] = None
        still = step.over or bool((step.before == step.after).all())
        referee.note("illegal actions", still, lambda: f"{slide} on {state} is illegal, but led to {_text(game, step.after)}")
        return
    fits = _fits(game, step, slide)
    referee.note("slides", fits, lambda: f"{slide} on {state} led to {_text(game, step.after)}, not to {slid} and a new tile")
    referee.note(
        "rewards", step.reward == slid.reward, lambda: f"{slide} on {state} gave {step.reward}, not {slid.reward}"
    )  # fmt: skip
    if fits:
        after = np.array(game.cells(slid))
        cell = int(np.argmax(after != step.after.ravel()))
        empty = np.flatnonzero(after == 0)
        referee.tiles[int(step.after.ravel()[cell])] += 1
        referee.ranks[len(empty), int(np.searchsorted(empty, cell))] += 1
    _check_end(referee, step, order)


def _check_end(referee: _Referee, step: _Step, order: tuple[Slide, ...]) -> None:
    game = referee.game
    legal = game.afterstates(_state(game, step.after))
    referee.note(
        "end of the game",
        step.over == (not legal),
        lambda: f"on {_text(game, step.after)} it said {'over' if step.over else 'not over'}",
    )
    if step.mask is not None and not step.over:
        expected = [slide in legal for slide in order]
        referee.note(
            "mask", step.mask.tolist() == expected, lambda: f"on {_text(game, step.after)} the mask was {step.mask.tolist()}"
        )


def _check_chances(referee: _Referee) -> None:
    """New tiles: a 2 nine times in ten, a 4 else, on each empty cell alike. Pearson's chi-square with its bound for ERROR."""
    total = sum(referee.tiles.values())
    if not total:
        return
    pairs = [(referee.tiles[1], 0.9 * total), (total - referee.tiles[1], 0.1 * total)]
    _note_chances(referee, "new tiles", pairs, 1, f"{referee.tiles[2] / total:.3f} of {total} new tiles are a 4, not 0.1")
    odd = {tile: count for tile, count in referee.tiles.items() if tile not in (1, 2)}
    referee.note("new tiles", not odd, lambda: f"new tiles were {sorted(2**tile for tile in odd)}")
    cells: list[tuple[float, float]] = []
    freedom = 0
    for empty in {empty for empty, _ in referee.ranks}:
        counts = [referee.ranks[empty, rank] for rank in range(empty)]
        if empty > 1 and sum(counts) / empty >= EXPECTED:
            cells += [(count, sum(counts) / empty) for count in counts]
            freedom += empty - 1
    if freedom:
        _note_chances(referee, "cells of new tiles", cells, freedom, "empty cells are not all equally likely")


def _note_chances(referee: _Referee, name: str, pairs: Sequence[tuple[float, float]], freedom: int, told: str) -> None:
    distance = sum((count - expected) ** 2 / expected for count, expected in pairs)
    sure = math.log(1 / ERROR)
    bound = freedom + 2 * math.sqrt(freedom * sure) + 2 * sure  # Laurent and Massart (2000), lemma 1
    referee.note(name, distance <= bound, lambda: f"{told} (chi-square {distance:.0f}, at most {bound:.0f})")


# --- playing ----------------------------------------------------------------------------------------------------------------


def _play(env: Any, read: _Reader, seed: int, choose: Callable[[Board], int], most: int) -> list[_Step]:
    """One game, or its first steps."""
    observation, info = env.reset(seed=seed)
    board, steps = read(observation, info), list[_Step]()
    over = False
    while not over and len(steps) < most:
        action = choose(board)
        observation, reward, terminated, truncated, info = env.step(action)
        over = bool(terminated) or bool(truncated)
        after = read(observation, info)
        steps.append(_Step(board, action, after, float(reward), bool(terminated), _mask_of(env, info)))
        board = after
    return steps


def check_env(env: Any, *, name: str = "", games: int = 50, seed: int = 1, size: str = "4x4") -> Conformance:
    """Play random games through an environment, and compare every step with the rules of 2048."""
    if games < 1:
        raise InputError(f"a referee needs a game to look at, not {games}")
    game, rng = make("2048", size=size), np.random.default_rng(seed)
    referee, read = _Referee(game), _Reader(env, game)
    read.faces = _finds_faces(env, read, seed)
    probes = [step for number in range(8) for step in _play(env, read, seed + number, lambda _: int(rng.integers(4)), PROBES)]
    order = _find_order(game, probes)

    def choose(board: Board) -> int:
        legal = game.afterstates(_state(game, board))
        astray = number % 2 == 0 and rng.random() < ILLEGAL_SHARE  # an illegal action may end a game: not in every one
        wanted = [action for action in range(4) if (order[action] in legal) != astray]
        return int(rng.choice(wanted or range(4)))

    steps = number = 0
    for number in range(games):
        played = _play(env, read, seed + number, choose, 100_000)
        first = played[0].before
        referee.note(
            "first board",
            (first > 0).sum() == 2 and set(first[first > 0].tolist()) <= {1, 2},
            lambda first=first: f"a game began with {_text(game, first)}",  # type: ignore[misc]
        )
        for step in played:
            _check_step(referee, step, order)
        steps += len(played)
    _check_chances(referee)
    _check_large(referee, env, read, order, seed)
    total = sum(referee.tiles.values())
    return Conformance(
        env=name or type(env).__name__,
        actions=tuple(map(str, order)),
        faces=read.faces,
        games=games,
        steps=steps,
        findings=tuple(referee.findings.get(one, Finding(one)) for one in NAMES),
        fours=referee.tiles[2] / total if total else math.nan,
        notes=tuple(referee.notes),
    )


def _check_large(referee: _Referee, env: Any, read: _Reader, order: tuple[Slide, ...], seed: int) -> None:
    """Slides of tiles that random games never reach, if boards can be set."""
    setter = getattr(env, "set_board", None)
    if setter is None or referee.game.shape.cells != 16:
        return
    rng, game = np.random.default_rng(seed), referee.game
    env.reset(seed=seed)
    for number in range(60):
        board = np.zeros((4, 4), np.int64)
        board[0, :2] = 9 + number % 8
        board[1, 0], board[3, 3] = 9 + number % 8, int(rng.integers(1, 3))
        action = int(rng.integers(4))
        slid = game.slide(_state(game, board), order[action])
        setter(board)
        observation, reward, terminated, _, info = env.step(action)
        step = _Step(board, action, read(observation, info), float(reward), bool(terminated), None)
        right = _fits(game, step, order[action]) and step.reward == (slid.reward if slid else 0)
        referee.note("large tiles", right, lambda: f"{order[action]} on {_text(game, board)} gave {reward}, not {slid!r}")  # noqa: B023
