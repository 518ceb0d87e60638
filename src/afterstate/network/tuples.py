"""Which patterns are there? All connected ones of a size, up to isomorphism, and random sets of them to choose from.

On 4x4 there are 68 connected patterns of six cells; four of them make 814,385 different networks.
"""

import math
import random
from functools import cache

from afterstate.bitboard import Shape
from afterstate.errors import InputError
from afterstate.network.patterns import MAX_CELLS, isomorphic_cells

MAX_SET = 64  # patterns of a set; more do not fit into memory


@cache
def connected_patterns(cells: int, shape: Shape) -> tuple[str, ...]:
    """All patterns of so many cells that hang together by edges, one for each class of isomorphs: 2 cells on 2x2 -> ('01',).

    The one that is named is the first of its class in the order of cells.
    """
    if not 1 <= cells <= min(MAX_CELLS, shape.cells):
        raise InputError(f"a pattern on a {shape} board has 1 to {min(MAX_CELLS, shape.cells)} cells, not {cells}")
    found: set[tuple[int, ...]] = {(cell,) for cell in range(shape.cells)}
    for _ in range(cells - 1):
        found = {
            _first_isomorph((*pattern, other), shape)
            for pattern in found
            for cell in pattern
            for other in _neighbours(cell, shape)
            if other not in pattern
        }
    return tuple("".join(f"{cell:x}" for cell in pattern) for pattern in sorted({_first_isomorph(p, shape) for p in found}))


def count_sets(size: int, cells: int, shape: Shape) -> int:
    """How many different sets of so many connected patterns there are."""
    return math.comb(len(connected_patterns(cells, shape)), size)


def draw_set(generator: random.Random, size: int, cells: int, shape: Shape) -> str:
    """A random set of connected patterns, no two of them isomorphic, as `--network` takes it: '012345,012456'."""
    patterns = connected_patterns(cells, shape)
    if not 1 <= size <= min(len(patterns), MAX_SET):
        raise InputError(
            f"there are {len(patterns)} connected patterns of {cells} cells on a {shape} board, "
            f"so a set has 1 to {min(len(patterns), MAX_SET)} of them, not {size}"
        )
    return ",".join(sorted(generator.sample(patterns, size)))


def _first_isomorph(cells: tuple[int, ...], shape: Shape) -> tuple[int, ...]:
    return min(tuple(sorted(turned)) for turned in isomorphic_cells(cells, shape, shape.symmetries))


def _neighbours(cell: int, shape: Shape) -> list[int]:
    row, column = divmod(cell, shape.columns)
    beside = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [r * shape.columns + c for r, c in beside if 0 <= r < shape.rows and 0 <= c < shape.columns]
