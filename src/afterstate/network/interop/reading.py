"""What a weight file of another program does not say, and who reads it must: `--network`, `--game` and so on.

Where a command takes a model, it follows the file's name: weights.bin:network=4x6:game=threes
"""

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from afterstate.errors import InputError
from afterstate.files import is_file
from afterstate.units import shorten


def _option(text: str) -> Any:
    return field(default=None, metadata={"help": text})


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How to read a file; what is None is found out, or is the default. The options of `convert` are made from this."""

    network: str | None = _option("patterns of a file that does not name them: a preset such as 4x6, or 0123,4567")
    game: str | None = _option("the game that the weights are for  [default: 2048]")
    rules: str | None = _option("rule set of the game")
    size: str | None = _option("board size  [default: 4x4]")
    symmetry: int | None = _option("isomorphisms of each pattern: 8, 4 or 1  [default: 8, or the preset's]")
    stages: str | None = _option("the tile that begins each stage, such as 0,16384, if the file has several")
    target: str | None = _option("what is valued: afterstate or state  [default: afterstate]")

    @property
    def given(self) -> dict[str, Any]:
        """What is not None."""
        return {spec.name: value for spec in fields(self) if (value := getattr(self, spec.name)) is not None}


def split_reading(path: Path | str) -> tuple[Path, Reading]:
    """A file's name and how to read it: 'a/weights.bin:network=4x6' -> a/weights.bin, Reading(network='4x6').

    A name that is a file's own is taken as it is, colons and all.
    """
    path = Path(path)
    parts = path.name.split(":")
    names = [":".join(parts[:count]) for count in range(len(parts), 0, -1)]  # the whole name first
    name = next((name for name in names if name and is_file(path.with_name(name))), path.name)
    words = parts[name.count(":") + 1 :]
    told: dict[str, Any] = {}
    known = [spec.name for spec in fields(Reading)]
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in known:
            raise InputError(
                f"{path}: {shorten(word, 40)!r} does not say how to read {name}; write it like {name}:network=4x6, "
                f"with {', '.join(known)}"
            )
        if key == "symmetry" and not value.isdecimal():
            raise InputError(f"{path}: symmetry is 8, 4 or 1, not {shorten(value, 40)!r}")
        told[key] = int(value[:9]) if key == "symmetry" else value
    return path.with_name(name), Reading(**told)
