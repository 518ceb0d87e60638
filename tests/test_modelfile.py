"""Model files: exact, checked, written whole or not at all, and of no more use once they are read."""

import json
import os
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from afterstate.errors import FileError, ModelError, ResourceError
from afterstate.files import atomic_write
from afterstate.games.game import Game, make
from afterstate.network.modelfile import load_model, open_model, read_header, read_training, save_model
from afterstate.network.network import Network
from afterstate.network.plainfile import FORMAT
from afterstate.network.training import Training


@pytest.fixture
def network(game: Game) -> Network:
    """Two patterns, half of their weights not zero."""
    network = Network(game, "0123,01456", symmetry=4, target="state", training=Training(games=7))
    half = network.weights.size // 2
    network.weights[:half] = np.random.default_rng(2).normal(size=half)
    return network


def test_a_saved_network_loads_exactly(network: Network, tmp_path: Path) -> None:
    save_model(network, tmp_path / "model.safetensors")
    loaded = load_model(tmp_path / "model.safetensors")
    assert np.array_equal(loaded.weights.view(np.uint32), network.weights.view(np.uint32))
    assert (loaded.patterns, loaded.symmetry, loaded.target) == (network.patterns, network.symmetry, network.target)
    assert loaded.game is network.game
    assert loaded.training == Training(games=7)


def test_the_library_of_the_format_reads_it(network: Network, tmp_path: Path) -> None:
    """Any safetensors reader finds one tensor a pattern, in the order of the header's layout."""
    save_model(network, tmp_path / "model.safetensors")
    with safe_open(tmp_path / "model.safetensors", framework="numpy") as file:
        assert set(file.keys()) == {"0123", "01456"}
        assert np.array_equal(file.get_tensor("01456"), network.table(1))
        assert file.metadata()["layout"] == " ".join("".join(f"{c:x}" for c in cells) for cells in network.layout)


def test_zeros_take_no_room_on_the_disk(game: Game, tmp_path: Path) -> None:
    """A fresh network is a file of holes."""
    save_model(Network(game, "01456,012345"), tmp_path / "model.safetensors")
    status = os.stat(tmp_path / "model.safetensors")
    assert status.st_size > 4 * 16**6
    assert status.st_blocks * 512 < status.st_size / 10
    assert not load_model(tmp_path / "model.safetensors").weights.any()


def test_more_tensors_beside_the_tables(network: Network, tmp_path: Path) -> None:
    save_model(
        network, tmp_path / "last.safetensors", more={"block.scores": np.arange(3), "block.largest": np.zeros(0, np.uint8)}
    )
    with open_model(tmp_path / "last.safetensors") as file:
        assert file.read("block.scores").tolist() == [0, 1, 2]
        assert file.read("block.largest").size == 0
        with pytest.raises(ModelError, match=r"block.scores must have the shape"):
            file.read_into("block.scores", np.zeros(4, np.int64))
    assert np.array_equal(load_model(tmp_path / "last.safetensors").weights, network.weights)
    save_model(network, tmp_path / "model.safetensors")
    with open_model(tmp_path / "model.safetensors") as file, pytest.raises(ModelError, match="not a checkpoint"):
        file.read("block.scores")


# --- broken and foreign files --------------------------------------------------------------------------------------------


