"""A player: a network and how far it looks ahead."""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from afterstate.engine.choosers import Desk, survey, weigh
from afterstate.engine.loop import Seat
from afterstate.engine.record import Record, make_recorder
from afterstate.engine.workers import TICK, count_threads
from afterstate.games.game import Slide, State, slides
from afterstate.kernel import kernel, u64
from afterstate.network.network import Network
from afterstate.rng import Random
from afterstate.search.lookahead import Lookahead, forget, make_chooser
from afterstate.search.options import SearchGiven, SearchOptions
from afterstate.search.parallel import weigh_together
from afterstate.search.statistics import SearchStatistics, add_up
from afterstate.units import format_time

WORTH_SHARING = 0.02  # seconds; for less, starting threads takes too long
AT_ONCE = 3  # up to this depth a search is over before anyone can press Ctrl-C


@dataclass(frozen=True)
class Choice:
    """A player's slide, and its value of each slide: reward + value, None if the slide is illegal."""

    move: Slide | None  # None when the game is over
    values: dict[Slide, float | None]
    search: SearchStatistics | None = None  # statistics of the search, if there was one


@kernel
def _weigh_all(game: Any, net: Any, chooser: Any, boards: Any, extras: Any, desk: Desk, values: Any) -> None:
    """Write reward + value of the four slides of many states to `values`, (n, 4); illegal slides are not written."""
    for number in range(boards.size):
        board, extra = boards[number], extras[number]
        legal = slides(game, board, extra, desk.after, desk.extras, desk.rewards)
        if legal != 0:
            survey(chooser, net, board, extra, legal, desk, u64(0))
            weigh(chooser, game, net, board, extra, legal, desk, u64(0))
            for slide in range(4):
                values[number, slide] = desk.values[slide]


class Agent:
    """Chooses slides with a network. Use it from one thread at a time.

    >>> from afterstate import load
    >>> network = load("runs/mine")
    >>> Agent(network, depth=3).choose(network.game.parse("2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 4")).move in (0, 1, 2, 3)
    True

    `depth` is how many slides it looks ahead. `move_time` (seconds, or text such as "10ms") limits the time of a move, with or
    without a depth. `exact` leaves nothing out. See `SearchOptions` for the rest. `threads` search one position together.
    """

    def __init__(self, network: Network, *, threads: int = 1, **search: Unpack[SearchGiven]) -> None:
        self.network = network
        self.plan = SearchOptions.read(**search).resolve(network.game.name)
        self._halt = np.zeros(1, np.int64)
        self._choosers = [self.make_chooser(self._halt) for _ in range(count_threads(threads))]
        self._seat = Seat(network.game, network.lookup, self._choosers[0])

    @property
    def depth(self) -> int:
        """The most slides that it looks ahead."""
        return self.plan.depth

    @property
    def searches(self) -> bool:
        """Whether it does more than ask the network once."""
        return isinstance(self._choosers[0], Lookahead)

    @property
    def manner(self) -> str:
        """How it looks ahead, as text: 'depth 3, exact'."""
        limit = self.plan.move_time
        how = f"depth {self.depth}" if limit is None else f"{format_time(limit)} a move"
        return f"{how}, exact" if self.plan.exact else how

    def __repr__(self) -> str:
        return f"Agent({self.network!r}, {self.manner})"

    def make_chooser(self, halt: NDArray[np.int64] | None = None) -> Any:
        """Make the chooser of one thread. Any number but 0 in `halt` ends its search."""
        return make_chooser(self.network, self.plan, halt)

    def prepare(self) -> None:
        """Compile what a search needs, so that the first move is as fast as the others."""
        game = self.network.game
        self._halt[0] = 1  # end at once
        try:
            self._weigh(game.parse(game.example))
            if self.searches and len(self._choosers) > 1:
                self._weigh_together(game.parse(game.example))
        finally:
            self._halt[0] = 0

    def choose(self, state: State) -> Choice:
        """Find the best slide and the four values. Ties go to the first in the order U R D L."""
        for chooser in self._choosers:
            forget(chooser)
        if self.depth <= AT_ONCE and self.plan.move_time is None:
            found = self._weigh(state)
        elif len(self._choosers) == 1 or (self.plan.move_time or 1.0) < WORTH_SHARING:
            found = self._wait_for(lambda: self._weigh(state))
        else:
            found = self._wait_for(lambda: self._weigh_together(state))
        values: dict[Slide, float | None] = {
            slide: None if math.isinf(value := float(found[slide])) and value < 0 else value for slide in Slide
        }
        legal = [slide for slide, value in values.items() if value is not None]
        best = max(legal, key=lambda slide: found[slide]) if legal else None
        return Choice(best, values, add_up(self._choosers))

    def halt(self) -> None:
        """End the search that another thread is in, and all later ones: this agent is not needed any more."""
        self._halt[0] = 1

    def play_on(self, state: State, rng: Random, *, moves: int, seconds: float = 0.0) -> Record:
        """Play on from a state, for at most `moves` moves and about `seconds` (0: no limit). `rng` draws the new tiles."""
        forget(self._choosers[0])
        self._seat.observer = kept = make_recorder(moves, seconds=seconds)
        return Record.cut(self.network.game, kept, self._seat.play_from(state, rng))

    def weigh_all(self, boards: NDArray[np.uint64], extras: NDArray[np.uint64]) -> NDArray[np.float64]:
        """(n, 4) reward + value of each slide of many states; -inf if a slide is illegal."""
        network, values = self.network, np.full((len(boards), 4), -np.inf)
        _weigh_all(network.game.tables, network.lookup, self._choosers[0], boards, extras, self._seat.desk, values)
        return values

    def _weigh(self, state: State) -> NDArray[np.float64]:
        """(4,) reward + value of each slide."""
        values: NDArray[np.float64] = self.weigh_all(np.array([state.board], np.uint64), np.array([state.extra], np.uint64))[0]
        return values

    def _weigh_together(self, state: State) -> NDArray[np.float64]:
        """The same, by all threads."""
        values = np.zeros(4)
        weigh_together(self.network, self._choosers, state, values)
        return values

    def _wait_for(self, work: Callable[[], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Run `work` in another thread, so that Ctrl-C reaches this one and can stop it."""
        done: list[NDArray[np.float64]] = []
        failures: list[BaseException] = []

        def run() -> None:
            try:
                done.append(work())
            except BaseException as failure:
                failures.append(failure)

        worker = threading.Thread(target=run, daemon=True)
        worker.start()
        try:
            while worker.is_alive():
                worker.join(TICK)
        except BaseException:
            self._halt[0] = 1
            worker.join()
            self._halt[0] = 0
            raise
        if failures:
            raise failures[0]
        return done[0]
