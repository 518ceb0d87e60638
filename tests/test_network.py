"""Networks: patterns, isomorphisms, values and where they come from, memory."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_learning as slow
from afterstate.bitboard import Shape, pack, transpose
from afterstate.errors import InputError, ResourceError
from afterstate.games.game import Game, State, make
from afterstate.kernel import u64
from afterstate.memory import HUGE_PAGE, allocate, free_memory
from afterstate.network.network import Network, count_weights
from afterstate.network.patterns import (
    PRESETS,
    default_network,
    default_symmetry,
    draw_pattern,
    isomorphic_cells,
    orient,
    own_tables,
    parse_pattern,
    parse_patterns,
    places_of,
)

BOARDS = st.lists(st.integers(0, 15), min_size=16, max_size=16)
FULL = Shape()


def as_state(cells: list[int], shape: Shape = FULL) -> State:
    return State(pack(cells, shape))


@pytest.fixture(scope="module")
def random_network(game: Game) -> Network:
    network = Network(game, "0123,0145,9a,7")
    network.weights[:] = np.random.default_rng(3).normal(size=network.weights.size)
    return network


# --- patterns ------------------------------------------------------------------------------------------------------------


def test_presets_are_the_published_ones() -> None:
    """Names, number of tuples and cells; all of them can be read."""
    for name, preset in PRESETS.items():
        if name[0].isdecimal():
            count, cells = name.split("-")[0].split("x")
            assert len(preset.names) == int(count)
            assert {len(pattern) for pattern in preset.names} == {int(cells)}
        assert parse_patterns(name, FULL) == preset.names
    assert PRESETS["4x6"].names == ("012345", "456789", "012456", "45689a")
    assert PRESETS["8x6"].names == ("012456", "456789", "012345", "234569", "01259a", "345678", "134567", "01489a")
    assert PRESETS["8x4"].symmetry == 1


def test_the_eight_isomorphs_of_a_tuple() -> None:
    """Those of 012345, as published, in any order."""
    published = {"012345", "37bf26", "fedcba", "c840d9", "cdef89", "fb73ea", "321076", "048c15"}
    found = {"".join(f"{cell:x}" for cell in cells) for cells in isomorphic_cells(range(6), FULL, 8)}
    assert found == published


def test_rotations_come_first() -> None:
    """With four isomorphisms a corner visits the four corners in turns, and a pattern is never mirrored."""
    assert {"".join(f"{cell:x}" for cell in cells) for cells in isomorphic_cells((0, 1, 4), FULL, 4)} == {
        "014",
        "372",
        "feb",
        "c8d",
    }


@pytest.mark.parametrize(("shape", "count"), [(Shape(2, 3), 4), (Shape(3, 3), 8), (Shape(4, 2), 4), (FULL, 8)])
def test_isomorphs_agree_with_the_reference(shape: Shape, count: int) -> None:
    """The set of turns is that of the reference, which rotates grids."""
    turns = {tuple(turn) for turn in slow.symmetries(shape.rows, shape.columns, count)}
    moved = isomorphic_cells(range(shape.cells), shape, count)
    assert {tuple(places.index(cell) for cell in range(shape.cells)) for places in moved} == turns
    assert len(turns) == count


def test_isomorphs_that_look_at_the_same_cells_are_one_place() -> None:
    assert places_of("0126", FULL, 8) == dict.fromkeys(["0126", "fed9", "c845", "37ba", "3215", "cdea", "0489", "fb76"], 1)
    assert places_of("45689a", FULL, 8) == {"45689a": 2, "ba9765": 2, "d95ea6": 2, "26a159": 2}
    assert places_of("569a", FULL, 8) == {"569a": 8}
    assert places_of("01", Shape(2, 3), 4) == {"01": 1, "54": 1, "21": 1, "34": 1}
    for name in PRESETS:
        assert sum(sum(places_of(pattern, FULL, 8).values()) for pattern in PRESETS[name].names) == 8 * len(PRESETS[name].names)


def test_every_place_has_a_table_of_its_own_once() -> None:
    """Also if patterns are isomorphs of each other."""
    own = own_tables(("0123", "cdef", "4567"), FULL, 8)
    assert {"".join(sorted(name)) for name in own} == {"0123", "cdef", "048c", "37bf", "4567", "89ab", "159d", "26ae"}
    assert len(own) == 8
    for name in PRESETS:
        own = own_tables(PRESETS[name].names, FULL, 8)
        assert parse_patterns(",".join(own), FULL) == own
    assert len(own_tables(PRESETS["4x6"].names, FULL, 8)) == 28


def test_a_table_is_laid_out_for_the_last_isomorph() -> None:
    assert orient("012345", FULL, 8) == (10, 11, 12, 13, 14, 15)
    assert orient("012345", FULL, 1) == (0, 1, 2, 3, 4, 5)
    assert orient("fa0", FULL, 1) == (0, 10, 15)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "at least one pattern"),
        ("0012", "more than once"),
        ("012345678", "1 to 8"),
        ("01g", "hex digits"),
        ("0123,0123", "same cells"),
        ("0123,3210", "same cells"),
        ("0,1,2,3", "4 patterns of one cell each; one pattern of these cells is 0123"),
        ("5 6", "2 patterns of one cell each; one pattern of these cells is 56"),
        (",".join("0123456789abcdef"), "16 patterns of one cell each$"),
        ("9x9", "no network is called"),
        ("x" * 10_000, "no network is called"),
        ("0" * 10_000, "1 to 8"),
    ],
)
def test_wrong_patterns_are_refused(text: str, word: str) -> None:
    with pytest.raises(InputError, match=word) as failure:
        parse_patterns(text, FULL)
    assert len(str(failure.value)) < 500


def test_single_cells_that_are_meant(game: Game) -> None:
    assert parse_patterns("0", FULL) == ("0",)
    assert parse_patterns("01,0,1", FULL) == ("01", "0", "1")
    assert Network(game, ["0", "1"]).patterns == ("0", "1")


def test_a_cell_that_a_small_board_lacks() -> None:
    with pytest.raises(InputError, match="cells 0 to 3 of a 2x2 board"):
        parse_pattern("4", Shape(2, 2))
    with pytest.raises(InputError, match="is for the 4x4 board"):
        parse_patterns("4x6", Shape(3, 3))


def test_defaults_can_be_used() -> None:
    """Every board size has a default network that it accepts."""
    for rows in (2, 3, 4):
        for columns in (2, 3, 4):
            shape = Shape(rows, columns)
            name = default_network(shape)
            assert parse_patterns(name, shape)
            assert default_symmetry(name, shape) == shape.symmetries
    assert default_symmetry("8x4", FULL) == 1


def test_drawing() -> None:
    assert draw_pattern("0145", FULL) == ["■ ■ · ·", "■ ■ · ·", "· · · ·", "· · · ·"]
    assert draw_pattern("5", Shape(2, 3)) == ["· · ·", "· · ■"]


# --- values --------------------------------------------------------------------------------------------------------------


@given(cells=BOARDS, symmetry=st.sampled_from([8, 4, 1]))
@settings(max_examples=200)
def test_a_value_is_the_sum_of_the_reference(game: Game, cells: list[int], symmetry: int) -> None:
    """Small tables, random weights: the kernel's indices add up to what dictionaries give."""
    network = Network(game, "012,56,f", symmetry=symmetry)
    network.weights[:] = np.random.default_rng(8).normal(size=network.weights.size)
    copy = slow.Network(4, 4, [list(layout) for layout in network.layout], symmetry, [{} for _ in network.patterns])
    for number in range(len(network.patterns)):
        copy.tables[number] = {index: float(weight) for index, weight in np.ndenumerate(network.tiles(number))}
    faces = [2**cell if cell else 0 for cell in cells]
    assert network.value(as_state(cells)) == pytest.approx(copy.value(faces), abs=1e-6)


