"""What runs on the nodes when one network learns on many: workers that play, and shards that merge. Ray makes actors of them.

A worker has a network of its own, and as many threads as it was given. A shard merges the changes of its part of the tables. It
keeps nothing between two merges, since every worker has all of the tables: one that is lost is simply started again.
"""

import os
import threading
from dataclasses import dataclass
from time import perf_counter

from afterstate.cluster.changes import Change, Replica
from afterstate.cluster.ledger import Chunk, Played
from afterstate.cluster.merging import merge
from afterstate.games.results import make_results
from afterstate.learning.options import Phase, TrainOptions
from afterstate.learning.plan import make_plan, new_network
from afterstate.learning.rules import RULES
from afterstate.learning.team import Team


@dataclass(frozen=True)
class Sent:
    """What it took to make a change ready to travel."""

    seconds: float
    bytes: int
    weights: int  # how many have changed


class Worker:
    """Learns on its own, from chunks of games, and takes part in merges."""

    def __init__(self, options: TrainOptions, threads: int) -> None:
        plan = make_plan(options)
        self._team = Team(plan, new_network(plan), threads, tidies=False)
        kinds = [RULES[name].kind for name in plan.rules]
        self._replica = Replica(self._team.network, kinds, list(self._team.tables.kept.values()))
        self._team.load_kernels()

    def ready(self) -> int:
        """Answer once the kernels are loaded -> the number of this process."""
        return os.getpid()

    def play(self, phase: Phase, chunk: Chunk) -> Played:
        """Learn from some games."""
        results = make_results(chunk.count)
        began = perf_counter()
        self._team.forget_sums()
        self._team.learn(phase, chunk.first, results, stop=threading.Event())
        return Played(chunk, results, self._team.sums(), perf_counter() - began)

    def give(self, shards: int) -> tuple[Sent | Change, ...]:
        """What was learned since the last merge, one change for each shard, after what that took."""
        began = perf_counter()
        change = self._replica.find_change()
        parts = change.split(shards)
        return Sent(perf_counter() - began, change.nbytes, len(change.moves)), *parts

    def take(self, *changes: Change) -> float:
        """Replace it by what all have learned; also how a new worker gets the tables -> seconds."""
        began = perf_counter()
        for change in changes:
            self._replica.take(change)
        return perf_counter() - began


class Shard:
    """Merges a part of the tables."""

    def ready(self) -> int:
        """The number of this process."""
        return os.getpid()

    def merge(self, sums: tuple[int, int] | None, *changes: Change) -> Change:
        """Merge what workers have learned, see `merging.merge`."""
        return merge(changes, sums)
