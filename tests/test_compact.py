"""Compact models: small, nearly as strong, expanded once, and refused if anything is wrong with them."""

import json
import lzma
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file

import afterstate as af
from afterstate import cachefolder
from afterstate.cli.main import Exit
from afterstate.errors import InputError, ModelError, ResourceError
from afterstate.games.game import Game, make
from afterstate.learning.options import TrainOptions
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.trainer import train
from afterstate.network import expanded
from afterstate.network.compact import PART, ZERO, Packed, pack, round_off, unpack
from afterstate.network.compactfile import COMPACT, save_compact, usual_step
from afterstate.network.modelfile import load_model, open_model, read_training, save_model
from afterstate.network.network import Network
from afterstate.network.plainfile import model_header, table_names
from afterstate.network.tensorfile import write_tensors
from commandline import check, done, run

STEP = np.float32(0.5)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of each test's own; kernels stay where they are."""
    monkeypatch.setenv("AFTERSTATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cachefolder, "_told", set())
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two stages; the later one has written few weights."""
    options = TrainOptions(network="0123,4567", method="tc", games=1500, threads=1, block=500, stages="0,256", seed=4)
    return train(options, run=tmp_path_factory.mktemp("compact") / "run").folder


def effective(network: Network, number: int, stage: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The weights that a stage uses: its own, or those that stand in."""
    found = network.table(number, 0)
    for later in range(1, stage + 1):
        own = network.table(number, later)
        found = np.where(own != 0, own, found)
    return found


# --- tables ----------------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@example(1, PART + 256, True)
@given(st.integers(0, 2**32 - 1), st.sampled_from([16, 256, 1 << 12]), st.booleans())
def test_a_table_comes_back_rounded(seed: int, size: int, later: bool) -> None:
    random = np.random.default_rng(seed)
    weights = np.where(random.random(size) < 0.3, random.normal(0, 40, size), 0).astype(np.float32)
    before = None
    if later:
        before = np.where(random.random(size) < 0.6, np.where(random.random(size) < 0.5, weights, 7.25), 0).astype(np.float32)
    found = np.zeros(size, np.float32)
    unpack(pack(weights, before, STEP), found, before, STEP)
    assert (found == round_off(weights, before, STEP)).all()
    stand_in = np.zeros(size, np.float32) if before is None else before
    wanted, got = (np.where(each != 0, each, stand_in) for each in (weights, found))
    assert np.abs(wanted - got).max() <= 0.5 * STEP * (1 + 1e-5)
    assert not found[weights == 0].any(), "what was never written stays so"


def test_a_later_stage_that_falls_to_0_keeps_its_own_weight() -> None:
    weights, before = np.array([1e-9] * 16, np.float32), np.array([8.0] * 16, np.float32)
    found = np.zeros(16, np.float32)
    unpack(pack(weights, before, STEP), found, before, STEP)
    assert (found == ZERO).all()


def test_what_a_later_stage_has_not_changed_costs_nothing() -> None:
    weights = np.random.default_rng(1).normal(0, 40, 1 << 16).astype(np.float32)
    first = pack(weights, None, STEP)
    assert sum(part.size for part in first) > 50_000
    assert sum(part.size for part in pack(weights, round_off(weights, None, STEP), STEP)) < 200


@pytest.mark.parametrize("part", range(3))
def test_a_stream_that_is_too_short_or_too_long_is_refused(part: int) -> None:
    weights = np.random.default_rng(1).normal(0, 40, 4096).astype(np.float32)
    packed = list(pack(weights, None, STEP))
    for wrong in (packed[part][:-3], packed[part][:0], np.append(packed[part], np.zeros(3, np.uint8))):
        streams = [*packed[:part], wrong.astype(np.uint8), *packed[part + 1 :]]
        with pytest.raises(ValueError, match="a table"):
            unpack(Packed(*streams), np.zeros(4096, np.float32), None, STEP)


def test_a_stream_that_goes_on_for_ever_takes_no_memory() -> None:
    """100 MB of ones in 15 KB."""
    bomb = np.frombuffer(
        lzma.compress(b"\xff" * 100_000_000, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": 0}]), np.uint8
    )
    sound = pack(np.ones(4096, np.float32), None, STEP)
    tracemalloc.start()
    with pytest.raises(ValueError, match="a table"):
        unpack(Packed(bomb, sound.low, sound.high), np.zeros(4096, np.float32), None, STEP)
    assert tracemalloc.get_traced_memory()[1] < 30_000_000
    tracemalloc.stop()


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_compact_file_is_a_model(trained: Path, tmp_path: Path, cache: Path) -> None:
    whole = load_model(RunFolder(trained).model)
    told = json.loads(done("convert", trained, tmp_path / "small.afs", "--compact", "--json").out)
    small = load_model(tmp_path / "small.afs")
    assert (small.patterns, small.stages, small.training) == (whole.patterns, whole.stages, whole.training)
    assert read_training(tmp_path / "small.afs") == whole.training
    for number in range(2):
        for stage in range(2):
            assert np.abs(effective(small, number, stage) - effective(whole, number, stage)).max() <= told["step"] * 0.501
    assert told["bytes"] == (tmp_path / "small.afs").stat().st_size < 0.25 * RunFolder(trained).model.stat().st_size
    assert told["step"] == pytest.approx(usual_step(whole))
    assert load_file(tmp_path / "small.afs").keys() > {"0123.places", "4567@256.high"}, "any reader of safetensors can open it"
    again = load_model(tmp_path / "small.afs")
    assert (again.weights == small.weights).all()
    assert [path.name for path in cache.rglob("*.safetensors")] == ["model.safetensors"]
    with pytest.raises(ModelError, match="not for"):
        load_model(tmp_path / "small.afs", game=make("threes"))
    with open_model(tmp_path / "small.afs") as file, pytest.raises(ModelError, match="compact model, not a checkpoint"):
        file.read("coherence")


def test_commands_read_it(trained: Path, tmp_path: Path) -> None:
    small = tmp_path / "small.afs"
    done("convert", trained, small)
    board = "2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2"
    assert json.loads(done("move", small, board, "--json").out) == json.loads(done("move", small, board, "--json").out)
    assert "0123" in done("info", small).out
    assert json.loads(done("eval", small, "--games", "5", "--threads", "1", "--json").out)["games"] == 5
    done("convert", small, tmp_path / "plain.safetensors")
    assert (af.load(tmp_path / "plain.safetensors").weights == af.load(small).weights).all()
    started = af.train(from_=str(small), games=5, threads=1, run=tmp_path / "on")
    assert started.network.stages == (0, 256)


def test_it_plays_nearly_as_well(trained: Path, tmp_path: Path) -> None:
    """The same weights to 1/20 of their usual size. docs/notebook.md has the strength of larger networks."""
    network = load_model(RunFolder(trained).model)
    save_compact(network, tmp_path / "small.afs")
    small = load_model(tmp_path / "small.afs")
    before, after = (af.evaluate(af.Agent(each), games=400, seed=3, threads=2) for each in (network, small))
    assert after.mean > 0.93 * before.mean


def test_a_size_makes_the_step_larger(trained: Path, tmp_path: Path) -> None:
    network = load_model(RunFolder(trained).model)
    usual = save_compact(network, tmp_path / "usual.afs")
    limit = (tmp_path / "usual.afs").stat().st_size // 2
    assert save_compact(network, tmp_path / "half.afs", size=limit - 8192) > usual
    assert (tmp_path / "half.afs").stat().st_size <= limit
    with pytest.raises(InputError, match="does not fit into 100 bytes"):
        save_compact(network, tmp_path / "none.afs", size=100)
    for step in (0.0, -1.0, float("nan"), 1e-9, 1e12):
        with pytest.raises(InputError, match="a step is above"):
            save_compact(network, tmp_path / "none.afs", step=step)
    assert not (tmp_path / "none.afs").exists()
    check(run("convert", trained, tmp_path / "x.safetensors", "--step", "3"), Exit.INPUT, "only compact files")
    check(run("convert", trained, tmp_path / "x.w", "--compact", "--to", "tdl"), Exit.INPUT, "give one of them")


# --- what is wrong ---------------------------------------------------------------------------------------------------


@pytest.fixture
def small(game: Game, tmp_path: Path) -> Path:
    network = Network(game, "012,345", stages=(0, 64))
    random = np.random.default_rng(2)
    network.weights[:] = np.where(random.random(network.weights.size) < 0.3, random.normal(0, 50, network.weights.size), 0)
    save_compact(network, tmp_path / "small.afs")
    return tmp_path / "small.afs"


def test_a_file_that_is_cut_off_or_changed_is_refused(small: Path, cache: Path) -> None:
    data = small.read_bytes()
    for size in {0, 7, 8, 100, *np.linspace(0, len(data) - 1, 40).astype(int).tolist()}:
        small.write_bytes(data[:size])
        with pytest.raises(ModelError):
            load_model(small)
    for place in np.linspace(0, len(data) - 1, 60).astype(int):
        if data[place : place + 1] != b" ":  # between the header and the data
            small.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
            with pytest.raises(ModelError):
                load_model(small)
    assert not list(cache.rglob("*.safetensors")), "nothing of it is kept"


def rewrite(path: Path, **changed: str) -> None:
    """The same file with another header, whose checksum is right."""
    with open_model(path) as file:
        header = {key: text for key, text in file.header.items() if key not in ("sums", "check")} | changed
        tensors = {name: file._file.read(name) for name in file._file.tensors}
    write_tensors(path, header, tensors)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"sha256": "0" * 64}, "SHA-256"),
        ({"step": "nan"}, "step is 'nan'"),
        ({"step": "1e30"}, "step is '1e30'"),
        ({"step": "x"}, "could not convert"),
        ({"patterns": "012 345 678", "layout": "012 345 678"}, "lays its tables|does not hold the tables"),
        ({"stages": "0"}, "does not hold the tables"),
    ],
)
def test_a_header_that_lies_is_refused(small: Path, changed: dict[str, str], words: str) -> None:
    rewrite(small, **changed)
    with pytest.raises(ModelError, match=words):
        load_model(small)


