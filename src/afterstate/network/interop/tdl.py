"""Files of TDL2048+ (.w): tables with names and stages, and what TC keeps for each weight.

    u8 0, u32 tables; for each: u8 4, name of 8 bytes, blocks { u16 bytes of a number, u64 size, numbers }, u16 0

A name is a u32 whose hex digits are cells, a u16 that counts them, and a u16 0; or eight letters, padded with spaces. The first
block is the table. One that is twice as long has E of all weights and then A of all; others are skipped. Stage i has i as the
first of eight digits: 10012345. A file may follow another in the same file. Numbers are little-endian.
"""

import struct
from typing import IO

from afterstate.network.interop.stored import Block, Source, Stored
from afterstate.network.network import Network
from afterstate.units import shorten

NAME = "file of TDL2048+"
WIDTHS = (2, 4, 8)
DIGITS = 8  # of a name with a stage
MOST_STAGES = 16
_FILE, _TABLE = 0, 4  # the bytes that these begin with


def recognise(head: bytes) -> bool:
    """Whether a file that begins like this is one."""
    return len(head) >= 6 and head[0] == _FILE and head[5] == _TABLE


def scan(source: Source) -> list[Stored]:
    """Find the tables of all files that follow each other."""
    found: list[Stored] = []
    while source.left or not found:
        if (kind := source.number("B", "its first byte")) != _FILE:
            raise source.error(f"byte {source.at - 1} is {kind}, where {_FILE} begins a file")
        for _ in range(source.tables("I")):
            found.append(_scan_table(source, len(found) + 1))
    return found


def _scan_table(source: Source, number: int) -> Stored:
    name = f"table {number}"
    if (kind := source.number("B", name)) != _TABLE:
        raise source.error(f"{name} begins with {kind} at byte {source.at - 1}; this program reads tables, which begin with 4")
    raw = source.text(8, f"the name of {name}")
    width = source.number("H", name)
    if width not in WIDTHS:
        raise source.error(f"{name} has numbers of {width} bytes; floats have 2, 4 or 8")
    weights = source.block(name, width=width)
    pattern, stage = _read_name(source, name, raw, Stored(weights).cells)
    return Stored(weights, pattern, stage, _scan_more(source, name, weights))


def _scan_more(source: Source, name: str, weights: Block) -> Block | None:
    """The block of TC, if there is one; others are skipped."""
    found = None
    while width := source.number("H", f"the end of {name}"):
        count = source.number("Q", f"a further block of {name}")
        block = source.skip(count, width, f"a further block of {name}")
        if found is None and count == 2 * weights.count and width in WIDTHS:
            found = block
    return found


def _read_name(source: Source, name: str, raw: bytes, cells: int) -> tuple[str, int]:
    """Pattern and stage of a table: '012345' or '10012345'."""
    value, digits, rest = struct.unpack("<IHH", raw)
    text = raw.decode("latin-1").partition(" ")[0].lower()
    if not rest:  # a number, with as many digits as it says, or else as its table has cells, or else eight
        width = digits or cells
        text = f"{value:x}".zfill(width if value < 16 ** min(width, DIGITS) else DIGITS)
    pattern, stage = text[-cells:], text[:-cells]
    is_hex = all(letter in "0123456789abcdef" for letter in text)
    has_stage = len(text) == DIGITS and stage != "" and not stage[1:].strip("0")
    if not is_hex or len(text) < cells or not (stage == "" or has_stage):
        raise source.error(f"{name} is called {shorten(text, 20)!r}, which is no pattern of {cells} cells, as its size says")
    return pattern, int(stage[0], 16) if stage else 0


def write_begin(file: IO[bytes], network: Network) -> None:
    file.write(struct.pack("<BI", _FILE, len(network.patterns) * len(network.stages)))


def write_name(file: IO[bytes], pattern: str, stage: int) -> None:
    digits = DIGITS if stage else len(pattern)
    file.write(struct.pack("<BIHH", _TABLE, int(pattern, 16) | stage << 28, digits, 0))
    write_block(file, 16 ** len(pattern))


def write_block(file: IO[bytes], count: int) -> None:
    """The beginning of a block of f32; 0 ends a table."""
    file.write(struct.pack("<HQ", 4, count) if count else struct.pack("<H", 0))
