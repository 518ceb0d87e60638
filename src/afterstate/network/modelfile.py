"""Model files of every kind, opened by what is in them: plain ones, compact ones, and weight files of other programs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from afterstate.errors import ModelError
from afterstate.games.game import Game
from afterstate.network.compactfile import COMPACT, CompactModel
from afterstate.network.interop.foreign import Foreign, find_foreign
from afterstate.network.network import Network
from afterstate.network.plainfile import CHECKS, FORMAT, REQUIRED, UNCHECKED, ModelFile, save_model
from afterstate.network.tensorfile import open_tensors
from afterstate.network.training import Training

__all__ = ["ForeignModel", "ModelFile", "load_model", "open_model", "read_header", "read_training", "save_model"]

_MORE = {FORMAT: CHECKS, COMPACT: (*CHECKS, "step", "sha256"), UNCHECKED: ()}  # what the header of each format has besides


class ForeignModel(ModelFile):
    """A weight file of another program, with the same methods."""

    def __init__(self, foreign: Foreign) -> None:
        self.path, self.header, self.training = foreign.path, foreign.header, Training()
        self._foreign = foreign

    def describe(self, game: Game | None = None) -> Network:
        return self._foreign.describe(game)

    def load(self, game: Game | None = None) -> Network:
        return self._foreign.load(game)

    def read_tables(self, network: Network) -> None:
        self._foreign.read_tables(network)

    def has(self, name: str) -> bool:  # noqa: ARG002
        return False

    def read(self, name: str) -> NDArray[Any]:
        raise ModelError(f"{self.path} lacks {name}: it is a file of another program, not a checkpoint")

    def read_into(self, name: str, array: NDArray[Any]) -> None:  # noqa: ARG002
        self.read(name)


@contextmanager
def open_model(path: Path | str) -> Iterator[ModelFile]:
    """Open a model file. What is read from it stays as it is, whatever happens to the file.

    It may be of another program; what that does not say may follow its name: weights.bin:network=4x6
    """
    if (foreign := find_foreign(path)) is not None:
        yield ForeignModel(foreign)
        return
    with open_tensors(Path(path)) as file:
        kind = file.metadata.get("format")
        missing = [key for key in (*REQUIRED, *_MORE.get(str(kind), ())) if key not in file.metadata]
        if missing or kind not in _MORE:
            reason = f"its header lacks {', '.join(missing)}" if missing else f"its format is {kind!r:.60}, not {FORMAT!r}"
            raise ModelError(f"{path} is not a model of this program: {reason}")
        yield CompactModel(file) if kind == COMPACT else ModelFile(file)


def read_header(path: Path | str) -> dict[str, str]:
    """A model file's header, checked."""
    with open_model(path) as file:
        return file.header


def read_training(path: Path | str) -> Training:
    """How a model was trained; reads only its header."""
    with open_model(path) as file:
        return file.training


def load_model(path: Path | str, *, game: Game | None = None) -> Network:
    """Load a network into memory and verify its checksums. The file may then be replaced, changed or deleted."""
    with open_model(path) as file:
        return file.load(game)
