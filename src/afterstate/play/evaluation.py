"""How strong is a player? Many games, over threads."""

import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, time
from typing import IO, SupportsIndex

import numpy as np

from afterstate.engine.loop import NOBODY, Seat
from afterstate.engine.record import Record, Recorder, make_recorder
from afterstate.engine.workers import Share, Workers, play_match, stop_on_signal
from afterstate.files import atomic_write
from afterstate.games.results import Results, Summary, make_results, summarise
from afterstate.play.agent import Agent
from afterstate.play.episode_line import episode_line
from afterstate.rng import Purpose
from afterstate.search.lookahead import renew
from afterstate.search.statistics import SearchStatistics, add_up
from afterstate.threads import count_threads
from afterstate.units import check_seed, parse_count, plain


@dataclass(frozen=True)
class Evaluation:
    """The games that were played; fewer than requested if it was stopped."""

    summary: Summary | None  # None if no game was finished
    results: Results
    stopped: bool
    search: SearchStatistics | None = None  # statistics of the player's search, if it searches

    def finished(self) -> Summary:
        """The summary of all games; a KeyboardInterrupt if it was stopped."""
        if self.summary is None or self.stopped:
            raise KeyboardInterrupt
        return self.summary


class _NothingPlayedError(Exception):
    """It was stopped before the first game was finished."""


def evaluate(
    agent: Agent,
    *,
    games: SupportsIndex | str = 1000,
    seed: SupportsIndex = 1,
    threads: SupportsIndex | None = None,
    until: SupportsIndex | None = None,
) -> Summary:
    """Play `games` games with learning off. The same seed gives the same games, with any number of threads.

    `episodes` of the result are the games one by one: scores, moves and largest tiles, as arrays.

    With `until`, a game ends as soon as that tile is on the board, such as 2048. The scores are then those at that moment.

    The exception to the first rule is an agent with a `move_time`: how deep it searches in that time varies.
    """
    return measure(agent, games=games, seed=seed, threads=threads, until=plain(until)).finished()


def measure(
    agent: Agent,
    *,
    games: SupportsIndex | str,
    seed: SupportsIndex,
    threads: SupportsIndex | None = None,
    save: Path | None = None,
    until: int | None = None,
    on_tick: Callable[[Share], None] | None = None,
    stop: threading.Event | None = None,
) -> Evaluation:
    """Play games to their end, or to the tile `until`, and write them to an episode file if `save` names one.

    `stop` ends it early, as Ctrl-C does.
    """
    games, seed = parse_count(games, name="games"), check_seed(seed)
    stop = stop or threading.Event()
    with stop_on_signal(stop):
        match = _Match(agent, games, seed, count_threads(threads), stop, keep=save is not None, until=until)
        if save is None and not agent.searches:
            return Evaluation(*play_match(match.seats, games, seed, stop, on_tick=on_tick), stopped=stop.is_set())
        try:
            with nullcontext() if save is None else atomic_write(save) as file:
                return match.play(file, on_tick)
        except _NothingPlayedError:  # nothing was written: a file that was there stays
            return Evaluation(None, make_results(0), stopped=stop.is_set())


class _Match:
    """Like `play_match`, but one game a call: each can be saved, and a search begins each with an empty table."""

    def __init__(
        self, agent: Agent, games: int, seed: int, threads: int, stop: threading.Event, *, keep: bool, until: int | None
    ) -> None:
        self.game, self.games, self.seed, self.until = agent.network.game, games, seed, until
        self.workers = Workers(threads, stop)
        self.searches = agent.searches
        self.halt = np.zeros(1, np.int64)
        self.seats = [
            Seat(
                self.game, agent.network.lookup, agent.make_chooser(self.halt),
                observer=make_recorder(self.game.longest) if keep else NOBODY, until=until,
            )
            for _ in range(threads)
        ]  # fmt: skip
        self.results = make_results(games)
        self.waiting: dict[int, str] = {}  # lines of games that finished before an earlier one
        self.played = 0  # games 0, 1, ... that are finished without a gap
        self.lock = threading.Lock()

    def _statistics(self) -> SearchStatistics | None:
        return add_up([seat.chooser for seat in self.seats])

    def play(self, file: IO[bytes] | None, on_tick: Callable[[Share], None] | None) -> Evaluation:
        """Play all games -> those before the first unfinished one. Lines are written in the order of the games."""

        def tick(share: Share) -> None:
            if on_tick:
                statistics = self._statistics()
                on_tick(share if statistics is None else Share(share.games, statistics.moves))

        self.seats[0].play(self.seed, Purpose.EVAL, 0, make_results(0))  # compile before the clock starts
        began = perf_counter()
        self.workers.run(
            lambda thread, first, _: self._play_one(self.seats[thread], first, file),
            0, self.games, chunk=1, on_tick=tick, on_stop=self._end_searches,
        )  # fmt: skip
        seconds = perf_counter() - began
        if self.played == 0:
            raise _NothingPlayedError
        results = self.results.part(0, self.played)
        summary = summarise(self.game, results, seconds, until=self.until)
        return Evaluation(summary, results, stopped=self.workers.stop.is_set(), search=self._statistics())

    def _end_searches(self) -> None:
        if self.searches:
            self.halt[0] = 1

    def _play_one(self, seat: Seat, number: int, file: IO[bytes] | None) -> int:
        """Play game `number`, and write its line once all earlier lines are written -> its moves."""
        tick = time()
        renew(seat.chooser)
        seat.play(self.seed, Purpose.EVAL, number, self.results.part(number, number + 1))
        if self.halt[0]:
            return 0  # the search was stopped during the game: its other moves were made without
        moves = int(self.results.moves[number])
        line = ""
        if isinstance(seat.observer, Recorder):
            line = episode_line(Record.cut(self.game, seat.observer, moves, tick=tick, tock=time()))
        with self.lock:
            self.waiting[number] = line
            while self.played in self.waiting:
                done = self.waiting.pop(self.played)
                if file is not None:
                    file.write(f"{done}\n".encode())
                self.played += 1
        return moves
