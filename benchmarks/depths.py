"""Is deeper stronger? Every model at every depth and at some times a move: the tables of docs/search.md.

    python benchmarks/depths.py MODEL... [--depths 1,2,3,4,5] [--times 2ms,10ms] [--minutes 5] [--seed 2]

Each row plays as many games as fit into `--minutes`, with all processors and seeds that no training has seen. A row whose
interval lies below the row before it is marked: deeper must never be weaker. Run it when the search changes.
"""

import argparse
from dataclasses import dataclass

import afterstate as af
from afterstate.games.results import Summary
from afterstate.play.evaluation import measure
from afterstate.search.options import SearchGiven

FIRST = 2  # games that tell how long one takes
MOST = 2000


@dataclass(frozen=True)
class Row:
    """One way to play."""

    name: str
    summary: Summary
    seconds_a_move: float

    def line(self, before: "Row | None") -> str:
        found = self.summary
        tiles = ", ".join(f"{rate.tile} {rate.reached:.1%}" for rate in found.tiles[-3:])
        weaker = before is not None and found.mean + found.interval < before.summary.mean - before.summary.interval
        return (
            f"| {self.name} | {found.mean:,.0f} ± {found.interval:,.0f}{' WEAKER' if weaker else ''} | {tiles} | {found.games} "
            f"| {found.moves_per_s:,.0f} | {1000 * self.seconds_a_move:.3g} |"
        )


def play(network: af.Network, name: str, search: SearchGiven, minutes: float, seed: int) -> Row:
    """Play for about so many minutes."""
    agent = af.Agent(network, **search)
    agent.prepare()
    found = measure(agent, games=FIRST, seed=seed)
    if found.summary is not None:
        seconds = int(found.results.moves.sum()) / found.summary.moves_per_s
        games = min(int(FIRST * 60 * minutes / seconds), MOST)
        found = measure(agent, games=games, seed=seed) if games > FIRST else found
    if found.summary is None or found.stopped:
        raise KeyboardInterrupt
    median = 1 / found.summary.moves_per_s if found.search is None else found.search.times["p50"]
    return Row(name, found.summary, median)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--depths", default="1,2,3,4,5")
    parser.add_argument("--times", default="2ms,10ms")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=2)
    given = parser.parse_args()
    ways: list[tuple[str, SearchGiven]] = [(f"depth {depth}", {"depth": int(depth)}) for depth in given.depths.split(",")]
    ways += [(f"{time} a move", {"move_time": time}) for time in given.times.split(",") if time]
    for model in given.models:
        network = af.load(model)
        print(f"{model}: {network.game.name} ({network.game.rules}), {network.training.games:,} games of training")
        print("| player | mean | tiles | games | moves/s, all threads | ms a move, median |\n|---|---|---|---|---|---|")
        before = None
        for name, search in ways:
            row = play(network, name, search, given.minutes, given.seed)
            print(row.line(before), flush=True)
            before = row


if __name__ == "__main__":
    main()
