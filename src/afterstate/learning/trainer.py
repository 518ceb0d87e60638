"""Training: blocks of games on threads, schedules, checkpoints and evaluations."""

import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, NoReturn

from afterstate.engine.loop import Seat
from afterstate.engine.workers import Either, Share, play_match, stop_on_signal
from afterstate.errors import AfterstateError, DivergedError
from afterstate.games.points import judge_results
from afterstate.games.results import Summary, make_results, summarise, usual_tile
from afterstate.learning.checkpoint import RunState, describe, is_slim, restore_checkpoint
from afterstate.learning.compiling import load_or_compile
from afterstate.learning.keeper import InFolder, InMemory, Keeper
from afterstate.learning.options import Phase, TrainOptions, ask_rate
from afterstate.learning.origin import Origin
from afterstate.learning.plan import NOTHING, Objects, Plan, check_objects, check_same, make_plan, new_network
from afterstate.learning.progress import Learning, Listener, Progress, as_record, block_record
from afterstate.learning.run import Run as Run  # noqa: PLC0414  # also found here
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.team import Team
from afterstate.learning.update import MOVES
from afterstate.learning.watch import COLLAPSED, Watch, has_run_away, is_better
from afterstate.network.fold import fold
from afterstate.network.modelfile import ModelFile, open_model
from afterstate.network.network import Network
from afterstate.network.training import Block
from afterstate.threads import count_threads

FIRST_SAVE = 5.0  # seconds of training before the first checkpoint; a large one takes some more to write
SAVE_SHARE = 0.02  # share of the time spent on checkpoints, at most
LARGE = 100_000_000  # bytes of a network whose kernels are compiled in a separate process, to save memory


TeamMaker = Callable[[Plan, Network], Team]


def local_team(plan: Plan, network: Network) -> Team:
    """Threads of this process."""
    return Team(plan, network, count_threads(plan.options.threads))


def train(
    options: TrainOptions,
    *,
    run: Path | str | Literal[False] | None = None,
    listener: Listener | None = None,
    stop: threading.Event | None = None,
    objects: Objects = NOTHING,
    make_team: TeamMaker | None = None,
) -> Run:
    """Start a new run and train to its end, or until `stop` is set or Ctrl-C is pressed.

    Without a name the run has a new folder in runs/, and with `run=False` none. `objects` are what only Python can give.
    `make_team` makes those who play and learn; by default they are threads of this process.
    """
    count_threads(options.threads)
    check_objects(options, objects, has_folder=run is not False)
    plan = make_plan(options, objects)
    network = new_network(plan, keeps_best=run is False)
    if run is False:
        trainer = Trainer(plan, None, network, listener, stop, make_team)
        trainer.find_origin()
        return trainer.run()
    room = (2 * plan.numbers + 1) * network.weights.nbytes  # for last, its next version while it is written, and best
    folder = RunFolder.plan(run, plan.options, room=room)
    trainer = Trainer(plan, folder, network, listener, stop, make_team)
    trainer.find_origin()
    folder.make(plan.options)
    with folder.hold():
        return trainer.run()


def resume(
    run: Path | str,
    given: dict[str, Any] | None = None,
    *,
    listener: Listener | None = None,
    stop: threading.Event | None = None,
    objects: Objects = NOTHING,
    make_team: TeamMaker | None = None,
) -> Run:
    """Continue a run from its last checkpoint; `given` are the options that change."""
    folder = RunFolder.open(run)
    with folder.hold():
        return _resume(folder, given or {}, listener, stop, objects, make_team)


