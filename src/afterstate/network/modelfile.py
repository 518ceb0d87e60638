"""Model files: safetensors with everything needed to use them in the header.

Each pattern is a tensor of 16**cells float32 in each context and stage, named by the pattern, the context (from 1) and the
first tile of later stages: 012345, 012345+1, 012345@16384, 012345+1@16384. `layout` in the header gives the n cells that index
it: bit k of the tile in the i-th of them is bit k * n + i of the index. The tables lie one after the other from a page
boundary, so loading is a memory map. Pages that hold only zeros become holes in the file. Files are written under a temporary
name, then renamed in one step. Weight files of other programs are read, too, see `interop`.
"""

import json
import os
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from afterstate.errors import AfterstateError, FileError, ModelError
from afterstate.files import atomic_write, is_file, is_finite, parse_json
from afterstate.games.game import Game, make
from afterstate.memory import allocate
from afterstate.network.interop.foreign import find_foreign
from afterstate.network.network import Network, count_weights
from afterstate.network.training import Training

FORMAT = "afterstate-model-1"
PAGE = 4096
CHUNK = 1 << 18  # weights in one write
_TYPES = {"float32": "F32", "int64": "I64", "uint64": "U64", "uint8": "U8"}
_REQUIRED = ("format", "game", "rules", "size", "patterns", "layout", "symmetry", "stages", "context", "target", "training")


def save_model(network: Network, path: Path | str, *, more: Mapping[str, NDArray[Any]] | None = None) -> None:
    """Write a network, and `more` tensors that only training needs."""
    path = Path(path)
    tensors = {name: network.table(number, stage, context) for name, number, stage, context in _tables(network)} | dict(
        more or {}
    )
    header: dict[str, Any] = {
        "__metadata__": {
            "format": FORMAT,
            "game": network.game.name,
            "rules": network.game.rules,
            "size": str(network.game.shape),
            "patterns": " ".join(network.patterns),
            "layout": " ".join("".join(f"{cell:x}" for cell in cells) for cells in network.layout),
            "symmetry": str(network.symmetry),
            "stages": " ".join(str(face) for face in network.stages),
            "context": network.context,
            "target": network.target,
            "training": json.dumps(network.training.as_dict()),
        }
    }
    end = 0
    for name, tensor in tensors.items():
        header[name] = {
            "dtype": _TYPES[str(tensor.dtype)],
            "shape": list(tensor.shape),
            "data_offsets": [end, end + tensor.nbytes],
        }
        end += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % PAGE)
    with atomic_write(path) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            flat = tensor.reshape(-1)
            for start in range(0, flat.size, CHUNK):
                part = flat[start : start + CHUNK]
                if part.any():
                    file.write(np.ascontiguousarray(part).view(np.uint8).data)
                else:
                    file.seek(part.nbytes, os.SEEK_CUR)
        file.truncate(8 + len(text) + end)


def read_header(path: Path | str) -> dict[str, Any]:
    """A model file's header, checked: metadata at the top level, `tensors` and `start` (of the data) beside it."""
    path = Path(path)
    if (foreign := find_foreign(path)) is not None:
        return foreign.header
    if not is_file(path):
        raise FileError(f"there is no file {path}")
    try:
        with safe_open(str(path), framework="numpy") as file:  # checks lengths, offsets and types
            metadata = dict(file.metadata() or {})
        with open(path, "rb") as raw:
            length = int.from_bytes(raw.read(8), "little")
            tensors = parse_json(raw.read(length))
    except SafetensorError as error:
        raise ModelError(f"{path} is not a model file, or is incomplete: {error}") from error
    except (OSError, ValueError) as error:
        raise FileError(f"cannot read {path}: {error}") from error
    tensors.pop("__metadata__", None)
    missing = [key for key in _REQUIRED if key not in metadata]
    if metadata.get("format") != FORMAT or missing:
        reason = (
            f"its header lacks {', '.join(missing)}" if missing else f"its format is {metadata['format']!r}, not {FORMAT!r}"
        )
        raise ModelError(f"{path} is not a model of this program: {reason}")
    return metadata | {"tensors": tensors, "start": 8 + length}


