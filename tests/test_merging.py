"""What workers have learned: found, sent, merged by the rule, and taken; and which of their games count."""

import random
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from afterstate.cluster.changes import PAGE, Change, Replica, make_change, shard_of
from afterstate.cluster.ledger import Chunk, Ledger, Played
from afterstate.cluster.merging import merge
from afterstate.games.game import make
from afterstate.games.results import make_results
from afterstate.learning import tc
from afterstate.learning.options import TrainOptions
from afterstate.learning.plan import make_plan, new_network
from afterstate.learning.rules import RULES
from afterstate.learning.team import Team
from afterstate.learning.update import ERRORS, MOVES, TALLIED
from afterstate.network.network import Network

PATTERNS = "01234,0145,012"


class Learner:
    """A worker without a cluster."""

    def __init__(self, **options: Any) -> None:
        given: dict[str, Any] = {"network": PATTERNS, "method": "tc", "threads": 1, "games": 1000}
        plan = make_plan(TrainOptions(**given | options))
        self.team = Team(plan, new_network(plan), plan.options.threads or 1, tidies=False)
        self.replica = Replica(
            self.team.network, [RULES[name].kind for name in plan.rules], list(self.team.tables.kept.values())
        )
        self.errors = 0.0  # sizes of all errors so far

    def play(self, first: int, count: int) -> None:
        self.team.forget_sums()
        self.team.learn(self.team.plan.phases[0], first, make_results(count), stop=threading.Event())
        self.errors += float(self.team.sums()[ERRORS])

    def tables(self) -> list[NDArray[np.float32]]:
        return [self.team.network.weights.copy(), *(kept.copy() for kept in self.team.tables.kept.values())]


def merge_all(learners: list[Learner], shards: int = 1) -> list[Change]:
    """Merge what they have learned, in so many shards, and let all take it."""
    sums = RULES[learners[0].team.plan.phases[0].method].kind.sums
    parts = [learner.replica.find_change().split(shards) for learner in learners]
    merged = [merge(part, sums) for part in zip(*parts, strict=True)]
    for learner in learners:
        for change in merged:
            learner.replica.take(change)
    return merged


def change_of(moves: dict[int, float], kept: dict[int, tuple[float, float]] | None = None) -> Change:
    indices = np.array(sorted(moves), np.int64)
    beside = np.zeros((len(indices), 0 if kept is None else 2), np.float32)
    if kept:
        beside[:] = [kept[int(index)] for index in indices]
    return make_change(indices, np.array([moves[int(index)] for index in indices], np.float32), beside)


