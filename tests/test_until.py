"""Games that end at a tile: the loop against a slow one, players and environments, `eval --until`, and the judge."""

import re
from pathlib import Path

import numpy as np
import pytest

import afterstate as af
from afterstate.cli.main import Exit
from afterstate.engine.loop import Seat
from afterstate.errors import InputError
from afterstate.games.results import find_tile
from afterstate.network.modelfile import save_model
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.play.evaluation import Evaluation, measure
from afterstate.play.judge import judge
from afterstate.rng import Purpose, Random
from commandline import check, done, judged, run
from otherprogram import read_line, rules_of
from reference_threes import worth
from test_judge import check_failed
from test_records import line_of, write

GAMES = 20
SEED = 7
# a game, and a tile that a random network sometimes reaches
KINDS = [("2048", "standard", 128), ("threes", "tcg2022", 48), ("threes", "official", 48)]
IDS = [f"{game} {rules}" for game, rules, _ in KINDS]
HAND = "0131#L12#U[4](3)31#L[8](2)"  # of 2048 on 2x2, up to the slide that makes the 8


def untrained(game: str, rules: str) -> Network:
    network = Network(af.make(game, rules=rules), "0123,4567")
    network.weights[:] = np.random.default_rng(3).uniform(0, 50, network.weights.size)
    return network


def play_slowly(network: Network, number: int, tile: int) -> tuple[int, int, list[int]]:
    """One game of an evaluation, move by move, until the tile is there -> score, moves, faces on the last board."""
    game, agent = network.game, Agent(network)
    rng = Random(SEED, Purpose.EVAL, number)
    state = game.start(rng)
    rewards = moves = 0
    while True:
        faces = [game.face(cell) for cell in game.cells(state)]
        slid = game.afterstates(state)
        if tile in faces or not slid:
            break
        move = agent.choose(state).move
        assert move is not None
        rewards, moves = rewards + slid[move].reward, moves + 1
        faces = [game.face(cell) for cell in game.cells(slid[move])]
        if tile in faces:
            break
        state = game.sample(slid[move], rng)
    return rewards if game.name == "2048" else sum(map(worth, faces)), moves, faces


@pytest.mark.parametrize(("name", "rules", "tile"), KINDS, ids=IDS)
def test_the_loop_ends_where_a_slow_one_does(name: str, rules: str, tile: int) -> None:
    network = untrained(name, rules)
    found = measure(Agent(network), games=GAMES, seed=SEED, threads=1, until=tile)
    slow = [play_slowly(network, number, tile) for number in range(GAMES)]
    assert found.results.scores.tolist() == [score for score, _, _ in slow]
    assert found.results.moves.tolist() == [moves for _, moves, _ in slow]
    assert [network.game.face(index) for index in found.results.largest] == [max(faces) for _, _, faces in slow]
    wins = sum(tile in faces for _, _, faces in slow)
    assert 0 < wins < GAMES
    assert found.summary is not None
    assert (found.summary.until, found.summary.win_tile, found.summary.win_rate) == (tile, tile, wins / GAMES)


def played(tile: int | None, *, depth: int = 1, save: Path | None = None) -> Evaluation:
    return measure(
        Agent(untrained("2048", "standard"), depth=depth), games=6, seed=SEED, threads=1, until=tile, save=save
    )  # fmt: skip


def test_it_is_the_same_game_up_to_the_tile() -> None:
    whole, ended, rare = played(None), played(64), played(32768)
    assert (ended.results.moves <= whole.results.moves).all()
    assert (ended.results.moves < whole.results.moves).any()
    assert (rare.results.scores == whole.results.scores).all()
    assert whole.summary is not None
    assert whole.summary.until is None
    assert "until" not in whole.summary.as_dict()


def test_games_of_a_search_end_too() -> None:
    found = played(64, depth=2)
    assert found.results.largest.tolist() == [6] * 6
    assert (found.results.moves < played(None, depth=2).results.moves).all()


def test_a_first_board_may_have_the_tile() -> None:
    found = played(2)
    assert found.results.moves.tolist() == [0] * 6
    assert found.results.scores.tolist() == [0] * 6


def test_a_seat_plays_on_from_a_state_to_the_tile() -> None:
    game = af.make("2048")
    seat = Seat(game, untrained("2048", "standard").lookup, until=2048)
    assert seat.play_from(game.parse("1024 1024 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"), Random(1)) <= 2
    assert seat.play_from(game.parse("2048 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"), Random(1)) == 0


