"""Players and many games: choices, searches, arenas, episode files, the Python interface."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterstate as af
import reference
from afterstate.games.game import Game, Slide, State, make
from afterstate.games.results import make_results, summarise
from afterstate.intervals import wilson
from afterstate.learning.options import TrainOptions
from afterstate.play.agent import Agent
from afterstate.play.bench import bench_eval, bench_gather, bench_train, legal_per_move
from afterstate.play.evaluation import measure
from positions import state_of
from searching import random_network

TILES = st.sampled_from([0, 0, 0, 2, 2, 4, 8, 16, 64])
BOARDS = st.lists(TILES, min_size=16, max_size=16).filter(any)


@pytest.fixture(scope="module")
def player(game: Game) -> Agent:
    return Agent(random_network(game, "0123,0145"))


# --- choices -------------------------------------------------------------------------------------------------------------


@given(BOARDS)
@settings(max_examples=150)
def test_the_four_values_at_depth_1(player: Agent, cells: list[int]) -> None:
    game = player.network.game
    choice = player.choose(game.parse(" ".join(map(str, cells))))
    slid = reference.afterstates(cells, 4, 4)
    expected = {slide: reward + player.network.value(state_of(game, after)) for slide, (after, reward) in slid.items()}
    assert {slide for slide, value in choice.values.items() if value is not None} == set(expected)
    for slide, value in expected.items():
        assert choice.values[Slide(slide)] == pytest.approx(value, rel=1e-6)
    if expected:
        assert choice.move is not None
        assert expected[choice.move] == pytest.approx(max(expected.values()), rel=1e-6)
    else:
        assert choice.move is None


def test_a_finished_game_has_no_move(player: Agent) -> None:
    over = player.network.game.parse("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2")
    choice = player.choose(over)
    assert choice.move is None
    assert set(choice.values.values()) == {None}


def test_equal_slides_go_to_the_first(game: Game) -> None:
    """Left and right of this board are mirror images, and up and down too: up comes first."""
    network = random_network(game, "0123,0145")
    choice = Agent(network).choose(game.parse("0 0 0 0 / 0 2 2 0 / 0 2 2 0 / 0 0 0 0"))
    values = [choice.values[slide] for slide in Slide]
    assert len(set(values)) == 1
    assert choice.move is Slide.UP


# --- many games ----------------------------------------------------------------------------------------------------------


def test_threads_do_not_change_what_is_played(player: Agent) -> None:
    one = measure(player, games=60, seed=5, threads=1)
    three = measure(player, games=60, seed=5, threads=3)
    assert one.results.scores.tolist() == three.results.scores.tolist()
    assert measure(player, games=60, seed=6, threads=1).results.scores.tolist() != one.results.scores.tolist()


def test_a_summary_is_what_the_games_say(game: Game) -> None:
    results = make_results(4)
    results.scores[:] = [100, 200, 300, 20_000]
    results.moves[:] = [10, 20, 30, 40]
    results.largest[:] = [5, 6, 6, 11]
    summary = summarise(game, results, seconds=2.0)
    assert (summary.mean, summary.median, summary.maximum) == (5150.0, 250.0, 20_000)
    assert summary.interval == pytest.approx(3.182446 * np.std([100, 200, 300, 20_000], ddof=1) / 2)
    assert (summary.win_tile, summary.win_rate, summary.moves_per_s) == (2048, 0.25, 50.0)
    rates = {rate.tile: (rate.reached, rate.ended) for rate in summary.tiles}
    assert rates[32] == (1.0, 0.25)
    assert rates[64] == (0.75, 0.5)
    assert rates[128] == (0.25, 0.0)
    assert rates[2048] == (0.25, 0.25)


def test_the_interval_of_a_rate() -> None:
    """Wilson's, by published values: 0 of 10 and 5 of 10."""
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-3)
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-3)
    assert wilson(10, 10)[1] == pytest.approx(1.0)


# --- episode files -------------------------------------------------------------------------------------------------------

