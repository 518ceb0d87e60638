"""Tables that threads share: what each has for itself, and how it comes together."""

import math
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from afterstate.bitboard import pack
from afterstate.games.game import Game, State, make
from afterstate.games.results import make_results
from afterstate.kernel import u64
from afterstate.learning.episode import Seat, make_seat, play_games
from afterstate.learning.options import Method, TrainOptions
from afterstate.learning.rules import ERRORS
from afterstate.learning.shared import LINE, SETTLED, SharedTables, copied, settle
from afterstate.learning.targets import make_target
from afterstate.learning.trainer import resume, train
from afterstate.network.lookup import index_board
from afterstate.network.modelfile import load_model, load_tensors
from afterstate.network.network import Network
from afterstate.play.bench import ALPHA
from afterstate.rng import Purpose

PATTERNS = "01234,0145,012"
LENGTHS = (5, 4, 3)


class Learner:
    """A small network that learns, thread by thread, in this one."""

    def __init__(self, game: Game, threads: int, *, method: Method, decay: float = 0.0) -> None:
        self.network = Network(game, PATTERNS, context="")
        self.tables = SharedTables(self.network, threads, keeps_coherence=method == "tc")
        self.tables.renew()
        self.rule = self.tables.rule(method, ALPHA[method])
        self.seats = [self._seat(decay) for _ in range(threads)]

    def _seat(self, decay: float) -> Seat:
        return make_seat(
            self.network, make_target(backward=False, decay=decay, horizon=3, steps=1, longest=self.network.game.longest)
        )

    def play(self, thread: int, first: int, count: int) -> None:
        play_games(
            self.seats[thread], self.network.game.tables, self.tables.lookups[thread], self.network.view, self.rule,
            u64(1), u64(Purpose.TRAIN), first, count, make_results(count), 0,
        )  # fmt: skip

    def learned(self) -> list[NDArray[np.float32]]:
        coherence = self.tables.coherence
        return [self.network.weights.copy()] + ([] if coherence is None else [coherence.copy()])


lines = st.integers(1, 40).flatmap(
    lambda count: st.tuples(
        *(arrays(np.float32, count * LINE, elements=st.sampled_from([0.0, 1.0, -2.5, 3.25])) for _ in range(3))
    )
)


@given(lines, st.sampled_from([1.0, 0.75, 0.25]))
def test_settling(three: tuple[NDArray[np.float32], ...], both: float) -> None:
    table, copy, before = three
    expected = []
    for now, own, was in zip(*(array.tolist() for array in three), strict=True):
        if own == was:
            expected.append(now)
        elif now == was:
            expected.append(own)
        else:
            expected.append(now + both * (own - was))
    settle(table, copy, before, np.float32(both))
    assert table.tolist() == copy.tolist() == before.tolist() == expected


@pytest.mark.parametrize(
    ("name", "method", "decay"), [("2048", "td", 0.0), ("2048", "tc", 0.5), ("threes", "tc", 0.5)], ids=lambda value: str(value)
)
def test_one_thread_learns_the_same_on_its_copies(name: str, method: Method, decay: float) -> None:
    """Bit for bit, wherever it stops to settle."""
    game = make(name)
    alone, shared = Learner(game, 1, method=method, decay=decay), Learner(game, 2, method=method, decay=decay)
    alone.play(0, 0, 60)
    for first, end in pairwise([0, 1, 10, 60]):
        shared.play(0, first, end - first)
        assert not np.array_equal(shared.network.weights, alone.network.weights)
        shared.tables.settle()
    for one, other in zip(alone.learned(), shared.learned(), strict=True):
        assert np.count_nonzero(one) > 100
        assert np.array_equal(one, other)


