"""Lines of the metrics as figures: what one holds, and many blocks put together to fewer."""

import math

from afterstate.intervals import deviation_of, half_width
from afterstate.learning.metrics import Line, reached

Record = Line  # of a block or an evaluation
MOST = 400  # points of a curve; more cannot be told apart


def number(record: Record, name: str) -> float | None:
    """A figure that a record may have; None if it is missing or not a number."""
    value = record.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63 else None


def merge(blocks: list[Record], most: int = MOST) -> list[Record]:
    """At most so many blocks: neighbours become one block, with the mean and the interval that all their games have."""
    size = -(-len(blocks) // most)
    return blocks if size == 1 else [_union(blocks[start : start + size]) for start in range(0, len(blocks), size)]


def _union(blocks: list[Record]) -> Record:
    """Several blocks as one. Sums of squares add up, so the interval is that of all games."""
    count = sum(block["count"] for block in blocks)

    def mean(values: list[float]) -> float:
        total = sum(value * block["count"] for value, block in zip(values, blocks, strict=True))
        return float(total / count)

    score = mean([block["mean"] for block in blocks])
    squares = 0.0
    for block in blocks:
        games = block["count"]
        deviation = deviation_of(block["interval"] or 0.0, games)
        squares += (games - 1) * deviation**2 + games * (block["mean"] - score) ** 2
    tiles = sorted({int(tile) for block in blocks for tile in block["reached"]})
    return blocks[-1] | {
        "count": count,
        "mean": score,
        "interval": half_width(math.sqrt(squares / (count - 1)), count) if count > 1 else None,
        "max": max((best for block in blocks if (best := number(block, "max")) is not None), default=None),
        "win_rate": mean([block["win_rate"] for block in blocks]),
        "reached": {str(tile): mean([reached(block, tile) for block in blocks]) for tile in tiles},
    }
