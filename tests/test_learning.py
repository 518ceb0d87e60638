"""Learning against the slow reference, and against values that can be enumerated."""

import itertools
from functools import cache
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
import reference_learning as slow
from afterstate.engine.loop import Seat
from afterstate.games.game import Game, State, make
from afterstate.kernel import kernel, u64
from afterstate.learning.backups import make_backup
from afterstate.learning.tc import TC
from afterstate.learning.update import learn, make_tally
from afterstate.network.lookup import Target
from afterstate.network.network import Network
from afterstate.network.patterns import own_tables, parse_pattern, parse_patterns
from afterstate.rng import Purpose, draw
from playing import SEED, new_tc, new_td, play_games, seat_to_learn


def play(network: Network, number: int, *, count: int = 1, learning: slow.Rule) -> tuple[int, int, int]:
    """Train on games number .. number + count - 1 -> score, slides, largest tile of the last."""
    backup = make_backup(
        backward=learning.backward,
        decay=learning.decay,
        horizon=learning.horizon,
        steps=learning.steps,
        longest=network.game.longest,
    )
    rule = new_tc(network, learning.alpha) if learning.coherent else new_td(learning.alpha)
    results = play_games(seat_to_learn(network, rule, backup), number, count)
    return int(results.scores[-1]), int(results.moves[-1]), int(results.largest[-1])


def random_pair(game: Game, patterns: list[str], symmetry: int, target: Target, seed: int) -> tuple[Network, slow.Network]:
    """The same random weights in a network and in the reference."""
    fast = Network(game, patterns, symmetry=symmetry, target=target)
    fast.weights[:] = np.random.default_rng(seed).uniform(-100, 100, fast.weights.size)
    shape = game.shape
    # the reference keys a table by the pattern as it is laid out, so that both agree on which isomorph a key is of
    layout = [list(cells) for cells in fast.layout]
    copy = slow.Network(shape.rows, shape.columns, layout, symmetry, [{} for _ in patterns])
    for number, cells in enumerate(layout):
        table = fast.tiles(number)
        for key in itertools.product(range(min(shape.cells + 2, 16)), repeat=len(cells)):
            copy.tables[number][key] = float(table[key])
    return fast, copy


CASES = [
    ("4x4", ["012", "456"], 8),
    ("4x4", ["045", "258"], 4),
    ("4x4", ["048", "ea9"], 1),
    ("3x3", ["0134", "012"], 8),
    ("2x3", ["0123", "14"], 4),
    ("3x2", ["024", "1"], 1),
    ("2x2", ["0123"], 8),
]


RULES = {
    "td0": {"alpha": 0.5},
    "td0-backward": {"alpha": 0.5, "backward": True},
    "td-lambda": {"alpha": 0.3, "decay": 0.5, "horizon": 3},
    "td-lambda-backward": {"alpha": 0.3, "decay": 0.7, "backward": True},
    "td-3-steps": {"alpha": 0.3, "steps": 3},
    "tc0": {"alpha": 0.5, "coherent": True},
    "tc-lambda": {"alpha": 0.5, "coherent": True, "decay": 0.5, "horizon": 3},
    "tc-long-lambda": {"alpha": 0.3, "coherent": True, "decay": 0.9, "horizon": 9},
    "tc-lambda-backward": {"alpha": 0.5, "coherent": True, "decay": 0.5, "backward": True},
    "tc-2-steps": {"alpha": 0.5, "coherent": True, "steps": 2},
}
EVERYWHERE = [("td0", case) for case in CASES] + [("td0-backward", case) for case in CASES]
SOMEWHERE = [(name, CASES[number % 4]) for number, name in enumerate(RULES) if not name.startswith("td0")]


@pytest.mark.parametrize("target", ["afterstate", "state"])
@pytest.mark.parametrize(("name", "case"), EVERYWHERE + SOMEWHERE, ids=str)
def test_games_of_learning_equal_the_reference(name: str, case: tuple[str, list[str], int], target: Target) -> None:
    """Score, slides and every weight after a game are those of the reference; games that rounding may decide are left out."""
    size, patterns, symmetry = case
    game = make("2048", size=size)
    compared = 0
    for number in range(150):
        fast, copy = random_pair(game, patterns, symmetry, target, number)
        generator = slow.Generator(SEED, int(Purpose.TRAIN), number)
        before = fast.weights.copy()
        learning: Any = RULES[name]
        try:
            score, slides, cells, _ = slow.train_game(copy, generator, slow.Rule(**learning), of_states=target == "state")
        except slow.NearTieError:
            continue
        assert play(fast, number, learning=slow.Rule(**learning)) == (score, slides, max(cells).bit_length() - 1)
        for pattern, table in enumerate(copy.tables):
            keys = list(table)
            tiles = fast.tiles(pattern)
            learned = np.array([tiles[key] for key in keys])
            np.testing.assert_allclose(learned, [table[key] for key in keys], rtol=1e-3, atol=0.05)
        assert not np.array_equal(before, fast.weights)
        compared += 1
        if compared == 2:
            return
    pytest.fail("too few games without a near tie")


