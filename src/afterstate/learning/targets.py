"""Targets: what the value of a position should have been, from what came after it.

A game is a chain of valued positions x_0, x_1, ... x_T with a reward on the way from one to the next, and nothing to be won
after x_T. The error of one step is

    delta_t = r_{t+1} + V(x_{t+1}) - V(x_t),    and    -V(x_T) at the end.

`OneStep` moves V(x_t) by delta_t as soon as it is known: TD(0). `Delayed` waits for h more moves and takes delta_t +
lambda delta_{t+1} + ... + lambda^h delta_{t+h}: TD(lambda). `Steps` moves it towards n rewards and V(x_{t+n}). `Backward` waits
for the end of the game and goes from there to its start, each time from the value just improved:

    z_t = r_{t+1} + lambda z_{t+1} + (1 - lambda) V(x_{t+1}),    and    z_T = 0.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.kernel import implement, kernel, specialised, u64
from afterstate.learning.rules import expect, learn
from afterstate.network.greedy import alone
from afterstate.network.lookup import index_board, sum_weights

_0 = u64(0)


class OneStep(NamedTuple):
    """TD(0): nothing is kept."""

    unused: np.uint64 = u64(0)


class Delayed(NamedTuple):
    """TD(lambda) while playing. Position number t is kept in slot t of a ring."""

    decay: np.float64  # lambda
    horizon: np.int64  # h
    places: NDArray[np.uint64]  # (ring,) where its indices begin
    errors: NDArray[np.float64]  # (ring,) delta


class Steps(NamedTuple):
    """n-step TD."""

    steps: np.int64  # n
    places: NDArray[np.uint64]  # (ring,)
    rewards: NDArray[np.float64]  # (ring,) reward on the way to the position


class Backward(NamedTuple):
    """Learn after the game, from its end to its start."""

    decay: np.float64  # lambda
    boards: NDArray[np.uint64]  # (longest + 1,) the chain of this game
    extras: NDArray[np.uint64]  # (longest + 1,)
    rewards: NDArray[np.float64]  # (longest + 1,) reward on the way to each


def make_target(*, backward: bool, decay: float, horizon: int, steps: int, longest: int) -> Any:
    """The target that a run's options ask for, with its working memory. One for each thread."""
    if backward:
        words = np.zeros((2, longest + 1), np.uint64)
        return Backward(np.float64(decay), words[0], words[1], np.zeros(longest + 1, np.float64))
    ring = 1 << (max(horizon, steps) + 1).bit_length()  # a power of two above the positions that wait
    places, more = alone(ring, np.uint64), alone(ring, np.float64)  # written to at every move
    if steps > 1:
        return Steps(np.int64(steps), places, more)
    if decay > 0:
        return Delayed(np.float64(decay), np.int64(horizon), places, more)
    return OneStep()


def moves_kept(target: Any) -> int:
    """How many moves' indices must be kept: those that wait, this one, and one whose update is under way."""
    waiting = {Delayed: "horizon", Steps: "steps"}.get(type(target))
    return 3 if waiting is None else int(getattr(target, waiting)) + 3


@specialised
def arrive(
    target: Any, net: Any, indices: Any, number: int, last: u64, place: u64, reward: float, total: float
) -> tuple[bool, u64, float]:
    """Position x_number is known, total = reward + V(x_number) -> whether an update is due, of which indices, its error.

    Its own indices begin at `place`, those of the position before it at `last`.
    """


@specialised
def is_online(target: Any) -> bool:
    """Whether positions are learned while the game is played, soon after they are met."""


def _online(target: Any) -> bool:
    return True


for _kind in (OneStep, Delayed, Steps):
    implement(is_online, _kind)(_online)


@implement(is_online, Backward)
def _afterwards(target: Any) -> bool:
    return False


@specialised
def finish(target: Any, net: Any, rule: Any, indices: Any, number: int, last: u64, tally: Any) -> None:
    """x_number, with indices at `last`, was the last position: learn what still waits."""


