"""How the changes of several workers become one. docs/scaling.md derives the rule.

For each weight, every worker that has changed it says how far it moved (d) and how much it has seen of it (n). The weight moves

    m * (sum of n * d) / (sum of n),    m = 1 + (k - 1) * c, at most 2

The fraction is the mean move, by how much each worker has seen. k is how many workers have seen it: 1 if one of them has seen
nearly all there was, and their number if all have seen the same. c says whether the weight still has far to go: the errors of
this round, all workers together, divided by their sizes. If all errors had the same sign, no worker has arrived, and
moves add up; if they cancel, all have arrived at about the same value, and their mean is it.

TC knows errors and their sizes (E and A), and n is how much A has grown. Without such sums, n is how far the weight has moved,
and c is 0. Whatever a rule keeps for a weight is added up.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from afterstate.cluster.changes import PAGE, Change, make_change

MOST = (
    2.0  # how many times the mean move a weight may move: beyond that, workers that correct the same error swing ever further
)
LEAST = 1e-30  # what a worker has seen that did not move a weight


def merge(changes: Sequence[Change], sums: tuple[int, int] | None, *, most: float = MOST) -> Change:
    """Merge the changes of several workers; `sums` says which of the kept numbers are errors and their sizes, see `Kind`."""
    pages = np.unique(np.concatenate([change.pages for change in changes]))
    where = [_places(change, pages) for change in changes]
    found, ranks = _join(where, len(pages) * PAGE)
    seen, squares, moves = np.zeros((3, len(found)))
    kept = np.zeros((len(found), changes[0].kept.shape[1]), np.float32)
    for change, at in zip(changes, ranks, strict=True):
        count = np.abs(change.moves if sums is None else change.kept[:, sums[1]]).astype(np.float64) + LEAST
        seen[at] += count
        squares[at] += count * count
        moves[at] += count * change.moves
        kept[at] += change.kept
    times = np.minimum(1 + (seen * seen / squares - 1) * _coherence(kept, sums), most)
    indices = pages[found // PAGE].astype(np.int64) * PAGE + found % PAGE
    return make_change(indices, (times * moves / seen).astype(np.float32), kept)


def _places(change: Change, pages: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Where the weights of a change are, if only these pages are there."""
    return np.repeat(np.searchsorted(pages, change.pages) * PAGE, change.counts) + change.places


def _join(where: Sequence[NDArray[np.int64]], size: int) -> tuple[NDArray[np.int64], list[NDArray[np.int32]]]:
    """All of several rising lists of places -> one of them, and where in it those of each list are."""
    rank = np.zeros(size, np.int32)
    for places in where:
        rank[places] = 1
    found = np.flatnonzero(rank)
    rank[found] = np.arange(len(found), dtype=np.int32)
    return found, [rank[places] for places in where]


def _coherence(kept: NDArray[np.float32], sums: tuple[int, int] | None) -> NDArray[np.float64]:
    """|sum of errors| / sum of their sizes, 0 to 1."""
    if sums is None:
        return np.zeros(len(kept))
    errors, sizes = (kept[:, column].astype(np.float64) for column in sums)
    return np.minimum(np.abs(errors) / np.maximum(sizes, LEAST), 1.0)
