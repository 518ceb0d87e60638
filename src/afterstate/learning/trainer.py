"""Training: blocks of games over threads, schedules, checkpoints, evaluations on the way."""

import threading
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import DivergedError, FileError, ModelError
from afterstate.games.results import Results, Summary, make_results, summarise, usual_tile
from afterstate.kernel import u64
from afterstate.learning.apart import load_or_compile
from afterstate.learning.episode import make_seat, play_games
from afterstate.learning.options import Phase, TrainOptions
from afterstate.learning.plan import check_same, game_of, new_network, resolve, small_patterns
from afterstate.learning.progress import Figures, Listener, Progress, as_record
from afterstate.learning.rules import MOVES
from afterstate.learning.runfolder import RunFolder, options_as_dict
from afterstate.learning.shared import SharedTables
from afterstate.learning.starts import make_starts
from afterstate.learning.targets import make_target
from afterstate.learning.workers import Share, Workers, count_threads, play_frozen, stop_on_signal
from afterstate.network.fold import fold
from afterstate.network.modelfile import has_tensors, load_model, load_tensors, save_model
from afterstate.network.network import Network
from afterstate.rng import Purpose, Random

COLLAPSE = 0.2  # a block's mean below this part of the best one
COLLAPSED = 3  # such blocks in a row: the run is stopped
WARM_UP = 500  # games that one thread plays alone on a fresh network, so that no early update is lost to another thread
RUNAWAY = 1e9  # a value that no game can reach
FIRST_BOARDS = 20  # that are looked at for it
SAVE_EVERY = 60.0  # seconds between checkpoints of an undisturbed run, at least
SAVE_SHARE = 0.02  # part of the time that goes into them, at most
LARGE = 100_000_000  # bytes of a network whose run does not keep what a compiler keeps as well


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
    parts = 2 * options.numbers_a_weight + 1  # last, the one being written, and best
    folder = RunFolder.plan(run, options, room=parts * network.weights.nbytes)
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
    network = load_model(folder.last, game=game_of(options)) if saved else new_network(options)
    check_same(network, options, folder)
    trainer = Trainer(options, folder, network, listener or Listener(), stop or threading.Event())
    if saved:
        trainer.restore()
    else:
        folder.rewind_metrics(0)
    if given:
        folder.write_config(options)
    return trainer.run()


def rehearse(run: Path | str) -> None:
    """Compile all that a run needs; nothing is played, learned or written. For a process of its own."""
    folder = RunFolder.open(run)
    options = resolve(folder.read_config())
    Trainer(options, folder, new_network(options), Listener(), threading.Event()).load_kernels()


