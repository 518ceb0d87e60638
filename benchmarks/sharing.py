"""What two threads that learn pay for sharing their tables: python benchmarks/sharing.py [--method tc --lambda 0.5]

First how many cache lines a move writes to that another game wrote to last, by where in a table they lie. Then two threads
against one, runs in turn, with other parts of the tables copied for each thread. Some five minutes.
"""

import argparse
from statistics import mean, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.games.results import make_results
from afterstate.kernel import u64
from afterstate.learning import shared
from afterstate.learning.episode import make_record, make_seat, play_games, state_at
from afterstate.learning.rules import TD
from afterstate.network.network import Network
from afterstate.play.bench import bench_train
from afterstate.rng import Purpose
from afterstate.units import parse_count

SIZES = (0, 4_096, 16_384, 65_536)  # weights of each table that each of two threads copies
MOVES = 5_000  # of each of two players that are looked at


def written(network: Network, seed: int) -> NDArray[np.uint64]:
    """(MOVES, m) the weights that the moves of some games write to."""
    record, results = make_record(network.game.longest), make_results(1)
    seat, found, number = make_seat(network, record), [], 0
    while len(found) < MOVES:
        play_games(
            seat, network.game.tables, network.lookup, network.view, TD(np.float64(0)),
            u64(seed), u64(Purpose.EVAL), number, 1, results, 0,
        )  # fmt: skip
        for move in range(int(results.moves[0])):
            afterstate = network.game.slide(state_at(record, move), int(record.slides[move]))  # type: ignore[arg-type]
            assert afterstate is not None
            found.append(network.indices(afterstate).ravel())
        number += 1
    return np.array(found[:MOVES])


def print_journeys(network: Network) -> None:
    """Lines that change hands when two games are played move by move in turn."""
    owners: dict[int, int] = {}
    places: list[int] = []
    for move in zip(written(network, 77), written(network, 78), strict=True):
        for game, indices in enumerate(move):
            for index in indices.tolist():
                line = index // shared.LINE
                if owners.get(line, game) != game:
                    places.append(index % 16**6)
                owners[line] = game
    print(f"lines a move that the other game wrote to last: {len(places) / (2 * MOVES):.2f}, of these")
    for size in SIZES[1:]:
        print(f"  {mean(place < size for place in places):.0%} among the first {size:,} weights of a table")


def measure(size: int, threads: int, **how: Any) -> tuple[float, float]:
    """Train with so many weights of each table copied for each thread -> moves/s, mean score."""
    shared.COPIED = size * threads**2
    speed, _ = bench_train(threads, **how)
    return speed.moves_per_s, speed.mean


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", choices=["td", "tc"], default="td")
    parser.add_argument("--lambda", dest="decay", type=float, default=0.0)
    parser.add_argument("--games", default="10k", help="games of each run")
    parser.add_argument("--rounds", type=int, default=11)
    given = parser.parse_args()
    print_journeys(bench_train(1, games=10_000)[1])
    how = {"games": parse_count(given.games, name="games"), "method": given.method, "decay": given.decay}
    for size in SIZES[:2]:  # compile
        measure(size, 2, **(how | {"games": 1}))
    rounds = []
    for number in range(given.rounds):
        alone = measure(0, 1, **how)
        rounds.append([alone, *(measure(size, 2, **how) for size in SIZES)])
        print(f"round {number + 1}: " + "  ".join(f"{speed / 1e6:.2f}M" for speed, _ in rounds[-1]), flush=True)
    print("| copied weights of each table | two threads against one | mean score |\n|---|---|---|")
    print(f"| one thread | 1 | {mean(one[0][1] for one in rounds):,.0f} |")
    for place, size in enumerate(SIZES, start=1):
        ratios = [one[place][0] / one[0][0] for one in rounds]
        scores = mean(one[place][1] for one in rounds)
        print(f"| {size:,} | {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) | {scores:,.0f} |")


if __name__ == "__main__":
    main()
