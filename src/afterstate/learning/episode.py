"""The training kernel: play one game with the network as it is, and learn from it.

A game is a chain of valued positions x_0, x_1, ... x_T (afterstates, or states), with a reward on the way from one to the
next. TD(0) moves V(x_t) towards r_{t+1} + V(x_{t+1}), and V(x_T) towards 0: nothing more is to be won.

`Online` learns while it plays. `Backward` plays the game to its end and learns from the last position to the first, each time
from the value just improved. `Frozen` only plays, and `Recorded` only plays and keeps every position.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.games.game import largest, slides, spawn, start
from afterstate.kernel import implement, kernel, specialised, u64
from afterstate.learning.rules import learn
from afterstate.network.greedy import RING, Afterstates, Desk, States, best_slide, survey, weigh
from afterstate.network.lookup import index_board, sum_weights
from afterstate.rng import stream

_0, _1, _4 = u64(0), u64(1), u64(4)
_RING = u64(RING)
_NOTHING = 0.0


class Online(NamedTuple):
    """Learn from each move as soon as the next one is chosen."""

    unused: np.uint64 = u64(0)


class Backward(NamedTuple):
    """Learn after the game, from its end to its start."""

    boards: NDArray[np.uint64]  # (longest + 1,) the chain of this game
    rewards: NDArray[np.float64]  # (longest + 1,) reward on the way to each


class Frozen(NamedTuple):
    """Do not learn."""

    unused: np.uint64 = u64(0)


class Recorded(NamedTuple):
    """Do not learn; keep the boards of the game, and the slide made on each."""

    boards: NDArray[np.uint64]  # (longest + 1,) states
    after: NDArray[np.uint64]  # (longest + 1,) the afterstate that the slide led to
    slides: NDArray[np.uint8]  # (longest + 1,)
    rewards: NDArray[np.int64]  # (longest + 1,)


@specialised
def _values_states(view: Any) -> bool:
    """Whether the chain is made of states, known before the slide is chosen."""
    raise NotImplementedError


@implement(_values_states, States)
def _states(view: Any) -> bool:
    return True


@implement(_values_states, Afterstates)
def _afterstates(view: Any) -> bool:
    return False


@specialised
def play_and_learn(order: Any, game: Any, net: Any, view: Any, rule: Any, rng: u64, desk: Desk) -> Any:
    """One game -> score, number of slides, index of the largest tile."""
    raise NotImplementedError


@implement(play_and_learn, Online)
def _online(order: Any, game: Any, net: Any, view: Any, rule: Any, rng: u64, desk: Desk) -> Any:
    board, extra, rng = start(game, rng)
    score, moves = 0, 0
    at = _0  # where this move's indices begin
    last, has_last = _0, False  # indices of x_{t-1}
    due, error, has_due = _0, _NOTHING, False  # the update of x_{t-2}: put off until this move's memory is under way
    reward = _NOTHING
    while True:
        legal = slides(game, board, extra, desk.after, desk.extras, desk.rewards)
        survey(view, net, board, legal, desk, at)
        if has_due:
            learn(rule, net, desk.indices, due, error)
            has_due = False
        if _values_states(view):
            if has_last:
                error = reward + sum_weights(net, desk.indices, at) - sum_weights(net, desk.indices, last)
                learn(rule, net, desk.indices, last, error)
            last, has_last = at, True
        if legal == 0:
            break
        weigh(view, game, net, legal, desk, at)
        slide = best_slide(desk.values)
        if not _values_states(view):
            if has_last:
                due, has_due = last, True
                error = desk.values[slide] - sum_weights(net, desk.indices, last)
            last, has_last = at + u64(slide) * net.lookups, True
        reward = np.float64(desk.rewards[slide])
        score += desk.rewards[slide]
        moves += 1
        board, extra, rng = spawn(game, desk.after[slide], desk.extras[slide], rng)
        at += _4 * net.lookups
        if at == _RING * _4 * net.lookups:
            at = _0
    learn(rule, net, desk.indices, last, -sum_weights(net, desk.indices, last))
    return score, moves, largest(game, board, extra)


@implement(play_and_learn, Backward)
def _backward(order: Any, game: Any, net: Any, view: Any, rule: Any, rng: u64, desk: Desk) -> Any:
    board, extra, rng = start(game, rng)
    score, moves = 0, 0
    length = 0
    reward = _NOTHING
    while True:
        legal = slides(game, board, extra, desk.after, desk.extras, desk.rewards)
        survey(view, net, board, legal, desk, _0)
        if _values_states(view):
            order.boards[length], order.rewards[length] = board, reward
            length += 1
        if legal == 0:
            break
        weigh(view, game, net, legal, desk, _0)
        slide = best_slide(desk.values)
        reward = np.float64(desk.rewards[slide])
        if not _values_states(view):
            order.boards[length], order.rewards[length] = desk.after[slide], reward
            length += 1
        score += desk.rewards[slide]
        moves += 1
        board, extra, rng = spawn(game, desk.after[slide], desk.extras[slide], rng)
    target = _NOTHING
    for number in range(length - 1, -1, -1):
        index_board(net, order.boards[number], desk.indices, _0)
        learn(rule, net, desk.indices, _0, target - sum_weights(net, desk.indices, _0))
        target = order.rewards[number] + sum_weights(net, desk.indices, _0)
    return score, moves, largest(game, board, extra)


@specialised
def _keep(order: Any, number: int, board: u64, slide: int, desk: Desk) -> None:
    """Note state number `number` of a game and the slide made in it."""
    raise NotImplementedError


@implement(_keep, Frozen)
def _keep_nothing(order: Any, number: int, board: u64, slide: int, desk: Desk) -> None:
    pass


@implement(_keep, Recorded)
def _keep_move(order: Any, number: int, board: u64, slide: int, desk: Desk) -> None:
    order.boards[number], order.after[number] = board, desk.after[slide]
    order.slides[number], order.rewards[number] = slide, desk.rewards[slide]


def _only_play(order: Any, game: Any, net: Any, view: Any, rule: Any, rng: u64, desk: Desk) -> Any:
    board, extra, rng = start(game, rng)
    score, moves = 0, 0
    while True:
        legal = slides(game, board, extra, desk.after, desk.extras, desk.rewards)
        if legal == 0:
            break
        survey(view, net, board, legal, desk, _0)
        weigh(view, game, net, legal, desk, _0)
        slide = best_slide(desk.values)
        _keep(order, moves, board, slide, desk)
        score += desk.rewards[slide]
        moves += 1
        board, extra, rng = spawn(game, desk.after[slide], desk.extras[slide], rng)
    _keep(order, moves, board, 0, desk)
    return score, moves, largest(game, board, extra)


implement(play_and_learn, Frozen)(_only_play)
implement(play_and_learn, Recorded)(_only_play)


@kernel
def play_games(
    order: Any,
    game: Any,
    net: Any,
    view: Any,
    rule: Any,
    desk: Desk,
    seed: u64,
    purpose: u64,
    first: int,
    count: int,
    results: Any,
    at: int,
) -> None:
    """Play games number first .. first + count - 1 and learn as `order` says; their results go to results[at:]."""
    for number in range(count):
        rng = stream(seed, purpose, u64(first + number))
        score, moves, tile = play_and_learn(order, game, net, view, rule, rng, desk)
        results.scores[at + number] = score
        results.moves[at + number] = moves
        results.largest[at + number] = tile
