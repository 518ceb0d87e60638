"""Positions to practise on: a network's own games at depth 1, where it goes wrong by its own look at depth 3."""

from dataclasses import dataclass

import numpy as np

from afterstate.engine.record import Record
from afterstate.games.game import Slide, State
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.play.review import review
from afterstate.rng import Purpose, Random

CLEAR = 0.004  # least share of the expected final score that is given away
MOVES = 3000  # most moves of a game that is searched
GAMES = 3  # most games that are searched
CHECKED = 4  # positions that are looked at again, for each one that is wanted


@dataclass(frozen=True)
class Puzzle:
    """A position, and the slide of the quick look."""

    state: State
    score: int
    slide: Slide


def find_puzzles(network: Network, *, count: int, seed: int) -> list[Puzzle]:
    """Find at most `count` positions. The same seed gives the same ones."""
    rng, order = Random(seed, Purpose.PLAY), np.random.default_rng(seed)
    found: list[Puzzle] = []
    for _ in range(GAMES):
        record = Agent(network, depth=1).play_on(network.game.start(rng), rng, moves=MOVES)
        found += _clear_ones(network, record, count - len(found), order)
        if len(found) == count:
            break
    return found


def _clear_ones(network: Network, record: Record, count: int, order: np.random.Generator) -> list[Puzzle]:
    """At most `count` positions of a game, in a random order: early and late ones alike."""
    found = review(network, record)
    plies = order.permutation(np.flatnonzero(found.shares >= CLEAR))[: CHECKED * count]
    values = Agent(network, depth=3).weigh_all(record.boards[plies], record.extras[plies])
    top = values.max(axis=1, initial=-np.inf)
    lost = top - values[np.arange(len(plies)), record.slides[plies]]
    clear = plies[lost >= CLEAR * np.maximum(found.scores[plies] + top, 1.0)]
    return [
        Puzzle(record.state(int(ply)), int(found.scores[ply]), Slide(int(record.slides[ply]))) for ply in clear[:count].tolist()
    ]
