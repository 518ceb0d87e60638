"""Train one network on many machines: `Trainer` leads as ever, and a `ClusterTeam` plays and learns for it.

Each worker learns on a network of its own. Every `merge_every` seconds all finish what they are playing, and what they have
learned is merged (see `merging`). Games are played ahead of the block that the trainer waits for, up to the next game before
which it must pause, so blocks cost nothing. This process follows with a replica of the network, which is what the trainer
evaluates and saves.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import ceil
from time import perf_counter
from typing import Any

from afterstate.cluster.changes import Change, Replica
from afterstate.cluster.connection import STORE, Session, connect
from afterstate.cluster.crew import Crew, Hand
from afterstate.cluster.failures import load_ray, translated
from afterstate.cluster.ledger import Chunk, Ledger
from afterstate.cluster.worker import Sent, Shard
from afterstate.engine.workers import TICK, Share
from afterstate.errors import ClusterError, InputError
from afterstate.games.results import Results
from afterstate.learning.options import Phase
from afterstate.learning.plan import Plan
from afterstate.learning.rules import RULES
from afterstate.learning.team import Team
from afterstate.learning.update import MOVES
from afterstate.memory import free_memory
from afterstate.network.network import Network
from afterstate.threads import count_threads

MERGE_EVERY = 30.0  # seconds between two merges, by default
MERGE_SHARE = 0.05  # of the time that merges may take
GROWTH = 0.1  # a fresh network learns fast, so a merge comes after this share of the time so far at the latest
SHORTEST = 0.2  # seconds between two merges
CHUNK = 1.0  # seconds of play for which a worker gets games at a time
QUEUED = 2  # chunks that a worker has at a time, so that it need not wait for the next
FIRST = 10  # games of a worker's first chunks, when its speed is not known
GROWS = 2  # times that a chunk may be as large as the one before: games become longer as the network learns
LEAST = 0.02  # seconds of play that are worth a chunk
MAX_WORKERS = 1000
MAX_SHARDS = 64
RECENT = 3  # merges by which the cost of the next is judged: by the cheapest, since others may have waited for something
TRIES = 3  # to merge, after workers or nodes were lost


@dataclass
class Traffic:
    """What the merges so far have cost."""

    merges: int = 0
    bytes: int = 0  # sent by and to the workers
    seconds: float = 0.0  # in which no worker played
    rounds: float = 0.0  # seconds of training in all

    def __str__(self) -> str:
        share = self.seconds / self.rounds if self.rounds else 0.0
        return f"{self.merges} merges, {self.bytes / 1e6:,.1f} MB sent, {share:.1%} of the time"


class ClusterTeam(Team):
    """Workers on the nodes of a cluster, and the replica of the one who leads them."""

    def __init__(self, plan: Plan, network: Network, session: Session, *, workers: int, merge_every: float) -> None:
        super().__init__(plan, network, count_threads(plan.options.threads), copied=0)
        self.traffic = Traffic()
        self.workers = workers
        self._session = session
        self._merge_every = merge_every
        self._costs = [0.0]  # seconds of the last merges
        self._spent = 0.0
        self._ledger = Ledger()
        kinds = [RULES[name].kind for name in plan.rules]
        self._replica = Replica(network, kinds, list(self.tables.kept.values()), learns=False)
        self._crew: Crew | None = None
        self._shards: list[Any] = []

    # --- what the trainer asks for -------------------------------------------------------------------------------------

    @property
    def ahead(self) -> int:
        return self._ledger.ahead

    def spent(self, elapsed: float) -> float:  # noqa: ARG002  # the time is known game by game
        return self._spent

    def learn(
        self,
        phase: Phase,
        first: int,
        results: Results,
        *,
        stop: threading.Event,
        on_tick: Callable[[Share], None] | None = None,
    ) -> int:
        """Hand over the results of games first, first + 1, ... once all that was learned from them is merged.

        After a stop no new games begin; those under way are finished, and those that were lost with a worker are played again.
        """
        results.moves.fill(-1)
        self._ledger.next = max(self._ledger.next, first)
        self._spent, done, moves = 0.0, 0, 0.0

        def tick() -> bool:
            if on_tick:
                on_tick(self._share(done, moves))
            return stop.is_set()

        while True:
            delivery = self._ledger.deliver(first + done, results.part(done, len(results.scores)))
            done += delivery.games
            moves += float(delivery.sums[MOVES])
            self.tallies[0].sums[:] += delivery.sums
            self._spent += delivery.seconds
            if done == len(results.scores) or (tick() and not self._ledger.lost):
                return done
            with translated():
                self._round(phase, self._limit(first + done), tick)

    def close(self) -> None:
        """End what runs on the cluster. Without a head nobody can be told, and Ray would wait for a minute."""
        if self._crew is None:
            return
        with suppress(ClusterError):
            self._session.check()
            self._crew.close()
            for shard in self._shards:
                load_ray().kill(shard)

    # --- rounds --------------------------------------------------------------------------------------------------------

    def _share(self, done: int, moves: float) -> Share:
        """Games and moves that were played since `learn` was called, or ahead of it."""
        chunks = list(self._ledger.merged.values())
        chunks += [played for hand in (self._crew.hands if self._crew else ()) for played in hand.played]
        return Share(done + sum(each.chunk.count for each in chunks), int(moves + sum(each.sums[MOVES] for each in chunks)))

    def _limit(self, game: int) -> int | None:
        """The next game before which the trainer must pause: for an evaluation, another rate, or the end."""
        options = self.plan.options
        ends = [int(phase.start) for phase in self.plan.phases if not phase.by_time]
        ends += [(game // options.eval_every + 1) * options.eval_every] if options.eval_every else []
        ends += [options.games] if options.games is not None else []
        return min((end for end in ends if end > game), default=None)

    def _gather(self, tick: Callable[[], bool]) -> Crew:
        """The workers, which are started for the first games."""
        if self._crew is None:
            self._crew = Crew(
                self._session, self.plan.options, self.workers, threads_for(self._session, self.workers, self.plan),
                self._ledger.lose,
            )  # fmt: skip
            shard = (
                load_ray().remote(Shard).options(num_cpus=0, scheduling_strategy="SPREAD", max_restarts=-1, max_task_retries=-1)
            )
            self._shards = [shard.remote() for _ in range(min(self.workers, MAX_SHARDS))]
            for each in self._shards:  # so that the first merge need not wait for them
                each.ready.remote()
        if not self._crew.hands:
            self._crew.wait_for_workers(lambda: tick() and not self._ledger.lost)
        self._crew.admit(self._replica.find_all)
        return self._crew

    def _round(self, phase: Phase, limit: int | None, tick: Callable[[], bool]) -> None:
        """Play until a merge is due, and merge."""
        crew = self._gather(tick)
        began = perf_counter()
        ends = began + self._interval()
        while True:
            limit = self._ledger.next if tick() else limit  # after a stop, only what was lost is played again
            for hand in crew.hands:
                while len(hand.under_way) < QUEUED and (chunk := self._next_chunk(hand, ends, limit)):
                    hand.play(phase, chunk)
            if not any(hand.under_way for hand in crew.hands):
                break
            crew.collect(TICK)
        if any(hand.played for hand in crew.hands):
            self._merge(crew, phase, began)

    def _interval(self) -> float:
        """Seconds until the next merge."""
        longest = min(self._merge_every, max(GROWTH * self.traffic.rounds, SHORTEST))
        return max(longest, min(self._costs[-RECENT:]) / MERGE_SHARE)

    def _next_chunk(self, hand: Hand, ends: float, limit: int | None) -> Chunk | None:
        """Games for a worker that end before the next merge."""
        seconds = min(CHUNK, ends - perf_counter() - hand.queued)
        if seconds < LEAST:
            return None
        count = min(int(seconds * hand.speed), GROWS * hand.last) if hand.speed else FIRST
        if limit is not None:  # the last games are shared out among all
            count = min(count, ceil((limit - self._ledger.next) / (QUEUED * self.workers)))
        return self._ledger.hand_out(max(count, 1), limit)

    # --- merging -------------------------------------------------------------------------------------------------------

    def _merge(self, crew: Crew, phase: Phase, began: float) -> None:
        """Merge what all have learned since the last time: from here on their games count."""
        paused = perf_counter()
        changes, merged = self._exchange(crew, phase)
        if not crew.hands:  # all were lost, and their games with them
            return
        for change in merged:
            self._replica.take(change)
        played = [each for hand in crew.hands for each in hand.played]
        for hand in crew.hands:
            hand.take(changes)
            hand.played.clear()
        now = perf_counter()
        moves = sum(each.sums[MOVES] for each in played)
        for each in played:
            each.seconds = (now - began) * float(each.sums[MOVES] / moves)
        self._ledger.merge(played)
        crew.losses = 0
        self._costs.append(now - paused)
        traffic = self.traffic
        traffic.merges += 1
        traffic.bytes += len(crew.hands) * sum(change.nbytes for change in merged)
        traffic.seconds += now - paused
        traffic.rounds += now - began

    def _exchange(self, crew: Crew, phase: Phase) -> tuple[list[Any], list[Change]]:
        """Bring the changes of all workers to the shards -> what they make of them, there and here."""
        kind = RULES[phase.method].kind
        width = 1 + len(self._shards)
        parts = {hand: hand.actor.give.options(num_returns=width).remote(len(self._shards)) for hand in crew.hands}
        for hand, (said, *_) in parts.items():
            if crew.ask(hand, hand.taking) is not None:
                sent: Sent | None = crew.ask(hand, said)
                self.traffic.bytes += sent.bytes if sent else 0
        for _ in range(TRIES):
            if not crew.hands:
                return [], []
            given = [parts[hand] for hand in crew.hands]
            changes = [
                shard.merge.remote(kind.sums, *(each[1 + number] for each in given))
                for number, shard in enumerate(self._shards)
            ]
            try:
                with translated():
                    return changes, self._fetch(crew, changes)
            except ClusterError:  # a node may be gone with what it held
                for hand in list(crew.hands):
                    crew.ask(hand, hand.actor.ready.remote())
        raise ClusterError("what the workers have learned could not be merged; resume the run from its last checkpoint")

    def _fetch(self, crew: Crew, changes: list[Any]) -> list[Change]:
        """Merged changes, as soon as they are there."""
        ray = load_ray()
        while len(ray.wait(changes, num_returns=len(changes), timeout=TICK)[0]) < len(changes):
            crew.look()
        return list(ray.get(changes))


def threads_for(session: Session, workers: int, plan: Plan) -> int:
    """Threads of each worker: as given, or an equal share of the cluster's processors."""
    if plan.options.threads is not None:
        return plan.options.threads
    return max(sum(node.processors for node in session.nodes()) // workers, 1)


class TeamMaker:
    """Makes the team of a trainer, on a cluster."""

    def __init__(self, session: Session, workers: int | None, merge_every: float) -> None:
        self._session = session
        self._workers = len(session.nodes()) if workers is None else workers
        self._merge_every = merge_every
        self.team: ClusterTeam | None = None

    def __call__(self, plan: Plan, network: Network) -> ClusterTeam:
        self.team = ClusterTeam(plan, network, self._session, workers=self._workers, merge_every=self._merge_every)
        return self.team


@contextmanager
def training_on(
    address: str, stop: threading.Event, *, workers: int | None = None, merge_every: float = MERGE_EVERY
) -> Iterator[TeamMaker]:
    """Connect to a cluster (see `connect`) to train there with so many workers, one for each node by default."""
    if workers is not None and not 1 <= workers <= MAX_WORKERS:
        raise InputError(f"workers must be 1 to {MAX_WORKERS}, not {workers}")
    with connect(address, stop, store=max(STORE, free_memory() // 4)) as session:
        maker = TeamMaker(session, workers, merge_every)
        try:
            yield maker
        finally:
            if maker.team is not None:
                maker.team.close()