def test_a_weight_that_is_looked_up_twice_moves_twice(game: Game) -> None:
    """A symmetric board: the update is m steps of alpha / m, however they fall on the weights."""
    network = Network(game, ["0123"])
    board = game.parse("2 4 4 2 / 0 0 0 0 / 0 0 0 0 / 2 4 4 2")
    indices = network.indices(State(board.board)).ravel()
    unique, counts = np.unique(indices, return_counts=True)
    assert counts.max() > 1
    learn_once(network, indices.astype(np.uint32), 80.0)
    np.testing.assert_allclose(network.weights[unique], counts * (0.1 / 8 * 80.0), rtol=1e-6)


def test_what_one_isomorph_learns_the_others_know_only_if_they_share_a_table(game: Game) -> None:
    """After one update both give the board its new value. With tables of their own, its mirror image is still worth nothing."""
    board = game.parse("2 4 8 16 / 32 64 128 256 / 512 1024 2048 4096 / 8192 16384 32768 0")
    mirror = game.parse("16 8 4 2 / 256 128 64 32 / 4096 2048 1024 512 / 0 32768 16384 8192")
    patterns = parse_patterns("012,456", game.shape)
    shared = Network(game, patterns)
    own = Network(game, own_tables(patterns, game.shape, 8), symmetry=1)
    for network in (shared, own):
        assert network.value(board) == network.value(mirror) == 0.0
        learn_once(network, network.indices(board).ravel().astype(np.uint32), 80.0)
        assert network.value(board) == pytest.approx(0.1 * 80.0)
    assert shared.value(mirror) == shared.value(board)
    assert own.value(mirror) == 0.0
    assert own.lookups == shared.lookups


def learn_once(network: Network, indices: Any, error: float) -> None:
    learn(new_td(0.1), network.lookup, indices, u64(0), error, make_tally(network.game.most))


@kernel
def many_errors(rule: Any, net: Any, places: Any, size: float, positive: u64, count: int, tally: Any) -> tuple[float, float]:
    """Add errors of one size, positive with a given chance in 2**32 -> their sum, the sum of their sizes."""
    rng, total = u64(7), 0.0
    for _ in range(count):
        rng, bits = draw(rng)
        error = size if bits >> u64(32) < positive else -size
        total += error
        learn(rule, net, places, u64(0), error, tally)
    return total, size * count


def test_rates_of_coherence_stay_right_however_long_a_run_is() -> None:
    """Far more errors than 24 bits can add up: the rate stays what 53 bits say, which sums of 24 bits alone miss by far."""
    network = Network(make("2048", size="2x2"), ["0"], symmetry=1)
    places = np.zeros(1, np.uint32)
    rates = {}
    for bound in (2.0**24, np.inf):
        rule = TC(np.float64(0), np.zeros(32, np.float32), np.float32(bound), u64(16))
        tally = make_tally(network.game.most)
        total, sizes = many_errors(rule, network.lookup, places, 16.0, u64(int(0.625 * 2**32)), 2**26, tally)
        right = total / sizes
        rates[bound] = float(rule.coherence[0] / rule.coherence[1])
    assert rates[2.0**24] == pytest.approx(right, rel=0.02)
    assert rates[np.inf] > 3 * right


@given(st.integers(0, 2**32), st.sampled_from([0.0025, 0.1, 1.0]))
@settings(max_examples=30)
def test_one_game_moves_only_weights_that_it_looked_up(number: int, alpha: float) -> None:
    """Everything else stays as it was, bit for bit."""
    game = make("2048", size="2x2")
    network = Network(game, ["0123"])
    network.weights[:] = 7.0
    score, slides, _ = play(network, number, learning=slow.Rule(alpha))
    changed = int((network.weights != 7.0).sum())
    assert 1 <= changed <= 8 * (slides + 1)
    assert score >= 0


# --- values that can be enumerated ---------------------------------------------------------------------------------------


Position = tuple[int, ...]  # the cells, after a 0 for a state and a 1 for an afterstate, which sorts after its state


def first_states(rows: int, columns: int) -> dict[Position, float]:
    """Every board with its first two tiles, and its probability."""
    found: dict[Position, float] = {}
    for first, one in reference.outcomes([0] * (rows * columns)):
        for second, two in reference.outcomes(first):
            found[0, *second] = found.get((0, *second), 0.0) + float(one * two)
    return found


