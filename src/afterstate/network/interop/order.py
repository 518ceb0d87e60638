"""The order of a table's weights: that of other programs, and ours.

In other programs the tile of a pattern's first cell is in the low four bits of an index, that of the second in the next four,
and so on. Ours begin with bit 0 of all cells, of an isomorph that touches fewer cache lines. So one index is a permutation of
the bits of the other, and a table is read or written in parts, without a second copy of it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.network.network import Network
from afterstate.network.patterns import places_in

PART = 18  # bits of an index that vary within a part: a part has up to 262,144 weights


class Order:
    """Where the weights of one pattern of a network are, in the order of other programs."""

    def __init__(self, network: Network, number: int) -> None:
        places = places_in(network.layout[number], network.patterns[number], network.game.shape, network.symmetry)
        cells = len(places)
        self._bits = [bit * cells + place for place in places for bit in range(4)]  # where each bit of their index goes
        self.size = 1 << 4 * cells
        self.part = min(self.size, 1 << PART)
        offsets = np.zeros(1, np.int64)
        for bit in self._bits[:PART]:
            offsets = np.concatenate([offsets, offsets + (1 << bit)])
        self._offsets = offsets  # (part,) of the weights of a part, from its first one

    @property
    def starts(self) -> Iterator[int]:
        """Where parts begin, in the order of other programs."""
        return iter(range(0, self.size, self.part))

    def _from(self, start: int) -> int:
        return sum(1 << place for bit, place in enumerate(self._bits) if start >> bit & 1)

    def take(self, table: NDArray[Any], start: int) -> NDArray[Any]:
        """The part of a table that begins at `start`, as other programs order it."""
        return table[self._from(start) :][self._offsets]

    def put(self, table: NDArray[Any], start: int, values: NDArray[Any]) -> None:
        """The reverse: `values` has the size of a part."""
        table[self._from(start) :][self._offsets] = values
