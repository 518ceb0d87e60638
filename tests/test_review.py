"""Games continued, replayed and reviewed."""

from pathlib import Path

import numpy as np
import pytest

import afterstate as af
from afterstate.engine.record import format_moves, parse_moves, replay
from afterstate.games.game import Game, Slide, State
from afterstate.play.review import best_line, review
from afterstate.rng import Purpose
from searching import random_network

THREES = ("tcg2022", "tcg2018", "tcg2018-bonus", "official")


@pytest.fixture(scope="module", params=["2048", *THREES])
def network(request: pytest.FixtureRequest) -> af.Network:
    game = af.make("2048") if request.param == "2048" else af.make("threes", rules=request.param)
    return random_network(game, "0123,4567")


def played(network: af.Network, moves: int = 100_000, seed: int = 3) -> tuple[list[State], str, list[int], af.Random]:
    """A game by the network's own choice."""
    rng = af.Random(seed, Purpose.PLAY)
    record = af.Agent(network).play_on(network.game.start(rng), rng, moves=moves)
    return record.states, record.moves, record.rewards.tolist(), rng


def by_hand(network: af.Network, seed: int = 3) -> tuple[list[State], str, list[int], af.Random]:
    """The same, move by move through the public classes."""
    game, agent, rng = network.game, af.Agent(network), af.Random(seed, Purpose.PLAY)
    states, moves, rewards = [game.start(rng)], "", []
    while (slide := agent.choose(states[-1]).move) is not None:
        afterstate = game.afterstates(states[-1])[slide]
        states.append(game.sample(afterstate, rng))
        moves += slide.name[0]
        rewards.append(afterstate.reward)
    return states, moves, rewards, rng


def test_a_game_played_on_is_the_game_move_by_move(network: af.Network) -> None:
    states, moves, rewards, rng = played(network)
    expected = by_hand(network)
    assert (states, moves, rewards) == expected[:3]
    assert rng.state == expected[3].state
    assert network.game.is_over(states[-1])


def test_a_game_in_two_parts_is_the_game(network: af.Network) -> None:
    whole, moves, _, rng = played(network)
    first, begun, _, half = played(network, moves=7)
    assert (first, begun) == (whole[:8], moves[:7])
    rest = af.Agent(network).play_on(first[-1], half, moves=100_000)
    assert begun + format_moves(rest.slides) == moves
    assert half.state == rng.state


def test_playing_on_from_the_end_makes_no_move(network: af.Network) -> None:
    states, _, _, rng = played(network)
    before = rng.state
    record = af.Agent(network).play_on(states[-1], rng, moves=10)
    assert len(record.slides) == 0
    assert int(record.boards[0]) == states[-1].board
    assert rng.state == before


def test_a_time_ends_a_stretch_and_leaves_the_game_whole(game: Game) -> None:
    agent = af.Agent(random_network(game, "0123,4567"), move_time="5ms")
    rng = af.Random(1)
    agent.prepare()
    record = agent.play_on(game.start(rng), rng, moves=1000, seconds=0.02)
    assert 1 <= len(record.slides) < 1000
    assert len(record.boards) == len(record.slides) + 1


def test_a_game_again_from_its_seed_and_moves(network: af.Network) -> None:
    states, moves, rewards, rng = played(network)
    again = af.Random(3, Purpose.PLAY)
    record = replay(network.game, again, parse_moves(moves))
    assert [State(int(board), int(extra)) for board, extra in zip(record.boards, record.extras, strict=True)] == states
    assert record.rewards.tolist() == rewards
    assert again.state == rng.state


@pytest.mark.parametrize(("moves", "words"), [("UX", "number 2 is 'X'"), ("u", "number 1"), ("Ué", "number 2")])
def test_letters_that_are_no_moves(moves: str, words: str) -> None:
    with pytest.raises(af.InputError, match=words):
        parse_moves(moves)