def _resume(
    folder: RunFolder,
    given: dict[str, Any],
    listener: Listener | None,
    stop: threading.Event | None,
    objects: Objects,
    make_team: TeamMaker | None,
) -> Run:
    options = folder.read_config().changed(given)
    check_objects(options, objects, has_folder=True)
    plan = make_plan(options, objects)
    count_threads(plan.options.threads)
    if folder.last.exists():
        with open_model(folder.last) as file:
            check_same(file, plan, folder)
            trainer = Trainer(plan, folder, new_network(plan), listener, stop, make_team)
            trainer.restore(file)
    else:
        trainer = Trainer(plan, folder, new_network(plan), listener, stop, make_team)
        trainer.start_again()
        trainer.find_origin()
    folder.make_folders()
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
        folder: RunFolder | None,  # None: nothing is written
        network: Network,
        listener: Listener | None = None,
        stop: threading.Event | None = None,
        make_team: TeamMaker | None = None,
    ) -> None:
        self.plan = plan
        self.options = plan.options
        self.keeper: Keeper = InMemory() if folder is None else InFolder(folder, plan)
        self.network = network
        self.listener = listener or Listener()
        self.stop = stop or threading.Event()
        self.team = (make_team or local_team)(plan, network)
        self.watch = Watch(plan.options.games, optimistic=plan.options.optimistic)
        self.state = RunState(results=make_results(plan.options.block))
        self.phase = plan.phases[0]  # of the current block
        self.best = self.keeper.best_so_far()
        self.last_block: Summary | None = None
        self.next_save = inf  # by the clock
        self.saved: tuple[int, ...] = ()  # how far the last checkpoint is
        self.slim = False  # whether the last checkpoint has only what play needs
        self.asked: tuple[int, float] | None = None  # the block that a schedule was asked about, and its rate
        self.fresh = True  # there is no checkpoint to continue from
        self.origin: Origin | None = None

    # --- the loop ------------------------------------------------------------------------------------------------------

    def run(self) -> Run:
        """Train to the end or until a stop; either way the last checkpoint holds everything learned."""
        self._note_options()
        with closing(self.keeper), stop_on_signal(self.stop):
            self._prepare()
            try:
                while self._step():
                    if perf_counter() >= self.next_save and not self.team.ahead:
                        self.save()
                self._save_end()
            except DivergedError:
                raise
            except BaseException:
                with suppress(AfterstateError, OSError, MemoryError):  # the error that ends the run is the one to tell
                    if not self.team.ahead:  # else the tables hold more than what is counted
                        self._save_changes()
                raise
        stopped, kept = not self._is_complete(), self.team.tables.kept
        dropped = sum(table.nbytes for table in kept.values()) if self.slim else 0
        return Run(self.keeper, self.network, self.state.games, self.state.seconds, stopped=stopped, dropped=dropped)

    def _step(self) -> bool:
        """Do what is next -> whether there was anything left to do."""
        if self.state.in_block == self.options.block:
            self._close_block()
        elif self.stop.is_set() and not self.team.ahead:
            return False
        elif self._evaluation_due():
            self._evaluate()
        elif self._finished() and not self.team.ahead:
            return False
        else:
            self._part()
        return True

    def find_origin(self) -> None:
        """Open the model that a fresh run starts from, if there is one; refuse one that does not fit."""
        if self.options.from_ is not None:
            self.origin = Origin(self.plan, self.network)

    def _note_options(self) -> None:
        games, every = self.options.games, self.options.eval_every
        if games is not None and every is not None and every > games:
            why = f"--eval-every {every:,} is beyond the {games:,} games of this run"
            self.listener.on_note(f"there will be no evaluation: {why}")

    def _prepare(self) -> None:
        """Load or compile the kernels, and touch all memory, before the clock starts and before a second thread does."""
        if self.keeper.writes and self.network.weights.nbytes >= LARGE:  # the other process reads the folder
            load_or_compile(self.load_kernels, _REHEARSE, [str(self.keeper.path)], self.stop)
        else:
            self.load_kernels()
        if self.fresh:
            self.team.begin()
            taken = None if self.origin is None else self.origin.give(self.network)
            in_memory = self.origin is not None and self.origin.path is None
            self.origin = None  # frees its memory
            self.listener.on_start(self.plan.explain_rate(self.network.lookups), taken)
            if in_memory:
                self.save()  # a resume cannot find its origin again
        if self.keeper.writes:
            self.next_save = perf_counter() + min(FIRST_SAVE, self.options.save_every)

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

    def _is_complete(self) -> bool:
        return self._finished() and not self._evaluation_due()

    def _phase(self, game: int) -> Phase:
        """The phase of a game: of the next one, or of the last."""
        seconds, schedule = self.state.seconds, self.plan.objects.schedule
        found = [phase for phase in self.plan.phases if phase.start <= (seconds if phase.by_time else game)][-1]
        if schedule is None:
            return found
        begin = self.state.games - self.state.in_block  # a function is asked once a block, so that a resume changes nothing
        if self.asked is None or self.asked[0] != begin:
            self.asked = begin, ask_rate(schedule, begin)
        return replace(found, alpha=self.asked[1])

    def _part_ends(self) -> int:
        """The game before which training pauses: the block ends, the rate changes, or it is time for an evaluation."""
        options, state = self.options, self.state
        ends = [state.games - state.in_block + options.block]
        ends += [int(phase.start) for phase in self.plan.phases if not phase.by_time]
        ends += [state.evaluated + options.eval_every] if options.eval_every else []
        ends += [options.games] if options.games is not None else []
        return min(number for number in ends if number > state.games)

    def _part(self) -> None:
        """Play until the next pause, until a checkpoint is due, or until the run is over."""
        options, state = self.options, self.state
        phase = self.phase = self._phase(state.games)
        limits = [later.start for later in self.plan.phases if later.by_time and later.start > state.seconds]
        limits += [options.time] if options.time is not None else []
        began = perf_counter()
        spent, block_spent = state.seconds, state.block_seconds
        before = int(self.team.sums()[MOVES])
        pause = threading.Event()

        def on_tick(share: Share) -> None:
            now = perf_counter() - began
            if (limits and spent + now >= min(limits)) or began + now >= self.next_save:
                pause.set()
            self._report("training", share, spent + now, (before + share.moves) / (block_spent + now))

        results = state.results.part(state.in_block, state.in_block + self._part_ends() - state.games)
        try:
            self.team.learn(phase, state.games, results, stop=Either(self.stop, pause), on_tick=on_tick)
        finally:  # after an error, too, what was played counts
            first, played = state.games, results.finished()
            state.games += played
            state.in_block += played
            seconds = self.team.spent(perf_counter() - began)
            state.seconds, state.block_seconds = spent + seconds, block_spent + seconds
            self.keeper.add_games(first, results.part(0, played))

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
        """Judge a finished block, keep it in the metrics, save the network if it is the best one, and tell the listener.

        The block ends when all of it is on disk. Before that, an error leaves it to a resume.
        """
        state, before = self.state, self.best
        self._check_values()
        block = self.last_block = summarise(self.plan.game, state.results, state.block_seconds)
        record = block_record(state.games, state.seconds, self.phase, block, Learning.of(self.team.sums()))
        stretch = self.watch.see(record)
        if self.watch.collapsed:
            why = f"a mean of {block.mean:.0f} after a best of {self.watch.top:.0f}, {COLLAPSED} blocks in a row"
            self._give_up("has collapsed", why)
        if warning := self.watch.warning:
            record["warning"] = warning
        state.usual = usual_tile(state.results)
        self.keeper.add(record)
        saved: Path | None = None
        if stretch is not None and is_better(stretch, self.best, self.options.best):
            saved = self.keeper.keep_best(self._player(stretch))
            self.best = stretch
        self.team.forget_sums()
        state.in_block, state.block_seconds = 0, 0.0
        self.listener.on_block(state.games, block)
        if warning:
            self.listener.on_warning(warning)
        if self.best is not None and saved is not None:
            self.listener.on_best(self.best, before, saved)

    def _player(self, block: Block | None = None) -> Network:
        """The current network, to play with; `block` is what it was kept for."""
        player = fold(self.network, self.plan.small) if self.plan.small else self.network
        player.training = describe(self.plan, self.team, self.state, block=block)
        return player

    def _check_values(self) -> None:
        """Stop a run that has diverged."""
        if has_run_away(self.network, self.options.seed):
            self._give_up("has diverged", "its values are no longer numbers, or beyond any score")

    def _give_up(self, what: str, why: str) -> NoReturn:
        """End a run that no longer learns: say what to change, and which checkpoints are kept."""
        raise DivergedError(
            f"the training {what} by game {self.state.games}: {why}. Start again with a smaller --alpha than "
            f"{self.phase.alpha:g}, or a smaller --lambda; {self.keeper.kept()}"
        )

    def _evaluation_due(self) -> bool:
        return self.state.games > self.state.evaluated and self.options.evaluates_at(self.state.games)

    def _evaluate(self) -> None:
        """Play with learning off; a stop drops the evaluation, and a resume repeats it."""
        began = perf_counter()

        def on_tick(share: Share) -> None:
            self._report("evaluating", share, self.state.seconds, share.moves / max(perf_counter() - began, 1e-9))

        options, games = self.options, self.state.games
        summary, results = play_match(self._players(), options.eval_games, options.seed, self.stop, on_tick=on_tick)
        if self.stop.is_set() or summary is None:
            return
        record: dict[str, Any] = {"kind": "eval", "games": games, "training_seconds": self.state.seconds} | as_record(summary)
        points = None
        if options.judge is not None:
            points = judge_results(self.plan.game, results, options.judge)
            record |= {"judge": points, "judge_version": options.judge}
        if options.snapshots:
            self.keeper.keep_snapshot(self._player(), games)
        self.keeper.add(record)
        self.state.evaluated = games
        self.listener.on_eval(games, summary, points)

    # --- checkpoints ---------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Write the last checkpoint, if the values have not diverged. What was measured is on the disk before it."""
        self._check_values()
        began = perf_counter()
        self.keeper.keep_last(self.plan, self.team, self.state, slim=self.slim)
        ended = perf_counter()
        if self.keeper.writes:
            self.next_save = ended + max(self.options.save_every, (ended - began) / SAVE_SHARE)
        self.saved = self.state.mark

    def _save_end(self) -> None:
        """Write the last checkpoint; of a complete run only what play needs, unless `keep` asks for all of it."""
        if self._is_complete() and not self.options.keep and self.plan.kept and not self.slim and self.keeper.writes:
            self.slim = True
            self.save()
        else:
            self._save_changes()

    def _save_changes(self) -> None:
        """Write the last checkpoint, unless it holds everything."""
        if self.saved != self.state.mark or not self.keeper.has_last():
            self.save()

    def restore(self, file: ModelFile) -> None:
        """Continue from a checkpoint."""
        state = self.state = restore_checkpoint(file, self.plan, self.team)
        self.saved, self.fresh = state.mark, False
        self.phase = self._phase(max(state.games - 1, 0))  # a block may be complete, but not judged yet
        self.slim = is_slim(file, self.plan)
        lost = self.keeper.rewind(state)
        for record in self.keeper.metrics():
            if record["kind"] == "block":
                self.watch.see(record)
        total = "" if self.options.games is None else f" of {self.options.games:,}"
        self.listener.on_note(f"{self.keeper.path} goes on at game {state.games:,}{total}")
        if lost:
            self.listener.on_note(lost)

    def start_again(self) -> None:
        """Begin at the first game, since there is no checkpoint. What was measured before is kept in a folder of its own."""
        aside = self.keeper.set_aside()
        kept = "" if aside is None else f"; what it had measured is now in {aside}"
        self.listener.on_note(f"{self.keeper.path} has no checkpoint, so it starts again at game 0{kept}")