@pytest.mark.parametrize("threads", [2, 3, 5, 8])
@pytest.mark.parametrize(
    ("size", "patterns", "symmetry"), [("4x4", "012456,0145,012,5", 8), ("3x3", "01234,012", 8), ("2x3", "01234", 4)]
)
def test_the_first_weights_of_each_table_are_copied(size: str, patterns: str, symmetry: int, threads: int) -> None:
    """Each thread looks up its own copies of exactly these, and the rest where all do, however the board is turned."""
    game = make("2048", size=size)
    network = Network(game, patterns, symmetry=symmetry)
    shared = SharedTables(network, threads, keeps_coherence=False)
    lengths = [len(pattern) for pattern in network.patterns]
    offsets = np.cumsum([0] + [16**length for length in lengths[:-1]])[:, None]
    sizes = [copied(threads, length) for length in lengths]
    part = math.ceil(sum(sizes) / LINE) * LINE
    used: set[bool] = set()
    for seed in range(60):
        tiles = np.random.default_rng(seed).integers(0, 1 + seed // 4, game.shape.rows * game.shape.columns).tolist()
        state = State(pack(tiles, game.shape))
        plain = network.indices(state).astype(np.int64) - offsets
        for thread, lookup in enumerate(shared.lookups):
            found = np.zeros(network.lookups, np.uint64)
            index_board(lookup, u64(state.board), u64(0), found, u64(0))
            copies = network.weights.size + thread * part + np.cumsum([0, *sizes[:-1]])[:, None]
            expected = plain + np.where(plain < np.array(sizes)[:, None], copies, offsets)
            assert np.array_equal(found.reshape(plain.shape).astype(np.int64), expected)
            used.update((plain < np.array(sizes)[:, None]).ravel().tolist())
    assert used == {False, True}  # both were met


def test_copies_are_a_power_of_two_or_nothing() -> None:
    sizes = [copied(threads, 6) for threads in range(2, 33)]
    assert sizes[0] == 65_536
    assert sizes == sorted(sizes, reverse=True)
    assert all(size & (size - 1) == 0 for size in sizes)
    assert sizes[-1] == 0


def test_weights_of_large_tiles_are_not_copied() -> None:
    """However small a pattern is: a weight that any tile of 256 or more leads to is used where all threads find it."""
    network = Network(game := make("2048"), "0145,012,5")
    lookup = SharedTables(network, 2, keeps_coherence=False).lookups[1]
    used: set[bool] = set()
    for seed in range(20):
        tiles = np.random.default_rng(seed).integers(0, 10, 16)
        state, found = State(pack(tiles.tolist(), game.shape)), np.zeros(network.lookups, np.uint64)
        index_board(lookup, u64(state.board), u64(0), found, u64(0))
        cells = [cells for share in network.explain(state).patterns for cells in share.cells]
        expected = [bool((tiles[list(looked_at)] < 8).all()) for looked_at in cells]
        assert (found >= network.weights.size).tolist() == expected
        used.update(expected)
    assert used == {False, True}


def test_a_thread_does_not_see_what_another_has_not_settled() -> None:
    learner = Learner(make("2048"), 2, method="td")
    learner.play(0, 0, 30)
    begun = learner.network.weights.copy()
    small = [learner.network.table(number)[: copied(2, cells)] for number, cells in enumerate(LENGTHS)]
    assert all(not part.any() for part in small)  # all that is in the tables so far are weights of larger tiles
    assert begun.any()
    learner.tables.settle()
    assert all(part.any() for part in small)


def test_copies_are_settled_when_that_is_worth_the_time() -> None:
    learner = Learner(make("2048"), 2, method="td")
    learner.play(0, 0, 30)
    small = [learner.network.table(number)[: copied(2, cells)] for number, cells in enumerate(LENGTHS)]
    moves = -(-sum(part.size for part in small) // SETTLED)
    learner.tables.played(0, moves // 2)
    assert not any(part.any() for part in small)
    learner.tables.played(1, moves)  # another thread's moves, and its copies
    assert not any(part.any() for part in small)
    learner.tables.played(0, moves - moves // 2)
    assert all(part.any() for part in small)


def test_no_error_is_lost_between_threads() -> None:
    """A of TC adds up the size of every error, so it tells whether each was counted, once."""
    learner = Learner(make("threes"), 3, method="tc", decay=0.5)
    for round_ in range(6):
        for thread in range(3):
            learner.play(thread, 10 * (3 * round_ + thread), 10)
            if round_ % 2:
                learner.tables.played(thread, 10**9)
    learner.tables.settle()
    coherence = learner.tables.coherence
    assert coherence is not None
    counted = float(coherence[1::2].sum(dtype=np.float64))
    made = sum(float(seat.tally.sums[ERRORS]) for seat in learner.seats)
    assert counted == pytest.approx(made * learner.network.lookups, rel=1e-5)
    learner.tables.settle()  # there is nothing left to settle
    assert float(learner.tables.coherence[1::2].sum(dtype=np.float64)) == counted  # type: ignore[index]


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_sums_of_coherence_stay_below_their_bound(threads: int) -> None:
    """However many threads pass it at the same time; none of them turns a sum of sizes negative."""
    learner = Learner(make("2048"), threads, method="tc", decay=0.5)
    learner.rule = learner.rule._replace(bound=np.float32(5000))  # type: ignore[call-arg]
    learner.tables.bound = np.float32(5000)
    for round_ in range(4):
        for thread in range(threads):
            learner.play(thread, 20 * (threads * round_ + thread), 20)
        learner.tables.settle()
        assert learner.tables.coherence is not None
        errors, sizes = learner.tables.coherence.reshape(-1, 2).T
        assert 2500 < sizes.max() <= 5000
        assert (np.abs(errors) <= sizes * 1.001).all()
        learner.tables.renew()


def test_values_of_many_threads_stay_sound() -> None:
    """Threads that all learn the same thing do not add it up."""
    learner = Learner(make("2048"), 8, method="td")
    for _ in range(40):
        for thread in range(8):
            learner.play(thread, 0, 3)
        learner.tables.settle()
    alone = Learner(make("2048"), 1, method="td")
    for _ in range(40):
        alone.play(0, 0, 3)
    largest = float(np.abs(alone.network.weights).max())
    assert np.abs(learner.network.weights).max() < 3 * largest


def arrays_of(value: Any) -> list[NDArray[Any]]:
    """All arrays in a tuple of tuples."""
    if isinstance(value, np.ndarray):
        return [value]
    return [array for part in value for array in arrays_of(part)] if isinstance(value, tuple) else []


@pytest.mark.parametrize("how", [{"decay": 0.5, "steps": 1}, {"decay": 0.0, "steps": 3}, {"decay": 0.0, "steps": 1}])
def test_what_a_thread_writes_to_shares_no_line_of_memory(how: dict[str, Any]) -> None:
    """Not with another thread's, and not with what all threads read; processors fetch lines in pairs."""
    network = Network(make("2048"), PATTERNS)
    targets = [make_target(backward=False, horizon=3, longest=network.game.longest, **how) for _ in range(4)]
    everyone = [arrays_of(make_seat(network, target)) for target in targets]
    everyone.append([network.lookup.masks, network.lookup.offsets])
    used = [{place // 128 for array in arrays for place in _ends(array)} for arrays in everyone]
    assert all(one.isdisjoint(other) for one, other in combinations(used, 2))


def _ends(array: NDArray[Any]) -> tuple[int, int]:
    return array.ctypes.data, array.ctypes.data + array.nbytes - 1


def test_what_is_not_copied() -> None:
    game = make("2048")
    one = SharedTables(network := Network(game, PATTERNS), 1, keeps_coherence=True)
    assert one.lookups == [network.lookup]
    assert network.lookup.weights.size == network.weights.size
    for other in (Network(game, PATTERNS, stages=(0, 2048)), Network(make("threes"), PATTERNS, context="entry")):
        two = SharedTables(other, 2, keeps_coherence=False)
        assert two.lookups == [other.lookup] * 2
        assert other.lookup.weights.size == other.weights.size
        assert two.coherence is None


@pytest.mark.parametrize("method", ["td", "tc"])
def test_a_run_of_two_threads_keeps_all_it_learned(method: Method, tmp_path: Path) -> None:
    """Its checkpoints hold what was learned on copies, and nothing of the copies themselves."""
    given_: dict[str, Any] = {"network": PATTERNS, "games": 700, "block": 100, "threads": 2, "method": method}
    run = train(TrainOptions(**given_), run=tmp_path / "run")
    last = tmp_path / "run/checkpoints/last.safetensors"
    for _ in range(2):
        saved = load_model(last)
        assert np.array_equal(saved.weights, run.network.weights)
        assert all(run.network.table(number)[: copied(2, cells)].any() for number, cells in enumerate(LENGTHS))
        if method == "tc":
            assert load_tensors(last, ["coherence"])["coherence"].size == 2 * run.network.weights.size
        run = resume(tmp_path / "run", {"games": run.games + 300})
    assert run.games == 1300
