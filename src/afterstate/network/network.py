"""An n-tuple network: its tables of weights, what it thinks a position is worth, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import InputError
from afterstate.games.game import Afterstate, Game, State
from afterstate.kernel import kernel, u64
from afterstate.memory import HUGE_PAGE, allocate
from afterstate.network.lookup import (
    TARGETS,
    ByTile,
    Lookup,
    NoCopies,
    OneStage,
    Target,
    index_board,
    last_written,
    sum_weights,
)
from afterstate.network.patterns import check_patterns, check_symmetry, isomorphic_cells, orient, parse_patterns, places_in
from afterstate.network.showing import show_explanation, show_network
from afterstate.network.training import Training
from afterstate.threads import count_threads, share_out

EVERY_PLANE = 0x0001000100010001
_MODELFILE = "afterstate.network.modelfile"  # it needs this module
AHEAD = 8  # positions whose weights are on their way while others are added up


@dataclass(frozen=True)
class PatternShare:
    """One pattern's part of a value: the sum of the weights of its isomorphs."""

    pattern: str
    value: float
    weights: tuple[float, ...]  # one for each isomorph
    cells: tuple[tuple[int, ...], ...]  # the cells that each isomorph looks at


@dataclass(frozen=True)
class Explanation:
    """A value term by term. The patterns add up to it, and so do the cells."""

    value: float
    patterns: tuple[PatternShare, ...]
    cells: NDArray[np.float64]  # (rows, columns) each weight is split evenly among the cells it looks at
    position: State | Afterstate | None = None  # what is explained

    def _repr_html_(self) -> str:
        """Its terms beside the board, for notebooks."""
        return show_explanation(self)


@kernel
def _index(net: Any, board: u64, extra: u64, indices: Any) -> None:
    """Find a position's weights: in its own stage, or in the last stage before that wrote them."""
    index_board(net, board, extra, indices, u64(0))
    for place in range(indices.size):
        indices[place] = last_written(net, indices[place])


@kernel
def _value_all(net: Any, boards: Any, extras: Any, indices: Any, values: Any) -> None:
    """Write the values of many positions. A few are looked up ahead, so that their weights arrive in the meantime."""
    ahead = indices.size // int(net.lookups)
    count = boards.size
    for number in range(count + ahead):
        slot = u64(number % ahead) * net.lookups
        if number >= ahead:
            values[number - ahead] = sum_weights(net, indices, slot)
        if number < count:
            index_board(net, boards[number], extras[number], indices, slot)


def count_weights(patterns: Sequence[str], sets: int = 1) -> int:
    """Number of weights of some patterns: 16**cells each, in each set of tables."""
    return sets * sum(1 << 4 * len(pattern) for pattern in patterns)


