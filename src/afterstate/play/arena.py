"""Many games of one player, over threads: how strong is it?"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, time

import numpy as np

from afterstate.games.results import Results, Summary, make_results, summarise
from afterstate.kernel import u64
from afterstate.learning.episode import make_record, make_seat, play_games
from afterstate.learning.rules import TD
from afterstate.learning.workers import Share, Workers, count_threads, play_frozen, stop_on_signal
from afterstate.network.modelfile import atomic_write
from afterstate.play.agent import Agent
from afterstate.play.episode import episode_line
from afterstate.rng import Purpose
from afterstate.search.expectimax import make_view
from afterstate.units import check_seed, parse_count


@dataclass(frozen=True)
class Evaluation:
    """The games that were played; fewer than asked for if a stop came in between."""

    summary: Summary | None  # None if no game was finished
    results: Results
    stopped: bool


class _NothingPlayedError(Exception):
    """A stop came before the first game."""


def evaluate(agent: Agent, *, games: int = 1000, seed: int = 1, threads: int | None = None) -> Summary:
    """Play `games` games with learning off. The same seed gives the same games, whatever the number of threads."""
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
        if save is None:
            views = [make_view(agent.network, agent.depth) for _ in range(workers.threads)]
            summary, results = play_frozen(agent.network, games, seed, workers, views=views, on_tick=on_tick)
        else:
            try:
                summary, results = _play_recorded(agent, games, seed, workers, save, on_tick)
            except _NothingPlayedError:  # and nothing written: a file that was there stays
                summary, results = None, make_results(0)
    return Evaluation(summary, results, stopped=stop.is_set())


def _play_recorded(
    agent: Agent, games: int, seed: int, workers: Workers, save: Path, on_tick: Callable[[Share], None] | None
) -> tuple[Summary, Results]:
    """As `play_frozen`, one game a call, each game a line of the file in the order of their numbers."""
    network = agent.network
    results = make_results(games)
    records = [make_record(network.game) for _ in range(workers.threads)]
    seats = [make_seat(network, record) for record in records]
    views = [make_view(network, agent.depth) for _ in range(workers.threads)]
    lock = threading.Lock()
    waiting: dict[int, bytes] = {}
    written = 0

    with atomic_write(save) as file:

        def play(thread: int, first: int, count: int) -> int:
            nonlocal written
            tick = time()
            play_games(
                seats[thread], network.game.tables, network.lookup, views[thread], TD(np.float64(0)),
                u64(seed), u64(Purpose.EVAL), first, count, results, first,
            )  # fmt: skip
            if count == 0:
                return 0
            moves = int(results.moves[first])
            line = episode_line(network.game, records[thread], moves, tick, time())
            with lock:
                waiting[first] = line
                while written in waiting:
                    file.write(waiting.pop(written))
                    written += 1
            return moves

        play(0, 0, 0)
        began = perf_counter()
        played = workers.run(play, 0, games, chunk=1, on_tick=on_tick)
        seconds = perf_counter() - began
        if played == 0:
            raise _NothingPlayedError
    results = results.part(0, played)
    return summarise(network.game, results, seconds), results
