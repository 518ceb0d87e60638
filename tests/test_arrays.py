"""Many positions at once are what they are one by one; states know their game; wrong arrays are refused."""

import copy
import pickle
import threading
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import afterstate as af
from afterstate.games.arrays import Positions
from afterstate.games.game import Game, Slide, State, make
from afterstate.games.twenty48 import Twenty48Game
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.rng import Random

THREES = make("threes")
SMALL = make("2048", size="2x3")


def positions_of(game: Game, count: int, seed: int = 1) -> list[State]:
    """States of random play."""
    rng, generator = Random(seed), np.random.default_rng(seed)
    found: list[State] = []
    while len(found) < count:
        state = game.start(rng)
        while len(found) < count and (slid := game.afterstates(state)):
            found.append(state)
            state = game.sample(list(slid.values())[generator.integers(len(slid))], rng)
    return found


def make_network(game: Game, **options: Any) -> Network:
    network = Network(game, "0123,4567" if game.shape.cells == 16 else "012,034", **options)
    network.weights[:] = np.random.default_rng(3).normal(size=network.weights.size).astype(np.float32) * 100
    return network


@pytest.mark.parametrize("game", [make("2048"), SMALL, THREES, make("threes", rules="official")], ids=repr)
def test_arrays_and_back(game: Game) -> None:
    states = positions_of(game, 300)
    many = game.from_array(states)
    cells = game.to_array(many)
    assert cells.shape == (300, game.shape.rows, game.shape.columns)
    assert [row.ravel().tolist() for row in cells] == [game.cells(state) for state in states]
    faces = game.to_array(many, faces=True)
    assert faces[7].ravel().tolist() == [game.face(tile) for tile in game.cells(states[7])]
    extras = many.extras if game.name == "threes" else None
    for again in (
        game.from_array(cells, extras=extras),
        game.from_array(faces, faces=True, extras=extras),
        game.from_array(cells.reshape(300, -1).astype(np.int64), extras=extras),
        game.from_array(many.boards, extras=many.extras),
    ):
        assert list(again) == states
    assert list(many[10:20]) == states[10:20]
    assert many[-1] == states[-1]
    assert len(game.from_array([], extras=[] if extras is not None else None)) == 0


def test_the_largest_tiles_survive() -> None:
    game = make("2048")
    cells = np.array([[17, 16, 15, 14, *[0] * 12]])
    many = game.from_array(cells)
    assert str(many[0]).startswith("131072 65536 32768 16384 / 0")
    assert game.to_array(many).reshape(1, 16).tolist() == cells.tolist()
    assert game.to_array(many, faces=True)[0, 0].tolist() == [131072, 65536, 32768, 16384]
    assert game.from_array(game.to_array(many, faces=True), faces=True)[0] == many[0]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("game", [make("2048"), SMALL, THREES], ids=repr)
def test_slides_of_many_are_those_of_each(game: Game, threads: int) -> None:
    states = positions_of(game, 3000 if threads > 1 else 300)
    found = game.afterstates_many(states, threads=threads)
    for number in range(0, len(states), 17):
        each = game.try_slides(states[number])
        for slide, (afterstate, legal) in each.items():
            assert found.legal[number, slide] == legal
            if legal:
                words = (found.boards[number, slide], found.extras[number, slide], found.rewards[number, slide])
                assert words == (afterstate.board, afterstate.extra, afterstate.reward)
            else:
                assert found.rewards[number, slide] == 0
    first = found.legal.argmax(axis=1)
    assert found.take(first).boards.tolist() == found.boards[np.arange(len(states)), first].tolist()
    with pytest.raises(af.InputError, match=r"slides are 0 to 3|one slide"):
        found.take(first + 4)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("game", [make("2048"), THREES], ids=repr)
def test_values_of_many_are_those_of_each(game: Game, threads: int) -> None:
    network = make_network(game, stages=(0, 96) if game is THREES else (0, 64))
    states = positions_of(game, 2500)
    values = network.values(states, threads=threads)
    assert values[::100].tolist() == pytest.approx([network.value(state) for state in states[::100]], abs=1e-9)
    assert network.values(states[:3]).tolist() == values[:3].tolist()
    assert network.values(game.from_array(states)).tolist() == values.tolist()


@pytest.mark.parametrize(("target", "depth"), [("afterstate", 1), ("state", 1), ("afterstate", 2)])
def test_choices_of_many_are_those_of_each(target: Any, depth: int) -> None:
    game = make("2048")
    agent = Agent(make_network(game, target=target), threads=2, depth=depth)
    over = game.parse("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2")
    states = [*positions_of(game, 40), over]
    found = agent.choose_many(states)
    for number, state in enumerate(states):
        choice = agent.choose(state)
        assert found.moves[number] == (-1 if choice.move is None else choice.move)
        values = [None if np.isneginf(value) else value for value in found.values[number].tolist()]
        assert values == list(choice.values.values())
    assert found.moves[-1] == -1


BOARD = np.zeros((1, 4, 4), np.int64)


