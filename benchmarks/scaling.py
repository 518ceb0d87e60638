"""What would 10, 100 and 1,000 nodes bring?

python benchmarks/scaling.py measure: what one worker of one thread changes in 30 s on 4x6 by TC, and what a merge of two takes.

python benchmarks/scaling.py bandwidth --moves M --changed BYTES --grown G --busy SECONDS: from these figures, how long merges
of many nodes take. Assumed: k nodes change k ** log2(G) times as much as one (G is how much more two change than one); all work
of a node for a merge takes BUSY seconds; every node sends its changes to at most 64 shards, and each shard sends what it made
of them to every node; every link carries --gigabits, and nothing overlaps.

python benchmarks/scaling.py learning: how many rounds do nodes need that merge only after --games games each? Real workers,
which take turns on one network here: each learns from the same tables, and what it changed is put aside before the next begins.
"""

import argparse
from math import log2
from time import process_time

import numpy as np

from afterstate.cluster.changes import Change
from afterstate.cluster.ledger import Chunk
from afterstate.cluster.merging import merge
from afterstate.cluster.training import MAX_SHARDS
from afterstate.cluster.worker import Worker
from afterstate.learning.options import TrainOptions
from afterstate.learning.rules import RULES

NODES = (1, 10, 100, 1000)
GOALS = (5_000, 10_000)  # mean scores
JUDGED = 200  # games by which a mean is judged, at least
WARM_UP = 15_000  # games before a network is measured


class Node(Worker):
    """A worker that can take back what it has learned."""

    def learn(self, first: int, count: int) -> tuple[float, int]:
        """Learn from some games -> seconds of processor time, moves."""
        began = process_time()
        played = self.play(self._team.plan.phases[0], Chunk(first, count))
        self.scores = played.results.scores
        return process_time() - began, int(played.results.moves.sum())

    def change(self) -> Change:
        return self._replica.find_change()

    def forget(self, change: Change) -> None:
        """Go back to the last merge."""
        self.take(change._replace(moves=np.zeros_like(change.moves), kept=np.zeros_like(change.kept)))


def timed(name: str, began: float) -> float:
    """Print processor time since `began`, which other programs do not change much -> now."""
    print(f"{name}: {process_time() - began:.2f} s of processor time")
    return process_time()


def measure(given: argparse.Namespace) -> None:
    """Play a while on 4x6, then look at a merge of two."""
    options = TrainOptions(network=given.network, method="tc", threads=1, seed=1)
    node = Node(options, 1)
    node.learn(1000, WARM_UP)
    node.take(node.change())
    first, seconds, moves = 1000 + WARM_UP, 0.0, 0
    changes = []
    for _ in range(2):  # two rounds stand for two workers: both begin with the same tables
        seconds, moves = 0.0, 0
        while seconds < given.every:
            more, of_it = node.learn(first, 200)
            first, seconds, moves = first + 200, seconds + more, moves + of_it
        began = process_time()
        changes.append(node.change())
        now = timed("find what has changed", began)
        parts = changes[-1].split(2)
        timed("split it for two shards", now)
        print(f"{moves / seconds:,.0f} moves/s, {changes[-1].nbytes / 1e6:.1f} MB, {len(changes[-1].moves):,} weights")
        assert len(parts) == 2
        node.forget(changes[-1])
    began = process_time()
    merged = merge(changes, RULES["tc"].kind.sums)
    now = timed("merge all of two workers", began)
    node.take(merged)
    timed("take it", now)
    print(f"merged: {merged.nbytes / 1e6:.1f} MB, {merged.nbytes / changes[0].nbytes:.2f} times as much as one")


def bandwidth(given: argparse.Namespace) -> None:
    print("| nodes | seconds of a merge | of the time | MB to and from a node | million moves/s |\n|---|---|---|---|---|")
    for nodes in NODES[1:]:
        crowd = max(1.0, nodes / MAX_SHARDS)  # nodes that share a shard's link
        union = given.changed * nodes ** log2(given.grown)
        seconds = given.busy + crowd * (given.changed + union) / (given.gigabits * 1e9 / 8)
        share = seconds / (seconds + given.every)
        sent, speed = (given.changed + union) / 1e6, nodes * given.moves * (1 - share) / 1e6
        print(f"| {nodes:,} | {seconds:.2f} | {share:.1%} | {sent:,.0f} | {speed:,.1f} |")


def learning(given: argparse.Namespace) -> None:
    print(f"| nodes | {' | '.join(f'rounds to {goal:,} | times as fast' for goal in GOALS)} |\n|---|{'---|---|' * len(GOALS)}")
    alone: list[float] = []
    for nodes in NODES:
        found = rounds_to_goals(nodes, given.games, given.network)
        alone = alone or found
        cells = [f"{rounds:.0f} | {first / rounds:.1f}" for rounds, first in zip(found, alone, strict=True)]
        print(f"| {nodes:,} | {' | '.join(cells)} |", flush=True)


def rounds_to_goals(nodes: int, games: int, network: str) -> list[float]:
    """Rounds until the mean score of the last games is above each goal."""
    options = TrainOptions(network=network, method="tc", threads=1, seed=1)
    node, scores, found, first = Node(options, 1), [], [], 0
    while len(found) < len(GOALS):
        changes = []
        for _ in range(nodes):
            node.learn(first, games)
            first += games
            scores.append(node.scores)
            changes.append(node.change())
            node.forget(changes[-1])
        node.take(merge(changes, RULES["tc"].kind.sums))
        recent = np.concatenate(scores[-max(nodes, JUDGED // games) :])
        if recent.mean() > GOALS[len(found)]:
            found.append(len(scores) / nodes)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["measure", "bandwidth", "learning"])
    parser.add_argument("--network", help="4x6 for measure, 5x4 for learning")
    parser.add_argument("--every", type=float, default=30.0, help="seconds of play between two merges")
    parser.add_argument("--games", type=int, default=20, help="games of a node in a round")
    parser.add_argument("--moves", type=float, help="moves a second of one node")
    parser.add_argument("--changed", type=float, help="bytes of what a node changes in a round")
    parser.add_argument("--grown", type=float, help="how many times as much two nodes change")
    parser.add_argument("--busy", type=float, help="seconds of a node's own work for a merge")
    parser.add_argument("--gigabits", type=float, default=10.0, help="of a node's link, a second")
    given = parser.parse_args()
    given.network = given.network or ("4x6" if given.what == "measure" else "5x4")
    {"measure": measure, "bandwidth": bandwidth, "learning": learning}[given.what](given)


if __name__ == "__main__":
    main()
