"""A player as it travels to the nodes of a cluster: its weights once to each node, into memory that all workers there share.

Ray's object store gives every worker of a node the same memory, read-only. Kernels are compiled for arrays that may be written
to, so a worker looks at that memory through an array that says so (`shared_view`). Nothing writes to it: a player with
learning off only reads.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.cluster.failures import load_ray
from afterstate.cluster.versions import make_reader
from afterstate.errors import ClusterError, InputError
from afterstate.games.game import Game, make
from afterstate.games.own import OWN
from afterstate.network.network import Network
from afterstate.network.training import Training
from afterstate.play.agent import Agent
from afterstate.search.options import SearchGiven


@dataclass(frozen=True)
class Parcel:
    """What a worker makes a player from."""

    game: tuple[str, str, str]  # name, rules, size
    file: str  # hash of the file of a game of your own, else empty
    network: dict[str, Any]  # its patterns, symmetry, target, stages and context
    training: dict[str, Any]
    weights: Any  # where they are in the object store
    search: SearchGiven
    versions: dict[str, str]  # of the package, Python and Numba


def pack(agent: Agent) -> Parcel:
    """Put the weights of a player into the object store of this node; others fetch them from here, each once."""
    network, game = agent.network, agent.network.game
    facts = (game.name, game.rules, str(game.shape))
    if make(game.name, rules=game.rules, size=str(game.shape)) != game:
        raise InputError(f"a cluster plays games that make() knows by name, and not this {game!r}")
    return Parcel(
        game=facts,
        file=_hash_file(game.name),
        network={name: getattr(network, name) for name in ("patterns", "symmetry", "target", "stages", "context")},
        training=network.training.as_dict(),
        weights=load_ray().put(network.weights),
        search=agent.given,
        versions=make_reader()(),
    )


_unpacked: dict[Any, Agent] = {}  # the player of this process, by where its weights are


def unpack(parcel: Parcel) -> Agent:
    """The player of a parcel, made once in a process."""
    if parcel.weights not in _unpacked:
        _check_versions(parcel)
        game = _find_game(parcel)
        weights = shared_view(load_ray().get(parcel.weights))
        network = Network(game, weights=weights, training=Training.read(parcel.training), **parcel.network)
        _unpacked.clear()
        _unpacked[parcel.weights] = Agent(network, **parcel.search)
    return _unpacked[parcel.weights]


def _check_versions(parcel: Parcel) -> None:
    """Nodes may join a cluster after the others were checked."""
    here = make_reader()()
    if here != parcel.versions:
        raise ClusterError(f"this node has {here}, and not {parcel.versions}: install the same versions on all nodes")


def _find_game(parcel: Parcel) -> Game:
    name, rules, size = parcel.game
    game = make(name, rules=rules, size=size)
    if _hash_file(name) != parcel.file:
        raise ClusterError(f"the file of the game {name} differs between the nodes: copy it to {OWN[name]} on each of them")
    return game


def _hash_file(name: str) -> str:
    return hashlib.sha256(OWN[name].read_bytes()).hexdigest() if name in OWN else ""


class _Shared:
    """Memory as NumPy is told about it. It keeps the array whose memory it is."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def shared_view(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory as an array of the type that kernels are compiled for. Nobody may write to it."""
    return np.asarray(_Shared(array))
