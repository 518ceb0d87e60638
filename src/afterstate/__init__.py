"""Learn, measure and play 2048-like games with n-tuple networks and temporal-difference learning.

>>> import afterstate as af
>>> game = af.make("2048")
>>> run = af.train(game, network="5x4", method="tc", games=1000, threads=1, seed=1)
>>> agent = af.Agent(run.network, depth=2)
>>> agent.choose(game.parse("2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2")).move
<Slide.DOWN: 2>
>>> af.evaluate(agent, games=10, seed=2).mean > 5_000
True
"""

TYPE_CHECKING = False  # as in `typing`, which is not imported: a Ctrl-C meanwhile would be a traceback
if TYPE_CHECKING:
    from typing import Any

    __version__: str

    from afterstate.api import evaluate, load, train, training_games
    from afterstate.engine.record import Record, replay
    from afterstate.errors import (
        AfterstateError,
        ClusterError,
        DivergedError,
        FileError,
        GameError,
        InputError,
        ModelError,
        ResourceError,
    )
    from afterstate.games.arrays import Positions
    from afterstate.games.check import GameReport, check_game
    from afterstate.games.game import Afterstate, Game, Outcome, Slide, State, make
    from afterstate.games.results import Summary
    from afterstate.learning.gamesfile import Episodes
    from afterstate.learning.trainer import Run
    from afterstate.network.network import Explanation, Network
    from afterstate.play.agent import Agent, Choice, Choices
    from afterstate.play.episode_line import episode_line
    from afterstate.play.episodes import Episode, read_episodes
    from afterstate.play.judge import Verdict, judge
    from afterstate.play.players import (
        Environment,
        NetworkPlayer,
        Player,
        RandomEnvironment,
        RandomPlayer,
        play_episode,
        play_episodes,
    )
    from afterstate.play.reproduction import Reproduction, reproduce
    from afterstate.play.review import Review, best_line, review
    from afterstate.rng import Random
    from afterstate.search.solve import Solution, solve

# where each name lives; loaded on first use, so that `import afterstate` stays quick
_HOMES = {
    "afterstate.api": ("evaluate", "load", "train", "training_games"),
    "afterstate.engine.record": ("Record", "replay"),
    "afterstate.errors": (
        *("AfterstateError", "ClusterError", "DivergedError", "FileError", "GameError"),
        *("InputError", "ModelError", "ResourceError"),
    ),
    "afterstate.games.arrays": ("Positions",),
    "afterstate.games.check": ("GameReport", "check_game"),
    "afterstate.games.game": ("Afterstate", "Game", "Outcome", "Slide", "State", "make"),
    "afterstate.games.results": ("Summary",),
    "afterstate.learning.gamesfile": ("Episodes",),
    "afterstate.learning.trainer": ("Run",),
    "afterstate.network.network": ("Explanation", "Network"),
    "afterstate.play.agent": ("Agent", "Choice", "Choices"),
    "afterstate.play.episode_line": ("episode_line",),
    "afterstate.play.episodes": ("Episode", "read_episodes"),
    "afterstate.play.judge": ("Verdict", "judge"),
    "afterstate.play.players": (
        *("Environment", "NetworkPlayer", "Player"),
        *("RandomEnvironment", "RandomPlayer", "play_episode", "play_episodes"),
    ),
    "afterstate.play.reproduction": ("Reproduction", "reproduce"),
    "afterstate.play.review": ("Review", "best_line", "review"),
    "afterstate.rng": ("Random",),
    "afterstate.search.solve": ("Solution", "solve"),
}

__all__ = [
    "Afterstate",
    "AfterstateError",
    "Agent",
    "Choice",
    "Choices",
    "ClusterError",
    "DivergedError",
    "Environment",
    "Episode",
    "Episodes",
    "Explanation",
    "FileError",
    "Game",
    "GameError",
    "GameReport",
    "InputError",
    "ModelError",
    "Network",
    "NetworkPlayer",
    "Outcome",
    "Player",
    "Positions",
    "Random",
    "RandomEnvironment",
    "RandomPlayer",
    "Record",
    "Reproduction",
    "ResourceError",
    "Review",
    "Run",
    "Slide",
    "Solution",
    "State",
    "Summary",
    "Verdict",
    "best_line",
    "check_game",
    "episode_line",
    "evaluate",
    "judge",
    "load",
    "make",
    "play_episode",
    "play_episodes",
    "read_episodes",
    "replay",
    "reproduce",
    "review",
    "rng",
    "solve",
    "train",
    "training_games",
]  # fmt: skip


def __getattr__(name: str) -> "Any":
    if name == "__version__":
        from importlib.metadata import version

        return version("afterstate")
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'afterstate' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
