"""Games between a player, which slides, and an environment, which places the new tiles.

Write your own as a class with one method:

    class Greedy(Player):
        def choose(self, game, state):
            slid = game.afterstates(state)
            return max(slid, key=lambda slide: slid[slide].reward)

    episode = play_episode(make("2048"), Greedy(), RandomEnvironment(seed=1))
    print(episode.score, episode.largest, episode.moves)

Every action is checked by the rules. One that they forbid raises an `InputError` that shows the board.
"""

import re
from collections.abc import Sequence
from time import time
from typing import Unpack

import numpy as np

from afterstate.engine.record import Record
from afterstate.errors import InputError
from afterstate.games.game import Afterstate, Game, Outcome, Slide, State
from afterstate.games.results import Results, Summary, find_tile, make_results, summarise
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.rng import Purpose, Random
from afterstate.search.options import SearchGiven


class Player:
    """Chooses the slides. Only `choose` is required."""

    name = "player"

    def open_episode(self, game: Game) -> None:
        """A game begins."""

    def choose(self, game: Game, state: State) -> Slide:
        """Return the slide to make. At least one is legal."""
        raise NotImplementedError(f"{type(self).__name__} must say how to choose")

    def close_episode(self, episode: Record) -> None:
        """The game is over; `episode` is its record."""


class Environment:
    """Places the new tiles. Only `choose` is required."""

    name = "environment"

    def open_episode(self, game: Game) -> None:
        """A game begins."""

    def start(self, game: Game) -> State:
        """Return the first state."""
        return game.start(Random(0))

    def choose(self, game: Game, afterstate: Afterstate, outcomes: Sequence[Outcome]) -> State:
        """Return the state of one of the outcomes, which are all that the rules allow, with their probabilities."""
        raise NotImplementedError(f"{type(self).__name__} must say how to choose")

    def close_episode(self, episode: Record) -> None:
        """The game is over."""


class NetworkPlayer(Player):
    """Makes the slide that a network values most."""

    name = "afterstate"

    def __init__(self, network: Network, **search: Unpack[SearchGiven]) -> None:
        """`search` takes the options of an Agent: depth=3, move_time="10ms", ..."""
        self.agent = Agent(network, **search)

    def choose(self, game: Game, state: State) -> Slide:
        network_game = self.agent.network.game
        if network_game != game:
            raise InputError(f"the network is for {network_game!r}, not for {game!r}")
        slide = self.agent.choose(state).move
        assert slide is not None
        return slide


class RandomPlayer(Player):
    """Makes a random legal slide."""

    name = "random"

    def __init__(self, seed: int = 1) -> None:
        self.generator = np.random.default_rng(seed)

    def choose(self, game: Game, state: State) -> Slide:
        return Slide(self.generator.choice([int(slide) for slide in game.afterstates(state)]))


class RandomEnvironment(Environment):
    """Draws new tiles by the rules. Game number i has the random numbers of game i in `evaluate` with the same seed."""

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


def play_episode(game: Game, player: Player, environment: Environment, *, until: int | None = None) -> Record:
    """Play one game: player and environment take turns until no slide is legal, or until the tile `until` is on the board.

    >>> from afterstate import make
    >>> episode = play_episode(make("2048"), RandomPlayer(seed=1), RandomEnvironment(seed=1))
    >>> len(episode.moves) == len(episode), episode.score == int(episode.rewards.sum())
    (True, True)

    A slide that makes this tile ends the game at once, before the new tile, as `check_for_win` of the course's framework does.
    """
    win = None if until is None else find_tile(game, until)
    for who in (player, environment):
        if not re.fullmatch(r"[^|:@\s]{1,100}", who.name):
            raise InputError(f"a name has 1 to 100 characters, and no blanks, |, : or @: {who.name!r}")
    player.open_episode(game)
    environment.open_episode(game)
    tick = time()
    states, made = [environment.start(game)], []
    while not _is_won(game, states[-1], win) and (slid := game.afterstates(states[-1])):
        slide = _check_slide(player.choose(game, states[-1]), player)
        if slide not in slid:
            raise InputError(f"{player.name} slides {slide}, which is illegal on {game.format(states[-1])}")
        made.append((slide, slid[slide]))
        if _is_won(game, slid[slide], win):
            states.append(State(slid[slide].board, slid[slide].extra, game=game))
            break
        outcomes = game.outcomes(slid[slide])
        following = environment.choose(game, slid[slide], outcomes)
        if all(following != outcome.state for outcome in outcomes):
            shown = game.format(slid[slide])
            raise InputError(f"{environment.name} returned a state that the rules do not allow after {shown}: {following}")
        states.append(following)
    record = Record(
        game,
        boards=np.array([state.board for state in states], np.uint64),
        extras=np.array([state.extra for state in states], np.uint64),
        after=np.array([afterstate.board for _, afterstate in made], np.uint64),
        slides=np.array([int(slide) for slide, _ in made], np.uint8),
        rewards=np.array([afterstate.reward for _, afterstate in made], np.int64),
        slider=player.name, placer=environment.name, tick=tick, tock=time(),
    )  # fmt: skip
    player.close_episode(record)
    environment.close_episode(record)
    return record


def _check_slide(given: object, player: Player) -> Slide:
    """What a player returned, if it is a slide or the number of one."""
    if not isinstance(given, (int, np.integer)) or not 0 <= given < len(Slide):
        every = ", ".join(f"Slide.{slide.name}" for slide in Slide)
        raise InputError(f"{player.name} returned {given!r}; choose must return a slide: {every}, or its number, 0 to 3")
    return Slide(int(given))


def _is_won(game: Game, position: State | Afterstate, win: int | None) -> bool:
    return win is not None and game.largest(position) >= win


def play_episodes(
    game: Game, player: Player, environment: Environment, *, games: int, until: int | None = None
) -> tuple[Summary, list[Record]]:
    """Play many games, one after the other -> summary, records. Slow and simple, for players written in Python."""
    episodes = [play_episode(game, player, environment, until=until) for _ in range(games)]
    results: Results = make_results(games)
    for number, episode in enumerate(episodes):
        results.scores[number] = episode.score
        results.moves[number] = len(episode)
        results.largest[number] = episode.largest_index
    seconds = sum(episode.tock - episode.tick for episode in episodes)
    return summarise(game, results, seconds, until=until), episodes
