"""Threads that learn together on one network, for training runs and `afterstate bench`."""

import threading
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from afterstate.engine.loop import Seat
from afterstate.engine.workers import Share, Workers
from afterstate.games.results import Results, make_results
from afterstate.learning.backups import slots_needed
from afterstate.learning.copies import SharedTables
from afterstate.learning.learner import Learner
from afterstate.learning.options import Phase
from afterstate.learning.plan import Plan
from afterstate.learning.starts import make_starts
from afterstate.learning.update import MOVES, make_tally
from afterstate.network.network import Network
from afterstate.rng import Purpose

WARM_UP = 500  # games that one thread plays alone on a fresh network, so that no early update is lost to another thread


class Team:
    """A seat for each thread, and the tables they share. `copied` weights of each table have copies; see `SharedTables`."""

    def __init__(self, plan: Plan, network: Network, threads: int, *, copied: int | None = None, tidies: bool = True) -> None:
        self.plan = plan
        self.network = network
        self.threads = threads
        self.tables = SharedTables(network, plan.rules, threads, size=copied, tidies=tidies)
        self.tallies = [make_tally(plan.game.most) for _ in range(threads)]
        self._backups = [plan.make_backup() for _ in range(threads)]
        self.seats = [
            Seat(
                plan.game, lookup, slots=slots_needed(backup),
                observer=make_starts(plan.options.starts, longest=plan.game.longest, stages=len(plan.stages)),
            )
            for lookup, backup in zip(self.tables.lookups, self._backups, strict=True)
        ]  # fmt: skip

    def load_kernels(self) -> None:
        """Call every kernel that is needed, without playing."""
        nothing = make_results(0)
        for name in self.plan.rules:
            self._let_learn(next(phase for phase in self.plan.phases if phase.method == name))
            self._play(0, 0, nothing)
        self.tables.settle()

    def begin(self) -> None:
        """Reset the network. This touches all memory before a second thread needs it."""
        self.tables.clear()
        first = self.network.stage_weights  # later stages begin with what the first has learned
        self.network.weights[:first] = self.plan.options.optimistic / self.network.lookups

    def learn(
        self,
        phase: Phase,
        first: int,
        results: Results,
        *,
        stop: threading.Event,
        on_tick: Callable[[Share], None] | None = None,
    ) -> int:
        """Play games number first, first + 1, ... and learn from them, until `results` is full or a stop -> games played.

        One thread plays the first games of a fresh network alone. After an error, results without moves (-1) tell which games
        were not finished.
        """
        results.moves.fill(-1)
        self._let_learn(phase)
        count = len(results.scores)
        alone = min(max(WARM_UP - first, 0), count) if self.threads > 1 else 0
        done = Share()
        for threads, end in ((1, alone), (self.threads, count)):
            if done.games < end and not stop.is_set():
                part = results.part(done.games, end)
                done = self._learn_part(threads, first + done.games, part, done, stop, on_tick)
        return done.games

    @property
    def ahead(self) -> int:
        """Games that were learned from before `learn` was asked for them. None here; see `cluster.training`."""
        return 0

    def spent(self, elapsed: float) -> float:
        """How much of the time since `learn` was called its games took: all of it, unless some were learned from before."""
        return elapsed

    def _learn_part(
        self,
        threads: int,
        first: int,
        results: Results,
        before: Share,
        stop: threading.Event,
        on_tick: Callable[[Share], None] | None,
    ) -> Share:
        """Learn on this many threads -> games and moves so far, including `before`."""
        share = Share()

        def play(thread: int, start: int, count: int) -> int:
            at = start - first
            moves = self._play(thread, start, results.part(at, at + count))
            self.tables.played(thread, moves)
            return moves

        def tick(now: Share) -> None:
            nonlocal share
            share = Share(before.games + now.games, before.moves + now.moves)
            if on_tick:
                on_tick(share)

        self.tables.renew()
        try:
            Workers(threads, stop).run(play, first, len(results.scores), on_tick=tick)
        finally:
            self.tables.settle()
        return share

    def _let_learn(self, phase: Phase) -> None:
        rule = self.tables.rule(phase.method, phase.alpha)
        for seat, backup, tally in zip(self.seats, self._backups, self.tallies, strict=True):
            seat.learner = Learner(rule, backup, tally)

    def _play(self, thread: int, first: int, results: Results) -> int:
        """Play games on one thread -> their moves, including restarts."""
        sums = self.tallies[thread].sums
        before = sums[MOVES]
        self.seats[thread].play(self.plan.options.seed, Purpose.TRAIN, first, results)
        return int(sums[MOVES] - before)

    def sums(self) -> NDArray[np.float64]:
        """What all threads have tallied since `forget_sums`."""
        total: NDArray[np.float64] = np.array([tally.sums for tally in self.tallies]).sum(axis=0)
        return total

    def forget_sums(self, start: NDArray[np.float64] | None = None) -> None:
        """Begin a new tally, at 0 or at `start`."""
        for tally in self.tallies:
            tally.sums.fill(0.0)
        if start is not None:
            self.tallies[0].sums[:] = start
