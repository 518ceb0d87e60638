"""Stages, other starts and smaller patterns: against the slow reference, and as options of a run."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from safetensors.numpy import load_file

import reference_learning as slow
from afterstate.errors import InputError
from afterstate.games.game import Game, State, make
from afterstate.learning.backups import make_backup
from afterstate.learning.options import TrainOptions
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.starts import POOL, SHORTEST, make_starts
from afterstate.learning.trainer import Run, resume, train
from afterstate.learning.update import MOVES
from afterstate.network.fold import fold
from afterstate.network.modelfile import load_model, save_model
from afterstate.network.network import Network
from afterstate.rng import Purpose
from listeners import StopAt
from playing import SEED, new_tc, new_td, play_games, seat_to_learn
from positions import boards, state_of

STAGES = (0, 32, 64)


def staged(game: Game, stages: tuple[int, ...] = STAGES, *, target: Any = "afterstate") -> tuple[Network, slow.Network]:
    """A network with random weights in its first stage, and the same as the reference has it."""
    fast = Network(game, "0123,014", stages=stages, target=target)
    first = fast.weights.size // len(stages)
    fast.weights[:first] = np.random.default_rng(3).uniform(-100, 100, first)
    copy = slow.Network(4, 4, [list(cells) for cells in fast.layout], 8, [{} for _ in range(2 * len(stages))], list(stages))
    for number in range(2):
        copy.tables[number] = {key: float(weight) for key, weight in np.ndenumerate(fast.tiles(number))}
    return fast, copy


def play(network: Network, number: int, *, starts: str = "fresh", coherent: bool = False, count: int = 1) -> tuple[Any, Any]:
    backup = make_backup(backward=False, decay=0.5, horizon=3, steps=1, longest=network.game.longest)
    observer = make_starts(starts, longest=network.game.longest, stages=len(network.stages))
    rule = new_tc(network, 0.5) if coherent else new_td(0.3)
    seat = seat_to_learn(network, rule, backup, observer=observer)
    return play_games(seat, number, count), seat


def compare(fast: Network, copy: slow.Network) -> int:
    """Every weight of every stage is the reference's -> how many were written after the first stage."""
    late = 0
    for number, table in enumerate(copy.tables):
        stage, pattern = divmod(number, len(fast.patterns))
        tiles = fast.tiles(pattern, stage)
        learned = np.array([tiles[key] for key in table])
        np.testing.assert_allclose(learned, list(table.values()), rtol=1e-3, atol=0.05)
        if stage:
            assert np.count_nonzero(tiles) == len(table)  # what the reference never wrote is 0
            late += len(table)
    return late


# --- stages --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["afterstate", "state"])
@pytest.mark.parametrize("coherent", [False, True])
def test_learning_with_stages_equals_the_reference(game: Game, coherent: bool, target: Any) -> None:
    """Weights are promoted when they are first written, and not before; values bootstrap across the border."""
    rule = slow.Rule(0.5, coherent=True, decay=0.5, horizon=3) if coherent else slow.Rule(0.3, decay=0.5, horizon=3)
    late = 0
    for number in range(60):
        fast, copy = staged(game, target=target)
        try:
            score, slides, _, _ = slow.train_game(
                copy, slow.Generator(SEED, int(Purpose.TRAIN), number), rule, of_states=target == "state"
            )
        except slow.NearTieError:
            continue
        finally:
            rule.coherence.clear()
        results, _ = play(fast, number, coherent=coherent)
        assert (results.scores[0], results.moves[0]) == (score, slides)
        late += compare(fast, copy)
        if late > 1000:
            return
    pytest.fail("too few games came to a later stage")


@given(cells=boards("4x4"))
@settings(max_examples=200)
def test_a_board_belongs_to_the_stage_of_its_largest_tile(game: Game, cells: list[int]) -> None:
    network = Network(game, "01", stages=(0, 8, 64, 32768))
    network.weights[:] = np.repeat(np.arange(4.0) * 1000 + 1, 256)  # each weight names its stage
    stage = sum(max(cells) >= tile for tile in (8, 64, 32768))
    assert network.value(state_of(game, cells)) == 8 * (1000 * stage + 1)


