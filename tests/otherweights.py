"""Other programs' weight files, and what they say about a board.

The files are written byte by byte and the weights looked up with loops, without a line of the package.
"""

import random
import struct
from collections.abc import Iterable, Sequence

Tables = dict[str, list[float]]  # 16**cells weights by pattern
SIDE = 4


def make_tables(patterns: Sequence[str], seed: int = 1) -> Tables:
    """Random weights; every sum of some of them is exact, and two bytes hold each of them."""
    generator = random.Random(seed)
    return {pattern: [generator.randrange(-1024, 1024) / 64 for _ in range(16 ** len(pattern))] for pattern in patterns}


def isomorphs(cells: Sequence[int]) -> list[list[int]]:
    """A board of sixteen tiles, turned four times, and the same for its mirror image."""
    found = []
    rows = [list(cells[start : start + SIDE]) for start in range(0, SIDE * SIDE, SIDE)]
    for board in (rows, [row[::-1] for row in rows]):
        for _ in range(4):
            board = [[board[SIDE - 1 - c][r] for c in range(SIDE)] for r in range(SIDE)]
            found.append([tile for row in board for tile in row])
    return found


def value(tables: Tables, cells: Sequence[int], *, every: bool = True) -> float:
    """The sum over all tables and isomorphisms; tiles are exponents."""
    total = 0.0
    for board in isomorphs(cells) if every else [list(cells)]:
        for pattern, weights in tables.items():
            index = sum(board[int(cell, 16)] << 4 * place for place, cell in enumerate(pattern))
            total += weights[index]
    return total


def floats(values: Iterable[float], code: str = "f") -> bytes:
    every = list(values)
    return struct.pack(f"<{len(every)}{code}", *every)


def course_file(tables: Tables, *, count: str = "I") -> bytes:
    parts = [struct.pack(f"<{count}", len(tables))]
    for weights in tables.values():
        parts += [struct.pack("<Q", len(weights)), floats(weights)]
    return b"".join(parts)


def demo_file(tables: Tables) -> bytes:
    parts = [struct.pack("<Q", len(tables))]
    for pattern, weights in tables.items():
        name = f"{len(pattern)}-tuple pattern {pattern}".encode()
        parts += [struct.pack("<i", len(name)), name, struct.pack("<Q", len(weights)), floats(weights)]
    return b"".join(parts)


def tdl_name(pattern: str, stage: int = 0) -> bytes:
    name = f"{stage}{pattern.zfill(7)}" if stage else pattern
    return struct.pack("<IHH", int(name, 16), len(name), 0)


def tdl_table(name: bytes, *blocks: tuple[str, Sequence[float]]) -> bytes:
    """A table by its name of eight bytes, and blocks as (code of struct, numbers)."""
    parts = [struct.pack("<B", 4), name]
    for code, numbers in blocks:
        parts += [struct.pack("<HQ", struct.calcsize(code), len(numbers)), floats(numbers, code)]
    return b"".join([*parts, struct.pack("<H", 0)])


def tdl_file(*tables: bytes) -> bytes:
    return struct.pack("<BI", 0, len(tables)) + b"".join(tables)


def tdl_simple(tables: Tables) -> bytes:
    return tdl_file(*(tdl_table(tdl_name(pattern), ("f", weights)) for pattern, weights in tables.items()))
