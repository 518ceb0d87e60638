"""Expectimax: look p slides ahead, over every new tile with its probability.

    E(s', d) = sum of probability * M(s'', d - 1)        E(s', 0) = what the network says of s'
    M(s, d)  = max over slides of reward + E(s', d)      M = 0 where no slide is legal

A search of depth p gives a slide reward + E(s', p - 1); depth 1 is the network's own choice. Positions that are met with less
than some probability (`Lookahead.cutoff`) are leaves. Nothing else is left out, so that no rare disaster is hidden.
"""

from typing import Any, NamedTuple

import numpy as np

from afterstate.bitboard import to_planes
from afterstate.engine.choosers import MINUS_INFINITY, Desk, round_expected, survey, weigh
from afterstate.games.game import downgrade, outcomes, slides
from afterstate.kernel import implement, kernel, now, routine, specialised, u64
from afterstate.network.lookup import isomorphs
from afterstate.search.leaves import ask_leaves, glance, outcome_rows, slide_rows, told_leaf
from afterstate.search.lookahead import (
    BY_DEPTH,
    BY_TIME,
    DEADLINE,
    FOUND,
    GENERATION,
    LATE,
    LEAVES,
    LONGEST,
    NODES,
    PROBED,
    SPARE,
    STEPS,
    TIMES,
    Lookahead,
)
from afterstate.search.table import find, keep, line_of, make_tag

_0 = u64(0)

# --- the tree ----------------------------------------------------------------------------------------------------------


@kernel
def _slide_ahead(game: Any, net: Any, search: Any, board: u64, extra: u64, row: int) -> tuple[int, int]:
    """Write the slides of a state to a row, and ask for their leaves -> those that are legal, those to wait for."""
    after, extras, rewards = slide_rows(search, row)
    legal = slides(game, board, extra, after, extras, rewards)
    return legal, ask_leaves(net, search, legal, row)


@kernel
def _expect_leaves(game: Any, net: Any, search: Any, board: u64, extra: u64) -> float:
    """E(s', 1): every new tile, every slide, and the network.

    While one outcome is added up the memory of the next is under way; the two take turns with two rows.
    """
    boards, more, chances = outcome_rows(search, 1)
    count = outcomes(game, board, extra, boards, more, chances)
    expected = 0.0
    leaves = 0
    row = 1
    legal, asked, chance = 0, 0, 0.0
    next_legal, next_asked = 0, 0
    for number in range(count + 1):
        if number < count:
            next_legal, next_asked = _slide_ahead(game, net, search, boards[number], more[number], row)
        row = SPARE if row == 1 else 1
        if chance > 0.0:  # this is not the first
            rewards = search.rewards[row]
            best = 0.0 if legal == 0 else MINUS_INFINITY
            for slide in range(4):
                if legal & (1 << slide):
                    leaves += 1
                    known = told_leaf(net.target, game, net, search, row, slide, bool(asked & (1 << slide)))
                    best = max(best, rewards[slide] + known)
            expected += chance * best
        if number < count:
            legal, asked, chance = next_legal, next_asked, chances[number]
    search.counts[NODES] += 1
    search.counts[LEAVES] += leaves
    return expected


@kernel
def _is_late(search: Any) -> bool:
    """Whether the search has to end: the time is up, or nobody wants to know any more."""
    if search.halt[0] != 0 or (search.counts[DEADLINE] != 0 and now() >= search.counts[DEADLINE]):
        search.counts[LATE] = 1
    return bool(search.counts[LATE] != 0)


@kernel
def _key(net: Any, search: Any, board: u64, extra: u64) -> u64:
    """The board by which the table knows an afterstate: of its isomorphs the smallest, where they are worth the same."""
    if not search.shared or extra != _0:
        return board
    b0, b1, b2, b3, b4, b5, b6, b7 = isomorphs(to_planes(board), net.square, net.right, net.down)
    return min(b0, b1, b2, b3, b4, b5, b6, b7)


@kernel
def _all_leaves(search: Any, count: int, chances: Any, reach: float) -> bool:
    """Whether even the likeliest outcome is met with less probability than the cutoff."""
    most = 0.0
    for number in range(count):
        most = max(most, chances[number])
    return bool(reach * most < search.cutoff[0])


@kernel
def _care(search: Any, depth: int, reach: float) -> int:
    """How much a search leaves out below a position: doublings of its probability above the cutoff, more is more exact."""
    if depth == 1 or search.cutoff[0] == 0.0:
        return 0  # then nothing is left out
    return max(int(np.log2(reach / search.cutoff[0])), 0)


@routine
def _expect(game: Any, net: Any, search: Any, board: u64, extra: u64, depth: int, reach: float) -> float:
    """E(s', depth), met with probability `reach`; row `depth` of the working memory is this call's own."""
    if depth == 0 or reach < search.cutoff[0]:
        search.counts[LEAVES] += 1
        return glance(game, net, search, board, extra)
    boards, more, chances = outcome_rows(search, depth)
    count = 0
    if depth > 1:
        count = outcomes(game, board, extra, boards, more, chances)
        if _all_leaves(search, count, chances, reach):
            depth = 1  # which is the same, but quicker, and known to the table more often
    key, tag, at = _0, _0, _0
    if search.table.lines != _0:
        key = _key(net, search, board, extra)
        tag = make_tag(search.counts[GENERATION], depth, _care(search, depth, reach))
        at = line_of(search.table, key, extra, u64(depth))
        search.counts[PROBED] += 1
        known, value = find(search.table, at, key, extra, tag)
        if known:
            search.counts[FOUND] += 1
            return value
    if depth == 1:
        expected = _expect_leaves(game, net, search, board, extra)
    else:
        after, extras, rewards = slide_rows(search, depth)
        expected = 0.0
        for number in range(count):
            if _is_late(search):
                break
            below = reach * chances[number]
            legal = slides(game, boards[number], more[number], after, extras, rewards)
            best = 0.0 if legal == 0 else MINUS_INFINITY
            for slide in range(4):
                if legal & (1 << slide):
                    value = _expect(game, net, search, after[slide], extras[slide], depth - 1, below)
                    best = max(best, rewards[slide] + value)
            expected += chances[number] * best
        search.counts[NODES] += 1
    if search.table.lines != _0 and search.counts[LATE] == 0:
        keep(search.table, at, key, extra, tag, expected)
    return expected