@given(BOARDS)
@settings(max_examples=300)
def test_the_eight_isomorphs_have_one_value(random_network: Network, cells: list[int]) -> None:
    """Exactly one: the sum does not hang on the order of its terms."""
    board = pack(cells, FULL)
    boards = {board, mirrored(board), int(transpose(u64(board))), mirrored(int(transpose(u64(board))))}
    assert len({random_network.value(State(each)) for each in boards}) == 1


def mirrored(board: int) -> int:
    """Every row reversed, hex digit by hex digit."""
    digits = f"{board:016x}"
    return int("".join(digits[start : start + 4][::-1] for start in range(0, 16, 4)), 16)


def test_tables_of_their_own_can_say_what_shared_ones_say(random_network: Network) -> None:
    """Each place's table holds what the shared table gives there: then all boards have the same value."""
    shared, game = random_network, random_network.game
    own = Network(game, own_tables(shared.patterns, FULL, 8), symmetry=1)
    draw = np.random.default_rng(4)
    written: dict[int, float] = {}
    for _ in range(200):
        state = as_state([int(cell) for cell in draw.integers(0, 4, 16)])
        looks = [pair for share in shared.explain(state).patterns for pair in zip(share.cells, share.weights, strict=True)]
        for pattern, index in zip(own.patterns, own.indices(state)[:, 0], strict=True):
            cells = set(parse_pattern(pattern, FULL))
            weight = sum(weight for looked_at, weight in looks if set(looked_at) == cells)
            assert written.setdefault(int(index), weight) == pytest.approx(weight, abs=1e-9)
            own.weights[index] = weight
        assert own.value(state) == pytest.approx(shared.value(state), abs=1e-4)


