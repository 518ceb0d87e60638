"""Memory: how much is free, and aligned arrays."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.errors import ResourceError

HUGE_PAGE = 1 << 21


def free_memory() -> int:
    """Bytes free for a new network: what the system or our container has left."""
    try:
        fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        free = int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        return free if limit == "max" else min(free, max(int(limit) - used, 0))
    except (OSError, ValueError):
        return free


def check_memory(need: int) -> None:
    """Refuse what does not fit: the system hands out memory that it does not have, and fails only when it is used."""
    free = free_memory()
    if need > free:
        raise ResourceError(
            f"this network needs {need / 2**30:.1f} GiB for its weights, but only {free / 2**30:.1f} GiB of memory is free; "
            f"choose fewer or smaller patterns"
        )


def allocate(size: int, *, used: int | None = None) -> NDArray[np.float32]:
    """Zeros aligned to a huge page (so to a cache line too), if there is enough memory.

    Memory that stays 0 is free. `used` is how many bytes will be written, if not all.
    """
    need = 4 * size
    check_memory(need if used is None else min(need, used))
    memory = np.zeros(need + HUGE_PAGE, np.uint8)
    start = -memory.ctypes.data % HUGE_PAGE
    return memory[start : start + need].view(np.float32)


def aligned(size: int, dtype: Any) -> NDArray[Any]:
    """Zeros that share no pair of cache lines with other data: threads that write to the same line slow each other down."""
    pair = 128
    memory = np.zeros(size * np.dtype(dtype).itemsize + 2 * pair, np.uint8)
    start = -memory.ctypes.data % pair
    return memory[start : start + size * np.dtype(dtype).itemsize].view(dtype)