def test_moves_that_the_rules_forbid(game: Game) -> None:
    state = game.start(af.Random(1, Purpose.PLAY))
    wrong = next((slide for slide in Slide if slide not in game.afterstates(state)), None)
    moves = wrong.name[0] if wrong is not None else "LLLLLLLL"
    with pytest.raises(af.InputError, match=r"move \d+ of \d+: a slide \w+ moves nothing, on "):
        replay(game, af.Random(1, Purpose.PLAY), parse_moves(moves))


def test_moves_after_the_end(game: Game) -> None:
    network = random_network(game, "0123,4567")
    _, moves, _, _ = played(network)
    with pytest.raises(af.InputError, match="the game is over"):
        replay(game, af.Random(3, Purpose.PLAY), parse_moves(moves + "U"))


# --- the review ----------------------------------------------------------------------------------------------------------


def slow_best(network: af.Network, state: State) -> float:
    """M(s) at depth 1, by the public classes."""
    return max((value for value in af.Agent(network).choose(state).values.values() if value is not None), default=0.0)


def slow_expectation(network: af.Network, state: State, slide: Slide) -> float:
    """The expectation of M over all new tiles."""
    outcomes = network.game.outcomes(network.game.afterstates(state)[slide])
    return sum(outcome.probability * slow_best(network, outcome.state) for outcome in outcomes)


def test_regret_luck_and_values_against_the_obvious_way(network: af.Network) -> None:
    game = network.game
    rng = af.Random(9, Purpose.PLAY)
    choices = np.random.default_rng(4)
    moves, state = "", game.start(rng)
    while len(moves) < 12 and (legal := list(game.afterstates(state))):
        slide = legal[int(choices.integers(len(legal)))]  # a player who errs
        moves += slide.name[0]
        state = game.sample(game.afterstates(state)[slide], rng)
    record = replay(game, af.Random(9, Purpose.PLAY), parse_moves(moves))
    found = review(network, record)
    score = 0
    shares, best_moves, free = [], 0, 0
    for ply, number in enumerate(record.slides):
        before, after = (State(int(record.boards[at]), int(record.extras[at])) for at in (ply, ply + 1))
        slid = game.afterstates(before)
        values = {slide: slid[slide].reward + slow_expectation(network, before, slide) for slide in slid}
        chosen, top = values[Slide(int(number))], max(values.values())
        tolerance = max(abs(top), 1.0) * 1e-6
        assert found.regrets[ply] == pytest.approx(top - chosen, abs=tolerance)
        assert found.luck[ply] == pytest.approx(slow_best(network, after) - (chosen - record.rewards[ply]), abs=tolerance)
        assert found.values[ply] == pytest.approx(game.score(before, score) + slow_best(network, before), abs=tolerance)
        assert found.choices[ply] == len(slid)
        assert values[Slide(int(found.best[ply]))] == pytest.approx(top, abs=tolerance)
        for slide in Slide:
            assert found.options[ply, slide] == pytest.approx(values.get(slide, -np.inf), abs=tolerance)
        share = (top - chosen) / max(game.score(before, score) + top, 1.0)
        assert found.shares[ply] == pytest.approx(min(share, 1.0), abs=1e-6)
        score += int(record.rewards[ply])
        if len(slid) > 1:
            shares.append(min(share, 1.0))
            free, best_moves = free + 1, best_moves + (found.regrets[ply] == 0)
    assert found.scores[-1] == game.score(State(int(record.boards[-1]), int(record.extras[-1])), score)
    assert found.accuracy == pytest.approx(100 * np.exp(-40 * np.mean(shares)), abs=0.01)
    assert found.best_share == best_moves / free
    assert 0 < found.accuracy < 100
    assert [mistake.ply for mistake in found.worst] == sorted(range(len(moves)), key=lambda at: -found.shares[at])[:3]


