"""Boards for the tests of the games: a strategy that draws them, and their tiles by face value."""

import math

from hypothesis import strategies as st

from afterstate.games.game import Afterstate, Game, State

SMALL_SIZES = ["2x2", "2x3", "3x2", "3x3", "2x4", "4x3"]


def boards(size: str) -> st.SearchStrategy[list[int]]:
    """Face values of a board, up to the largest tile that the size allows; equal neighbours are common."""
    count = math.prod(int(side) for side in size.split("x"))
    top = count + 1
    few = st.lists(st.integers(1, top), min_size=1, max_size=3).map(lambda tiles: [0, *tiles])
    palettes = st.one_of(
        st.just([0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4]),  # as a game begins
        st.just(list(range(top + 1))),  # anything
        st.just([0, top - 3, top - 2, top - 1, top]),  # as no game ever ends
        few,  # many merges
        few.map(lambda palette: palette[1:]),  # full boards with many merges
        st.just(list(range(1, top + 1))),  # full boards with few merges
    )
    exponents = palettes.flatmap(lambda palette: st.lists(st.sampled_from(palette), min_size=count, max_size=count))
    return exponents.map(lambda board: [2**exponent if exponent else 0 for exponent in board])


def state_of(game: Game, cells: list[int]) -> State:
    return game.parse(" ".join(str(tile) for tile in cells))


def faces(game: Game, position: State | Afterstate) -> list[int]:
    return [game.face(index) for index in game.cells(position)]


def picture(game: Game, position: State | Afterstate | None) -> str:
    assert position is not None, "this slide should be legal"
    return game.format(position)
