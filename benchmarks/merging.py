"""How should changes of workers that learn apart be merged? python benchmarks/merging.py --method tc --workers 1,2,4

Workers learn in turn in this process, each with a network of its own, and merge every --round games (of all together). At equal
total games, networks that were merged by different rules are compared with one that learned alone: by the mean score of 2,000
games with learning off, and of the last tenth of training.
"""

import argparse
import threading
from collections.abc import Callable, Sequence

import numpy as np

from afterstate.cluster.changes import PAGE, Change, Replica, make_change
from afterstate.cluster.merging import merge
from afterstate.engine.loop import Seat
from afterstate.engine.workers import play_match
from afterstate.games.results import make_results
from afterstate.learning.options import TrainOptions
from afterstate.learning.plan import Plan, make_plan, new_network
from afterstate.learning.rules import RULES
from afterstate.learning.team import Team
from afterstate.threads import count_threads

EVAL_GAMES, EVAL_SEED = 2000, 5
Rule = Callable[[Sequence[Change]], Change]


def scaled(changes: Sequence[Change], scale: Callable[[np.ndarray], np.ndarray]) -> Change:
    """The sum of all moves, times a factor that depends on how many workers have changed a weight."""
    size = max(int(change.pages.max()) + 1 for change in changes) * PAGE
    count, moves = np.zeros((2, size))
    kept = np.zeros((size, changes[0].kept.shape[1]), np.float32)
    for change in changes:
        indices = change.indices()
        count[indices] += 1
        moves[indices] += change.moves
        kept[indices] += change.kept
    found = np.flatnonzero(count)
    return make_change(found, (moves[found] * scale(count[found])).astype(np.float32), kept[found])


def rules(method: str, workers: int) -> dict[str, Rule]:
    """The rules to compare, by name."""
    sums = RULES[method].kind.sums
    return {
        "sum": lambda changes: scaled(changes, lambda count: np.ones_like(count)),
        "mean of all": lambda changes: scaled(changes, lambda count: np.full_like(count, 1 / workers)),
        "mean": lambda changes: scaled(changes, lambda count: 1 / count),
        "1.5/k": lambda changes: scaled(changes, lambda count: np.minimum(1, 1.5 / count)),
        "seen": lambda changes: merge(changes, None),
        "no limit": lambda changes: merge(changes, sums, most=np.inf),
        "ours": lambda changes: merge(changes, sums),
    }


class Worker:
    """One that learns on a network of its own."""

    def __init__(self, plan: Plan) -> None:
        self.team = Team(plan, new_network(plan), 1, tidies=False)
        kinds = [RULES[name].kind for name in plan.rules]
        self.team.begin()
        self.replica = Replica(self.team.network, kinds, list(self.team.tables.kept.values()))
        self.replica.take(self.replica.find_change())

    def learn(self, first: int, count: int) -> float:
        """Learn from `count` games -> their mean score."""
        results = make_results(count)
        self.team.learn(self.team.plan.phases[0], first, results, stop=threading.Event())
        return float(results.scores.mean())


def train(plan: Plan, workers: int, each: int, points: Sequence[int], rule: Rule | None) -> list[tuple[float, float, float]]:
    """Train -> at some points: mean score with learning off, of the last tenth of training, megabytes sent in all merges."""
    team = [Worker(plan) for _ in range(workers)]
    sent, means, found = 0, [], []
    for first in range(0, max(points), each):
        part = each // workers
        means.append(np.mean([worker.learn(first + number * part, part) for number, worker in enumerate(team)]))
        if rule is not None:
            changes = [worker.replica.find_change() for worker in team]
            merged = rule(changes)
            for worker in team:
                worker.replica.take(merged)
            sent += sum(change.nbytes for change in changes) + workers * merged.nbytes
        if first + each in points:
            found.append((eval_mean(team[0].team), float(np.mean(means[-max(len(means) // 10, 1) :])), sent / 1e6))
    return found


def eval_mean(team: Team) -> float:
    """The mean score of a network with learning off."""
    seats = [Seat(team.plan.game, team.network.lookup) for _ in range(count_threads(None))]
    summary, _ = play_match(seats, EVAL_GAMES, EVAL_SEED, threading.Event())
    return 0.0 if summary is None else summary.mean


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", choices=sorted(RULES), default="tc")
    parser.add_argument("--network", default="5x4")
    parser.add_argument("--round", type=int, default=1000)
    parser.add_argument("--at", default="10000,20000", help="games after which to evaluate")
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--rules", default="", help="names of rules, joined by commas; all by default")
    given = parser.parse_args()
    points = [int(point) for point in given.at.split(",")]
    print("| workers | rule | games | mean score with learning off | while learning | MB sent |\n|---|---|---|---|---|---|")
    for workers in map(int, given.workers.split(",")):
        chosen = rules(given.method, workers)
        for name in ["alone"] if workers == 1 else (given.rules.split(",") if given.rules else list(chosen)):
            runs = []
            for seed in range(given.seed, given.seed + given.seeds):
                options = TrainOptions(network=given.network, method=given.method, games=max(points), seed=seed, threads=1)
                runs.append(train(make_plan(options), workers, given.round, points, chosen.get(name)))
            for number, point in enumerate(points):
                evals, lasts, sent = np.array([run[number] for run in runs]).T
                each = f" ({', '.join(f'{mean:,.0f}' for mean in evals)})" if given.seeds > 1 else ""
                figures = f"{evals.mean():,.0f}{each} | {lasts.mean():,.0f} | {sent.mean():,.0f}"
                print(f"| {workers} | {name} | {point:,} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