def test_tables_larger_than_memory_are_refused_before_it_is_taken(game: Game, tmp_path: Path) -> None:
    """Four patterns of 8 cells: 64 GiB, in a file of a few KB."""
    size = 8 * 16**8
    patterns = [f"0123456{last:x}" for last in range(7, 15)]
    network = Network(game, patterns, weights=np.broadcast_to(np.float32(0), (size,)))
    header = model_header(network) | {"format": COMPACT, "step": "1.0", "sha256": "0" * 64}
    empty = {f"{name}.{section}": np.zeros(0, np.uint8) for name, *_ in table_names(network) for section in Packed._fields}
    write_tensors(tmp_path / "huge.afs", header, empty)
    with pytest.raises(ResourceError, match="needs 128"):
        load_model(tmp_path / "huge.afs")


# --- the cache -------------------------------------------------------------------------------------------------------


def test_a_broken_entry_is_made_again(small: Path, cache: Path, game: Game) -> None:
    weights = load_model(small).weights
    [entry] = cache.rglob("model.safetensors")
    assert entry.parent.stat().st_mode & 0o777 == 0o700
    sound = entry.read_bytes()
    other = Network(game, "012,345", stages=(0, 64))
    for spoil in (
        lambda: entry.write_bytes(sound[:-100]),
        lambda: entry.write_bytes(sound[:9000] + bytes([sound[9000] ^ 1]) + sound[9001:]),
        lambda: save_model(other, entry),
        lambda: entry.rename(entry.with_name(".model.safetensors.12345678.partial")),
    ):
        spoil()
        assert (load_model(small).weights == weights).all()
        assert entry.read_bytes() == sound
        assert len(list(entry.parent.iterdir())) == 1


