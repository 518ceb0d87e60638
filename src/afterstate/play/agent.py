"""A player: a network and how far it looks ahead."""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterstate.games.game import Slide, State, slides
from afterstate.kernel import kernel, u64
from afterstate.learning.episode import Recorded, cut_record, make_record
from afterstate.learning.workers import TICK, count_threads
from afterstate.network.greedy import Desk, make_desk, survey, weigh
from afterstate.network.network import Network
from afterstate.play.onward import go_on
from afterstate.rng import Random
from afterstate.search.lookahead import Lookahead, forget, make_view
from afterstate.search.options import SearchOptions
from afterstate.search.parallel import weigh_together
from afterstate.search.statistics import SearchStatistics, gather
from afterstate.units import format_time

WORTH_SHARING = 0.02  # seconds; less is spent sooner than threads are started
AT_ONCE = 3  # searches up to this depth end before anyone could press Ctrl-C


@dataclass(frozen=True)
class Choice:
    """What a player would do, and what it thinks of each slide: reward + value, None where the slide is illegal."""

    move: Slide | None  # None when the game is over
    values: dict[Slide, float | None]
    search: SearchStatistics | None = None  # what the search for it did, if there was one


@kernel
def _weigh(game: Any, net: Any, view: Any, board: u64, extra: u64, desk: Desk) -> None:
    legal = slides(game, board, extra, desk.after, desk.extras, desk.rewards)
    if legal == 0:
        desk.values[:] = -np.inf
        return
    survey(view, net, board, extra, legal, desk, u64(0))
    weigh(view, game, net, legal, desk, u64(0))


class Agent:
    """Chooses slides by a network: Agent(network, depth=3).choose(state). Not for several threads at once.

    `depth` is how many slides it looks ahead, `move_time` (seconds, or text such as "10ms") how long it may take instead of or
    beside it, `exact` that it leaves nothing out; `more` are the other options of `SearchOptions`. With `threads` one position
    is looked into by several.
    """

    def __init__(
        self,
        network: Network,
        *,
        depth: int | None = None,
        move_time: float | str | None = None,
        exact: bool = False,
        threads: int = 1,
        **more: Any,
    ) -> None:
        self.network = network
        self.options = SearchOptions.of(network.game.name, depth=depth, move_time=move_time, exact=exact, **more)
        self._halt = np.zeros(1, np.int64)
        self._views = [self.make_view(self._halt) for _ in range(count_threads(threads))]
        self._desk = make_desk(network.lookup)

    @property
    def depth(self) -> int:
        """Slides that it looks ahead, at most."""
        assert self.options.depth is not None
        return self.options.depth

    @property
    def searches(self) -> bool:
        """Whether it does more than ask the network once."""
        return isinstance(self._views[0], Lookahead)

    @property
    def manner(self) -> str:
        """How it looks ahead, for people."""
        limit = self.options.move_time
        how = f"depth {self.depth}" if limit is None else f"{format_time(limit)} a move"
        return f"{how}, exact" if self.options.exact else how

    def __repr__(self) -> str:
        return f"Agent({self.network!r}, {self.manner})"

    def make_view(self, halt: Any = None) -> Any:
        """How it weighs slides, for one thread. A number other than 0 in `halt` ends a search."""
        return make_view(self.network, self.options, halt)

    def prepare(self) -> None:
        """Compile what a search needs, so that the time of the first move is the time of a move."""
        game = self.network.game
        self._halt[0] = 1  # end at once
        try:
            self._weigh(game.parse(game.example))
            if self.searches and len(self._views) > 1:
                weigh_together(self.network, self._views, self.options, game.parse(game.example), self._desk.values)
        finally:
            self._halt[0] = 0

    def choose(self, state: State) -> Choice:
        """The best slide and the four values; the first of equals in the order U R D L."""
        network, desk = self.network, self._desk
        for view in self._views:
            forget(view)
        if self.depth <= AT_ONCE and self.options.move_time is None:
            self._weigh(state)
        elif len(self._views) == 1 or (self.options.move_time or 1.0) < WORTH_SHARING:
            self._wait_for(lambda: self._weigh(state))
        else:
            self._wait_for(lambda: weigh_together(network, self._views, self.options, state, desk.values))
        values: dict[Slide, float | None] = {
            slide: None if math.isinf(value := float(desk.values[slide])) and value < 0 else value for slide in Slide
        }
        legal = [slide for slide, value in values.items() if value is not None]
        best = max(legal, key=lambda slide: desk.values[slide]) if legal else None
        return Choice(best, values, gather(self._views))

    def play_on(self, state: State, rng: Random, *, moves: int, seconds: float = 0.0) -> Recorded:
        """Play a game on from a state: so many moves at most, in about so many seconds (0: any). `rng` draws the new tiles."""
        network, view, record = self.network, self._views[0], make_record(moves)
        forget(view)
        count, drawn = go_on(
            view, network.lookup, network.game.tables, u64(state.board), u64(state.extra), rng.state,
            round(seconds * 1e9), record, self._desk,
        )  # fmt: skip
        rng.state = u64(drawn)
        return cut_record(record, int(count))

    def _weigh(self, state: State) -> None:
        network = self.network
        _weigh(network.game.tables, network.lookup, self._views[0], u64(state.board), u64(state.extra), self._desk)

    def _wait_for(self, work: Callable[[], None]) -> None:
        """Let another thread work, so that this one can hear Ctrl-C, and end the work then."""
        failures: list[BaseException] = []

        def run() -> None:
            try:
                work()
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
