"""Players and environments as objects, the examples, and your own game."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import afterstate as af
from commandline import PROGRAM
from searching import random_network

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"


class Notes(af.RandomPlayer):
    """Keeps the calls that it gets."""

    def __init__(self) -> None:
        super().__init__(seed=1)
        self.heard: list[Any] = []

    def open_episode(self, game: af.Game) -> None:
        self.heard.append(game)

    def close_episode(self, episode: af.Record) -> None:
        self.heard.append(episode)


@pytest.mark.parametrize("rules", [None, "tcg2022", "official"])
def test_an_episode_is_a_game_by_the_rules(rules: str | None) -> None:
    game = af.make("2048") if rules is None else af.make("threes", rules=rules)
    player = Notes()
    episode = af.play_episode(game, player, af.RandomEnvironment(seed=3))
    assert player.heard == [game, episode]
    assert game.is_over(episode.states[-1])
    assert len(episode.states) == len(episode) + 1
    rewards = 0
    for number, slide in enumerate(episode.slides.tolist()):
        after = game.afterstates(episode.states[number])[af.Slide(slide)]
        assert (after.board, after.reward) == (episode.after[number], episode.rewards[number])
        assert episode.states[number + 1] in [outcome.state for outcome in game.outcomes(after)]
        rewards += after.reward
    assert episode.score == game.score(episode.states[-1], rewards)
    assert episode.largest == max(game.face(cell) for cell in game.cells(episode.states[-1]))


def test_a_network_plays_the_games_of_an_evaluation() -> None:
    """The objects and the kernels play the same games."""
    network = random_network(af.make("threes"), "0123")
    player, environment = af.NetworkPlayer(network), af.RandomEnvironment(seed=5)
    summary, episodes = af.play_episodes(network.game, player, environment, games=4)
    wanted = af.evaluate(af.Agent(network), games=4, seed=5)
    assert (summary.mean, summary.moves, summary.tiles) == (wanted.mean, wanted.moves, wanted.tiles)
    assert len(episodes) == 4


def test_a_line_of_the_course_tells_the_whole_game() -> None:
    game = af.make("2048", size="2x2")
    episode = af.play_episode(game, af.RandomPlayer(seed=2), af.RandomEnvironment(seed=2))
    head, actions, tail = af.episode_line(episode).split("|")
    assert re.fullmatch(r"random:random@\d+", head)
    assert re.fullmatch(r"random@\d+", tail)
    assert re.findall(r"#[URDL]", actions) == [f"#{letter}" for letter in episode.moves]
    assert sum(int(reward) for reward in re.findall(r"\[(\d+)\]", actions)) == episode.score


def test_illegal_slides_and_tiles_are_told_with_the_board() -> None:
    class Stubborn(af.Player):
        name = "stubborn"

        def choose(self, game: af.Game, state: af.State) -> af.Slide:
            return af.Slide.UP

    class Cheat(af.RandomEnvironment):
        name = "cheat"

        def choose(self, game: af.Game, afterstate: af.Afterstate, outcomes: Sequence[af.Outcome]) -> af.State:
            return af.State(0x1)

    game = af.make("2048")
    with pytest.raises(af.InputError, match=r"stubborn slides up, which is illegal on .* / "):
        af.play_episode(game, Stubborn(), af.RandomEnvironment(seed=1))
    with pytest.raises(af.InputError, match=r"cheat returned a state that the rules do not allow after .* / .*: "):
        af.play_episode(game, af.RandomPlayer(), Cheat(seed=1))
    with pytest.raises(NotImplementedError, match="Player must say how to choose"):
        af.play_episode(game, af.Player(), af.RandomEnvironment(seed=1))


@pytest.mark.parametrize("given", ["U", None, 4, -1, 1.5, [0]], ids=str)
def test_what_is_not_a_slide_is_told(given: Any) -> None:
    class Odd(af.Player):
        name = "odd"

        def choose(self, game: af.Game, state: af.State) -> Any:
            return given

    with pytest.raises(af.InputError, match=rf"odd returned {re.escape(repr(given))}; choose must return a slide: Slide.UP, "):
        af.play_episode(af.make("2048"), Odd(), af.RandomEnvironment(seed=1))


def test_the_number_of_a_slide_is_enough() -> None:
    class Plain(af.RandomPlayer):
        def choose(self, game: af.Game, state: af.State) -> Any:
            return np.int64(super().choose(game, state))

    environments = [af.RandomEnvironment(seed=1) for _ in range(2)]
    players = [Plain(seed=1), af.RandomPlayer(seed=1)]
    one, other = (af.play_episode(af.make("2048"), *both) for both in zip(players, environments, strict=True))
    assert one.moves == other.moves


def test_a_slide_has_a_name_for_people_and_is_a_number_for_programs() -> None:
    assert (str(af.Slide.LEFT), f"{af.Slide.UP} {af.Slide.DOWN:d}") == ("left", "up 2")
    assert (af.Slide.LEFT, int(af.Slide.LEFT), [10, 11, 12, 13][af.Slide.LEFT]) == (3, 3, 13)
    assert json.dumps({"slide": af.Slide.LEFT, "values": {af.Slide.UP: 1.5}}) == '{"slide": 3, "values": {"0": 1.5}}'


def test_a_name_that_a_record_cannot_hold() -> None:
    class Odd(af.RandomPlayer):
        name = "me:you"

    with pytest.raises(af.InputError, match=r"a name has 1 to 100 characters, and no blanks, \|, : or @: 'me:you'"):
        af.play_episode(af.make("2048"), Odd(), af.RandomEnvironment(seed=1))


def test_a_network_does_not_play_another_game() -> None:
    network = random_network(af.make("2048"), "0123")
    with pytest.raises(af.InputError, match="the network is for make"):
        af.play_episode(af.make("threes"), af.NetworkPlayer(network), af.RandomEnvironment(seed=1))


@pytest.mark.parametrize("name", ["own_player", "adversary"])
def test_the_examples_run(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == [], "an example leaves nothing behind"
    means = [int(mean) for mean in re.findall(r"mean (\d+)", done.stdout)]
    if name == "adversary":
        assert means[1] < means[0], "the adversary should hurt"
    else:
        assert means[0] > 1000


# --- your own game -----------------------------------------------------------------------------------------------------


def with_games(path: Path | str, *arguments: Any, code: str = PROGRAM[-1]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "AFTERSTATE_GAMES": str(path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_game_of_ones_own_learns_and_is_measured(tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = with_games(EXAMPLES / "drift.py", "train", "drift", "--games", "2000", "--network", "0123,4567", "--run", run)
    assert done.returncode == 0, done.stderr
    means = [int(mean) for mean in re.findall(r"avg = (\d+)", done.stdout)]
    assert means[-1] > 1.2 * means[0]
    done = with_games(EXAMPLES / "drift.py", "eval", run, "--games", "50", "--save", tmp_path / "games.txt")
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "games.txt").read_text().splitlines()) == 50
    done = with_games(EXAMPLES / "drift.py", "perft", "drift", "--depth", "2", "--json")
    assert '"afterstates": 4' in done.stdout
    # a model of it is not for those who do not have the game
    done = with_games("", "eval", run)
    assert done.returncode != 0
    assert "no game is called 'drift'" in done.stderr


def test_a_changed_game_is_compiled_anew(tmp_path: Path) -> None:
    """The cache folder knows the file: no kernel of an earlier version runs."""
    code = "import afterstate as af; g = af.make('drift'); print(len(g.outcomes(g.parse(g.example))))"
    game = tmp_path / "drift.py"
    text = (EXAMPLES / "drift.py").read_text()
    game.write_text(text)
    assert with_games(game, code=code).stdout == "14\n"
    assert text.count("    return count\n") == 1
    game.write_text(text.replace("    return count\n", "    return 1\n"))
    assert with_games(game, code=code).stdout == "1\n"


def test_a_game_that_is_not_there(tmp_path: Path) -> None:
    done = with_games(tmp_path / "none.py", "perft", "none")
    assert done.returncode != 0
    assert "none.py, which is not a Python file" in done.stderr
    done = with_games(EXAMPLES / "drift.py", "perft", "drift", "--size", "3x3")
    assert "4x4 board, not on 3x3" in done.stderr


def test_drift_by_its_definition() -> None:
    code = """
import afterstate as af
game = af.make("drift")
state = game.parse("2 2 0 4 / 0 2 0 0 / 4 4 4 4 / 0 0 0 0")
after = game.slide(state, af.Slide.LEFT)
print(game.format(after), after.reward)
print(round(sum(outcome.probability for outcome in game.outcomes(after)), 9))
"""
    done = with_games(EXAMPLES / "drift.py", code=code)
    assert done.stdout == "4 0 4 0 / 2 0 0 0 / 8 4 4 0 / 0 0 0 0 12\n1.0\n"


def test_means_are_numbers() -> None:
    """A player's summary is that of its games."""
    game = af.make("2048", size="2x2")
    summary, episodes = af.play_episodes(game, af.RandomPlayer(seed=1), af.RandomEnvironment(seed=1), games=30)
    assert summary.mean == pytest.approx(np.mean([episode.score for episode in episodes]))
    assert summary.moves == sum(len(episode.slides) for episode in episodes)
