"""A player: a network and how far it looks ahead."""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from afterstate.engine.choosers import Desk, make_desk, survey, weigh
from afterstate.engine.loop import Seat
from afterstate.engine.record import Record, make_recorder
from afterstate.engine.workers import TICK, Workers
from afterstate.games.arrays import Positions
from afterstate.games.game import Slide, State, slides
from afterstate.kernel import kernel, u64
from afterstate.network.network import Network
from afterstate.rng import Random
from afterstate.search.lookahead import Lookahead, forget, make_chooser
from afterstate.search.options import SearchGiven, SearchOptions
from afterstate.search.parallel import weigh_together
from afterstate.search.statistics import SearchStatistics, add_up
from afterstate.threads import count_threads, share_out
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


@dataclass(frozen=True, eq=False)
class Choices:
    """A player's slides in many states."""

    moves: NDArray[np.int8]  # (n,) slides; -1 where the game is over
    values: NDArray[np.float64]  # (n, 4) reward + value of each slide; -inf if it is illegal


class Agent:
    """Chooses slides with a network. Several threads may use it: one waits for the other.

    >>> from afterstate import load
    >>> network = load("runs/mine")
    >>> Agent(network, depth=3).choose(network.game.parse("2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 4")).move in (0, 1, 2, 3)
    True

    `depth` is how many slides it looks ahead. `move_time` (seconds, or text such as "10ms") limits the time of a move, with or
    without a depth. `exact` leaves nothing out. See `SearchOptions` for the rest. `threads` search one position together.
    """

    def __init__(self, network: Network, *, threads: int = 1, **search: Unpack[SearchGiven]) -> None:
        self.network = network
        self.given: SearchGiven = search  # the options of its search, as given
        self._lock = threading.RLock()  # working memory is used by one question at a time
        self.plan = SearchOptions.read(**search).resolve(network.game.name)
        self._halt = np.zeros(1, np.int64)
        self._choosers = [self.make_chooser(self._halt) for _ in range(count_threads(threads))]
        self._seat = Seat(network.game, network.lookup, self._choosers[0])

    def __reduce__(self) -> Any:
        """Pickled by what it was made of."""
        return _make_agent, (self.network, len(self._choosers), self.given)

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
        with self._lock:
            self._prepare()

    def _prepare(self) -> None:
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
        self.network.game.own(state)
        with self._lock:
            return self._choose(state)

    def choose_many(self, boards: Any) -> Choices:
        """The best slides in many states: anything that `Game.from_array` reads, over the agent's threads.

        The result is that of `choose` one by one, unless a time limit makes that a matter of luck.
        """
        found = self.network.game.from_array(boards)
        values = np.full((len(found), 4), -np.inf)
        with self._lock:
            if self.searches:
                self._wait_for(partial(self._search_all, found, values))
            else:
                share_out(partial(self._weigh_part, found, values), len(found), len(self._choosers))
        moves = values.argmax(axis=1).astype(np.int8) if len(found) else np.zeros(0, np.int8)
        moves[np.isneginf(values).all(axis=1)] = -1
        return Choices(moves, values)

    def _search_all(self, found: Positions, values: NDArray[np.float64]) -> NDArray[np.float64]:
        play = partial(self._search_many, found, values)
        Workers(len(self._choosers), threading.Event()).run(play, 0, len(found), chunk=1)
        return values

    def _search_many(self, found: Positions, values: NDArray[np.float64], thread: int, first: int, count: int) -> int:
        chooser = self._choosers[thread]
        for number in range(first, first + count):
            forget(chooser)
            at = slice(number, number + 1)
            self._weigh_into(chooser, found.boards[at], found.extras[at], make_desk(self.network.lookup), values[at])
        return 0

    def _weigh_part(self, found: Positions, values: NDArray[np.float64], thread: int, start: int, end: int) -> None:
        at, desk = slice(start, end), make_desk(self.network.lookup)
        self._weigh_into(self._choosers[thread], found.boards[at], found.extras[at], desk, values[at])

    def _weigh_into(self, chooser: Any, boards: Any, extras: Any, desk: Desk, values: Any) -> None:
        _weigh_all(self.network.game.tables, self.network.lookup, chooser, boards, extras, desk, values)

    def _choose(self, state: State) -> Choice:
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
        self.network.game.own(state)
        with self._lock:
            forget(self._choosers[0])
            self._seat.observer = kept = make_recorder(moves, seconds=seconds)
            return Record.cut(self.network.game, kept, self._seat.play_from(state, rng))

    def weigh_all(self, boards: NDArray[np.uint64], extras: NDArray[np.uint64]) -> NDArray[np.float64]:
        """(n, 4) reward + value of each slide of many states; -inf if a slide is illegal."""
        with self._lock:
            return self._weigh_many(boards, extras)

    def _weigh_many(self, boards: NDArray[np.uint64], extras: NDArray[np.uint64]) -> NDArray[np.float64]:
        values = np.full((len(boards), 4), -np.inf)
        self._weigh_into(self._choosers[0], boards, extras, self._seat.desk, values)
        return values

    def _weigh(self, state: State) -> NDArray[np.float64]:
        """(4,) reward + value of each slide."""
        values: NDArray[np.float64] = self._weigh_many(np.array([state.board], np.uint64), np.array([state.extra], np.uint64))[
            0
        ]
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


def _make_agent(network: Network, threads: int, search: SearchGiven) -> Agent:
    return Agent(network, threads=threads, **search)
