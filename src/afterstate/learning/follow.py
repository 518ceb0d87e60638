"""Learn from a game that is on record: the same learner as in the game loop, but the record leads instead of a chooser."""

from typing import Any

import numpy as np

from afterstate.engine.choosers import Desk, survey, weigh
from afterstate.engine.loop import begin_learning, finish_learning, learn_slide, learn_state
from afterstate.games.game import slides
from afterstate.kernel import kernel, u64
from afterstate.learning.update import learn
from afterstate.network.lookup import index_board, sum_weights

_0 = u64(0)


@kernel
def follow(learner: Any, chooser: Any, game: Any, net: Any, boards: Any, extras: Any, taken: Any, desk: Desk) -> None:
    """Learn from a game as if it was played here: its n + 1 states, and the n slides `taken` in them, which are legal.

    The steps and their order are those of `engine.loop.play_game`.
    """
    at = _0  # where this move's slot begins
    memory = begin_learning(learner)
    for number in range(boards.size):
        board, extra = boards[number], extras[number]
        legal = slides(game, board, extra, desk.after, desk.extras, desk.rewards)
        survey(chooser, net, board, extra, legal, desk, at)
        memory = learn_state(learner, memory, net, board, extra, desk, at)
        if number == taken.size:
            break
        weigh(chooser, game, net, board, extra, legal, desk, at)
        memory = learn_slide(learner, memory, net, np.int64(taken[number]), desk, at)  # type: ignore[arg-type]
        at += desk.slot
        if at == u64(desk.indices.size):
            at = _0
    finish_learning(learner, memory, net, taken.size, desk)


@kernel
def move_value(learner: Any, net: Any, board: u64, extra: u64, target: float, desk: Desk) -> float:
    """Move the value of one position towards a target -> the error, which is target - value."""
    index_board(net, board, extra, desk.indices, _0)
    error = target - sum_weights(net, desk.indices, _0)
    learn(learner.rule, net, desk.indices, _0, error, learner.tally)
    return error
