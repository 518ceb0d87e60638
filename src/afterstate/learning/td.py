"""TD: temporal difference with one rate for all weights."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.kernel import implement, u64
from afterstate.learning.rules import Kind
from afterstate.learning.update import apply
from afterstate.network.network import Network


class TD(NamedTuple):
    """Each of the m looked-up weights moves by alpha / m * error.

    A weight that a symmetric board looks up k times moves k times, as the gradient of the sum requires.
    """

    alpha: np.float64


@implement(apply, TD)
def _apply(rule: Any, net: Any, indices: Any, at: u64, error: float) -> float:
    weights = net.weights
    step = np.float32(rule.alpha / net.lookups * error)
    for place in range(at, at + net.lookups):
        weights[indices[place]] += step
    return rule.alpha  # type: ignore[no-any-return]


def _make(network: Network, rate: float, kept: NDArray[np.float32]) -> TD:
    return TD(np.float64(rate))


KIND = Kind(_make)
