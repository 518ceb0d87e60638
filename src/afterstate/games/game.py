"""What a game is: the words (state, slide, afterstate, outcome), what its kernels must offer, and `make`.

    state --slide--> afterstate + reward --new tile--> state

A position is two 64-bit words, `board` and `extra`; what `extra` holds is the game's own affair.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from afterstate.bitboard import Shape
from afterstate.errors import InputError
from afterstate.kernel import kernel, specialised, u64
from afterstate.rng import Random
from afterstate.units import shorten

MAX_OUTCOMES = 512  # room for the outcomes of one afterstate, in any game

# module and rule sets of each game; the first rule set is the default
GAMES: dict[str, tuple[str, tuple[str, ...]]] = {"2048": ("afterstate.games.twenty48", ("standard",))}


class Slide(IntEnum):
    """The four slides, in the order that breaks ties."""

    UP = 0
    RIGHT = 1
    DOWN = 2
    LEFT = 3


@dataclass(frozen=True, slots=True)
class State:
    """A position in which the player is to slide."""

    board: int
    extra: int = 0


@dataclass(frozen=True, slots=True)
class Afterstate:
    """A position after a slide and before the new tile, with the reward of that slide."""

    board: int
    extra: int
    reward: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """One thing that a new tile may do to an afterstate."""

    state: State
    probability: float


# --- what the kernels of a game must offer, chosen by the class of `game` ----------------------------------------------


@specialised
def start(game: Any, rng: u64) -> tuple[u64, u64, u64]:
    """Draw a first state -> board, extra, rng."""
    raise NotImplementedError


@specialised
def slides(game: Any, board: u64, extra: u64, after: Any, extras: Any, rewards: Any) -> int:
    """Write the four afterstates and their rewards, slide i at index i -> bit i is set where slide i is legal."""
    raise NotImplementedError


@specialised
def spawn(game: Any, board: u64, extra: u64, rng: u64) -> tuple[u64, u64, u64]:
    """Draw the new tile of an afterstate -> board, extra, rng."""
    raise NotImplementedError


@specialised
def outcomes(game: Any, board: u64, extra: u64, boards: Any, extras: Any, chances: Any) -> int:
    """Write every state that may follow an afterstate, and its probability -> how many there are."""
    raise NotImplementedError


@specialised
def largest(game: Any, board: u64, extra: u64) -> u64:
    """Index of the largest tile."""
    raise NotImplementedError


# --- the same for Python, one position at a time -----------------------------------------------------------------------


@kernel
def _start(game: Any, rng: u64) -> Any:
    return start(game, rng)


@kernel
def _slides(game: Any, board: u64, extra: u64, after: Any, extras: Any, rewards: Any) -> int:
    return slides(game, board, extra, after, extras, rewards)


@kernel
def _spawn(game: Any, board: u64, extra: u64, rng: u64) -> Any:
    return spawn(game, board, extra, rng)


@kernel
def _outcomes(game: Any, board: u64, extra: u64, boards: Any, extras: Any, chances: Any) -> int:
    return outcomes(game, board, extra, boards, extras, chances)


@kernel
def _largest(game: Any, board: u64, extra: u64) -> u64:
    return largest(game, board, extra)


class Game(ABC):
    """A game under one set of rules on one board size. Its `tables` are what kernels are specialised by."""

    name: str
    rules: str
    shape: Shape
    tables: Any  # a NamedTuple class of this game's own
    win: int  # index of the tile that counts as a win
    longest: int  # no game has more slides than this
    most: int  # no game has a higher score than this

    @abstractmethod
    def face(self, index: int) -> int:
        """What is written on a tile."""

    @abstractmethod
    def parse(self, text: str) -> State:
        """Read a state from one line of text."""

    @abstractmethod
    def format(self, position: State | Afterstate) -> str:
        """Write a position as one line of text."""

    @abstractmethod
    def cells(self, position: State | Afterstate) -> list[int]:
        """Tile indices row by row."""

    def __repr__(self) -> str:
        return f"make({self.name!r}, rules={self.rules!r}, size='{self.shape}')"

    def start(self, rng: Random) -> State:
        """Draw a first state."""
        board, extra, state = _start(self.tables, rng.state)
        rng.state = u64(state)
        return State(int(board), int(extra))

    def afterstates(self, state: State) -> dict[Slide, Afterstate]:
        """Every legal slide with what it leads to; empty when the game is over."""
        after, extras = np.zeros(4, np.uint64), np.zeros(4, np.uint64)
        rewards = np.zeros(4, np.int64)
        legal = _slides(self.tables, u64(state.board), u64(state.extra), after, extras, rewards)
        return {
            slide: Afterstate(int(after[slide]), int(extras[slide]), int(rewards[slide]))
            for slide in Slide
            if legal >> slide & 1
        }

    def slide(self, state: State, slide: Slide) -> Afterstate | None:
        """What a slide leads to; None if it is illegal."""
        return self.afterstates(state).get(slide)

    def outcomes(self, afterstate: Afterstate | State) -> list[Outcome]:
        """All states that the new tile may lead to; their probabilities add up to 1."""
        boards, extras = np.zeros(MAX_OUTCOMES, np.uint64), np.zeros(MAX_OUTCOMES, np.uint64)
        chances = np.zeros(MAX_OUTCOMES, np.float64)
        count = _outcomes(self.tables, u64(afterstate.board), u64(afterstate.extra), boards, extras, chances)
        return [Outcome(State(int(boards[i]), int(extras[i])), float(chances[i])) for i in range(count)]

    def sample(self, afterstate: Afterstate | State, rng: Random) -> State:
        """Draw one of the outcomes."""
        board, extra, state = _spawn(self.tables, u64(afterstate.board), u64(afterstate.extra), rng.state)
        rng.state = u64(state)
        return State(int(board), int(extra))

    def is_over(self, state: State) -> bool:
        """Whether no slide is legal."""
        return not self.afterstates(state)

    def largest(self, position: State | Afterstate) -> int:
        """Index of the largest tile."""
        return int(_largest(self.tables, u64(position.board), u64(position.extra)))


def make(name: str, *, rules: str | None = None, size: str = "4x4") -> Game:
    """Make a game by name: make("2048"), make("2048", size="3x3")."""
    if name not in GAMES:
        raise InputError(f"no game is called {shorten(name)!r}; there is: {', '.join(GAMES)}")
    rule_sets = GAMES[name][1]
    if rules is not None and rules not in rule_sets:
        raise InputError(f"{name} has no rule set {shorten(rules)!r}; it has: {', '.join(rule_sets)}")
    return _make(name, rules or rule_sets[0], Shape.parse(size))


@cache
def _make(name: str, rules: str, shape: Shape) -> Game:
    build: Callable[[str, Shape], Game] = import_module(GAMES[name][0]).build
    return build(rules, shape)