LINE = re.compile(r"([^:@|]+):([^:@|]+)@(\d+)\|([^|]*)\|([^@|]+)@(\d+)")
ACTION = re.compile(r"#([URDL])(?:\[(\d+)\])?|([0-9A-F])([0-9A-Z])")


def replay(actions: str, rows: int, columns: int) -> tuple[list[int], int, int]:
    """Play a record by the reference -> last board, score, slides. Every action must be legal and every reward right."""
    cells = [0] * (rows * columns)
    score = slides = at = 0
    placed = 0
    for match in ACTION.finditer(actions):
        assert match.start() == at, f"unreadable at {at}: {actions[at : at + 10]!r}"
        at = match.end()
        if match[1]:
            direction = "URDL".index(match[1])
            after, reward = reference.slide(cells, rows, columns, direction)
            assert after != cells, "an illegal slide"
            assert int(match[2] or 0) == reward
            cells, score, slides, placed = after, score + reward, slides + 1, 0
        else:
            cell, tile = int(match[3], 16), 2 ** int(match[4], 36)
            assert cells[cell] == 0
            assert tile in (2, 4)
            cells[cell] = tile
            placed += 1
            assert placed == 1 or slides == 0
    assert at == len(actions)
    return cells, score, slides


@pytest.mark.parametrize("size", ["4x4", "3x3", "2x3"])
def test_an_episode_file_replays(tmp_path: Path, size: str) -> None:
    """The reference, which knows nothing of us, plays every line to the score that was measured."""
    game = make("2048", size=size)
    player = Agent(random_network(game, "0123,1"))
    match = measure(player, games=25, seed=2, threads=2, save=tmp_path / "games.txt")
    lines = (tmp_path / "games.txt").read_text().splitlines()
    assert len(lines) == 25
    for line, score, slides in zip(lines, match.results.scores, match.results.moves, strict=True):
        parts = LINE.fullmatch(line)
        assert parts is not None
        slider, placer, tick, actions, winner, tock = parts.groups()
        assert (slider, placer, winner) == ("afterstate", "random", "random")
        assert int(tick) <= int(tock)
        cells, replayed, count = replay(actions, game.shape.rows, game.shape.columns)
        assert (replayed, count) == (score, slides)
        assert reference.is_over(cells, game.shape.rows, game.shape.columns)
    assert match.results.scores.tolist() == measure(player, games=25, seed=2).results.scores.tolist()


# --- the Python interface --------------------------------------------------------------------------------------------------


def test_the_interface_as_documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """make, train, Agent, choose, evaluate, explain, load."""
    monkeypatch.chdir(tmp_path)
    game = af.make("2048")
    run = af.train(game, network="0123,4567", games=300, seed=1, threads=1)
    assert run.folder == Path("runs/2048-0123-4567-td-1")
    agent = af.Agent(run.network, depth=2)
    choice = agent.choose(game.parse("2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2"))
    assert choice.move in {Slide.DOWN, Slide.LEFT}
    assert list(choice.values) == list(Slide)
    summary = af.evaluate(af.Agent(run.network), games=50, seed=2)
    assert summary.games == 50
    assert summary.mean > 0
    loaded = af.load(run.folder)
    state = State(game.parse("2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2").board)
    assert loaded.explain(state).value == pytest.approx(loaded.value(state))
    again = af.train(run=run.folder, resume=True, games=400)
    assert again.games == 400
    with pytest.raises(af.InputError, match="folder"):
        af.train(resume=True)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = af.nonsense
    assert set(dir(af)) == set(af.__all__)


# --- the benchmark -------------------------------------------------------------------------------------------------------


def test_the_benchmark_measures_what_it_says() -> None:
    """A small one: moves are those of the games, and the network that comes out has learned."""
    speed, network = bench_train(TrainOptions(network="0123,4567"), 1, games=50)
    assert speed.moves > 50 * 20
    assert speed.moves_per_s > 0
    assert network.weights.any()
    before = network.weights.copy()
    assert bench_eval(network, 2, games=20).moves > 20 * 20
    assert bench_gather(network, 2, count=10_000) > 0
    assert 2 < legal_per_move(network, games=3) < 4
    assert np.array_equal(before, network.weights), "only training may change a network"
