"""Backups: when, and towards what, the value of a position moves.

A game is a chain of valued positions x_0, x_1, ... x_T with a reward on the way from one to the next, and no reward
after x_T. The error of one step is

    delta_t = r_{t+1} + V(x_{t+1}) - V(x_t),    and    -V(x_T) at the end.

`OneStep` moves V(x_t) by delta_t as soon as it is known: TD(0). `Delayed` waits for h more moves and takes delta_t +
lambda delta_{t+1} + ... + lambda^h delta_{t+h}: TD(lambda). `Steps` moves it towards n rewards plus V(x_{t+n}). `Backward`
waits for the end of the game and goes back to its start, each time from the value just updated:

    z_t = r_{t+1} + lambda z_{t+1} + (1 - lambda) V(x_{t+1}),    and    z_T = 0.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.kernel import implement, kernel, specialised, u64
from afterstate.learning.update import fetch, learn
from afterstate.memory import aligned
from afterstate.network.lookup import index_board, sum_weights

_0 = u64(0)


class OneStep(NamedTuple):
    """TD(0): nothing is kept."""

    unused: np.uint64 = u64(0)


class Delayed(NamedTuple):
    """TD(lambda) while playing. Position number t is kept in slot t of a ring buffer."""

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


Backup = OneStep | Delayed | Steps | Backward


def make_backup(*, backward: bool, decay: float, horizon: int, steps: int, longest: int) -> Backup:
    """Make the backup for a run's options, with its working memory. One for each thread."""
    if backward:
        words = np.zeros((2, longest + 1), np.uint64)
        return Backward(np.float64(decay), words[0], words[1], np.zeros(longest + 1, np.float64))
    ring = 1 << (max(horizon, steps) + 1).bit_length()  # a power of two, larger than the number of positions that wait
    places, more = aligned(ring, np.uint64), aligned(ring, np.float64)  # written to at every move
    if steps > 1:
        return Steps(np.int64(steps), places, more)
    if decay > 0:
        return Delayed(np.float64(decay), np.int64(horizon), places, more)
    return OneStep()


def slots_needed(backup: Backup) -> int:
    """How many moves' indices must be kept: those that wait, this one, and one whose update is pending."""
    waiting = {Delayed: "horizon", Steps: "steps"}.get(type(backup))
    return 3 if waiting is None else int(getattr(backup, waiting)) + 3


@specialised
def arrive(
    backup: Any, net: Any, indices: Any, number: int, last: u64, place: u64, reward: float, total: float
) -> tuple[bool, u64, float]:
    """Take position x_number, total = reward + V(x_number) -> whether to update now, where the indices begin, the error.

    Its own indices begin at `place`, those of the position before it at `last`.
    """


@specialised
def keep_position(backup: Any, number: int, board: u64, extra: u64) -> None:
    """Keep position x_number until the game is over, if the backup needs it then."""


@implement(keep_position, object)
def _keep_no_position(backup: Any, number: int, board: u64, extra: u64) -> None:
    pass


@implement(keep_position, Backward)
def _keep_the_position(backup: Any, number: int, board: u64, extra: u64) -> None:
    backup.boards[number], backup.extras[number] = board, extra


@specialised
def is_online(backup: Any) -> bool:
    """Whether values are updated during the game, soon after a position is met."""


@implement(is_online, object)
def _online(backup: Any) -> bool:
    return True


@implement(is_online, Backward)
def _afterwards(backup: Any) -> bool:
    return False


@specialised
def finish(backup: Any, net: Any, rule: Any, indices: Any, number: int, last: u64, tally: Any) -> None:
    """Make all updates that still wait; x_number, with indices at `last`, was the last position."""


@implement(arrive, OneStep)
def _arrive_one_step(
    backup: Any, net: Any, indices: Any, number: int, last: u64, place: u64, reward: float, total: float
) -> tuple[bool, u64, float]:
    if number == 0:
        return False, _0, 0.0
    return True, last, total - sum_weights(net, indices, last)


@implement(finish, OneStep)
def _finish_one_step(backup: Any, net: Any, rule: Any, indices: Any, number: int, last: u64, tally: Any) -> None:
    learn(rule, net, indices, last, -sum_weights(net, indices, last), tally)


@implement(arrive, Delayed)
def _arrive_delayed(
    backup: Any, net: Any, indices: Any, number: int, last: u64, place: u64, reward: float, total: float
) -> tuple[bool, u64, float]:
    ring = backup.places.size - 1
    backup.places[number & ring] = place
    if number == 0:
        return False, _0, 0.0
    backup.errors[(number - 1) & ring] = total - sum_weights(net, indices, backup.places[(number - 1) & ring])
    first = number - 1 - backup.horizon
    if first < 0:
        return False, _0, 0.0
    return True, backup.places[first & ring], _discounted(backup, first, number - 1)


@kernel
def _discounted(backup: Any, first: int, last: int) -> float:
    """delta_first + lambda delta_{first+1} + ... up to delta_last."""
    total = 0.0
    for number in range(last, first - 1, -1):
        total = backup.errors[number & (backup.errors.size - 1)] + backup.decay * total
    return total


@implement(finish, Delayed)
def _finish_delayed(backup: Any, net: Any, rule: Any, indices: Any, number: int, last: u64, tally: Any) -> None:
    ring = backup.places.size - 1
    backup.errors[number & ring] = -sum_weights(net, indices, backup.places[number & ring])
    for first in range(max(number - backup.horizon, 0), number + 1):
        learn(rule, net, indices, backup.places[first & ring], _discounted(backup, first, number), tally)


@implement(arrive, Steps)
def _arrive_steps(
    backup: Any, net: Any, indices: Any, number: int, last: u64, place: u64, reward: float, total: float
) -> tuple[bool, u64, float]:
    ring = backup.places.size - 1
    backup.places[number & ring], backup.rewards[number & ring] = place, reward
    first = number - backup.steps
    if first < 0:
        return False, _0, 0.0
    for between in range(first + 1, number):
        total += backup.rewards[between & ring]
    return True, backup.places[first & ring], total - sum_weights(net, indices, backup.places[first & ring])


@implement(finish, Steps)
def _finish_steps(backup: Any, net: Any, rule: Any, indices: Any, number: int, last: u64, tally: Any) -> None:
    ring = backup.places.size - 1
    for first in range(max(number - backup.steps + 1, 0), number + 1):
        total = 0.0
        for between in range(first + 1, number + 1):
            total += backup.rewards[between & ring]
        place = backup.places[first & ring]
        learn(rule, net, indices, place, total - sum_weights(net, indices, place), tally)


@implement(arrive, Backward)
def _arrive_backward(
    backup: Any, net: Any, indices: Any, number: int, last: u64, place: u64, reward: float, total: float
) -> tuple[bool, u64, float]:
    backup.rewards[number] = reward
    return False, _0, 0.0


@implement(finish, Backward)
def _finish_backward(backup: Any, net: Any, rule: Any, indices: Any, number: int, last: u64, tally: Any) -> None:
    wanted = 0.0
    at, other = _0, net.lookups
    index_board(net, backup.boards[number], backup.extras[number], indices, at)
    for place in range(number, -1, -1):
        if place > 0:  # prefetch the next one before this one is updated
            index_board(net, backup.boards[place - 1], backup.extras[place - 1], indices, other)
            fetch(rule, net, indices, other)
        learn(rule, net, indices, at, wanted - sum_weights(net, indices, at), tally)
        wanted = backup.rewards[place] + backup.decay * wanted + (1.0 - backup.decay) * sum_weights(net, indices, at)
        at, other = other, at
