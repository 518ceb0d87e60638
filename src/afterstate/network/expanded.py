"""Compact models, expanded once: the cache folder keeps them as plain model files, which are read as fast as any.

Each has a folder of its own and a key: a hash of the compact file's header, which has a hash of all that the file holds. It is
written once, checked by its checksums whenever it is read, and made again if it is not as it should be. It is read into memory
and not mapped, like every model: for the checksums, all of it must be read anyway.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from afterstate.cachefolder import cache_home, open_private, tidy, warn_once
from afterstate.errors import AfterstateError, FileError
from afterstate.files import hold_folder, is_file
from afterstate.network.network import Network
from afterstate.network.plainfile import FORMAT, ModelFile, save_model
from afterstate.network.tensorfile import open_tensors

WAIT = 300.0  # seconds for another process that expands the same model
NAME = "model.safetensors"
KEY = "expanded-from"  # a tensor of the expanded model


def load_expanded(key: str, expand: Callable[[], Network]) -> Network:
    """The network of a compact file: from the cache folder, or expanded now and kept there if there is room."""
    home = Path()
    try:
        home = cache_home()
        folder = open_private(home / f"model-{key}")
        tidy(home, "model-*")
    except (OSError, RuntimeError) as error:  # no such place, or no home folder
        _warn(home, error)
        return expand()
    found = _read(folder / NAME, key)
    return _expand(folder, key, expand) if found is None else found


def _expand(folder: Path, key: str, expand: Callable[[], Network]) -> Network:
    """Expand a model, and keep it; or wait for a process that is just doing that."""
    until = time.monotonic() + WAIT
    while True:
        with hold_folder(folder) as free:
            if free:
                network = _read(folder / NAME, key)
                if network is None:
                    network = expand()
                    _keep(network, folder / NAME, key)
                return network
        if time.monotonic() > until:
            return expand()


def _read(path: Path, key: str) -> Network | None:
    """The expanded model; None if it is not there, or not what it should be. Then it is removed."""
    if not is_file(path):
        return None
    try:
        with open_tensors(path) as tensors:
            sound = tensors.metadata.get("format") == FORMAT and KEY in tensors.tensors
            if sound and tensors.read(KEY).tobytes() == key.encode():
                return ModelFile(tensors).load()
    except FileError:
        pass
    with suppress(OSError):
        path.unlink()
    return None


def _keep(network: Network, path: Path, key: str) -> None:
    try:
        for left in path.parent.glob(".*.partial"):  # of a writer that was killed
            left.unlink()
        save_model(network, path, more={KEY: np.frombuffer(key.encode(), np.uint8)})
    except (AfterstateError, OSError) as error:
        _warn(path.parent, error)


def _warn(place: Path, error: Exception) -> None:
    warn_once("the expanded model", place, error, "expands it again")
