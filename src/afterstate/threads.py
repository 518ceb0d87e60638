"""How many threads to use, and arrays shared out among them. Kernels run without the interpreter lock."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import SupportsIndex

from afterstate.errors import InputError
from afterstate.units import plain

MAX_THREADS = 256


def count_threads(threads: SupportsIndex | None) -> int:
    """How many threads to use: as given, or one for each processor that we may use."""
    threads = plain(threads)
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not isinstance(threads, int) or not 1 <= threads <= MAX_THREADS:
        raise InputError(f"threads must be 1 to {MAX_THREADS}, not {threads}")
    return threads


def share_out(work: Callable[[int, int, int], None], count: int, threads: int, *, least: int = 1024) -> None:
    """Call work(thread, start, end) on equal parts of `count` things, each thread one; none takes fewer than `least`."""
    parts = max(min(threads, count // least), 1)
    ends = [count * number // parts for number in range(parts + 1)]
    if parts == 1:
        work(0, 0, count)
        return
    with ThreadPoolExecutor(parts) as pool:
        for done in [pool.submit(work, number, ends[number], ends[number + 1]) for number in range(parts)]:
            done.result()
