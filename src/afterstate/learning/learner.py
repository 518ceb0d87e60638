"""The learner of the game loop: it values the positions of a game, and learns from what follows them.

The backup says when and towards what a value moves (`backups`), the rule what an error does to the weights (`td`, `tc`).
"""

from typing import Any, NamedTuple

import numpy as np

from afterstate.engine.choosers import Desk
from afterstate.engine.loop import begin_learning, finish_learning, learn_slide, learn_state
from afterstate.kernel import implement, kernel, specialised, u64
from afterstate.learning.backups import arrive, finish, is_online, keep_position
from afterstate.learning.update import MOVES, OUTSIDE, Tally, fetch, learn
from afterstate.network.lookup import Afterstates, States, sum_weights

_0 = u64(0)


class Learner(NamedTuple):
    """What learns from a game. One for each thread."""

    rule: Any
    backup: Any
    tally: Tally


class Memory(NamedTuple):
    """What is remembered from move to move; it stays in registers."""

    number: np.int64  # of the next position in the chain
    last: np.uint64  # where the indices of the position before it begin
    has_due: np.bool  # an update waits until the next move's weights are prefetched
    due: np.uint64  # where its indices begin
    error: np.float64
    reward: np.float64  # of the last slide


@specialised
def _values_states(target: Any) -> bool:
    """Whether the chain is made of states, known before the slide is chosen."""


@implement(_values_states, States)
def _states(target: Any) -> bool:
    return True


@implement(_values_states, Afterstates)
def _afterstates(target: Any) -> bool:
    return False


@implement(begin_learning, Learner)
def _begin(learner: Any) -> Memory:
    return Memory(np.int64(0), _0, False, _0, np.float64(0), np.float64(0))  # type: ignore[arg-type]


@implement(learn_state, Learner)
def _learn_state(learner: Any, memory: Any, net: Any, board: u64, extra: u64, desk: Desk, at: u64) -> Any:
    rule, backup, tally = learner.rule, learner.backup, learner.tally
    number, last, reward = memory.number, memory.last, memory.reward
    if memory.has_due:
        learn(rule, net, desk.indices, memory.due, memory.error, tally)
    if _values_states(net.target):
        keep_position(backup, number, board, extra)
        value = sum_weights(net, desk.indices, at)
        _check_range(tally, value)
        is_due, due, error = arrive(backup, net, desk.indices, number, last, at, reward, reward + value)
        if is_due:  # a state is known before the slide is chosen, so update now
            learn(rule, net, desk.indices, due, error, tally)
        if is_online(backup):
            fetch(rule, net, desk.indices, at)
        last = at
        number += 1
    return Memory(number, last, False, _0, 0.0, reward)  # type: ignore[arg-type]


@implement(learn_slide, Learner)
def _learn_slide(learner: Any, memory: Any, net: Any, slide: int, desk: Desk, at: u64) -> Any:
    number, last, reward = memory.number, memory.last, np.float64(desk.rewards[slide])
    is_due, due, error = False, _0, 0.0
    if not _values_states(net.target):
        backup, tally = learner.backup, learner.tally
        place = at + u64(slide) * net.lookups
        _check_range(tally, desk.values[slide] - reward)
        keep_position(backup, number, desk.after[slide], desk.extras[slide])
        is_due, due, error = arrive(backup, net, desk.indices, number, last, place, reward, desk.values[slide])
        if is_online(backup):
            fetch(learner.rule, net, desk.indices, place)
        last = place
        number += 1
    return Memory(number, last, is_due, due, error, reward)  # type: ignore[arg-type]


@implement(finish_learning, Learner)
def _finish(learner: Any, memory: Any, net: Any, moves: int, desk: Desk) -> None:
    finish(learner.backup, net, learner.rule, desk.indices, memory.number - 1, memory.last, learner.tally)
    learner.tally.sums[MOVES] += np.float64(moves)


@kernel
def _check_range(tally: Any, value: float) -> None:
    """Count a value that no position can have."""
    if not (value >= 0.0 and value <= tally.most):
        tally.sums[OUTSIDE] += 1.0
