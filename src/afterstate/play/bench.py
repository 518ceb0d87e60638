"""How fast is this machine, and did a change to a kernel change what it computes?

Training speed is measured on the work that programs of this field are compared by: 2048, a fresh 4x6 network, TD(0) with alpha
0.1, the first 10,000 games; other games, networks and rules can be asked for. The *gather limit* is how many random boards'
worth of weights a second the same tables can give.
"""

import hashlib
import threading
from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.games.game import Game, make, slides
from afterstate.games.results import Results, make_results
from afterstate.kernel import CLOCK, await_value, kernel, now, prefetch, publish, u64
from afterstate.learning.episode import make_record, make_seat, play_games
from afterstate.learning.options import Method
from afterstate.learning.rules import TD
from afterstate.learning.shared import SharedTables
from afterstate.learning.targets import make_target
from afterstate.learning.workers import Workers, count_threads, play_frozen
from afterstate.network.greedy import ValueOf, alone
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.play.arena import evaluate
from afterstate.rng import Purpose, draw, stream

SEED = u64(1)
GAMES = 10_000
EVAL_GAMES = 2_000
GATHERS = 2_000_000
SIGNATURE_GAMES = 200
ALPHA: dict[Method, float] = {"td": 0.1, "tc": 1.0}
_AHEAD = u64(8)  # boards whose memory is under way while one is added up


@dataclass(frozen=True)
class Speed:
    """Moves of training or play."""

    threads: int
    moves: int
    seconds: float
    mean: float  # score of the games

    @property
    def moves_per_s(self) -> float:
        return self.moves / self.seconds


def _target(network: Network, *, backward: bool = False, decay: float = 0.0, steps: int = 1) -> Any:
    return make_target(backward=backward, decay=decay, horizon=3, steps=steps, longest=network.game.longest)


class Training:
    """A fresh network, and threads that learn on it."""

    def __init__(self, threads: int, game: Game, *, network: str, method: Method, decay: float) -> None:
        self.network = fresh = Network(game, network)
        self.games = 0  # played so far
        self._tables = SharedTables(fresh, threads, keeps_coherence=method == "tc")
        self._rule = self._tables.rule(method, ALPHA[method])
        self._seats = [make_seat(fresh, _target(fresh, decay=decay)) for _ in range(threads)]
        self._workers = Workers(threads, threading.Event())
        self._play(0, 0, 0, make_results(0))  # compile
        self._tables.settle()
        self._tables.clear()
        self._tables.renew()

    def _play(self, thread: int, first: int, count: int, results: Results) -> int:
        play_games(
            self._seats[thread], self.network.game.tables, self._tables.lookups[thread], self.network.view, self._rule,
            SEED, u64(Purpose.TRAIN), self.games + first, count, results, first,
        )  # fmt: skip
        moves = int(results.moves[first : first + count].sum())
        self._tables.played(thread, moves)
        return moves

    def play(self, games: int) -> Speed:
        """Learn from some more games."""
        results = make_results(games)
        began = perf_counter()
        self._workers.run(lambda thread, first, count: self._play(thread, first, count, results), 0, games)
        self._tables.settle()
        seconds = perf_counter() - began
        self._tables.renew()
        self.games += games
        return Speed(self._workers.threads, int(results.moves.sum()), seconds, float(results.scores.mean()))


def bench_train(
    threads: int,
    *,
    game: Game | None = None,
    games: int = GAMES,
    network: str = "4x6",
    method: Method = "td",
    decay: float = 0.0,
) -> tuple[Speed, Network]:
    """Train a fresh network, for 2048 if no game is given -> how fast that was, and the network."""
    training = Training(threads, game or make("2048"), network=network, method=method, decay=decay)
    return training.play(games), training.network


def bench_eval(network: Network, threads: int, *, games: int = EVAL_GAMES) -> Speed:
    """Play with learning off."""
    summary, _ = play_frozen(network, games, int(SEED), Workers(threads, threading.Event()))
    assert summary is not None
    return Speed(threads, summary.moves, summary.seconds, summary.mean)


SEARCHES: dict[str, tuple[int, dict[str, Any]]] = {  # games, and how to look ahead
    "depth 2": (40, {"depth": 2}),
    "depth 3, exact": (8, {"depth": 3, "exact": True}),
    "depth 3": (20, {"depth": 3}),
}


def bench_search(network: Network, threads: int, name: str) -> Speed:
    """Play with one of the SEARCHES."""
    games, how = SEARCHES[name]
    summary = evaluate(Agent(network, **how), games=games, seed=int(SEED), threads=threads)
    return Speed(threads, summary.moves, summary.seconds, summary.mean)


