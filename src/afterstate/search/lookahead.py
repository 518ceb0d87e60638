"""What a search works with: how far it looks, what it leaves out, its memory, and its settings and counters.

The kernels that use it are in `expectimax`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.engine.choosers import GREEDY, make_desk
from afterstate.errors import InputError
from afterstate.games.game import MAX_OUTCOMES
from afterstate.kernel import CLOCK, u64
from afterstate.memory import aligned
from afterstate.network.network import Network, tile_index
from afterstate.search.options import MAX_DEPTH, SearchPlan
from afterstate.search.table import Table, forget_leaves, make_table

SPARE = MAX_DEPTH + 1  # a row that takes turns with row 1
ROWS = SPARE + 1
LEAST_USUAL = 11  # index of the smallest tile that is downgraded by default: 2048, or 768 in Threes!
STEPS = 64  # of the histogram of times for each doubling of the time
TIMES = 48 * STEPS

# what a search counts, and its settings
NODES, LEAVES, VALUED, PROBED, FOUND, GENERATION, DEADLINE, LATE, LONGEST = range(9)
BY_DEPTH = 16  # from here on: moves by the depth that was reached
BY_TIME = BY_DEPTH + ROWS  # from here on: moves by the time that they took
COUNTED = BY_TIME + TIMES


class Lookahead(NamedTuple):
    """A chooser that searches, with its working memory: a row for each slide that is looked ahead."""

    depth: np.int64
    limit: np.int64  # nanoseconds a move; 0 if the depth alone counts
    cutoffs: NDArray[np.float64]  # (MAX_DEPTH + 1,) by depth: positions less probable than this are leaves
    cutoff: NDArray[np.float64]  # (1,) of the current search
    table: Table
    shared: np.bool  # isomorphic boards are one entry of the table
    highest: np.uint64  # tiles above this are unknown to the network
    counts: NDArray[np.int64]  # (COUNTED,)
    halt: NDArray[np.int64]  # (1,) not 0: end at once, the result does not matter
    # few arrays, because every call passes all of them
    words: NDArray[np.uint64]  # (4 * ROWS, MAX_OUTCOMES) for each depth four rows: `outcomes` and `slides` write here
    chances: NDArray[np.float64]  # (ROWS, MAX_OUTCOMES)
    rewards: NDArray[np.int64]  # (ROWS, 4)
    first: NDArray[np.float64]  # (ROWS, 4) values of slides at a glance
    indices: NDArray[Any]  # (12 * m,) of leaves that are prefetched


def make_chooser(network: Network, plan: SearchPlan, halt: NDArray[np.int64] | None = None) -> Any:
    """Who chooses: `Greedy` if that is enough, or a search. One for each thread."""
    highest = highest_tile(network, plan)
    if plan.is_plain and highest == 0:
        return GREEDY
    if plan.move_time is not None and not CLOCK:
        raise InputError("this system has no clock that a search could look at; give a depth instead of a time")
    return Lookahead(
        depth=np.int64(plan.depth),
        limit=np.int64(0 if plan.move_time is None else max(round(plan.move_time * 1e9), 1)),
        cutoffs=np.array(plan.cutoffs + (0.0,) * (MAX_DEPTH - plan.depth)),
        cutoff=aligned(1, np.float64),
        table=make_table(plan.table, network.contexts),
        shared=np.bool(network.game.symmetric and network.symmetry == 8),
        highest=u64(highest),
        counts=aligned(COUNTED, np.int64),
        halt=np.zeros(1, np.int64) if halt is None else halt,
        words=aligned(4 * ROWS * MAX_OUTCOMES, np.uint64).reshape(4 * ROWS, MAX_OUTCOMES),
        chances=aligned(ROWS * MAX_OUTCOMES, np.float64).reshape(ROWS, MAX_OUTCOMES),
        rewards=aligned(ROWS * 4, np.int64).reshape(ROWS, 4),
        first=aligned(ROWS * 4, np.float64).reshape(ROWS, 4),
        indices=make_desk(network.lookup, slots=3).indices,
    )


def highest_tile(network: Network, plan: SearchPlan) -> int:
    """Index of the largest tile that the network is asked about; 0 if it is asked about every board as it is.

    Unless something is asked for, tiles are downgraded from the largest one on that one game in a hundred of the training
    reached: from there on the network has hardly ever seen how to go on. The network's own choice at depth 1, an exact search,
    and boards that are too small for the tile 2048 stay as they are.
    """
    if plan.downgrade is None:
        usual = network.training.usual
        if plan.exact or plan.is_plain or not LEAST_USUAL <= usual <= 15:
            return 0
        return usual - 1
    if plan.downgrade == 0:
        return 0
    index = tile_index(network.game, plan.downgrade)
    if index <= network.game.lowest_downgrade:
        raise InputError(f"downgrade: no tile {plan.downgrade} of {network.game.name} can be downgraded")
    return index - 1


def renew(chooser: Any) -> None:
    """Begin a generation: what was found before does not count any more."""
    if isinstance(chooser, Lookahead):
        chooser.counts[GENERATION] += 1


def forget(chooser: Any) -> None:
    """Forget everything, for the network may have changed, and count from 0 again."""
    if isinstance(chooser, Lookahead):
        generation = chooser.counts[GENERATION] + 1
        chooser.counts[:] = 0
        chooser.counts[GENERATION] = generation
        forget_leaves(chooser.table.leaf_words)
