"""What a game is: the words (state, slide, afterstate, outcome), what its kernels must offer, and `make`.

    state --slide--> afterstate + reward --new tile--> state

A position is two 64-bit words, `board` and `extra`; what `extra` holds is up to the game.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from afterstate.bitboard import Shape
from afterstate.errors import AfterstateError, FileError, InputError
from afterstate.games.equal import ByFacts
from afterstate.games.own import OWN, blame, check_kernels, load_own
from afterstate.games.state import Afterstate as Afterstate  # noqa: PLC0414  # also found here
from afterstate.games.state import Outcome as Outcome  # noqa: PLC0414
from afterstate.games.state import Slide as Slide  # noqa: PLC0414
from afterstate.games.state import State as State  # noqa: PLC0414
from afterstate.kernel import allocating, implement, kernel, specialised, u64
from afterstate.rng import Random
from afterstate.units import shorten

if TYPE_CHECKING:
    from afterstate.games.arrays import Afterstates, Positions

Words = NDArray[np.uint64]
_ARRAYS = "afterstate.games.arrays"  # it needs this module
MAX_OUTCOMES = 512  # the most outcomes of one afterstate, in any game

# module and rule sets of each game; the first rule set is the default
GAMES: dict[str, tuple[str, tuple[str, ...]]] = {
    "2048": ("afterstate.games.twenty48", ("standard",)),
    "threes": ("afterstate.games.threes", ("tcg2022", "tcg2018", "tcg2018-bonus", "official")),
}


# --- what the kernels of a game must offer, chosen by the class of `game` ----------------------------------------------


@specialised
def start(game: Any, rng: u64) -> tuple[u64, u64, u64]:
    """Draw a first state -> board, extra, rng."""


@specialised
def slides(game: Any, board: u64, extra: u64, after: Any, extras: Any, rewards: Any) -> int:
    """Write the four afterstates and their rewards, slide i at index i -> bit i is set if slide i is legal."""


@specialised
def spawn(game: Any, board: u64, extra: u64, rng: u64) -> tuple[u64, u64, u64]:
    """Draw the new tile of an afterstate -> board, extra, rng."""


@specialised
def outcomes(game: Any, board: u64, extra: u64, boards: Any, extras: Any, chances: Any) -> int:
    """Write every state that may follow an afterstate, and its probability -> how many there are."""


@specialised
def largest(game: Any, board: u64, extra: u64) -> u64:
    """Index of the largest tile."""


@specialised
def final_score(game: Any, board: u64, extra: u64, rewards: int) -> int:
    """The score of a game that ended with this position, from the sum of its rewards."""


WRONG_CELL, WRONG_TILE, WRONG_HINT = 1, 2, 3


@specialised
def enter(game: Any, board: u64, extra: u64, cell: u64, tile: u64, hint: u64) -> tuple[int, u64, u64]:
    """Put a given tile on the cell at bit `cell`, if the rules allow it -> 0 or what is wrong, board, extra.

    Before the first slide it is one of the first tiles. `hint` is the tile announced to come after it, 0 if none is.
    """


@specialised
def announced(game: Any, extra: u64) -> u64:
    """The next tile as records announce it: its index, or a code of the game's own; 0 if it is not known."""


@implement(announced, object)
def _never_announced(game: Any, extra: u64) -> u64:
    return u64(0)


@implement(final_score, object)
def _sum_of_rewards(game: Any, board: u64, extra: u64, rewards: int) -> int:
    return rewards


@implement(enter, object)
def _enter_as_an_outcome(game: Any, board: u64, extra: u64, cell: u64, tile: u64, hint: u64) -> tuple[int, u64, u64]:
    wanted = board | (tile << cell)
    if wanted == board or ((board >> cell) & u64(15)) != u64(0):
        return WRONG_CELL, board, extra
    return _find_outcome(game, board, extra, wanted)


@allocating
def _find_outcome(game: Any, board: u64, extra: u64, wanted: u64) -> tuple[int, u64, u64]:
    words = np.zeros((2, MAX_OUTCOMES), np.uint64)
    for number in range(outcomes(game, board, extra, words[0], words[1], np.zeros(MAX_OUTCOMES, np.float64))):
        if words[0, number] == wanted:
            return 0, wanted, words[1, number]
    return WRONG_TILE, board, extra


@specialised
def downgrade(game: Any, board: u64, extra: u64, highest: u64) -> tuple[u64, u64]:
    """Lower the large tiles until none is above `highest`, if that changes nothing in what slides do.

    All tiles above the largest missing tile become the next smaller one, again and again. With `highest` 0 nothing changes.
    """


