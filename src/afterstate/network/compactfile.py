"""Compact model files: small enough to share. Each holds a network with rounded weights, see `compact`.

It is a safetensors file with checksums, like every model file of ours. Its header is that of the model, and also has the step
that weights are rounded to and the SHA-256 of all that follows the header. Its tensors are bytes, three for each table:
012345@16384.places, .low and .high.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import InputError, ModelError
from afterstate.files import reading
from afterstate.games.game import Game
from afterstate.memory import allocate
from afterstate.network.compact import MOST, Packed, pack, round_off, unpack
from afterstate.network.expanded import load_expanded
from afterstate.network.network import Network
from afterstate.network.plainfile import ModelFile, model_header, table_names
from afterstate.network.tensorfile import write_tensors

COMPACT = "afterstate-compact-1"  # the format in the header
FINENESS = 20  # steps in a weight of usual size; docs/notebook.md has what other values cost
TRIES = 12  # to find the step for a size
MOST_STEP = 1e9  # points, more than any weight has
_SECTIONS = Packed._fields

OnTable = Callable[[int, int], None]  # tables that are packed, of how many


def save_compact(
    network: Network, path: Path, *, step: float | None = None, size: int | None = None, on_table: OnTable | None = None
) -> float:
    """Write a compact model -> the step that its weights are rounded to.

    `step` is in points [default: the root mean square of the weights, divided by FINENESS]. With `size`, it is the smallest
    found from there on with which the file has at most so many bytes.
    """
    chosen = np.float32(usual_step(network) if step is None else step)
    least = max(float(network.weights.max()), -float(network.weights.min()), 1e-30) * 2 / MOST
    if not least < chosen <= MOST_STEP:
        raise InputError(f"for these weights a step is above {least:.3g} and at most {MOST_STEP:g}, not {chosen:g}")
    for _ in range(TRIES):
        sections = _pack_all(network, chosen, on_table)
        found = sum(section.size for section in sections.values())
        if size is None or found <= size:
            break
        chosen = np.float32(chosen * max((found / size) ** 1.5, 1.05))
    else:
        raise InputError(f"this network does not fit into {size:,} bytes: {found:,} is as small as it gets")
    digest = hashlib.sha256()
    for section in sections.values():
        digest.update(section.data)
    header = model_header(network) | {"format": COMPACT, "step": repr(float(chosen)), "sha256": digest.hexdigest()}
    write_tensors(path, header, sections)
    return float(chosen)


def usual_step(network: Network) -> float:
    """The step for a network by default."""
    total = count = 0.0
    for table in (network.table(*place) for _, *place in table_names(network)):
        there = table[table != 0].astype(np.float64)
        total, count = total + float(there @ there), count + there.size
    return float(np.sqrt(total / count)) / FINENESS if count else 1.0


def _pack_all(network: Network, step: np.float32, on_table: OnTable | None) -> dict[str, NDArray[np.uint8]]:
    tables = table_names(network)
    before: dict[tuple[int, int], NDArray[np.float32]] = {}  # what stands in for each pattern and context
    found = {}
    for done, (name, number, stage, context) in enumerate(tables):
        weights, stand_in = network.table(number, stage, context), before.get((number, context))
        for section, data in zip(_SECTIONS, pack(weights, stand_in, step), strict=True):
            found[f"{name}.{section}"] = data
        if stage + 1 < len(network.stages):
            rounded = round_off(weights, stand_in, step)
            before[number, context] = rounded if stand_in is None else np.where(rounded != 0, rounded, stand_in)
        if on_table is not None:
            on_table(done + 1, len(tables))
    return found


class CompactModel(ModelFile):
    """A compact model file, with the methods of any."""

    def _check_tables(self, network: Network) -> None:
        """Refuse a file that has not the three parts of each table, in their order, and nothing else."""
        wanted = [f"{name}.{section}" for name, *_ in table_names(network) for section in _SECTIONS]
        tensors = self._file.tensors
        if list(tensors) != wanted or any(tensor.dtype != "U8" or len(tensor.shape) != 1 for tensor in tensors.values()):
            raise ModelError(f"{self.path} does not hold the tables of its patterns, {' '.join(network.patterns)}")

    def load(self, game: Game | None = None) -> Network:
        described = self.describe(game)
        key = hashlib.sha256(json.dumps(self.header, sort_keys=True).encode()).hexdigest()[:32]

        def expand() -> Network:
            network = Network(
                described.game, described.patterns, symmetry=described.symmetry, target=described.target,
                stages=described.stages, context=described.context, weights=allocate(described.weights.size),
                training=self.training,
            )  # fmt: skip
            self.read_tables(network)
            return network

        return load_expanded(key, expand)

    def read_tables(self, network: Network) -> None:
        """Unpack all tables into a network whose weights are 0."""
        digest = hashlib.sha256()
        with reading(self.path, ModelError):
            step = np.float32(float(self.header["step"]))
            if not 0 < step <= MOST_STEP:
                raise ValueError(f"its step is {self.header['step']!r:.40}")
            for name, number, stage, context in table_names(network):
                packed = Packed(*(self._file.read(f"{name}.{section}") for section in _SECTIONS))
                for section in packed:
                    digest.update(section.data)
                unpack(packed, network.table(number, stage, context), _stand_in(network, number, stage, context), step)
        if digest.hexdigest() != self.header["sha256"]:
            raise ModelError(f"{self.path} is damaged: its SHA-256 is not the one that was saved")

    def has(self, name: str) -> bool:  # noqa: ARG002
        return False

    def read(self, name: str) -> NDArray[np.float32]:
        raise ModelError(f"{self.path} lacks {name}: it is a compact model, not a checkpoint")


def _stand_in(network: Network, number: int, stage: int, context: int) -> NDArray[np.float32] | None:
    """The weights that stand in for those of a stage: of the last stage before that has one."""
    found = None
    for earlier in range(stage):
        table = network.table(number, earlier, context)
        found = table if found is None else np.where(table != 0, table, found)
    return found