# --- players and environments --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "rules", "tile"), KINDS, ids=IDS)
def test_objects_play_the_games_of_an_evaluation(name: str, rules: str, tile: int) -> None:
    network = untrained(name, rules)
    summary, episodes = af.play_episodes(
        network.game, af.NetworkPlayer(network), af.RandomEnvironment(seed=SEED), games=4, until=tile
    )
    wanted = af.evaluate(Agent(network), games=4, seed=SEED, until=tile)
    assert (summary.mean, summary.moves, summary.tiles, summary.until) == (wanted.mean, wanted.moves, wanted.tiles, tile)
    for episode in episodes:
        assert len(episode.boards) == len(episode) + 1
        if episode.largest == tile:
            assert episode.boards[-1] == episode.after[-1]


def test_the_slide_that_wins_is_the_last_action() -> None:
    game = af.make("2048")
    player = af.RandomPlayer(seed=1)
    player.name = "me"
    line = af.episode_line(af.play_episode(game, player, af.RandomEnvironment(seed=1), until=16))
    assert line.split("|")[2].startswith("me@")
    assert re.search(r"#[URDL]\[\d+\]$", line.split("|")[1])
    other = af.episode_line(af.play_episode(game, player, af.RandomEnvironment(seed=1)))
    assert other.split("|")[2].startswith("random@")


def test_what_is_no_tile_is_refused() -> None:
    game = af.make("threes")
    assert find_tile(game, 384) == 10
    with pytest.raises(InputError, match=r"2048 is not a tile of make\('threes'.*its tiles are 1, 2, 3, 6, .*6144"):
        af.play_episode(game, af.RandomPlayer(), af.RandomEnvironment(), until=2048)
    with pytest.raises(InputError, match="100 is not a tile"):
        played(100)


# --- eval and the judge --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "rules", "tile"), KINDS, ids=IDS)
def test_eval_and_the_judge_agree(name: str, rules: str, tile: int, tmp_path: Path) -> None:
    model, path = tmp_path / "model.safetensors", tmp_path / "games.txt"
    save_model(untrained(name, rules), model)
    found = done("eval", model, "--games", GAMES, "--until", tile, "--save", path, "--json").json
    assert found["until"] == found["win_tile"] == tile
    other = rules_of(name, rules, 4, 4)
    for line in path.read_text().splitlines():
        told = read_line(other, line)
        won = told.largest == find_tile(af.make(name, rules=rules), tile)
        assert won or told.over
        assert line.split("|")[2].startswith("afterstate@" if won else "random@")
        assert told.rewards == told.score
    of_it = (path, "--game", name, "--rules", rules, "--version", "win")
    verdict = judged(*of_it, "--until", tile, "--json").json
    assert verdict["points"] == 100 * found["win_rate"]
    assert (verdict["summary"]["mean"], verdict["summary"]["until"]) == (found["mean"], tile)
    check_failed(run("judge", *of_it), "but it is not over: ")
    check_failed(run("judge", *of_it, "--until", 2 * tile), f"but it is not over, and that slide did not make a {2 * tile}: ")


def test_eval_says_where_games_end(small: Path) -> None:
    shown = done("eval", small, "--games", "5", "--until", "64").out
    assert "games end    as soon as 64 is on the board" in shown
    assert "64 reached" in shown
    assert "games end" not in done("eval", small, "--games", "5").out
    check(run("eval", small, "--until", "65"), Exit.INPUT, "65 is not a tile of make('2048'")


@pytest.mark.parametrize(
    ("actions", "fault"),
    [
        (HAND, None),  # ends with the slide
        (f"{HAND}12", None),  # a new tile after it
        (f"{HAND}12#R22", None),  # goes on to its end
        ("0131#L12#U[4](3)31", "the game stops after 2 slides, but it is not over, and that slide did not make a 8: 4 4 / 0 2"),
        (f"{HAND}12#R", "the game stops after 4 slides, but it is not over, and that slide did not make a 8"),  # too late
    ],
)
def test_a_game_ends_with_its_tile_or_at_its_end(actions: str, fault: str | None, tmp_path: Path) -> None:
    found = judge(write(tmp_path, line_of(actions)), af.make("2048", size="2x2"), version="win", until=8)
    assert (found.passed, found.points) == (fault is None, 100.0 if fault is None else 0.0)
    assert fault is None or fault in str(found.fault)


def test_only_the_win_rate_knows_such_games(tmp_path: Path) -> None:
    path = write(tmp_path, line_of(HAND))
    with pytest.raises(InputError, match="--until needs --version win"):
        judge(path, af.make("threes"), version="2", until=384)
    assert judged(path, "--until", "8", "--json").json["version"] == "win"
    check(run("judge", path, "--game", "2048", "--until", "100"), Exit.INPUT, "100 is not a tile")