def _read_training(header: dict[str, Any]) -> Training:
    training = parse_json(header["training"])
    if not is_finite(training):
        raise ValueError("its training has numbers that are nan or infinite")
    return Training.read(training)


def read_training(path: Path | str) -> Training:
    """How a model was trained; reads only its header."""
    try:
        return _read_training(read_header(path))
    except ValueError as error:
        raise ModelError(f"{path} cannot be used: {error}") from error


def load_model(path: Path | str, *, game: Game | None = None, mapped: bool = True) -> Network:
    """Load a network. If `mapped`, pages are read from the file on first use, and changes are never written back."""
    path = Path(path)
    if (foreign := find_foreign(path)) is not None:
        return foreign.load(game=game)
    header = read_header(path)
    try:
        own = make(header["game"], rules=header["rules"], size=header["size"])
        patterns = header["patterns"].split()
        symmetry = int(header["symmetry"])
        stages = [int(face) for face in header["stages"].split()]
        training = _read_training(header)
        empty = Network(
            own,
            patterns,
            symmetry=symmetry,
            target=header["target"],
            stages=stages,
            context=header["context"],
            weights=_placeholder(patterns, len(stages) * own.sight(header["context"])[1]),
            training=training,
        )
    except (AfterstateError, ValueError) as error:
        raise ModelError(f"{path} cannot be used: {error}") from error
    if game is not None and game is not own:
        raise ModelError(f"{path} is a model for {own!r}, not for {game!r}")
    layout = " ".join("".join(f"{cell:x}" for cell in cells) for cells in empty.layout)
    if header["layout"] != layout:
        raise ModelError(f"{path} lays its tables out as {header['layout']!r}; this program reads {layout!r}")
    offset = header["start"]
    for name, number, _, _ in _tables(empty):
        pattern = patterns[number]
        tensor = header["tensors"].get(name)
        expected = {"dtype": "F32", "shape": [16 ** len(pattern)]}
        if tensor is None or any(tensor[key] != value for key, value in expected.items()):
            raise ModelError(f"{path} has no table of {16 ** len(pattern)} weights for pattern {name!r}")
        if header["start"] + tensor["data_offsets"][0] != offset:
            raise ModelError(f"{path} does not hold its tables one after the other")
        offset += 4 * 16 ** len(pattern)
    size = count_weights(patterns, empty.sets)
    stored: NDArray[np.float32] = np.memmap(path, np.float32, mode="c", offset=header["start"], shape=(size,))
    weights: NDArray[np.float32] = np.asarray(stored)
    if not mapped:
        weights = allocate(size)
        weights[:] = stored
    return Network(
        own, patterns, symmetry=symmetry, target=empty.target, stages=stages, context=empty.context, weights=weights,
        training=training,
    )  # fmt: skip


def has_tensors(path: Path | str, names: list[str]) -> bool:
    """Whether a training run saved all of these with its tables."""
    with safe_open(str(path), framework="numpy") as file:
        return set(names) <= set(file.keys())


def load_tensors(path: Path | str, names: list[str]) -> dict[str, NDArray[Any]]:
    """The tensors that a training run saved with its tables."""
    with safe_open(str(path), framework="numpy") as file:
        missing = [name for name in names if name not in file.keys()]  # noqa: SIM118
        if missing:
            raise ModelError(f"{path} lacks {', '.join(missing)}: it is a model, not a checkpoint")
        return {name: file.get_tensor(name) for name in names}


def _tables(network: Network) -> list[tuple[str, int, int, int]]:
    """Name, pattern, stage and context of each table, in the order of the file."""
    found = []
    for stage, context in product(range(len(network.stages)), range(network.contexts)):
        for number, pattern in enumerate(network.patterns):
            face = network.stages[stage]
            name = pattern + (f"+{context}" if context else "") + (f"@{face}" if face else "")
            found.append((name, number, stage, context))
    return found


def _placeholder(patterns: list[str], sets: int) -> NDArray[np.float32]:
    """An array of the right size that takes no memory, to check a header before reading the tables."""
    return np.broadcast_to(np.float32(0), (count_weights(patterns, sets),))
