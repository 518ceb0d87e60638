"""Functions to call from Python: train a player, load one, measure it."""

from pathlib import Path
from typing import Any, Unpack

from afterstate.games.game import Game
from afterstate.games.results import Summary
from afterstate.learning.gamesfile import Episodes, GamesFile
from afterstate.learning.options import TrainGiven, TrainOptions, normalise
from afterstate.learning.origin import with_model
from afterstate.learning.plan import game_of
from afterstate.learning.recipes import with_recipe
from afterstate.learning.runfolder import RunFolder, find_model
from afterstate.learning.trainer import Run
from afterstate.learning.trainer import resume as go_on
from afterstate.learning.trainer import train as begin
from afterstate.network.modelfile import load_model
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.play.evaluation import measure


def train(
    game: Game | str | None = None, *, run: Path | str | None = None, resume: bool = False, **options: Unpack[TrainGiven]
) -> Run:
    """Train a player.

    >>> run = train("2048", network="5x4", games="1k", block=500, threads=1, seed=1, run="runs/mine")
    >>> run.games, len(run.metrics)
    (1000, 2)
    >>> train(run="runs/mine", resume=True, games=1500).games
    1500

    The options are those of `afterstate train`, with underscores; `recipe` names a set of them. Without `run`, a new folder is
    made in runs/. With `resume`, the run in that folder continues; give only the options that change. Without a game, it is
    that of the recipe or of the model to start from (`from_`), or 2048.
    """
    given: dict[str, Any] = dict(options)
    if resume:
        if run is None:
            raise TypeError("resume needs the folder of a run: give run=")
        return go_on(run, normalise(given))
    if isinstance(game, str):
        given["game"] = game
    elif game is not None:
        given = {"game": game.name, "rules": game.rules, "size": str(game.shape)} | given
    return begin(TrainOptions(**with_model(with_recipe(given))), run=run)


def load(path: Path | str) -> Network:
    """Load a network from a model file or a run folder (its best checkpoint), and verify its checksums.

    >>> load("runs/mine").patterns
    ('0123', '4567', '0145', '1256', '569a')
    """
    return load_model(find_model(path))


def evaluate(
    agent: Agent,
    *,
    games: int = 1000,
    seed: int = 1,
    threads: int | None = None,
    until: int | None = None,
    cluster: str | None = None,
) -> Summary:
    """Play `games` games with learning off. The same seed gives the same games, with any number of threads.

    With `until`, a game ends as soon as that tile is on the board, such as 2048. The scores are then those at that moment.

    With `cluster` a Ray cluster plays them: "HOST:PORT" of its head, "auto" for the one that runs on this machine, or "local"
    to start one. `threads` are then those of each worker, 1 by default. The games are the same.

    The exception to the first rule is an agent with a `move_time`: how deep it searches in that time varies.
    """
    play = None
    if cluster is not None:
        from afterstate.cluster.evaluation import play_on

        play = play_on(cluster)
    return measure(agent, games=games, seed=seed, threads=threads, until=until, play=play).finished()


def training_games(run: Path | str) -> Episodes:
    """Every training game of a run, in the order of their numbers; `Run.episodes` are the same.

    >>> games = training_games("runs/mine")
    >>> len(games.scores), int(games.largest.max())
    (1500, 1024)
    """
    folder = RunFolder.open(run)
    return GamesFile(folder.games).read(game_of(folder.read_config()))
