"""The best slide by one look ahead: reward plus the value of what follows, for each of the four slides.

What a network values is a type of its own. `Afterstates`: V(s') of the slid board. `States`: V(s'') of the board with its new
tile, so that every slide needs the expectation over all new tiles.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.games.game import MAX_OUTCOMES, outcomes
from afterstate.kernel import implement, kernel, specialised, u64
from afterstate.network.lookup import Lookup, index_board, sum_weights

ValueOf = Literal["afterstate", "state"]
MINUS_INFINITY = -np.inf


class Afterstates(NamedTuple):
    """The network values afterstates."""

    unused: np.uint64 = u64(0)


class States(NamedTuple):
    """The network values states."""

    unused: np.uint64 = u64(0)


VIEWS: dict[ValueOf, Afterstates | States] = {"afterstate": Afterstates(), "state": States()}


class Desk(NamedTuple):
    """Working memory of one thread."""

    after: NDArray[np.uint64]  # (4,) boards of the four afterstates
    extras: NDArray[np.uint64]  # (4,)
    rewards: NDArray[np.int64]  # (4,)
    values: NDArray[np.float64]  # (4,) reward + value of each slide; -inf where it is illegal
    indices: NDArray[Any]  # (moves * 4 * m,) 32 bits wide where that is enough
    boards: NDArray[np.uint64]  # (MAX_OUTCOMES,)
    more: NDArray[np.uint64]  # (MAX_OUTCOMES,)
    chances: NDArray[np.float64]  # (MAX_OUTCOMES,)


def make_desk(net: Lookup, *, moves: int = 3) -> Desk:
    """Working memory for a network, on cache lines that no other thread's lies on; it keeps the indices of so many moves."""
    wide = np.uint32 if net.weights.size <= 2**32 else np.uint64
    return Desk(
        alone(4, np.uint64),
        alone(4, np.uint64),
        alone(4, np.int64),
        alone(4, np.float64),
        alone(moves * 4 * int(net.lookups), wide),
        alone(MAX_OUTCOMES, np.uint64),
        alone(MAX_OUTCOMES, np.uint64),
        alone(MAX_OUTCOMES, np.float64),
    )


def alone(size: int, dtype: Any) -> NDArray[Any]:
    """Zeros that share no pair of cache lines with anything else: two threads that write to one line slow each other down."""
    pair = 128
    memory = np.zeros(size * np.dtype(dtype).itemsize + 2 * pair, np.uint8)
    start = -memory.ctypes.data % pair
    return memory[start : start + size * np.dtype(dtype).itemsize].view(dtype)


@specialised
def survey(view: Any, net: Any, board: u64, extra: u64, legal: int, desk: Desk, at: u64) -> None:
    """Write what will be looked up for this move to desk.indices[at:], slide i at i * m, and ask the memory for it."""


@specialised
def weigh(view: Any, game: Any, net: Any, legal: int, desk: Desk, at: u64) -> None:
    """Fill desk.values from what `slides` and `survey` wrote."""


@implement(survey, Afterstates)
def _survey_afterstates(view: Any, net: Any, board: u64, extra: u64, legal: int, desk: Desk, at: u64) -> None:
    for slide in range(4):
        if legal & (1 << slide):
            index_board(net, desk.after[slide], desk.extras[slide], desk.indices, at + u64(slide) * net.lookups)


@implement(weigh, Afterstates)
def _weigh_afterstates(view: Any, game: Any, net: Any, legal: int, desk: Desk, at: u64) -> None:
    for slide in range(4):
        desk.values[slide] = MINUS_INFINITY
        if legal & (1 << slide):
            desk.values[slide] = desk.rewards[slide] + sum_weights(net, desk.indices, at + u64(slide) * net.lookups)


@implement(survey, States)
def _survey_state(view: Any, net: Any, board: u64, extra: u64, legal: int, desk: Desk, at: u64) -> None:
    index_board(net, board, extra, desk.indices, at)


@implement(weigh, States)
def _weigh_states(view: Any, game: Any, net: Any, legal: int, desk: Desk, at: u64) -> None:
    scratch = at + net.lookups  # slot 0 of this move belongs to the state itself
    for slide in range(4):
        desk.values[slide] = MINUS_INFINITY
        if legal & (1 << slide):
            count = outcomes(game, desk.after[slide], desk.extras[slide], desk.boards, desk.more, desk.chances)
            expected = 0.0
            for number in range(count):
                index_board(net, desk.boards[number], desk.more[number], desk.indices, scratch)
                expected += desk.chances[number] * sum_weights(net, desk.indices, scratch)
            desk.values[slide] = desk.rewards[slide] + settle(expected)


@kernel
def settle(expected: float) -> float:
    """An expectation without its last bits, which hang on the order of the outcomes: isomorphic slides stay equal."""
    return np.float64(np.float32(expected))


@kernel
def best_slide(values: Any, legal: int) -> int:
    """The legal slide with the largest value, the first of equals; one must be legal. Values that are no numbers lose."""
    best = -1
    top = MINUS_INFINITY
    for slide in range(4):
        if (legal & (1 << slide)) and (best < 0 or values[slide] > top):
            best, top = slide, values[slide]
    return best