_REHEARSE = "import sys; from afterstate.learning.trainer import rehearse; rehearse(sys.argv[1])"


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
        self.phases = options.phases()
        self.block_phase = self.phases[0]  # of the block under way
        self.small = small_patterns(options)
        self.games = 0  # played so far, over all sittings
        self.usual = 0  # index of the largest tile that is nothing unusual, by the last block
        self.seconds = 0.0  # spent on training so far, over all sittings
        self.evaluated = 0  # games at the last evaluation
        self.in_block = 0  # games played of the block under way
        self.block_seconds = 0.0
        self.results = make_results(options.block)
        self.best = options.rank(*folder.best_so_far())
        self.top = 0.0  # the best mean of a block
        self.low = 0  # blocks in a row that have collapsed
        self.last_block: Summary | None = None
        self.saved_at = perf_counter()
        self.save_seconds = 0.0  # that the last checkpoint took
        self.saved_games = 0
        self.tables = SharedTables(network, self.workers.threads, keeps_coherence=options.keeps_coherence)
        self.seats = [make_seat(network, self._target(), self._starts()) for _ in range(self.workers.threads)]

    def _target(self) -> Any:
        options = self.options
        return make_target(
            backward=options.order == "backward",
            decay=options.lambda_,
            horizon=options.horizon,
            steps=options.steps,
            longest=self.game.longest,
        )

    def _starts(self) -> Any:
        return make_starts(self.options.starts, longest=self.game.longest, stages=len(self.network.stages))

    def _phase(self) -> Phase:
        """The phase of the next game."""
        return [phase for phase in self.phases if phase.start <= (self.seconds if phase.by_time else self.games)][-1]

    def _sums(self) -> NDArray[np.float64]:
        """What all threads have tallied since the block began."""
        sums: NDArray[np.float64] = np.array([seat.tally.sums for seat in self.seats]).sum(axis=0)
        return sums

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
                if perf_counter() - self.saved_at > max(SAVE_EVERY, self.save_seconds / SAVE_SHARE):
                    self.save()
            if self.saved_games != self.games or not self.folder.last.exists():
                self.save()
        return Run(
            self.folder.path, self.network, self.games, self.seconds, stopped=not self._finished() or self._evaluation_due()
        )

    def _prepare(self) -> None:
        """Load or compile the kernels, and touch all memory, before the clock starts and before a second thread does."""
        if self.network.weights.nbytes < LARGE:
            self.load_kernels()
        else:
            load_or_compile(self.load_kernels, _REHEARSE, [str(self.folder.path)], self.stop)
        if self.games == 0:
            self.tables.clear()
            first = self.network.stage_weights  # later stages begin with what the first has learned
            self.network.weights[:first] = self.options.optimistic / self.network.lookups

    def load_kernels(self) -> None:
        """Call every kernel that the run will need, for no games."""
        for method in dict.fromkeys(phase.method for phase in self.phases):
            self._play(0, 0, 0, next(phase for phase in self.phases if phase.method == method))
        self.tables.settle()
        self._check_values()
        if self.options.eval_every is not None:
            play_frozen(self.network, 0, self.options.seed, self.workers)

    def _finished(self) -> bool:
        options = self.options
        if options.games is not None and self.games >= options.games:
            return True
        return options.time is not None and self.seconds >= options.time

    def _part(self) -> None:
        """Play until the block ends, the learning rate changes, an evaluation is due, or the run is over."""
        options = self.options
        ends = [self.games - self.in_block + options.block]
        ends += [int(phase.start) for phase in self.phases if not phase.by_time]
        ends += [self.evaluated + options.eval_every] if options.eval_every else []
        ends += [options.games] if options.games is not None else []
        threads = self.workers.threads
        if threads > 1:
            ends.append(WARM_UP)
        end = min(number for number in ends if number > self.games)
        if end <= WARM_UP:
            threads = 1
        phase = self.block_phase = self._phase()
        limits = [later.start for later in self.phases if later.by_time and later.start > self.seconds]
        limits += [options.time] if options.time is not None else []
        began = perf_counter()
        spent, block_spent = self.seconds, self.block_seconds
        before = int(self._sums()[MOVES])

        def play(thread: int, first: int, count: int) -> int:
            tally = self.seats[thread].tally
            moves = tally.sums[MOVES]
            self._play(thread, first, count, phase)
            played = int(tally.sums[MOVES] - moves)
            self.tables.played(thread, played)
            return played

        def on_tick(share: Share) -> None:
            now = perf_counter() - began
            if limits and spent + now >= min(limits):
                timeout.set()
            self._report("training", share, spent + now, (before + share.moves) / (block_spent + now))

        timeout = threading.Event()
        workers = Workers(threads, _Either(self.stop, timeout))
        self.tables.renew()
        played = workers.run(play, self.games, end - self.games, on_tick=on_tick)
        self.tables.settle()
        self.games += played
        self.in_block += played
        self.seconds = spent + perf_counter() - began
        self.block_seconds = block_spent + perf_counter() - began

    def _play(self, thread: int, first: int, count: int, phase: Phase) -> None:
        rule = self.tables.rule(phase.method, phase.alpha)
        play_games(
            self.seats[thread], self.game.tables, self.tables.lookups[thread], self.network.view, rule,
            u64(self.options.seed), u64(Purpose.TRAIN), first, count,
            self.results, first - self.games + self.in_block,
        )  # fmt: skip

    def _report(self, doing: str, share: Share, seconds: float, moves_per_s: float) -> None:
        options = self.options
        training = share.games if doing == "training" else 0
        self.listener.on_progress(
            Progress(
                games=self.games + training,
                total=options.games,
                seconds=seconds,
                limit=options.time,
                moves_per_s=moves_per_s,
                block=self.last_block,
                figures=Figures.of(self._sums()),
                doing=doing,
            )
        )

    # --- what is measured ----------------------------------------------------------------------------------------------

    def _close_block(self) -> None:
        """Statistics of a whole block: to the listener, to the metrics, and to the best checkpoint if it is one."""
        self._check_values()
        block = summarise(self.game, self.results, self.block_seconds)
        self._check_score(block)
        self.usual = usual_tile(self.results)
        self.last_block = block
        record = {"kind": "block", "games": self.games, "training_seconds": self.seconds}
        record |= {"method": self.block_phase.method, "alpha": self.block_phase.alpha}
        record |= as_record(block)
        if figures := Figures.of(self._sums()):
            record |= {"mean_error": figures.error, "mean_rate": figures.rate, "out_of_range": figures.outside}
            record |= {"moves_per_s": figures.moves / self.block_seconds}  # those of restarts, too
        self.folder.append(record)
        for seat in self.seats:
            seat.tally.sums.fill(0.0)
        self.in_block, self.block_seconds = 0, 0.0
        self.listener.on_block(self.games, block)
        rank = self.options.rank(block.win_rate, block.mean)
        if rank > self.best:
            self.best = rank
            player = fold(self.network, self.small) if self.small else self.network
            measured = {"games": self.games, "win_rate": block.win_rate, "mean": block.mean}
            self._write(player, self.folder.best, block=measured)

    def _check_values(self) -> None:
        """Stop a run whose values have run away. Every value feeds on those after it, so the first boards show it."""
        states = [self.game.start(Random(self.options.seed, number=number)) for number in range(FIRST_BOARDS)]
        firsts = [self.network.value(state) for state in states]
        if not all(abs(value) < RUNAWAY for value in firsts):
            self._give_up("has diverged", "its values are no longer numbers, or beyond any score")

    def _check_score(self, block: Summary) -> None:
        """Stop a run that has forgotten how to play."""
        self._follow(block.mean)
        if self.low == COLLAPSED:
            self._give_up(
                "has collapsed", f"a mean of {block.mean:.0f} after one of {self.top:.0f}, {COLLAPSED} blocks in a row"
            )

    def _follow(self, mean: float) -> None:
        """Keep the best mean of a block, and how many blocks in a row are far below it."""
        self.top = max(self.top, mean)
        self.low = self.low + 1 if mean < COLLAPSE * self.top else 0

    def _give_up(self, what: str, why: str) -> NoReturn:
        """End a run that learns nothing any more: say what to change, and which good checkpoint there is."""
        kept = [f"the {name} checkpoint is kept in {path}" for name, path in self.folder.checkpoints if path.exists()]
        raise DivergedError(
            f"the training {what} by game {self.games}: {why}. Start again with a smaller --alpha than "
            f"{self.block_phase.alpha:g}, or a smaller --lambda; {' and '.join(kept) or 'no checkpoint was written'}"
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
        self.folder.append(record | as_record(summary))
        self.listener.on_eval(self.games, summary)

    # --- checkpoints ---------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Write the last checkpoint, if its values are sound: the network, and the block under way."""
        self._check_values()
        began = perf_counter()
        part = self.results.part(0, self.in_block)
        more: dict[str, Any] = {f"block.{name}": array for name, array in part._asdict().items()}
        if self.tables.coherence is not None:
            more["coherence"] = self.tables.coherence
        if self.options.starts == "carousel":
            for number, seat in enumerate(self.seats):
                more |= {f"pool.{number}.{name}": array for name, array in seat.starts._asdict().items()}
        self._write(self.network, self.folder.last, more=more)
        self.saved_at = perf_counter()
        self.save_seconds = self.saved_at - began
        self.saved_games = self.games

    def _write(self, network: Network, path: Path, **details: Any) -> None:
        more = details.pop("more", None)
        network.training = {
            "options": options_as_dict(self.options),
            "games": self.games,
            "seconds": self.seconds,
            "evaluated": self.evaluated,
            "block_seconds": self.block_seconds,
            "tally": list(self._sums()),
            "usual": self.usual,
        } | details
        save_model(network, path, more=more)

    def restore(self) -> None:
        """Take up the run where its last checkpoint left it."""
        state = self.network.training
        part = Results(**{name: load_tensors(self.folder.last, [f"block.{name}"])[f"block.{name}"] for name in Results._fields})
        try:
            self.games, self.seconds = int(state["games"]), float(state["seconds"])
            self.evaluated, self.block_seconds = int(state["evaluated"]), float(state["block_seconds"])
            self.seats[0].tally.sums[:] = state["tally"]
            self.usual = int(state.get("usual", 0))  # older checkpoints do not have it
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{self.folder.last} is not a checkpoint: {error}") from error
        if self.tables.coherence is not None:
            self.tables.coherence[:] = load_tensors(self.folder.last, ["coherence"])["coherence"]
        if self.options.starts == "carousel":
            self._restore_pools()
        self.in_block = len(part.scores)
        if self.in_block >= self.options.block:
            raise FileError(f"{self.folder.last} holds {self.in_block} games of a block of {self.options.block}")
        self.results.scores[: self.in_block] = part.scores
        self.results.moves[: self.in_block] = part.moves
        self.results.largest[: self.in_block] = part.largest
        self.saved_games = self.games
        self.folder.rewind_metrics(self.games)
        for record in self.folder.read_metrics():
            if record["kind"] == "block":
                self._follow(record["mean"])

    def _restore_pools(self) -> None:
        """Give each thread the boards that it had; a thread that was not there before begins without."""
        for number, seat in enumerate(self.seats):
            names = [f"pool.{number}.{name}" for name in seat.starts._fields]
            if number == 0 or has_tensors(self.folder.last, names):
                for array, name in zip(seat.starts, names, strict=True):
                    array[...] = load_tensors(self.folder.last, [name])[name]


class _Either(threading.Event):
    """Set when either of two events is."""

    def __init__(self, one: threading.Event, other: threading.Event) -> None:
        super().__init__()
        self._both = (one, other)

    def is_set(self) -> bool:
        return any(event.is_set() for event in self._both)
