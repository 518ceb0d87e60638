"""Confidence intervals: Student's t for means, Welch's for their differences, Wilson's for rates.

They cover the luck of the games that were played. They say nothing about the luck of training: another seed is another network.
"""

import math
from functools import cache
from statistics import NormalDist

from afterstate.errors import InputError

SHARE = 0.95  # of all intervals that are shown
_NEARLY_NORMAL = 200  # degrees of freedom from which on four terms of a series are exact to 1e-10


def t_share(t: float, degrees: float) -> float:
    """How much of Student's distribution lies between -t and t: t_share(2.228139, 10) -> 0.95."""
    squared = t * t
    if squared == 0.0:
        return 0.0
    if squared < degrees:  # the smaller part is computed, so that nothing cancels
        return _beta_share(squared / (degrees + squared), 0.5, degrees / 2)
    return 1.0 - _beta_share(degrees / (degrees + squared), degrees / 2, 0.5)


@cache
def t_quantile(share: float, degrees: float) -> float:
    """The t that leaves `share` of Student's distribution between -t and t: t_quantile(0.95, 10) -> 2.228139.

    Two-sided: 0.95 gives the factor of a 95 % interval, which is 1.959964 for infinitely many degrees of freedom.
    """
    if not 0.0 < share < 1.0:
        raise InputError(f"the share of an interval lies between 0 and 1, not at {share}")
    if not degrees > 0.0:
        raise InputError(f"degrees of freedom must be above 0, not {degrees}: a mean needs two values or more")
    z = NormalDist().inv_cdf(0.5 + share / 2)
    if degrees >= _NEARLY_NORMAL:
        return _nearly_normal(z, degrees)
    low, high = 0.0, max(2.0 * z, 1.0)
    while t_share(high, degrees) < share:
        low, high = high, 2.0 * high
    while True:  # halve, until floats have no number between
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        low, high = (middle, high) if t_share(middle, degrees) < share else (low, middle)


def half_width(deviation: float, count: int, share: float = SHARE) -> float:
    """Half the interval of a mean of `count` values with this standard deviation; inf for one value."""
    return t_quantile(share, count - 1) * deviation / math.sqrt(count) if count > 1 else math.inf


def deviation_of(half: float, count: int, share: float = SHARE) -> float:
    """The inverse of `half_width`: the standard deviation behind an interval."""
    return half * math.sqrt(count) / t_quantile(share, count - 1) if count > 1 else 0.0


def welch(one: float, count: int, other: float, other_count: int, share: float = SHARE) -> tuple[float, float]:
    """Half the interval of the difference of two means, by Welch's t -> it, and its degrees of freedom.

    The two standard deviations may differ, and so may the numbers of values; inf if a side has one value.
    """
    if min(count, other_count) < 2:
        return math.inf, 0.0
    parts = one * one / count, other * other / other_count
    total = sum(parts)
    if total == 0.0:
        return 0.0, math.inf
    shares = parts[0] / total, parts[1] / total
    degrees = 1.0 / (shares[0] ** 2 / (count - 1) + shares[1] ** 2 / (other_count - 1))
    return t_quantile(share, degrees) * math.sqrt(total), degrees


def wilson(successes: int, trials: int, share: float = SHARE) -> tuple[float, float]:
    """Interval of a rate; stays inside 0 .. 1 and has a width even if none or all succeed."""
    z = t_quantile(share, math.inf)
    rate = successes / trials
    centre = (rate + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def _nearly_normal(z: float, degrees: float) -> float:
    """The quantile as a series in 1 / degrees around that of the normal distribution."""
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / degrees**power for power, term in enumerate(terms, start=1))


def _beta_share(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, for x up to about a / (a + b): a power series."""
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    # sum of x**n * (a + b)(a + b + 1)... / ((a + 1)(a + 2)...): all terms are positive
    total = term = 1.0
    number = 0
    while term > 1e-17 * total:
        term *= x * (a + b + number) / (a + 1 + number)
        total += term
        number += 1
    return front * total
