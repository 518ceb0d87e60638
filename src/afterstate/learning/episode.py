"""The training kernel: play one game with the network as it is, and learn from it.

The target says when and towards what the values of a game's positions move (`targets`), the rule what an error does to the
weights (`rules`). `Frozen` only plays, and `Recorded` only plays and keeps every position.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.games.game import State, final_score, largest, slides, spawn, start
from afterstate.kernel import implement, kernel, specialised, u64
from afterstate.learning.rules import MOVES, OUTSIDE, TALLIED, Tally, expect, learn
from afterstate.learning.starts import Fresh, again, note
from afterstate.learning.targets import Backward, Delayed, OneStep, Steps, arrive, finish, is_online, moves_kept
from afterstate.network.greedy import Afterstates, Desk, States, alone, best_slide, make_desk, survey, weigh
from afterstate.network.lookup import sum_weights
from afterstate.network.network import Network
from afterstate.rng import stream

_0, _4 = u64(0), u64(4)


class Frozen(NamedTuple):
    """Do not learn."""

    unused: np.uint64 = u64(0)


class Recorded(NamedTuple):
    """Do not learn; keep the boards of the game, and the slide made on each."""

    boards: NDArray[np.uint64]  # (moves + 1,) states
    extras: NDArray[np.uint64]  # (moves + 1,)
    after: NDArray[np.uint64]  # (moves + 1,) the afterstate that the slide led to
    slides: NDArray[np.uint8]  # (moves + 1,)
    rewards: NDArray[np.int64]  # (moves + 1,)


def make_record(moves: int) -> Recorded:
    """Room for so many moves, and the state after them."""
    boards, extras, after = np.zeros((3, moves + 1), np.uint64)
    return Recorded(boards, extras, after, np.zeros(moves + 1, np.uint8), np.zeros(moves + 1, np.int64))


def cut_record(record: Recorded, moves: int) -> Recorded:
    """The part of a record that was used, by itself: one state more than slides."""
    boards, extras = record.boards[: moves + 1].copy(), record.extras[: moves + 1].copy()
    return Recorded(boards, extras, record.after[:moves].copy(), record.slides[:moves].copy(), record.rewards[:moves].copy())


def state_at(record: Recorded, number: int) -> State:
    """A state of a record; -1 is the last."""
    return State(int(record.boards[number]), int(record.extras[number]))


class Seat(NamedTuple):
    """All that one thread has for itself."""

    target: Any  # what its games are learned towards; Frozen or Recorded if not at all
    starts: Any  # where they begin
    desk: Desk
    tally: Tally


FROZEN, FRESH = Frozen(), Fresh()


def make_seat(network: Network, target: Any = FROZEN, starts: Any = FRESH) -> Seat:
    """A seat for one thread, with working memory that no other thread shares a cache line with."""
    tally = Tally(alone(TALLIED, np.float64), np.float64(network.game.most))
    return Seat(target, starts, make_desk(network.lookup, moves=moves_kept(target)), tally)


@specialised
def _values_states(view: Any) -> bool:
    """Whether the chain is made of states, known before the slide is chosen."""


@implement(_values_states, States)
def _states(view: Any) -> bool:
    return True


@implement(_values_states, Afterstates)
def _afterstates(view: Any) -> bool:
    return False


@specialised
def _keep_position(target: Any, number: int, board: u64, extra: u64) -> None:
    """Keep position x_number until the game is over, if the target wants it."""


def _keep_no_position(target: Any, number: int, board: u64, extra: u64) -> None:
    pass


@implement(_keep_position, Backward)
def _keep_the_position(target: Any, number: int, board: u64, extra: u64) -> None:
    target.boards[number], target.extras[number] = board, extra


@specialised
def play_and_learn(target: Any, seat: Any, game: Any, net: Any, view: Any, rule: Any, board: u64, extra: u64, rng: u64) -> Any:
    """One game from a state on -> score, number of slides, index of the largest tile, rng."""


def _learn_a_game(target: Any, seat: Any, game: Any, net: Any, view: Any, rule: Any, board: u64, extra: u64, rng: u64) -> Any:
    desk, tally = seat.desk, seat.tally
    score, moves = 0, 0
    stage = _0
    number = 0  # of the next position in the chain
    at, last = _0, _0  # where the indices of this move begin, and those of the position before
    has_due, due, error = False, _0, 0.0  # an update that is put off until this move's memory is under way
    reward = 0.0
    while True:
        legal = slides(game, board, extra, desk.after, desk.extras, desk.rewards)
        survey(view, net, board, extra, legal, desk, at)
        if has_due:
            learn(rule, net, desk.indices, due, error, tally)
        stage = note(seat.starts, net, moves, stage, board, extra)
        if _values_states(view):
            _keep_position(target, number, board, extra)
            total = reward + sum_weights(net, desk.indices, at)
            _check_range(tally, total - reward)
            has_due, due, error = arrive(target, net, desk.indices, number, last, at, reward, total)
            if has_due:  # a state is known before the slide is chosen, so it learns before
                learn(rule, net, desk.indices, due, error, tally)
                has_due = False
            if is_online(target):
                expect(rule, net, desk.indices, at)
            last = at
            number += 1
        if legal == 0:
            break
        weigh(view, game, net, legal, desk, at)
        slide = best_slide(desk.values, legal)
        reward = np.float64(desk.rewards[slide])
        if not _values_states(view):
            place = at + u64(slide) * net.lookups
            _check_range(tally, desk.values[slide] - reward)
            _keep_position(target, number, desk.after[slide], desk.extras[slide])
            has_due, due, error = arrive(target, net, desk.indices, number, last, place, reward, desk.values[slide])
            if is_online(target):
                expect(rule, net, desk.indices, place)
            last = place
            number += 1
        score += desk.rewards[slide]
        moves += 1
        board, extra, rng = spawn(game, desk.after[slide], desk.extras[slide], rng)
        at += _4 * net.lookups
        if at == u64(desk.indices.size):
            at = _0
    finish(target, net, rule, desk.indices, number - 1, last, tally)
    tally.sums[MOVES] += np.float64(moves)
    return final_score(game, board, extra, score), moves, largest(game, board, extra), rng


@kernel
def _check_range(tally: Any, value: float) -> None:
    """Count a value that no position can have."""
    if not (value >= 0.0 and value <= tally.most):
        tally.sums[OUTSIDE] += 1.0


for _target in (OneStep, Delayed, Steps):
    implement(_keep_position, _target)(_keep_no_position)
    implement(play_and_learn, _target)(_learn_a_game)
implement(play_and_learn, Backward)(_learn_a_game)


@specialised
def _keep(order: Any, number: int, board: u64, extra: u64, slide: int, desk: Desk) -> None:
    """Note state number `number` of a game and the slide made in it."""


@implement(_keep, Frozen)
def _keep_nothing(order: Any, number: int, board: u64, extra: u64, slide: int, desk: Desk) -> None:
    pass


@implement(_keep, Recorded)
def _keep_move(order: Any, number: int, board: u64, extra: u64, slide: int, desk: Desk) -> None:
    order.boards[number], order.extras[number], order.after[number] = board, extra, desk.after[slide]
    order.slides[number], order.rewards[number] = slide, desk.rewards[slide]


def _only_play(order: Any, seat: Any, game: Any, net: Any, view: Any, rule: Any, board: u64, extra: u64, rng: u64) -> Any:
    desk = seat.desk
    score, moves = 0, 0
    while True:
        legal = slides(game, board, extra, desk.after, desk.extras, desk.rewards)
        if legal == 0:
            break
        survey(view, net, board, extra, legal, desk, _0)
        weigh(view, game, net, legal, desk, _0)
        slide = best_slide(desk.values, legal)
        _keep(order, moves, board, extra, slide, desk)
        score += desk.rewards[slide]
        moves += 1
        board, extra, rng = spawn(game, desk.after[slide], desk.extras[slide], rng)
    _keep(order, moves, board, extra, 0, desk)
    return final_score(game, board, extra, score), moves, largest(game, board, extra), rng


implement(play_and_learn, Frozen)(_only_play)
implement(play_and_learn, Recorded)(_only_play)


@kernel
def play_games(
    seat: Any, game: Any, net: Any, view: Any, rule: Any, seed: u64, purpose: u64, first: int, count: int, results: Any, at: int
) -> None:
    """Play games number first .. first + count - 1, and learn from them; their results go to results[at:].

    Games that begin elsewhere than the rules say follow each of them, and leave no results.
    """
    for number in range(count):
        rng = stream(seed, purpose, u64(first + number))
        board, extra, rng = start(game, rng)
        turn, more = _0, True
        while more:
            score, moves, tile, rng = play_and_learn(seat.target, seat, game, net, view, rule, board, extra, rng)
            if turn == _0:
                results.scores[at + number] = score
                results.moves[at + number] = moves
                results.largest[at + number] = tile
            more, turn, board, extra, rng = again(seat.starts, turn, moves, rng)
