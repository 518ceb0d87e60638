"""Functions to call from Python: train a player, load one."""

from pathlib import Path
from typing import Any, Unpack

from afterstate.games.game import Game
from afterstate.learning.cooling import cool_down, is_branch
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


def train(
    game: Game | str | None = None,
    *,
    run: Path | str | None = None,
    resume: bool = False,
    into: Path | str | None = None,
    **options: Unpack[TrainGiven],
) -> Run:
    """Train a player.

    >>> run = train("2048", network="5x4", games="1k", block=500, threads=1, seed=1, run="runs/mine")
    >>> run.games, len(run.metrics)
    (1000, 2)
    >>> train(run="runs/mine", resume=True, games=1500).games
    1500
    >>> train(run="runs/mine", cool_down=200, into="runs/cooled").games
    1700

    The options are those of `afterstate train`, with underscores; `recipe` names a set of them. Without `run`, a new folder is
    made in runs/. With `resume`, the run in that folder continues; give only the options that change. With `cool_down` and a
    run that exists, a new run in `into` branches from it, as docs/learning.md explains. Without a game, it is that of the
    recipe or of the model to start from (`from_`), or 2048.
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
    if is_branch(run, given, into):
        return cool_down(run, normalise(given), into=into)
    return begin(TrainOptions(**with_model(with_recipe(given))), run=run)


def load(path: Path | str) -> Network:
    """Load a network from a model file or a run folder (its best checkpoint), and verify its checksums.

    >>> load("runs/mine").patterns
    ('0123', '4567', '0145', '1256', '569a')
    """
    return load_model(find_model(path))


def training_games(run: Path | str) -> Episodes:
    """Every training game of a run, in the order of their numbers; `Run.episodes` are the same.

    >>> games = training_games("runs/mine")
    >>> len(games.scores), int(games.largest.max())
    (1500, 1024)
    """
    folder = RunFolder.open(run)
    return GamesFile(folder.games).read(game_of(folder.read_config()))
