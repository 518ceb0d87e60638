"""Leaves of a search: what the network says of an afterstate, asked for early and remembered for a while.

No position is worth less than 0, whatever a network says: the game could end there. A leaf below 0 would make a search prefer
the end of a game to going on.
"""

from typing import Any

from afterstate.games.game import look, outcomes
from afterstate.kernel import implement, kernel, routine, specialised, u64
from afterstate.network.lookup import Afterstates, States, index_seen, sum_weights
from afterstate.search.lookahead import SPARE, VALUED
from afterstate.search.table import leaf_place

_1 = u64(1)

# --- rows of the working memory: boards and extras of the outcomes, boards and extras of the slides ------------------------


@kernel
def outcome_rows(search: Any, depth: int) -> Any:
    return search.words[4 * depth], search.words[4 * depth + 1], search.chances[depth]


@kernel
def slide_rows(search: Any, depth: int) -> Any:
    return search.words[4 * depth + 2], search.words[4 * depth + 3], search.rewards[depth]


# --- leaves ------------------------------------------------------------------------------------------------------------


@kernel
def _value(net: Any, search: Any, board: u64, extra: u64) -> float:
    """What the network says of a position, from memory if it was asked a short time ago."""
    seen, context = look(net.sight, board, extra)
    words, values = search.table.leaf_words, search.table.leaf_values
    place = leaf_place(seen, context)
    if words[place] != seen:
        search.counts[VALUED] += 1
        words[place] = seen
        at = u64(8) * net.lookups  # behind those that are waited for
        index_seen(net, board, seen, context, search.indices, at)
        values[place + _1] = max(sum_weights(net, search.indices, at), 0.0)
    value: float = values[place + _1]
    return value


@specialised
def leaf_value(target: Any, game: Any, net: Any, search: Any, board: u64, extra: u64) -> float:
    """What the network says of an afterstate."""


@specialised
def ask_leaf(target: Any, net: Any, search: Any, row: int, slide: int) -> bool:
    """Ask the memory for what the value of a slide's afterstate will need -> whether there is anything to wait for."""


@specialised
def told_leaf(target: Any, game: Any, net: Any, search: Any, row: int, slide: int, asked: bool) -> float:
    """The value of a slide's afterstate, after `ask_leaf`."""


@kernel
def _index_place(net: Any, row: int, slide: int) -> u64:
    """Where the indices of a leaf are written: two rows take turns."""
    place: u64 = u64(slide + (4 if row == SPARE else 0)) * net.lookups
    return place


@implement(ask_leaf, Afterstates)
def _ask_afterstate(target: Any, net: Any, search: Any, row: int, slide: int) -> bool:
    after, extras, _ = slide_rows(search, row)
    seen, context = look(net.sight, after[slide], extras[slide])
    place = leaf_place(seen, context)
    after[4 + slide], extras[4 + slide] = seen, place  # to look no second time
    if search.table.leaf_words[place] == seen:
        return False
    index_seen(net, after[slide], seen, context, search.indices, _index_place(net, row, slide))
    return True


@implement(told_leaf, Afterstates)
def _told_afterstate(target: Any, game: Any, net: Any, search: Any, row: int, slide: int, asked: bool) -> float:
    after, extras, _ = slide_rows(search, row)
    seen, place = after[4 + slide], extras[4 + slide]
    words, values = search.table.leaf_words, search.table.leaf_values
    if words[place] != seen:
        if not asked:  # it was there, but another has taken its place
            return glance(game, net, search, after[slide], extras[slide])
        search.counts[VALUED] += 1
        words[place] = seen
        values[place + _1] = max(sum_weights(net, search.indices, _index_place(net, row, slide)), 0.0)
    value: float = values[place + _1]
    return value


@implement(ask_leaf, States)
def _ask_no_states(target: Any, net: Any, search: Any, row: int, slide: int) -> bool:
    return False  # there are too many of them


@implement(told_leaf, States)
def _told_states(target: Any, game: Any, net: Any, search: Any, row: int, slide: int, asked: bool) -> float:
    after, extras, _ = slide_rows(search, row)
    return leaf_value(target, game, net, search, after[slide], extras[slide])


@implement(leaf_value, Afterstates)
def _leaf_afterstate(target: Any, game: Any, net: Any, search: Any, board: u64, extra: u64) -> float:
    return _value(net, search, board, extra)


@implement(leaf_value, States)
def _leaf_state(target: Any, game: Any, net: Any, search: Any, board: u64, extra: u64) -> float:
    return _expect_states(game, net, search, board, extra)


@routine
def _expect_states(game: Any, net: Any, search: Any, board: u64, extra: u64) -> float:
    expected = 0.0
    boards, extras, chances = outcome_rows(search, 0)
    for number in range(outcomes(game, board, extra, boards, extras, chances)):
        expected += chances[number] * _value(net, search, boards[number], extras[number])
    return expected


@routine
def glance(game: Any, net: Any, search: Any, board: u64, extra: u64) -> float:
    """E(s', 0)."""
    return leaf_value(net.target, game, net, search, board, extra)


@kernel
def ask_leaves(net: Any, search: Any, legal: int, row: int) -> int:
    """Ask for the leaves of the slides in a row -> those to wait for."""
    asked = 0
    for slide in range(4):
        if (legal & (1 << slide)) and ask_leaf(net.target, net, search, row, slide):
            asked |= 1 << slide
    return asked