def test_without_a_cache_it_works_and_says_so_once(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AFTERSTATE_CACHE", str(tmp_path / "file"))
    with caplog.at_level("WARNING", "afterstate"):
        first, second = load_model(small), load_model(small)
    assert (first.weights == second.weights).all()
    assert [record.getMessage().split(" (")[0] for record in caplog.records] == [
        f"the expanded model cannot be kept in {tmp_path / 'file'}"
    ]


def test_a_full_disk_does_no_harm(
    small: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any, **_more: Any) -> None:
        raise ResourceError("no room to write it")

    monkeypatch.setattr(expanded, "save_model", full)
    with caplog.at_level("WARNING", "afterstate"):
        assert load_model(small).weights.any()
    assert "no room to write it" in caplog.text
    assert not list(cache.rglob("*.safetensors"))


def test_a_folder_that_others_may_write_to_is_not_used(small: Path, cache: Path) -> None:
    load_model(small)
    [folder] = cache.glob("model-*")
    os.chmod(folder, 0o777)
    (folder / "model.safetensors").write_bytes(b"not ours")
    assert load_model(small).weights.any()
    assert (folder / "model.safetensors").read_bytes() == b"not ours"


def test_processes_that_start_together_expand_it_once(small: Path, cache: Path) -> None:
    """The one that waits reads what the other has written."""
    program = (
        "import sys, time; from afterstate.network import expanded, modelfile\n"
        "real = expanded.save_model\n"
        "def slow(*given, **more): print('wrote'); time.sleep(1); real(*given, **more)\n"
        "expanded.save_model = slow\n"
        "print(modelfile.load_model(sys.argv[1]).weights.sum())"
    )
    children = [subprocess.Popen([sys.executable, "-c", program, small], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [child.communicate(timeout=120)[0].split() for child in children]
    assert sorted(len(words) for words in said) == [1, 2]
    assert len({words[-1] for words in said}) == 1
