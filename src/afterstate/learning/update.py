"""One update: what the error of a value does to its weights. Each learning rule has its own `apply`."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.kernel import implement, kernel, specialised, u64
from afterstate.memory import aligned
from afterstate.network.lookup import promote

TALLIED = 5
MOVES, UPDATES, ERRORS, RATES, OUTSIDE = range(TALLIED)


class Tally(NamedTuple):
    """Statistics of a thread's learning since they were last reset; see `progress.Learning`."""

    sums: NDArray[np.float64]  # (TALLIED,) moves, updates, sizes of errors, learning rates, values out of range
    most: np.float64  # no position is worth more than this, and none less than 0


def make_tally(most: float) -> Tally:
    return Tally(aligned(TALLIED, np.float64), np.float64(most))


@specialised
def apply(rule: Any, net: Any, indices: Any, at: u64, error: float) -> float:
    """Move the weights behind indices[at : at + m] -> the mean of their learning rates."""


@specialised
def fetch(rule: Any, net: Any, indices: Any, at: u64) -> None:
    """Prefetch what `apply` will need for these indices besides the weights."""


@implement(fetch, object)
def _fetch_nothing(rule: Any, net: Any, indices: Any, at: u64) -> None:
    pass


@kernel
def learn(rule: Any, net: Any, indices: Any, at: u64, error: float, tally: Any) -> None:
    """Move the value behind indices[at : at + m] towards its target; error = target - value."""
    promote(net, indices, at)
    rate = apply(rule, net, indices, at, error)
    tally.sums[UPDATES] += 1.0
    tally.sums[ERRORS] += abs(error)
    tally.sums[RATES] += rate
