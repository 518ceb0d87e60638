"""What notebooks show of a choice."""

from typing import TYPE_CHECKING

from afterstate.games.showing import beside, board_of
from afterstate.games.state import Slide
from afterstate.pictures.markup import Markup
from afterstate.pictures.panel import ACCENT, bar, captioned, line, panel, stack, table

if TYPE_CHECKING:
    from afterstate.play.agent import Choice

ARROWS = {Slide.UP: "↑", Slide.RIGHT: "→", Slide.DOWN: "↓", Slide.LEFT: "←"}


def show_choice(choice: "Choice") -> Markup:
    """The four values beside the board; the best stands out."""
    known = [value for value in choice.values.values() if value is not None]
    top, low = max(known, default=0.0), min(known, default=0.0)
    rows = []
    for slide, value in choice.values.items():
        if value is None:
            rows.append([f"{ARROWS[slide]} {slide}", "illegal", "", ""])
            continue
        share = 1.0 if top == low else 0.1 + 0.9 * (value - low) / (top - low)
        best = slide is choice.move
        behind = "best" if best else f"{value - top:,.1f}" if value < top else "equal"
        length = bar(share, colour=ACCENT if best else "#8a8a8a", width=7)
        rows.append([f"{ARROWS[slide]} {slide}", f"{value:,.1f}", length, behind])
    place = None if choice.move is None else list(choice.values).index(choice.move)
    verdict = "the game is over" if choice.move is None else f"slide {choice.move}"
    told = [line(verdict), table(rows, sides="lrlr", best=place)]
    if choice.search is not None:
        deepest = max(choice.search.moves_by_depth, default=0)
        told.append(line(f"{deepest} slides ahead, {choice.search.leaves:,} leaves", soft=True))
    state = choice.state
    board = [] if state is None or state.game is None else [captioned(board_of(state), beside(state))]
    return panel(*board, stack(*told))