# --- the root ----------------------------------------------------------------------------------------------------------


@implement(survey, Lookahead)
def _survey(chooser: Any, net: Any, board: u64, extra: u64, legal: int, desk: Desk, at: u64) -> None:
    pass


@kernel
def lower(game: Any, search: Any, board: u64, extra: u64) -> tuple[u64, u64]:
    """The position that is searched instead of this one: one whose tiles the network knows."""
    return downgrade(game, board, extra, search.highest)


@kernel
def may_finish(spent: int, last: int, before: int, limit: int) -> bool:
    """Whether it is worth while to begin another depth, after depths that took `before` and `last` of the time.

    The next takes as many times longer as the last one did, but hardly more than 16 times; if half of that is too much, it
    would be in vain.
    """
    growth = 4.0 if before == 0 else min(max(np.float64(last) / np.float64(before), 1.0), 16.0)
    return bool(spent + 0.5 * growth * last <= limit)


@kernel
def look_into(game: Any, net: Any, search: Any, board: u64, extra: u64, depth: int, reach: float) -> float:
    """M(s, depth - 1) of a state that a first slide and a new tile led to with probability `reach`.

    As within `_expect`, which cannot share it: Numba's cache does not bear functions that call each other in a circle.
    """
    after, extras, rewards = slide_rows(search, 0)
    legal = slides(game, board, extra, after, extras, rewards)
    best = 0.0 if legal == 0 else MINUS_INFINITY
    for slide in range(4):
        if legal & (1 << slide):
            best = max(best, rewards[slide] + _expect(game, net, search, after[slide], extras[slide], depth - 1, reach))
    return best


class Alone(NamedTuple):
    """A position that one thread searches; its slides are in row 0 of the working memory."""

    game: Any
    net: Any


@specialised
def search_to(root: Any, search: Any, legal: int, depth: int, values: Any) -> bool:
    """Search every legal slide to a depth, and write reward + value of each -> whether that was finished."""


@specialised
def shallowest(root: Any) -> int:
    """The first depth of a search that goes deeper and deeper."""


@implement(shallowest, Alone)
def _shallowest_alone(root: Any) -> int:
    return 1


@implement(search_to, Alone)
def _search_alone(root: Any, search: Any, legal: int, depth: int, values: Any) -> bool:
    after, extras, rewards = slide_rows(search, 0)
    for slide in range(4):
        if legal & (1 << slide):
            below = _expect(root.game, root.net, search, after[slide], extras[slide], depth - 1, 1.0)
            values[slide] = rewards[slide] + round_expected(below)
            if search.counts[LATE] != 0:
                return False
    return True


def deepen(root: Any, search: Any, legal: int, values: Any) -> int:
    """Search to the depth that is asked for; if there is a limit of time, deeper and deeper -> the depth of these values.

    It is 0 if the search was ended before there was an answer. Compiled for one thread, plain Python for several.
    """
    began = now()
    trial = search.first[SPARE]  # a row that no slide looked ahead uses
    search.counts[LATE] = search.counts[DEADLINE] = 0
    for slide in range(4):
        values[slide] = trial[slide] = MINUS_INFINITY
    depth = search.depth if search.limit == 0 else shallowest(root)
    reached, last, before = 0, 0, 0
    while True:
        began_depth = now()
        search.cutoff[0] = search.cutoffs[depth]
        if not search_to(root, search, legal, depth, trial):
            break
        for slide in range(4):
            values[slide] = trial[slide]
        reached = depth
        before, last = last, now() - began_depth
        depth += 1
        search.counts[DEADLINE] = began + search.limit  # from now on there is an answer
        is_forced = (legal & (legal - 1)) == 0
        if is_forced or depth > search.depth or not may_finish(now() - began, last, before, search.limit):
            break
    if reached != 0:
        count_move(search, reached, now() - began)
    return reached


_deepen = kernel(deepen)


@implement(weigh, Lookahead)
def _weigh(chooser: Any, game: Any, net: Any, board: u64, extra: u64, legal: int, desk: Desk, at: u64) -> None:
    board, extra = lower(game, chooser, board, extra)
    after, extras, rewards = slide_rows(chooser, 0)
    slides(game, board, extra, after, extras, rewards)
    _deepen(Alone(game, net), chooser, legal, desk.values)


@kernel
def count_move(search: Any, depth: int, taken: int) -> None:
    """Count a move: how deep it was searched, and how many nanoseconds that took."""
    step = min(int(np.log2(np.float64(max(taken, 1))) * STEPS), TIMES - 1)
    search.counts[BY_TIME + step] += 1
    search.counts[BY_DEPTH + depth] += 1
    search.counts[LONGEST] = max(search.counts[LONGEST], taken)
