"""A game from any state on: some moves by a player, or moves that someone made before."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import InputError
from afterstate.games.game import Game, Slide, slides, spawn
from afterstate.kernel import implement, kernel, now, specialised, u64
from afterstate.learning.episode import Recorded, cut_record, make_record, state_at
from afterstate.network.greedy import best_slide, survey, weigh
from afterstate.rng import Random

LETTERS = "URDL"  # the four slides, as texts of moves write them


class Script(NamedTuple):
    """Makes the slides of a list, one after the other."""

    slides: NDArray[np.uint8]


class SlideDesk(NamedTuple):
    """Working memory for the four afterstates of a state: enough for who need not think."""

    after: NDArray[np.uint64]  # (4,)
    extras: NDArray[np.uint64]  # (4,)
    rewards: NDArray[np.int64]  # (4,)


def make_slide_desk() -> SlideDesk:
    return SlideDesk(np.zeros(4, np.uint64), np.zeros(4, np.uint64), np.zeros(4, np.int64))


@specialised
def _decide(player: Any, net: Any, game: Any, number: int, board: u64, extra: u64, legal: int, desk: Any) -> int:
    """The slide for move `number`; the four afterstates are on the desk."""


@implement(_decide, Script)
def _read(player: Any, net: Any, game: Any, number: int, board: u64, extra: u64, legal: int, desk: Any) -> int:
    return np.int64(player.slides[number])  # type: ignore[return-value]


@implement(_decide, object)
def _think(player: Any, net: Any, game: Any, number: int, board: u64, extra: u64, legal: int, desk: Any) -> int:
    survey(player, net, board, extra, legal, desk, u64(0))
    weigh(player, game, net, legal, desk, u64(0))
    return best_slide(desk.values, legal)


@kernel
def go_on(
    player: Any, net: Any, game: Any, board: u64, extra: u64, rng: u64, limit: int, record: Any, desk: Any
) -> tuple[int, u64]:
    """Play until the record is full, the game over, `limit` nanoseconds gone (0: any) or a slide illegal -> moves, rng."""
    began = now()
    moves, room = 0, record.slides.size - 1
    while moves < room:
        legal = slides(game, board, extra, desk.after, desk.extras, desk.rewards)
        if legal == 0:
            break
        slide = _decide(player, net, game, moves, board, extra, legal, desk)
        if (legal >> slide) & 1 == 0:
            break
        record.boards[moves], record.extras[moves], record.after[moves] = board, extra, desk.after[slide]
        record.slides[moves], record.rewards[moves] = slide, desk.rewards[slide]
        moves += 1
        board, extra, rng = spawn(game, desk.after[slide], desk.extras[slide], rng)
        if limit != 0 and now() - began >= limit:
            break
    record.boards[moves], record.extras[moves] = board, extra
    return moves, rng


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


def replay(game: Game, rng: Random, moves: NDArray[np.uint8]) -> Recorded:
    """A game again, from its seed and its slides; `rng` is then where the game would go on from."""
    state = game.start(rng)
    record = make_record(len(moves))
    count, after = go_on(
        Script(moves), u64(0), game.tables, u64(state.board), u64(state.extra), rng.state, 0, record, make_slide_desk()
    )  # fmt: skip
    rng.state = u64(after)
    if count < len(moves):
        last = state_at(record, count)
        name = Slide(int(moves[count])).name.lower()
        why = "the game is over" if game.is_over(last) else f"a slide {name} moves nothing"
        raise InputError(f"move {count + 1} of {len(moves)}: {why}, on {game.format(last)}")
    return cut_record(record, len(moves))