class Network:
    """Tables for a set of patterns; V(position) is the plain sum of the weights that the position looks up.

    >>> from afterstate import load
    >>> network = load("runs/mine")
    >>> game = network.game
    >>> afterstate = game.slide(game.parse("2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2"), "left")
    >>> why = network.explain(afterstate)
    >>> why.value == network.value(afterstate)
    True
    >>> [share.pattern for share in why.patterns]
    ['0123', '4567', '0145', '1256', '569a']
    """

    def __init__(
        self,
        game: Game,
        patterns: str | Sequence[str] = "4x6",
        *,
        symmetry: int = 8,
        target: Target = "afterstate",
        stages: Sequence[int] = (0,),
        context: str | None = None,
        weights: NDArray[np.float32] | None = None,
        training: Training | None = None,
    ) -> None:
        self.game = game
        self.patterns = parse_patterns(patterns, game.shape) if isinstance(patterns, str) else tuple(patterns)
        check_patterns(self.patterns, game.shape)
        check_symmetry(symmetry, game.shape)
        if target not in TARGETS:
            raise InputError(f"the target of a network is 'afterstate' or 'state', not {target!r}")
        self.symmetry = symmetry
        self.target: Target = target  # what it values
        check_stages(stages, game)
        self.stages = tuple(stages)  # the face of the tile that begins each stage; 0 begins the first
        self.context = game.context if context is None else context  # what is seen besides the tiles
        self._sight, self.contexts = game.sight(self.context)
        self.training = training or Training()
        size = count_weights(self.patterns, self.sets)
        if weights is not None and (weights.shape != (size,) or weights.dtype != np.float32):
            raise InputError(f"these patterns need {size} weights of type float32, not {weights.shape} of {weights.dtype}")
        self.weights = allocate(size) if weights is None else weights
        self.lookup = self._lookup(self.weights)

    def move_to(self, memory: NDArray[np.float32]) -> None:
        """Move the weights to the start of `memory`, at least as many zeros; `lookup.weights` becomes all of it.

        Zeros are not written, so untouched memory stays free.
        """
        for start in range(0, self.weights.size, HUGE_PAGE):
            part = slice(start, min(start + HUGE_PAGE, self.weights.size))
            if self.weights[part].any():
                memory[part] = self.weights[part]
        self.weights = memory[: self.weights.size]
        self.lookup = self._lookup(memory)

    def _lookup(self, memory: NDArray[np.float32]) -> Lookup:
        shape = self.game.shape
        sizes = [16 ** len(pattern) for pattern in self.patterns]
        masks = [sum(EVERY_PLANE << shape.shift(cell) // 4 for cell in cells) for cells in self.layout]
        return Lookup(
            target=TARGETS[self.target],
            weights=memory,
            masks=np.array(masks, np.uint64),
            offsets=np.array([sum(sizes[:number]) for number in range(len(sizes))], np.uint64),
            stages=self._staging(),
            copies=NoCopies(),
            sight=self._sight,
            context_size=u64(count_weights(self.patterns)),
            symmetry=u64(self.symmetry),
            lookups=u64(self.symmetry * len(self.patterns)),
            square=u64(shape.square),
            right=u64(4 - shape.columns),
            down=u64(4 * (4 - shape.rows)),
        )

    def _staging(self) -> OneStage | ByTile:
        if self.stages == (0,):
            return OneStage()
        firsts = [tile_index(self.game, face) for face in self.stages[1:]]
        every_byte = 0x0101010101010101
        return ByTile(np.array([(16 - first) * every_byte for first in firsts], np.uint64), u64(self.stage_weights))

    @property
    def sets(self) -> int:
        """How many sets of tables there are: one for each stage and context."""
        return len(self.stages) * self.contexts

    @property
    def stage_weights(self) -> int:
        """Weights of one stage."""
        return count_weights(self.patterns, self.contexts)

    @property
    def layout(self) -> tuple[tuple[int, ...], ...]:
        """For each pattern, the n cells that index its table: bit k of the tile in the i-th is bit k * n + i of an index."""
        return tuple(orient(pattern, self.game.shape, self.symmetry) for pattern in self.patterns)

    @property
    def lookups(self) -> int:
        """m: how many weights add up to one value."""
        return int(self.lookup.lookups)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but what kernels see, which is made again: it shares memory with the weights."""
        return {name: value for name, value in self.__dict__.items() if name not in ("lookup", "_sight")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._sight, _ = self.game.sight(self.context)
        self.lookup = self._lookup(self.weights)

    def __repr__(self) -> str:
        return f"Network({self.game!r}, {','.join(self.patterns)!r}, symmetry={self.symmetry}, target={self.target!r})"

    def save(self, path: Path | str) -> None:
        """Write a model file, which `load` and every command read. One that is there is replaced, in one step."""
        import_module(_MODELFILE).save_model(self, path)

    def copy(self) -> "Network":
        """A network of its own with the same weights: what one learns, the other does not know."""
        twin = object.__new__(type(self))
        twin.__setstate__(self.__getstate__())
        twin.move_to(allocate(self.weights.size))
        return twin

    def _repr_html_(self) -> str:
        """Its patterns, drawn, for notebooks."""
        return show_network(self)

    def table(self, number: int, stage: int = 0, context: int = 0) -> NDArray[np.float32]:
        """The weights of one pattern, stage and context as stored, (16**cells,)."""
        start = int(self.lookup.offsets[number]) + (stage * self.contexts + context) * count_weights(self.patterns)
        return self.weights[start : start + 16 ** len(self.patterns[number])]

    def tiles(self, pattern: int | str, stage: int = 0, context: int = 0) -> NDArray[np.float32]:
        """A copy of one pattern's weights by tile indices, (16,) * cells.

        A pattern by its number has its axes in the order of `layout`. A pattern as text has them in the order of its digits,
        and may be any isomorph of a pattern of the network: tiles("3210")[4, 3, 2, 1] is for a 4 in cell 3.
        """
        return np.array(self._by_cell(pattern, stage, context)).reshape((16,) * self._cells(pattern))

    def set_table(self, pattern: int | str, values: NDArray[Any], *, stage: int = 0, context: int = 0) -> None:
        """Set one pattern's weights by tile indices, (16,) * cells finite floats: the inverse of `tiles`, with the same axes.

        Values of more bits than float32 has are rounded. In a later stage 0 means: take the weight of the stage before.
        """
        cells, name = self._cells(pattern), f"the table of pattern {pattern!r}"
        if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
            kind = values.dtype if isinstance(values, np.ndarray) else type(values).__name__
            raise InputError(f"{name} is set with an array of floats, not with {kind}")
        if values.shape != (16,) * cells:
            raise InputError(f"{name} needs the shape (16,) * {cells}, not {values.shape}")
        with np.errstate(over="ignore"):
            rounded = values.astype(np.float32, copy=False)
        if not np.isfinite(rounded).all():
            raise InputError(f"{name} is set with values that are nan, infinite or too large for float32")
        view = self._by_cell(pattern, stage, context)
        view[...] = rounded.reshape(view.shape)

    def _by_cell(self, pattern: int | str, stage: int, context: int) -> NDArray[np.float32]:
        """One pattern's weights as a view with an axis of two for each bit, cell by cell, the highest bit of each first."""
        for name, given, count in (("stage", stage, len(self.stages)), ("context", context, self.contexts)):
            if not 0 <= given < count:
                raise InputError(f"this network has {count} of them, so a {name} is 0 to {count - 1}, not {given}")
        number, cells = self._number(pattern), self._cells(pattern)
        places: Sequence[int] = range(cells)
        if isinstance(pattern, str):
            places = places_in(self.layout[number], pattern, self.game.shape, self.symmetry)
        # axis j of the bits is bit 4 * cells - 1 - j of an index
        axes = [4 * cells - 1 - (bit * cells + place) for place in places for bit in range(3, -1, -1)]
        return self.table(number, stage, context).reshape((2,) * (4 * cells)).transpose(axes)

    def _number(self, pattern: int | str) -> int:
        """The number of a pattern that is given by its number, or as text in any of its isomorphs."""
        if isinstance(pattern, str):
            layout = orient(pattern, self.game.shape, self.symmetry)
            if layout not in self.layout:
                raise InputError(f"this network has no pattern {pattern!r}; it has {', '.join(self.patterns)}")
            return self.layout.index(layout)
        if not 0 <= pattern < len(self.patterns):
            raise InputError(f"this network has the patterns 0 to {len(self.patterns) - 1}, not {pattern}")
        return pattern

    def _cells(self, pattern: int | str) -> int:
        return len(self.patterns[self._number(pattern)])

    def indices(self, position: State | Afterstate) -> NDArray[np.uint64]:
        """(patterns, symmetry) where in `weights` a position looks."""
        self.game.own(position)
        indices = np.zeros(self.lookups, np.uint64)
        _index(self.lookup, u64(position.board), u64(position.extra), indices)
        return indices.reshape(len(self.patterns), self.symmetry)

    def value(self, position: State | Afterstate) -> float:
        """V(position): the sum of the weights that it looks up. It is worth that if it is what `target` says."""
        return float(self.weights[self.indices(position)].sum(dtype=np.float64))

    def values(self, boards: Any, *, threads: int | None = 1) -> NDArray[np.float64]:
        """(n,) V of many positions: anything that `Game.from_array` reads. They are afterstates or states, as `target` says.

        `threads` None: one for each processor.
        """
        found = self.game.from_array(boards)
        values = np.empty(len(found))

        def work(thread: int, start: int, end: int) -> None:
            wide = np.uint32 if self.lookup.weights.size <= 2**32 else np.uint64
            indices = np.empty(AHEAD * self.lookups, wide)
            _value_all(self.lookup, found.boards[start:end], found.extras[start:end], indices, values[start:end])

        share_out(work, len(found), count_threads(threads))
        return values

    def explain(self, position: State | Afterstate) -> Explanation:
        """Where a value comes from: each pattern's and each cell's share. Pass an afterstate or a state, as `target` says."""
        if self.target == "afterstate" and isinstance(position, State) and position.game is not None:
            raise InputError(
                f"this network values afterstates, and {position} is a state: explain what a slide leads to, "
                'as in network.explain(game.slide(state, "left"))'
            )
        shape = self.game.shape
        weights = self.weights[self.indices(position)].astype(np.float64)
        cells = np.zeros(shape.cells)
        shares = []
        for number, layout in enumerate(self.layout):
            # seen from the board, isomorph k of a table looks where turn k sends its cells *from*
            places = [_source(layout, turn, self.game.shape, self.symmetry) for turn in range(self.symmetry)]
            for weight, looked_at in zip(weights[number], places, strict=True):
                cells[list(looked_at)] += weight / len(layout)
            shares.append(
                PatternShare(
                    self.patterns[number], float(weights[number].sum()), tuple(map(float, weights[number])), tuple(places)
                )
            )
        return Explanation(float(weights.sum()), tuple(shares), cells.reshape(shape.rows, shape.columns), position)


def tile_index(game: Game, face: int) -> int:
    """The index of the tile with this face; 0 if there is none from 1 to 15."""
    faces = [game.face(index) for index in range(1, 16)]
    return faces.index(face) + 1 if face in faces else 0


def check_stages(stages: Sequence[int], game: Game) -> None:
    """Refuse stages that do not begin with 0, do not rise, or are not tiles of the game."""
    text = ",".join(str(face) for face in stages)
    if not stages or stages[0] != 0:
        raise InputError(f"stages must begin with 0, as in 0,{game.face(game.win)}, not with {text or 'nothing'}")
    for face in stages[1:]:
        if not tile_index(game, face):
            raise InputError(f"stages {text}: {face} is not a tile of {game.name} from {game.face(1)} to {game.face(15)}")
    if any(later <= earlier for earlier, later in pairwise(stages)):
        raise InputError(f"stages {text} must rise")


def _source(layout: Sequence[int], turn: int, shape: Any, symmetry: int) -> tuple[int, ...]:
    """The cells of the original board that lie at `layout` after the board is turned."""
    moved = isomorphic_cells(range(shape.cells), shape, symmetry)[turn]
    return tuple(moved.index(cell) for cell in layout)
