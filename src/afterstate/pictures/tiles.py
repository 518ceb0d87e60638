"""The colours of tiles, on the page, in notebooks and in pictures: lightness falls from tile to tile."""

from typing import NamedTuple

DARK, LIGHT = "#170d04", "#fffaf0"  # what is written on tiles


class Colours(NamedTuple):
    """Of a tile, and of what is written on it."""

    tile: str
    ink: str


# by the index of a tile, from 1 on; larger tiles than any game reaches look like the last
_PALE = ("#f7f0de", "#f3e1b8", "#f2d191", "#f2c06e", "#f1aa47", "#ec9537", "#e6802d", "#d96f31", "#cc5f35")
_DEEP = ("#b74c3c", "#a53f42", "#943248", "#82274e", "#6e2054", "#591a56", "#421757", "#2c1455", "#1d1150")
EVERY = tuple(Colours(tile, DARK) for tile in _PALE) + tuple(Colours(tile, LIGHT) for tile in _DEEP)

# games that have their own
_THREES: tuple[str, ...] = (
    "#fcfaf4",
    "#f9f4e8",
    "#f7eedb",
    "#f4e8cf",
    "#f2e2c2",
    "#f0dbb6",
    "#efd4a9",
    "#edce9c",
    "#ecc790",
    "#ebc083",
)
_THREES += ("#eab876", "#e9b169", "#e8a95c")
OWN = {
    "threes": (Colours("#065da0", LIGHT), Colours("#f37344", DARK), *(Colours(tile, DARK) for tile in _THREES)),
}


def tile_colours(game: str, index: int) -> Colours:
    """The colours of a tile in a game; its index is 1 or more."""
    found = OWN.get(game, EVERY)
    return found[min(index, len(found)) - 1]
