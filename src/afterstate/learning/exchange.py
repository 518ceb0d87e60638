"""Convert model files: ours to those of other programs and back, with what TC keeps for each weight."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import InputError, ModelError
from afterstate.learning.rules import find_rule
from afterstate.learning.runfolder import find_model
from afterstate.network.compactfile import OnTable, save_compact
from afterstate.network.interop.foreign import FORMATS, find_foreign, how_to_read, save_foreign
from afterstate.network.interop.reading import Reading, split_reading
from afterstate.network.modelfile import open_model, save_model
from afterstate.network.network import Network

Target = Literal["afterstate", "compact", "course", "demo", "tdl"]
TARGETS = ("afterstate", "compact", *FORMATS)
EXTENSIONS: dict[str, Target] = {".safetensors": "afterstate", ".afs": "compact", ".bin": "course", ".w": "tdl"}


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
    step: float | None = None  # that weights were rounded to, in a compact file


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


def convert(
    source: Path | str,
    target: Path | str,
    *,
    to: str | None = None,
    reading: Reading | None = None,
    step: float | None = None,
    size: int | None = None,
    on_table: OnTable | None = None,
) -> Converted:
    """Read a model of any format and write it in another; `reading` says what its file does not.

    `step` and `size` are for compact files, see `save_compact`.
    """
    source, target = Path(source), Path(target)
    kind = choose_target(target, to)
    if kind != "compact" and (step is not None or size is not None):
        raise InputError(f"only compact files have a step or a size to choose, and {target} is to be of the format {kind}")
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
        network, kept = _load_ours(path)
        read_as = "model of this program"
    if kind == "afterstate":
        save_model(network, target, more={} if kept is None else {_name(): kept})
        written_as, told, keeps = "model of this program", Reading(), True
    elif kind == "compact":
        chosen = save_compact(network, target, step=step, size=size, on_table=on_table)
        return Converted(path, read_as, target, "compact model", network, False, kept is not None, Reading(), chosen)
    else:
        keeps = kind == "tdl"
        save_foreign(network, target, kind, coherence=kept if keeps else None)
        written_as, told = FORMATS[kind].name, how_to_read(network, kind)
    has = kept is not None
    return Converted(path, read_as, target, written_as, network, has and keeps, has and not keeps, told)


def _name() -> str:
    """What E and A of TC are called in our files."""
    return find_rule("tc").kind.kept_as


def _load_ours(path: Path) -> tuple[Network, NDArray[np.float32] | None]:
    """A network of ours, and E and A of TC if it is a checkpoint that keeps them."""
    with open_model(path) as file:
        network = file.load()
        kept = file.read(_name()) if file.has(_name()) else None
    if kept is not None and (kept.dtype != np.float32 or kept.shape != (2 * network.weights.size,)):
        raise ModelError(
            f"{path} keeps {kept.shape} numbers of TC, where {2 * network.weights.size} are expected for its weights"
        )
    return network, kept
