"""Intervals: quantiles of Student's t against printed tables and closed forms, and how often intervals hold the truth."""

import math

import numpy as np
import pytest

from afterstate.errors import InputError
from afterstate.intervals import deviation_of, half_width, t_quantile, t_share

# two-sided 95 % and 99 %, as printed in tables of the distribution
TABLE = {
    1: (12.706205, 63.656741),
    2: (4.302653, 9.924843),
    3: (3.182446, 5.840909),
    4: (2.776445, 4.604095),
    5: (2.570582, 4.032143),
    9: (2.262157, 3.249836),
    10: (2.228139, 3.169273),
    30: (2.042272, 2.749996),
    60: (2.000298, 2.660283),
    120: (1.979930, 2.617421),
    math.inf: (1.959964, 2.575829),
}


@pytest.mark.parametrize("degrees", TABLE)
def test_quantiles_are_those_of_the_tables(degrees: float) -> None:
    assert (t_quantile(0.95, degrees), t_quantile(0.99, degrees)) == pytest.approx(TABLE[degrees], abs=1e-6)


@pytest.mark.parametrize("share", [1e-6, 0.01, 0.5, 0.8, 0.95, 0.999, 1 - 1e-9])
def test_one_and_two_degrees_have_closed_forms(share: float) -> None:
    assert t_quantile(share, 1) == pytest.approx(math.tan(math.pi * share / 2), rel=1e-7)
    assert t_quantile(share, 2) == pytest.approx(share * math.sqrt(2 / (1 - share * share)), rel=1e-7)


def test_the_series_for_many_degrees_continues_the_exact_quantile() -> None:
    for share in (0.5, 0.9, 0.95, 0.99, 0.999):
        for degrees in (200, 1000, 10_000):
            assert t_share(t_quantile(share, degrees), degrees) == pytest.approx(share, abs=1e-9)
        values = [t_quantile(share, degrees) for degrees in (150, 199, 200, 201, 1e6, math.inf)]
        assert values == sorted(values, reverse=True)


def test_an_interval_gives_its_deviation_back() -> None:
    assert half_width(3.0, 1) == math.inf
    for count in (2, 3, 100, 1_000_000):
        assert deviation_of(half_width(3.0, count), count) == pytest.approx(3.0)


@pytest.mark.parametrize(("share", "degrees"), [(0.0, 5), (1.0, 5), (float("nan"), 5), (0.95, 0), (0.95, float("nan"))])
def test_what_has_no_quantile_is_refused(share: float, degrees: float) -> None:
    with pytest.raises(InputError, match=r"share of an interval|degrees of freedom"):
        t_quantile(share, degrees)


@pytest.mark.parametrize("count", [2, 3, 5, 10])
def test_means_of_few_values_are_covered(count: int) -> None:
    """With 1.96 instead of Student's t, two values would cover 70 %, five 88 %."""
    values = np.random.default_rng(1).normal(size=(20_000, count))
    covered = np.abs(values.mean(1)) <= values.std(1, ddof=1) * half_width(1.0, count)
    assert abs(covered.mean() - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 20_000)