@implement(arrive, OneStep)
def _arrive_one_step(
    target: Any, net: Any, indices: Any, number: int, last: u64, place: u64, reward: float, total: float
) -> tuple[bool, u64, float]:
    if number == 0:
        return False, _0, 0.0
    return True, last, total - sum_weights(net, indices, last)


@implement(finish, OneStep)
def _finish_one_step(target: Any, net: Any, rule: Any, indices: Any, number: int, last: u64, tally: Any) -> None:
    learn(rule, net, indices, last, -sum_weights(net, indices, last), tally)


@implement(arrive, Delayed)
def _arrive_delayed(
    target: Any, net: Any, indices: Any, number: int, last: u64, place: u64, reward: float, total: float
) -> tuple[bool, u64, float]:
    ring = target.places.size - 1
    target.places[number & ring] = place
    if number == 0:
        return False, _0, 0.0
    target.errors[(number - 1) & ring] = total - sum_weights(net, indices, target.places[(number - 1) & ring])
    first = number - 1 - target.horizon
    if first < 0:
        return False, _0, 0.0
    return True, target.places[first & ring], _discounted(target, first, number - 1)


@kernel
def _discounted(target: Any, first: int, last: int) -> float:
    """delta_first + lambda delta_{first+1} + ... up to delta_last."""
    total = 0.0
    for number in range(last, first - 1, -1):
        total = target.errors[number & (target.errors.size - 1)] + target.decay * total
    return total


@implement(finish, Delayed)
def _finish_delayed(target: Any, net: Any, rule: Any, indices: Any, number: int, last: u64, tally: Any) -> None:
    ring = target.places.size - 1
    target.errors[number & ring] = -sum_weights(net, indices, target.places[number & ring])
    for first in range(max(number - target.horizon, 0), number + 1):
        learn(rule, net, indices, target.places[first & ring], _discounted(target, first, number), tally)


@implement(arrive, Steps)
def _arrive_steps(
    target: Any, net: Any, indices: Any, number: int, last: u64, place: u64, reward: float, total: float
) -> tuple[bool, u64, float]:
    ring = target.places.size - 1
    target.places[number & ring], target.rewards[number & ring] = place, reward
    first = number - target.steps
    if first < 0:
        return False, _0, 0.0
    for between in range(first + 1, number):
        total += target.rewards[between & ring]
    return True, target.places[first & ring], total - sum_weights(net, indices, target.places[first & ring])


@implement(finish, Steps)
def _finish_steps(target: Any, net: Any, rule: Any, indices: Any, number: int, last: u64, tally: Any) -> None:
    ring = target.places.size - 1
    for first in range(max(number - target.steps + 1, 0), number + 1):
        total = 0.0
        for between in range(first + 1, number + 1):
            total += target.rewards[between & ring]
        place = target.places[first & ring]
        learn(rule, net, indices, place, total - sum_weights(net, indices, place), tally)


@implement(arrive, Backward)
def _arrive_backward(
    target: Any, net: Any, indices: Any, number: int, last: u64, place: u64, reward: float, total: float
) -> tuple[bool, u64, float]:
    target.rewards[number] = reward
    return False, _0, 0.0


@implement(finish, Backward)
def _finish_backward(target: Any, net: Any, rule: Any, indices: Any, number: int, last: u64, tally: Any) -> None:
    wanted = 0.0
    at, other = _0, net.lookups
    index_board(net, target.boards[number], target.extras[number], indices, at)
    for place in range(number, -1, -1):
        if place > 0:  # the memory of the next one is asked for before this one is learned
            index_board(net, target.boards[place - 1], target.extras[place - 1], indices, other)
            expect(rule, net, indices, other)
        learn(rule, net, indices, at, wanted - sum_weights(net, indices, at), tally)
        wanted = target.rewards[place] + target.decay * wanted + (1.0 - target.decay) * sum_weights(net, indices, at)
        at, other = other, at
