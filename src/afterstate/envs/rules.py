"""What the single and the vector environment share: their options, spaces and observations."""

from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from afterstate.envs.kernels import (
    ABOVE,
    END,
    IGNORE,
    ILLEGAL,
    PLANES,
    SETTINGS,
    WHOLE,
    write_cells,
    write_next,
    write_words,
)
from afterstate.errors import InputError
from afterstate.games.arrays import shifts_of
from afterstate.games.game import Game
from afterstate.games.twenty48 import Twenty48Game

Observing = Literal["exponents", "onehot"]
Illegal = Literal["ignore", "end", "raise"]
OBSERVING: tuple[Observing, ...] = ("exponents", "onehot")
ILLEGALS: tuple[Illegal, ...] = ("ignore", "end", "raise")
EVAL_SEEDS = 2**63  # seeds that are drawn are below


class EnvRules:
    """How an environment shows boards, and what it does with illegal actions."""

    def __init__(self, game: Game, observation: Observing, illegal: Illegal, illegal_reward: float) -> None:
        if observation not in OBSERVING:
            raise InputError(f"an observation is one of {', '.join(OBSERVING)}, not {observation!r}")
        if illegal not in ILLEGALS:
            raise InputError(f"illegal is one of {', '.join(ILLEGALS)}, not {illegal!r}")
        if not np.isfinite(illegal_reward):
            raise InputError(f"the reward of an illegal action is a number, not {illegal_reward}")
        self.game = game
        self.illegal = illegal
        self.illegal_reward = float(illegal_reward)
        self.planes = observation == "onehot"
        self.kinds = tuple(game.next_tiles)  # of next tiles that are shown
        self.shifts = shifts_of(game.shape)
        self.settings = np.zeros(SETTINGS, np.int64)
        self.settings[ILLEGAL] = END if illegal == "end" else IGNORE
        self.settings[PLANES] = self.planes
        self.settings[ABOVE] = isinstance(game, Twenty48Game)
        self.settings[WHOLE] = game.shape.cells == 16 and isinstance(game, Twenty48Game) and not self.planes
        rows, columns = game.shape.rows, game.shape.columns
        self.shape = (game.top + 1, rows, columns) if self.planes else (rows, columns)

    @property
    def space(self) -> spaces.Space[Any]:
        """The observations of one game."""
        board = spaces.Box(0, 1 if self.planes else self.game.top, self.shape, np.uint8)
        if not self.kinds:
            return board
        return spaces.Dict({"board": board, "next": spaces.Discrete(len(self.kinds))})

    def show(self, memory: NDArray[np.uint64]) -> tuple[NDArray[np.uint8], NDArray[np.int64] | None]:
        """(n, ...) boards, and (n,) next tiles if they are shown. New arrays each time."""
        count = len(memory)
        if self.settings[WHOLE]:
            words = np.empty((count, 2), np.uint64)
            write_words(memory, words)
            return words.view(np.uint8).reshape(count, *self.shape), None
        size = int(np.prod(self.shape))
        shown = np.zeros((count, size), np.uint8) if self.planes else np.empty((count, size), np.uint8)
        write_cells(memory, self.shifts, self.settings, shown)
        boards = shown.reshape(count, *self.shape)
        return boards, self._next(memory) if self.kinds else None

    def _next(self, memory: NDArray[np.uint64]) -> NDArray[np.int64]:
        """(n,) number of the next tile among `kinds`."""
        following = np.empty(len(memory), np.int64)
        write_next(self.game.tables, memory, following)
        return following


def as_seed(seed: int) -> int:
    """A seed as Gymnasium allows it: a whole number from 0 on. Larger ones than 64 bits are refused."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**64:
        raise InputError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed!r}")
    return int(seed)
