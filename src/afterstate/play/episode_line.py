"""Write games in the format of the course's framework, one line a game. `episodes` reads it.

    SLIDER:PLACER@TICK|ACTIONS|WINNER@TOCK

Times are milliseconds since 1970. A slide is #U, #R, #D or #L. A new tile is its cell (0-F) and its index in base 36. If the
rules announce the next tile, it follows: 1, 2, 3, or 4 for a bonus tile. [reward] follows an action that changed the score, so
the rewards of a line add up to the score of the game. The first tiles come first, in the order of their cells; a tile that the
bag cannot give yet waits for its turn. The winner made the last action.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.engine.record import Record
from afterstate.games.game import announced, enter, final_score
from afterstate.kernel import kernel, u64

_DIGITS = np.frombuffer(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", np.uint8).copy()
_SLIDES = np.frombuffer(b"URDL", np.uint8).copy()
_WIDEST = 24  # most characters of a slide and its new tile: #U[2125764] and 0C4[59049]

_0, _1, _4, _15 = u64(0), u64(1), u64(4), u64(15)


@kernel
def _write_reward(digits: Any, reward: int, text: Any, end: int) -> int:
    """Write 36 as [36], and nothing for 0 -> where the text ends."""
    if reward <= 0:
        return end
    text[end] = 91  # '['
    end += 1
    size = 1
    while reward >= 10**size:
        size += 1
    for place in range(size):
        text[end + size - 1 - place] = digits[reward % 10]
        reward //= 10
    text[end + size] = 93  # ']'
    return end + size + 1


@kernel
def _write_tile(game: Any, digits: Any, columns: u64, tile: u64, hints: bool, hint: u64, text: Any, end: int) -> int:
    """Write a new tile -> where the text ends. `tile` is a board with only this tile; nothing is written if it is empty."""
    if tile == _0:
        return end
    cell = _0
    while (tile >> (_4 * cell)) & _15 == _0:
        cell += _1
    row, column = cell // _4, cell % _4
    text[end] = digits[row * columns + column]
    text[end + 1] = digits[(tile >> (_4 * cell)) & _15]
    end += 2
    if hints:
        text[end] = digits[hint]
        end += 1
    return _write_reward(digits, final_score(game, tile, _0, 0), text, end)


@kernel
def _next_first(game: Any, target: u64, board: u64, extra: u64) -> tuple[u64, u64, u64]:
    """Next tile of `target` that is not on `board`: the first that can come now, or else the first -> tile, board, extra."""
    first = _0
    for cell in range(u64(16)):
        at = _4 * cell
        tile = ((target ^ board) >> at) & _15
        if tile != _0:
            wrong, then, more = enter(game, board, extra, at, tile, _0)
            if wrong == 0:
                return tile << at, then, more
            if first == _0:
                first = tile << at
    return first, board | first, extra


@kernel
def _write_firsts(game: Any, digits: Any, columns: u64, hints: bool, target: u64, hint: u64, text: Any) -> int:
    """Write the first tiles in an order that is possible, each with the next one; `hint` is the last one's next tile."""
    end = 0
    tile, board, extra = _next_first(game, target, _0, _0)
    while tile != _0:
        after, board, extra = _next_first(game, target, board, extra)
        follows = hint
        if after != _0:
            follows = after
            while follows & _15 == _0:
                follows >>= _4
        end = _write_tile(game, digits, columns, tile, hints, follows, text, end)
        tile = after
    return end


class _Actions(NamedTuple):
    """The parts of a record that the kernel needs."""

    boards: NDArray[np.uint64]
    extras: NDArray[np.uint64]
    after: NDArray[np.uint64]
    slides: NDArray[np.uint8]
    rewards: NDArray[np.int64]


@kernel
def _write_actions(game: Any, record: Any, columns: u64, hints: bool, digits: Any, letters: Any, text: Any) -> int:
    """Write all actions of a game -> their length."""
    end = _write_firsts(game, digits, columns, hints, record.boards[0], announced(game, record.extras[0]), text)
    for number in range(record.slides.size):
        text[end] = 35  # '#'
        text[end + 1] = letters[record.slides[number]]
        end = _write_reward(digits, record.rewards[number], text, end + 2)
        tile, hint = record.boards[number + 1] ^ record.after[number], announced(game, record.extras[number + 1])
        end = _write_tile(game, digits, columns, tile, hints, hint, text, end)
    return end


def episode_line(record: Record) -> str:
    """One game as a line of the file, without the newline."""
    game, moves = record.game, len(record)
    text = np.zeros(_WIDEST * (moves + game.firsts), np.uint8)
    columns = u64(game.shape.columns)
    actions = _Actions(record.boards, record.extras, record.after, record.slides, record.rewards)
    length = _write_actions(game.tables, actions, columns, game.hints, _DIGITS, _SLIDES, text)
    tick, tock = round(record.tick * 1000), round(record.tock * 1000)
    actions_text = text[:length].tobytes().decode("ascii")
    slid_last = moves > 0 and record.boards[-1] == record.after[-1]  # a game that ended at a tile
    winner = record.slider if slid_last else record.placer
    return f"{record.slider}:{record.placer}@{tick}|{actions_text}|{winner}@{tock}"
