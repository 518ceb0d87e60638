"""A game between two: a player that slides, and an environment that places the new tiles.

Write your own as a class with one method, and let it play against ours:

    class Greedy(Player):
        def choose(self, game, state):
            slid = game.afterstates(state)
            return max(slid, key=lambda slide: slid[slide].reward)

    episode = play_episode(make("2048"), Greedy(), RandomEnvironment(seed=1))
    print(episode.score, episode.line())

Everything is checked by the rules; whoever asks for what they forbid gets an `InputError` that shows the board.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import time
from typing import Any

import numpy as np

from afterstate.errors import InputError
from afterstate.games.game import Afterstate, Game, Outcome, Slide, State
from afterstate.games.results import Results, Summary, make_results, summarise
from afterstate.learning.episode import Recorded
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.play.episode import episode_line
from afterstate.rng import Purpose, Random


class Player:
    """Who slides. Only `choose` must be written."""

    name = "player"

    def open_episode(self, game: Game) -> None:
        """A game begins."""

    def choose(self, game: Game, state: State) -> Slide:
        """The slide to make; there is a legal one."""
        raise NotImplementedError(f"{type(self).__name__} must say how to choose")

    def close_episode(self, episode: "Episode") -> None:
        """The game is over: what there was to see of it."""


class Environment:
    """Who places the new tiles. Only `choose` must be written."""

    name = "environment"

    def open_episode(self, game: Game) -> None:
        """A game begins."""

    def start(self, game: Game) -> State:
        """The first state."""
        return game.start(Random(0))

    def choose(self, game: Game, afterstate: Afterstate, outcomes: Sequence[Outcome]) -> State:
        """One of the outcomes: what may follow by the rules, each with its probability."""
        raise NotImplementedError(f"{type(self).__name__} must say how to choose")

    def close_episode(self, episode: "Episode") -> None:
        """The game is over."""


class NetworkPlayer(Player):
    """Plays what a network thinks best."""

    name = "afterstate"

    def __init__(self, network: Network, **search: Any) -> None:
        """`search` is what an Agent takes: depth=3, move_time="10ms", ..."""
        self.agent = Agent(network, **search)

    def choose(self, game: Game, state: State) -> Slide:
        network_game = self.agent.network.game
        if network_game is not game:
            raise InputError(f"the network is for {network_game!r}, not for {game!r}")
        slide = self.agent.choose(state).move
        assert slide is not None
        return slide


class RandomPlayer(Player):
    """Makes any legal slide."""

    name = "random"

    def __init__(self, seed: int = 1) -> None:
        self.generator = np.random.default_rng(seed)

    def choose(self, game: Game, state: State) -> Slide:
        return Slide(self.generator.choice([int(slide) for slide in game.afterstates(state)]))


class RandomEnvironment(Environment):
    """Draws as the rules say. Game number i of a seed is the one that `evaluate` plays with it."""

    name = "random"

    def __init__(self, seed: int = 1) -> None:
        self.seed, self.number = seed, -1
        self.rng = Random(seed)

    def open_episode(self, game: Game) -> None:  # noqa: ARG002
        self.number += 1
        self.rng = Random(self.seed, Purpose.EVAL, self.number)

    def start(self, game: Game) -> State:
        return game.start(self.rng)

    def choose(self, game: Game, afterstate: Afterstate, outcomes: Sequence[Outcome]) -> State:  # noqa: ARG002
        return game.sample(afterstate, self.rng)


@dataclass
class Episode:
    """A game on record: the states in which a slide was made, the slides, what they led to, and the last state."""

    game: Game
    player: str
    environment: str
    states: list[State]  # one more than slides
    slides: list[Slide] = field(default_factory=list)
    afterstates: list[Afterstate] = field(default_factory=list)
    tick: float = 0.0  # seconds since 1970
    tock: float = 0.0

    @property
    def score(self) -> int:
        return self.game.score(self.states[-1], sum(afterstate.reward for afterstate in self.afterstates))

    @property
    def largest(self) -> int:
        """The largest tile, as it is written."""
        return self.game.face(self.game.largest(self.states[-1]))

    def line(self) -> str:
        """The game as a line of the course's episode file, without the line's end."""
        moves = len(self.slides)
        words = np.zeros((3, moves + 1), np.uint64)
        for number, state in enumerate(self.states):
            words[0, number], words[1, number] = state.board, state.extra
        words[2, :moves] = [afterstate.board for afterstate in self.afterstates]
        slides, rewards = np.zeros(moves + 1, np.uint8), np.zeros(moves + 1, np.int64)
        slides[:moves] = [int(slide) for slide in self.slides]
        rewards[:moves] = [afterstate.reward for afterstate in self.afterstates]
        record = Recorded(words[0], words[1], words[2], slides, rewards)
        names = (self.player, self.environment)
        return episode_line(self.game, record, moves, self.tick, self.tock, names=names).decode().rstrip("\n")


def play_episode(game: Game, player: Player, environment: Environment) -> Episode:
    """One game: they take turns until no slide is legal."""
    for who in (player, environment):
        if not re.fullmatch(r"[^|:@\s]{1,100}", who.name):
            raise InputError(f"a name has no blanks and none of | : @, which a record needs for itself: {who.name!r}")
    player.open_episode(game)
    environment.open_episode(game)
    episode = Episode(game, player.name, environment.name, [environment.start(game)], tick=time())
    while slid := game.afterstates(episode.states[-1]):
        state = episode.states[-1]
        slide = player.choose(game, state)
        if slide not in slid:
            raise InputError(f"{player.name} slides {getattr(slide, 'name', slide)}, which is illegal on {game.format(state)}")
        after = slid[slide]
        outcomes = game.outcomes(after)
        following = environment.choose(game, after, outcomes)
        if all(following != outcome.state for outcome in outcomes):
            raise InputError(f"{environment.name} makes of {game.format(after)} what the rules do not allow: {following}")
        episode.slides.append(slide)
        episode.afterstates.append(after)
        episode.states.append(following)
    episode.tock = time()
    player.close_episode(episode)
    environment.close_episode(episode)
    return episode


def play_episodes(game: Game, player: Player, environment: Environment, *, games: int) -> tuple[Summary, list[Episode]]:
    """Many games, one after the other -> what was reached, and the games. Slow and simple, for players written in Python."""
    episodes = [play_episode(game, player, environment) for _ in range(games)]
    results: Results = make_results(games)
    for number, episode in enumerate(episodes):
        results.scores[number] = episode.score
        results.moves[number] = len(episode.slides)
        results.largest[number] = game.largest(episode.states[-1])
    return summarise(game, results, sum(episode.tock - episode.tick for episode in episodes)), episodes