def test_luck_is_nothing_on_average(network: af.Network) -> None:
    """Over all new tiles of an afterstate, weighted by their probabilities."""
    game = network.game
    state = game.start(af.Random(2, Purpose.PLAY))
    slide, afterstate = next(iter(game.afterstates(state).items()))
    outcomes = game.outcomes(afterstate)
    boards = np.array([outcome.state.board for outcome in outcomes], np.uint64)
    extras = np.array([outcome.state.extra for outcome in outcomes], np.uint64)
    best = np.where(np.isfinite(top := af.Agent(network).weigh_all(boards, extras).max(axis=1)), top, 0.0)
    ahead = af.Agent(network, depth=2, exact=True).choose(state).values[slide]
    assert ahead is not None
    mean = float(np.dot(best - (ahead - afterstate.reward), [outcome.probability for outcome in outcomes]))
    assert mean == pytest.approx(0.0, abs=abs(ahead) * 1e-6 + 1e-3)
    assert np.abs(best - (ahead - afterstate.reward)).max() > 10 * abs(mean)


def test_who_plays_the_best_slides_has_an_accuracy_of_100(game: Game) -> None:
    network = random_network(game, "0123,4567")
    rng = af.Random(5, Purpose.PLAY)
    record = af.Agent(network, depth=2, exact=True).play_on(game.start(rng), rng, moves=100_000)
    found = review(network, record)
    assert found.accuracy == pytest.approx(100.0)
    assert found.best_share == 1.0
    assert found.worst == ()


def test_accuracy_tells_strong_from_weak_play(original: Path) -> None:
    """Random slides, the largest reward, and the network: each above the one before."""
    network = af.load(original)

    class Greedy(af.Player):
        def choose(self, game: Game, state: State) -> Slide:
            slid = game.afterstates(state)
            return max(slid, key=lambda slide: slid[slide].reward)

    players = [af.RandomPlayer(1), Greedy(), af.NetworkPlayer(network, depth=2)]
    means = []
    for player in players:
        environment = af.RandomEnvironment(seed=5)
        found = [review(network, af.play_episode(network.game, player, environment)).accuracy for _ in range(8)]
        means.append(np.mean(found))
    assert means[0] + 3 < means[1]
    assert means[1] + 30 < means[2]


def test_the_accuracy_of_some_plies(network: af.Network) -> None:
    """Each of two players has the accuracy of their own moves."""
    rng, choices = af.Random(9, Purpose.PLAY), np.random.default_rng(4)
    game, best = network.game, af.Agent(network, depth=2, exact=True)
    moves, state = "", game.start(rng)
    while len(moves) < 20 and (legal := list(game.afterstates(state))):
        slide = best.choose(state).move if len(moves) % 2 else legal[int(choices.integers(len(legal)))]
        assert slide is not None
        moves += slide.name[0]
        state = game.sample(game.afterstates(state)[slide], rng)
    found = review(network, replay(game, af.Random(9, Purpose.PLAY), parse_moves(moves)))
    turns = np.arange(len(moves)) % 2
    assert found.accuracy_of(turns == 1) == pytest.approx(100.0)
    assert found.accuracy_of(turns == 0) < found.accuracy < 100.0


def test_a_game_without_a_move(game: Game) -> None:
    record = replay(game, af.Random(1, Purpose.PLAY), parse_moves(""))
    found = review(random_network(game, "0123,4567"), record)
    assert (len(found.regrets), len(found.values), found.accuracy) == (0, 1, 100.0)


def test_a_line_is_made_of_best_slides_and_possible_tiles(network: af.Network) -> None:
    game, agent = network.game, af.Agent(network, depth=2)
    state = game.start(af.Random(6, Purpose.PLAY))
    line = best_line(agent, state)
    assert 1 <= len(line) <= 4
    for step in line:
        choice = agent.choose(state)
        assert step.slide == choice.move
        assert step.value == choice.values[step.slide]
        assert step.state in [outcome.state for outcome in game.outcomes(game.afterstates(state)[step.slide])]
        state = step.state


def test_there_is_no_line_from_the_end(game: Game) -> None:
    agent = af.Agent(random_network(game, "0123,4567"))
    assert best_line(agent, game.parse("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2")) == ()
