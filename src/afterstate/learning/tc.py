"""TC: temporal coherence, a learning rate for each weight."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.kernel import implement, prefetch_to_write, routine, u64
from afterstate.learning.rules import Kind
from afterstate.learning.update import apply, fetch
from afterstate.network.network import Network

_1 = u64(1)
HALF = np.float32(0.5)


class TC(NamedTuple):
    """Each weight's rate is |E| / A, where E is the sum of its errors and A the sum of their sizes.

    Errors that agree in sign keep the rate near 1; errors that cancel lower it. A weight that was never updated has rate 1.

    E and A have 24 bits. A sum that is millions of times larger than its terms stops growing, and the rate would stay too high
    for good. So once A passes `bound`, both are halved: this keeps their ratio, and old errors count less.
    """

    beta: np.float64
    coherence: NDArray[np.float32]  # (2 * size,) E and A of each weight, side by side
    bound: np.float32
    size: np.uint64  # weights of the tables themselves; the threads' copies lie behind them, and are halved with them


@implement(apply, TC)
def _apply(rule: Any, net: Any, indices: Any, at: u64, error: float) -> float:
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


@implement(fetch, TC)
def _fetch(rule: Any, net: Any, indices: Any, at: u64) -> None:
    for place in range(at, at + net.lookups):
        prefetch_to_write(rule.coherence, u64(indices[place]) << _1)


def find_bound(network: Network) -> np.float32:
    """The largest A: some million errors of the size that a good player makes."""
    return np.float32(max(2.0**24, 64.0 * network.game.most))


def make_tc(network: Network, beta: float, coherence: NDArray[np.float32]) -> TC:
    """TC for a network. `coherence` may be longer than its weights need: the rest is for the threads' copies."""
    return TC(np.float64(beta), coherence, find_bound(network), u64(network.weights.size))


def halve(pairs: NDArray[np.float32], bound: np.float32) -> None:
    """Halve E and A, (2 * weights,), until no A is above its bound."""
    both = pairs.reshape(-1, 2)
    while (above := both[:, 1] > bound).any():
        both[above] *= HALF


# Each thread may move a weight all the way in a few steps, so weights that several have changed move less far than with TD.
KIND = Kind(
    make_tc, numbers=2, kept_as="coherence", together=1.5,
    tidy=lambda network, part: halve(part, find_bound(network)),
    untidied=lambda rule: rule._replace(size=u64(0)),
    sums=(0, 1),
)  # fmt: skip
