"""How the changes of several workers become one. docs/scaling.md derives the rule.

For each weight, every worker that has changed it says how far it moved (d) and how much it knows about it (n, its visits). The
weight moves by the mean of d, weighted by n, times the number of workers that count: (sum of n)^2 / (sum of n^2), which is 1
if one of them knows all and k if k know the same. That is the sum of the moves if all know the same. But workers that learn
apart correct the same error, so no weight moves further than `together` times the mean.

What the rules keep for a weight (E and A of TC) is added up.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from afterstate.cluster.changes import PAGE, Change, make_change

FEW = np.float32(1e-30)  # of a visit: a weight that did not move, by a rule that keeps no count


def merge(changes: Sequence[Change], *, visits: int | None, together: float) -> Change:
    """Merge the changes of several workers. `visits` is which of the kept numbers grows with each visit, see `Kind`.

    Without such a number, how far a weight has moved stands for its visits.
    """
    pages = np.unique(np.concatenate([change.pages for change in changes]))
    width = changes[0].kept.shape[1]
    touched = np.zeros(len(pages) * PAGE, np.bool_)
    where = [_places(change, pages) for change in changes]
    for places in where:
        touched[places] = True
    found = np.flatnonzero(touched)
    rank = np.empty(len(touched), np.int32)
    rank[found] = np.arange(len(found), dtype=np.int32)
    known, squares, moves = np.zeros((3, len(found)), np.float64)
    kept = np.zeros((len(found), width), np.float32)
    for change, places in zip(changes, where, strict=True):
        at = rank[places]
        count = (np.abs(change.moves) if visits is None else change.kept[:, visits]).astype(np.float64) + FEW
        known[at] += count
        squares[at] += count * count
        moves[at] += count * change.moves
        kept[at] += change.kept
    workers = np.minimum(known * known / squares, together)
    indices = pages[found // PAGE].astype(np.int64) * PAGE + found % PAGE
    return make_change(indices, (workers * moves / known).astype(np.float32), kept)


def _places(change: Change, pages: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Where the weights of a change are, if only these pages are there."""
    return np.repeat(np.searchsorted(pages, change.pages) * PAGE, change.counts) + change.places
