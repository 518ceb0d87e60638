"""Many games of random length side by side, one slide each a call: the kernels of the Gymnasium environments.

The memory of a game is a row of words. What the four slides would do is computed once, when a state is known: it gives the
mask of legal actions, and the next call only has to look it up.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.games.game import announced, final_score, slides, spawn, start
from afterstate.kernel import kernel, pdep, u64
from afterstate.rng import Purpose, below, draw, stream

# words of a row
BOARD, EXTRA, RNG, SEED, NUMBER, POINTS, STEPS, LEGAL, OVER, SCORE, ACTION, REWARD = range(12)
AFTER, EXTRAS, REWARDS = 12, 16, 20  # four words each
ROW = 24
SHOWN = 24  # a single game has two words more: its exponents, a byte each

# settings
ILLEGAL, RESETS, STRIDE, PLANES, ABOVE, WHOLE = range(6)
SETTINGS = 6
IGNORE, END = 0, 1

_0, _1, _4, _15, _32 = u64(0), u64(1), u64(4), u64(15), u64(32)
_LOW_NIBBLES = u64(0x0F0F0F0F0F0F0F0F)
_EVAL = u64(Purpose.EVAL)


@kernel
def look_around(game: Any, row: Any) -> None:
    """Find out what the four slides would do, and whether the game is over."""
    legal = slides(game, row[BOARD], row[EXTRA], row[AFTER:EXTRAS], row[EXTRAS:REWARDS], row[REWARDS:ROW])
    row[LEGAL], row[OVER] = u64(legal), u64(legal == 0)
    points: Any = np.int64(row[POINTS])
    row[SCORE] = u64(final_score(game, row[BOARD], row[EXTRA], points))


@kernel
def begin(game: Any, row: Any) -> None:
    """Begin game `NUMBER` of a seed: the one with this number in `evaluate`."""
    row[BOARD], row[EXTRA], row[RNG] = start(game, stream(row[SEED], _EVAL, row[NUMBER]))
    row[POINTS] = row[STEPS] = _0
    look_around(game, row)


@kernel
def begin_all(game: Any, memory: Any) -> None:
    for number in range(memory.shape[0]):
        begin(game, memory[number])


@kernel
def look_around_all(game: Any, memory: Any) -> None:
    for number in range(memory.shape[0]):
        look_around(game, memory[number])


@kernel
def slide_one(game: Any, row: Any, action: u64) -> float:
    """Slide, which must be legal, and draw the new tile -> reward."""
    row[STEPS] += _1
    reward = np.int64(row[u64(REWARDS) + action])
    row[POINTS] += u64(reward)
    row[BOARD], row[EXTRA], row[RNG] = spawn(game, row[u64(AFTER) + action], row[u64(EXTRAS) + action], row[RNG])
    look_around(game, row)
    return np.float64(reward)


@kernel
def advance(
    game: Any, memory: Any, actions: Any, settings: Any, penalty: float, rewards: Any, ended: Any
) -> None:  # fmt: skip
    """One action in each game. A game that is over begins again instead, if `RESETS` says so: with reward 0."""
    for number in range(memory.shape[0]):
        row = memory[number]
        if row[OVER] != _0 and settings[RESETS] != 0:
            row[NUMBER] += u64(settings[STRIDE])
            begin(game, row)
            rewards[number], ended[number] = 0.0, False
            continue
        action = u64(actions[number])
        if (row[LEGAL] >> action) & _1 != _0:
            rewards[number] = slide_one(game, row, action)
        else:
            row[STEPS] += _1
            rewards[number] = penalty
            if settings[ILLEGAL] == END:
                row[OVER] = _1
        ended[number] = row[OVER] != _0


@kernel
def play_one(game: Any, row: Any) -> None:
    """The action of a single game, which must be legal. Few arguments: what Python passes takes longer than the slide."""
    row[REWARD] = u64(slide_one(game, row, row[ACTION]))
    show_one(row)


@kernel
def show_one(row: Any) -> None:
    """Write the exponents of a 4x4 board of 2048."""
    row[SHOWN] = pdep(row[BOARD], _LOW_NIBBLES) + pdep(row[EXTRA], _LOW_NIBBLES)
    row[SHOWN + 1] = pdep(row[BOARD] >> _32, _LOW_NIBBLES) + pdep(row[EXTRA] >> _32, _LOW_NIBBLES)


@kernel
def write_masks(memory: Any, masks: Any) -> None:
    """(n, 4) 1 where a slide is legal; nothing is in a game that is over."""
    for number in range(memory.shape[0]):
        legal = _0 if memory[number, OVER] != _0 else memory[number, LEGAL]
        for slide in range(4):
            masks[number, slide] = (legal >> u64(slide)) & _1


@kernel
def write_words(memory: Any, shown: Any) -> None:
    """(n, 2) words: the exponents of a 4x4 board, a byte each. The excess over 15 of 2048 is added."""
    for number in range(memory.shape[0]):
        board, extra = memory[number, BOARD], memory[number, EXTRA]
        shown[number, 0] = pdep(board, _LOW_NIBBLES) + pdep(extra, _LOW_NIBBLES)
        shown[number, 1] = pdep(board >> _32, _LOW_NIBBLES) + pdep(extra >> _32, _LOW_NIBBLES)


@kernel
def write_cells(memory: Any, shifts: Any, settings: Any, shown: Any) -> None:
    """(n, cells) exponents; or (n, planes * cells): plane k is 1 where the tile has the exponent k."""
    for number in range(memory.shape[0]):
        board = memory[number, BOARD]
        extra = memory[number, EXTRA] if settings[ABOVE] != 0 else _0
        for cell in range(shifts.size):
            tile = ((board >> shifts[cell]) & _15) + ((extra >> shifts[cell]) & _15)
            if settings[PLANES] == 0:
                shown[number, cell] = np.uint8(tile)
            else:
                shown[number, tile * u64(shifts.size) + u64(cell)] = np.uint8(1)


@kernel
def write_next(game: Any, memory: Any, following: Any) -> None:
    """(n,) the next tiles that are announced, counted from 0."""
    for number in range(memory.shape[0]):
        following[number] = np.int64(announced(game, memory[number, EXTRA])) - 1


@kernel
def find_wrong(actions: Any) -> int:
    """The first action that is not 0 to 3; -1 if all are."""
    for number in range(actions.size):
        if actions[number] < 0 or actions[number] > 3:
            return number
    return -1


@kernel
def find_illegal(memory: Any, actions: Any) -> int:
    """The first game in which the action is illegal; -1 if there is none. Games that are over take any."""
    for number in range(actions.size):
        if memory[number, OVER] == _0 and (memory[number, LEGAL] >> u64(actions[number])) & _1 == _0:
            return number
    return -1


@kernel
def draw_legal(memory: Any, rng: u64, actions: Any) -> u64:
    """A random legal action for each game, all equally likely; 0 in a game that is over -> rng."""
    for number in range(actions.size):
        legal = memory[number, LEGAL]
        rng, bits = draw(rng)
        count = (legal & _1) + ((legal >> _1) & _1) + ((legal >> u64(2)) & _1) + (legal >> u64(3))
        left = below(bits, count)
        action = _0
        while legal != _0 and (left != _0 or legal & _1 == _0):
            left -= legal & _1
            legal >>= _1
            action += _1
        actions[number] = action if legal != _0 else _0
    return rng


def make_memory(count: int, row: int = ROW) -> NDArray[np.uint64]:
    """(count, row) words of zeros; a game that was never begun is over."""
    memory = np.zeros((count, row), np.uint64)
    memory[:, OVER] = 1
    return memory
