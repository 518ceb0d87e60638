"""Functions to call from Python: train a player, load one."""

from pathlib import Path
from typing import Any, Unpack

from afterstate.games.game import Game, make
from afterstate.learning.options import TrainGiven, TrainOptions, normalise
from afterstate.learning.recipes import with_recipe
from afterstate.learning.runfolder import find_model
from afterstate.learning.trainer import Run
from afterstate.learning.trainer import resume as go_on
from afterstate.learning.trainer import train as begin
from afterstate.network.modelfile import load_model
from afterstate.network.network import Network


def train(
    game: Game | str = "2048", *, run: Path | str | None = None, resume: bool = False, **options: Unpack[TrainGiven]
) -> Run:
    """Train a player.

    >>> run = train("2048", network="5x4", games="1k", block=500, threads=1, seed=1, run="runs/mine")
    >>> run.games, len(run.metrics)
    (1000, 2)
    >>> train(run="runs/mine", resume=True, games=1500).games
    1500

    The options are those of `afterstate train`, with underscores; `recipe` names a set of them. Without `run`, a new folder is
    made in runs/. With `resume`, the run in that folder continues; give only the options that change.
    """
    given: dict[str, Any] = dict(options)
    if resume:
        if run is None:
            raise TypeError("resume needs the folder of a run: give run=")
        return go_on(run, normalise(given))
    played = make(game) if isinstance(game, str) else game
    chosen = {"game": played.name, "rules": played.rules, "size": str(played.shape)} | given
    return begin(TrainOptions(**with_recipe(chosen)), run=run)


def load(path: Path | str) -> Network:
    """Load a network from a model file or a run folder (its best checkpoint), memory-mapped.

    >>> load("runs/mine").patterns
    ('0123', '4567', '0145', '1256', '569a')
    """
    return load_model(find_model(path))
