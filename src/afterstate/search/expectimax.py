"""Expectimax: look p slides ahead, over every new tile with its exact probability.

    E(s', d) = sum of probability * M(s'', d - 1)        E(s', 0) = what the network says of s'
    M(s, d)  = max over slides of reward + E(s', d)      M = 0 where no slide is legal

Depth 1 is the network's own choice.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import InputError
from afterstate.games.game import MAX_OUTCOMES, outcomes, slides
from afterstate.kernel import implement, kernel, specialised, u64
from afterstate.network.greedy import MINUS_INFINITY, Afterstates, Desk, States, settle, survey, weigh
from afterstate.network.lookup import index_board, sum_weights
from afterstate.network.network import Network

MAX_DEPTH = 4  # without a table a fifth slide takes minutes a move


class Lookahead(NamedTuple):
    """Working memory of one search: a row for each slide that is looked ahead."""

    leaf: Any  # what the network values
    depth: np.int64
    after: NDArray[np.uint64]  # (depth, 4)
    extras: NDArray[np.uint64]  # (depth, 4)
    rewards: NDArray[np.int64]  # (depth, 4)
    boards: NDArray[np.uint64]  # (depth, MAX_OUTCOMES)
    more: NDArray[np.uint64]  # (depth, MAX_OUTCOMES)
    chances: NDArray[np.float64]  # (depth, MAX_OUTCOMES)


def make_view(network: Network, depth: int) -> Any:
    """How slides are weighed at a depth: the network's own view at depth 1, a search beyond it. One for each thread."""
    if not 1 <= depth <= MAX_DEPTH:
        raise InputError(f"depth must be 1 to {MAX_DEPTH}, not {depth}")
    if depth == 1:
        return network.view
    four, many = (depth, 4), (depth, MAX_OUTCOMES)
    return Lookahead(
        network.view,
        np.int64(depth),
        np.zeros(four, np.uint64),
        np.zeros(four, np.uint64),
        np.zeros(four, np.int64),
        np.zeros(many, np.uint64),
        np.zeros(many, np.uint64),
        np.zeros(many, np.float64),
    )


@specialised
def leaf_value(leaf: Any, game: Any, net: Any, board: u64, extra: u64, search: Any, indices: Any) -> float:
    """What the network says of an afterstate."""
    raise NotImplementedError


@implement(leaf_value, Afterstates)
def _leaf_afterstate(leaf: Any, game: Any, net: Any, board: u64, extra: u64, search: Any, indices: Any) -> float:
    index_board(net, board, extra, indices, u64(0))
    return sum_weights(net, indices, u64(0))


@implement(leaf_value, States)
def _leaf_state(leaf: Any, game: Any, net: Any, board: u64, extra: u64, search: Any, indices: Any) -> float:
    expected = 0.0
    boards, extras, chances = search.boards[0], search.more[0], search.chances[0]
    for number in range(outcomes(game, board, extra, boards, extras, chances)):
        index_board(net, boards[number], extras[number], indices, u64(0))
        expected += chances[number] * sum_weights(net, indices, u64(0))
    return expected


@kernel
def _expect(game: Any, net: Any, search: Any, board: u64, extra: u64, depth: int, indices: Any) -> float:
    """E of an afterstate with `depth` more slides to come; row `depth` of the working memory is this call's own."""
    if depth == 0:
        return leaf_value(search.leaf, game, net, board, extra, search, indices)
    expected = 0.0
    for number in range(outcomes(game, board, extra, search.boards[depth], search.more[depth], search.chances[depth])):
        state, state_extra = search.boards[depth, number], search.more[depth, number]
        legal = slides(game, state, state_extra, search.after[depth], search.extras[depth], search.rewards[depth])
        best = 0.0 if legal == 0 else -np.inf
        for slide in range(4):
            if legal & (1 << slide):
                value = search.rewards[depth, slide] + _expect(
                    game, net, search, search.after[depth, slide], search.extras[depth, slide], depth - 1, indices
                )
                best = max(best, value)
        expected += search.chances[depth, number] * best
    return expected


@implement(survey, Lookahead)
def _survey(view: Any, net: Any, board: u64, extra: u64, legal: int, desk: Desk, at: u64) -> None:
    pass


@implement(weigh, Lookahead)
def _weigh(view: Any, game: Any, net: Any, legal: int, desk: Desk, at: u64) -> None:
    for slide in range(4):
        desk.values[slide] = MINUS_INFINITY
        if legal & (1 << slide):
            expected = _expect(game, net, view, desk.after[slide], desk.extras[slide], view.depth - 1, desk.indices)
            desk.values[slide] = desk.rewards[slide] + settle(expected)
