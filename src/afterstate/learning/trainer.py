"""Training: blocks of games over threads, schedules, checkpoints, evaluations on the way."""

import json
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from afterstate.errors import DivergedError, FileError, ModelError
from afterstate.games.game import Game, State, make
from afterstate.games.results import Results, Summary, make_results, summarise
from afterstate.kernel import u64
from afterstate.learning.episode import play_games
from afterstate.learning.options import TrainOptions
from afterstate.learning.rules import TC, TD
from afterstate.learning.runfolder import RunFolder, options_as_dict
from afterstate.learning.targets import make_target, moves_kept
from afterstate.learning.workers import Share, Workers, count_threads, play_frozen, stop_on_signal
from afterstate.network.greedy import make_desk
from afterstate.network.modelfile import load_model, load_tensors, save_model
from afterstate.network.network import Network, allocate, check_memory, count_weights
from afterstate.network.patterns import default_network, default_symmetry, parse_patterns
from afterstate.rng import Purpose

WARM_UP = 500  # games that one thread plays alone on a fresh network, so that no early update is lost to another thread
RUNAWAY = 1e9  # a value that no game can reach
SAVE_EVERY = 60.0  # seconds between checkpoints of an undisturbed run


@dataclass(frozen=True)
class Progress:
    """How a run is going; sent about ten times a second."""

    games: int
    total: int | None  # games in all, if the run is limited by games
    seconds: float  # of training, over all sittings
    limit: float | None  # seconds in all, if the run is limited by time
    moves_per_s: float  # of the block under way
    block: Summary | None  # the last whole block
    doing: str  # "training" or "evaluating"


class Listener:
    """Hears what a run does. The default hears nothing; a display overrides what it shows."""

    def on_progress(self, progress: Progress) -> None:
        pass

    def on_block(self, games: int, block: Summary) -> None:
        pass

    def on_eval(self, games: int, summary: Summary) -> None:
        pass


@dataclass(frozen=True)
class Run:
    """A training run that has come to its end, or to a stop."""

    folder: Path
    network: Network
    games: int
    seconds: float
    stopped: bool  # before its end, by a signal

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """What was measured: one record for each block and each evaluation."""
        return RunFolder(self.folder).read_metrics()


def game_of(options: TrainOptions) -> Game:
    return make(options.game, rules=options.rules, size=options.size)


def resolve(options: TrainOptions) -> TrainOptions:
    """The same options with every default that depends on others filled in."""
    game = game_of(options)
    name = default_network(game.shape) if options.network is None else options.network
    symmetry = options.symmetry if options.symmetry is not None else default_symmetry(name, game.shape)
    block = options.block if options.games is None else min(options.block, options.games)
    return replace(options, rules=game.rules, network=name, symmetry=symmetry, block=block)


def new_network(options: TrainOptions) -> Network:
    """A fresh network as resolved options say, if there is room for it and for what its learning rule keeps."""
    assert options.network is not None
    assert options.symmetry is not None
    game = game_of(options)
    weights = count_weights(parse_patterns(options.network, game.shape))
    check_memory(4 * weights * (3 if options.method == "tc" else 1))
    return Network(game, options.network, symmetry=options.symmetry, values=options.target)


def train(
    options: TrainOptions,
    *,
    run: Path | str | None = None,
    listener: Listener | None = None,
    stop: threading.Event | None = None,
) -> Run:
    """Start a new run and train to its end, or until `stop` is set or Ctrl-C is pressed."""
    count_threads(options.threads)
    options = resolve(options)
    network = new_network(options)
    folder = RunFolder.plan(run, options, room=3 * network.weights.nbytes)  # last, best, and the one being written
    trainer = Trainer(options, folder, network, listener or Listener(), stop or threading.Event())
    folder.make(options)
    return trainer.run()


def resume(
    run: Path | str,
    given: dict[str, Any] | None = None,
    *,
    listener: Listener | None = None,
    stop: threading.Event | None = None,
) -> Run:
    """Go on with a run from its last checkpoint; `given` are the options that change."""
    folder = RunFolder.open(run)
    options = resolve(folder.read_config().changed(given or {}))
    count_threads(options.threads)
    saved = folder.last.exists()
    network = load_model(folder.last, game=game_of(options), mapped=False) if saved else new_network(options)
    _check_same(network, options, folder)
    trainer = Trainer(options, folder, network, listener or Listener(), stop or threading.Event())
    if saved:
        trainer.restore()
    else:
        folder.rewind_metrics(0)
    if given:
        folder.write_config(options)
    return trainer.run()


def _check_same(network: Network, options: TrainOptions, folder: RunFolder) -> None:
    """Refuse a checkpoint that is not what the run's config says."""
    assert options.network is not None
    pairs = {
        "network": (parse_patterns(options.network, network.game.shape), network.patterns),
        "symmetry": (options.symmetry, network.symmetry),
        "target": (options.target, network.values),
    }
    for key, (said, found) in pairs.items():
        if said != found:
            raise FileError(f"{folder.config} says {key} {said}, but {folder.last} holds {found}: set it back to go on")


