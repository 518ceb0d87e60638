"""How a player looks ahead: every option of a search, and what it is if nothing else is asked for."""

import math
from dataclasses import dataclass, replace
from typing import Any

from afterstate.errors import InputError
from afterstate.kernel import CLOCK
from afterstate.network.network import Network, tile_index
from afterstate.units import format_time, parse_bytes, parse_time

MAX_DEPTH = 8
MAX_EXACT = 5
LEAST_USUAL = 11  # index of the smallest tile that is taken for a smaller one unasked: 2048, or 768 in Threes!
SLOWEST = 3600.0  # seconds a move

# seconds that a typical move takes at depth 2, and how many times longer each further slide makes it
_AT_TWO, _EXACT_GROWTH, _PRUNED_GROWTH = 8e-6, 30.0, 10.0


@dataclass(frozen=True)
class Profile:
    """What a search leaves out; see `Cuts`."""

    cutoff: float = 0.0
    rare: float = 0.0
    calm: int = 0
    width: int = 0


EXACT = Profile()
# what is left out at depth 3, by game; measured in docs/search.md
_AT_THREE = {
    "2048": Profile(cutoff=0.12, rare=0.5, calm=6, width=2),
    "threes": Profile(cutoff=0.05, rare=0.5),
}
_ANY_GAME = Profile(cutoff=0.02, rare=0.2)
_DEEPER = 0.16  # each further slide looks into what is so many times less probable


def default_profile(game: str, depth: int) -> Profile:
    """What a search leaves out if nothing else is asked for: nothing up to depth 2."""
    if depth < 3:
        return EXACT
    first = _AT_THREE.get(game, _ANY_GAME)
    return replace(first, cutoff=first.cutoff * _DEEPER ** (depth - 3))


def default_table(depth: int) -> int:
    """Bytes of the table: as small as it may be, to stay in the processor's cache."""
    return 0 if depth < 3 else min(1 << 18 + 2 * (depth - 3), 1 << 26)


@dataclass(frozen=True)
class SearchOptions:
    """How a player looks ahead. What is None is chosen by the depth."""

    depth: int | None = None  # slides; 1 unless there is a time
    move_time: float | None = None  # seconds
    exact: bool = False  # leave nothing out
    cutoff: float | None = None
    rare: float | None = None
    calm: int | None = None
    width: int | None = None
    table: int | None = None  # bytes
    downgrade: int | None = None  # the face of the first tile that is too large for the network; 0 for none

    @classmethod
    def of(
        cls, game: str = "", *, move_time: float | str | None = None, table: int | str | None = None, **options: Any
    ) -> "SearchOptions":
        """Read and resolve options for a game by name: times and sizes may be text."""
        return cls(
            move_time=None if move_time is None else parse_time(move_time, name="move time"),
            table=None if table is None else parse_bytes(table, name="table"),
            **options,
        ).resolve(game)

    @property
    def is_plain(self) -> bool:
        """Whether the network's own choice is all that is asked for."""
        return self.move_time is None and self.depth == 1

    def resolve(self, game: str = "") -> "SearchOptions":
        """The same for a game by name, with nothing left open. What cannot be is refused."""
        if self.move_time is not None:
            parse_time(self.move_time, name="move time")
            if not CLOCK:
                raise InputError("this system has no clock that a search could look at; give a depth instead of a time")
            if self.move_time > SLOWEST:
                raise InputError(f"move time must be at most {format_time(SLOWEST)}, not {format_time(self.move_time)}")
        depth = self.depth if self.depth is not None else (1 if self.move_time is None else MAX_DEPTH)
        self._check_depth(depth)
        profile = EXACT if self.exact else default_profile(game, depth)
        names = ("cutoff", "rare", "calm", "width")
        if self.exact and (wrong := [name for name in names if getattr(self, name)]):
            raise InputError(f"an exact search leaves nothing out: give --exact or --{wrong[0]}, not both")
        cuts = [getattr(profile, name) if getattr(self, name) is None else getattr(self, name) for name in names]
        cutoff, rare = _share("cutoff", cuts[0]), _share("rare", cuts[1])
        calm, width = _count("calm", cuts[2]), _count("width", cuts[3])
        table = default_table(depth) if self.table is None else self.table
        if table < 0:
            raise InputError(f"a table cannot have {table} bytes")
        return replace(self, depth=depth, cutoff=cutoff, rare=rare, calm=calm, width=width, table=table)

    def _check_depth(self, depth: int) -> None:
        most = MAX_EXACT if self.exact else MAX_DEPTH
        if 1 <= depth <= most:
            return
        why = ""
        if depth > most:
            seconds = expected_time(depth, exact=self.exact)
            why = f"; a move would take {_rough(seconds)}"
        raise InputError(f"depth must be 1 to {most}{' for an exact search' if self.exact else ''}, not {depth}{why}")

    def highest(self, network: Network) -> int:
        """Index of the largest tile that the network is asked about; 0 if it is asked about every board as it is.

        Unless something is asked for, tiles are downgraded from the largest one on that one game in a hundred of the training
        reached: from there on the network has hardly ever seen how to go on. The network's own choice at depth 1, an exact
        search, and boards that are too small for the tile 2048 stay as they are.
        """
        game = network.game
        if self.downgrade is None:
            usual = network.training.get("usual")
            asked = not self.exact and not self.is_plain and isinstance(usual, int) and LEAST_USUAL <= usual <= 15
            return usual - 1 if asked else 0  # type: ignore[operator]
        if self.downgrade == 0:
            return 0
        index = tile_index(game, self.downgrade)
        if index <= game.lowest_downgrade:
            raise InputError(f"downgrade: no tile {self.downgrade} of {game.name} can be taken for a smaller one")
        return index - 1


def expected_time(depth: int, *, exact: bool) -> float:
    """Seconds that a move takes at about this depth, in the middle of a game of 2048 on a machine of our days."""
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


def _share(name: str, value: float) -> float:
    if not 0.0 <= value < 1.0:
        raise InputError(f"{name} is a share of at least 0 and less than 1, not {value:g}")
    return float(value)


def _count(name: str, value: int) -> int:
    if not 0 <= value <= 16:
        raise InputError(f"{name} is a number of 0 to 16, not {value}")
    return int(value)