# --- the gather limit --------------------------------------------------------------------------------------------------


@kernel
def _gather(weights: Any, lookups: u64, count: u64, rng: u64, indices: Any) -> np.float32:
    """Add up `lookups` weights at random places, `count` times, with the memory of the next boards always under way."""
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


def bench_gather(network: Network, threads: int, *, count: int = GATHERS) -> float:
    """Random look-ups of m weights each that these tables allow -> look-ups a second."""
    desks = [np.zeros(int(_AHEAD) * network.lookups, np.uint64) for _ in range(threads)]
    part = count // (8 * threads)

    def play(thread: int, first: int, pieces: int) -> int:
        rng = u64(stream(SEED, u64(Purpose.BENCH), u64(first)))
        _gather(network.weights, u64(network.lookups), u64(part * pieces), rng, desks[thread])
        return 0

    play(0, 0, 0)
    began = perf_counter()
    Workers(threads, threading.Event()).run(play, 0, 8 * threads, chunk=1)
    return 8 * threads * part / (perf_counter() - began)


# --- from core to core -------------------------------------------------------------------------------------------------


@kernel
def take_turns(word: Any, mine: u64, rounds: u64, times: Any) -> None:
    """Two threads, 0 and 1, count `word` up in turn; times[i] is when `rounds` more were over for the i-th time."""
    for piece in range(u64(times.size)):
        for number in range(piece * rounds, (piece + u64(1)) * rounds):
            await_value(word, u64(0), u64(2) * number + mine)
            publish(word, u64(0), u64(2) * number + mine + u64(1))
        times[piece] = now()


def bench_round_trip(*, rounds: int = 200, pieces: int = 100) -> float | None:
    """How long a cache line takes to another core and back, in nanoseconds: what threads pay for writing to the same place.

    Some 100 ns between cores that share a cache, 500 and more between those that do not; None if there is one core only, or no
    clock for kernels.
    """
    if not CLOCK or count_threads(None) < 2:
        return None
    word, times = alone(1, np.uint64), np.zeros((2, pieces), np.int64)
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
    """How many afterstates a move looks at: the mean number of legal slides."""
    record = make_record(network.game.longest)
    seat, results = make_seat(network, record), make_results(1)
    legal = moves = 0
    for number in range(games):
        play_games(
            seat, network.game.tables, network.lookup, network.view, TD(np.float64(0)),
            SEED, u64(Purpose.EVAL), number, 1, results, 0,
        )  # fmt: skip
        moves += int(results.moves[0])
        legal += _count_legal(network.game.tables, record.boards, record.extras, int(results.moves[0]), seat.desk)
    return legal / moves


# --- the signature -----------------------------------------------------------------------------------------------------


_SIGNED: list[tuple[str, ValueOf, Method, dict[str, Any]]] = [
    ("standard", "afterstate", "td", {}),
    ("standard", "afterstate", "td", {"backward": True}),
    ("standard", "afterstate", "tc", {}),
    ("standard", "afterstate", "tc", {"decay": 0.5}),
    ("standard", "afterstate", "tc", {"steps": 3}),
    ("standard", "afterstate", "tc", {"backward": True, "decay": 0.5}),
    ("standard", "state", "td", {}),
    ("tcg2022", "afterstate", "tc", {"decay": 0.5}),
    ("tcg2018-bonus", "afterstate", "tc", {"decay": 0.5}),
    ("official", "afterstate", "tc", {"decay": 0.5}),
]


def signature(*, games: int = SIGNATURE_GAMES) -> str:
    """A hash of scores and weights after a little training by every rule: it changes if and only if a kernel's results do.

    How the tables lie in memory does not matter to it.
    """
    digest = hashlib.sha256()
    for rules, values, method, target in _SIGNED:
        game = make("2048") if rules == "standard" else make("threes", rules=rules)
        network = Network(game, "5x4", values=values)
        count = games if values == "afterstate" else max(games // 20, 1)
        rule = SharedTables(network, 1, keeps_coherence=method == "tc").rule(method, ALPHA[method])
        results: Results = make_results(count)
        play_games(
            make_seat(network, _target(network, **target)), network.game.tables, network.lookup, network.view, rule,
            SEED, u64(Purpose.BENCH), 0, count, results, 0,
        )  # fmt: skip
        tables = product(range(network.contexts), range(len(network.patterns)))
        arrays: list[NDArray[Any]] = [*results, *(network.tiles(number, 0, context).T for context, number in tables)]
        for array in arrays:
            digest.update(array.tobytes())
    return digest.hexdigest()[:12]