@pytest.mark.parametrize(
    ("array", "options", "message"),
    [
        (BOARD.astype(float), {}, "array of integers, not float64"),
        (BOARD.astype(bool), {}, "array of integers, not bool"),
        (np.zeros((1, 3, 4), int), {}, r"is \(n, 4, 4\), \(n, 16\), or \(n,\) words of uint64, not \(1, 3, 4\)"),
        (np.zeros((4, 4), int), {}, r"not \(4, 4\)"),
        (np.int64(3), {}, "array of integers"),
        ([[1, 2], [3]], {}, "cannot be read as an array"),
        ("2 2", {}, "array of integers"),
        (BOARD + 18, {}, "cell 1 of board 0 is 18, but tiles of .* are exponents 0 to 17; if these are faces"),
        (BOARD - 1, {}, "cell 1 of board 0 is -1"),
        (BOARD + 3, {"faces": True}, "cell 1 of board 0 is 3, which is not a tile"),
        (BOARD - 2, {"faces": True}, "cell 1 of board 0 is -2, which is not a tile"),
        (BOARD + 2**18, {"faces": True}, "is 262144, which is not a tile"),
        (np.array([-1]), {}, "words are not negative, but number 0 is -1"),
        (BOARD, {"extras": [0]}, "the cells of 2048 say everything"),
        (np.array([1], np.uint64), {"extras": [1]}, "no position of"),
        (np.array([15], np.uint64), {"extras": [3]}, "no position of"),
        (np.array([15, 1], np.uint64), {"extras": [1]}, "2 boards need as many extras, not 1"),
    ],
)
def test_wrong_arrays_are_refused(array: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(af.InputError, match=message):
        make("2048").from_array(array, **options)


def test_words_outside_a_small_board_are_refused() -> None:
    with pytest.raises(af.InputError, match="outside a 2x3 board"):
        SMALL.from_array(np.array([0x1000], np.uint64))
    with pytest.raises(af.InputError, match=r"the largest of .* is 7"):
        SMALL.from_array(np.array([0x8], np.uint64))


@given(st.integers(0, 2**64 - 1) | st.integers(0, 2**16 - 1))
def test_no_second_word_of_threes_makes_a_network_read_elsewhere(extra: int) -> None:
    """Kernels look tables up by the next tile. What `from_array` lets pass has a next tile, and a bag of these rules."""
    with suppress(af.InputError):
        many = THREES.from_array(np.zeros((1, 16), int), extras=np.array([extra], np.uint64))
        assert 1 <= many.extras[0] >> 9 & 7 <= 3
        assert THREES.next_tile(many[0]) in THREES.next_tiles


TYPES: Any = st.sampled_from([np.dtype(name) for name in ("u1", "i1", "i8", "u8", "f4", "?", "U2")])
ANY_ARRAY: Any = arrays(
    TYPES,
    array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4) | st.just((2, 4, 4)) | st.just((1, 16)) | st.just((2, 2, 3)),
)


@given(ANY_ARRAY, st.booleans(), st.none() | ANY_ARRAY, st.sampled_from([make("2048"), SMALL, THREES]))
def test_any_array_is_read_or_refused(array: Any, faces: bool, extras: Any, game: Game) -> None:
    try:
        found = game.from_array(array, faces=faces, extras=extras)
    except af.InputError:
        return
    assert len(found) == len(array)
    cells = game.to_array(found)
    assert cells.size == 0 or cells.max() <= game.top
    assert [str(state) for state in found] == [game.format(state) for state in found]
    game.afterstates_many(found)


def test_the_next_tile_must_be_given() -> None:
    with pytest.raises(af.InputError, match="cells alone do not say which tile comes next"):
        THREES.from_array(np.zeros((2, 4, 4), int))


# --- states -------------------------------------------------------------------------------------------------------------


def test_states_show_themselves() -> None:
    game = make("2048", size="2x2")
    state = game.parse("2 4 / 0 2")
    assert (str(state), repr(state)) == ("2 4 / 0 2", "State('2 4 / 0 2')")
    up = game.slide(game.parse("2 4 / 2 0"), Slide.UP)
    assert (str(up), repr(up)) == ("4 4 / 0 0", "Afterstate('4 4 / 0 0', reward=4)")
    assert repr(State(0x21)) == str(State(0x21)) == "State(board=0x21, extra=0x0)"
    broken = State(0, 7 << 9, game=THREES)
    assert repr(broken) == "State(board=0x0, extra=0xe00)"


def test_states_of_another_game_are_refused() -> None:
    game = make("2048")
    agent = Agent(make_network(game))
    foreign = THREES.start(Random(1))
    rng = Random(1)
    refused: list[Any] = [
        lambda: agent.choose(foreign),
        lambda: agent.choose_many([foreign]),
        lambda: agent.play_on(foreign, rng, moves=1),
        lambda: agent.network.value(foreign),
        lambda: agent.network.values([foreign]),
        lambda: agent.network.values(THREES.from_array([foreign])),
        lambda: game.afterstates(foreign),
        lambda: game.slide(foreign, Slide.UP),
        lambda: game.outcomes(foreign),
        lambda: game.sample(foreign, rng),
        lambda: game.score(foreign, 0),
        lambda: game.largest(foreign),
        lambda: game.place(foreign, 0, 1),
        lambda: make("threes", rules="official").afterstates(foreign),
    ]
    for act in refused:
        with pytest.raises(af.InputError, match=r"of make\('threes', rules='tcg2022', size='4x4'\), not of make"):
            act()
    with pytest.raises(af.InputError, match="is not a state: read text with"):
        agent.choose("2 2")  # type: ignore[arg-type]


