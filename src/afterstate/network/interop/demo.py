"""2048.bin of TDL2048-Demo: tables with names.

    u64 tables; for each: i32 length, name as `6-tuple pattern 012345`, u64 size, size x f32

Numbers are little-endian.
"""

import re
import struct
from typing import IO

from afterstate.network.interop.stored import MOST_TABLES, Source, Stored
from afterstate.network.network import Network

NAME = "file of TDL2048-Demo"
LONGEST_NAME = 100
_TUPLE = re.compile(r"([1-8])-tuple pattern ([0-9a-fA-F]{1,8})")


def recognise(head: bytes) -> bool:
    """Whether a file that begins like this is one."""
    if len(head) < 14:
        return False
    tables, length = struct.unpack_from("<Qi", head)
    begin = head[12 : 12 + min(length, 20)] if 1 <= length <= LONGEST_NAME else b""
    return 1 <= tables <= MOST_TABLES and bool(begin) and all(32 <= letter < 127 for letter in begin)


def scan(source: Source) -> list[Stored]:
    """Find the tables."""
    found = [_scan_table(source, number) for number in range(1, 1 + source.tables("Q"))]
    if source.left:
        raise source.error(f"{source.left} bytes follow its last table")
    return found


def _scan_table(source: Source, number: int) -> Stored:
    length = source.number("i", f"the name of table {number}")
    if not 1 <= length <= LONGEST_NAME:
        raise source.error(f"the name of table {number} should have {length} letters; 1 to {LONGEST_NAME} are possible")
    name = source.text(length, f"the name of table {number}").decode("latin-1")
    match = _TUPLE.fullmatch(name)
    if match is None or int(match[1]) != len(match[2]):
        raise source.error(f"table {number} is called {name!r}, which does not name a pattern like '6-tuple pattern 012345'")
    table = Stored(source.block(f"table {number}"), match[2].lower())
    if table.cells != len(match[2]):
        raise source.error(f"the table of {name!r} has {table.weights.count} weights, not {16 ** len(match[2])}")
    return table


def write_begin(file: IO[bytes], network: Network) -> None:
    file.write(struct.pack("<Q", len(network.patterns)))


def write_name(file: IO[bytes], pattern: str, stage: int) -> None:
    name = f"{len(pattern)}-tuple pattern {pattern}".encode()
    file.write(struct.pack("<i", len(name)) + name + struct.pack("<Q", 16 ** len(pattern)))