def rewrite(path: Path, **changes: Any) -> None:
    """Change the metadata of a model file and leave its data as they are; the format is the one without checksums."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    for key, value in ({"format": "afterstate-model-1", "sums": None, "check": None} | changes).items():
        if value is None:
            del header["__metadata__"][key]
        else:
            header["__metadata__"][key] = value
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + raw[8 + length :])


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"format": "other"}, "its format is 'other'"),
        ({"layout": None}, "lacks layout"),
        ({"game": "chess"}, "no game is called"),
        ({"rules": "mine"}, "no rule set"),
        ({"size": "9x9"}, "rows and columns"),
        ({"patterns": "0123"}, "lays its tables out"),
        ({"patterns": "0123 01457"}, "lays its tables out"),
        ({"patterns": "0011 01456"}, "more than once"),
        ({"patterns": ""}, "at least one pattern"),
        ({"symmetry": "5"}, "isomorphisms"),
        ({"symmetry": "many"}, "cannot read"),
        ({"target": "dreams"}, "dreams"),
        ({"training": "{"}, "cannot read"),
        ({"layout": "0123 01456"}, "lays its tables out"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(network: Network, tmp_path: Path, changes: dict[str, Any], word: str) -> None:
    path = tmp_path / "model.safetensors"
    save_model(network, path)
    rewrite(path, **changes)
    with pytest.raises(ModelError, match=word):
        load_model(path)


def test_broken_files_are_refused(network: Network, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_model(network, path)
    whole = path.read_bytes()
    for broken in (b"", b"short", whole[: len(whole) // 2], os.urandom(5000), b"\xff" * 5000, whole + b"more"):
        path.write_bytes(broken)
        with pytest.raises(ModelError, match="not a model file, or is incomplete"):
            load_model(path)


def test_a_foreign_safetensors_file_is_refused(tmp_path: Path) -> None:
    save_file({"layer": np.zeros(5, np.float32)}, tmp_path / "foreign.safetensors")
    with pytest.raises(ModelError, match="not a model of this program"):
        load_model(tmp_path / "foreign.safetensors")


def test_missing_and_misshapen_tables_are_refused(network: Network, tmp_path: Path) -> None:
    save_model(network, tmp_path / "model.safetensors")
    assert read_header(tmp_path / "model.safetensors")["format"] == FORMAT
    rewrite(tmp_path / "model.safetensors")
    metadata = read_header(tmp_path / "model.safetensors")
    full = {"0123": np.zeros(16**4, np.float32), "01456": np.zeros(16**5, np.float32)}
    for tensors in (
        {"0123": full["0123"]},
        full | {"01456": np.zeros(5, np.float32)},
        full | {"01456": np.zeros(16**5, np.float64)},
    ):
        save_file(tensors, tmp_path / "odd.safetensors", metadata=metadata)
        with pytest.raises(ModelError, match=r"no table of|one after the other"):
            load_model(tmp_path / "odd.safetensors")


def test_a_model_of_another_game_is_refused(network: Network, tmp_path: Path) -> None:
    save_model(network, tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match=r"is a model for .*4x4.*, not for .*3x3"):
        load_model(tmp_path / "model.safetensors", game=make("2048", size="3x3"))


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no file"):
        load_model(tmp_path / "nothing.safetensors")
    with pytest.raises(FileError):
        load_model(tmp_path)


# --- whole or not at all -------------------------------------------------------------------------------------------------


def test_a_write_that_fails_leaves_what_was_there(network: Network, tmp_path: Path) -> None:
    """A real failure: the system refuses files above a size, as it does on a full disk."""
    path = tmp_path / "model.safetensors"
    save_model(network, path)
    before = path.read_bytes()
    network.weights[:] = 3.0
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(ResourceError, match=r"no room to write .* untouched"):
            save_model(network, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.safetensors"]


def test_an_exception_while_writing_leaves_no_trace(tmp_path: Path) -> None:
    def write() -> None:
        with atomic_write(tmp_path / "file") as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write()
    assert os.listdir(tmp_path) == []


def test_a_place_that_cannot_be_written(network: Network, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot write"):
        save_model(network, tmp_path / "file" / "model.safetensors")


@pytest.mark.parametrize("seconds", [float("nan"), float("inf")])
def test_a_training_that_is_no_number_is_refused(seconds: float, game: Game, tmp_path: Path) -> None:
    network = Network(game, "0123")
    network.training = Training(seconds=seconds)
    save_model(network, tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match="nan or infinite"):
        load_model(tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match="nan or infinite"):
        read_training(tmp_path / "model.safetensors")
