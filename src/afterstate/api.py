"""Functions to call from Python: train a player, load one, measure it."""

import threading
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal, SupportsIndex, Unpack

from afterstate.errors import InputError
from afterstate.games.game import Game
from afterstate.games.results import Episodes, Summary
from afterstate.learning.cooling import cool_down, is_branch
from afterstate.learning.gamesfile import GamesFile
from afterstate.learning.options import A_FUNCTION, TrainGiven, TrainOptions, ask_rate, normalise
from afterstate.learning.origin import with_model
from afterstate.learning.plan import Objects, game_of
from afterstate.learning.progress import Callback, Callbacks, Listener
from afterstate.learning.recipes import with_recipe
from afterstate.learning.run import Run
from afterstate.learning.runfolder import RunFolder, find_model
from afterstate.learning.trainer import resume as go_on
from afterstate.learning.trainer import train as begin
from afterstate.network.modelfile import load_model
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.play.evaluation import measure
from afterstate.units import check_keywords, plain


def train(
    game: Game | str | None = None,
    *,
    run: Path | str | Literal[False] | None = None,
    resume: bool = False,
    into: Path | str | None = None,
    on_block: Callback | None = None,
    on_eval: Callback | None = None,
    listener: Listener | None = None,
    stop: threading.Event | None = None,
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
    made in runs/; with `run=False` nothing is written. With `resume`, the run in that folder continues; give only the options
    that change. With `cool_down` and a run that exists, a new run in `into` branches from it, and its rate falls to its end.
    Without a game, it is that of the recipe or of the model to start from (`from_`), or 2048.

    `from_` may be a network, and `schedule` a function: games played so far -> the learning rate of the next block.

    >>> quick = train(from_=run.network, schedule=lambda games: 0.1 / (1 + games / 500), games=1000, block=500, run=False)
    >>> [record["alpha"] for record in quick.metrics]
    [0.1, 0.05]

    `on_block` and `on_eval` are called with the games played so far and the summary of the block or evaluation; the run stops
    if one returns True. It also stops when `stop` is set, by another thread perhaps, or at Ctrl-C. A `Listener` is told more.

    >>> train("2048", network="5x4", games=10_000, run=False, on_block=lambda games, block: block.mean > 1000).games
    1000
    """
    given: dict[str, Any] = dict(options)
    check_keywords(given, [spec.name for spec in fields(TrainOptions) if spec.name != "game"], of="training")
    stop = stop or threading.Event()
    if on_block is not None or on_eval is not None:
        if listener is not None:
            raise InputError("give a listener, or on_block and on_eval, but not both: a listener has methods of these names")
        listener = Callbacks(stop, on_block, on_eval)
    origin = given.pop("from_") if isinstance(given.get("from_"), Network) else None
    schedule = given["schedule"] if callable(given.get("schedule")) else None
    objects = Objects(game if isinstance(game, Game) else None, origin, schedule)
    given |= _facts(game, given)
    if schedule is not None:
        given["schedule"] = A_FUNCTION
    if resume:
        if not run:
            raise InputError("resume continues the run in a folder: say which with run=")
        if origin is not None or given.get("from_") is not None or given.get("recipe") is not None:
            raise InputError("a resumed run keeps its recipe and what it has learned: leave out recipe and from_")
        return go_on(run, normalise(given), listener=listener, stop=stop, objects=objects)
    if is_branch(branch := run or None, given, into):
        return cool_down(branch, normalise(given), into=into, listener=listener, stop=stop, objects=objects)
    if given.get("from_") is not None:
        given["from_"] = str(given["from_"])  # which may be a Path
    if schedule is not None:
        if given.get("alpha") is not None:
            raise InputError("a schedule that is a function gives every rate: leave out alpha")
        given["alpha"] = ask_rate(schedule, 0)
    chosen = TrainOptions(**with_model(with_recipe(given), origin))
    if game is None and origin is not None and _facts(origin.game, {}).items() <= vars(chosen).items():
        objects = replace(objects, game=origin.game)
    return begin(chosen, run=run, listener=listener, stop=stop, objects=objects)


def _facts(game: Game | str | None, given: dict[str, Any]) -> dict[str, Any]:
    """A game as options. One that is an object has its rules and size already."""
    if game is None or isinstance(game, str):
        return {} if game is None else {"game": game}
    facts = {"game": game.name, "rules": game.rules, "size": str(game.shape)}
    for name in ("rules", "size"):
        if given.get(name, facts[name]) not in (None, facts[name]):
            raise InputError(f"{game!r} has {name} {facts[name]}, not {given[name]}: leave out {name}")
    return facts


def load(path: Path | str, *, game: Game | None = None) -> Network:
    """Load a network from a model file or a run folder (its best checkpoint), and verify its checksums.

    >>> load("runs/mine").patterns
    ('0123', '4567', '0145', '1256', '569a')

    `game` is the one that it must be for. A game of your program that `make` does not know must be given.
    """
    return load_model(find_model(path), game=game)


def evaluate(
    agent: Agent,
    *,
    games: SupportsIndex | str = 1000,
    seed: SupportsIndex = 1,
    threads: SupportsIndex | None = None,
    until: SupportsIndex | None = None,
    cluster: str | None = None,
) -> Summary:
    """Play `games` games with learning off. The same seed gives the same games, with any number of threads.

    >>> summary = evaluate(Agent(load("runs/mine")), games=100, seed=2)
    >>> summary.games, summary.win_tile
    (100, 2048)
    >>> summary.mean > 5 * summary.interval
    True

    `episodes` of the result are the games one by one: scores, moves and largest tiles, as arrays.

    With `until`, a game ends as soon as that tile is on the board, such as 2048. The scores are then those at that moment.

    With `cluster` a Ray cluster plays them: "HOST:PORT" of its head, "auto" for the one that runs on this machine, or "local"
    to start one. `threads` are then those of each worker, 1 by default. The games are the same.

    The exception to the first rule is an agent with a `move_time`: how deep it searches in that time varies.
    """
    play = None
    if cluster is not None:
        from afterstate.cluster.evaluation import play_on

        play = play_on(cluster)
    return measure(agent, games=games, seed=seed, threads=threads, until=plain(until), play=play).finished()


def training_games(run: Path | str, *, game: Game | None = None) -> Episodes:
    """Every training game of a run, in the order of their numbers; `Run.episodes` are the same.

    >>> games = training_games("runs/mine")
    >>> len(games.scores), int(games.largest.max())
    (1500, 2048)
    """
    folder = RunFolder.open(run)
    return GamesFile(folder.games).read(game or game_of(folder.read_config()))
