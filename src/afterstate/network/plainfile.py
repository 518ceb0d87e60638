"""Plain model files: safetensors with everything needed to use them in the header, and checksums over all of it.

Each pattern is a tensor of 16**cells float32 in each context and stage, named by the pattern, the context (from 1) and the
first tile of later stages: 012345, 012345+1, 012345@16384, 012345+1@16384. `layout` in the header gives the n cells that index
it: bit k of the tile in the i-th of them is bit k * n + i of the index. The tables lie one after the other. Files are written
under a temporary name, then renamed in one step. `tensorfile` describes the checksums.

The format afterstate-model-1 is the same without checksums. It is read, for other programs may write it, but not written.
"""

import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import AfterstateError, InputError, ModelError
from afterstate.files import is_finite, parse_json, reading
from afterstate.games.game import Game, game_names, make
from afterstate.memory import allocate
from afterstate.network.network import Network, count_weights
from afterstate.network.tensorfile import TensorFile, write_tensors
from afterstate.network.training import Training

FORMAT = "afterstate-model-2"
UNCHECKED = "afterstate-model-1"
REQUIRED = ("format", "game", "rules", "size", "patterns", "layout", "symmetry", "stages", "context", "target", "training")
CHECKS = ("sums", "check")


def save_model(network: Network, path: Path | str, *, more: Mapping[str, NDArray[Any]] | None = None) -> None:
    """Write a network, and `more` tensors that only training needs."""
    check_name(network.game)
    tables = {name: network.table(number, stage, context) for name, number, stage, context in table_names(network)}
    write_tensors(Path(path), model_header(network), tables | dict(more or {}))


def model_header(network: Network) -> dict[str, str]:
    """What the header of a model file says, without the checksums."""
    return {
        "format": FORMAT,
        "game": network.game.name,
        "rules": network.game.rules,
        "size": str(network.game.shape),
        "patterns": " ".join(network.patterns),
        "layout": _layout(network),
        "symmetry": str(network.symmetry),
        "stages": " ".join(str(face) for face in network.stages),
        "context": network.context,
        "target": network.target,
        "training": json.dumps(network.training.as_dict()),
    }


def check_name(game: Game) -> None:
    """Refuse a game that is called like another one: a file says only its name, rules and size, and so would be of that one."""
    try:
        other = make(game.name, rules=game.rules, size=str(game.shape)) if game.name in game_names() else game
    except AfterstateError:  # there are no such rules, or no such size
        return
    if other != game:
        raise InputError(
            f"this {type(game).__name__} is not {other!r}, but a file would call it so: give its class a name of its own, "
            f"such as name = 'my-{game.name}'"
        )


class ModelFile:
    """An open model file whose header has been checked; see `modelfile.open_model`."""

    def __init__(self, file: TensorFile) -> None:
        self.path = file.path
        self.header = file.metadata
        self._file = file
        with reading(self.path, ModelError):
            self.training = _read_training(self.header)

    def describe(self, game: Game | None = None) -> Network:
        """The network of the file without its weights, which takes no memory; `game` is the one that it must be for."""
        with reading(self.path, ModelError):
            own = self._find_game(game)
            patterns = self.header["patterns"].split()
            stages = [int(face) for face in self.header["stages"].split()]
            size = count_weights(patterns, len(stages) * own.sight(self.header["context"])[1])
            network = Network(
                own, patterns, symmetry=int(self.header["symmetry"]), target=self.header["target"],  # type: ignore[arg-type]
                stages=stages, context=self.header["context"], weights=np.broadcast_to(np.float32(0), (size,)),
                training=self.training,
            )  # fmt: skip
        if game is not None and game != own:
            raise ModelError(f"{self.path} is a model for {own!r}, not for {game!r}")
        if self.header["layout"] != _layout(network):
            raise ModelError(
                f"{self.path} lays its tables out as {self.header['layout']!r:.200}; this program reads {_layout(network)!r}"
            )
        self._check_tables(network)
        return network

    def _find_game(self, game: Game | None) -> Game:
        """The game of the file. `make` does not know the games of a program, so one is taken as it is given."""
        name, rules, size = (self.header[key] for key in ("game", "rules", "size"))
        try:
            return make(name, rules=rules, size=size)
        except InputError:
            if game is None or (game.name, game.rules, str(game.shape)) != (name, rules, size):
                raise
            return game

    def _check_tables(self, network: Network) -> None:
        """Refuse a file that lacks a table of a network, or has its tables in another order."""
        tensors = self._file.tensors
        end = None
        for name, number, _, _ in table_names(network):
            size = 16 ** len(network.patterns[number])
            tensor = tensors.get(name)
            if tensor is None or (tensor.dtype, tensor.shape) != ("F32", (size,)):
                raise ModelError(f"{self.path} has no table of {size} weights for pattern {name!r}")
            if end not in (None, tensor.start):
                raise ModelError(f"{self.path} does not hold its tables one after the other")
            end = tensor.start + tensor.size

    def load(self, game: Game | None = None) -> Network:
        """The network with its weights, if there is memory for it."""
        described = self.describe(game)
        network = Network(
            described.game, described.patterns, symmetry=described.symmetry, target=described.target, stages=described.stages,
            context=described.context, weights=allocate(described.weights.size, used=self._file.used), training=self.training,
        )  # fmt: skip
        self.read_tables(network)
        return network

    def read_tables(self, network: Network) -> None:
        """Read the weights into those of a network like the one described, which are 0."""
        for name, number, stage, context in table_names(network):
            self._file.read_into(name, network.table(number, stage, context))

    def has(self, name: str) -> bool:
        """Whether a training run saved a tensor of this name with its tables."""
        return name in self._file.tensors

    def read(self, name: str) -> NDArray[Any]:
        """A tensor that a training run saved with its tables."""
        return self._file.read(name)

    def read_into(self, name: str, array: NDArray[Any]) -> None:
        """The same, into memory that is 0; type and shape must be those of the file."""
        self._file.read_into(name, array)

    def copy(self, path: Path, training: Training) -> None:
        """Write all of this file again, with another record of its training."""
        header = {key: text for key, text in self.header.items() if key not in CHECKS}
        tensors = {name: self._file.read(name) for name in self._file.tensors}
        write_tensors(path, header | {"format": FORMAT, "training": json.dumps(training.as_dict())}, tensors)


def _read_training(header: dict[str, str]) -> Training:
    training = parse_json(header["training"])
    if not is_finite(training):
        raise ValueError("its training has numbers that are nan or infinite")
    return Training.read(training)


def _layout(network: Network) -> str:
    return " ".join("".join(f"{cell:x}" for cell in cells) for cells in network.layout)


def table_names(network: Network) -> list[tuple[str, int, int, int]]:
    """Name, pattern, stage and context of each table, in the order of the file."""
    found = []
    for stage, context in product(range(len(network.stages)), range(network.contexts)):
        for number, pattern in enumerate(network.patterns):
            face = network.stages[stage]
            name = pattern + (f"+{context}" if context else "") + (f"@{face}" if face else "")
            found.append((name, number, stage, context))
    return found
