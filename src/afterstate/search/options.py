"""How a player looks ahead: every option of a search, and its default."""

import math
from dataclasses import dataclass, field, fields
from typing import Any, SupportsFloat, SupportsIndex, TypedDict, Unpack

from afterstate.errors import InputError
from afterstate.units import check_keywords, format_time, parse_bytes, parse_time, plain

MAX_DEPTH = 8
MAX_EXACT = 5
TEXT = {"move_time", "table"}  # options that may be written like 10ms and 64M
SLOWEST = 3600.0  # seconds a move

# seconds that a typical move takes at depth 2, and how many times longer each further slide makes it
_AT_TWO, _EXACT_GROWTH, _PRUNED_GROWTH = 8e-6, 30.0, 10.0


# Positions that are reached with less than this probability are not looked into, by game and depth. Up to depth 5 whole
# games compare some of them (docs/notebook.md), the others are estimates. Up to depth 2 nothing is left out.
_CUTOFFS = {
    "2048": {3: 0.2, 4: 0.03, 5: 0.01, 6: 0.005, 7: 0.002, 8: 0.001},
    "threes": {3: 0.01, 4: 0.01, 5: 0.01, 6: 0.01, 7: 0.005, 8: 0.002},
}
_ANY_GAME = {3: 0.05, 4: 0.02, 5: 0.01, 6: 0.005, 7: 0.002, 8: 0.001}


def default_cutoff(game: str, depth: int) -> float:
    """The cutoff of a search of this depth if none is given."""
    return _CUTOFFS.get(game, _ANY_GAME).get(depth, 0.0)


def default_table(depth: int) -> int:
    """Bytes of the table: small enough to stay in the processor's cache."""
    return 0 if depth < 3 else min(1 << 18 + 2 * (depth - 3), 1 << 26)


def _option(text: str, default: Any = None) -> Any:
    """A field with its help."""
    return field(default=default, metadata={"help": text})


class SearchGiven(TypedDict, total=False):
    """The options of `SearchOptions` as keywords, for an editor to know; times and sizes may be text such as "10ms", "64M"."""

    depth: SupportsIndex | None
    move_time: SupportsFloat | str | None
    exact: bool
    cutoff: SupportsFloat | None
    table: SupportsIndex | str | None
    downgrade: SupportsIndex | None


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How a player looks ahead. What is None is chosen by the depth. The commands' options are made from this."""

    depth: int | None = _option("slides to look ahead, 1 to 8  [default: 1, or as deep as the time allows]")
    move_time: float | None = _option(
        "time for each move with its unit, such as 10ms or 1s: deeper and deeper until it is over"
    )
    exact: bool = _option("leave nothing out (up to depth 5)", default=False)
    cutoff: float | None = _option("do not look into positions that are less probable than this, such as 0.01; 0 for all")
    table: int | None = _option("memory of the transposition table, such as 64M; 0 for none")
    downgrade: int | None = _option(
        "from this tile on take tiles above a gap for smaller ones; 0 for never  "
        "[default: from the largest that 1 % of the training's games reached]"
    )

    @classmethod
    def read(cls, **given: Unpack[SearchGiven]) -> "SearchOptions":
        """Options as people write them: times and sizes may be text."""
        check_keywords(given, [spec.name for spec in fields(cls)], of="a search")
        values: dict[str, Any] = {name: plain(value) for name, value in given.items()}
        if (move_time := given.get("move_time")) is not None:
            values["move_time"] = parse_time(move_time, name="move time", bare=False)
        if (table := given.get("table")) is not None:
            values["table"] = parse_bytes(table, name="table")
        return cls(**values)

    def resolve(self, game: str = "") -> "SearchPlan":
        """What they mean for a game by name. Impossible options are refused."""
        if self.move_time is not None and self.move_time > SLOWEST:
            raise InputError(f"move time must be at most {format_time(SLOWEST)}, not {format_time(self.move_time)}")
        depth = self.depth if self.depth is not None else (1 if self.move_time is None else MAX_DEPTH)
        self._check_depth(depth)
        if self.exact and self.cutoff:
            raise InputError("an exact search leaves nothing out: give --exact or --cutoff, not both")
        fixed = 0.0 if self.exact else self.cutoff
        if fixed is not None and not 0.0 <= fixed < 1.0:
            raise InputError(f"cutoff is a probability of at least 0 and less than 1, not {fixed:g}")
        cutoffs = tuple(default_cutoff(game, each) if fixed is None else float(fixed) for each in range(depth + 1))
        table = default_table(depth) if self.table is None else self.table
        if table < 0:
            raise InputError(f"a table cannot have {table} bytes")
        return SearchPlan(depth, self.move_time, self.exact, cutoffs, table, self.downgrade)

    def _check_depth(self, depth: int) -> None:
        most = MAX_EXACT if self.exact else MAX_DEPTH
        if 1 <= depth <= most:
            return
        why = ""
        if depth > most:
            seconds = expected_time(depth, exact=self.exact)
            why = f"; a move would take {_rough(seconds)}"
        raise InputError(f"depth must be 1 to {most}{' for an exact search' if self.exact else ''}, not {depth}{why}")


@dataclass(frozen=True)
class SearchPlan:
    """A search as it will be: options with nothing left open."""

    depth: int  # slides to look ahead, at most
    move_time: float | None  # seconds; None if the depth alone counts
    exact: bool
    cutoffs: tuple[float, ...]  # (depth + 1,) by the depth of a search: a search by time goes deeper and deeper
    table: int  # bytes
    downgrade: int | None  # tile; None for what the training says

    @property
    def is_plain(self) -> bool:
        """Whether the network's own choice is enough."""
        return self.move_time is None and self.depth == 1


def expected_time(depth: int, *, exact: bool) -> float:
    """Seconds that a move takes at about this depth, in the middle of a game of 2048 on a present-day machine."""
    growth = _EXACT_GROWTH if exact else _PRUNED_GROWTH
    return _AT_TWO * math.pow(growth, min(depth, 100) - 2)


def _rough(seconds: float) -> str:
    year = 365.25 * 86400
    if seconds > 1000 * year:
        return "more than a thousand years"
    if seconds > year:
        return f"about {seconds / year:.0f} years"
    if seconds > 2 * 86400:
        return f"about {seconds / 86400:.0f} days"
    return f"about {format_time(seconds)}"
