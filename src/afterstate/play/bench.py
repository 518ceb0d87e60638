"""How fast is this machine?

By default, training speed is measured on the field's usual comparison: 2048, a fresh 4x6 network, TD(0) with alpha 0.1, the
first 10,000 games. The *gather limit* is how many random boards a second the memory allows: it reads as many weights from the
same tables as one value needs.
"""

import threading
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from afterstate.engine.loop import Seat
from afterstate.engine.record import Recorder, make_recorder
from afterstate.engine.workers import Workers
from afterstate.games.game import slides
from afterstate.games.results import make_results
from afterstate.kernel import CLOCK, await_value, kernel, now, prefetch, publish, u64
from afterstate.learning.options import TrainOptions
from afterstate.learning.plan import make_plan, new_network
from afterstate.learning.team import Team
from afterstate.memory import aligned
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.play.evaluation import measure
from afterstate.rng import Purpose, draw, stream
from afterstate.search.options import SearchGiven
from afterstate.threads import count_threads

SEED = 1
TRAINED = 10_000  # games
EVALUATED = 2_000  # games
GATHERED = 2_000_000  # look-ups
_AHEAD = u64(8)  # boards prefetched while one is added up


@dataclass(frozen=True)
class Speed:
    """How fast training or play was."""

    threads: int
    moves: int
    seconds: float
    mean: float  # mean score of the games

    @property
    def moves_per_s(self) -> float:
        return self.moves / self.seconds


class Learning:
    """A fresh network, and the team of threads that trains it."""

    def __init__(self, options: TrainOptions, threads: int, *, copied: int | None = None) -> None:
        plan = make_plan(options)
        self.network = new_network(plan)
        self.games = 0  # played so far
        self._team = Team(plan, self.network, threads, copied=copied)
        self._team.load_kernels()
        self._team.begin()

    def play(self, games: int) -> Speed:
        """Learn from `games` more games."""
        results = make_results(games)
        began = perf_counter()
        self._team.learn(self._team.plan.phases[0], self.games, results, stop=threading.Event())
        seconds = perf_counter() - began
        self.games += games
        return Speed(self._team.threads, int(results.moves.sum()), seconds, float(results.scores.mean()))


def bench_train(options: TrainOptions, threads: int, *, games: int = TRAINED) -> tuple[Speed, Network]:
    """Train a fresh network -> its speed, the network."""
    learning = Learning(options, threads)
    return learning.play(games), learning.network


def bench_eval(network: Network, threads: int, *, games: int = EVALUATED) -> Speed:
    """Play with learning off."""
    summary = measure(Agent(network), games=games, seed=SEED, threads=threads).finished()
    return Speed(threads, summary.moves, summary.seconds, summary.mean)


SEARCHES: dict[str, tuple[int, SearchGiven]] = {  # games, and how to look ahead
    "depth 2": (40, {"depth": 2}),
    "depth 3, exact": (8, {"depth": 3, "exact": True}),
    "depth 3": (20, {"depth": 3}),
}


def bench_search(network: Network, threads: int, name: str) -> Speed:
    """Play with one of the SEARCHES."""
    games, how = SEARCHES[name]
    summary = measure(Agent(network, **how), games=games, seed=SEED, threads=threads).finished()
    return Speed(threads, summary.moves, summary.seconds, summary.mean)


# --- the gather limit --------------------------------------------------------------------------------------------------


@kernel
def _gather(weights: Any, lookups: u64, count: u64, rng: u64, indices: Any) -> np.float32:
    """Add up `lookups` weights at random places, `count` times, while the next boards are prefetched."""
    size = u64(weights.size)
    total = np.float32(0)
    for number in range(count + _AHEAD):
        slot = (number % _AHEAD) * lookups
        if number >= _AHEAD:
            a = b = np.float32(0)
            for place in range(slot, slot + lookups, u64(2)):
                a += weights[indices[place]]
                b += weights[indices[place + u64(1)]]
            total += a + b
        for place in range(slot, slot + lookups):
            rng, bits = draw(rng)
            index = ((bits >> u64(32)) * size) >> u64(32)
            prefetch(weights, index)
            indices[place] = index
    return total


def bench_gather(network: Network, threads: int, *, count: int = GATHERED) -> float:
    """Measure random look-ups of m weights each in these tables -> look-ups a second."""
    desks = [np.zeros(int(_AHEAD) * network.lookups, np.uint64) for _ in range(threads)]
    part = count // (8 * threads)

    def play(thread: int, first: int, pieces: int) -> int:
        rng = u64(stream(u64(SEED), u64(Purpose.BENCH), u64(first)))
        _gather(network.weights, u64(network.lookups), u64(part * pieces), rng, desks[thread])
        return 0

    play(0, 0, 0)
    began = perf_counter()
    Workers(threads, threading.Event()).run(play, 0, 8 * threads, chunk=1)
    return 8 * threads * part / (perf_counter() - began)


# --- from core to core -------------------------------------------------------------------------------------------------


@kernel
def take_turns(word: Any, mine: u64, rounds: u64, times: Any) -> None:
    """Two threads, 0 and 1, count up `word` in turn; times[i] is when the i-th piece of `rounds` rounds ended."""
    for piece in range(u64(times.size)):
        for number in range(piece * rounds, (piece + u64(1)) * rounds):
            await_value(word, u64(0), u64(2) * number + mine)
            publish(word, u64(0), u64(2) * number + mine + u64(1))
        times[piece] = now()


def bench_round_trip(*, rounds: int = 200, pieces: int = 100) -> float | None:
    """Nanoseconds that a cache line takes to another core and back: the cost of threads writing to the same place.

    About 100 ns between cores that share a cache, 500 and more between others. None if there is only one core, or no clock for
    kernels.
    """
    if not CLOCK or count_threads(None) < 2:
        return None
    word, times = aligned(1, np.uint64), np.zeros((2, pieces), np.int64)
    take_turns(word, u64(0), u64(0), times[0])  # compile
    other = threading.Thread(target=take_turns, args=(word, u64(1), u64(rounds), times[1]))
    other.start()
    take_turns(word, u64(0), u64(rounds), times[0])
    other.join()
    return float(np.median(np.diff(times[0]))) / rounds


# --- how much there is to look up --------------------------------------------------------------------------------------


@kernel
def _count_legal(game: Any, boards: Any, extras: Any, count: int, desk: Any) -> int:
    total = 0
    for number in range(count):
        legal = slides(game, boards[number], extras[number], desk.after, desk.extras, desk.rewards)
        for slide in range(4):
            total += (legal >> slide) & 1
    return total


def legal_per_move(network: Network, *, games: int = 20) -> float:
    """Mean number of legal slides: how many afterstates a move looks at."""
    seat = Seat(network.game, network.lookup, observer=make_recorder(network.game.longest))
    kept: Recorder = seat.observer
    legal = moves = 0
    for number in range(games):
        seat.play(SEED, Purpose.EVAL, number, results := make_results(1))
        count = int(results.moves[0])
        moves += count
        legal += _count_legal(network.game.tables, kept.boards, kept.extras, count, seat.desk)
    return legal / moves