def test_four_isomorphisms_are_the_rotations(game: Game) -> None:
    """A rotated board has the same value, a mirrored one has not."""
    network = Network(game, "0145,26", symmetry=4)
    network.weights[:] = np.random.default_rng(1).normal(size=network.weights.size)
    board = u64(game.parse("2 4 8 16 / 0 2 32 8 / 0 128 2 4 / 64 0 0 256").board)
    rotated = mirrored(int(transpose(board)))
    assert network.value(State(rotated)) == network.value(State(int(board)))
    assert network.value(State(mirrored(int(board)))) != network.value(State(int(board)))


def test_an_index_is_made_of_the_low_bits_first(game: Game) -> None:
    """One pattern, no isomorphisms: the index can be read off the board. Bit 0 of four tiles, bit 1 of four, ..."""
    network = Network(game, "0123", symmetry=1)
    assert int(network.indices(game.parse("2 4 8 16 " + "0 " * 12))[0, 0]) == 0b0000_1000_0110_0101
    network.weights[0b0000_1000_0110_0101] = 5.0
    assert network.tiles(0)[1, 2, 3, 4] == 5.0


def test_tiles_above_32768_look_like_32768(game: Game) -> None:
    network = Network(game, "0123", symmetry=1)
    assert int(network.indices(game.parse("65536 131072 32768 2 " + "0 " * 12))[0, 0]) == 0b0111_0111_0111_1111


@given(BOARDS)
@settings(max_examples=100)
def test_an_explanation_adds_up(random_network: Network, cells: list[int]) -> None:
    """Patterns and cells each add up to the value."""
    why = random_network.explain(as_state(cells))
    assert why.value == pytest.approx(random_network.value(as_state(cells)), abs=1e-9)
    assert sum(share.value for share in why.patterns) == pytest.approx(why.value, abs=1e-9)
    assert why.cells.sum() == pytest.approx(why.value, abs=1e-9)
    assert all(sum(share.weights) == pytest.approx(share.value) for share in why.patterns)


def test_an_explanation_names_the_cells_behind_each_weight(game: Game) -> None:
    """The cells of isomorph k hold the tiles that its weight is for."""
    network = Network(game, "0126", target="state")
    network.weights[:] = np.arange(network.weights.size)
    state = game.parse("2 4 8 16 / 32 64 128 256 / 512 1024 2048 4096 / 8192 16384 32768 0")
    exponents = game.cells(state)
    share = network.explain(state).patterns[0]
    for weight, looked_at in zip(share.weights, share.cells, strict=True):
        assert network.tiles(0)[tuple(exponents[cell] for cell in looked_at)] == weight
    assert len(set(share.cells)) == 8


