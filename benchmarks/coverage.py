"""How often do 95 % intervals of a mean score hold the true mean? Checked with the scores of real players.

    python benchmarks/coverage.py [--model MODEL] [--games 20000] [--rounds 20000]

Without a model the players are a random one and a network that learned for a short time. The true mean is that of all games;
each round draws a few of them and asks whether the interval around their mean holds it.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import afterstate as af
from afterstate.engine.choosers import GREEDY
from afterstate.engine.loop import Seat
from afterstate.games.results import make_results
from afterstate.intervals import t_quantile
from afterstate.learning.runfolder import find_model
from afterstate.network.network import Network
from afterstate.rng import Purpose

COUNTS = (2, 3, 5, 10, 20, 50, 100, 1000)
Halves = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]


def scores_of(network: Network, games: int) -> NDArray[np.float64]:
    """The scores of many games of greedy play."""
    results = make_results(games)
    Seat(network.game, network.lookup, GREEDY).play(1, Purpose.BENCH, 0, results)
    return results.scores.astype(np.float64)


def players(model: str | None, games: int) -> dict[str, NDArray[np.float64]]:
    game = af.make("2048")
    found = {"no network (first legal slide)": scores_of(Network(game, "0123"), games)}
    learned = af.load(find_model(model)) if model else _learn()
    return found | {"learned": scores_of(learned, games)}


def _learn() -> Network:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        return af.train("2048", network="5x4", games="5k", threads=1, seed=1, run=Path(folder) / "run").network


def normal(drawn: NDArray[np.float64]) -> tuple[Any, Any]:
    half = 1.959964 * drawn.std(axis=1, ddof=1) / np.sqrt(drawn.shape[1])
    return drawn.mean(axis=1) - half, drawn.mean(axis=1) + half


def student(drawn: NDArray[np.float64]) -> tuple[Any, Any]:
    count = drawn.shape[1]
    half = t_quantile(0.95, count - 1) * drawn.std(axis=1, ddof=1) / np.sqrt(count)
    return drawn.mean(axis=1) - half, drawn.mean(axis=1) + half


def johnson(drawn: NDArray[np.float64]) -> tuple[Any, Any]:
    """Johnson (1978): Student's t around a centre that is moved by the skewness."""
    count = drawn.shape[1]
    mean, variance = drawn.mean(axis=1), drawn.var(axis=1, ddof=1)
    third = ((drawn - mean[:, None]) ** 3).mean(axis=1)
    moved = mean + third / (6 * np.maximum(variance, 1e-12) * count)
    half = t_quantile(0.95, count - 1) * np.sqrt(variance / count)
    return moved - half, moved + half


def coverage(scores: NDArray[np.float64], make: Halves, count: int, rounds: int) -> float:
    rng, covered, done, truth = np.random.default_rng(count), 0, 0, scores.mean()
    while done < rounds:
        part = min(rounds - done, max(2_000_000 // count, 1))
        low, high = make(rng.choice(scores, size=(part, count)))
        covered, done = covered + int(((low <= truth) & (truth <= high)).sum()), done + part
    return covered / rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model")
    parser.add_argument("--games", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=20_000)
    given = parser.parse_args()
    for name, scores in players(given.model, given.games).items():
        skew = float(((scores - scores.mean()) ** 3).mean() / scores.std() ** 3)
        print(f"\n{name}: {len(scores):,} games, mean {scores.mean():,.0f}, skewness {skew:.2f}")
        print("  n     1.96   Student  Johnson")
        for count in COUNTS:
            rates = [coverage(scores, make, count, given.rounds) for make in (normal, student, johnson)]
            print(f"  {count:<5} " + "  ".join(f"{rate:6.1%}" for rate in rates), flush=True)


if __name__ == "__main__":
    main()