def test_what_was_never_written_is_taken_from_the_stage_before(game: Game) -> None:
    network = Network(game, "01", symmetry=1, stages=(0, 8, 64), target="state")
    board = game.parse("64 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    index = int(network.indices(board)[0, 0])
    assert index < 256  # nothing was written: all the way back
    network.weights[index] = 5.0
    assert network.value(board) == 5.0
    network.weights[256 + index] = 7.0
    assert network.value(board) == 7.0
    network.weights[512 + index] = 9.0
    assert network.value(board) == 9.0
    assert network.explain(board).value == 9.0


def test_a_network_with_stages_survives_its_file(game: Game, tmp_path: Path) -> None:
    fast, _ = staged(game)
    play(fast, 1, count=30)
    save_model(fast, tmp_path / "model.safetensors")
    loaded = load_model(tmp_path / "model.safetensors")
    assert loaded.stages == STAGES
    assert np.array_equal(loaded.weights, fast.weights)
    state = game.parse("64 2 4 2 / 2 4 2 4 / 0 0 0 0 / 0 0 0 0")
    assert loaded.value(state) == fast.value(state)


# --- starts --------------------------------------------------------------------------------------------------------------


def test_a_restart_begins_in_the_middle_of_the_last_game(game: Game) -> None:
    """The reference plays the game, then again from its middle, and so on; only the first one counts."""
    rule = slow.Rule(0.3, decay=0.5, horizon=3)
    compared = 0
    for number in range(100):
        fast, copy = staged(game, (0,))
        generator = slow.Generator(SEED, int(Purpose.TRAIN), number)
        try:
            score, slides, _, states = slow.train_game(copy, generator, rule, of_states=False)
            total, rounds, left = slides, 1, slides
            while left - left // 2 >= SHORTEST:
                _, left, _, states = slow.train_game(copy, generator, rule, of_states=False, start=states[left // 2])
                total, rounds = total + left, rounds + 1
        except slow.NearTieError:
            continue
        results, seat = play(fast, number, starts="restart")
        assert (results.scores[0], results.moves[0]) == (score, slides)
        assert seat.learner.tally.sums[MOVES] == total
        compare(fast, copy)
        compared += rounds > 2
        if compared == 2:
            return
    pytest.fail("too few games without a near tie")


def test_a_carousel_begins_in_every_stage_that_was_met(game: Game) -> None:
    """Pools hold first boards of their stage only, and the games that begin there are learned from."""
    network, _ = staged(game)
    results, seat = play(network, 0, starts="carousel", count=80)
    pools = seat.observer
    for stage in (1, 2):
        assert 0 < pools.counts[stage] < POOL
        for board, extra in zip(pools.boards[stage, : pools.counts[stage]], pools.extras[stage], strict=False):
            largest = game.face(game.largest(State(int(board), int(extra))))
            assert STAGES[stage] <= largest
            assert stage == 2 or largest < STAGES[2]
    assert pools.counts[0] == 0
    assert seat.learner.tally.sums[MOVES] > 1.3 * results.moves.sum()


# --- smaller patterns ----------------------------------------------------------------------------------------------------


@given(cells=boards("4x4"))
@settings(max_examples=100)
@pytest.mark.parametrize("stages", [(0,), (0, 8, 64)])
@pytest.mark.parametrize(("symmetry", "small"), [(8, ["159", "45", "1"]), (4, ["26", "0"]), (1, ["12", "016"])])
def test_a_folded_network_says_the_same(
    game: Game, cells: list[int], symmetry: int, small: list[str], stages: tuple[int, ...]
) -> None:
    large = ["0126", "4567"] if symmetry == 8 else ["0126", "4567", "237"]
    network = Network(game, [*large, *small], symmetry=symmetry, stages=stages)
    random = np.random.default_rng(11)
    network.weights[:] = random.normal(size=network.weights.size) * random.integers(0, 2, network.weights.size)
    folded = fold(network, small)
    assert folded.patterns == tuple(large)
    assert folded.stages == stages
    assert folded.value(state_of(game, cells)) == pytest.approx(network.value(state_of(game, cells)), abs=1e-4)


def test_a_pattern_without_a_host_is_refused(game: Game) -> None:
    with pytest.raises(InputError, match=r"no pattern of 0123 contains '05'"):
        fold(Network(game, "0123,05"), ["05"])
    with pytest.raises(InputError, match="contains '4567'"):  # as large as its host is not smaller
        fold(Network(game, "0123,4567"), ["4567"])


# --- as options of a run -------------------------------------------------------------------------------------------------


def learn(folder: Path, **given: Any) -> Run:
    defaults: dict[str, Any] = {"network": "0123,4567", "games": 300, "block": 100, "threads": 1, "seed": 3}
    return train(TrainOptions(**(defaults | given)), run=folder)


VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "stages": {"stages": "0,64"},
    "other-stages": {"stages": "0,128"},
    "restart": {"starts": "restart"},
    "carousel": {"stages": "0,64", "starts": "carousel"},
    "td-then-tc": {"schedule": "50%:tc"},
    "td-then-slow-tc": {"schedule": "50%:tc:0.5"},
    "beside": {"beside": "012,56"},
}


def test_every_option_changes_what_is_learned(tmp_path: Path) -> None:
    """No two of these runs end with the same best model."""
    seen: dict[bytes, str] = {}
    for name, options in VARIANTS.items():
        run = learn(tmp_path / name, **options)
        weights = load_model(RunFolder(run.folder).best).weights.tobytes()
        assert weights not in seen, f"{name} learns as {seen.get(weights)} does"
        seen[weights] = name


@pytest.mark.parametrize("name", ["stages", "restart", "carousel", "td-then-tc", "beside"])
def test_a_stopped_run_goes_on_exactly(tmp_path: Path, name: str) -> None:
    """Pools, coherence, stages and small patterns are all part of the checkpoint; so are the figures of the block."""
    whole = learn(tmp_path / "whole", games=600, **VARIANTS[name])
    halts = StopAt(50)
    options = TrainOptions(network="0123,4567", games=600, block=100, threads=1, seed=3, **VARIANTS[name])
    assert train(options, run=tmp_path / "stopped", listener=halts, stop=halts.stop).stopped
    finished = resume(tmp_path / "stopped")
    assert np.array_equal(finished.last.weights, whole.last.weights)
    figures = ("mean_error", "mean_rate", "out_of_range", "mean", "method")
    for one, other in zip(whole.metrics, finished.metrics, strict=True):
        assert {key: one[key] for key in figures} == pytest.approx({key: other[key] for key in figures})


def test_the_best_model_is_folded_and_the_checkpoint_is_not(tmp_path: Path) -> None:
    run = learn(tmp_path / "run", beside="012,56")
    folder = RunFolder(run.folder)
    assert run.last.patterns == ("0123", "4567", "012", "56")
    assert load_model(folder.last).patterns == ("0123", "4567", "012", "56")
    assert load_model(folder.best).patterns == ("0123", "4567")


def test_smaller_patterns_learn_faster(tmp_path: Path) -> None:
    beside = learn(tmp_path / "beside", network="01236,45678", beside="0123,012,56,1", games=1500, block=500)
    plain = learn(tmp_path / "plain", network="01236,45678", games=1500, block=500)
    assert beside.metrics[-1]["mean"] > 1.2 * plain.metrics[-1]["mean"]


def test_high_hopes_begin_in_the_first_stage(tmp_path: Path) -> None:
    """Later stages take them from there."""
    network = learn(tmp_path / "run", optimistic=1600.0, stages="0,1024", games=10, block=10).last
    first = network.weights.size // 2
    assert np.median(network.weights[:first]) == 100.0
    assert (network.weights[first:] == 0).all()


def test_the_second_phase_learns_by_tc(tmp_path: Path) -> None:
    """Rates of TD are all alpha; those of TC fall below it. The checkpoint keeps E and A from the start."""
    run = learn(tmp_path / "run", alpha=0.25, schedule="100:tc:1.0", keep=True)
    blocks = run.metrics
    assert [block["method"] for block in blocks] == ["td", "tc", "tc"]
    assert [block["alpha"] for block in blocks] == [0.25, 1.0, 1.0]
    assert blocks[0]["mean_rate"] == pytest.approx(0.25)
    assert 0.1 < blocks[2]["mean_rate"] < blocks[1]["mean_rate"] < 1.0
    assert load_file(RunFolder(run.folder).last)["coherence"].any()


def test_a_schedule_by_time_changes_the_rate(tmp_path: Path) -> None:
    run = learn(tmp_path / "run", games=None, time=1.0, block=50, schedule="50%:0.01")
    alphas = [(block["training_seconds"], block["alpha"]) for block in run.metrics]
    assert {alpha for _, alpha in alphas} == {0.1, 0.01}
    assert all(alpha == 0.01 for seconds, alpha in alphas if seconds > 0.75)
    assert all(alpha == 0.1 for seconds, alpha in alphas if seconds < 0.45)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"stages": "16384"}, "stages must begin with 0"),
        ({"stages": "0,64,32"}, "must rise"),
        ({"stages": "0,64,64"}, "must rise"),
        ({"stages": "0,100"}, "100 is not a tile of 2048"),
        ({"stages": "0,65536"}, "65536 is not a tile"),
        ({"stages": "0,x"}, "stages are tiles"),
        ({"stages": ""}, "stages are tiles"),
        ({"starts": "carousel"}, "carousel needs stages"),
        ({"starts": "anywhere"}, "starts is fresh or restart or carousel"),
        ({"beside": "05"}, "contains '05'"),
        ({"beside": "0123"}, "contains '0123'"),
        ({"beside": "zz"}, "'zz'"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(tmp_path: Path, given: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word):
        learn(tmp_path / "run", **given)
    assert not (tmp_path / "run").exists()


def test_small_boards_have_stages_and_folding(tmp_path: Path) -> None:
    run = learn(tmp_path / "run", size="2x3", network="012345", beside="01,14", stages="0,16")
    best = load_model(RunFolder(run.folder).best)
    assert best.game is make("2048", size="2x3")
    assert (best.patterns, best.stages) == (("012345",), (0, 16))
    assert best.table(0, 1).any()
