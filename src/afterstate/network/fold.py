"""Folding: smaller patterns that learned beside larger ones become part of them.

A board that looks up a weight of a small pattern also looks up a weight of any larger pattern that contains it. Adding the
small weight to each of those larger ones gives the same values with fewer look-ups.

    V = w[012345] + w[0123]   ->   V = w'[012345],   w'[abcdef] = w[abcdef] + w[abcd]
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from afterstate.bitboard import Shape
from afterstate.errors import InputError
from afterstate.network.network import Network
from afterstate.network.patterns import isomorphic_cells, orient


def find_host(small: str, large: Sequence[str], shape: Shape, symmetry: int) -> tuple[int, tuple[int, ...]]:
    """Find a large pattern that contains an isomorph of a small one -> its number, and the small one's cells in it.

    The cells are in the order of the small pattern's table.
    """
    cells = orient(small, shape, symmetry)
    for number, pattern in enumerate(large):
        around = orient(pattern, shape, symmetry)
        for turned in isomorphic_cells(cells, shape, symmetry):
            if len(cells) < len(around) and set(turned) <= set(around):
                return number, turned
    raise InputError(f"no pattern of {','.join(large)} contains {small!r}, so it cannot be folded; leave it out")


def fold(network: Network, small: Sequence[str]) -> Network:
    """A network without the patterns `small` that gives the same values, up to rounding."""
    large = [pattern for pattern in network.patterns if pattern not in small]
    shape, symmetry = network.game.shape, network.symmetry
    folded = Network(
        network.game, large, symmetry=symmetry, target=network.target, stages=network.stages, context=network.context,
        training=network.training,
    )  # fmt: skip
    hosts = {pattern: find_host(pattern, large, shape, symmetry) for pattern in small}
    for stage, context in product(range(len(network.stages)), range(network.contexts)):
        for number, pattern in enumerate(large):
            table = folded.table(number, stage, context)
            table[...] = _written(network, pattern, stage, context)
            for guest, (host, turned) in hosts.items():
                if host == number:
                    bits = table.reshape((2,) * (4 * len(pattern)))
                    bits += _spread(_written(network, guest, stage, context), turned, folded.layout[host])
    for stage in range(len(network.stages) - 1, 0, -1):  # equal to the stage before means never written
        for number, context in product(range(len(large)), range(network.contexts)):
            table = folded.table(number, stage, context)
            table[table == folded.table(number, stage - 1, context)] = 0.0
    return folded


def _written(network: Network, pattern: str, stage: int, context: int) -> NDArray[np.float32]:
    """The weights that a stage uses: its own, or an earlier stage's where it never wrote."""
    number = network.patterns.index(pattern)
    weights = network.table(number, 0, context)
    for later in range(1, stage + 1):
        own = network.table(number, later, context)
        weights = np.where(own == 0, weights, own)
    return weights


def _spread(weights: NDArray[np.float32], turned: Sequence[int], around: Sequence[int]) -> NDArray[np.float32]:
    """A small table as a view that can be added to its host's: (2, 2, ...) -> (2, 1, 2, ...), an axis for each bit of an index.

    Bit k of cell i of n is bit k * n + i of an index, and axes go from the last bit to the first.
    """
    size, room = len(turned), len(around)
    places = [bit * room + around.index(cell) for bit in range(4) for cell in turned]  # in the host, of bit 0, 1, ...
    order = sorted(range(4 * size), key=lambda bit: -places[bit])
    moved = weights.reshape((2,) * (4 * size)).transpose([4 * size - 1 - bit for bit in order])
    return moved.reshape([2 if place in places else 1 for place in range(4 * room - 1, -1, -1)])
