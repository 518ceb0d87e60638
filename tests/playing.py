"""What the tests of learning share: a thread that learns from games."""

from typing import Any

import numpy as np

from afterstate.engine.loop import NOBODY, Seat
from afterstate.games.results import Results, make_results
from afterstate.learning.backups import Backup, slots_needed
from afterstate.learning.learner import Learner
from afterstate.learning.tc import TC, make_tc
from afterstate.learning.td import TD
from afterstate.learning.update import make_tally
from afterstate.network.lookup import Lookup
from afterstate.network.network import Network
from afterstate.rng import Purpose

SEED = 5


def new_tc(network: Network, beta: float) -> TC:
    """TC that has learned nothing yet."""
    return make_tc(network, beta, np.zeros(2 * network.weights.size, np.float32))


def new_td(alpha: float) -> TD:
    return TD(np.float64(alpha))


def seat_to_learn(network: Network, rule: Any, backup: Backup, *, observer: Any = NOBODY, lookup: Lookup | None = None) -> Seat:
    """A seat whose learner has its own tally."""
    return Seat(
        network.game, lookup or network.lookup, slots=slots_needed(backup), observer=observer,
        learner=Learner(rule, backup, make_tally(network.game.most)),
    )  # fmt: skip


def play_games(seat: Seat, first: int, count: int, *, seed: int = SEED, purpose: Purpose = Purpose.TRAIN) -> Results:
    results = make_results(count)
    seat.play(seed, purpose, first, results)
    return results
