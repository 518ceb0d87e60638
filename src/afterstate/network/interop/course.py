"""weights.bin of the course's framework: tables without names.

    u32 tables; for each: u64 size, size x f32

In 2017 the number of tables was a u64. Numbers are little-endian.
"""

import struct
from typing import IO

from afterstate.network.interop.stored import MOST_TABLES, Source, Stored
from afterstate.network.network import Network

NAME = "file of the course's framework"
_SIZES = {16**cells for cells in range(1, 9)}


def recognise(head: bytes) -> bool:
    """Whether a file that begins like this is one."""
    return _count_width(head) > 0


def _count_width(head: bytes) -> int:
    """Bytes of the number of tables; 0 if it is another kind of file."""
    for width, code in ((4, "<IQ"), (8, "<QQ")):
        if len(head) >= width + 8:
            tables, size = struct.unpack_from(code, head)
            if 1 <= tables <= MOST_TABLES and size in _SIZES:
                return width
    return 0


def scan(source: Source) -> list[Stored]:
    """Find the tables."""
    width = _count_width(source.text(min(16, source.size), "its first bytes"))
    source.rewind()
    found = [Stored(source.block(f"table {number}")) for number in range(1, 1 + source.tables("Q" if width == 8 else "I"))]
    if source.left:
        raise source.error(f"{source.left} bytes follow its last table")
    return found


def write_begin(file: IO[bytes], network: Network) -> None:
    file.write(struct.pack("<I", len(network.patterns) * len(network.stages)))


def write_name(file: IO[bytes], pattern: str, stage: int) -> None:
    file.write(struct.pack("<Q", 16 ** len(pattern)))
