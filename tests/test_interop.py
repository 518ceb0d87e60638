"""Weight files of other programs: exact both ways, and the same values as a slow look-up that shares no code."""

import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from afterstate.bitboard import pack
from afterstate.cli.main import Exit
from afterstate.errors import InputError, ModelError
from afterstate.games.game import Afterstate, Game, make
from afterstate.learning.exchange import convert
from afterstate.network.interop.foreign import FORMATS, Kind, find_foreign, save_foreign
from afterstate.network.interop.reading import Reading
from afterstate.network.modelfile import load_model, open_model, save_model
from afterstate.network.network import Network
from afterstate.web.library import Library
from commandline import BOARD, check, done, run
from otherweights import (
    Tables,
    course_file,
    demo_file,
    isomorphs,
    make_tables,
    tdl_file,
    tdl_name,
    tdl_simple,
    tdl_table,
    value,
)

# an edge, a corner, the centre with all its isomorphs, cells in no order, and a pattern that is not symmetric
PATTERNS = ("0123", "0145", "569a", "e1f", "012")
FILES = {"course": course_file, "demo": demo_file, "tdl": tdl_simple}
BOARDS = [[generator.randrange(12) for _ in range(16)] for generator in [random.Random(5)] for _ in range(40)]


@pytest.fixture(scope="module")
def tables() -> Tables:
    return make_tables(PATTERNS)


def read_as(kind: str, path: Path) -> str:
    """A file as a model: the course's format needs the patterns."""
    return f"{path}:network={','.join(PATTERNS)}" if kind == "course" else str(path)


def values(network: Network) -> list[float]:
    return [network.value(Afterstate(pack(cells, network.game.shape), 0, 0)) for cells in BOARDS]


def bits(network: Network) -> bytes:
    return network.weights.tobytes()


