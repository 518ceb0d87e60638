"""Many positions at once: arrays of cells to and from words, and what slides do to all of them.

Cells are exponents (tile indices) or faces, (n, rows, columns) or (n, cells); words are what kernels work with, uint64.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from afterstate.bitboard import Shape
from afterstate.errors import InputError
from afterstate.games.game import Afterstate, Game, State, slides
from afterstate.games.showing import show_positions
from afterstate.kernel import kernel, u64
from afterstate.threads import count_threads, share_out

Words = NDArray[np.uint64]
Cells = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Positions:
    """Many positions of one game, as words. `positions[3]` is a State, `positions[10:20]` are fewer of them."""

    game: Game
    boards: Words  # (n,)
    extras: Words  # (n,)

    def __len__(self) -> int:
        return len(self.boards)

    @overload
    def __getitem__(self, at: int) -> State: ...
    @overload
    def __getitem__(self, at: "slice | NDArray[Any]") -> "Positions": ...
    def __getitem__(self, at: "int | slice | NDArray[Any]") -> "State | Positions":
        if isinstance(at, int | np.integer):
            return State(int(self.boards[at]), int(self.extras[at]), game=self.game)
        return Positions(self.game, self.boards[at], self.extras[at])

    def __iter__(self) -> Iterator[State]:
        return (self[number] for number in range(len(self)))

    def __repr__(self) -> str:
        return f"Positions({self.game!r}, {len(self):,} positions)"

    def _repr_html_(self) -> str:
        """The first boards, for notebooks."""
        return show_positions(self)


@dataclass(frozen=True, eq=False)
class Afterstates:
    """What the four slides do to many states, in the order U R D L."""

    game: Game
    boards: Words  # (n, 4)
    extras: Words  # (n, 4)
    rewards: NDArray[np.int64]  # (n, 4) 0 where a slide is illegal
    legal: NDArray[np.bool]  # (n, 4)

    def __len__(self) -> int:
        return len(self.boards)

    def take(self, chosen: ArrayLike) -> Positions:
        """The afterstates of one slide of each state: chosen[i] is the slide of state i."""
        numbers = np.asarray(chosen)
        if numbers.shape != (len(self),) or numbers.dtype.kind not in "iu":
            raise InputError(f"give one slide (0 to 3) for each of {len(self)} states, not {numbers.dtype} {numbers.shape}")
        if len(self) and not (numbers.min() >= 0 and numbers.max() <= 3):
            raise InputError(f"slides are 0 to 3, not {numbers.min()} to {numbers.max()}")
        rows = np.arange(len(self))
        if not self.legal[rows, numbers].all():
            at = int(np.argmin(self.legal[rows, numbers]))
            raise InputError(f"slide {numbers[at]} of state {at} is illegal")
        return Positions(self.game, self.boards[rows, numbers], self.extras[rows, numbers])


# --- kernels -------------------------------------------------------------------------------------------------------------


@kernel
def pack_all(cells: Any, shifts: Any, boards: Any, above: Any) -> None:
    """Write tile indices, (n, cells), as words: min(index, 15) to boards, the rest to `above`."""
    for number in range(boards.size):
        board, more = u64(0), u64(0)
        for cell in range(shifts.size):
            tile = u64(cells[number, cell])
            low = min(tile, u64(15))
            board |= low << shifts[cell]
            more |= (tile - low) << shifts[cell]
        boards[number], above[number] = board, more


@kernel
def unpack_all(boards: Any, above: Any, shifts: Any, cells: Any) -> None:
    """The inverse of `pack_all`."""
    for number in range(boards.size):
        for cell in range(shifts.size):
            low, more = boards[number] >> shifts[cell], above[number] >> shifts[cell]
            cells[number, cell] = np.uint8((low & u64(15)) + (more & u64(15)))


@kernel
def _slide_all(game: Any, boards: Any, extras: Any, after: Any, extras_after: Any, rewards: Any, legal: Any) -> None:
    for number in range(boards.size):
        bits = slides(game, boards[number], extras[number], after[number], extras_after[number], rewards[number])
        for slide in range(4):
            legal[number, slide] = (bits >> slide) & 1 != 0
            if not legal[number, slide]:
                after[number, slide], extras_after[number, slide], rewards[number, slide] = boards[number], extras[number], 0


# --- to and from arrays --------------------------------------------------------------------------------------------------


def shifts_of(shape: Shape) -> Words:
    """(cells,) where the nibble of each cell begins."""
    return np.array([shape.shift(cell) for cell in range(shape.cells)], np.uint64)


def pack_cells(cells: Cells, shape: Shape) -> tuple[Words, Words]:
    """(n, cells) tile indices as boards, and what is above 15 as a second word."""
    boards, above = np.empty(len(cells), np.uint64), np.empty(len(cells), np.uint64)
    pack_all(np.ascontiguousarray(cells), shifts_of(shape), boards, above)
    return boards, above


def unpack_cells(boards: Words, above: Words, shape: Shape) -> Cells:
    """The inverse of `pack_cells`."""
    cells = np.empty((len(boards), shape.cells), np.uint8)
    unpack_all(boards, above, shifts_of(shape), cells)
    return cells


def read_positions(game: Game, given: Any, *, faces: bool = False, extras: ArrayLike | None = None) -> Positions:
    """Positions from an array of cells or words, or from states; everything is checked."""
    if isinstance(given, Positions):
        if given.game != game:
            raise InputError(f"these are positions of {given.game!r}, not of {game!r}")
        return given
    if isinstance(given, State | Afterstate) or (
        isinstance(given, Sequence) and given and isinstance(given[0], State | Afterstate)
    ):
        return _from_states(game, [given] if isinstance(given, State | Afterstate) else list(given))
    array = _as_integers(given, "boards")
    if array.ndim == 1:
        boards = _as_words(array, "boards")
        more = None if extras is None else _as_words(_as_integers(extras, "extras"), "extras")
        return _checked(game, boards, np.zeros_like(boards) if more is None else more, bare=more is None)
    return _from_cells(game, array, faces=faces, extras=extras)


def _from_states(game: Game, states: Sequence[State | Afterstate]) -> Positions:
    for state in states:
        game.own(state)
    boards = np.array([state.board for state in states], np.uint64)
    return _checked(game, boards, np.array([state.extra for state in states], np.uint64), bare=False)


def _from_cells(game: Game, array: NDArray[Any], *, faces: bool, extras: ArrayLike | None) -> Positions:
    shape = game.shape
    if array.shape[1:] not in ((shape.rows, shape.columns), (shape.cells,)):
        raise InputError(
            f"an array of boards of {game!r} is (n, {shape.rows}, {shape.columns}), (n, {shape.cells}), or (n,) words "
            f"of uint64, not {array.shape}"
        )
    flat = array.reshape(len(array), shape.cells)
    cells = _indices_of_faces(game, flat) if faces else _checked_indices(game, flat)
    more = None if extras is None else _as_words(_as_integers(extras, "extras"), "extras")
    boards, found = game.pack_many(cells, more)
    return _checked(game, boards, found, bare=more is None)


def _as_integers(given: Any, what: str) -> NDArray[Any]:
    try:
        array = np.asarray(given)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{what} cannot be read as an array: {error}") from error
    if array.size == 0 and array.dtype == np.float64 and not isinstance(given, np.ndarray):
        array = array.astype(np.uint64)  # an empty list
    if array.dtype.kind not in "iu" or array.ndim == 0:
        raise InputError(f"{what} must be an array of integers, not {array.dtype} of shape {array.shape}")
    return array


def _as_words(array: NDArray[Any], what: str) -> Words:
    if array.ndim != 1:
        raise InputError(f"{what} as words are one number each, (n,), not {array.shape}")
    if array.dtype.kind == "i" and array.size and array.min() < 0:
        raise InputError(f"{what} as words are not negative, but number {int(np.argmin(array))} is {array.min()}")
    return np.ascontiguousarray(array, np.uint64)


def _checked_indices(game: Game, cells: NDArray[Any]) -> Cells:
    if cells.size and not (cells.min() >= 0 and cells.max() <= game.top):
        board, cell = np.argwhere((cells < 0) | (cells > game.top))[0]
        hint = "; if these are faces, say faces=True" if cells.max() > game.top else ""
        raise InputError(
            f"cell {cell + 1} of board {board} is {cells[board, cell]}, but tiles of {game!r} are exponents "
            f"0 to {game.top}{hint}"
        )
    return cells.astype(np.uint8)


def _indices_of_faces(game: Game, cells: NDArray[Any]) -> Cells:
    every = np.array([game.face(index) for index in range(game.top + 1)], np.int64)
    found = np.searchsorted(every, cells.astype(np.int64) if cells.dtype.kind == "i" else cells)
    wrong = every[np.minimum(found, game.top)] != cells
    if wrong.any():
        board, cell = np.argwhere(wrong)[0]
        raise InputError(f"cell {cell + 1} of board {board} is {cells[board, cell]}, which is not a tile of {game!r}")
    return found.astype(np.uint8)


def _checked(game: Game, boards: Words, extras: Words, *, bare: bool) -> Positions:
    if len(boards) != len(extras):
        raise InputError(f"{len(boards)} boards need as many extras, not {len(extras)}")
    if bare and game.shows_next and len(boards):
        raise InputError(
            f"cells alone do not say which tile comes next in {game!r}: give `extras`, the second words, or a list of states"
        )
    game.check_words(boards, extras)
    return Positions(game, boards, extras)


def write_cells(game: Game, positions: Any, *, faces: bool = False) -> NDArray[Any]:
    """(n, rows, columns) exponents as uint8, or faces as int64."""
    found = read_positions(game, positions)
    cells = game.unpack_many(found.boards, found.extras).reshape(-1, game.shape.rows, game.shape.columns)
    if not faces:
        return cells
    return np.array([game.face(index) for index in range(32)], np.int64)[cells]


def slide_many(game: Game, positions: Any, *, threads: int | None = 1) -> Afterstates:
    """What the four slides do to each of many states."""
    found = read_positions(game, positions)
    count = len(found)
    boards, extras = np.empty((count, 4), np.uint64), np.empty((count, 4), np.uint64)
    rewards, legal = np.empty((count, 4), np.int64), np.empty((count, 4), np.bool)

    def work(thread: int, start: int, end: int) -> None:
        at = slice(start, end)
        _slide_all(
            game.tables, found.boards[at], found.extras[at], boards[at], extras[at], rewards[at], legal[at]
        )  # fmt: skip

    share_out(work, count, count_threads(threads))
    return Afterstates(game, boards, extras, rewards, legal)
