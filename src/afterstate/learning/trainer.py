"""Training: blocks of games on threads, schedules, checkpoints and evaluations."""

import threading
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NoReturn

from afterstate.engine.loop import Seat
from afterstate.engine.workers import Share, count_threads, play_match, stop_on_signal
from afterstate.errors import DivergedError
from afterstate.games.results import Summary, make_results, summarise, usual_tile
from afterstate.learning.checkpoint import RunState, describe, restore_checkpoint, save_checkpoint
from afterstate.learning.compiling import load_or_compile
from afterstate.learning.options import Phase, TrainOptions
from afterstate.learning.plan import Plan, check_same, make_plan, new_network
from afterstate.learning.progress import Learning, Listener, Progress, as_record
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.team import Team
from afterstate.learning.update import MOVES
from afterstate.network.fold import fold
from afterstate.network.modelfile import load_model, save_model
from afterstate.network.network import Network
from afterstate.network.training import Block
from afterstate.rng import Random

COLLAPSE = 0.2  # a block has collapsed if its mean is below this share of the best one
COLLAPSED = 3  # collapsed blocks in a row that stop the run
RUNAWAY = 1e9  # a value that no game can reach
FIRST_BOARDS = 20  # checked for such values
SAVE_EVERY = 60.0  # seconds between checkpoints, at least
SAVE_SHARE = 0.02  # share of the time spent on them, at most
LARGE = 100_000_000  # bytes of a network whose kernels are compiled in a separate process, to save memory


@dataclass(frozen=True)
class Run:
    """A training run that has ended or was stopped."""

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
    plan = make_plan(options)
    network = new_network(plan)
    parts = 2 * plan.numbers + 1  # last, its next version while it is written, and best
    folder = RunFolder.plan(run, plan.options, room=parts * network.weights.nbytes)
    trainer = Trainer(plan, folder, network, listener, stop)
    folder.make(plan.options)
    return trainer.run()


def resume(
    run: Path | str,
    given: dict[str, Any] | None = None,
    *,
    listener: Listener | None = None,
    stop: threading.Event | None = None,
) -> Run:
    """Continue a run from its last checkpoint; `given` are the options that change."""
    folder = RunFolder.open(run)
    plan = make_plan(folder.read_config().changed(given or {}))
    count_threads(plan.options.threads)
    saved = folder.last.exists()
    network = load_model(folder.last, game=plan.game) if saved else new_network(plan)
    check_same(network, plan, folder)
    trainer = Trainer(plan, folder, network, listener, stop)
    if saved:
        trainer.restore()
    else:
        folder.rewind_metrics(0)
    if given:
        folder.write_config(plan.options)
    return trainer.run()


def rehearse(run: Path | str) -> None:
    """Compile all that a run needs, in a separate process; nothing is played, learned or written."""
    folder = RunFolder.open(run)
    plan = make_plan(folder.read_config())
    Trainer(plan, folder, new_network(plan)).load_kernels()


_REHEARSE = "import sys; from afterstate.learning.trainer import rehearse; rehearse(sys.argv[1])"