@implement(downgrade, object)
def _leave_as_it_is(game: Any, board: u64, extra: u64, highest: u64) -> tuple[u64, u64]:
    return board, extra


@specialised
def look(sight: Any, board: u64, extra: u64) -> tuple[u64, u64]:
    """What a network sees of a position -> a board, and which set of tables to use (its context)."""


class Plain(NamedTuple):
    """A network sees the board as it is, and has one set of tables."""

    unused: np.uint64 = u64(0)


@implement(look, Plain)
def _look_plainly(sight: Any, board: u64, extra: u64) -> tuple[u64, u64]:
    return board, u64(0)


# --- the same for Python, one position at a time -----------------------------------------------------------------------


@kernel
def _start(game: Any, rng: u64) -> Any:
    return start(game, rng)


@kernel
def _slides(game: Any, board: u64, extra: u64, after: Any, extras: Any, rewards: Any) -> int:
    return slides(game, board, extra, after, extras, rewards)


@kernel
def _spawn(game: Any, board: u64, extra: u64, rng: u64) -> Any:
    return spawn(game, board, extra, rng)


@kernel
def _outcomes(game: Any, board: u64, extra: u64, boards: Any, extras: Any, chances: Any) -> int:
    return outcomes(game, board, extra, boards, extras, chances)


@kernel
def _largest(game: Any, board: u64, extra: u64) -> u64:
    return largest(game, board, extra)


@kernel
def _enter(game: Any, board: u64, extra: u64, cell: u64, tile: u64, hint: u64) -> Any:
    return enter(game, board, extra, cell, tile, hint)


@kernel
def _final_score(game: Any, board: u64, extra: u64, rewards: int) -> int:
    return final_score(game, board, extra, rewards)


