"""What notebooks show of positions. The classes call this from `_repr_html_`."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from afterstate.pictures.boards import Face, draw_board
from afterstate.pictures.markup import Markup
from afterstate.pictures.panel import captioned, line, panel
from afterstate.pictures.tiles import tile_colours

if TYPE_CHECKING:
    from afterstate.games.arrays import Positions
    from afterstate.games.game import Game
    from afterstate.games.state import Outcome

DUE = "a tile is due"  # as Threes! says it
MOST = 12  # boards of many positions
SMALL = 24.0  # pixels of a cell where there are many boards


def show_position(position: Any, *, cell: float = 44.0) -> Markup | None:
    """A State or an Afterstate: its board, and what else it says. None if it is not known which game it is of."""
    with suppress(Exception):  # words that are no position of this game: its repr can tell them
        return captioned(board_of(position, cell=cell), beside(position))
    return None


def board_of(position: Any, *, cell: float = 44.0) -> Markup:
    """The board of a State or an Afterstate that knows its game."""
    game: Game = position.game
    faces = [
        None if index == 0 else Face(str(game.face(index)), *tile_colours(game.name, index)) for index in game.cells(position)
    ]
    return draw_board(faces, game.shape.columns, cell=cell, title=game.format(position))


def beside(position: Any) -> str:
    """What a position says besides its tiles: the next tile of Threes!, the reward of the slide that led to it."""
    words = [word.strip() for word in position.game.format(position).split("|")[1:]]
    if hasattr(position, "reward"):
        words += [] if DUE in words else [DUE]
        words.append(f"reward {position.reward:,}")
    return " · ".join(words)


def show_positions(positions: "Positions") -> Markup:
    """The first boards of many."""
    shown = [captioned(board_of(state, cell=SMALL), beside(state)) for state in positions[:MOST]]
    left = len(positions) - len(shown)
    if not shown:
        return panel(line("no positions", soft=True))
    return panel(*shown, line(f"and {left:,} more", soft=True)) if left else panel(*shown)


def show_outcome(outcome: "Outcome") -> Markup | None:
    """A state that a new tile may lead to."""
    shown = show_position(outcome.state)
    return None if shown is None else captioned(shown, f"probability {outcome.probability:.4g}")
