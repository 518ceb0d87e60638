"""Tables that threads share: each thread's copy, and how copies and tables are brought together."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from safetensors.numpy import load_file

from afterstate.bitboard import pack
from afterstate.games.game import Game, State, make
from afterstate.kernel import u64
from afterstate.learning import tc
from afterstate.learning.backups import make_backup
from afterstate.learning.copies import LINE, SharedTables, settle
from afterstate.learning.options import TrainOptions
from afterstate.learning.rules import RULES
from afterstate.learning.trainer import resume, train
from afterstate.learning.update import ERRORS, learn, make_tally
from afterstate.network.lookup import index_board, sum_weights
from afterstate.network.modelfile import load_model
from afterstate.network.network import Network
from afterstate.rng import Random
from playing import play_games, seat_to_learn

PATTERNS = "01234,0145,012"


class Learning:
    """A small network that learns, thread by thread, in this one."""

    def __init__(self, game: Game, threads: int, *, method: str, decay: float = 0.0) -> None:
        self.network = Network(game, PATTERNS, context="")
        self.tables = SharedTables(self.network, [method], threads)
        self.tables.renew()
        self.rule = self.tables.rule(method, RULES[method].rate)
        backups = [make_backup(backward=False, decay=decay, horizon=3, steps=1, longest=game.longest) for _ in range(threads)]
        self.seats = [
            seat_to_learn(self.network, self.rule, backup, lookup=lookup)
            for backup, lookup in zip(backups, self.tables.lookups, strict=True)
        ]

    def play(self, thread: int, first: int, count: int) -> None:
        play_games(self.seats[thread], first, count, seed=1)

    def learned(self) -> list[NDArray[np.float32]]:
        """The weights, and what the rule keeps for each."""
        return [self.network.weights.copy(), *(kept.copy() for kept in self.tables.kept.values())]

    def value(self, thread: int, state: State) -> float:
        """What a position is worth for a thread now."""
        net, indices = self.tables.lookups[thread], np.zeros(self.network.lookups, np.uint64)
        index_board(net, u64(state.board), u64(state.extra), indices, u64(0))
        return float(sum_weights(net, indices, u64(0)))


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
def test_one_thread_learns_the_same_on_its_copies(name: str, method: str, decay: float) -> None:
    """Bit for bit, wherever it stops to settle."""
    game = make(name)
    alone, shared = Learning(game, 1, method=method, decay=decay), Learning(game, 2, method=method, decay=decay)
    alone.play(0, 0, 60)
    for first, end in pairwise([0, 1, 10, 60]):
        shared.play(0, first, end - first)
        assert not np.array_equal(shared.network.weights, alone.network.weights)
        shared.tables.settle()
    for one, other in zip(alone.learned(), shared.learned(), strict=True):
        assert np.count_nonzero(one) > 100
        assert np.array_equal(one, other)


def boards(game: Game, tiles: int, count: int = 40) -> list[State]:
    """Random boards whose tiles have an index below `tiles`."""
    generator = np.random.default_rng(tiles)
    return [State(pack(generator.integers(0, tiles, game.shape.cells).tolist(), game.shape)) for _ in range(count)]


@pytest.mark.parametrize("threads", [2, 3, 5, 8])
@pytest.mark.parametrize(
    ("size", "patterns", "symmetry"), [("4x4", "012456,0145,012,5", 8), ("3x3", "01234,012", 8), ("2x3", "01234", 4)]
)
def test_every_thread_sees_the_same_network(size: str, patterns: str, symmetry: int, threads: int) -> None:
    """However a board is turned and wherever its weights are copied, its value is the network's."""
    game = make("2048", size=size)
    network = Network(game, patterns, symmetry=symmetry)
    network.weights[:] = np.random.default_rng(1).uniform(-50, 50, network.weights.size)
    tables = SharedTables(network, ["td"], threads)
    tables.renew()
    for state in boards(game, 4) + boards(game, 9) + boards(game, game.shape.cells):
        for net in tables.lookups:
            found = np.zeros(network.lookups, np.uint64)
            index_board(net, u64(state.board), u64(0), found, u64(0))
            assert sum_weights(net, found, u64(0)) == network.value(state)


def test_each_thread_has_copies_of_its_own() -> None:
    """What one learns of small tiles is its own until it settles; what it learns of large ones all know at once."""
    learning = Learning(game := make("2048"), 2, method="td")
    small, large = boards(game, 4), [state for state in boards(game, 12) if min(game.cells(state)) >= 8]
    large += [State(pack([8 + (cell + number) % 5 for cell in range(16)], game.shape)) for number in range(5)]
    for number, state in enumerate(small + large):
        indices = np.zeros(learning.network.lookups, np.uint32)
        index_board(learning.tables.lookups[0], u64(state.board), u64(0), indices, u64(0))
        learn(learning.rule, learning.tables.lookups[0], indices, u64(0), 100.0 + number, make_tally(game.most))
    assert all(learning.value(0, state) > 0.0 for state in small + large)
    assert all(learning.value(1, state) == 0.0 for state in small)
    assert all(learning.value(1, state) == learning.value(0, state) for state in large)
    learning.tables.settle()
    learning.tables.renew()
    assert all(learning.value(1, state) == learning.value(0, state) > 0.0 for state in small + large)


