"""Weight files of other programs as networks: which program's file it is, what network it holds, and reading and writing it.

    foreign = find_foreign("weights.bin:network=4x6")
    network, coherence = foreign.load(coherence=True)

Tables are read and written in parts. Their lengths are compared with that of the file before any memory is taken.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import IO, Literal, cast

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import FileError, InputError, ModelError
from afterstate.files import atomic_write, is_file
from afterstate.games.game import Game, make
from afterstate.memory import allocate, check_memory
from afterstate.network.interop import course, demo, tdl
from afterstate.network.interop.order import Order
from afterstate.network.interop.reading import Reading, split_reading
from afterstate.network.interop.stored import Block, Source, Stored, read_floats
from afterstate.network.lookup import TARGETS, Target
from afterstate.network.network import Network, check_stages, count_weights
from afterstate.network.patterns import PRESETS, check_patterns, check_symmetry, default_symmetry, orient, parse_patterns
from afterstate.network.training import Training

Kind = Literal["course", "demo", "tdl"]
HEAD = 32  # bytes that tell the formats apart
ZERO = np.float32(2.0**-149)  # a weight of 0 in a later stage; our 0 there means: the stage before


@dataclass(frozen=True)
class Format:
    """A format: how to tell it, to read it, and to write it."""

    name: str
    recognise: Callable[[bytes], bool]
    scan: Callable[[Source], list[Stored]]
    write_begin: Callable[[IO[bytes], Network], None]
    write_name: Callable[[IO[bytes], str, int], None]
    only_2048: bool = True  # with 8 isomorphisms, values of afterstates
    stages: int = 1  # that it can hold


FORMATS: dict[Kind, Format] = {
    "tdl": Format(tdl.NAME, tdl.recognise, tdl.scan, tdl.write_begin, tdl.write_name, stages=tdl.MOST_STAGES),
    "demo": Format(demo.NAME, demo.recognise, demo.scan, demo.write_begin, demo.write_name),
    "course": Format(
        course.NAME, course.recognise, course.scan, course.write_begin, course.write_name, only_2048=False, stages=16
    ),
}


@dataclass(frozen=True)
class Held:
    """The network that a file holds."""

    game: Game
    patterns: tuple[str, ...]
    symmetry: int
    stages: tuple[int, ...]
    target: Target


class Foreign:
    """A weight file of another program."""

    def __init__(self, path: Path, kind: Kind, reading: Reading) -> None:
        self.path, self.kind, self.reading = path, kind, reading
        try:
            with open(path, "rb") as file:
                self.tables = FORMATS[kind].scan(Source(file, path, FORMATS[kind].name))
        except OSError as error:
            raise FileError(f"cannot read {path}: {error.strerror}") from error

    @property
    def has_coherence(self) -> bool:
        """Whether it keeps E and A of TC."""
        return any(table.coherence for table in self.tables)

    @cached_property
    def shape(self) -> Held:
        """The network, by the file and by what the reader was told."""
        try:
            return _find_shape(self)
        except InputError as error:
            raise ModelError(f"{self.path}, a {FORMATS[self.kind].name}, cannot be used: {error}") from error

    @property
    def header(self) -> dict[str, str]:
        """What the header of a model file of ours would say."""
        shape = self.shape
        layout = [orient(pattern, shape.game.shape, shape.symmetry) for pattern in shape.patterns]
        return {
            "format": FORMATS[self.kind].name,
            "game": shape.game.name,
            "rules": shape.game.rules,
            "size": str(shape.game.shape),
            "patterns": " ".join(shape.patterns),
            "layout": " ".join("".join(f"{cell:x}" for cell in cells) for cells in layout),
            "symmetry": str(shape.symmetry),
            "stages": " ".join(str(face) for face in shape.stages),
            "context": "",
            "target": shape.target,
            "training": json.dumps(Training().as_dict()),
        }

    def describe(self, game: Game | None = None) -> Network:
        """The network without its weights, which takes no memory; `game` is the one that it must be for."""
        shape = self.shape
        if game is not None and game is not shape.game:
            raise ModelError(f"{self.path} is a model for {shape.game!r}, not for {game!r}")
        return self._make(np.broadcast_to(np.float32(0), (self._size,)))

    def load(self, game: Game | None = None) -> Network:
        """The network, if there is memory for it."""
        self.describe(game)
        network = self._make(allocate(self._size))
        self.read_tables(network)
        return network

    def load_all(self) -> tuple[Network, NDArray[np.float32] | None]:
        """The network, and E and A of TC side by side, (2 * weights,), if the file keeps them."""
        if not self.has_coherence:
            return self.load(), None
        check_memory(3 * 4 * self._size)
        network, kept = self._make(allocate(self._size)), allocate(2 * self._size)
        self.read_tables(network, kept)
        return network, kept

    @property
    def _size(self) -> int:
        return count_weights(self.shape.patterns, len(self.shape.stages))

    def _make(self, weights: NDArray[np.float32]) -> Network:
        shape = self.shape
        return Network(
            shape.game, shape.patterns, symmetry=shape.symmetry, target=shape.target, stages=shape.stages, context="",
            weights=weights,
        )  # fmt: skip

    def read_tables(self, network: Network, kept: NDArray[np.float32] | None = None) -> None:
        """Read the weights into those of a network like the one described, and what TC keeps; both are 0."""
        try:
            with open(self.path, "rb") as file:
                self._read(file, network, kept)
        except OSError as error:
            raise FileError(f"cannot read {self.path}: {error.strerror}") from error
        _mark_zeros(network)

    def _read(self, file: IO[bytes], network: Network, kept: NDArray[np.float32] | None) -> None:
        ordered = list(product(range(len(network.stages)), range(len(network.patterns))))
        orders: dict[int, Order] = {}
        for place, table in enumerate(self.tables):
            stage, number = ordered[place]
            if table.pattern is not None:
                stage, number = table.stage, network.patterns.index(table.pattern)
            order = orders.setdefault(number, Order(network, number))
            self._read_block(file, table.weights, 0, order, network.table(number, stage))
            if kept is not None and table.coherence is not None:
                for half, column in enumerate(_pairs(network, kept, number, stage)):
                    self._read_block(file, table.coherence, half * order.size, order, column)

    def _read_block(self, file: IO[bytes], block: Block, first: int, order: Order, table: NDArray[np.float32]) -> None:
        for start in order.starts:
            values = read_floats(file, block, first + start, order.part, self.path)
            if values.view(np.uint32).any():  # untouched memory stays free
                order.put(table, start, values)


# --- which file is it? ---------------------------------------------------------------------------------------------------


def find_foreign(path: Path | str, reading: Reading | None = None) -> Foreign | None:
    """A weight file of another program, by its first bytes; None if it is none. What was told may follow the name."""
    file, told = split_reading(path)
    reading = reading or told
    if not is_file(file):
        return None
    try:
        with open(file, "rb") as opened:
            head = opened.read(HEAD)
    except OSError as error:
        raise FileError(f"cannot read {file}: {error.strerror}") from error
    is_ours = head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 2**32  # safetensors: a length, then JSON
    for kind, found in FORMATS.items():
        if not is_ours and found.recognise(head):
            return Foreign(file, kind, reading)
    if reading.given:
        what = ", ".join(reading.given)
        if is_ours:
            raise InputError(f"{file} is a model of this program, which says by itself how to read it; leave out {what}")
        names = "; ".join(f"a {found.name}" for found in FORMATS.values())
        raise ModelError(f"{file} is no weight file that this program can read: {names}; it begins with {head[:16].hex(' ')!r}")
    if not is_ours and file.suffix == ".w":
        return Foreign(file, "tdl", reading)  # which says what is wrong
    return None


# --- what does it hold? --------------------------------------------------------------------------------------------------


def _find_shape(foreign: Foreign) -> Held:
    reading, tables = foreign.reading, foreign.tables
    game = make(reading.game or "2048", rules=reading.rules, size=reading.size or "4x4")
    if FORMATS[foreign.kind].only_2048 and (game.name, str(game.shape)) != ("2048", "4x4"):
        raise InputError(f"its weights are for 2048 on the 4x4 board, not for {game!r}")
    stages = _read_stages(reading.stages, game)
    network = reading.network
    if tables[0].pattern is None:
        network = network or _guess(tables, len(stages))
        patterns = parse_patterns(network, game.shape)
        _check_sizes(patterns, tables, len(stages))
    else:
        patterns = _named_patterns(tables, stages)
        check_patterns(patterns, game.shape)
        if network is not None and set(parse_patterns(network, game.shape)) != set(patterns):
            raise InputError(f"its patterns are {','.join(patterns)}, not {network}; leave out the network")
    symmetry = default_symmetry(network or "", game.shape) if reading.symmetry is None else reading.symmetry
    check_symmetry(symmetry, game.shape)
    target = reading.target or "afterstate"
    if target not in TARGETS:
        raise InputError(f"the target of a network is {' or '.join(TARGETS)}, not {target!r}")
    return Held(game, patterns, symmetry, stages, target)


def _read_stages(text: str | None, game: Game) -> tuple[int, ...]:
    words = (text or "0").replace(",", " ").split()
    if not all(word.isdecimal() and len(word) < 10 for word in words):
        raise InputError(f"stages are tiles such as 0,16384, not {text!r}")
    stages = tuple(map(int, words))
    check_stages(stages, game)
    return stages


def _guess(tables: list[Stored], stages: int) -> str:
    """The only preset with tables of these sizes."""
    sizes = [table.cells for table in tables]
    fitting = [name for name, preset in PRESETS.items() if [len(pattern) for pattern in preset.names] * stages == sizes]
    if len(fitting) == 1:
        return fitting[0]
    held = ", ".join(str(cells) for cells in sizes[:20]) + ", ..." * (len(sizes) > 20)
    which = f"it may be {', '.join(fitting)}" if fitting else "no preset has such tables"
    raise InputError(
        f"it does not name its patterns, which have {held} cells, and {which}; name them with --network 4x6 or 012345,..., "
        "or where a model is expected as FILE:network=..."
    )


def _check_sizes(patterns: tuple[str, ...], tables: list[Stored], stages: int) -> None:
    wanted = [len(pattern) for pattern in patterns] * stages
    if len(wanted) != len(tables):
        what = f"{len(patterns)} patterns" + f" in {stages} stages" * (stages > 1)
        raise InputError(f"it has {len(tables)} tables, but {what} need {len(wanted)}")
    for number, (cells, table) in enumerate(zip(wanted, tables, strict=True)):
        if cells != table.cells:
            raise InputError(
                f"table {number + 1} has {table.weights.count} weights, but pattern {patterns[number % len(patterns)]!r} "
                f"needs {16**cells}"
            )


def _named_patterns(tables: list[Stored], stages: tuple[int, ...]) -> tuple[str, ...]:
    """The patterns by their names; every stage must have all of them, once."""
    patterns = tuple(dict.fromkeys(str(table.pattern) for table in tables))
    held = max(table.stage for table in tables) + 1
    if held != len(stages):
        raise InputError(
            f"it has {held} stage{'s' * (held > 1)}, not {len(stages)}; say which tiles begin them: --stages 0,16384 names "
            "two, and where a model is expected it is FILE:stages=0,16384"
        )
    found = [(table.stage, table.pattern) for table in tables]
    for stage, pattern in product(range(held), patterns):
        if (count := found.count((stage, pattern))) != 1:
            raise InputError(f"pattern {pattern!r} has {count} tables in stage {stage}, where one is expected")
    return patterns


# --- weights of 0 in a later stage ---------------------------------------------------------------------------------------


def _mark_zeros(network: Network) -> None:
    """Say with our 0 what it means in a later stage: the same as the stage before. A weight that is 0 becomes `ZERO`."""
    for stage in range(len(network.stages) - 1, 0, -1):
        for number in range(len(network.patterns)):
            table, before = network.table(number, stage), network.table(number, stage - 1)
            for start in range(0, table.size, 1 << 18):
                own, earlier = table[start : start + (1 << 18)], before[start : start + (1 << 18)]
                same = own == earlier
                own[(own == 0) & ~same] = ZERO
                own[same] = 0


def _weights(network: Network, number: int, stage: int, order: Order, start: int) -> NDArray[np.float32]:
    """Part of a table as other programs have it: weights that a stage never wrote are those of the stage before."""
    values = order.take(network.table(number, stage), start)
    for earlier in range(stage - 1, -1, -1):
        if not (unwritten := values == 0).any():
            break
        values[unwritten] = order.take(network.table(number, earlier), start)[unwritten]
    if stage:
        values[values == ZERO] = 0
    return cast(NDArray[np.float32], values)


def _pairs(
    network: Network, kept: NDArray[np.float32], number: int, stage: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """E and A of one table, as views."""
    first = (network.table(number, stage).ctypes.data - network.weights.ctypes.data) // 4
    both = kept.reshape(-1, 2)[first : first + 16 ** len(network.patterns[number])]
    return both[:, 0], both[:, 1]


# --- writing -------------------------------------------------------------------------------------------------------------


def check_writable(network: Network, kind: Kind) -> None:
    """Refuse a network that a format cannot hold, or that its program would take for something else."""
    chosen = FORMATS[kind]
    reason = ""
    if network.context:
        reason = f"this network sees more than the tiles ({network.context})"
    elif len(network.stages) > chosen.stages:
        reason = f"this network has {len(network.stages)} stages, and such a file has at most {chosen.stages}"
    elif chosen.only_2048 and (network.game.name, str(network.game.shape)) != ("2048", "4x4"):
        reason = f"it is for 2048 on the 4x4 board, and this network for {network.game!r}; the course's format may do"
    elif chosen.only_2048 and (network.symmetry != 8 or network.target != "afterstate"):
        reason = (
            f"its program values afterstates with 8 isomorphisms, this network {network.target}s with {network.symmetry}; "
            "the course's format may do"
        )
    elif kind == "tdl" and len(network.stages) > 1 and any(len(pattern) == tdl.DIGITS for pattern in network.patterns):
        reason = "a name there has room for a pattern of 8 cells or for a stage, not for both"
    if reason:
        raise InputError(f"this network cannot be written as a {chosen.name}: {reason}")


def save_foreign(network: Network, path: Path | str, kind: Kind, *, coherence: NDArray[np.float32] | None = None) -> None:
    """Write a network in the format of another program; E and A of TC, side by side, are written if the format has them."""
    check_writable(network, kind)
    chosen = FORMATS[kind]
    orders = [Order(network, number) for number in range(len(network.patterns))]
    with atomic_write(Path(path)) as file:
        chosen.write_begin(file, network)
        for stage, (number, order) in product(range(len(network.stages)), enumerate(orders)):
            chosen.write_name(file, network.patterns[number], stage)
            for start in order.starts:
                file.write(_weights(network, number, stage, order, start).astype("<f4", copy=False).data)
            if kind != "tdl":
                continue
            if coherence is not None:
                tdl.write_block(file, 2 * order.size)
                for column, start in product(_pairs(network, coherence, number, stage), list(order.starts)):
                    file.write(order.take(column, start).astype("<f4", copy=False).data)
            tdl.write_block(file, 0)


def how_to_read(network: Network, kind: Kind) -> Reading:
    """What a file of this format does not say about a network."""
    named = kind != "course"
    preset = next((name for name, each in PRESETS.items() if each.names == network.patterns), ",".join(network.patterns))
    usual = default_symmetry("" if named else preset, network.game.shape)
    return Reading(
        network=None if named else preset,
        game=None if network.game.name == "2048" else network.game.name,
        rules=None if network.game.name == "2048" else network.game.rules,
        size=None if str(network.game.shape) == "4x4" else str(network.game.shape),
        symmetry=None if network.symmetry == usual else network.symmetry,
        stages=None if network.stages == (0,) else ",".join(map(str, network.stages)),
        target=None if network.target == "afterstate" else network.target,
    )
