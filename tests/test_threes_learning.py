"""Learning Threes!: what a network sees of a position, and games of training, against the slow reference."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import afterstate as af
import reference_learning as slow
import reference_threes as slow_threes
from afterstate.errors import InputError
from afterstate.games.game import Slide, State, make
from afterstate.network.fold import fold
from afterstate.network.lookup import Target
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.rng import Purpose, Random
from playing import SEED
from test_learning import play

CASES = [
    ("tcg2022", (4, 4), ["012", "456"], "swap+entry+hint"),
    ("tcg2022", (4, 4), ["015"], "swap+entry+hint+bag"),
    ("tcg2022", (2, 3), ["012", "14"], "entry+hint+bag"),
    ("tcg2018", (4, 4), ["012"], "swap+entry"),
    ("tcg2018-bonus", (4, 4), ["012"], "swap+hint"),
    ("official", (4, 4), ["012", "56"], "swap+entry+hint"),
    ("official", (3, 3), ["014"], "hint"),
    ("tcg2022", (4, 4), ["012"], ""),
]
RULES = {
    "tc-lambda": slow.Rule(0.5, coherent=True, decay=0.5, horizon=3),
    "td0": slow.Rule(0.5),
    "td-lambda-backward": slow.Rule(0.3, decay=0.7, backward=True),
    "tc-2-steps": slow.Rule(0.5, coherent=True, steps=2),
}
TASKS = [("tc-lambda", case, "afterstate") for case in CASES]
TASKS += [(name, CASES[0], "afterstate") for name in RULES if name != "tc-lambda"]
TASKS += [("td0", CASES[2], "state"), ("tc-lambda", CASES[0], "state")]


def random_pair(
    case: tuple[str, tuple[int, int], list[str], str], target: Target, seed: int
) -> tuple[Network, slow_threes.Network]:
    """The same random weights in a network and in the reference."""
    rules, (rows, columns), patterns, context = case
    game = make("threes", rules=rules, size=f"{rows}x{columns}")
    fast = Network(game, patterns, symmetry=game.shape.symmetries, target=target, context=context)
    fast.weights[:] = np.random.default_rng(seed).uniform(-100, 100, fast.weights.size)
    layout = [list(cells) for cells in fast.layout]
    copy = slow_threes.Network(slow_threes.Game(rules, rows, columns), layout, fast.symmetry, set(context.split("+")))
    for table, number, context_number in tables(fast):
        for key in itertools.product(range(16), repeat=len(layout[number])):
            copy.tables[context_number * len(patterns) + number][key] = float(table[key])
    return fast, copy


def tables(network: Network) -> list[tuple[Any, int, int]]:
    every = itertools.product(range(network.contexts), range(len(network.patterns)))
    return [(network.tiles(number, 0, context), number, context) for context, number in every]


@pytest.mark.parametrize(("name", "case", "target"), TASKS, ids=str)
def test_games_of_learning_equal_the_reference(name: str, case: Any, target: Target) -> None:
    compared = 0
    for number in range(60):
        fast, copy = random_pair(case, target, number)
        generator = slow.Generator(SEED, int(Purpose.TRAIN), number)
        rule = RULES[name]
        rule.coherence.clear()
        try:
            _, slides, last, _ = slow.train_game(copy, generator, rule, of_states=target == "state")
        except slow.NearTieError:
            continue
        position: Any = last
        largest = max(slow_threes.indices(list(position.cells)))
        assert play(fast, number, learning=rule) == (copy.game.score(position), slides, largest)
        for table, pattern, context in tables(fast):
            wanted = copy.tables[context * len(fast.patterns) + pattern]
            learned = np.array([table[key] for key in wanted])
            np.testing.assert_allclose(learned, list(wanted.values()), rtol=1e-3, atol=0.05)
        compared += 1
        if compared == 2:
            return
    pytest.fail("too few games without a near tie")


# --- what is seen --------------------------------------------------------------------------------------------------------


def value(network: Network, text: str) -> float:
    return network.value(network.game.parse(text))


def noisy(context: str, rules: str = "tcg2022") -> Network:
    network = Network(make("threes", rules=rules), "0123,0145", context=context)
    network.weights[:] = np.random.default_rng(1).uniform(-1, 1, network.weights.size)
    return network


def test_the_next_tile_is_seen_with_hint_only() -> None:
    board = "0 0 0 0 / 0 6 0 0 / 0 0 3 0 / 6 0 0 0 | "
    for context, same in (("", True), ("entry", True), ("hint", False), ("entry+hint", False)):
        assert (value(noisy(context), board + "next 2") == value(noisy(context), board + "next 3")) is same


def test_the_bag_is_seen_with_bag_only() -> None:
    one, other = "next 3 | bag 12", "next 3 | bag -"
    for context, same in (("hint", True), ("hint+bag", False)):
        network = noisy(context)
        with_bag = network.game.parse("6 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 | " + one)
        without = network.game.parse("6 0 0 0 / 0 3 0 0 / 0 0 0 0 / 0 0 0 0 | " + other)
        assert with_bag.extra != without.extra
        assert (network.value(with_bag) == network.value(State(with_bag.board, without.extra))) is same


def test_where_the_tile_enters_is_seen_with_entry_only() -> None:
    """Two slides that lead to the same board, from which the new tile enters at different walls."""
    game = make("threes")
    left = game.slide(game.parse("0 0 0 0 / 0 0 3 0 / 0 0 0 0 / 0 0 0 0 | next 3 | bag -"), Slide.LEFT)
    up = game.slide(game.parse("0 0 0 0 / 0 0 0 0 / 0 3 0 0 / 0 0 0 0 | next 3 | bag -"), Slide.UP)
    assert left is not None
    assert up is not None
    assert left.board == up.board
    for context, same in (("hint", True), ("entry+hint", False)):
        network = Network(game, "0123,0145", context=context, symmetry=1)
        network.weights[:] = np.random.default_rng(1).uniform(-1, 1, network.weights.size)
        assert (network.value(left) == network.value(up)) is same


def test_swapped_boards_have_one_value() -> None:
    one, other = "1 1 2 0 / 0 6 0 0 / 0 0 3 0 / 3 0 0 0 | next 2", "2 2 1 0 / 0 6 0 0 / 0 0 3 0 / 3 0 0 0 | next 1"
    # the sum of tiles differs by one, so the bags do; without the bag in sight that is nothing
    assert value(noisy("swap+hint"), one) == value(noisy("swap+hint"), other)
    assert value(noisy("hint"), one) != value(noisy("hint"), other)


@pytest.mark.parametrize("rules", ["tcg2022", "official"])
def test_isomorphic_afterstates_have_one_value(rules: str) -> None:
    """The mirror image of a position, slid to the mirrored side, is worth the same."""
    game, network = make("threes", rules=rules), noisy("swap+entry+hint", rules)
    mirror = {Slide.UP: Slide.UP, Slide.DOWN: Slide.DOWN, Slide.LEFT: Slide.RIGHT, Slide.RIGHT: Slide.LEFT}
    rng = Random(4)
    state = game.start(rng)
    for _ in range(30):
        board, _, rest = game.format(state).partition("|")
        turned = " / ".join(" ".join(reversed(row.split())) for row in board.split("/"))
        image = game.parse(f"{turned} |{rest.partition('| slid')[0]}")
        afterstates, images = game.afterstates(state), game.afterstates(image)
        for slide, after in afterstates.items():
            assert network.value(after) == network.value(images[mirror[slide]])
        state = game.sample(next(iter(afterstates.values())), rng)


def test_a_context_that_cannot_be() -> None:
    with pytest.raises(InputError, match="cannot see 'colour'; it may see: swap, entry, hint, bag"):
        Network(make("threes"), "0123", context="colour")
    with pytest.raises(InputError, match="bag needs hint"):
        Network(make("threes"), "0123", context="bag")
    with pytest.raises(InputError, match="cannot see 'bag'"):
        Network(make("threes", rules="official"), "0123", context="hint+bag")
    with pytest.raises(InputError, match="cannot see 'hint'; it sees only tiles"):
        Network(make("2048"), "0123", context="hint")


# --- everything that 2048 has --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["tcg2022", "official"])
def test_training_learns_and_goes_on_exactly(tmp_path: Path, rules: str) -> None:
    """More than twice the score, stages and smaller patterns beside; a resumed run is the run without a break."""
    options: dict[str, Any] = {"network": "01234,45678", "beside": "0123", "method": "tc", "lambda_": 0.5, "threads": 1}
    options |= {"block": 500, "stages": "0,192"}
    game = make("threes", rules=rules)
    whole = af.train(game, run=tmp_path / "whole", games=2000, **options)
    means = [record["mean"] for record in whole.metrics]
    assert means[-1] > 2 * means[0]
    af.train(game, run=tmp_path / "parts", games=700, keep=True, **options)
    parts = af.train(run=tmp_path / "parts", resume=True, games=2000)
    assert np.array_equal(parts.last.weights, whole.last.weights)
    assert parts.last.context == game.context
    best = af.load(tmp_path / "whole")
    assert best.patterns == ("01234", "45678")
    assert best.stages == (0, 192)
    summary = af.evaluate(Agent(best), games=200, seed=3)
    assert summary.mean > means[0]


def test_folded_networks_have_the_same_values() -> None:
    network = Network(make("threes"), "01234,0123", context="swap+entry+hint", stages=(0, 12))
    network.weights[:] = np.random.default_rng(2).uniform(-50, 50, network.weights.size)
    folded = fold(network, ["0123"])
    rng, game = Random(1), network.game
    state = game.start(rng)
    while slid := game.afterstates(state):
        for after in slid.values():
            assert folded.value(after) == pytest.approx(network.value(after), abs=1e-3)
        state = game.sample(next(iter(slid.values())), rng)
