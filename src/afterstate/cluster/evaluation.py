"""How strong is a player? The games of `play.evaluation`, over the machines of a Ray cluster.

Games are numbered, and each has its own random stream. So a chunk of them is a task that any worker may play, and play again
if the worker is lost: the results are those of one machine. A chunk takes about two seconds by the speed measured so far.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.cluster.connection import STORE, Node, Session, connect
from afterstate.cluster.failures import check_cluster, load_ray, translated
from afterstate.cluster.parcel import Parcel, pack, unpack
from afterstate.engine.workers import TICK, Share
from afterstate.errors import ClusterError, InputError
from afterstate.games.results import Results, make_results, summarise
from afterstate.learning.compiling import load_in_turn
from afterstate.memory import check_memory
from afterstate.play.evaluation import Evaluation, Match, Play, Tick, Write, play_here
from afterstate.search.statistics import combine
from afterstate.threads import count_threads

SECONDS = 2.0  # that a chunk should take
LEAST = 0.2  # seconds of the last chunks, which become smaller so that all workers end together
GROWTH = 8  # times that a chunk may be larger than the largest before
GRACE = 2 * SECONDS  # for chunks under way after Ctrl-C
LOOK = 5.0  # seconds between looks at the nodes
ALONE = 30.0  # seconds to wait for a node when all are lost
RETRIES = 5  # of a chunk whose worker is lost

Phase = Callable[[str], None]  # is told what happens before the first game


@dataclass(frozen=True)
class Chunk:
    """Games that a worker has played."""

    first: int
    results: Results
    lines: list[str]  # of an episode file
    counts: NDArray[np.int64] | None  # of its search
    seconds: float


def play_on(address: str, on_phase: Phase | None = None) -> Play:
    """Who plays the games of `measure`: a cluster. A match's `threads` are those of each worker, 1 by default."""
    check_cluster(address)
    tell = on_phase or (lambda _: None)

    def play(match: Match, stop: threading.Event, write: Write | None, on_tick: Tick | None) -> Evaluation:
        size = match.agent.network.weights.nbytes
        check_memory(size)  # for the copy that is shared
        tell("connecting to Ray")
        with connect(address, stop, store=STORE + size) as session, translated():
            crew = _Crew(session, match, stop, write, on_tick)
            try:
                tell("loading the player on all nodes")
                crew.prepare()
                tell("playing")
                return crew.play()
            finally:
                crew.cancel()

    return play


# --- on a worker -------------------------------------------------------------------------------------------------------


def _load(parcel: Parcel, match: dict[str, Any], *, keep: bool) -> None:
    """Load a player and the kernels it needs, for games to come."""
    agent = unpack(parcel)
    lines: list[str] = []

    def nothing() -> None:
        play_here(Match(agent, **match | {"games": 0}), threading.Event(), lines.append if keep else None, None)

    load_in_turn(nothing)


def _play_chunk(parcel: Parcel, match: dict[str, Any], *, keep: bool) -> Chunk:
    """Play some games."""
    _load(parcel, match, keep=keep)
    lines: list[str] = []
    began = perf_counter()
    done = play_here(Match(unpack(parcel), **match), threading.Event(), lines.append if keep else None, None)
    counts = None if done.search is None else done.search.counts
    return Chunk(match["first"], done.results, lines, counts, perf_counter() - began)


# --- in the process that asks ------------------------------------------------------------------------------------------


