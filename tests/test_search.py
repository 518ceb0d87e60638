"""Looking ahead: exact values, what is left out, tables, and tiles that are too large."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterstate as af
import reference
import reference_search as slow
import reference_threes as slow_threes
from afterstate.games.game import Game, Slide, State, make
from afterstate.games.results import make_results, usual_tile
from afterstate.kernel import kernel, u64
from afterstate.network.lookup import Target
from afterstate.network.network import Network
from afterstate.network.training import Training
from afterstate.play.agent import Agent
from afterstate.rng import Random
from afterstate.search.expectimax import lower
from afterstate.search.lookahead import highest_tile, make_chooser
from afterstate.search.options import SearchOptions
from afterstate.search.table import LEAF_BITS, find, keep, leaf_place, line_of, make_table, make_tag
from commandline import BOARD, read_metrics
from positions import faces, state_of
from reference_learning import Generator
from searching import random_network, some_boards, values_of


@dataclass(frozen=True)
class Rules2048:
    rows: int
    columns: int

    def afterstates(self, state: list[int]) -> dict[int, tuple[list[int], int]]:
        return reference.afterstates(state, self.rows, self.columns)

    def outcomes(self, after: list[int]) -> list[tuple[list[int], Any]]:
        return reference.outcomes(after)


def tree_2048(network: Network, **cuts: Any) -> slow.Tree:
    game = network.game

    @cache
    def value(cells: tuple[int, ...]) -> float:
        return network.value(state_of(game, list(cells)))

    rules = Rules2048(game.shape.rows, game.shape.columns)
    return slow.Tree(rules, lambda cells: value(tuple(cells)), network.target == "state", **cuts)


@pytest.fixture(scope="module")
def network(game: Game) -> Network:
    return random_network(game, "0123,0145")


# --- exact -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("depth", "count", "empty"),
    [(1, 40, 6), (2, 30, 1), (2, 30, 5), (2, 5, 14), (3, 12, 0), (3, 12, 2), (3, 3, 5), (4, 3, 1)],
)
def test_exact_values_of_2048(network: Network, depth: int, count: int, empty: int) -> None:
    game, tree = network.game, tree_2048(network)
    agent = Agent(network, depth=depth, exact=True)
    for cells in some_boards(game, count, empty):
        found = values_of(agent.choose(state_of(game, cells)))
        assert found == pytest.approx(tree.weigh(cells, depth), rel=1e-6), cells


@pytest.mark.parametrize("values", ["afterstate", "state"])
@pytest.mark.parametrize(("size", "depths"), [("2x2", (1, 2, 3, 4, 5)), ("2x3", (1, 2, 3)), ("3x3", (2,))])
def test_exact_values_on_small_boards(size: str, depths: tuple[int, ...], values: Target) -> None:
    game = make("2048", size=size)
    network = random_network(game, "012,1", values)
    tree = tree_2048(network)
    generator = np.random.default_rng(4)
    for depth, _ in itertools.product(depths, range(6)):
        cells = [int(face) for face in generator.choice([0, 2, 2, 4, 8], game.shape.cells)]
        if any(cells):
            found = values_of(Agent(network, depth=depth, exact=True).choose(state_of(game, cells)))
            assert found == pytest.approx(tree.weigh(cells, depth), rel=1e-6), cells


def test_exact_values_of_a_network_with_stages(game: Game) -> None:
    """Boards on both sides of the step, and on it: the search crosses it."""
    network = random_network(game, "0123,0145", stages=(0, 64))
    size = network.weights.size // 2
    network.weights[size:][::3] = 0.0  # never written: the first stage stands in
    tree = tree_2048(network)
    agent = Agent(network, depth=2, exact=True)
    boards = [[32, 32, 2, 4, 8, 16, 4, 2, 2, 4, 8, 0, 0, 0, 2, 4], *some_boards(game, 10, 3)]
    for cells in boards:
        assert values_of(agent.choose(state_of(game, cells))) == pytest.approx(tree.weigh(cells, 2), rel=1e-6)


THREES = [
    ("tcg2022", "swap+entry+hint"),
    ("tcg2018", "swap+entry"),
    ("tcg2018-bonus", "swap+entry+hint"),
    ("official", "swap+entry+hint"),
]


def threes_positions(rules: str, count: int) -> Iterator[tuple[slow_threes.Position, State]]:
    """Positions from games of random slides, as the reference knows them and as the package does."""
    game, referee = make("threes", rules=rules), slow_threes.Game(rules)
    generator = Generator(11, 0, 0)
    position = referee.first(generator)
    choose = np.random.default_rng(5)
    number = 0
    while count:
        slid = referee.afterstates(position)
        if not slid:
            position = referee.first(generator)
            continue
        if number % 7 == 6:
            count -= 1
            yield position, game.parse(referee.text(position))
        number += 1
        after = slid[int(choose.choice(list(slid)))][0]
        position = referee.place(generator, after, list(after.entry))


@pytest.mark.parametrize(("rules", "context"), THREES, ids=str)
def test_exact_values_of_threes(rules: str, context: str) -> None:
    game = make("threes", rules=rules)
    network = Network(game, ["012", "14"], context=context)
    network.weights[:] = np.random.default_rng(8).uniform(0, 100, network.weights.size)
    layout = [list(cells) for cells in network.layout]
    copy = slow_threes.Network(slow_threes.Game(rules), layout, network.symmetry, set(context.split("+")))
    for number, kind in itertools.product(range(2), range(network.contexts)):
        table = network.tiles(number, 0, kind)
        for key in itertools.product(range(16), repeat=len(layout[number])):
            copy.tables[kind * 2 + number][key] = float(table[key])
    tree = slow.Tree(copy, cache(copy.value))
    agents = {depth: Agent(network, depth=depth, exact=True) for depth in (1, 2, 3)}
    for number, (position, state) in enumerate(threes_positions(rules, 20)):
        few = len(copy.outcomes(next(iter(copy.afterstates(position).values()))[0])) <= 10
        for depth in (1, 2, 3) if few and number % 2 else (1, 2):
            found = values_of(agents[depth].choose(state))
            assert found == pytest.approx(tree.weigh(position, depth), rel=1e-5), state


# --- what is left out ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "cutoff"), [(3, 0.2), (3, 0.05), (4, 0.05), (4, 0.01)])
def test_a_cutoff_leaves_out_what_it_says(network: Network, depth: int, cutoff: float) -> None:
    game = network.game
    agent, exact = Agent(network, depth=depth, table=0, cutoff=cutoff), Agent(network, depth=depth, exact=True, table=0)
    tree = tree_2048(network, cutoff=cutoff)
    differ = 0
    for cells in some_boards(game, 8 if depth == 3 else 2, 3):
        choice, whole = agent.choose(state_of(game, cells)), exact.choose(state_of(game, cells))
        assert values_of(choice) == pytest.approx(tree.weigh(cells, depth), rel=1e-6), cells
        assert choice.search is not None
        assert whole.search is not None
        assert choice.search.leaves < whole.search.leaves
        differ += choice.values != whole.values
    assert differ > 0


def test_a_leaf_is_never_worth_less_than_the_end_of_the_game(game: Game) -> None:
    """A network may say that everything is bad: the search still does not choose to end the game."""
    network = random_network(game, "0123,4567")
    network.weights -= 40.0
    state = game.parse("2 4 8 16 / 4 8 16 32 / 8 16 32 64 / 16 32 64 0")
    assert min(network.value(after) for after in game.afterstates(state).values()) < 0
    tree = tree_2048(network)
    for depth in (2, 3):
        found = values_of(Agent(network, depth=depth, exact=True).choose(state))
        assert found == pytest.approx(tree.weigh([2, 4, 8, 16, 4, 8, 16, 32, 8, 16, 32, 64, 16, 32, 64, 0], depth), rel=1e-6)
        assert min(found.values()) >= 0.0


def test_the_default_saves_work(network: Network) -> None:
    """A quarter of the leaves of an exact search, over some boards."""
    agent, exact = Agent(network, depth=4), Agent(network, depth=4, exact=True)
    states = [state_of(network.game, cells) for cells in some_boards(network.game, 5, 6)]
    found = [(agent.choose(state).search, exact.choose(state).search) for state in states]
    assert 4 * sum(some.leaves for some, _ in found if some) < sum(every.leaves for _, every in found if every)


@pytest.mark.parametrize(
    ("name", "size", "patterns", "games"),
    [("2048", "3x3", "012345,012346", 400), ("threes", "4x4", "0123,4567,0145,1256", 16)],
)
def test_deeper_is_never_weaker(name: str, size: str, patterns: str, games: int, tmp_path: Path) -> None:
    """By whole games of a network that plays well for its size, and beyond what chance may do to either mean.

    On a small board games are short and disasters are near. A search that left out outcomes with a 4 came to 2,806 points at
    depth 1, 2,741 at depth 2, 2,438 at depth 3 and 2,677 at depth 4 there.
    """
    options: dict[str, Any] = {"network": patterns, "method": "tc", "lambda_": 0.5, "threads": 1, "seed": 1}
    network = af.train(make(name, size=size), games=3000, run=tmp_path / "run", **options).network
    found = {depth: af.evaluate(Agent(network, depth=depth), games=games, seed=2) for depth in (1, 2, 3, 4)}
    for shallow, deep in ((1, 2), (2, 3), (2, 4)):
        assert found[deep].mean + found[deep].interval > found[shallow].mean - found[shallow].interval
    assert found[4].mean - found[4].interval > found[1].mean + found[1].interval


# --- tables ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [0, 64, 1024, "1M"])
def test_no_table_changes_an_exact_value(network: Network, table: int | str) -> None:
    """Not even one of a single line, in which everything is overwritten all the time."""
    agent = Agent(network, depth=4, exact=True, table=table)
    plain = Agent(network, depth=4, exact=True, table=0)
    for cells in some_boards(network.game, 4, 2):
        state = state_of(network.game, cells)
        assert values_of(agent.choose(state)) == pytest.approx(values_of(plain.choose(state)), rel=1e-6)


def test_a_table_finds_what_was_met_before(network: Network) -> None:
    cells = next(some_boards(network.game, 1, 5))
    with_table = Agent(network, depth=3, exact=True).choose(state_of(network.game, cells)).search
    without = Agent(network, depth=3, exact=True, table=0).choose(state_of(network.game, cells)).search
    assert with_table is not None
    assert without is not None
    assert without.probes == 0
    assert 0 < with_table.hits < with_table.probes
    assert with_table.leaves < without.leaves
    assert with_table.valued < with_table.leaves  # the memory of leaves


def test_a_network_that_learns_is_asked_anew(game: Game) -> None:
    network = random_network(game, "0123,0145")
    agent = Agent(network, depth=3)
    state = game.parse(BOARD)
    before = agent.choose(state)
    network.weights[:] *= 2
    after = agent.choose(state)
    assert values_of(after) == pytest.approx({slide: 2 * v for slide, v in values_of(before).items()}, rel=0.05)
    assert values_of(after) != values_of(before)


@kernel
def _keep(table: Any, board: u64, extra: u64, depth: u64, tag: u64, value: float) -> None:
    keep(table, line_of(table, board, extra, depth), board, extra, tag, value)


@kernel
def _find(table: Any, board: u64, extra: u64, depth: u64, tag: u64) -> Any:
    return find(table, line_of(table, board, extra, depth), board, extra, tag)


def test_a_table_keeps_the_deeper_and_the_newer() -> None:
    table = make_table(64, 1)
    assert int(table.lines) == 1

    def look_up(board: int, extra: int, depth: int, generation: int, care: int = 0) -> float | None:
        known, value = _find(table, u64(board), u64(extra), u64(depth), u64(make_tag(generation, depth, care)))
        return value if known else None

    for board, depth, value in ((7, 3, 1.5), (8, 1, 2.5), (9, 2, 3.5)):
        _keep(table, u64(board), u64(1), u64(depth), u64(make_tag(1, depth, 4)), value)
    assert look_up(7, 1, 3, 1) == 1.5
    assert look_up(8, 1, 1, 1) is None  # the last took its place
    assert look_up(9, 1, 2, 1) == 3.5
    assert look_up(9, 1, 2, 1, care=4) == 3.5
    assert look_up(9, 1, 2, 1, care=5) is None  # it left out too much
    assert look_up(9, 2, 2, 1) is None
    assert look_up(9, 1, 1, 1) is None
    assert look_up(9, 1, 2, 2) is None  # another generation
    _keep(table, u64(6), u64(0), u64(1), u64(make_tag(2, 1, 0)), 4.5)
    assert look_up(6, 0, 1, 2) == 4.5
    assert look_up(7, 1, 3, 1) == 1.5  # moved to the second place


@pytest.mark.parametrize("contexts", [1, 3])
def test_nothing_is_found_in_an_empty_memory_of_leaves(contexts: int) -> None:
    table = make_table(0, contexts)
    for context, key in itertools.product(range(contexts), [0, 1, 2, 0x1111, 2**64 - 1]):
        place = int(leaf_place(u64(key), u64(context)))
        assert context << LEAF_BITS + 1 <= place < (context + 1) << LEAF_BITS + 1
        assert int(table.leaf_words[place]) != key


def test_isomorphic_boards_are_worth_the_same(network: Network) -> None:
    """In every order of the searches: the table may hold what it found for another view of the board."""
    game = network.game
    turned = {Slide.UP: Slide.LEFT, Slide.LEFT: Slide.UP, Slide.RIGHT: Slide.DOWN, Slide.DOWN: Slide.RIGHT}
    agent = Agent(network, depth=3, exact=True)
    for cells in some_boards(game, 5, 4):
        transposed = [cells[4 * column + row] for row in range(4) for column in range(4)]
        one, other = agent.choose(state_of(game, cells)), agent.choose(state_of(game, transposed))
        for slide in Slide:
            assert one.values[slide] == other.values[turned[slide]]


# --- tiles that are too large ------------------------------------------------------------------------------------------------


def slowly_downgraded(cells: list[int], highest: int) -> list[int]:
    """Tiles above the largest missing one become the next smaller, until none is above `highest`."""
    while max(cells) > highest:
        missing = [2**exponent for exponent in range(1, 18) if 2**exponent < max(cells) and 2**exponent not in cells]
        if not missing:
            return cells
        cells = [tile // 2 if tile > max(missing) else tile for tile in cells]
    return cells


@given(st.lists(st.sampled_from([0, 2, 4, 8, 512, 2048, 4096, 8192, 16384, 32768, 65536, 131072]), min_size=16, max_size=16))
@settings(max_examples=150)
def test_a_board_is_downgraded(network: Network, cells: list[int]) -> None:
    if not any(cells):
        return
    game = network.game
    state = state_of(game, cells)
    for face in (4096, 32768):
        view = make_chooser(network, SearchOptions(depth=2, downgrade=face).resolve())
        board, extra = lower(game.tables, view, u64(state.board), u64(state.extra))
        lowered = State(int(board), int(extra))
        assert faces(game, lowered) == slowly_downgraded(cells, face // 2)
        before, after = game.afterstates(state), game.afterstates(lowered)
        assert set(before) == set(after)  # the same slides are legal, and tiles go to the same places
        for slide in before:
            assert [bool(tile) for tile in faces(game, before[slide])] == [bool(tile) for tile in faces(game, after[slide])]


def test_large_tiles_are_played_as_smaller_ones(network: Network) -> None:
    game = network.game
    large = game.parse("65536 32768 512 2 / 16 8 4 2 / 4 0 0 0 / 2 0 0 0")
    small = game.parse("2048 1024 512 2 / 16 8 4 2 / 4 0 0 0 / 2 0 0 0")
    for depth in (1, 2, 3):
        asked = values_of(Agent(network, depth=depth, downgrade=4096, exact=True).choose(large))
        plain = Agent(network, depth=depth, exact=True)
        assert asked == pytest.approx(values_of(plain.choose(small)), rel=1e-6)
        assert asked != pytest.approx(values_of(plain.choose(large)), rel=1e-3)


def test_65536_comes_about_in_play(network: Network) -> None:
    game = network.game
    state = game.parse("32768 32768 2 4 / 8 2 4 8 / 2 4 8 2 / 4 8 2 4")
    choice = Agent(network, depth=3, downgrade=32768).choose(state)
    assert choice.move in (Slide.LEFT, Slide.RIGHT)
    slid = game.slide(state, choice.move)
    assert slid is not None
    assert slid.reward == 65536
    assert 65536 in faces(game, slid)
    assert Agent(network, depth=3).choose(game.sample(slid, Random(1))).move is not None


def test_tiles_beyond_the_usual_ones_are_downgraded(network: Network, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run = af.train(make("2048"), network="01,45", games=300, block=150, threads=1, seed=1, run=folder)
    (*_, block) = [record for record in read_metrics(folder) if record["kind"] == "block"]
    usual = run.last.training.usual
    assert usual == max(round(math.log2(int(tile))) for tile, share in block["reached"].items() if share > 0.01)
    for index, highest in ((usual, 0), (10, 0), (11, 10), (13, 12), (15, 14), (-1, 0), (99, 0)):
        network.training = Training(usual=index)
        assert highest_tile(network, SearchOptions(depth=2).resolve()) == highest
        assert highest_tile(network, SearchOptions(move_time=0.1).resolve()) == highest
        assert highest_tile(network, SearchOptions(depth=1).resolve()) == 0
        assert highest_tile(network, SearchOptions(depth=2, exact=True).resolve()) == 0
        assert highest_tile(network, SearchOptions(depth=2, downgrade=0).resolve()) == 0
        assert highest_tile(network, SearchOptions(depth=1, downgrade=16).resolve()) == 3
    network.training = Training()
    assert highest_tile(network, SearchOptions(depth=2).resolve()) == 0  # nothing is known of a network that nobody trained


def test_the_usual_tile_is_that_of_one_game_in_a_hundred() -> None:
    results = make_results(300)
    results.largest[:] = 9
    results.largest[:3] = 12
    assert usual_tile(results) == 9
    results.largest[3] = 11
    assert usual_tile(results) == 11
    assert usual_tile(results.part(0, 1)) == 12


def test_large_tiles_of_threes_are_downgraded() -> None:
    game = make("threes")
    network = random_network(game, "012,14")
    large = game.parse("6144 3072 192 1 / 3 6 12 2 / 0 3 6 0 / 0 0 0 0 | next 1")
    small = game.parse("768 384 192 1 / 3 6 12 2 / 0 3 6 0 / 0 0 0 0 | next 1")
    low = game.parse("48 24 3 1 / 3 12 12 2 / 0 3 12 0 / 0 0 0 0 | next 1")  # the only gap is the 6, which a 3 can fill
    plain = Agent(network, depth=2, exact=True)
    assert values_of(Agent(network, depth=2, exact=True, downgrade=1536).choose(large)) == values_of(plain.choose(small))
    assert values_of(Agent(network, depth=2, exact=True, downgrade=24).choose(low)) != values_of(plain.choose(low))
