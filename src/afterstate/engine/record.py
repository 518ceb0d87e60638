"""A recorded game: every state, the slide made in it, and what that led to."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from afterstate.engine.choosers import Desk, Script
from afterstate.engine.loop import Seat, see_slide, see_state
from afterstate.errors import InputError
from afterstate.games.game import Afterstate, Game, Slide, State
from afterstate.kernel import implement, now, u64
from afterstate.rng import Random

LETTERS = "URDL"  # the four slides as letters
SLIDER, PLACER = "afterstate", "random"


class Recorder(NamedTuple):
    """An observer that records a game while there is room and time."""

    boards: NDArray[np.uint64]  # (moves + 1,) states
    extras: NDArray[np.uint64]  # (moves + 1,)
    after: NDArray[np.uint64]  # (moves + 1,) the afterstate that the slide led to
    slides: NDArray[np.uint8]  # (moves + 1,)
    rewards: NDArray[np.int64]  # (moves + 1,)
    deadline: np.int64  # when to stop, by the kernels' clock; 0 for never. One move is always made


def make_recorder(moves: int, *, seconds: float = 0.0) -> Recorder:
    """Room for `moves` moves and the state after them; recording stops after about `seconds` (0: no limit)."""
    boards, extras, after = np.zeros((3, moves + 1), np.uint64)
    deadline = np.int64(now() + round(seconds * 1e9) if seconds else 0)
    return Recorder(boards, extras, after, np.zeros(moves + 1, np.uint8), np.zeros(moves + 1, np.int64), deadline)


@implement(see_state, Recorder)
def _keep_state(observer: Any, net: Any, number: int, board: u64, extra: u64) -> bool:
    observer.boards[number], observer.extras[number] = board, extra
    if number + 1 >= observer.boards.size:
        return False
    return bool(observer.deadline == 0 or number == 0 or now() < observer.deadline)


@implement(see_slide, Recorder)
def _keep_slide(observer: Any, number: int, slide: int, desk: Desk) -> None:
    observer.after[number], observer.slides[number], observer.rewards[number] = desk.after[slide], slide, desk.rewards[slide]


@dataclass(frozen=True, eq=False)
class Record:
    """A game of n slides, and who played it and when."""

    game: Game
    boards: NDArray[np.uint64]  # (n + 1,) states; the last is an afterstate if no tile followed
    extras: NDArray[np.uint64]  # (n + 1,)
    after: NDArray[np.uint64]  # (n,) boards of the afterstates
    slides: NDArray[np.uint8]  # (n,)
    rewards: NDArray[np.int64]  # (n,)
    slider: str = SLIDER
    placer: str = PLACER
    tick: float = 0.0  # when it began, in seconds since 1970
    tock: float = 0.0  # and when it ended

    @classmethod
    def cut(cls, game: Game, kept: Recorder, moves: int, **facts: Any) -> Self:
        """Copy a game of `moves` moves out of a recorder, which can then record the next one."""
        boards, extras = kept.boards[: moves + 1].copy(), kept.extras[: moves + 1].copy()
        parts = (kept.after[:moves].copy(), kept.slides[:moves].copy(), kept.rewards[:moves].copy())
        return cls(game, boards, extras, *parts, **facts)

    def __len__(self) -> int:
        """The number of slides."""
        return len(self.slides)

    def state(self, number: int) -> State:
        """The state after `number` slides; -1 is the last."""
        return State(int(self.boards[number]), int(self.extras[number]), game=self.game)

    @cached_property
    def states(self) -> list[State]:
        """All states, one more than slides."""
        return [self.state(number) for number in range(len(self.boards))]

    def afterstate(self, number: int) -> Afterstate:
        """What slide `number` led to."""
        return self.game.afterstates(self.state(number))[Slide(int(self.slides[number]))]

    @property
    def score(self) -> int:
        """The score at the end."""
        return self.game.score(self.state(-1), int(self.rewards.sum()))

    @property
    def scores(self) -> NDArray[np.int64]:
        """(n + 1,) the score in each state, as if the game had ended there."""
        sums = np.concatenate([[0], np.cumsum(self.rewards)])
        return np.array(
            [self.game.score(state, int(so_far)) for state, so_far in zip(self.states, sums, strict=True)], np.int64
        )

    @property
    def largest_index(self) -> int:
        """Index of the largest tile at the end."""
        return self.game.largest(self.state(-1))

    @property
    def largest(self) -> int:
        """The face of the largest tile at the end."""
        return self.game.face(self.largest_index)

    @property
    def moves(self) -> str:
        """The slides as letters."""
        return format_moves(self.slides)


def parse_moves(text: str) -> NDArray[np.uint8]:
    """Slides from their letters: "ULR" -> 0, 3, 1."""
    numbers = np.full(256, 255, np.uint8)
    numbers[[ord(letter) for letter in LETTERS]] = range(4)
    found = numbers[np.frombuffer(text.encode("latin-1", "replace"), np.uint8)]
    if wrong := np.flatnonzero(found == 255).tolist():
        raise InputError(f"moves are written with the letters U, R, D and L; number {wrong[0] + 1} is {text[wrong[0]]!r}")
    return found


def format_moves(moves: NDArray[np.uint8]) -> str:
    """Slides as letters: 0, 3, 1 -> "ULR"."""
    return np.frombuffer(LETTERS.encode(), np.uint8)[moves].tobytes().decode()


def replay(game: Game, rng: Random, moves: NDArray[np.uint8], *, start: State | None = None) -> Record:
    """Play a game again from its seed and slides, or from `start`; `rng` ends up where the game would continue."""
    kept = make_recorder(len(moves))
    first = game.start(rng) if start is None else start
    count = Seat(game, None, Script(moves), observer=kept).play_from(first, rng)
    record = Record.cut(game, kept, count)
    if count < len(moves):
        last = record.state(-1)
        name = Slide(int(moves[count]))
        why = "the game is over" if game.is_over(last) else f"a slide {name} moves nothing"
        raise InputError(f"move {count + 1} of {len(moves)}: {why}, on {game.format(last)}")
    return record