# --- exact ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FORMATS)
def test_another_programs_file_has_the_values_of_that_program(kind: Kind, tables: Tables, tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(FILES[kind](tables))
    network = load_model(read_as(kind, path))
    assert network.patterns == PATTERNS
    assert values(network) == [value(tables, cells) for cells in BOARDS]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_is_written_as_that_program_does(kind: Kind, tables: Tables, tmp_path: Path) -> None:
    path, again = tmp_path / "weights", tmp_path / "again"
    path.write_bytes(FILES[kind](tables))
    save_foreign(load_model(read_as(kind, path)), again, kind)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("kind", FORMATS)
def test_our_weights_come_back_bit_by_bit(kind: Kind, game: Game, tmp_path: Path) -> None:
    """A large table, which is read in several parts; -0 and the smallest numbers too."""
    network = Network(game, "45678,32107")
    network.weights[:] = np.random.default_rng(3).normal(size=network.weights.size)
    network.weights[:4] = (-0.0, 1e-45, 3e38, -1e-39)
    save_foreign(network, tmp_path / "file", kind)
    name = f"{tmp_path / 'file'}:network=45678,32107" if kind == "course" else tmp_path / "file"
    assert bits(load_model(name)) == bits(network)


def test_without_isomorphisms(tables: Tables, tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(course_file(tables))
    network = load_model(f"{read_as('course', path)}:symmetry=1")
    assert values(network) == [value(tables, cells, every=False) for cells in BOARDS]
    save_foreign(network, tmp_path / "again.bin", "course")
    assert (tmp_path / "again.bin").read_bytes() == path.read_bytes()


def test_the_course_of_2017_counted_with_more_bits(tables: Tables, tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(course_file(tables, count="Q"))
    (tmp_path / "new").write_bytes(course_file(tables))
    assert bits(load_model(read_as("course", tmp_path / "old"))) == bits(load_model(read_as("course", tmp_path / "new")))


def test_the_only_preset_that_fits_needs_no_name(tmp_path: Path) -> None:
    tables = make_tables(["0123", "4567"])
    (tmp_path / "weights.bin").write_bytes(course_file(tables))
    assert load_model(tmp_path / "weights.bin").patterns == ("0123", "4567")


@pytest.mark.parametrize("code", ["e", "f", "d"])
def test_numbers_of_other_sizes(code: str, tables: Tables, tmp_path: Path) -> None:
    """The weights of these tests fit into half a float."""
    (tmp_path / "a.w").write_bytes(tdl_file(*(tdl_table(tdl_name(name), (code, held)) for name, held in tables.items())))
    assert values(load_model(tmp_path / "a.w")) == [value(tables, cells) for cells in BOARDS]


def test_other_spellings_of_names_and_files_in_a_row(tables: Tables, tmp_path: Path) -> None:
    """Letters instead of numbers, no count of digits, fields that nobody knows, and a second file behind the first."""
    names = {"0123": b"0123    ", "0145": struct.pack("<IHH", 0x145, 0, 0), "e1f": b"E1F     "}
    parts = [tdl_table(names.get(name, tdl_name(name)), ("f", held), ("H", [1, 2, 3])) for name, held in tables.items()]
    (tmp_path / "a.w").write_bytes(tdl_file(*parts[:2]) + tdl_file(*parts[2:]))
    network = load_model(tmp_path / "a.w")
    assert network.patterns == PATTERNS
    assert values(network) == [value(tables, cells) for cells in BOARDS]


# --- stages and TC -------------------------------------------------------------------------------------------------------


def staged(small: Tables, large: Tables) -> bytes:
    """Two stages, as TDL2048+ has them."""
    return tdl_file(
        *(tdl_table(tdl_name(name), ("f", held)) for name, held in small.items()),
        *(tdl_table(tdl_name(name, 1), ("f", held)) for name, held in large.items()),
    )


def test_stages(tables: Tables, tmp_path: Path) -> None:
    """A weight of 0 in the later stage is 0 there, not that of the stage before, and one that is equal stays equal."""
    later = make_tables(PATTERNS, seed=2)
    for name, held in later.items():
        held[::2] = [0.0] * len(held[::2])
        held[1::4] = tables[name][1::4]
    path = tmp_path / "a.w"
    path.write_bytes(staged(tables, later))
    network = load_model(f"{path}:stages=0,512")
    assert network.stages == (0, 512)
    assert values(network) == [value(later if max(cells) >= 9 else tables, cells) for cells in BOARDS]
    save_foreign(network, tmp_path / "again.w", "tdl")
    assert (tmp_path / "again.w").read_bytes() == path.read_bytes()


def test_weights_that_a_stage_never_wrote_are_written_as_what_they_count(game: Game, tmp_path: Path) -> None:
    network = Network(game, PATTERNS, stages=(0, 64, 512))
    network.weights[:] = np.random.default_rng(4).integers(-9, 9, network.weights.size) / 8  # a ninth is 0
    save_foreign(network, tmp_path / "a.w", "tdl")
    loaded = load_model(f"{tmp_path / 'a.w'}:stages=0,64,512")
    assert values(loaded) == values(network)
    one = find_foreign(tmp_path / "a.w", Reading(stages="0,64,512"))
    assert one is not None
    assert {(table.pattern, table.stage) for table in one.tables} == {(name, stage) for name in PATTERNS for stage in range(3)}


def test_tc_is_kept(tables: Tables, tmp_path: Path) -> None:
    """E and A go to our checkpoints and back, each beside its weight."""
    kept = {name: make_tables([name], seed=9)[name] + [abs(each) for each in held] for name, held in tables.items()}
    path = tmp_path / "a.w"
    path.write_bytes(tdl_file(*(tdl_table(tdl_name(name), ("f", tables[name]), ("f", kept[name])) for name in PATTERNS)))
    made = convert(path, tmp_path / "a.safetensors")
    assert made.coherence
    with open_model(tmp_path / "a.safetensors") as file:
        coherence = file.read("coherence").reshape(-1, 2)
    network = load_model(tmp_path / "a.safetensors")
    first = network.indices(Afterstate(pack(BOARDS[0], network.game.shape), 0, 0))[0]  # of 0123 and its isomorphs
    theirs = [sum(board[cell] << 4 * cell for cell in range(4)) for board in isomorphs(BOARDS[0])]
    beside = sorted((kept["0123"][index], kept["0123"][16**4 + index]) for index in theirs)
    assert sorted(map(tuple, coherence[first].tolist())) == beside
    convert(tmp_path / "a.safetensors", tmp_path / "b.w")
    assert (tmp_path / "b.w").read_bytes() == path.read_bytes()
    assert convert(tmp_path / "a.safetensors", tmp_path / "b.bin").dropped


def test_a_checkpoint_of_a_run_with_tc(tmp_path: Path) -> None:
    options = ("--network", "0123,4567", "--threads", "1", "--games", "60", "--block", "30", "--method", "tc", "--keep")
    done("train", "2048", *options, "--run", tmp_path / "run")
    last = tmp_path / "run" / "checkpoints" / "last.safetensors"
    assert convert(last, tmp_path / "a.w").coherence
    convert(tmp_path / "a.w", tmp_path / "a.safetensors")
    with open_model(last) as one, open_model(tmp_path / "a.safetensors") as other:
        pairs = [(one.read(name), other.read(name)) for name in ("0123", "4567", "coherence")]
    for ours, back in pairs:
        assert ours.any()
        assert ours.tobytes() == back.tobytes()


# --- a table in the order of its cells -----------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["0123", "3210", "cdef", "048c", "c084", 0])
def test_a_table_is_set_in_the_order_of_its_cells(pattern: str | int, game: Game) -> None:
    network = Network(game, "0123,569a")
    given = np.random.default_rng(1).integers(-99, 99, (16,) * 4).astype(np.float32)
    network.set_table(pattern, given)
    assert np.array_equal(network.tiles(pattern), given)
    if isinstance(pattern, str):
        tables = {pattern: given.transpose().reshape(-1).tolist()}
        assert values(network) == [value(tables, cells) for cells in BOARDS]


def test_a_table_of_a_stage_and_a_context() -> None:
    network = Network(make("threes", rules="tcg2022"), "012", stages=(0, 48), context="hint")
    given = np.arange(16**3, dtype=np.float64).reshape(16, 16, 16)
    network.set_table("012", given, stage=1, context=2)
    assert np.array_equal(network.tiles("012", 1, 2), given)
    assert np.count_nonzero(network.weights) == 16**3 - 1


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (np.zeros((16, 16), np.float32), "shape"),
        (np.zeros(256, np.float32), "shape"),
        (np.zeros((16, 16, 16), np.int64), "floats"),
        (np.full((16, 16, 16), np.nan, np.float32), "nan"),
        (np.full((16, 16, 16), np.inf), "infinite"),
        (np.full((16, 16, 16), 1e300), "too large"),
        ([[0.0]], "list"),
    ],
)
def test_what_is_no_table_is_refused(given: Any, word: str, game: Game) -> None:
    network = Network(game, "012")
    with pytest.raises(InputError, match=word):
        network.set_table("012", given)
    assert not network.weights.any()


def test_a_table_that_is_not_there(game: Game) -> None:
    network, table = Network(game, "012"), np.zeros((16,) * 3, np.float32)
    for wrong in ("0123", "569", "01x", 1, -1):
        with pytest.raises(InputError):
            network.set_table(wrong, table)
    for place in ({"stage": 1}, {"context": 1}, {"stage": -1}):
        with pytest.raises(InputError):
            network.set_table("012", table, **place)


# --- as a model of every command, and converted --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "weights.bin"
    path.write_bytes(course_file(make_tables(["0123", "0145", "569a"], seed=7)))
    return path


def test_every_command_takes_such_a_file(weights: Path, tmp_path: Path) -> None:
    model = f"{weights}:network=0123,0145,569a"
    found = done("move", model, BOARD, "--json").json
    assert set(found["values"]) == {"up", "right", "down", "left"}
    assert done("eval", model, "--games", "3", "--threads", "1", "--json").json["games"] == 3
    assert done("info", model, "--json").json["patterns"] == ["0123", "0145", "569a"]
    options = ("--threads", "1", "--games", "10", "--run", tmp_path / "run")
    assert "weights of" in done("train", "--from", model, *options).out
    (listed,) = Library(tmp_path / "none", [Path(model)]).models().models
    assert (listed.game, listed.name) == ("2048", "weights")
    assert Library(tmp_path / "none", [Path(model)]).network(listed.id).patterns == ("0123", "0145", "569a")


def test_convert_says_what_it_did(weights: Path, tmp_path: Path) -> None:
    told = ("--network", "0123,0145,569a")
    first = done("convert", weights, tmp_path / "a.safetensors", *told)
    assert "course's framework" in first.out
    second = done("convert", tmp_path / "a.safetensors", tmp_path / "b.bin").out
    assert "--network 0123,0145,569a" in second
    assert (tmp_path / "b.bin").read_bytes() == weights.read_bytes()
    found = done("convert", tmp_path / "a.safetensors", tmp_path / "demo.bin", "--to", "demo", "--json").json
    assert found["to_read_it_give"] == {}
    done("convert", tmp_path / "demo.bin", tmp_path / "a.w")
    assert bits(load_model(tmp_path / "a.w")) == bits(load_model(tmp_path / "a.safetensors"))


def test_convert_replaces_nothing_unless_told(weights: Path, tmp_path: Path) -> None:
    (tmp_path / "a.w").write_text("mine")
    told = ("--network", "0123,0145,569a")
    check(run("convert", weights, tmp_path / "a.w", *told), Exit.FILE, "exists", "--force")
    assert (tmp_path / "a.w").read_text() == "mine"
    done("convert", weights, tmp_path / "a.w", *told, "--force")
    check(run("convert", tmp_path / "a.w", tmp_path / "a.w", "--force"), Exit.INPUT, "choose another name")
    check(run("convert", weights, tmp_path / "a.txt", *told), Exit.INPUT, "--to")
    check(run("convert", weights, tmp_path / "a", *told, "--to", "keras"), Exit.INPUT, "keras")
    check(run("convert", tmp_path / "no.bin", tmp_path / "b.w"), Exit.FILE, "no.bin")
    check(run("convert", weights, tmp_path / "b.w"), Exit.MODEL, "--network")


def test_threes_in_the_courses_format(tmp_path: Path) -> None:
    """The game, the rules and the target are not in the file: who reads it says so."""
    game = make("threes", rules="tcg2018")
    network = Network(game, "4x5", context="", target="state")
    network.weights[:1000] = range(1000)
    save_model(network, tmp_path / "a.safetensors")
    made = convert(tmp_path / "a.safetensors", tmp_path / "a.bin")
    assert made.reading == Reading(network="4x5", game="threes", rules="tcg2018", target="state")
    again = find_foreign(tmp_path / "a.bin", made.reading)
    assert again is not None
    loaded = again.load()
    assert (loaded.game, loaded.target, bits(loaded)) == (game, "state", bits(network))
    for kind in ("demo", "tdl"):
        with pytest.raises(InputError, match="it is for 2048"):
            convert(tmp_path / "a.safetensors", tmp_path / "b", to=kind)
    with pytest.raises(ModelError, match=r"is a model for .*threes"):
        again.load(make("2048"))


@pytest.mark.parametrize(
    ("options", "kind", "word"),
    [
        ({"symmetry": 4}, "tdl", "8 isomorphisms"),
        ({"target": "state"}, "demo", "afterstates"),
        ({"stages": (0, 64)}, "demo", "stages"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(
    options: dict[str, Any], kind: str, word: str, game: Game, tmp_path: Path
) -> None:
    save_model(Network(game, "01", **options), tmp_path / "a.safetensors")
    with pytest.raises(InputError, match=word):
        convert(tmp_path / "a.safetensors", tmp_path / "b", to=kind)
    assert not (tmp_path / "b").exists()


def test_a_network_that_sees_more_than_tiles_stays_ours(tmp_path: Path) -> None:
    save_model(Network(make("threes"), "01", context="hint"), tmp_path / "a.safetensors")
    with pytest.raises(InputError, match="more than the tiles"):
        convert(tmp_path / "a.safetensors", tmp_path / "b.bin")