class Trainer:
    """A run at work: from its start or a resume to its end or a stop."""

    def __init__(
        self,
        plan: Plan,
        folder: RunFolder,
        network: Network,
        listener: Listener | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self.plan = plan
        self.options = plan.options
        self.folder = folder
        self.network = network
        self.listener = listener or Listener()
        self.stop = stop or threading.Event()
        self.team = Team(plan, network, count_threads(plan.options.threads))
        self.state = RunState(results=make_results(plan.options.block))
        self.phase = plan.phases[0]  # of the current block
        self.best = plan.options.rank(*folder.best_so_far())
        self.top = 0.0  # the best mean of a block
        self.low = 0  # blocks in a row that have collapsed
        self.last_block: Summary | None = None
        self.saved_at = perf_counter()
        self.save_seconds = 0.0  # time that the last checkpoint took
        self.saved_games = 0

    # --- the loop ------------------------------------------------------------------------------------------------------

    def run(self) -> Run:
        """Train to the end or until a stop; either way the last checkpoint holds everything learned."""
        with stop_on_signal(self.stop):
            self._prepare()
            while not self.stop.is_set():
                if self._evaluation_due():
                    self._evaluate()
                elif self._finished():
                    break
                else:
                    self._part()
                    if self.state.in_block == self.options.block:
                        self._close_block()
                if perf_counter() - self.saved_at > max(SAVE_EVERY, self.save_seconds / SAVE_SHARE):
                    self.save()
            if self.saved_games != self.state.games or not self.folder.last.exists():
                self.save()
        stopped = not self._finished() or self._evaluation_due()
        return Run(self.folder.path, self.network, self.state.games, self.state.seconds, stopped=stopped)

    def _prepare(self) -> None:
        """Load or compile the kernels, and touch all memory, before the clock starts and before a second thread does."""
        if self.network.weights.nbytes < LARGE:
            self.load_kernels()
        else:
            load_or_compile(self.load_kernels, _REHEARSE, [str(self.folder.path)], self.stop)
        if self.state.games == 0:
            self.team.begin()

    def load_kernels(self) -> None:
        """Call every kernel that the run will need, without playing."""
        self.team.load_kernels()
        self._check_values()
        if self.options.eval_every is not None:
            play_match(self._players(), 0, self.options.seed, self.stop)

    def _players(self) -> list[Seat]:
        """Seats to play with learning off."""
        return [Seat(self.plan.game, self.network.lookup) for _ in range(self.team.threads)]

    def _finished(self) -> bool:
        options = self.options
        if options.games is not None and self.state.games >= options.games:
            return True
        return options.time is not None and self.state.seconds >= options.time

    def _phase(self) -> Phase:
        """The phase of the next game."""
        state = self.state
        return [phase for phase in self.plan.phases if phase.start <= (state.seconds if phase.by_time else state.games)][-1]

    def _part_ends(self) -> int:
        """The game before which training pauses: the block ends, the rate changes, or it is time for an evaluation."""
        options, state = self.options, self.state
        ends = [state.games - state.in_block + options.block]
        ends += [int(phase.start) for phase in self.plan.phases if not phase.by_time]
        ends += [state.evaluated + options.eval_every] if options.eval_every else []
        ends += [options.games] if options.games is not None else []
        return min(number for number in ends if number > state.games)

    def _part(self) -> None:
        """Play until the next pause, or until the run is over."""
        options, state = self.options, self.state
        phase = self.phase = self._phase()
        limits = [later.start for later in self.plan.phases if later.by_time and later.start > state.seconds]
        limits += [options.time] if options.time is not None else []
        began = perf_counter()
        spent, block_spent = state.seconds, state.block_seconds
        before = int(self.team.sums()[MOVES])
        timeout = threading.Event()

        def on_tick(share: Share) -> None:
            now = perf_counter() - began
            if limits and spent + now >= min(limits):
                timeout.set()
            self._report("training", share, spent + now, (before + share.moves) / (block_spent + now))

        count = self._part_ends() - state.games
        results = state.results.part(state.in_block, state.in_block + count)
        played = self.team.learn(phase, state.games, results, stop=_Either(self.stop, timeout), on_tick=on_tick)
        state.games += played
        state.in_block += played
        state.seconds = spent + perf_counter() - began
        state.block_seconds = block_spent + perf_counter() - began

    def _report(self, doing: str, share: Share, seconds: float, moves_per_s: float) -> None:
        training = share.games if doing == "training" else 0
        self.listener.on_progress(
            Progress(
                games=self.state.games + training,
                total=self.options.games,
                seconds=seconds,
                limit=self.options.time,
                moves_per_s=moves_per_s,
                block=self.last_block,
                learning=Learning.of(self.team.sums()),
                doing=doing,
            )
        )

    # --- what is measured ----------------------------------------------------------------------------------------------

    def _close_block(self) -> None:
        """Report a finished block to the listener and the metrics, and save the network if it is the best one."""
        state = self.state
        self._check_values()
        block = self.last_block = summarise(self.plan.game, state.results, state.block_seconds)
        self._check_score(block)
        state.usual = usual_tile(state.results)
        self.folder.append(self._block_record(block))
        self.team.forget_sums()
        state.in_block, state.block_seconds = 0, 0.0
        self.listener.on_block(state.games, block)
        rank = self.options.rank(block.win_rate, block.mean)
        if rank > self.best:
            self.best = rank
            self._save_best(block)

    def _block_record(self, block: Summary) -> dict[str, Any]:
        """A line of the metrics."""
        state = self.state
        record = {"kind": "block", "games": state.games, "training_seconds": state.seconds}
        record |= {"method": self.phase.method, "alpha": self.phase.alpha}
        record |= as_record(block)
        if learning := Learning.of(self.team.sums()):
            record |= {"mean_error": learning.error, "mean_rate": learning.rate, "out_of_range": learning.outside}
            record |= {"moves_per_s": learning.moves / state.block_seconds}  # including restarts
        return record

    def _save_best(self, block: Summary) -> None:
        """Save the current network as the best, to play with."""
        player = fold(self.network, self.plan.small) if self.plan.small else self.network
        measured = Block(self.state.games, block.win_rate, block.mean)
        player.training = describe(self.plan, self.team, self.state, block=measured)
        save_model(player, self.folder.best)

    def _check_values(self) -> None:
        """Stop a run that has diverged. Every value builds on later ones, so the first boards show it."""
        states = [self.plan.game.start(Random(self.options.seed, number=number)) for number in range(FIRST_BOARDS)]
        firsts = [self.network.value(state) for state in states]
        if not all(abs(value) < RUNAWAY for value in firsts):
            self._give_up("has diverged", "its values are no longer numbers, or beyond any score")

    def _check_score(self, block: Summary) -> None:
        """Stop a run that has forgotten how to play."""
        self._follow(block.mean)
        if self.low == COLLAPSED:
            self._give_up(
                "has collapsed", f"a mean of {block.mean:.0f} after a best of {self.top:.0f}, {COLLAPSED} blocks in a row"
            )

    def _follow(self, mean: float) -> None:
        """Update the best mean of a block, and how many blocks in a row are far below it."""
        self.top = max(self.top, mean)
        self.low = self.low + 1 if mean < COLLAPSE * self.top else 0

    def _give_up(self, what: str, why: str) -> NoReturn:
        """End a run that no longer learns: say what to change, and which checkpoints are kept."""
        kept = [f"the {name} checkpoint is kept in {path}" for name, path in self.folder.checkpoints if path.exists()]
        raise DivergedError(
            f"the training {what} by game {self.state.games}: {why}. Start again with a smaller --alpha than "
            f"{self.phase.alpha:g}, or a smaller --lambda; {' and '.join(kept) or 'no checkpoint was written'}"
        )

    def _evaluation_due(self) -> bool:
        every, games = self.options.eval_every, self.state.games
        return every is not None and games > self.state.evaluated and games % every == 0

    def _evaluate(self) -> None:
        """Play with learning off; a stop drops the evaluation, and a resume repeats it."""
        began = perf_counter()

        def on_tick(share: Share) -> None:
            self._report("evaluating", share, self.state.seconds, share.moves / max(perf_counter() - began, 1e-9))

        summary, _ = play_match(self._players(), self.options.eval_games, self.options.seed, self.stop, on_tick=on_tick)
        if self.stop.is_set() or summary is None:
            return
        self.state.evaluated = self.state.games
        record = {"kind": "eval", "games": self.state.games, "training_seconds": self.state.seconds}
        self.folder.append(record | as_record(summary))
        self.listener.on_eval(self.state.games, summary)

    # --- checkpoints ---------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Write the last checkpoint, if the values have not diverged."""
        self._check_values()
        began = perf_counter()
        save_checkpoint(self.folder.last, self.plan, self.team, self.state)
        self.saved_at = perf_counter()
        self.save_seconds = self.saved_at - began
        self.saved_games = self.state.games

    def restore(self) -> None:
        """Continue from the last checkpoint."""
        self.state = restore_checkpoint(self.folder.last, self.plan, self.network, self.team)
        self.saved_games = self.state.games
        self.folder.rewind_metrics(self.state.games)
        for record in self.folder.read_metrics():
            if record["kind"] == "block":
                self._follow(record["mean"])


class _Either(threading.Event):
    """Set when either of two events is."""

    def __init__(self, one: threading.Event, other: threading.Event) -> None:
        super().__init__()
        self._both = (one, other)

    def is_set(self) -> bool:
        return any(event.is_set() for event in self._both)