def enumerate_play(agent: slow.Network, *, of_states: bool) -> tuple[dict[Position, float], dict[Position, float]]:
    """The exact value of, and the chance to meet, every position under the greedy play of `agent`."""

    def weigh(after: list[int]) -> float:
        if of_states:
            return sum(float(chance) * agent.value(state) for state, chance in reference.outcomes(after))
        return agent.value(after)

    met = first_states(agent.rows, agent.columns)
    follows: dict[Position, tuple[float, dict[Position, float]]] = {}  # reward, and where it leads with what chance
    waiting = [(sum(key), key) for key in met]
    heapify(waiting)  # a slide keeps the sum and a tile adds to it, so the smallest has all its chances together
    while waiting:
        _, position = heappop(waiting)
        cells = list(position[1:])
        steps: dict[Position, float] = {}
        reward = 0.0
        if position[0] == 1:
            steps = {(0, *state): float(chance) for state, chance in reference.outcomes(cells)}
        elif options := reference.afterstates(cells, agent.rows, agent.columns):
            after, gain = max(options.values(), key=lambda option: option[1] + round(weigh(option[0]), 3))
            steps, reward = {(1, *after): 1.0}, float(gain)
        follows[position] = (reward, steps)
        for step, chance in steps.items():
            if step not in met:
                heappush(waiting, (sum(step), step))
            met[step] = met.get(step, 0.0) + met[position] * chance
    values: dict[Position, float] = {}
    for position in sorted(follows, key=lambda key: (-sum(key[1:]), -key[0])):
        reward, steps = follows[position]
        values[position] = reward + sum(chance * values[step] for step, chance in steps.items())
    return values, met


@cache
def optimum(rows: int, columns: int) -> float:
    """Expected score of perfect play."""
    known: dict[Position, float] = {}

    def of_state(cells: list[int]) -> float:
        key = tuple(cells)
        if key not in known:
            options = [
                reward + sum(float(chance) * of_state(state) for state, chance in reference.outcomes(after))
                for after, reward in reference.afterstates(cells, rows, columns).values()
            ]
            known[key] = max(options, default=0.0)
        return known[key]

    return sum(chance * of_state(list(key[1:])) for key, chance in first_states(rows, columns).items())


def learn_small(size: str, target: Target, *, backward: bool, hope: float) -> Network:
    """Train a network whose one pattern is the whole board; its values start at `hope`."""
    game = make("2048", size=size)
    pattern = "".join(f"{cell:x}" for cell in range(game.shape.cells))
    network = Network(game, [pattern], symmetry=game.shape.symmetries, target=target)
    network.weights[:] = hope / network.lookups
    games = 30_000
    for part, alpha in enumerate((0.2, 0.1, 0.05, 0.02, 0.005)):
        play(network, part * games, count=games, learning=slow.Rule(alpha, backward=backward))
    return network


VARIANTS: list[tuple[Target, bool]] = [("afterstate", False), ("afterstate", True), ("state", False), ("state", True)]


@pytest.mark.parametrize(
    ("size", "target", "backward"),
    [*(("2x2", *variant) for variant in VARIANTS), ("2x3", "afterstate", False), ("2x3", "state", True)],
)
def test_td_finds_the_exact_value_of_its_own_play(size: str, target: Target, backward: bool) -> None:
    """The network's values equal those of enumeration under the same play, good or bad."""
    network = learn_small(size, target, backward=backward, hope=0.0)
    shape = network.game.shape
    copy = slow.Network(shape.rows, shape.columns, [list(network.layout[0])], network.symmetry, [{}])
    table = network.tiles(0)
    for index in itertools.product(range(shape.cells + 2), repeat=shape.cells):
        copy.tables[0][index] = float(table[index])
    values_of, met = enumerate_play(copy, of_states=target == "state")
    kind = 0 if target == "state" else 1
    chances = {key: chance for key, chance in met.items() if key[0] == kind}
    assert len(chances) > 100
    error = sum(chance * abs(copy.value(list(key[1:])) - values_of[key]) for key, chance in chances.items())
    weight = sum(chance * values_of[key] for key, chance in chances.items())
    assert error < 0.03 * weight


@pytest.mark.parametrize(("size", "hope", "enough"), [("2x2", 100.0, 0.99), ("2x3", 700.0, 0.92)])
@pytest.mark.parametrize(("target", "backward"), VARIANTS)
def test_td_with_high_hopes_plays_nearly_perfectly(
    size: str, hope: float, enough: float, target: Target, backward: bool
) -> None:
    """Values that start too high make every unseen position worth a try, so play comes close to the optimum."""
    network = learn_small(size, target, backward=backward, hope=hope)
    results = play_games(Seat(network.game, network.lookup), 0, 20_000, seed=9, purpose=Purpose.EVAL)
    perfect = optimum(network.game.shape.rows, network.game.shape.columns)
    assert enough * perfect < results.scores.mean() < 1.02 * perfect


def test_the_patterns_of_the_reference_are_read_alike() -> None:
    """The reference is given cells; make sure that they are the cells of the text."""
    assert parse_pattern("0a5", make("2048").shape) == (0, 10, 5)