class Trainer:
    """One sitting of a run."""

    def __init__(
        self, options: TrainOptions, folder: RunFolder, network: Network, listener: Listener, stop: threading.Event
    ) -> None:
        self.options = options
        self.folder = folder
        self.network = network
        self.game = network.game
        self.listener = listener
        self.stop = stop
        self.workers = Workers(count_threads(options.threads), stop)
        self.rates = options.rates()
        self.games = 0  # played so far, over all sittings
        self.seconds = 0.0  # spent on training so far, over all sittings
        self.evaluated = 0  # games at the last evaluation
        self.in_block = 0  # games played of the block under way
        self.block_seconds = 0.0
        self.results = make_results(options.block)
        self.best = folder.best_so_far()
        self.last_block: Summary | None = None
        self.saved_at = perf_counter()
        self.saved_games = 0
        self.coherence = allocate(2 * network.weights.size) if options.method == "tc" else None
        self.targets = [self._target() for _ in range(self.workers.threads)]
        self.desks = [make_desk(network.lookup, moves=moves_kept(target)) for target in self.targets]

    def _target(self) -> Any:
        options = self.options
        return make_target(
            backward=options.order == "backward",
            decay=options.lambda_,
            horizon=options.horizon,
            steps=options.steps,
            longest=self.game.longest,
        )

    def _rule(self, alpha: float) -> Any:
        return TD(np.float64(alpha)) if self.coherence is None else TC(np.float64(alpha), self.coherence)

    # --- the loop ------------------------------------------------------------------------------------------------------

    def run(self) -> Run:
        """Train to the end, or to a stop; either way the last checkpoint holds all of it."""
        with stop_on_signal(self.stop):
            self._prepare()
            while not self.stop.is_set():
                if self._evaluation_due():
                    self._evaluate()
                elif self._finished():
                    break
                else:
                    self._part()
                    if self.in_block == self.options.block:
                        self._close_block()
                if perf_counter() - self.saved_at > SAVE_EVERY:
                    self.save()
            if self.saved_games != self.games or not self.folder.last.exists():
                self.save()
        return Run(
            self.folder.path, self.network, self.games, self.seconds, stopped=not self._finished() or self._evaluation_due()
        )

    def _prepare(self) -> None:
        """Compile, and touch all memory, before the clock starts and before a second thread does."""
        self._play(0, 0, 0, alpha=self.rates[0][1])
        if self.options.eval_every is not None:
            play_frozen(self.network, 0, self.options.seed, self.workers)
        if self.games == 0:
            self.network.weights.fill(self.options.optimistic / self.network.lookups)
            if self.coherence is not None:
                self.coherence.fill(0.0)

    def _finished(self) -> bool:
        options = self.options
        if options.games is not None and self.games >= options.games:
            return True
        return options.time is not None and self.seconds >= options.time

    def _part(self) -> None:
        """Play until the block ends, the learning rate changes, an evaluation is due, or the run is over."""
        options = self.options
        ends = [self.games - self.in_block + options.block, *(step for step, _ in self.rates)]
        ends += [self.evaluated + options.eval_every] if options.eval_every else []
        ends += [options.games] if options.games is not None else []
        threads = self.workers.threads
        if threads > 1:
            ends.append(WARM_UP)
        end = min(number for number in ends if number > self.games)
        if end <= WARM_UP:
            threads = 1
        alpha = [rate for step, rate in self.rates if step <= self.games][-1]
        began = perf_counter()
        spent, block_spent = self.seconds, self.block_seconds
        before = int(self.results.moves[: self.in_block].sum())

        def play(thread: int, first: int, count: int) -> int:
            self._play(thread, first, count, alpha=alpha)
            at = first - self.games + self.in_block
            return int(self.results.moves[at : at + count].sum())

        def on_tick(share: Share) -> None:
            now = perf_counter() - began
            if options.time is not None and spent + now >= options.time:
                timeout.set()
            self._report("training", share, spent + now, (before + share.moves) / (block_spent + now))

        timeout = threading.Event()
        workers = Workers(threads, _Either(self.stop, timeout))
        played = workers.run(play, self.games, end - self.games, on_tick=on_tick)
        self.games += played
        self.in_block += played
        self.seconds = spent + perf_counter() - began
        self.block_seconds = block_spent + perf_counter() - began

    def _play(self, thread: int, first: int, count: int, *, alpha: float) -> None:
        play_games(
            self.targets[thread], self.game.tables, self.network.lookup, self.network.view, self._rule(alpha),
            self.desks[thread], u64(self.options.seed), u64(Purpose.TRAIN), first, count,
            self.results, first - self.games + self.in_block,
        )  # fmt: skip

    def _report(self, doing: str, share: Share, seconds: float, moves_per_s: float) -> None:
        options = self.options
        training = share.games if doing == "training" else 0
        self.listener.on_progress(
            Progress(self.games + training, options.games, seconds, options.time, moves_per_s, self.last_block, doing)
        )

    # --- what is measured ----------------------------------------------------------------------------------------------

    def _close_block(self) -> None:
        """Statistics of a whole block: to the listener, to the metrics, and to the best checkpoint if it is one."""
        self._check_values()
        block = summarise(self.game, self.results, self.block_seconds)
        self.last_block = block
        alpha = [rate for step, rate in self.rates if step < self.games][-1]
        record = {"kind": "block", "games": self.games, "training_seconds": self.seconds, "alpha": alpha} | _record(block)
        self.folder.append(record)
        self.in_block, self.block_seconds = 0, 0.0
        self.listener.on_block(self.games, block)
        if (block.win_rate, block.mean) > self.best:
            self.best = (block.win_rate, block.mean)
            self._write(self.folder.best, block={"games": self.games, "win_rate": block.win_rate, "mean": block.mean})

    def _check_values(self) -> None:
        """Stop a run whose values have run away. Every value feeds on those after it, so the first boards show it."""
        firsts = [self.network.value(outcome.state) for outcome in self.game.outcomes(State(0))]
        if not all(abs(value) < RUNAWAY for value in firsts):
            kept = f"the checkpoint at game {self.saved_games} is kept" if self.saved_games else "no checkpoint was written"
            raise DivergedError(
                f"the training has diverged by game {self.games}: its values are no longer numbers, or beyond any score. "
                f"Start again with a smaller --alpha than {self.options.alpha}; {kept}"
            )

    def _evaluation_due(self) -> bool:
        every = self.options.eval_every
        return every is not None and self.games > self.evaluated and self.games % every == 0

    def _evaluate(self) -> None:
        """Play with learning off; a stop on the way drops the evaluation, and a resume makes it again."""
        began = perf_counter()

        def on_tick(share: Share) -> None:
            self._report("evaluating", share, self.seconds, share.moves / max(perf_counter() - began, 1e-9))

        summary, _ = play_frozen(self.network, self.options.eval_games, self.options.seed, self.workers, on_tick=on_tick)
        if self.stop.is_set() or summary is None:
            return
        self.evaluated = self.games
        record = {"kind": "eval", "games": self.games, "training_seconds": self.seconds}
        self.folder.append(record | _record(summary))
        self.listener.on_eval(self.games, summary)

    # --- checkpoints ---------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Write the last checkpoint: the network, and the block under way."""
        part = self.results.part(0, self.in_block)
        more: dict[str, Any] = {f"block.{name}": array for name, array in part._asdict().items()}
        if self.coherence is not None:
            more["coherence"] = self.coherence
        self._write(self.folder.last, more=more)
        self.saved_at = perf_counter()
        self.saved_games = self.games

    def _write(self, path: Path, **details: Any) -> None:
        more = details.pop("more", None)
        self.network.training = {
            "options": options_as_dict(self.options),
            "games": self.games,
            "seconds": self.seconds,
            "evaluated": self.evaluated,
            "block_seconds": self.block_seconds,
        } | details
        save_model(self.network, path, more=more)

    def restore(self) -> None:
        """Take up the run where its last checkpoint left it."""
        state = self.network.training
        part = Results(**{name: load_tensors(self.folder.last, [f"block.{name}"])[f"block.{name}"] for name in Results._fields})
        try:
            self.games, self.seconds = int(state["games"]), float(state["seconds"])
            self.evaluated, self.block_seconds = int(state["evaluated"]), float(state["block_seconds"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{self.folder.last} is not a checkpoint: {error}") from error
        if self.coherence is not None:
            self.coherence[:] = load_tensors(self.folder.last, ["coherence"])["coherence"]
        self.in_block = len(part.scores)
        if self.in_block >= self.options.block:
            raise FileError(f"{self.folder.last} holds {self.in_block} games of a block of {self.options.block}")
        self.results.scores[: self.in_block] = part.scores
        self.results.moves[: self.in_block] = part.moves
        self.results.largest[: self.in_block] = part.largest
        self.saved_games = self.games
        self.folder.rewind_metrics(self.games)


class _Either(threading.Event):
    """Set when either of two events is."""

    def __init__(self, one: threading.Event, other: threading.Event) -> None:
        super().__init__()
        self._both = (one, other)

    def is_set(self) -> bool:
        return any(event.is_set() for event in self._both)


def _record(summary: Summary) -> dict[str, Any]:
    """A summary as a line of metrics: its number of games is called `count`, since `games` counts the training."""
    values = summary.as_dict()
    values["count"] = values.pop("games")
    return json.loads(json.dumps(values))  # type: ignore[no-any-return]
