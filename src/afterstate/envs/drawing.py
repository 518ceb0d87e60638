"""Boards as pictures and on the terminal, for `render`."""

import sys
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.games.game import Game, State
from afterstate.pictures.tiles import tile_colours

CELL, GAP = 96, 8  # pixels
_BACK, _EMPTY = (58, 66, 84), (78, 88, 110)


def draw_board(game: Game, state: State) -> NDArray[np.uint8]:
    """A picture of the board, (height, width, 3)."""
    from PIL import Image, ImageDraw

    rows, columns = game.shape.rows, game.shape.columns
    picture = Image.new("RGB", (columns * CELL + (columns + 1) * GAP, rows * CELL + (rows + 1) * GAP), _BACK)
    pen = ImageDraw.Draw(picture)
    for number, tile in enumerate(game.cells(state)):
        left = GAP + number % columns * (CELL + GAP)
        top = GAP + number // columns * (CELL + GAP)
        box, middle = (left, top, left + CELL, top + CELL), (left + CELL / 2, top + CELL / 2)
        if not tile:
            pen.rounded_rectangle(box, 8, fill=_EMPTY)
            continue
        fill, ink = tile_colours(game.name, tile)
        text = str(game.face(tile))
        pen.rounded_rectangle(box, 8, fill=fill)
        pen.text(middle, text, fill=ink, anchor="mm", font=_font(len(text)))
    return np.asarray(picture, np.uint8).copy()


@cache
def _font(digits: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(min(42, round(132 / digits)))


def print_board(game: Game, state: State, score: int) -> None:
    """Print the board; people asked for it with render_mode="human"."""
    words = [str(game.face(tile)) if tile else "." for tile in game.cells(state)]
    width = max(map(len, words)) + 1
    columns = game.shape.columns
    lines = ["".join(word.rjust(width) for word in words[at : at + columns]) for at in range(0, len(words), columns)]
    following = f"   next {game.next_tile(state)}" if game.shows_next else ""
    sys.stdout.write("\n".join([*lines, f"score {score:,}{following}", "", ""]))
    sys.stdout.flush()