@given(st.sets(st.integers(0, 40 * PAGE)), st.integers(1, 5))
def test_a_change_comes_apart_and_together_again(places: set[int], shards: int) -> None:
    change = change_of({place: place / 2 + 1 for place in places}, {place: (1.0, place + 2.0) for place in places})
    assert change.indices().tolist() == sorted(places)
    parts = change.split(shards)
    found = {
        index: (move, *kept)
        for part in parts
        for index, move, kept in zip(part.indices().tolist(), part.moves, part.kept, strict=True)
    }
    assert sorted(found) == sorted(places)
    assert all(row == (place / 2 + 1, 1.0, place + 2.0) for place, row in found.items())
    assert (
        sum(part.nbytes for part in parts) == change.nbytes == len(places) * 14 + 6 * len({place // PAGE for place in places})
    )
    for number, part in enumerate(parts):
        assert (shard_of(part.pages, shards) == number).all()


SUMS = (0, 1)  # as TC keeps them


@pytest.mark.parametrize("sums", [None, SUMS])
def test_what_one_worker_alone_has_changed_it_keeps(sums: tuple[int, int] | None) -> None:
    kept = None if sums is None else dict.fromkeys((3, 9, 9000), (1.0, 2.0))
    merged = merge([change_of({3: 1.5, 9: -2.0}, kept), change_of({9000: 4.0}, kept)], sums)
    assert merged.indices().tolist() == [3, 9, 9000]
    assert merged.moves.tolist() == [1.5, -2.0, 4.0]


@pytest.mark.parametrize(
    ("workers", "error", "factor"),
    [(1, 8.0, 1.0), (2, 0.0, 1.0), (2, 4.0, 1.5), (2, 8.0, 2.0), (2, -8.0, 2.0), (3, 2.0, 1.5), (4, 8.0, 2.0), (9, 0.5, 1.5)],
)
def test_moves_add_up_as_far_as_errors_agree(workers: int, error: float, factor: float) -> None:
    """Of workers that have all learned the same; never more than twice the mean."""
    merged = merge([change_of({7: 10.0}, {7: (error, 8.0)})] * workers, SUMS)
    assert merged.moves.tolist() == [pytest.approx(10.0 * factor)]
    assert merged.kept.tolist() == [[error * workers, 8.0 * workers]]


def test_errors_of_different_workers_cancel() -> None:
    """Each has come from its own side: both have arrived."""
    merged = merge([change_of({7: 4.0}, {7: (8.0, 8.0)}), change_of({7: -2.0}, {7: (-8.0, 8.0)})], SUMS)
    assert merged.moves.tolist() == [1.0]


def test_who_has_hardly_seen_a_weight_hardly_counts() -> None:
    """A worker with a thousandth of the visits does not halve what the other has learned."""
    often, rarely = change_of({7: 10.0}, {7: (5.0, 1000.0)}), change_of({7: 0.5}, {7: (1.0, 1.0)})
    assert merge([often, rarely], SUMS).moves[0] == pytest.approx(10.0, rel=0.01)


@given(arrays(np.float32, st.tuples(st.integers(1, 6), st.just(9)), elements=st.sampled_from([0.0, 0.5, 1.0, -3.0, 20.0])))
def test_without_sums_the_move_stands_for_what_was_seen(moves: NDArray[np.float32]) -> None:
    """Against the formula, weight by weight."""
    changes = [change_of({place: float(move) for place, move in enumerate(row) if move}) for row in moves]
    merged = merge(changes, None)
    expected = {}
    for place, column in enumerate(moves.T.tolist()):
        if any(column):
            expected[place] = sum(abs(move) * move for move in column) / sum(map(abs, column))
    assert dict(zip(merged.indices().tolist(), merged.moves.tolist(), strict=True)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    "options", [{}, {"threads": 2}, {"method": "td"}, {"stages": "0,64"}, {"game": "threes", "context": ""}], ids=str
)
def test_all_workers_are_equal_after_a_merge(options: dict[str, Any]) -> None:
    """Bit for bit, in any number of shards; and one that joins later gets the same."""
    learners = [Learner(**options) for _ in range(3)]
    for round_ in range(3):
        for number, learner in enumerate(learners):
            learner.play(600 + 90 * round_ + 30 * number, 30)
        merge_all(learners, shards=2)
        first = learners[0].tables()
        assert np.count_nonzero(first[0]) > 100
        for learner in learners[1:]:
            assert all(map(np.array_equal, first, learner.tables()))
        assert len(learners[0].replica.find_change().moves) == 0
    late = Learner(**options)
    late.replica.take(learners[0].replica.find_all())
    assert all(map(np.array_equal, first, late.tables()))
    assert len(late.replica.find_change().moves) == 0


def test_one_worker_learns_what_it_would_learn_alone() -> None:
    learner, alone = Learner(), Learner()
    learner.play(0, 60)
    alone.play(0, 60)
    merge_all([learner])
    for one, other in zip(learner.tables(), alone.tables(), strict=True):
        assert np.count_nonzero(one) > 100
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_no_error_is_lost_between_workers() -> None:
    """A of TC adds up the size of every error, so it shows whether each was counted exactly once."""
    learners = [Learner(game="threes", context="") for _ in range(3)]
    for round_ in range(4):
        for number, learner in enumerate(learners):
            learner.play(10 * (3 * round_ + number), 10)
        merge_all(learners, shards=3)
    sizes = float(learners[0].team.tables.kept["coherence"][1::2].sum(dtype=np.float64))
    assert sizes == pytest.approx(sum(learner.errors for learner in learners) * learners[0].team.network.lookups, rel=1e-5)


@pytest.mark.parametrize("threads", [1, 2])
def test_sums_of_coherence_are_halved_when_they_are_merged(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not by a worker alone: then its growth could not be told."""
    monkeypatch.setattr(tc, "find_bound", lambda network: np.float32(5000))  # noqa: ARG005
    learners = [Learner(threads=threads) for _ in range(2)]
    for round_ in range(4):
        before = learners[0].tables()[1][1::2]
        for number, learner in enumerate(learners):
            learner.play(600 + 40 * (2 * round_ + number), 40)
            assert (learner.tables()[1][1::2] >= before).all()
        assert max(learner.tables()[1].max() for learner in learners) > 5000
        merge_all(learners)
        errors, sizes = learners[0].tables()[1].reshape(-1, 2).T
        assert 2500 < sizes.max() <= 5000
        assert (np.abs(errors) <= sizes * 1.001).all()


def test_a_weight_that_is_new_in_a_stage_moves_from_the_stage_before() -> None:
    """Two workers write it for the first time: what both have learned adds up, what they took over does not."""
    networks = [Network(make("2048"), "012", stages=(0, 64)) for _ in range(2)]
    new = networks[0].stage_weights + 5
    beside = [np.zeros((networks[0].weights.size, 2), np.float32) for _ in networks]
    replicas = [Replica(network, [tc.KIND], [kept]) for network, kept in zip(networks, beside, strict=True)]
    for replica in replicas:
        replica.take(change_of({5: 100.0}, {5: (0.0, 0.0)}))
    for network, kept in zip(networks, beside, strict=True):
        network.weights[new] = 104.0
        kept[new] = 8.0
    merged = merge([replica.find_change() for replica in replicas], SUMS)
    for network, replica in zip(networks, replicas, strict=True):
        replica.take(merged)
        assert network.weights[new] == 108.0
        assert network.weights[5] == 100.0


# --- which games count -------------------------------------------------------------------------------------------------


def played(chunk: Chunk) -> Played:
    """Each game's score is its number, and it has as many moves, and one more."""
    results = make_results(chunk.count)
    results.scores[:] = np.arange(chunk.first, chunk.first + chunk.count)
    results.moves[:] = results.scores + 1
    sums = np.zeros(TALLIED)
    sums[MOVES] = results.moves.sum()
    return Played(chunk, results, sums, 1.0, seconds=float(results.moves.sum()))


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 120))
def test_every_game_counts_once_whoever_is_lost(seed: int, workers: int, limit: int) -> None:
    """Workers take chunks, are lost or merge, in any order; what is delivered are all games in order, and their sums."""
    rng, ledger = random.Random(seed), Ledger()
    hands: list[list[Chunk]] = [[] for _ in range(workers)]
    scores: list[int] = []
    moves = seconds = 0.0
    while len(scores) < limit:
        for hand in hands:
            if rng.randrange(3) and (chunk := ledger.hand_out(1 + rng.randrange(9), limit)):
                hand.append(chunk)
        for hand in hands:
            what = rng.randrange(4)
            if what == 0:
                ledger.lose(hand)
            if what == 1:
                ledger.merge(map(played, hand))
            if what < 2:
                hand.clear()
        results = make_results(min(1 + rng.randrange(20), limit - len(scores)))
        delivery = ledger.deliver(len(scores), results)
        scores += results.scores[: delivery.games].tolist()
        moves += delivery.sums[MOVES]
        seconds += delivery.seconds
    assert scores == list(range(limit))
    assert moves == pytest.approx(limit * (limit + 1) / 2)
    assert seconds == pytest.approx(moves)
    assert ledger.ahead == 0
    assert ledger.hand_out(5, limit) is None
