"""One position looked into by several threads: each takes the next pair of slide and new tile."""

import threading
from collections.abc import Sequence
from time import monotonic_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.games.game import Afterstate, Game, Slide, State
from afterstate.kernel import u64
from afterstate.learning.workers import Workers
from afterstate.network.greedy import MINUS_INFINITY
from afterstate.network.network import Network
from afterstate.search.expectimax import look_into, lower, may_finish, note, root_depth
from afterstate.search.lookahead import DEADLINE, LATE
from afterstate.search.options import SearchOptions


def weigh_together(
    network: Network, views: Sequence[Any], options: SearchOptions, state: State, values: NDArray[np.float64]
) -> None:
    """Write the values of the four slides, -inf where one is illegal. One thread for each of the views."""
    game = network.game
    board, extra = lower(game.tables, views[0], u64(state.board), u64(state.extra))
    afterstates = game.afterstates(State(int(board), int(extra)))
    values[:] = MINUS_INFINITY
    if not afterstates:
        return
    began = monotonic_ns()
    if options.move_time is None:
        reached = int(root_depth(views[0], board))
        _search(network, views, afterstates, reached, values)
    else:
        reached = _deepen(network, views, afterstates, began, values)
    note(views[0], reached, monotonic_ns() - began)


def _deepen(
    network: Network, views: Sequence[Any], afterstates: dict[Slide, Afterstate], began: int, values: NDArray[np.float64]
) -> int:
    """Search deeper and deeper while there is time -> the depth whose values these are, 2 at least."""
    limit = int(views[0].limit)
    trial = values.copy()
    reached, last, before = 0, 0, 0
    for depth in range(2, int(views[0].depth) + 1):
        began_depth = monotonic_ns()
        if not may_finish(began_depth - began, last, before, limit):
            break
        deadline = 0 if depth == 2 else began + limit  # the first depth is always finished
        if not _search(network, views, afterstates, depth, trial, deadline):
            break
        values[:] = trial
        reached = depth
        if len(afterstates) == 1:
            break  # there is no choice
        before, last = last, monotonic_ns() - began_depth
    return reached


def _search(
    network: Network,
    views: Sequence[Any],
    afterstates: dict[Slide, Afterstate],
    depth: int,
    values: NDArray[np.float64],
    deadline: int = 0,
) -> bool:
    """Search to this depth -> whether it was finished."""
    game: Game = network.game
    work = [(slide, outcome) for slide, afterstate in afterstates.items() for outcome in game.outcomes(afterstate)]
    found = np.zeros(len(work))
    for view in views:
        view.counts[DEADLINE], view.counts[LATE] = deadline, 0

    def look(thread: int, first: int, count: int) -> int:
        for number in range(first, first + count):
            state, chance = work[number][1].state, work[number][1].probability
            found[number] = look_into(
                game.tables, network.lookup, views[thread], u64(state.board), u64(state.extra), depth - 1, chance
            )
        return 0

    Workers(len(views), threading.Event()).run(look, 0, len(work), chunk=1)
    if any(view.counts[LATE] for view in views):
        return False
    for slide, afterstate in afterstates.items():
        expected = sum(
            outcome.probability * value for (other, outcome), value in zip(work, found, strict=True) if other is slide
        )
        values[slide] = afterstate.reward + np.float64(np.float32(expected))
    return True