class Game(ByFacts, ABC):
    """A game under one set of rules on one board size. Kernels are specialised by the class of its `tables`."""

    name: str
    rules: str
    shape: Shape
    tables: Any  # of a NamedTuple class of this game's own
    win: int  # index of the tile that counts as a win
    longest: int  # no game has more slides than this
    most: int  # no game has a higher score than this
    firsts: int  # tiles on the board before the first slide
    symmetric: bool = False  # mirror images have the same future, and an `extra` of 0 does not depend on direction
    lowest_downgrade: int = 15  # tiles with a larger index may be lowered
    top: int = 15  # index of the largest tile
    note: str = ""  # one line that helps to choose these rules
    goal: int = 0  # index of the tile that people play for, announced on the page; 0 if there is none
    next_tiles: Mapping[str, str] = {}  # what `next_tile` may return, and the words for it; empty if the rules hide it
    hints: bool = False  # records announce the next tile
    features: tuple[str, ...] = ()  # what a network may see besides the tiles
    context: str = ""  # the features that it sees by default, joined by +
    example: str  # a first state, as text

    @property
    def title(self) -> str:
        """What people call the game; a game may set a class attribute instead."""
        return self.name

    @property
    def shows_next(self) -> bool:
        """Whether the player knows which tile comes next."""
        return bool(self.next_tiles)

    @abstractmethod
    def face(self, index: int) -> int:
        """What is written on a tile."""

    @abstractmethod
    def parse(self, text: str) -> State:
        """Read a state from one line of text."""

    @abstractmethod
    def format(self, position: State | Afterstate) -> str:
        """Write a position as one line of text."""

    @abstractmethod
    def cells(self, position: State | Afterstate) -> list[int]:
        """Tile indices row by row."""

    def next_tile(self, position: State | Afterstate) -> str:  # noqa: ARG002
        """The next tile as text, one of `next_tiles`; empty if the rules hide it."""
        return ""

    def sight(self, context: str) -> tuple[Any, int]:
        """What kernels need to `look`, and how many sets of tables there are; `context` is features joined by +."""
        self.read_context(context)
        return Plain(), 1

    def read_context(self, context: str) -> set[str]:
        """The features that a context names."""
        words = [word for word in context.split("+") if word]
        for word in words:
            if word not in self.features:
                offered = f"it may see: {', '.join(self.features)}" if self.features else "it sees only tiles"
                raise InputError(f"a network for {self.name} ({self.rules}) cannot see {shorten(word)!r}; {offered}")
        return set(words)

    def __repr__(self) -> str:
        return f"make({self.name!r}, rules={self.rules!r}, size='{self.shape}')"

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """A game that `make` can make is pickled by its name, so that it is the same object again."""
        with suppress(AfterstateError):
            if self.name in game_names() and make(self.name, rules=self.rules, size=str(self.shape)) is self:
                return _remake, (self.name, self.rules, str(self.shape))
        return super().__reduce_ex__(protocol)

    def own(self, position: State | Afterstate) -> None:
        """Refuse what is not a position of this game. One made by hand, as State(board, extra), is taken as it is."""
        if type(position) is not State and not isinstance(position, State | Afterstate):
            raise InputError(f"{shorten(repr(position))} is not a state: read text with {self!r}.parse(text)")
        game = position.game
        if game is not None and game is not self and game != self:
            raise InputError(f"{position} is a position of {game!r}, not of {self!r}")

    def start(self, rng: Random) -> State:
        """Draw a first state."""
        board, extra, state = _start(self.tables, rng.state)
        rng.state = u64(state)
        return State(int(board), int(extra), game=self)

    def try_slides(self, state: State) -> dict[Slide, tuple[Afterstate, bool]]:
        """What each of the four slides does to a state, and whether it is legal."""
        self.own(state)
        after, extras = np.zeros(4, np.uint64), np.zeros(4, np.uint64)
        rewards = np.zeros(4, np.int64)
        legal = _slides(self.tables, u64(state.board), u64(state.extra), after, extras, rewards)
        return {
            slide: (
                Afterstate(int(after[slide]), int(extras[slide]), int(rewards[slide]), game=self),
                bool(legal >> slide & 1),
            )
            for slide in Slide
        }

    def afterstates(self, state: State) -> dict[Slide, Afterstate]:
        """Every legal slide with what it leads to; empty when the game is over."""
        return {slide: after for slide, (after, legal) in self.try_slides(state).items() if legal}

    def slide(self, state: State, slide: Slide | int | str) -> Afterstate | None:
        """What a slide (Slide.UP, 0, "up" or "U") leads to; None if it is illegal."""
        return self.afterstates(state).get(Slide.read(slide))

    def outcomes(self, afterstate: Afterstate | State) -> list[Outcome]:
        """All states that the new tile may lead to; their probabilities add up to 1."""
        self.own(afterstate)
        boards, extras = np.zeros(MAX_OUTCOMES, np.uint64), np.zeros(MAX_OUTCOMES, np.uint64)
        chances = np.zeros(MAX_OUTCOMES, np.float64)
        count = _outcomes(self.tables, u64(afterstate.board), u64(afterstate.extra), boards, extras, chances)
        return [Outcome(State(int(boards[i]), int(extras[i]), game=self), float(chances[i])) for i in range(count)]

    def sample(self, afterstate: Afterstate | State, rng: Random) -> State:
        """Draw one of the outcomes."""
        self.own(afterstate)
        board, extra, state = _spawn(self.tables, u64(afterstate.board), u64(afterstate.extra), rng.state)
        if board == afterstate.board and not self.outcomes(afterstate):
            raise InputError(f"no new tile can come on {self.format(afterstate)}: slide first, then draw")
        rng.state = u64(state)
        return State(int(board), int(extra), game=self)

    def place(self, position: Afterstate | State, cell: int, tile: int, hint: int = 0) -> State:
        """Put a given tile (by its index) on a cell, numbered row by row; the rules must allow it."""
        self.own(position)
        at = u64(self.shape.shift(cell))
        wrong, board, extra = _enter(self.tables, u64(position.board), u64(position.extra), at, u64(tile), u64(hint))
        if wrong:
            what = {WRONG_CELL: f"enter cell {cell}", WRONG_TILE: "come now", WRONG_HINT: f"be followed by {self.face(hint)}"}
            raise InputError(f"a tile {self.face(tile)} cannot {what[wrong]} on {self.format(position)}")
        return State(int(board), int(extra), game=self)

    def score(self, state: State, rewards: int) -> int:
        """The score of a game that ended with this state, from the sum of its rewards."""
        self.own(state)
        return int(_final_score(self.tables, u64(state.board), u64(state.extra), rewards))

    # --- many positions at once: see `arrays` ------------------------------------------------------------------------------

    def from_array(self, boards: Any, *, faces: bool = False, extras: ArrayLike | None = None) -> "Positions":
        """Many positions from exponents (or faces), (n, rows, columns) or (n, cells), from (n,) words, or from states.

        `extras` are the second words, where the cells do not say everything: the bag and the next tile of Threes!.
        """
        return import_module(_ARRAYS).read_positions(self, boards, faces=faces, extras=extras)  # type: ignore[no-any-return]

    def to_array(self, positions: Any, *, faces: bool = False) -> NDArray[Any]:
        """(n, rows, columns) exponents as uint8, or faces as int64, of anything that `from_array` reads."""
        return import_module(_ARRAYS).write_cells(self, positions, faces=faces)  # type: ignore[no-any-return]

    def afterstates_many(self, positions: Any, *, threads: int | None = 1) -> "Afterstates":
        """What the four slides do to each of many states. `threads` None: one for each processor."""
        return import_module(_ARRAYS).slide_many(self, positions, threads=threads)  # type: ignore[no-any-return]

    def pack_many(self, cells: NDArray[np.uint8], extras: Words | None) -> tuple[Words, Words]:
        """(n, cells) tile indices, checked, and second words if given -> boards and extras."""
        boards, _ = import_module(_ARRAYS).pack_cells(cells, self.shape)
        return boards, np.zeros_like(boards) if extras is None else extras

    def unpack_many(self, boards: Words, extras: Words) -> NDArray[np.uint8]:
        """The inverse: (n, cells) tile indices."""
        found: NDArray[np.uint8] = import_module(_ARRAYS).unpack_cells(boards, np.zeros_like(extras), self.shape)
        return found

    def check_words(self, boards: Words, extras: Words) -> None:
        """Refuse words that are no position of this game."""
        outside = boards & ~u64(15 * self.shape.mask)
        if outside.any():
            at = int(np.argmax(outside != 0))
            raise InputError(f"board {at} is {int(boards[at]):#x}, which has tiles outside a {self.shape} board")
        if self.top < 15 and len(boards) and (tiles := self.unpack_many(boards, extras)).max() > self.top:
            at = int(np.argmax(tiles.max(axis=1)))
            raise InputError(f"board {at} has a tile of index {tiles[at].max()}; the largest of {self!r} is {self.top}")

    def is_over(self, state: State) -> bool:
        """Whether no slide is legal."""
        return not self.afterstates(state)

    def largest(self, position: State | Afterstate) -> int:
        """Index of the largest tile."""
        self.own(position)
        return int(_largest(self.tables, u64(position.board), u64(position.extra)))


