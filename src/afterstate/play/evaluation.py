"""How strong is a player? Many games, over threads; `cluster.evaluation` plays the same over machines."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, time
from typing import IO

import numpy as np

from afterstate.engine.loop import NOBODY, Seat
from afterstate.engine.record import Record, Recorder, make_recorder
from afterstate.engine.workers import Share, Workers, play_match, stop_on_signal
from afterstate.files import atomic_write
from afterstate.games.results import Results, Summary, find_tile, make_results, summarise
from afterstate.play.agent import Agent
from afterstate.play.episode_line import episode_line
from afterstate.rng import Purpose
from afterstate.search.lookahead import renew
from afterstate.search.statistics import SearchStatistics, add_up
from afterstate.threads import count_threads
from afterstate.units import check_seed, parse_count


@dataclass(frozen=True)
class Match:
    """The games that measure a player: those of a seed, from number `first` on."""

    agent: Agent
    games: int
    seed: int
    first: int = 0
    until: int | None = None  # the tile that ends a game; None for games to their end
    threads: int | None = None  # of each process; None: as many as fit


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


Tick = Callable[[Share], None]
Write = Callable[[str], None]  # takes the next line of an episode file
Play = Callable[[Match, threading.Event, Write | None, Tick | None], Evaluation]


class _NothingPlayedError(Exception):
    """It was stopped before the first game was finished."""


def measure(
    agent: Agent,
    *,
    games: int,
    seed: int,
    threads: int | None = None,
    save: Path | None = None,
    until: int | None = None,
    on_tick: Tick | None = None,
    stop: threading.Event | None = None,
    play: Play | None = None,
) -> Evaluation:
    """Play games to their end, or to the tile `until`, and write them to an episode file if `save` names one.

    `stop` ends it early, as Ctrl-C does. `play` is who plays: this process (`play_here`), or a cluster.
    """
    match = Match(agent, parse_count(games, name="games"), check_seed(seed), until=until, threads=threads)
    count_threads(threads)
    if until is not None:
        find_tile(agent.network.game, until)
    play = play or play_here
    stop = stop or threading.Event()
    with stop_on_signal(stop):
        if save is None:
            return play(match, stop, None, on_tick)
        try:
            with atomic_write(save) as file:
                done = play(match, stop, lambda line: _write(file, line), on_tick)
                if done.summary is None:
                    raise _NothingPlayedError
                return done
        except _NothingPlayedError:  # nothing was written: a file that was there stays
            return done


def _write(file: IO[bytes], line: str) -> None:
    file.write(f"{line}\n".encode())


def play_here(match: Match, stop: threading.Event, write: Write | None, on_tick: Tick | None) -> Evaluation:
    """Play a match on the threads of this process. Lines for `write` come in the order of the games."""
    table = _Tables(match, stop, write)
    if write is None and not match.agent.searches:
        found = play_match(table.seats, match.games, match.seed, stop, start=match.first, on_tick=on_tick)
        return Evaluation(*found, stopped=stop.is_set())
    return table.play(on_tick)


class _Tables:
    """Like `play_match`, but one game a call: each can be saved, and a search begins each with an empty table."""

    def __init__(self, match: Match, stop: threading.Event, write: Write | None) -> None:
        agent, threads = match.agent, count_threads(match.threads)
        self.game, self.match, self.write = agent.network.game, match, write
        self.workers = Workers(threads, stop)
        self.searches = agent.searches
        self.halt = np.zeros(1, np.int64)
        self.seats = [
            Seat(
                self.game, agent.network.lookup, agent.make_chooser(self.halt),
                observer=NOBODY if write is None else make_recorder(self.game.longest), until=match.until,
            )
            for _ in range(threads)
        ]  # fmt: skip
        self.results = make_results(match.games)
        self.waiting: dict[int, str] = {}  # lines of games that finished before an earlier one
        self.played = 0  # games that are finished without a gap, from the first one
        self.lock = threading.Lock()

    def _statistics(self) -> SearchStatistics | None:
        return add_up([seat.chooser for seat in self.seats])

    def play(self, on_tick: Tick | None) -> Evaluation:
        """Play all games -> those before the first unfinished one. Lines are written in the order of the games."""

        def tick(share: Share) -> None:
            if on_tick:
                statistics = self._statistics()
                on_tick(share if statistics is None else Share(share.games, statistics.moves))

        match = self.match
        self.seats[0].play(match.seed, Purpose.EVAL, match.first, make_results(0))  # compile before the clock starts
        began = perf_counter()
        self.workers.run(
            lambda thread, number, _: self._play_one(self.seats[thread], number),
            match.first, match.games, chunk=1, on_tick=tick, on_stop=self._end_searches,
        )  # fmt: skip
        seconds, stopped = perf_counter() - began, self.workers.stop.is_set()
        results = self.results.part(0, self.played)
        summary = summarise(self.game, results, seconds, until=match.until) if self.played else None
        return Evaluation(summary, results, stopped=stopped, search=self._statistics() if self.played else None)

    def _end_searches(self) -> None:
        if self.searches:
            self.halt[0] = 1

    def _play_one(self, seat: Seat, number: int) -> int:
        """Play a game, and write its line once all earlier lines are written -> its moves."""
        tick, place = time(), number - self.match.first
        renew(seat.chooser)
        seat.play(self.match.seed, Purpose.EVAL, number, self.results.part(place, place + 1))
        if self.halt[0]:
            return 0  # the search was stopped during the game: its other moves were made without
        moves = int(self.results.moves[place])
        line = ""
        if isinstance(seat.observer, Recorder):
            line = episode_line(Record.cut(self.game, seat.observer, moves, tick=tick, tock=time()))
        with self.lock:
            self.waiting[place] = line
            while self.played in self.waiting:
                done = self.waiting.pop(self.played)
                if self.write is not None:
                    self.write(done)
                self.played += 1
        return moves
