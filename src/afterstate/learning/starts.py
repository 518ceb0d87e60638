"""Starts: where the games of training begin, beside the game's own beginning.

A game that begins as the rules say is always played, and only such games count in a block's figures. After each of them
`Restart` begins again in its middle, then in the middle of that, until less than ten moves are left of it. `Carousel` begins
once in every later stage of the network, on a board that opened that stage in an earlier game: late stages are rare, and learn
this way as often as the first.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.kernel import implement, specialised, u64
from afterstate.network.lookup import stage_of
from afterstate.rng import below, draw

SHORTEST = 10  # moves that must be left for another start
POOL = 1024  # boards that are kept of each stage

_0, _1 = u64(0), u64(1)


class Fresh(NamedTuple):
    """Every game begins at its beginning."""

    unused: np.uint64 = u64(0)


class Restart(NamedTuple):
    """Begin again in the middle of the last game."""

    boards: NDArray[np.uint64]  # (longest + 1,) states of the last game
    extras: NDArray[np.uint64]  # (longest + 1,)


class Carousel(NamedTuple):
    """Begin in every stage in turn."""

    boards: NDArray[np.uint64]  # (stages, POOL) first states of each stage; row 0 is not used
    extras: NDArray[np.uint64]  # (stages, POOL)
    counts: NDArray[np.int64]  # (stages,) states met so far; a full pool forgets its oldest


def make_starts(name: str, *, longest: int, stages: int) -> Any:
    """What an option of `TrainOptions.starts` asks for, with its memory. One for each thread."""
    if name == "restart":
        return Restart(np.zeros(longest + 1, np.uint64), np.zeros(longest + 1, np.uint64))
    if name == "carousel":
        return Carousel(np.zeros((stages, POOL), np.uint64), np.zeros((stages, POOL), np.uint64), np.zeros(stages, np.int64))
    return Fresh()


@specialised
def note(starts: Any, net: Any, moves: int, stage: u64, board: u64, extra: u64) -> u64:
    """State number `moves` of a game is known, and its last one was in `stage` -> the stage of this one."""


@specialised
def again(starts: Any, turn: u64, moves: int, rng: u64) -> tuple[bool, u64, u64, u64, u64]:
    """The last game had so many moves and was number `turn` of this round -> whether, which, and where another begins.

    Returns (whether there is one, its number, board, extra, rng).
    """


@implement(note, Fresh)
def _note_nothing(starts: Any, net: Any, moves: int, stage: u64, board: u64, extra: u64) -> u64:
    return stage


@implement(again, Fresh)
def _never_again(starts: Any, turn: u64, moves: int, rng: u64) -> tuple[bool, u64, u64, u64, u64]:
    return False, turn, _0, _0, rng


@implement(note, Restart)
def _note_state(starts: Any, net: Any, moves: int, stage: u64, board: u64, extra: u64) -> u64:
    starts.boards[moves], starts.extras[moves] = board, extra
    return stage


@implement(again, Restart)
def _again_from_the_middle(starts: Any, turn: u64, moves: int, rng: u64) -> tuple[bool, u64, u64, u64, u64]:
    middle = moves // 2
    if moves - middle < SHORTEST:
        return False, turn, _0, _0, rng
    return True, turn + _1, starts.boards[middle], starts.extras[middle], rng


@implement(note, Carousel)
def _note_new_stage(starts: Any, net: Any, moves: int, stage: u64, board: u64, extra: u64) -> u64:
    now = stage_of(net.stages, board)
    if now > stage and moves > 0:
        place = starts.counts[now] % POOL
        starts.boards[now, place], starts.extras[now, place] = board, extra
        starts.counts[now] += 1
    return now


@implement(again, Carousel)
def _again_in_the_next_stage(starts: Any, turn: u64, moves: int, rng: u64) -> tuple[bool, u64, u64, u64, u64]:
    turn += _1
    while turn < u64(starts.counts.size):
        if starts.counts[turn] > 0:
            rng, bits = draw(rng)
            place = below(bits, u64(min(starts.counts[turn], POOL)))
            return True, turn, starts.boards[turn, place], starts.extras[turn, place], rng
        turn += _1
    return False, turn, _0, _0, rng
