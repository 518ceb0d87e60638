"""Learning rules: what one error does to the weights it came from."""

from typing import Any, NamedTuple

import numpy as np

from afterstate.kernel import implement, specialised, u64

_1 = u64(1)


class TD(NamedTuple):
    """Temporal difference with a constant step: each of the m looked-up weights moves by alpha / m * error.

    A weight that a symmetric board looks up k times moves k times, as the gradient of the sum asks.
    """

    alpha: np.float64


@specialised
def learn(rule: Any, net: Any, indices: Any, at: u64, error: float) -> None:
    """Move the value behind indices[at : at + m] towards its target; error = target - value."""
    raise NotImplementedError


@implement(learn, TD)
def _learn_td(rule: Any, net: Any, indices: Any, at: u64, error: float) -> None:
    weights = net.weights
    step = np.float32(rule.alpha / net.lookups * error)
    for place in range(at, at + net.lookups):
        weights[indices[place]] += step
