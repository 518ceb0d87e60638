"""Games as text, in the format of the course's framework: one line a game.

    SLIDER:PLACER@TICK|ACTIONS|WINNER@TOCK

Times are milliseconds since 1970. A slide is #U #R #D #L, then [reward] if it had one; a new tile is its cell (0-F) and its
index in base 36. The initial tiles come first, in the order of their cells. The winner is who made the last action.
"""

from typing import Any

import numpy as np

from afterstate.games.game import Game
from afterstate.kernel import kernel, u64
from afterstate.learning.episode import Recorded

SLIDER, PLACER = "afterstate", "random"

_DIGITS = np.frombuffer(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", np.uint8).copy()
_SLIDES = np.frombuffer(b"URDL", np.uint8).copy()
_WIDEST = 16  # no slide with the tile that follows takes more characters: #U[524284] and 0F1


@kernel
def _write_places(digits: Any, cells: u64, columns: u64, text: Any, end: int) -> int:
    """Write every tile of a board as a placed tile -> where the text ends."""
    for cell in range(u64(16)):
        tile = (cells >> (u64(4) * cell)) & u64(15)
        if tile != u64(0):
            row, column = cell // u64(4), cell % u64(4)
            text[end] = digits[row * columns + column]
            text[end + 1] = digits[tile]
            end += 2
    return end


@kernel
def _write_actions(record: Any, moves: int, columns: u64, digits: Any, letters: Any, text: Any) -> int:
    """Write a whole game's actions -> their length."""
    end = _write_places(digits, record.boards[0], columns, text, 0)
    for number in range(moves):
        text[end] = 35  # '#'
        text[end + 1] = letters[record.slides[number]]
        end += 2
        reward = record.rewards[number]
        if reward > 0:
            text[end] = 91  # '['
            end += 1
            size = 1
            while reward >= 10**size:
                size += 1
            for place in range(size):
                text[end + size - 1 - place] = digits[reward % 10]
                reward //= 10
            text[end + size] = 93  # ']'
            end += size + 1
        end = _write_places(digits, record.boards[number + 1] ^ record.after[number], columns, text, end)
    return end


def episode_line(game: Game, record: Recorded, moves: int, tick: float, tock: float) -> bytes:
    """One game as a line of the file; `tick` and `tock` are seconds since 1970."""
    text = np.zeros(_WIDEST * (moves + 2), np.uint8)
    length = _write_actions(record, moves, u64(game.shape.columns), _DIGITS, _SLIDES, text)
    head, tail = f"{SLIDER}:{PLACER}@{round(tick * 1000)}|", f"|{PLACER}@{round(tock * 1000)}\n"
    return head.encode() + text[:length].tobytes() + tail.encode()
