"""The workers of a training, as the one who leads it sees them: who is there, what each is doing, and who was lost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from afterstate.cluster.changes import Change
from afterstate.cluster.connection import Session
from afterstate.cluster.failures import load_ray, translated
from afterstate.cluster.ledger import Chunk, Played
from afterstate.cluster.worker import Worker
from afterstate.engine.workers import TICK
from afterstate.errors import ClusterError
from afterstate.learning.options import Phase, TrainOptions

LOOK = 1.0  # seconds between two looks whether the head is there
START = 120.0  # seconds that the first worker has to start in; it may have to compile its kernels
GRACE = 20.0  # seconds that it then waits for the others
LOSSES = 3  # workers lost, for each one there should be, before a merge succeeds: then something is wrong with all of them


@dataclass(eq=False)
class Hand:
    """A worker."""

    actor: Any
    under_way: dict[Any, Chunk] = field(default_factory=dict)  # by what will be its result, in the order of play
    played: list[Played] = field(default_factory=list)  # since the last merge
    taking: Any = None  # the last merge, or the first tables; an error if it could not take them
    speed: float = 0.0  # games a second
    last: int = 0  # games of its last chunk

    def play(self, phase: Phase, chunk: Chunk) -> None:
        self.under_way[self.actor.play.remote(phase, chunk)] = chunk
        self.last = chunk.count

    def take(self, changes: Sequence[Any]) -> None:
        self.taking = self.actor.take.remote(*changes)

    @property
    def queued(self) -> float:
        """Seconds until it has nothing to do."""
        return sum(chunk.count for chunk in self.under_way.values()) / self.speed if self.speed else 0.0


class Crew:
    """All workers. `lose` is told which games were lost with one of them."""

    def __init__(
        self, session: Session, options: TrainOptions, workers: int, threads: int, lose: Callable[[list[Chunk]], None]
    ) -> None:
        self.hands: list[Hand] = []
        self.losses = 0  # since the last merge
        self._session = session
        self._options, self._threads, self._workers = options, threads, workers
        self._lose = lose
        self._coming: dict[Any, Any] = {}  # workers that start, by what will say that they are ready
        self._looked = perf_counter()
        share = sum(node.processors for node in session.nodes()) / workers
        self._processors = min(threads, int(share) if share >= 1 else int(100 * share) / 100)
        for _ in range(workers):
            self._recruit()

    def _recruit(self) -> None:
        worker = load_ray().remote(Worker)
        actor = worker.options(num_cpus=self._processors, scheduling_strategy="SPREAD").remote(self._options, self._threads)
        self._coming[actor.ready.remote()] = actor

    def wait_for_workers(self, on_tick: Callable[[], bool]) -> None:
        """Wait for all workers, or for those that are ready some time after the first; or until `on_tick` is True."""
        began, first = perf_counter(), None
        while self._coming and not on_tick():
            ready = self._ready(TICK)
            now = perf_counter()
            first = now if first is None and ready else first
            if len(ready) == len(self._coming) or (first is not None and now > first + GRACE):
                return
            if first is None and now > began + START:
                raise ClusterError(
                    f"no worker has started within {START:.0f} s: each needs {self._processors:g} free processors, and memory; "
                    f"ray status shows what {self._session.address} has. Try fewer --workers or --threads"
                )
            self.look()

    def _ready(self, timeout: float) -> list[Any]:
        ray = load_ray()
        return list(ray.wait(list(self._coming), num_returns=len(self._coming), timeout=timeout)[0]) if self._coming else []

    def admit(self, tables: Callable[[], Change]) -> None:
        """Let workers that have started join, with the present tables; not while others are between two merges."""
        ray, given = load_ray(), None
        for answer in self._ready(0):
            actor = self._coming.pop(answer)
            try:
                with translated():
                    ray.get(answer)
            except ClusterError:
                self._count_loss(actor)
                continue
            given = ray.put(tables()) if given is None else given
            hand = Hand(actor)
            hand.take([given])
            self.hands.append(hand)

    def collect(self, timeout: float) -> None:
        """Wait for games that are finished, and note them."""
        ray = load_ray()
        pending = {answer: hand for hand in self.hands for answer in hand.under_way}
        for answer in ray.wait(list(pending), num_returns=1, timeout=timeout)[0] if pending else ():
            hand = pending[answer]
            if hand in self.hands and (played := self.ask(hand, answer)) is not None:
                del hand.under_way[answer]
                hand.played.append(played)
                hand.speed = played.chunk.count / max(played.busy, 1e-6)
        self.look()

    def ask(self, hand: Hand, answer: Any) -> Any:
        """What a worker answers; None if it was lost."""
        ray = load_ray()
        while not ray.wait([answer], timeout=TICK)[0]:
            self.look()
        try:
            with translated():
                return ray.get(answer)
        except ClusterError as error:
            if isinstance(error.__cause__, ray.exceptions.RayTaskError):
                raise
            self.drop(hand)
            return None

    def drop(self, hand: Hand) -> None:
        """Go on without a worker: its games since the last merge are lost, and another one starts in its place."""
        self.hands.remove(hand)
        self._lose([*hand.under_way.values(), *(each.chunk for each in hand.played)])
        self._count_loss(hand.actor)

    def _count_loss(self, actor: Any) -> None:
        self._session.check()  # without a head, Ray would wait for a minute here
        load_ray().kill(actor)  # it must not come back
        self.losses += 1
        if self.losses > LOSSES * self._workers:
            raise ClusterError(
                f"{self.losses} workers were lost one after the other: the logs of their nodes say why; if it was memory, use "
                f"fewer workers or a smaller network"
            )
        self._recruit()

    def look(self) -> None:
        """Now and then, see if the head is still there."""
        if perf_counter() > self._looked + LOOK:
            self._looked = perf_counter()
            self._session.check()

    def close(self) -> None:
        """End all workers."""
        ray = load_ray()
        for actor in [*self._coming.values(), *(hand.actor for hand in self.hands)]:
            ray.kill(actor)
        self.hands.clear()
        self._coming.clear()
