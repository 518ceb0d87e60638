"""Convert model files: ours to those of other programs and back, with what TC keeps for each weight."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import InputError, ModelError
from afterstate.learning.rules import find_rule
from afterstate.learning.runfolder import find_model
from afterstate.network.interop.foreign import FORMATS, check_writable, find_foreign, how_to_read, save_foreign
from afterstate.network.interop.reading import Reading, split_reading
from afterstate.network.modelfile import load_model, read_header, save_model
from afterstate.network.network import Network

Target = Literal["afterstate", "course", "demo", "tdl"]
TARGETS = ("afterstate", *FORMATS)
EXTENSIONS: dict[str, Target] = {".safetensors": "afterstate", ".bin": "course", ".w": "tdl"}


@dataclass(frozen=True)
class Converted:
    """What a conversion made."""

    source: Path
    read_as: str  # the format that was read
    target: Path
    written_as: str
    network: Network
    coherence: bool  # E and A of TC came along
    dropped: bool  # they were there, and the format has no place for them
    reading: Reading  # what the new file does not say


def choose_target(path: Path, to: str | None) -> Target:
    """The format of a file to write: as given, or by its extension."""
    if to is not None:
        if to not in TARGETS:
            raise InputError(f"a file is converted to {', '.join(TARGETS)}, not to {to!r}")
        return cast(Target, to)
    if path.suffix not in EXTENSIONS:
        known = ", ".join(f"{suffix} ({name})" for suffix, name in EXTENSIONS.items())
        raise InputError(f"{path.name!r} does not say which format to write: end it with {known}, or give --to")
    return EXTENSIONS[path.suffix]


def convert(source: Path | str, target: Path | str, *, to: str | None = None, reading: Reading | None = None) -> Converted:
    """Read a model of any format and write it in another; `reading` says what its file does not."""
    source, target = Path(source), Path(target)
    kind = choose_target(target, to)
    path = find_model(source)
    if reading is not None and not reading.given:
        reading = None  # then what follows the file's name counts
    if target.exists() and target.samefile(split_reading(path)[0]):
        raise InputError(f"{target} is the file to convert: choose another name")
    foreign = find_foreign(path, reading)
    if foreign is not None:
        network, kept = foreign.load_all()
        read_as = FORMATS[foreign.kind].name
    else:
        network, kept = load_model(path), _find_coherence(path)
        read_as = "model of this program"
    if kind == "afterstate":
        save_model(network, target, more={} if kept is None else {_name(): kept})
        written_as, told, keeps = "model of this program", Reading(), True
    else:
        check_writable(network, kind)
        keeps = kind == "tdl"
        save_foreign(network, target, kind, coherence=kept if keeps else None)
        written_as, told = FORMATS[kind].name, how_to_read(network, kind)
    has = kept is not None
    return Converted(path, read_as, target, written_as, network, has and keeps, has and not keeps, told)


def _name() -> str:
    """What E and A of TC are called in our files."""
    return find_rule("tc").kind.kept_as


def _find_coherence(path: Path) -> NDArray[np.float32] | None:
    """E and A of TC in a checkpoint, mapped; None if it has none."""
    header = read_header(path)
    tensor = header["tensors"].get(_name())
    if tensor is None:
        return None
    size = sum(16 ** len(pattern) for pattern in header["patterns"].split()) * len(header["stages"].split())
    if header["context"]:
        return None  # no other format can hold such a network
    if tensor["dtype"] != "F32" or tensor["shape"] != [2 * size]:
        raise ModelError(f"{path} keeps {tensor['shape']} numbers of TC for {size} weights, where {2 * size} are expected")
    return np.memmap(path, np.float32, mode="r", offset=header["start"] + tensor["data_offsets"][0], shape=(2 * size,))
