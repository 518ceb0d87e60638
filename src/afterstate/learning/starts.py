"""Starts: where else training games begin, besides the game's own start. They are observers of the game loop.

Every round begins with a game from the start, and only such games count in a block. After it, `Restart` begins again in its
middle, then in the middle of that, until fewer than ten moves are left. `Carousel` begins once in every later stage of the
network, on a board that entered the stage in an earlier game: late stages are rare, and this way they learn as often as the
first.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.engine.loop import NOBODY, begin_again, see_state
from afterstate.kernel import implement, u64
from afterstate.memory import aligned
from afterstate.network.lookup import stage_of
from afterstate.rng import below, draw

SHORTEST = 10  # moves that must be left for another start
POOL = 1024  # boards kept for each stage

_0, _1 = u64(0), u64(1)


class Restart(NamedTuple):
    """Begin again in the middle of the last game."""

    boards: NDArray[np.uint64]  # (longest + 1,) states of the last game
    extras: NDArray[np.uint64]  # (longest + 1,)


class Carousel(NamedTuple):
    """Begin in every stage in turn."""

    boards: NDArray[np.uint64]  # (stages, POOL) first states of each stage; row 0 is not used
    extras: NDArray[np.uint64]  # (stages, POOL)
    counts: NDArray[np.int64]  # (stages,) states met so far; a full pool drops its oldest
    stage: NDArray[np.uint64]  # (1,) of the state before; not saved


def make_starts(name: str, *, longest: int, stages: int) -> Any:
    """Make the observer for `TrainOptions.starts`, with its memory. One for each thread."""
    if name == "restart":
        return Restart(np.zeros(longest + 1, np.uint64), np.zeros(longest + 1, np.uint64))
    if name == "carousel":
        boards, extras = np.zeros((2, stages, POOL), np.uint64)
        return Carousel(boards, extras, np.zeros(stages, np.int64), aligned(1, np.uint64))
    return NOBODY


@implement(see_state, Restart)
def _keep_state(observer: Any, net: Any, number: int, board: u64, extra: u64) -> bool:
    observer.boards[number], observer.extras[number] = board, extra
    return True


@implement(begin_again, Restart)
def _begin_in_the_middle(observer: Any, turn: u64, moves: int, rng: u64) -> tuple[bool, u64, u64, u64, u64]:
    middle = moves // 2
    if moves - middle < SHORTEST:
        return False, turn, _0, _0, rng
    return True, turn + _1, observer.boards[middle], observer.extras[middle], rng


@implement(see_state, Carousel)
def _keep_new_stage(observer: Any, net: Any, number: int, board: u64, extra: u64) -> bool:
    stage = stage_of(net.stages, board)
    if stage > observer.stage[0] and number > 0:
        place = observer.counts[stage] % POOL
        observer.boards[stage, place], observer.extras[stage, place] = board, extra
        observer.counts[stage] += 1
    observer.stage[0] = stage
    return True


@implement(begin_again, Carousel)
def _begin_in_the_next_stage(observer: Any, turn: u64, moves: int, rng: u64) -> tuple[bool, u64, u64, u64, u64]:
    turn += _1
    while turn < u64(observer.counts.size):
        if observer.counts[turn] > 0:
            rng, bits = draw(rng)
            place = below(bits, u64(min(observer.counts[turn], POOL)))
            return True, turn, observer.boards[turn, place], observer.extras[turn, place], rng
        turn += _1
    return False, turn, _0, _0, rng
