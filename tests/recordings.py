"""Games of training on record, and what they teach. Run without the compiler, where every combination is quick to try."""

from typing import Any, Literal, NamedTuple

import numpy as np

import afterstate as af
from afterstate.engine.loop import Seat
from afterstate.engine.record import Record, make_recorder
from afterstate.kernel import DISABLED
from afterstate.learning.backups import slots_needed
from afterstate.learning.learner import Learner as Parts
from afterstate.learning.options import TrainOptions
from afterstate.learning.plan import Plan, make_plan, new_network
from afterstate.learning.rules import RULES
from afterstate.learning.update import make_tally
from afterstate.rng import Purpose

SEED = 3


class Case(NamedTuple):
    """What learns from what."""

    game: str
    method: dict[str, Any]
    target: Literal["afterstate", "state"] = "afterstate"
    stages: str = "0"
    games: int = 2
    network: str = "01,14"
    size: str = "3x3"

    @property
    def options(self) -> dict[str, Any]:
        """For `train`."""
        given = {"network": self.network, "size": self.size, "target": self.target, "stages": self.stages, "games": self.games}
        return given | self.method | {"threads": 1, "seed": SEED}

    @property
    def plan(self) -> Plan:
        return make_plan(TrainOptions(game=self.game, **self.options))


LAMBDA: dict[str, Any] = {"method": "tc", "lambda_": 0.5}
CASES = [
    Case("2048", {}),
    Case("2048", {"method": "tc"}),
    Case("2048", LAMBDA),
    Case("2048", LAMBDA | {"horizon": 9}),
    Case("2048", {"steps": 3, "alpha": 0.3}),
    Case("2048", LAMBDA | {"order": "backward"}),
    Case("2048", {}, target="state", games=1),
    Case("2048", LAMBDA, target="state", games=1),
    Case("2048", LAMBDA, stages="0,16"),
    Case("threes", LAMBDA),
]


def record_training(case: Case) -> list[Record]:
    """The games of a training, played by its loop with its learner, and a recorder that looks on."""
    plan = case.plan
    network, kind = new_network(plan), RULES[plan.rules[0]].kind
    rule = kind.make(network, plan.phases[0].alpha, np.zeros(kind.numbers * network.weights.size, np.float32))
    backup, recorder = plan.make_backup(), make_recorder(plan.game.longest)
    learner = Parts(rule, backup, make_tally(plan.game.most))
    seat = Seat(plan.game, network.lookup, observer=recorder, learner=learner, slots=slots_needed(backup))
    records = []
    for number in range(case.games):
        rng = af.Random(SEED, Purpose.TRAIN, number)
        moves = seat.play_from(plan.game.start(rng), rng)
        records.append(Record.cut(plan.game, recorder, moves))
    return records


def check(case: Case, records: list[Record]) -> None:
    """Learning the games of a training from their records gives its weights, bit for bit."""
    network = new_network(case.plan)
    learner = af.Learner(network, **case.method)
    for record in records:
        learned = learner.learn_episode(record)
        assert learned.moves == len(record)
        assert learned.error > 0
    trained = af.train(case.game, run=False, **case.options)
    assert trained.last.weights.any()
    assert trained.last.weights.tobytes() == network.weights.tobytes(), case


def main() -> None:
    """Check all cases, and print the slides of one."""
    assert DISABLED
    for case in CASES:
        check(case, record_training(case))
    print(" ".join(record.moves for record in record_training(CASES[2])))
