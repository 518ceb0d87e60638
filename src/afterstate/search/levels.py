"""Positions grouped by what a slide keeps: keys of positions, tables of keys, and one level's part of a sweep.

The *level* of a position is the sum of its tiles: a slide keeps it, a new tile raises it. Symmetric positions are one, known by
their *key*, which is made from the smallest of the symmetric images. To add a game, give it bodies of the three `specialised`
functions; a key has room for what `extra` holds, for the nine cells of the largest board take 36 of its 64 bits.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.bitboard import transpose
from afterstate.games.game import MAX_OUTCOMES, largest, outcomes, slides
from afterstate.games.twenty48 import Twenty48
from afterstate.kernel import allocating, implement, kernel, specialised, u64
from afterstate.rng import mix

STAYS = 4  # instead of a slide: none is legal, or the aim is reached
NO_KEY = u64(0)  # a free place of a table; only the empty board has this key too

Keys = NDArray[np.uint64]
Reals = NDArray[np.float64]

_1, _4, _8, _15, _16, _32 = (u64(n) for n in (1, 4, 8, 15, 16, 32))
_NIBBLES, _BYTES, _ROWS = u64(0x0F0F0F0F0F0F0F0F), u64(0x00FF00FF00FF00FF), u64(0x0000FFFF0000FFFF)


# --- what a game must offer, chosen by the class of `game` ---------------------------------------------------------------


@specialised
def level_of(game: Any, board: u64, extra: u64) -> np.int64:
    """What a slide keeps and a new tile raises: the sum of the tiles."""


@specialised
def make_key(game: Any, board: u64, extra: u64) -> u64:
    """One word that all symmetric images of a position share, and no other position has."""


@specialised
def read_key(game: Any, key: u64) -> tuple[u64, u64]:
    """A position with this key -> board, extra."""


@implement(level_of, Twenty48)
def _level_of(game: Any, board: u64, extra: u64) -> np.int64:
    total = u64(0)
    while board != u64(0):
        total += (_1 << (board & _15)) & ~_1  # an empty cell counts nothing
        board >>= _4
    return np.int64(total)


@implement(make_key, Twenty48)
def _make_key(game: Any, board: u64, extra: u64) -> u64:
    key = _smallest_image(board, game.row_length, game.column_length)
    if game.row_length == game.column_length:
        key = min(key, _smallest_image(transpose(board), game.row_length, game.column_length))
    return key


@implement(read_key, Twenty48)
def _read_key(game: Any, key: u64) -> tuple[u64, u64]:
    return key, u64(0)  # no tile of a board of up to 9 cells is above 1024


@kernel
def _smallest_image(board: u64, columns: u64, rows: u64) -> u64:
    """The smallest of a board, its mirror image, and both upside down."""
    mirrored = ((board & _NIBBLES) << _4) | ((board >> _4) & _NIBBLES)
    mirrored = ((mirrored & _BYTES) << _8) | ((mirrored >> _8) & _BYTES)
    mirrored >>= _4 * (_4 - columns)  # back to the left wall
    return min(board, mirrored, _flip(board, rows), _flip(mirrored, rows))


@kernel
def _flip(board: u64, rows: u64) -> u64:
    """Reverse the order of the rows."""
    board = ((board & _ROWS) << _16) | ((board >> _16) & _ROWS)
    return ((board << _32) | (board >> _32)) >> (_16 * (_4 - rows))


# --- tables of keys: open addressing, at most half full -----------------------------------------------------------------


@kernel
def _slot(table: Any, key: u64) -> u64:
    """The place of a key in a table, or the free place where it belongs."""
    last = u64(table.size - 1)
    at = mix(key) & last
    while table[at] != key and table[at] != NO_KEY:
        at = (at + _1) & last
    return at


@kernel
def _add(table: Any, key: u64) -> int:
    """Put a key into a table -> 1 if it is new there, else 0."""
    at = _slot(table, key)
    if table[at] == key:
        return 0
    table[at] = key
    return 1


@kernel
def fill(table: Any, keys: Any, values: Any, placed: Any) -> None:
    """Put keys into a table, and the value of each at the same place of `placed`."""
    for number in range(keys.size):
        at = _slot(table, keys[number])
        table[at] = keys[number]
        placed[at] = values[number]


def _room(count: int) -> int:
    """Size of a table for this many keys."""
    return max(2 * MAX_OUTCOMES, 1 << (2 * count - 1).bit_length())


def index(keys: Keys, values: Reals) -> tuple[Keys, Reals]:
    """Keys as a table, with their values."""
    table, placed = np.zeros(_room(len(keys)), np.uint64), np.zeros(_room(len(keys)), np.float64)
    fill(table, keys, values, placed)
    return table, placed


def collect(add_from: Callable[..., tuple[int, int]], sources: Sequence[Keys], *arguments: Any) -> Keys:
    """A table of all that `add_from` finds; the table doubles whenever it is half full."""
    table = np.zeros(_room(max(map(len, sources), default=0)), np.uint64)
    used = 0
    for source in sources:
        begun = 0
        while True:
            begun, used = add_from(source, begun, table, used, *arguments)
            if begun == len(source):
                break
            keys = table[table != NO_KEY]
            table = np.zeros(2 * table.size, np.uint64)
            fill(table, keys, keys, np.zeros(table.size, np.uint64))
    return table


# --- the sweeps, one level at a time ------------------------------------------------------------------------------------


@allocating
def add_afterstates(states: Any, begun: int, table: Any, used: int, game: Any, aim: u64) -> tuple[int, int]:
    """Add the afterstates of states[begun:] to a table -> how far it came before the table was half full, keys in it."""
    after, extras, rewards = np.zeros(4, np.uint64), np.zeros(4, np.uint64), np.zeros(4, np.int64)
    for number in range(begun, states.size):
        if 2 * (used + 4) > table.size:
            return number, used
        board, extra = read_key(game, states[number])
        if aim != u64(0) and largest(game, board, extra) >= aim:
            continue
        legal = slides(game, board, extra, after, extras, rewards)
        for slide in range(4):
            if legal & (1 << slide):
                used += _add(table, make_key(game, after[slide], extras[slide]))
    return states.size, used


@allocating
def add_states(afterstates: Any, begun: int, table: Any, used: int, game: Any, level: int) -> tuple[int, int]:
    """Add the states of one level that follow afterstates[begun:] -> how far it came, keys in the table."""
    boards, extras = np.zeros(MAX_OUTCOMES, np.uint64), np.zeros(MAX_OUTCOMES, np.uint64)
    chances = np.zeros(MAX_OUTCOMES, np.float64)
    for number in range(begun, afterstates.size):
        board, extra = read_key(game, afterstates[number])
        count = outcomes(game, board, extra, boards, extras, chances)
        if 2 * (used + count) > table.size:
            return number, used
        for child in range(count):
            if level_of(game, boards[child], extras[child]) == level:
                used += _add(table, make_key(game, boards[child], extras[child]))
    return afterstates.size, used


@allocating
def expect(game: Any, afterstates: Any, level: int, table: Any, values: Any, expected: Any) -> None:
    """Add to each afterstate of a table its expectation over the states of one level."""
    boards, extras = np.zeros(MAX_OUTCOMES, np.uint64), np.zeros(MAX_OUTCOMES, np.uint64)
    chances = np.zeros(MAX_OUTCOMES, np.float64)
    for place in range(afterstates.size):
        if afterstates[place] == NO_KEY:
            continue
        board, extra = read_key(game, afterstates[place])
        for child in range(outcomes(game, board, extra, boards, extras, chances)):
            if level_of(game, boards[child], extras[child]) == level:
                expected[place] += chances[child] * values[_slot(table, make_key(game, boards[child], extras[child]))]


@allocating
def decide(game: Any, states: Any, aim: u64, afterstates: Any, expected: Any, values: Any, best: Any) -> None:
    """Find the best slide of each state, and its value."""
    after, extras, rewards = np.zeros(4, np.uint64), np.zeros(4, np.uint64), np.zeros(4, np.int64)
    for number in range(states.size):
        board, extra = read_key(game, states[number])
        values[number], best[number] = 0.0, STAYS
        if aim != u64(0) and largest(game, board, extra) >= aim:
            values[number] = 1.0
            continue
        legal = slides(game, board, extra, after, extras, rewards)
        for slide in range(4):
            if legal & (1 << slide):
                value = expected[_slot(afterstates, make_key(game, after[slide], extras[slide]))]
                if aim == u64(0):
                    value += rewards[slide]
                if best[number] == STAYS or value > values[number]:
                    values[number], best[number] = value, slide


@allocating
def flow(game: Any, states: Any, best: Any, table: Any, mass: Any, level: int, above: Any, mass_above: Any) -> None:
    """Pass the probability of each state to the states of one level that follow its best slide."""
    after, after_extras, rewards = np.zeros(4, np.uint64), np.zeros(4, np.uint64), np.zeros(4, np.int64)
    boards, extras = np.zeros(MAX_OUTCOMES, np.uint64), np.zeros(MAX_OUTCOMES, np.uint64)
    chances = np.zeros(MAX_OUTCOMES, np.float64)
    for number in range(states.size):
        share = mass[_slot(table, states[number])]
        if share == 0.0 or best[number] == STAYS:
            continue
        board, extra = read_key(game, states[number])
        slides(game, board, extra, after, after_extras, rewards)
        count = outcomes(game, after[best[number]], after_extras[best[number]], boards, extras, chances)
        for child in range(count):
            if level_of(game, boards[child], extras[child]) == level:
                mass_above[_slot(above, make_key(game, boards[child], extras[child]))] += share * chances[child]


@kernel
def end(game: Any, states: Any, best: Any, table: Any, mass: Any, ended: Any) -> None:
    """Add up the probability of the states in which games end, by their largest tile."""
    for number in range(states.size):
        if best[number] == STAYS:
            board, extra = read_key(game, states[number])
            ended[largest(game, board, extra)] += mass[_slot(table, states[number])]


@kernel
def locate(game: Any, board: u64, extra: u64) -> tuple[np.int64, u64, u64, u64]:
    """Level and key of a position, and the position that has this key."""
    key = make_key(game, board, extra)
    board, extra = read_key(game, key)
    return level_of(game, board, extra), key, board, extra
