"""Many games on many threads. Kernels run without the interpreter lock; a free thread takes the next few games."""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from types import FrameType

from afterstate.engine.loop import Seat
from afterstate.games.results import Results, Summary, make_results, summarise
from afterstate.rng import Purpose
from afterstate.threads import count_threads as count_threads  # noqa: PLC0414  # also found here

TICK = 0.1  # seconds between checks of the stop flag and updates of the display
MAX_CHUNK = 10  # games in one kernel call; between calls threads settle what they have learned


@contextmanager
def stop_on_signal(stop: threading.Event) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and a lost terminal (SIGHUP) set `stop` instead of interrupting.

    Does nothing outside the main thread. A SIGHUP that is ignored, as with nohup, stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(number: int, frame: FrameType | None) -> None:
        stop.set()

    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, ask) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Either(threading.Event):
    """Set when either of two events is."""

    def __init__(self, one: threading.Event, other: threading.Event) -> None:
        super().__init__()
        self._both = (one, other)

    def is_set(self) -> bool:
        return any(event.is_set() for event in self._both)


@dataclass
class Share:
    """How many games and moves are done, for displays."""

    games: int = 0
    moves: int = 0


class Workers:
    """Hands out games first, first + 1, ... to threads. After `stop` no new games begin; those under way are finished."""

    def __init__(self, threads: int, stop: threading.Event) -> None:
        self.threads = threads
        self.stop = stop
        self._lock = threading.Lock()

    def run(
        self,
        play: Callable[[int, int, int], int],
        first: int,
        count: int,
        *,
        threads: int | None = None,
        chunk: int = MAX_CHUNK,
        on_tick: Callable[[Share], None] | None = None,
        on_stop: Callable[[], None] | None = None,
    ) -> int:
        """Call play(thread, first, count) -> moves until all games are played or `stop` is set -> games begun.

        `on_stop` is called soon after a stop; it may end games that are under way. An error of a thread or of `on_tick` is
        raised once all threads have ended.
        """
        threads = threads or self.threads
        share = Share()
        failures: list[BaseException] = []
        begun = 0

        def work(thread: int) -> None:
            nonlocal begun
            try:
                while True:
                    with self._lock:
                        size = min(chunk, max((count - begun) // (4 * threads), 1), count - begun)
                        if size <= 0 or self.stop.is_set() or failures:
                            return
                        start = first + begun
                        begun += size
                    moves = play(thread, start, size)
                    with self._lock:
                        share.games += size
                        share.moves += moves
            except BaseException as failure:
                failures.append(failure)

        def tell() -> None:
            try:
                if on_tick:
                    on_tick(share)
            except BaseException as failure:
                failures.append(failure)

        pool = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(threads)]
        for thread in pool:
            thread.start()
        for thread in pool:
            while thread.is_alive():
                thread.join(TICK)
                if on_stop and (self.stop.is_set() or failures):
                    on_stop()
                tell()
        tell()
        if failures:
            raise failures[0]
        return begun


def play_match(
    seats: Sequence[Seat],
    games: int,
    seed: int,
    stop: threading.Event,
    *,
    start: int = 0,
    on_tick: Callable[[Share], None] | None = None,
) -> tuple[Summary | None, Results]:
    """Play with learning off, one thread per seat -> summary and results; the summary is None if no game was finished.

    The games are those of (seed, EVAL) from number `start` on: none of them is a training game, and the number of threads does
    not matter.
    """
    results = make_results(games)

    def play(thread: int, first: int, count: int) -> int:
        part = results.part(first - start, first - start + count)
        seats[thread].play(seed, Purpose.EVAL, first, part)
        return int(part.moves.sum())

    play(0, start, 0)  # compile before the clock starts
    began = perf_counter()
    played = Workers(len(seats), stop).run(play, start, games, on_tick=on_tick)
    results = results.part(0, played)
    seconds, first = perf_counter() - began, seats[0]
    return (summarise(first.game, results, seconds, until=first.until) if played else None), results