def test_equality_goes_by_words_and_game() -> None:
    game, words = make("2048"), (0x21, 0)
    mine, other, bare = State(*words, game=game), State(*words, game=THREES), State(*words)
    assert mine == State(*words, game=game) == bare
    assert mine != other
    assert len({mine, bare}) == 1
    assert len({mine, other}) == 2
    assert mine != State(0x22, game=game)
    assert bare != (0x21, 0)
    assert pickle.loads(pickle.dumps(mine)) == mine
    assert pickle.loads(pickle.dumps(mine)).game is game


def test_slides_have_names() -> None:
    game = make("2048", size="2x2")
    state = game.parse("2 0 / 2 0")
    expected = game.slide(state, Slide.UP)
    assert expected is not None
    names: list[Any] = ["up", "UP", "U", "u", 0, np.int64(0)]
    for name in names:
        assert game.slide(state, name) == expected
    for wrong in ("upwards", "", 4, -1, 1.5, True, None):
        with pytest.raises(af.InputError, match="a slide is up, right, down or left"):
            game.slide(state, wrong)  # type: ignore[arg-type]


def test_a_tile_that_is_not_due_is_not_drawn() -> None:
    state, rng = THREES.start(Random(5)), Random(6)
    before = int(rng.state)
    with pytest.raises(af.InputError, match=r"no new tile can come on .* slide first"):
        THREES.sample(state, rng)
    assert int(rng.state) == before
    full = make("2048").parse("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2")
    with pytest.raises(af.InputError, match="no new tile can come"):
        make("2048").sample(full, rng)


def test_a_state_is_not_explained_as_an_afterstate() -> None:
    game = make("2048")
    state = game.start(Random(1))
    network = make_network(game)
    with pytest.raises(af.InputError, match=r"values afterstates, and .* is a state: explain what a slide leads to"):
        network.explain(state)
    slid = next(iter(game.afterstates(state).values()))
    assert network.explain(slid).value == network.value(slid)
    assert make_network(game, target="state").explain(state).value != 0


# --- games and networks by what they are ----------------------------------------------------------------------------------


class Other(Twenty48Game):
    """Another class is another game, whatever it is called."""


def test_games_compare_by_what_they_are(tmp_path: Any) -> None:
    game = make("2048")
    twin = Twenty48Game(game.shape)
    assert (twin is not game, twin == game, hash(twin) == hash(game)) == (True, True, True)
    assert game != SMALL
    assert game != Other(game.shape)
    assert make("threes") != make("threes", rules="official")
    assert pickle.loads(pickle.dumps(game)) is game
    assert pickle.loads(pickle.dumps(twin)) == game
    assert type(pickle.loads(pickle.dumps(Other(game.shape)))) is Other
    other = copy.copy(game)
    assert other == game
    other.name = "another"
    assert (other != game, game.name, make("2048").name) == (True, "2048", "2048")
    changed = Twenty48Game(game.shape)
    changed.tables = changed.tables._replace(rows=changed.tables.rows + np.uint64(1))
    assert changed != game


def test_a_pickled_network_and_agent_work(tmp_path: Any) -> None:
    from afterstate.network.modelfile import load_model, save_model

    network = make_network(THREES)
    state = THREES.start(Random(1))
    again = pickle.loads(pickle.dumps(network))
    assert again.value(state) == network.value(state)
    again.weights[:] = 0
    assert again.values([state]).tolist() == [0.0]  # kernels see the same memory
    agent = pickle.loads(pickle.dumps(Agent(network, depth=2)))
    assert agent.choose(state).values == Agent(network, depth=2).choose(state).values
    save_model(make_network(make("2048")), tmp_path / "one.safetensors")
    assert load_model(tmp_path / "one.safetensors", game=Twenty48Game(make("2048").shape)).game == make("2048")


def test_threads_may_share_an_agent() -> None:
    game = make("2048")
    agent = Agent(make_network(game), depth=2)
    states = positions_of(game, 60)
    expected = [agent.choose(state) for state in states]
    found: list[list[Any]] = [[], [], []]

    def ask(number: int) -> None:
        for state in states:
            found[number].append(agent.choose(state))

    workers = [threading.Thread(target=ask, args=(number,)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for choices in found:
        assert [choice.values for choice in choices] == [choice.values for choice in expected]


def test_positions_show_themselves() -> None:
    assert repr(make("2048").from_array(np.zeros((3, 4, 4), int))) == (
        "Positions(make('2048', rules='standard', size='4x4'), 3 positions)"
    )
    assert isinstance(make("2048").from_array(np.zeros((3, 4, 4), int))[:2], Positions)