def test_the_size_of_the_copies_is_an_argument() -> None:
    """With none, all threads learn on the tables themselves; more threads have smaller ones, and many none."""
    sizes = {}
    for threads, size in ((2, None), (2, 0), (2, 8192), (4, None), (32, None)):
        network = Network(make("2048"), "012456")
        SharedTables(network, ["td"], threads, size=size)
        sizes[threads, size] = (network.lookup.weights.size - network.weights.size) // threads
    assert sizes == {(2, None): 65_536, (2, 0): 0, (2, 8192): 8192, (4, None): 4096, (32, None): 0}


def test_copies_are_settled_when_that_is_worth_the_time() -> None:
    """After few moves a thread keeps what it learned for itself, after many all others have it, whoever else has played."""
    learning = Learning(game := make("2048"), 2, method="td")
    learning.play(0, 0, 30)
    first = game.start(Random(3))
    assert learning.value(0, first) != 0.0
    for thread, moves, known in ((0, 1, False), (1, 10**9, False), (0, 10**9, True)):
        learning.tables.played(thread, moves)
        assert (learning.network.value(first) == learning.value(0, first)) is known


def test_no_error_is_lost_between_threads() -> None:
    """A of TC adds up the size of every error, so it shows whether each was counted exactly once."""
    learning = Learning(make("threes"), 3, method="tc", decay=0.5)
    for round_ in range(6):
        for thread in range(3):
            learning.play(thread, 10 * (3 * round_ + thread), 10)
            if round_ % 2:
                learning.tables.played(thread, 10**9)
    learning.tables.settle()
    coherence = learning.tables.kept["coherence"]
    counted = float(coherence[1::2].sum(dtype=np.float64))
    made = sum(float(seat.learner.tally.sums[ERRORS]) for seat in learning.seats)
    assert counted == pytest.approx(made * learning.network.lookups, rel=1e-5)
    learning.tables.settle()  # there is nothing left to settle
    assert float(coherence[1::2].sum(dtype=np.float64)) == counted


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_sums_of_coherence_stay_below_their_bound(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many threads pass it at the same time; none of them turns a sum of sizes negative."""
    monkeypatch.setattr(tc, "find_bound", lambda network: np.float32(5000))  # noqa: ARG005
    learning = Learning(make("2048"), threads, method="tc", decay=0.5)
    for round_ in range(4):
        for thread in range(threads):
            learning.play(thread, 20 * (threads * round_ + thread), 20)
        learning.tables.settle()
        errors, sizes = learning.tables.kept["coherence"].reshape(-1, 2).T
        assert 2500 < sizes.max() <= 5000
        assert (np.abs(errors) <= sizes * 1.001).all()
        learning.tables.renew()


def test_values_of_many_threads_stay_sound() -> None:
    """Threads that all learn the same thing do not add it up."""
    learning = Learning(make("2048"), 8, method="td")
    for _ in range(40):
        for thread in range(8):
            learning.play(thread, 0, 3)
        learning.tables.settle()
    alone = Learning(make("2048"), 1, method="td")
    for _ in range(40):
        alone.play(0, 0, 3)
    largest = float(np.abs(alone.network.weights).max())
    assert np.abs(learning.network.weights).max() < 3 * largest


def test_what_is_not_copied() -> None:
    """One thread, networks with stages, and those that see more than tiles use the tables themselves."""
    game = make("2048")
    plain = [(Network(game, PATTERNS), 1)]
    plain += [(Network(game, PATTERNS, stages=(0, 2048)), 2), (Network(make("threes"), PATTERNS, context="entry"), 2)]
    for network, threads in plain:
        tables = SharedTables(network, ["td"], threads)
        assert tables.lookups == [network.lookup] * threads
        assert network.lookup.weights.size == network.weights.size
        assert not tables.kept


@pytest.mark.parametrize("method", ["td", "tc"])
def test_a_run_of_two_threads_keeps_all_it_learned(method: str, tmp_path: Path) -> None:
    """Its checkpoints hold what was learned on copies, and nothing of the copies themselves."""
    given_: dict[str, Any] = {"network": PATTERNS, "games": 700, "block": 100, "threads": 2, "method": method, "keep": True}
    run = train(TrainOptions(**given_), run=tmp_path / "run")
    last = tmp_path / "run/checkpoints/last.safetensors"
    for _ in range(2):
        saved = load_model(last)
        assert np.array_equal(saved.weights, run.last.weights)
        assert all(run.last.table(number)[:64].any() for number in range(3))  # weights of small tiles
        if method == "tc":
            assert load_file(last)["coherence"].size == 2 * run.last.weights.size
        run = resume(tmp_path / "run", {"games": run.games + 300})
    assert run.games == 1300