def test_small_boards_have_their_own_symmetries() -> None:
    """2x3: both mirrors and the half turn give one value."""
    small = make("2048", size="2x3")
    network = Network(small, "012,14", symmetry=4)
    network.weights[:] = np.random.default_rng(5).normal(size=network.weights.size)
    boards = ["2 4 8 / 16 0 32", "8 4 2 / 32 0 16", "16 0 32 / 2 4 8", "32 0 16 / 8 4 2"]
    assert len({network.value(small.parse(text)) for text in boards}) == 1
    assert network.value(small.parse("4 2 8 / 16 0 32")) != network.value(small.parse(boards[0]))


# --- bad arguments and memory ------------------------------------------------------------------------------------------


def test_wrong_arguments(game: Game) -> None:
    with pytest.raises(InputError, match="8 or 4 or 1"):
        Network(game, "0123", symmetry=2)
    with pytest.raises(InputError, match="4 or 1"):
        Network(make("2048", size="2x3"), "012", symmetry=8)
    with pytest.raises(InputError, match="afterstate"):
        Network(game, "0123", target="action")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="65536 weights"):
        Network(game, "0123", weights=np.zeros(7, np.float32))


def test_weights_begin_at_a_huge_page() -> None:
    weights = allocate(1000)
    assert weights.ctypes.data % HUGE_PAGE == 0
    assert weights.shape == (1000,)
    assert not weights.any()


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the system tell what the test says of its memory: system(meminfo="...", limit="...", used="...")."""
    files = {"meminfo": "proc/meminfo", "limit": "sys/fs/cgroup/memory.max", "used": "sys/fs/cgroup/memory.current"}
    monkeypatch.setattr(sys.modules[free_memory.__module__], "Path", lambda name: tmp_path / name.lstrip("/"))

    def tell(**texts: str) -> None:
        for name, text in texts.items():
            path = tmp_path / files[name]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")

    return tell


def available(kib: int) -> str:
    return f"MemTotal:       99999999 kB\nMemFree:            1024 kB\nMemAvailable:   {kib} kB\nHugePages_Total:       0"


@pytest.mark.parametrize(
    ("texts", "free"),
    [
        ({"meminfo": available(4000)}, 4000 * 1024),
        ({"meminfo": available(4000), "limit": "max", "used": "77"}, 4000 * 1024),
        ({"meminfo": available(4000), "limit": "5000", "used": "1000"}, 4000),
        ({"meminfo": available(4000), "limit": str(2**40), "used": "1000"}, 4000 * 1024),
        ({"meminfo": available(4000), "limit": "5000", "used": "6000"}, 0),
        ({"meminfo": available(4000), "limit": "5000"}, 4000 * 1024),
        ({"meminfo": available(4000), "limit": "much", "used": "1"}, 4000 * 1024),
    ],
)
def test_free_memory_is_what_the_system_or_the_container_has_left(
    texts: dict[str, str], free: int, system: Callable[..., None]
) -> None:
    system(**texts)
    assert free_memory() == free


@pytest.mark.parametrize(
    "texts", [{}, {"meminfo": "MemFree: 1 kB"}, {"meminfo": "MemAvailable: much"}, {"meminfo": "?"}], ids=str
)
def test_without_a_word_on_free_memory_all_of_it_counts(texts: dict[str, str], system: Callable[..., None]) -> None:
    system(**texts)
    assert free_memory() == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    system(limit="5000", used="1000")
    assert free_memory() == 4000


def test_a_network_beyond_memory_is_refused_before_memory_is_taken(game: Game, system: Callable[..., None]) -> None:
    """4x8 needs 64 GiB of weights; 0123 needs 256 KiB."""
    assert 4 * count_weights(PRESETS["4x8"].names) == 64 * 2**30
    system(meminfo=available(2**26 - 1))
    with pytest.raises(ResourceError, match=r"needs 64\.0 GiB"):
        Network(game, "4x8")
    system(meminfo=available(255))
    with pytest.raises(ResourceError, match="choose fewer or smaller patterns"):
        Network(game, "0123")
    system(meminfo=available(256))
    assert Network(game, "0123").weights.size == 2**16