def _remake(name: str, rules: str, size: str) -> Game:
    return make(name, rules=rules, size=size)


def game_names() -> tuple[str, ...]:
    """All games: those of the package, then your own."""
    return (*GAMES, *OWN)


def rule_sets(name: str) -> tuple[str, ...]:
    """The rule sets of a game, the default first."""
    if name not in game_names():
        raise InputError(
            f"no game is called {shorten(name)!r}; there are: {', '.join(game_names())}; a game of your own is "
            "a file that AFTERSTATE_GAMES names, and is called like that file"
        )
    return GAMES[name][1] if name in GAMES else tuple(getattr(load_own(name), "RULES", ("standard",)))


@cache
def sizes(name: str, rules: str) -> tuple[str, ...]:
    """The board sizes that a game supports, the largest last; found by trying all of them."""
    found = []
    for rows, columns in product(range(2, 5), repeat=2):
        with suppress(AfterstateError, LookupError, ValueError):  # how games refuse a board size
            found.append(str(make(name, rules=rules, size=f"{rows}x{columns}").shape))
    return tuple(found) or (str(make(name, rules=rules).shape),)  # if no size works, the error says why


def make(name: str, *, rules: str | None = None, size: str = "4x4") -> Game:
    """Make a game by name: make("2048"), make("2048", size="3x3"), make("threes", rules="official").

    >>> game = make("2048")
    >>> state = game.parse("2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 4")
    >>> game.slide(state, "left")
    Afterstate('4 0 0 0 / 0 0 0 0 / 0 0 0 0 / 4 0 0 0', reward=4)
    >>> len(game.outcomes(game.slide(state, "left")))
    28
    """
    known = rule_sets(name)
    if rules is not None and rules not in known:
        raise InputError(f"{name} has no rule set {shorten(rules)!r}; it has: {', '.join(known)}")
    return _make(name, rules or known[0], Shape.parse(size))


@cache
def _make(name: str, rules: str, shape: Shape) -> Game:
    if name in GAMES:
        built: Game = import_module(GAMES[name][0]).build(rules, shape)
        return built
    path, module = OWN[name], load_own(name)
    if not hasattr(module, "build"):
        raise FileError(f"{path} has no function build(rules, shape), which makes the game")
    with blame(path):
        game: Game = module.build(rules, shape)
        game.name = name  # the file's, so that models find the game again wherever its file came from
        check_kernels(path, game.tables, (start, slides, spawn, outcomes, largest))
    return game
