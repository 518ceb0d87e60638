"""Choosers: who picks the slide. Each is a type; `search` adds its own.

`Greedy` looks one slide ahead: reward plus the network's value of what follows. A network that values afterstates is asked
about each afterstate; one that values states, about every state that a new tile may lead to. `Script` makes given slides.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.games.game import MAX_OUTCOMES, outcomes
from afterstate.kernel import implement, kernel, specialised, u64
from afterstate.memory import aligned
from afterstate.network.lookup import Afterstates, Lookup, States, index_board, sum_weights

MINUS_INFINITY = -np.inf
NO_SLIDE = -1  # a chooser's answer that ends the game


class Greedy(NamedTuple):
    """The slide with the largest reward + value."""

    unused: np.uint64 = u64(0)


class Script(NamedTuple):
    """The slides of a list, one after the other, until one is illegal."""

    slides: NDArray[np.uint8]


GREEDY = Greedy()


class Desk(NamedTuple):
    """Working memory of one thread. A move uses a slot of 4 * m indices; the slots take turns."""

    after: NDArray[np.uint64]  # (4,) boards of the four afterstates
    extras: NDArray[np.uint64]  # (4,)
    rewards: NDArray[np.int64]  # (4,)
    values: NDArray[np.float64]  # (4,) reward + value of each slide; -inf where it is illegal
    indices: NDArray[Any]  # (slots * slot,) uint32 if that is enough, else uint64
    slot: np.uint64  # 4 * m
    boards: NDArray[np.uint64]  # (MAX_OUTCOMES,)
    more: NDArray[np.uint64]  # (MAX_OUTCOMES,)
    chances: NDArray[np.float64]  # (MAX_OUTCOMES,)


def make_desk(net: Lookup | None = None, *, slots: int = 1) -> Desk:
    """Working memory, on cache lines that no other thread uses; `net` is None for choosers that need no network."""
    slot = 0 if net is None else 4 * int(net.lookups)
    wide = np.uint32 if net is None or net.weights.size <= 2**32 else np.uint64
    return Desk(
        aligned(4, np.uint64),
        aligned(4, np.uint64),
        aligned(4, np.int64),
        aligned(4, np.float64),
        aligned(slots * slot, wide),
        u64(slot),
        aligned(MAX_OUTCOMES, np.uint64),
        aligned(MAX_OUTCOMES, np.uint64),
        aligned(MAX_OUTCOMES, np.float64),
    )


# --- what a chooser offers -----------------------------------------------------------------------------------------------


@specialised
def survey(chooser: Any, net: Any, board: u64, extra: u64, legal: int, desk: Desk, at: u64) -> None:
    """Write the indices for this move to desk.indices[at:], slide i at i * m, and prefetch the weights."""


@specialised
def weigh(chooser: Any, game: Any, net: Any, board: u64, extra: u64, legal: int, desk: Desk, at: u64) -> None:
    """Fill desk.values for a state, after `slides` and `survey`."""


@specialised
def choose(chooser: Any, game: Any, net: Any, number: int, board: u64, extra: u64, legal: int, desk: Desk, at: u64) -> int:
    """The slide for move `number` of the game, after `slides` and `survey`; NO_SLIDE ends the game here."""


@implement(choose, object)
def _choose_best(
    chooser: Any, game: Any, net: Any, number: int, board: u64, extra: u64, legal: int, desk: Desk, at: u64
) -> int:
    weigh(chooser, game, net, board, extra, legal, desk, at)
    return best_slide(desk.values, legal)


@kernel
def best_slide(values: Any, legal: int) -> int:
    """The legal slide with the largest value, the first of equals; one must be legal. A NaN never beats an earlier slide."""
    best = NO_SLIDE
    top = MINUS_INFINITY
    for slide in range(4):
        if (legal & (1 << slide)) and (best < 0 or values[slide] > top):
            best, top = slide, values[slide]
    return best


@kernel
def round_expected(expected: float) -> float:
    """Round off the last bits, which depend on the order of the outcomes, so that isomorphic slides stay equal."""
    return np.float64(np.float32(expected))


# --- a script ------------------------------------------------------------------------------------------------------------


@implement(survey, Script)
def _survey_nothing(chooser: Any, net: Any, board: u64, extra: u64, legal: int, desk: Desk, at: u64) -> None:
    pass


@implement(choose, Script)
def _read(chooser: Any, game: Any, net: Any, number: int, board: u64, extra: u64, legal: int, desk: Desk, at: u64) -> int:
    slide = np.int64(chooser.slides[number])
    return slide if (legal >> slide) & 1 else NO_SLIDE  # type: ignore[return-value]


# --- greedy, by what the network values ----------------------------------------------------------------------------------


@implement(survey, Greedy)
def _survey(chooser: Any, net: Any, board: u64, extra: u64, legal: int, desk: Desk, at: u64) -> None:
    _survey_target(net.target, net, board, extra, legal, desk, at)


@implement(weigh, Greedy)
def _weigh(chooser: Any, game: Any, net: Any, board: u64, extra: u64, legal: int, desk: Desk, at: u64) -> None:
    _weigh_target(net.target, game, net, legal, desk, at)


@specialised
def _survey_target(target: Any, net: Any, board: u64, extra: u64, legal: int, desk: Desk, at: u64) -> None:
    """`survey` of `Greedy`."""


@specialised
def _weigh_target(target: Any, game: Any, net: Any, legal: int, desk: Desk, at: u64) -> None:
    """`weigh` of `Greedy`."""


@implement(_survey_target, Afterstates)
def _survey_afterstates(target: Any, net: Any, board: u64, extra: u64, legal: int, desk: Desk, at: u64) -> None:
    for slide in range(4):
        if legal & (1 << slide):
            index_board(net, desk.after[slide], desk.extras[slide], desk.indices, at + u64(slide) * net.lookups)


@implement(_weigh_target, Afterstates)
def _weigh_afterstates(target: Any, game: Any, net: Any, legal: int, desk: Desk, at: u64) -> None:
    for slide in range(4):
        desk.values[slide] = MINUS_INFINITY
        if legal & (1 << slide):
            desk.values[slide] = desk.rewards[slide] + sum_weights(net, desk.indices, at + u64(slide) * net.lookups)


@implement(_survey_target, States)
def _survey_state(target: Any, net: Any, board: u64, extra: u64, legal: int, desk: Desk, at: u64) -> None:
    index_board(net, board, extra, desk.indices, at)


@implement(_weigh_target, States)
def _weigh_states(target: Any, game: Any, net: Any, legal: int, desk: Desk, at: u64) -> None:
    scratch = at + net.lookups  # the first m indices of this move belong to the state itself
    for slide in range(4):
        desk.values[slide] = MINUS_INFINITY
        if legal & (1 << slide):
            count = outcomes(game, desk.after[slide], desk.extras[slide], desk.boards, desk.more, desk.chances)
            expected = 0.0
            for number in range(count):
                index_board(net, desk.boards[number], desk.more[number], desk.indices, scratch)
                expected += desk.chances[number] * sum_weights(net, desk.indices, scratch)
            desk.values[slide] = desk.rewards[slide] + round_expected(expected)
