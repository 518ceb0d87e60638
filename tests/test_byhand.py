"""Learning step by step: the same weights as training, and the formulas by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import afterstate as af
from afterstate.engine.record import parse_moves
from afterstate.network.network import Network
from afterstate.rng import Purpose
from commandline import process
from recordings import CASES, SEED, check

TESTS = Path(__file__).parent


def test_a_record_teaches_what_playing_teaches() -> None:
    """Every weight is that of a training which played the games: in plain Python for all methods, and compiled for one."""
    plain = process(
        f"import sys; sys.path.insert(0, {str(TESTS)!r}); from recordings import main; main()", NUMBA_DISABLE_JIT="1"
    )
    assert plain.code == 0, plain.err
    case = CASES[2]
    streams = [af.Random(SEED, Purpose.TRAIN, number) for number in range(case.games)]
    pairs = zip(streams, plain.out.split(), strict=True)
    check(case, [af.replay(case.plan.game, rng, parse_moves(moves)) for rng, moves in pairs])


# --- one transition --------------------------------------------------------------------------------------------------------


@pytest.fixture
def network(game: af.Game) -> Network:
    """Small patterns with random weights."""
    found = Network(game, "012,456")
    found.weights[:] = np.random.default_rng(1).normal(0, 10, found.weights.size)
    return found


def test_a_transition_moves_a_value_by_alpha_of_its_error(network: Network) -> None:
    game = network.game
    first = game.slide(game.parse("2 4 8 16 / 0 0 0 0 / 0 0 0 0 / 0 2 0 32"), "left")
    assert first is not None
    second = game.slide(game.place(first, 6, 1), "up")
    assert second is not None
    second = replace(second, reward=12)
    before, target = network.value(first), 12 + network.value(second)
    places, counts = np.unique(network.indices(first), return_counts=True)
    weights = network.weights.copy()
    error = af.Learner(network, alpha=0.25).learn(first, second)
    assert error == pytest.approx(target - before, rel=1e-6)
    expected = weights.copy()
    expected[places] += (counts * 0.25 / network.lookups * error).astype(np.float32)
    np.testing.assert_allclose(network.weights, expected, rtol=1e-5)
    wanted = 1000 + network.value(second) - network.value(first)
    assert af.Learner(network).learn(first, second, reward=1000) == pytest.approx(wanted)


def test_the_end_of_a_game_is_worth_nothing(network: Network) -> None:
    state = network.game.parse("2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 4")
    last = network.game.slide(state, "left")
    assert last is not None
    value = network.value(last)
    assert af.Learner(network).learn(last) == pytest.approx(-value)
    assert abs(network.value(last)) < abs(value)


def test_values_of_ones_own_are_learned(network: Network) -> None:
    """A search knows better: after some lessons the network says the same. Its agent knows without being told."""
    agent = af.Agent(network)
    state = network.game.parse("2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2")
    learner = af.Learner(network, method="tc")
    for slide, after in network.game.afterstates(state).items():
        for _ in range(200):
            error = learner.learn_value(after, 1000.0 * (1 + slide))
        assert abs(error) < 1
        assert agent.choose(state).values[slide] == pytest.approx(after.reward + 1000 * (1 + slide), abs=2)


def test_the_rate_may_change(network: Network) -> None:
    last = network.game.slide(network.game.parse("2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 4"), "left")
    assert last is not None
    learner = af.Learner(network, alpha="1/64")
    assert learner.alpha == 1 / 64
    learner.alpha = np.float32(0.5)
    before = network.value(last)
    error = learner.learn_value(last, before + 100)
    assert error == pytest.approx(100)
    counts = np.unique(network.indices(last), return_counts=True)[1]
    assert network.value(last) == pytest.approx(before + 50 * (counts**2).sum() / network.lookups, rel=1e-4)
    with pytest.raises(af.InputError, match="alpha must be above 0"):
        learner.alpha = 0


def test_states_need_their_reward(game: af.Game) -> None:
    states = Network(game, "012", target="state")
    learner = af.Learner(states)
    one, other = game.start(af.Random(1)), game.start(af.Random(2))
    with pytest.raises(af.InputError, match="give it, as reward="):
        learner.learn(one, other)
    assert learner.learn(one, other, reward=4) == 4
    assert states.value(one) > 0
    slid = next(iter(game.afterstates(one).values()))
    with pytest.raises(af.InputError, match="values states, and"):
        learner.learn(slid, other, reward=4)


# --- what cannot be learned ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"method": "sarsa"}, "method is tc or td, not 'sarsa'"),
        ({"alpha": 0}, "alpha must be above 0"),
        ({"lambda_": 2}, "lambda must be 0 to 1"),
        ({"steps": 0}, "steps must be 1 to"),
        ({"steps": 3, "order": "backward"}, "steps above 1 need"),
    ],
)
def test_wrong_options_are_refused(network: Network, given: dict[str, Any], words: str) -> None:
    with pytest.raises(af.InputError, match=words):
        af.Learner(network, **given)


def test_a_record_that_is_no_whole_game_by_the_rules_teaches_nothing(network: Network) -> None:
    learner, weights = af.Learner(network), network.weights.copy()
    whole = af.play_episode(network.game, af.RandomPlayer(), af.RandomEnvironment())
    part = af.Agent(network).play_on(network.game.start(af.Random(1)), af.Random(1), moves=5)
    other = slice(None, None, -1)
    for wrong, words in (
        (part, "the record ends before its game"),
        (replace(whole, slides=whole.slides[other].copy()), "not by the rules"),
        (replace(whole, slides=np.full_like(whole.slides, 9)), "move 1 of the record is not by the rules: 9 on"),
        (replace(whole, rewards=whole.rewards + 1), "move 1 of the record is not by the rules"),
        (replace(whole, boards=whole.boards[1:]), "slides and one state more"),
        (replace(whole, slides=whole.slides[:0], boards=whole.boards[-1:]), "has 1 to"),
        (replace(whole, game=af.make("2048", size="3x3")), "but the network is for"),
        ("a game", "is not a game on record"),
    ):
        with pytest.raises(af.InputError, match=words):
            learner.learn_episode(wrong)  # type: ignore[arg-type]
    for position, words in (
        (network.game.start(af.Random(1)), "values afterstates, and"),
        (next(iter(af.make("threes").afterstates(af.make("threes").start(af.Random(1))).values())), "is a position of"),
        (5, "is not a state"),
    ):
        with pytest.raises(af.InputError, match=words):
            learner.learn(position)  # type: ignore[arg-type]
    after = next(iter(network.game.afterstates(network.game.start(af.Random(1))).values()))
    for number in (np.nan, np.inf):
        with pytest.raises(af.InputError, match="a value to learn is a finite number"):
            learner.learn_value(after, number)
    assert np.array_equal(network.weights, weights)
