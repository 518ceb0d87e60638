"""Comparing players: Welch's t, over games or over networks, and what the interval covers."""

import math
import random
from dataclasses import replace
from statistics import fmean, stdev

import numpy as np
import pytest

import afterstate as af
from afterstate.games.results import Episodes, Summary, make_results, summarise
from afterstate.intervals import t_quantile, welch


def summary_of(*scores: int) -> Summary:
    """What `evaluate` would return for games with these scores."""
    results = make_results(len(scores))
    results.scores[:] = scores
    results.largest[:] = 5
    return summarise(af.make("2048"), results, 1.0)


def test_welch_by_its_formula() -> None:
    """Values from a textbook example computed by hand: s1 = 3, n1 = 9, s2 = 4, n2 = 16 -> both parts are 1."""
    half, degrees = welch(3.0, 9, 4.0, 16)
    assert degrees == pytest.approx(4 / (1 / 8 + 1 / 15))
    assert half == pytest.approx(t_quantile(0.95, degrees) * math.sqrt(2))
    same, pooled = welch(2.0, 10, 2.0, 10)
    assert pooled == pytest.approx(18)
    assert same == pytest.approx(2.100922 * 2 * math.sqrt(0.2), rel=1e-6)
    assert welch(1.0, 1, 1.0, 10) == (math.inf, 0.0)
    assert welch(0.0, 5, 0.0, 7) == (0.0, math.inf)
    assert welch(0.0, 5, 2.0, 10)[1] == pytest.approx(9), "a side without spread leaves the other's degrees"


def test_welch_covers_what_it_says() -> None:
    """Two samples of different size and spread: 95 of 100 intervals hold the true difference."""
    generator = random.Random(1)
    held = 0
    for _ in range(2000):
        one = [generator.gauss(10, 1) for _ in range(4)]
        other = [generator.gauss(7, 5) for _ in range(12)]
        half, _ = welch(stdev(one), 4, stdev(other), 12)
        held += abs(fmean(one) - fmean(other) - 3) <= half
    assert 0.935 < held / 2000 < 0.965


def test_one_player_a_side_is_compared_over_games() -> None:
    one, other = summary_of(100, 200, 300, 400), summary_of(10, 30)
    found = af.compare(one, other)
    half, degrees = welch(stdev([100, 200, 300, 400]), 4, stdev([10, 30]), 2)
    assert (found.difference, found.interval, found.degrees) == pytest.approx((230, half, degrees))
    assert (found.a.unit, found.a.count, found.b.count) == ("game", 4, 2)
    assert "the luck of games alone" in found.covers
    assert (found.low, found.high) == pytest.approx((230 - half, 230 + half))
    assert str(found) == f"+230 ± {half:,.0f} (95 %), which covers {found.covers}"


def test_several_networks_a_side_are_compared_over_networks() -> None:
    """Each network is one value, however many games it played: the luck of training is part of the spread."""
    first = [summary_of(*[score - 5, score + 5] * 50) for score in (1000, 1200, 1400)]
    second = [summary_of(*[score - 5, score + 5] * 50) for score in (1100, 1150)]
    found = af.compare(first, second)
    half, degrees = welch(200.0, 3, stdev([1100, 1150]), 2)
    assert (found.difference, found.interval, found.degrees) == pytest.approx((75, half, degrees))
    assert (found.a.unit, found.a.count, found.b.count) == ("network", 3, 2)
    assert "of training: other training seeds are within it" in found.covers
    assert not found.is_clear
    assert af.compare(first[2], second[0]).is_clear, "two networks differ clearly, the two ways to train do not"


def test_one_network_against_several_says_whose_training_it_covers() -> None:
    found = af.compare([summary_of(1, 2), summary_of(5, 6)], summary_of(3, 4))
    assert (found.a.unit, found.b.unit) == ("network", "game")
    assert "of training only for a: b is this one network" in found.covers
    assert (
        "of training only for b: a is this one network" in af.compare(summary_of(3, 4), [summary_of(1), summary_of(5)]).covers
    )


def test_networks_and_agents_are_played() -> None:
    game = af.make("2048", size="3x3")
    trained = [af.train(game, network="012,345", games=300, threads=1, seed=seed, run=False).network for seed in (1, 2)]
    blank = af.Network(game, "01")
    found = af.compare(trained, [blank, af.Agent(blank, depth=2)], games=np.int64(50), seed=4)
    assert found.difference > 0
    assert [summary.games for side in (found.a, found.b) for summary in side.summaries] == [50] * 4
    alone = af.evaluate(af.Agent(trained[0]), games=50, seed=4)
    assert found.a.summaries[0].mean == alone.mean
    reused = af.compare(alone, blank, games=50, seed=4)
    assert reused.difference == alone.mean - found.b.summaries[0].mean


def test_a_single_game_proves_nothing() -> None:
    found = af.compare(summary_of(10_000), summary_of(10, 20))
    assert found.interval == math.inf
    assert not found.is_clear


def test_what_cannot_be_compared() -> None:
    game = af.make("2048")
    bare = replace(summary_of(1, 2), episodes=Episodes())
    for wrong, words in (
        ([], "there is nothing to compare: b is empty"),
        (bare, "b is a summary without its games"),
        (["runs/mine"], "b is agents, networks or what evaluate"),
    ):
        with pytest.raises(af.InputError, match=words):
            af.compare(summary_of(1, 2), wrong)  # type: ignore[arg-type]
    with pytest.raises(af.InputError, match="a and b play different games"):
        af.compare(af.Network(game, "01"), af.Network(af.make("2048", size="3x3"), "01"), games=2)
