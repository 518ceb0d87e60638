"""How a network was trained, as its model file records it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(frozen=True)
class Block:
    """The training games that a network was kept for: a block, or several small ones."""

    games: int  # played by its end
    win_rate: float
    mean: float
    count: int = 1000  # of the games themselves; files that do not say it had blocks of this size by default


@dataclass(frozen=True)
class Training:
    """How a network was trained, and what a run needs to continue."""

    options: Mapping[str, Any] = field(default_factory=dict)  # of `afterstate train`
    games: int = 0
    seconds: float = 0.0
    usual: int = 0  # index of the largest tile that at least one game in a hundred reached; 0 if not known
    block: Block | None = None  # the best block, in a best checkpoint
    evaluated: int = 0  # games played by the last evaluation
    block_seconds: float = 0.0  # of the current block
    tally: tuple[float, ...] = ()  # of the current block, see `update.Tally`
    measured: int | None = None  # bytes of the metrics that were on the disk before this checkpoint

    def as_dict(self) -> dict[str, Any]:
        """For JSON; without what is not known."""
        values = asdict(self) | {"options": dict(self.options), "tally": list(self.tally)}
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def read(cls, values: Any) -> "Training":
        """From JSON; raises ValueError for anything else."""
        if not isinstance(values, dict) or not set(values) <= {spec.name for spec in fields(cls)}:
            raise ValueError("its training is not a record of a run")
        known = dict(values)
        kinds: dict[str, Any] = {"options": dict, "games": int, "usual": int, "evaluated": int, "measured": int, "tally": list}
        kinds |= {"seconds": (int, float), "block_seconds": (int, float), "block": dict}
        for name, value in known.items():
            is_odd = isinstance(value, bool) or (isinstance(value, int | float) and not 0 <= value <= _MOST)
            if is_odd or not isinstance(value, kinds[name]):
                raise ValueError(f"the {name} of its training is {value!r:.60}")
        try:
            if "tally" in known:
                known["tally"] = tuple(float(number) for number in known["tally"])
            if "block" in known:
                told = {"count": Block.count} | known["block"]
                block = known["block"] = Block(**{name: kind(told[name]) for name, kind in _BLOCK.items()})
                if not (1 <= block.count <= _MOST and 0 <= block.games <= _MOST):
                    raise ValueError("its training has a block without games")
        except (KeyError, TypeError, OverflowError) as error:
            raise ValueError(f"its training is not a record of a run: {error}") from error
        return cls(**known)


_BLOCK: dict[str, Any] = {"games": int, "win_rate": float, "mean": float, "count": int}
_MOST = 2**53  # of games or seconds; a float holds any whole number up to here
