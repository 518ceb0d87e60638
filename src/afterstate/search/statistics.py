"""What a search did: how many positions it met, table hits, how deep it went and how long it took."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.search.lookahead import (
    BY_DEPTH,
    BY_TIME,
    COUNTED,
    FOUND,
    LEAVES,
    LONGEST,
    NODES,
    PROBED,
    STEPS,
    TIMES,
    VALUED,
    Lookahead,
)
from afterstate.search.options import MAX_DEPTH


@dataclass(frozen=True)
class SearchStatistics:
    """Sums over all moves of one or several searches."""

    moves: int
    nodes: int  # afterstates whose new tiles were looked into
    leaves: int  # afterstates that the network was asked about
    valued: int  # of these (and of states, if the network values them) those that were not in memory
    probes: int  # look-ups in the transposition table
    hits: int  # look-ups that found an entry
    moves_by_depth: dict[int, int]  # how many moves were searched to which depth; not more than the search's own `depth`
    times: dict[str, float]  # seconds a move: p50, p95, p99, max
    counts: NDArray[np.int64] = field(repr=False, compare=False)  # what all of these are made from, as searches count it

    @property
    def mean_depth(self) -> float:
        """How deep a move was searched on average."""
        return sum(depth * count for depth, count in self.moves_by_depth.items()) / max(self.moves, 1)

    def as_dict(self) -> dict[str, Any]:
        return {
            "moves": self.moves,
            "nodes": self.nodes,
            "leaves": self.leaves,
            "leaves_valued": self.valued,
            "table": {"probes": self.probes, "hits": self.hits, "hit_rate": self.hits / self.probes if self.probes else None},
            "moves_by_depth": {str(depth): count for depth, count in self.moves_by_depth.items()},
            "seconds_a_move": self.times,
        }


def add_up(choosers: Sequence[Any]) -> SearchStatistics | None:
    """The statistics of some choosers; None if none of them searches."""
    return combine([chooser.counts for chooser in choosers if isinstance(chooser, Lookahead)])


def combine(parts: Sequence[NDArray[np.int64]]) -> SearchStatistics | None:
    """The statistics of several searches from their counts; None if there are none."""
    if not parts:
        return None
    counts = np.zeros(COUNTED, np.int64)
    for part in parts:
        counts += part
    counts[LONGEST] = max(int(part[LONGEST]) for part in parts)
    by_depth = counts[BY_DEPTH : BY_DEPTH + MAX_DEPTH + 1]
    by_time = counts[BY_TIME : BY_TIME + TIMES]
    longest = int(counts[LONGEST]) / 1e9
    return SearchStatistics(
        moves=int(by_depth.sum()),
        nodes=int(counts[NODES]),
        leaves=int(counts[LEAVES]),
        valued=int(counts[VALUED]),
        probes=int(counts[PROBED]),
        hits=int(counts[FOUND]),
        moves_by_depth={depth: int(count) for depth, count in enumerate(by_depth) if count},
        times={f"p{share}": min(_percentile(by_time, share), longest) for share in (50, 95, 99)} | {"max": longest},
        counts=counts,
    )


def _percentile(by_time: Any, share: int) -> float:
    """Seconds within which this share of all moves was made: the upper end of the step that holds it, 1 % at most too high."""
    within = by_time.cumsum()
    step = int(np.searchsorted(within, share / 100 * within[-1]))
    return float(2.0 ** ((step + 1) / STEPS) / 1e9)
