"""One position looked into by several threads: each takes the next pair of slide and new tile."""

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.engine.choosers import MINUS_INFINITY, round_expected
from afterstate.engine.workers import Workers
from afterstate.games.game import Afterstate, Slide, State
from afterstate.kernel import implement, u64
from afterstate.network.network import Network
from afterstate.search.expectimax import deepen, look_into, lower, search_to, shallowest
from afterstate.search.lookahead import DEADLINE, LATE, Lookahead


class Together(NamedTuple):
    """A position that several threads search, each with its own working memory."""

    network: Network
    searches: Sequence[Lookahead]
    afterstates: dict[Slide, Afterstate]


def weigh_together(network: Network, searches: Sequence[Lookahead], state: State, values: NDArray[np.float64]) -> None:
    """Write the values of the four slides, -inf where one is illegal. One thread for each of the searches."""
    game = network.game
    board, extra = lower(game.tables, searches[0], u64(state.board), u64(state.extra))
    afterstates = game.afterstates(State(int(board), int(extra)))
    legal = sum(1 << slide for slide in afterstates)
    if legal:
        deepen(Together(network, searches, afterstates), searches[0], legal, values)
    else:
        values[:] = MINUS_INFINITY


@implement(shallowest, Together)
def _shallowest(root: Together) -> int:
    return 2  # at depth 1 there are no new tiles to share out


@implement(search_to, Together)
def _search_together(root: Together, search: Any, legal: int, depth: int, values: NDArray[np.float64]) -> bool:
    network, game = root.network, root.network.game
    work = [(slide, outcome) for slide, afterstate in root.afterstates.items() for outcome in game.outcomes(afterstate)]
    found = np.zeros(len(work))
    for each in root.searches:
        each.counts[DEADLINE], each.counts[LATE] = search.counts[DEADLINE], 0
        each.cutoff[0] = search.cutoff[0]

    def look(thread: int, first: int, count: int) -> int:
        for number in range(first, first + count):
            state, chance = work[number][1].state, work[number][1].probability
            found[number] = look_into(
                game.tables, network.lookup, root.searches[thread], u64(state.board), u64(state.extra), depth - 1, chance
            )
        return 0

    Workers(len(root.searches), threading.Event()).run(look, 0, len(work), chunk=1)
    if any(each.counts[LATE] for each in root.searches):
        return False
    for slide, afterstate in root.afterstates.items():
        expected = sum(
            outcome.probability * value for (other, outcome), value in zip(work, found, strict=True) if other is slide
        )
        values[slide] = afterstate.reward + round_expected(expected)
    return True
