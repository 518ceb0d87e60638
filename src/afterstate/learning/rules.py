"""Learning rules: what one error does to the weights it came from."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.kernel import implement, kernel, prefetch_to_write, routine, specialised, u64
from afterstate.network.lookup import promote
from afterstate.network.network import Network, allocate

_1 = u64(1)
HALF = np.float32(0.5)


class TD(NamedTuple):
    """Temporal difference with a constant step: each of the m looked-up weights moves by alpha / m * error.

    A weight that a symmetric board looks up k times moves k times, as the gradient of the sum asks.
    """

    alpha: np.float64


class TC(NamedTuple):
    """Temporal coherence: each weight has a rate of its own, |E| / A, where E adds up its errors and A their sizes.

    Errors that agree in sign keep the rate near 1; errors that cancel let it fall. A weight that was never moved has rate 1.

    E and A have 24 bits. A sum that is millions of times as large as what is added to it no longer grows, and the rate would
    stay too high for good: once A passes `bound`, both are halved, which keeps their ratio and lets old errors count less.
    """

    beta: np.float64
    coherence: NDArray[np.float32]  # (2 * size,) E and A of each weight, side by side
    bound: np.float32
    size: np.uint64  # weights of the tables themselves; copies of threads lie behind them, and are halved with them


def coherence_bound(network: Network) -> np.float32:
    """The largest A: some million errors of the size that a good player makes."""
    return np.float32(max(2.0**24, 64.0 * network.game.most))


def make_tc(network: Network, beta: float, coherence: NDArray[np.float32] | None = None) -> TC:
    """TC for a network. `coherence` may be longer than its weights ask for: what is behind belongs to copies of threads."""
    size = network.weights.size
    return TC(np.float64(beta), allocate(2 * size) if coherence is None else coherence, coherence_bound(network), u64(size))


class Tally(NamedTuple):
    """What a thread has learned since its figures were last taken; see `Figures`."""

    sums: NDArray[np.float64]  # (TALLIED,) moves, updates, sizes of errors, learning rates, values out of range
    most: np.float64  # no position is worth more than this, and none less than 0


TALLIED = 5
MOVES, UPDATES, ERRORS, RATES, OUTSIDE = range(TALLIED)


@specialised
def _apply(rule: Any, net: Any, indices: Any, at: u64, error: float) -> float:
    """Move the weights behind indices[at : at + m] -> the mean of their learning rates."""


@specialised
def expect(rule: Any, net: Any, indices: Any, at: u64) -> None:
    """Ask the memory for what `learn` will need of these indices besides the weights."""


@kernel
def learn(rule: Any, net: Any, indices: Any, at: u64, error: float, tally: Any) -> None:
    """Move the value behind indices[at : at + m] towards its target; error = target - value."""
    promote(net, indices, at)
    rate = _apply(rule, net, indices, at, error)
    tally.sums[UPDATES] += 1.0
    tally.sums[ERRORS] += abs(error)
    tally.sums[RATES] += rate


@implement(_apply, TD)
def _apply_td(rule: Any, net: Any, indices: Any, at: u64, error: float) -> float:
    weights = net.weights
    step = np.float32(rule.alpha / net.lookups * error)
    for place in range(at, at + net.lookups):
        weights[indices[place]] += step
    return rule.alpha  # type: ignore[no-any-return]


@implement(expect, TD)
def _expect_td(rule: Any, net: Any, indices: Any, at: u64) -> None:
    pass


@implement(_apply, TC)
def _apply_tc(rule: Any, net: Any, indices: Any, at: u64, error: float) -> float:
    weights, coherence = net.weights, rule.coherence
    step = np.float32(rule.beta / net.lookups * error)
    delta = np.float32(error)
    size = abs(delta)
    rates = most = np.float32(0)
    for place in range(at, at + net.lookups):
        index = u64(indices[place])
        pair = index + index
        total, sizes = coherence[pair], coherence[pair + _1]
        rate = abs(total) / sizes if sizes != np.float32(0) else np.float32(1)
        weights[index] += step * rate
        sizes += size
        coherence[pair], coherence[pair + _1] = total + delta, sizes
        most = max(most, sizes)
        rates += rate
    if most > rule.bound:
        _halve(rule, net, indices, at)
    return rule.beta * np.float64(rates) / np.float64(net.lookups)  # type: ignore[no-any-return]


@routine
def _halve(rule: Any, net: Any, indices: Any, at: u64) -> None:
    """Halve E and A of the weights whose A has passed its bound."""
    for place in range(at, at + net.lookups):
        index = u64(indices[place])
        pair = index + index
        if rule.coherence[pair + _1] > rule.bound and index < rule.size:
            rule.coherence[pair] *= HALF
            rule.coherence[pair + _1] *= HALF


@implement(expect, TC)
def _expect_tc(rule: Any, net: Any, indices: Any, at: u64) -> None:
    for place in range(at, at + net.lookups):
        prefetch_to_write(rule.coherence, u64(indices[place]) << _1)
