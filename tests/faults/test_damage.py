"""Wrong data is noticed: a flipped byte anywhere in a checkpoint, nan, and a config that is not the checkpoint's."""

import random
import re
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest

from afterstate.errors import AfterstateError, DivergedError, FileError, ModelError
from afterstate.games.game import Game
from afterstate.learning.options import TrainOptions
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.trainer import resume, train
from afterstate.network.modelfile import load_model, save_model
from afterstate.network.network import Network
from afterstate.network.tensorfile import PIECE, open_tensors, write_tensors
from commandline import contents

OPTIONS = TrainOptions(
    network="012,345", method="tc", games=60, block=25, threads=1, starts="carousel", stages="0,64", keep=True
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with all that a checkpoint can hold: TC, stages, a carousel, and a block that is not finished."""
    return train(OPTIONS, run=tmp_path_factory.mktemp("runs") / "tiny").folder


def test_every_flipped_byte_of_a_checkpoint_is_noticed(tiny: Path, tmp_path: Path) -> None:
    """In its header, the spaces behind that, its tables, what TC keeps, the block and the carousel: some 150 places."""
    run = RunFolder(shutil.copytree(tiny, tmp_path / "run"))
    whole = run.last.read_bytes()
    length = 8 + int.from_bytes(whole[:8], "little")
    chance = random.Random(1)
    places = chance.sample(range(length), 60) + chance.sample(range(length, len(whole)), 60)
    places += [0, 7, 8, length - 1, length, len(whole) - 1]
    with open_tensors(run.last) as file:
        places += [tensor.start for tensor in file.tensors.values() if tensor.size]
    before = contents(run.path)
    for place in places:
        run.last.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << chance.randrange(8)]) + whole[place + 1 :])
        with pytest.raises(FileError, match=re.escape(str(run.path))):
            resume(run.path)
    run.last.write_bytes(whole)
    assert contents(run.path) == before
    assert resume(run.path, {"games": 70}).games == 70


def test_a_checksum_can_be_verified_by_hand(tmp_path: Path) -> None:
    """As the format is described, without the code that writes it."""
    import json
    import zlib

    data = np.arange(3 * PIECE // 8 + 5, dtype=np.uint64)
    write_tensors(tmp_path / "file", {"format": "x"}, {"data": data, "none": np.zeros(PIECE, np.uint8)})
    raw = (tmp_path / "file").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    metadata = json.loads(raw[8 : 8 + length])["__metadata__"]
    covered, _, rest = raw[: 8 + length].rpartition(metadata["check"].encode())
    assert re.fullmatch(rb'"}} *', rest)
    assert metadata["check"] == f"{zlib.crc32(covered):08x}"
    sums = []
    for tensor in (data.tobytes(), bytes(PIECE)):
        pieces = [zlib.crc32(tensor[start : start + PIECE]) for start in range(0, len(tensor), PIECE)]
        sums.append(f"{zlib.crc32(struct.pack(f'<{len(pieces)}I', *pieces)):08x}")
    assert metadata["sums"] == " ".join(sums)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_neither_written_nor_read(wrong: float, game: Game, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    network = Network(game, "0123,4567")
    network.weights[70_000] = 12.5
    save_model(network, path)
    whole = path.read_bytes()
    network.weights[70_000] = wrong
    with pytest.raises(DivergedError, match=r"4567 has numbers that are nan or infinite, so .* was not written"):
        save_model(network, path)
    assert path.read_bytes() == whole
    path.write_bytes(_without_checks(whole).replace(struct.pack("<f", 12.5), struct.pack("<f", wrong)))
    with pytest.raises(ModelError, match="4567 has numbers that are nan or infinite"):
        load_model(path)


def test_the_format_without_checksums_is_still_read(tiny: Path, tmp_path: Path) -> None:
    """Runs that an earlier version has begun go on."""
    run = RunFolder(shutil.copytree(tiny, tmp_path / "run"))
    run.last.write_bytes(_without_checks(run.last.read_bytes()))
    ended = resume(run.path, {"games": 100})
    whole = train(TrainOptions(**(vars(OPTIONS) | {"games": 100})), run=tmp_path / "whole")
    assert np.array_equal(ended.last.weights, whole.last.weights)
    with open_tensors(run.last) as file:
        assert file.metadata["format"] == "afterstate-model-2"


def _without_checks(whole: bytes) -> bytes:
    """A model file as the format afterstate-model-1 has it. The header keeps its length."""
    length = int.from_bytes(whole[:8], "little")
    text = re.sub(rb', "sums": "[^"]*", "check": "[^"]*"', b"", whole[8 : 8 + length])
    return whole[:8] + text.replace(b"afterstate-model-2", b"afterstate-model-1").ljust(length) + whole[8 + length :]


def test_checks_cannot_be_lost_by_accident(tiny: Path, tmp_path: Path) -> None:
    """A header that calls itself one without checksums, but has them, is verified; one that should have them must."""
    whole = RunFolder(tiny).last.read_bytes()
    for before, after in ((b"model-2", b"model-1"), (b'"check"', b'"chuck"'), (b'"sums"', b'"sumo"')):
        (tmp_path / "model").write_bytes(whole.replace(before, after, 1))
        with pytest.raises(ModelError):
            load_model(tmp_path / "model")


# --- config.toml -----------------------------------------------------------------------------------------------------


def test_a_config_that_is_cut_off_is_noticed(tiny: Path, tmp_path: Path) -> None:
    """Wherever it ends: it is refused, or it has every option that it had, and the comments are all that is lost."""
    run = RunFolder(shutil.copytree(tiny, tmp_path / "run"))
    whole, options = run.config.read_bytes(), run.read_config()
    last = whole.rindex(b"# recipe =")
    for end in (*range(0, last + len(b"# recipe ="), 97), last - 1, last, last + 5):
        run.config.write_bytes(whole[:end])
        with pytest.raises(FileError, match=r"config\.toml"):
            run.read_config()
    for end in range(last + len(b"# recipe ="), len(whole), 13):
        run.config.write_bytes(whole[:end])
        assert run.read_config() == options


FIXED = {
    "method": '"td"', "lambda": "0.5", "steps": "2", "order": '"backward"', "horizon": "4", "alpha": "0.5", "optimistic": "10",
    "seed": "2", "block": "30", "starts": '"fresh"', "stages": '"0,128"', "symmetry": "4", "network": '"012,456"',
    "target": '"state"', "schedule": '"30:0.5"', "best": '"win"', "eval_every": "10", "eval_games": "5", "size": '"3x3"',
}  # fmt: skip


@pytest.mark.parametrize(("key", "value"), FIXED.items())
def test_a_config_must_be_the_checkpoints(key: str, value: str, tiny: Path, tmp_path: Path) -> None:
    run = RunFolder(shutil.copytree(tiny, tmp_path / "run"))
    text = run.config.read_text()
    changed = re.sub(rf"^(# )?{key} =.*$", f"{key} = {value}", text, flags=re.MULTILINE)
    assert changed != text
    run.config.write_text(changed)
    before = contents(run.path)
    with pytest.raises(AfterstateError, match=key if key != "size" else "3x3"):
        resume(run.path, {"games": 100})
    assert contents(run.path) == before


def test_what_a_resume_may_change_may_differ(tiny: Path, tmp_path: Path) -> None:
    run = RunFolder(shutil.copytree(tiny, tmp_path / "run"))
    changes = {"games": 80, "threads": 2, "save_every": 5.0}
    run.write_config(TrainOptions(**(vars(run.read_config()) | changes)))
    assert resume(run.path).games == 80
