"""What it costs two learning threads to share their tables: python benchmarks/sharing.py [--method tc --lambda 0.5]

First: how many cache lines a move writes to that another game wrote to last, by their place in a table. Then: two threads
against one, with parts of different size copied for each thread, and with a network for each. All of them learn in turn, a few
hundred games at a time, since the speed of a machine can change from second to second. A turn is *near* if a cache line took
less than 180 ns from core to core and back, both before and after it, and *far* if it took more. Takes about five minutes.
"""

import argparse
import math
from concurrent.futures import ThreadPoolExecutor
from statistics import fmean, median

import numpy as np
from numpy.typing import NDArray

from afterstate.learning.copies import LINE
from afterstate.learning.options import TrainOptions
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.play.bench import Learning, bench_round_trip, bench_train
from afterstate.rng import Random

SIZES = (0, 8_192, 65_536, 131_072, 262_144)  # weights of each table that each of two threads copies
MOVES = 5_000  # that are recorded of each of two players
WARM_UP = 2_000  # games before the first turn
TURN = 200  # games of each thread
FAR = 180.0  # nanoseconds from core to core and back


def written(network: Network, seed: int) -> NDArray[np.uint64]:
    """(MOVES, m) indices of the weights that each move writes to."""
    found: list[NDArray[np.uint64]] = []
    agent, game, number = Agent(network), network.game, 0
    while len(found) < MOVES:
        rng = Random(seed, number=number)
        record = agent.play_on(game.start(rng), rng, moves=game.longest)
        found += [network.indices(record.afterstate(move)).ravel() for move in range(len(record))]
        number += 1
    return np.array(found[:MOVES])


def print_journeys(network: Network) -> None:
    """Print how many cache lines change owner when two games take turns, move by move."""
    owners: dict[int, int] = {}
    places: list[int] = []
    for move in zip(written(network, 77), written(network, 78), strict=True):
        for game, indices in enumerate(move):
            for index in indices.tolist():
                line = index // LINE
                if owners.get(line, game) != game:
                    places.append(index % 16**6)
                owners[line] = game
    print(f"cache lines a move that the other game wrote to last: {len(places) / (2 * MOVES):.2f}, of these")
    for size in SIZES[1:]:
        print(f"  {fmean(place < size for place in places):.0%} among the first {size:,} weights of a table")


class Learners:
    """Threads that train one network, or one network each; and their speed in each turn."""

    def __init__(self, name: str, threads: int, size: int, options: TrainOptions, *, apart: bool = False) -> None:
        self.name = name
        self.threads = threads
        self.speeds: list[float] = []
        self.trips: list[tuple[float, float]] = []  # nanoseconds from core to core and back, before and after each turn
        self._trainings = [Learning(options, 1 if apart else threads, copied=size) for _ in range(1 + apart)]
        self._play(WARM_UP // len(self._trainings))

    def _play(self, games: int) -> float:
        """Let each network learn from `games` games, all at the same time -> moves/s."""
        with ThreadPoolExecutor(len(self._trainings)) as pool:
            speeds = list(pool.map(lambda training: training.play(games), self._trainings))
        return sum(speed.moves for speed in speeds) / max(speed.seconds for speed in speeds)

    def turn(self) -> None:
        before = trip()
        self.speeds.append(self._play(TURN * self.threads // len(self._trainings)))
        self.trips.append((before, trip()))

    def against(self, other: "Learners", *, far: bool) -> str:
        """Speed relative to `other`, turn by turn, over the near or the far turns."""
        kinds = [{time > FAR for time in trips} for trips in self.trips]
        turns = zip(self.speeds, other.speeds, kinds, strict=True)
        return between([speed / others for speed, others, kind in turns if kind == {far}])


def trip() -> float:
    """Nanoseconds that a cache line takes from core to core and back right now."""
    return bench_round_trip(rounds=100, pieces=30) or math.nan


def between(ratios: list[float]) -> str:
    """Format the median, its 95 % interval, and the number of ratios."""
    ratios = sorted(ratios)
    count = len(ratios)
    if count == 0:
        return ""
    low = max(int(count / 2 - 0.98 * math.sqrt(count)), 0)
    return f"{median(ratios):.2f} ({ratios[low]:.2f} to {ratios[count - 1 - low]:.2f}; {count})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", choices=["td", "tc"], default="td")
    parser.add_argument("--lambda", dest="decay", type=float, default=0.0)
    parser.add_argument("--turns", type=int, default=50)
    given = parser.parse_args()
    print_journeys(bench_train(TrainOptions(), 1)[1])
    options = TrainOptions(method=given.method, lambda_=given.decay)
    learners = [Learners("one thread", 1, 0, options)]
    learners += [Learners(f"{size:,}", 2, size, options) for size in SIZES]
    learners.append(Learners("a network for each", 2, 0, options, apart=True))
    for turn in range(given.turns):
        for one in learners[:: (-1) ** turn]:
            one.turn()
        print(f"turn {turn + 1}: " + "  ".join(f"{one.speeds[-1] / 1e6:.2f}M" for one in learners), flush=True)
    print("against one thread: median, its 95 % interval, and the number of turns")
    print("| copied weights of each table | million moves/s | near | far |\n|---|---|---|---|")
    for one in learners:
        near, far = (one.against(learners[0], far=far) for far in (False, True))
        print(f"| {one.name} | {median(one.speeds) / 1e6:.2f} | {near} | {far} |")
    trips = [time for one in learners for both in one.trips for time in both]
    print(f"a cache line from core to core and back: {min(trips):.0f} to {max(trips):.0f} ns, median {median(trips):.0f}")


if __name__ == "__main__":
    main()
