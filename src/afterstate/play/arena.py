"""Many games of one player, over threads: how strong is it?"""

import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, time
from typing import IO

import numpy as np

from afterstate.games.results import Results, Summary, make_results, summarise
from afterstate.kernel import u64
from afterstate.learning.episode import FROZEN, make_record, make_seat, play_games
from afterstate.learning.rules import TD
from afterstate.learning.workers import Share, Workers, count_threads, play_frozen, stop_on_signal
from afterstate.network.modelfile import atomic_write
from afterstate.play.agent import Agent
from afterstate.play.episode import episode_line
from afterstate.rng import Purpose
from afterstate.search.lookahead import Lookahead, renew
from afterstate.search.statistics import SearchStatistics, gather
from afterstate.units import check_seed, parse_count


@dataclass(frozen=True)
class Evaluation:
    """The games that were played; fewer than asked for if a stop came in between."""

    summary: Summary | None  # None if no game was finished
    results: Results
    stopped: bool
    search: SearchStatistics | None = None  # what the player's search did, if it searches


class _NothingPlayedError(Exception):
    """A stop came before the first game."""


def evaluate(agent: Agent, *, games: int = 1000, seed: int = 1, threads: int | None = None) -> Summary:
    """Play `games` games with learning off. The same seed gives the same games, whatever the number of threads.

    (Unless the agent has a time for each move: how far it comes in it is never the same.)
    """
    evaluation = play_match(agent, games=games, seed=seed, threads=threads)
    if evaluation.summary is None or evaluation.stopped:
        raise KeyboardInterrupt
    return evaluation.summary


def play_match(
    agent: Agent,
    *,
    games: int,
    seed: int,
    threads: int | None = None,
    save: Path | None = None,
    on_tick: Callable[[Share], None] | None = None,
) -> Evaluation:
    """Play games, and write them to an episode file if `save` names one."""
    games = parse_count(games, name="games")
    check_seed(seed)
    stop = threading.Event()
    workers = Workers(count_threads(threads), stop)
    with stop_on_signal(stop):
        if save is None and not agent.searches:
            return Evaluation(*play_frozen(agent.network, games, seed, workers, on_tick=on_tick), stopped=stop.is_set())
        match = _Match(agent, games, seed, workers, keep=save is not None)
        try:
            with nullcontext() if save is None else atomic_write(save) as file:
                return match.play(file, on_tick)
        except _NothingPlayedError:  # and nothing written: a file that was there stays
            return Evaluation(None, make_results(0), stopped=stop.is_set())


class _Match:
    """As `play_frozen`, one game a call: each may be written down, and a search begins each with an empty table."""

    def __init__(self, agent: Agent, games: int, seed: int, workers: Workers, *, keep: bool) -> None:
        self.network, self.games, self.seed, self.workers = agent.network, games, seed, workers
        self.halt = np.zeros(1, np.int64)
        self.views = [agent.make_view(self.halt) for _ in range(workers.threads)]
        self.records = [make_record(self.network.game.longest) if keep else None for _ in range(workers.threads)]
        self.seats = [make_seat(self.network, FROZEN if record is None else record) for record in self.records]
        self.results = make_results(games)
        self.waiting: dict[int, bytes] = {}  # lines of games that were finished before one ahead of them
        self.played = 0  # games 0, 1, ... that are finished, without a gap
        self.lock = threading.Lock()

    def play(self, file: IO[bytes] | None, on_tick: Callable[[Share], None] | None) -> Evaluation:
        """Play all games -> those before the first that a stop left unfinished; the lines of a file are in their order."""

        def tick(share: Share) -> None:
            if on_tick:
                statistics = gather(self.views)
                on_tick(share if statistics is None else Share(share.games, statistics.moves))

        self._play_one(0, 0, 0)  # compile before the clock starts
        began = perf_counter()
        self.workers.run(
            lambda thread, first, _: self._one(thread, first, file),
            0, self.games, chunk=1, on_tick=tick, on_stop=self._end_searches,
        )  # fmt: skip
        seconds = perf_counter() - began
        if self.played == 0:
            raise _NothingPlayedError
        results = self.results.part(0, self.played)
        summary = summarise(self.network.game, results, seconds)
        return Evaluation(summary, results, stopped=self.workers.stop.is_set(), search=gather(self.views))

    def _end_searches(self) -> None:
        if any(isinstance(view, Lookahead) for view in self.views):
            self.halt[0] = 1

    def _one(self, thread: int, number: int, file: IO[bytes] | None) -> int:
        """Play game `number`, and write its line as soon as those before it are written -> its moves."""
        tick = time()
        renew(self.views[thread])
        self._play_one(thread, number, 1)
        if self.halt[0]:
            return 0  # the search has ended before the game, and the rest of it was played without
        moves = int(self.results.moves[number])
        record = self.records[thread]
        line = b"" if record is None else episode_line(self.network.game, record, moves, tick, time())
        with self.lock:
            self.waiting[number] = line
            while self.played in self.waiting:
                done = self.waiting.pop(self.played)
                if file is not None:
                    file.write(done)
                self.played += 1
        return moves

    def _play_one(self, thread: int, first: int, count: int) -> None:
        play_games(
            self.seats[thread], self.network.game.tables, self.network.lookup, self.views[thread], TD(np.float64(0)),
            u64(self.seed), u64(Purpose.EVAL), first, count, self.results, first,
        )  # fmt: skip