class _Crew:
    """Hands out chunks of games to the workers of a cluster, and puts what comes back in order."""

    def __init__(
        self, session: Session, match: Match, stop: threading.Event, write: Write | None, on_tick: Tick | None
    ) -> None:
        self.ray = load_ray()
        self.session, self.match, self.stop, self.write, self.on_tick = session, match, stop, write, on_tick
        self.threads = count_threads(match.threads or 1)
        self.parcel = self.ray.put(pack(match.agent))
        self.task = self.ray.remote(_play_chunk).options(num_cpus=self.threads, max_retries=RETRIES)
        self.options = {
            "until": match.until, "threads": self.threads, "seed": match.seed, "first": match.first, "games": match.games
        }  # fmt: skip
        self.pending: dict[Any, int] = {}  # games of each chunk that is handed out
        self.waiting: dict[int, Chunk] = {}  # chunks that came back before an earlier one
        self.results = make_results(match.games)
        self.counts: list[NDArray[np.int64]] = []
        self.handed = self.played = 0  # games handed out; games played without a gap, from the first one
        self.share = Share()
        self.size, self.speed = 1, 0.0  # of the largest chunk so far; games a second of one worker
        self.looked = self.served = perf_counter()
        self.workers = self._count_workers(session.nodes())
        if self.workers == 0:
            raise InputError(f"no node of the cluster has {self.threads} processors: ask for fewer --threads")

    def _count_workers(self, nodes: list[Node]) -> int:
        return sum(node.processors // self.threads for node in nodes)

    def prepare(self) -> None:
        """Bring the player to every node, and compile there what it needs, before the clock starts."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        task = self.ray.remote(_load)
        for node in self.session.nodes():
            if node.processors >= self.threads:
                there = NodeAffinitySchedulingStrategy(node.id, soft=False)
                ready = task.options(num_cpus=0, max_retries=RETRIES, scheduling_strategy=there)
                self.pending[ready.remote(self.parcel, self.options, keep=self.write is not None)] = 0
        while self.pending and not self.stop.is_set():
            for done in self._wait():
                del self.pending[done]
                try:
                    self.ray.get(done)
                except self.ray.exceptions.RayTaskError:
                    raise
                except self.ray.exceptions.RayError:  # the node is gone again: others play
                    continue

    def play(self) -> Evaluation:
        """Play all games -> those before the first one that is missing."""
        began, ends = perf_counter(), float("inf")
        while (self.pending or self.handed < self.match.games) and perf_counter() < ends:
            if not self.stop.is_set():
                self._hand_out()
            elif ends == float("inf"):
                ends = perf_counter() + GRACE
            elif not self.pending:
                break
            for done in self._wait():
                self._collect(done)
        seconds, match = perf_counter() - began, self.match
        results = self.results.part(0, self.played)
        summary = summarise(match.agent.network.game, results, seconds, until=match.until) if self.played else None
        return Evaluation(summary, results, stopped=self.stop.is_set(), search=combine(self.counts))

    def cancel(self) -> None:
        """End what is still under way."""
        for task in self.pending:
            self.ray.cancel(task, force=True)

    def _hand_out(self) -> None:
        """Give each worker a chunk to play, and one to go on with."""
        while len(self.pending) < 2 * self.workers and self.handed < self.match.games:
            size = self._next_size(self.match.games - self.handed)
            chunk = self.options | {"first": self.match.first + self.handed, "games": size}
            self.pending[self.task.remote(self.parcel, chunk, keep=self.write is not None)] = size
            self.handed += size

    def _next_size(self, left: int) -> int:
        """Games of the next chunk, by the speed so far, if this many are left."""
        usual, least = int(self.speed * SECONDS), int(self.speed * LEAST)
        share = max(left // (2 * self.workers), least)
        return min(max(min(usual, share, GROWTH * self.size), 1), left)

    def _wait(self) -> list[Any]:
        """The chunks that are done by now; waits a moment, and looks after the cluster and the display."""
        tasks = list(self.pending)
        self.ray.wait(tasks, num_returns=1, timeout=TICK)
        ready, _ = self.ray.wait(tasks, num_returns=len(tasks), timeout=0)
        if perf_counter() - self.looked > LOOK:
            self._look()
        if self.on_tick:
            self.on_tick(replace(self.share))
        return list(ready)

    def _look(self) -> None:
        """Count the workers again: nodes come and go."""
        self.session.check()
        self.looked = perf_counter()
        workers = self._count_workers(self.session.nodes())
        if workers:
            self.workers, self.served = workers, self.looked
        elif self.looked - self.served > ALONE:
            raise ClusterError("all nodes of the cluster that could play are lost")

    def _collect(self, done: Any) -> None:
        """Take the results of a chunk; write its lines once those of all earlier games are written."""
        chunk: Chunk = self.ray.get(done)
        size = self.pending.pop(done)
        self.share.games += size
        self.share.moves += int(chunk.results.moves.sum())
        self.size, self.speed = max(self.size, size), size / max(chunk.seconds, 1e-6)
        if chunk.counts is not None:
            self.counts.append(chunk.counts)
        self.waiting[chunk.first - self.match.first] = chunk
        while (following := self.waiting.pop(self.played, None)) is not None:
            end = self.played + len(following.results.moves)
            self.results.part(self.played, end).fill(following.results)
            for line in following.lines:
                assert self.write is not None
                self.write(line)
            self.played = end
