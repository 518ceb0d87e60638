"""A player: a network and how far it looks ahead."""

import math
from dataclasses import dataclass
from typing import Any

from afterstate.games.game import Slide, State, slides
from afterstate.kernel import kernel, u64
from afterstate.network.greedy import Desk, make_desk, survey, weigh
from afterstate.network.network import Network
from afterstate.search.expectimax import make_view


@dataclass(frozen=True)
class Choice:
    """What a player would do, and what it thinks of each slide: reward + value, None where the slide is illegal."""

    move: Slide | None  # None when the game is over
    values: dict[Slide, float | None]


@kernel
def _weigh(game: Any, net: Any, view: Any, board: u64, extra: u64, desk: Desk) -> None:
    legal = slides(game, board, extra, desk.after, desk.extras, desk.rewards)
    survey(view, net, board, extra, legal, desk, u64(0))
    weigh(view, game, net, legal, desk, u64(0))


class Agent:
    """Chooses slides by a network: Agent(network).choose(state). Not for several threads at once."""

    def __init__(self, network: Network, *, depth: int = 1) -> None:
        self.network = network
        self.depth = depth
        self._view = make_view(network, depth)
        self._desk = make_desk(network.lookup)

    def __repr__(self) -> str:
        return f"Agent({self.network!r}, depth={self.depth})"

    def choose(self, state: State) -> Choice:
        """The best slide and the four values; the first of equals in the order U R D L."""
        network, desk = self.network, self._desk
        _weigh(network.game.tables, network.lookup, self._view, u64(state.board), u64(state.extra), desk)
        values: dict[Slide, float | None] = {
            slide: None if math.isinf(value := float(desk.values[slide])) and value < 0 else value for slide in Slide
        }
        legal = [slide for slide, value in values.items() if value is not None]
        return Choice(max(legal, key=lambda slide: desk.values[slide]) if legal else None, values)
