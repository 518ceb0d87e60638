"""Models that come with the package: NAME.afs, a compact model, and NAME.toml, its card.

about = "what it is"          games = 1000000          hours = 2.5          seed = 1
made = ["afterstate train 2048 ...", "afterstate convert ..."]      # the commands that made it
[[strength]]
how = "depth 1"               mean = 300000.0          interval = 1500.0          games = 10000
reached = { "16384" = 0.8 }   ms = 0.01                # of a move, if it was measured
command = "afterstate eval 2048 --games 10k --seed 2"
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from afterstate.errors import FileError
from afterstate.files import is_finite, parse_toml, reading

FOLDER = Path(__file__).parent.parent / "models"
SUFFIX = ".afs"
_LONGEST = 100_000  # bytes of a card
_NUMBER = (int, float)
_CARD = {"about": str, "games": int, "hours": _NUMBER, "seed": int, "made": list, "strength": list}
_STRENGTH = {"how": str, "mean": _NUMBER, "interval": _NUMBER, "games": int, "command": str, "reached": dict, "ms": _NUMBER}


@dataclass(frozen=True)
class Strength:
    """How well a model plays, and how that was measured."""

    how: str  # such as depth 1, or 10 ms a move
    mean: float
    interval: float  # of the mean, 95 %
    games: int
    command: str
    reached: dict[str, float]  # the share of games with a tile
    ms: float | None = None  # of a move


@dataclass(frozen=True)
class Card:
    """What a model is, how it was made, and how strong it is."""

    about: str
    games: int  # of training
    hours: float
    seed: int
    made: tuple[str, ...]
    strength: tuple[Strength, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Shipped:
    """A model of the package."""

    name: str
    path: Path

    @property
    def bytes(self) -> int:
        return self.path.stat().st_size

    def read_card(self) -> Card:
        """Its card, checked."""
        path = self.path.with_suffix(".toml")
        with reading(path):
            with open(path, "rb") as file:
                text = file.read(_LONGEST + 1)
            if len(text) > _LONGEST:
                raise FileError(f"{path} is longer than {_LONGEST} bytes: it is not the card of a model")
            return _read(parse_toml(text), path)


def shipped_models() -> list[Shipped]:
    """All models of the package, by name."""
    found = sorted(FOLDER.glob(f"*{SUFFIX}")) if FOLDER.is_dir() else []
    return [Shipped(path.stem, path) for path in found]


def find_shipped(name: Path | str) -> Shipped | None:
    """The model of the package with this name; None if there is none."""
    return next((model for model in shipped_models() if model.name == str(name)), None)


def shipped_at(path: Path) -> Shipped | None:
    """The model of the package in this file."""
    return next((model for model in shipped_models() if model.path == path), None)


def _read(table: dict[str, Any], path: Path) -> Card:
    if not is_finite(table):
        raise FileError(f"{path} has numbers that are nan or infinite")
    _check(table, _CARD, set(_CARD), path)
    rows = []
    for row in table["strength"]:
        _check(row, _STRENGTH, set(_STRENGTH) - {"reached", "ms"}, path)
        reached = {str(tile): float(share) for tile, share in row.get("reached", {}).items()}
        rows.append(Strength(**(row | {"reached": reached})))
    return Card(**(table | {"made": tuple(map(str, table["made"])), "strength": tuple(rows)}))


def _check(table: Any, kinds: dict[str, Any], needed: set[str], path: Path) -> None:
    """Refuse a table with an unknown key, a missing one, or a value of another type."""
    if not isinstance(table, dict):
        raise FileError(f"{path}: {table!r:.60} is not a table")
    for key, value in table.items():
        if key not in kinds:
            raise FileError(f"{path} has an unknown key {key!r:.60}")
        if not isinstance(value, kinds[key]) or isinstance(value, bool):
            raise FileError(f"{path}: {key} is {value!r:.60}")
    if missing := sorted(needed - table.keys()):
        raise FileError(f"{path} lacks {', '.join(missing)}")
