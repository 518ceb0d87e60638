"""Which processes belong to which, and whether they are gone: for the tests of the cluster."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SOON = 30.0  # seconds in which every failure must be told


def family(process: int) -> set[int]:
    """The processes that descend from one, with itself."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def are_gone(processes: set[int], within: float) -> set[int]:
    """Wait for processes to end -> those that have not."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        if not (left := {one for one in processes if Path(f"/proc/{one}").exists() and _runs(one)}):
            return set()
        time.sleep(0.1)
    return left


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def named(processes: set[int], name: str) -> set[int]:
    """Those of some processes whose command line holds a name."""
    found = set()
    for one in processes:
        try:
            if name in Path(f"/proc/{one}/cmdline").read_bytes().decode(errors="replace"):
                found.add(one)
        except OSError:
            continue
    return found


def wait_until(true: Callable[[], bool], within: float) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + within
    while not true():
        assert time.monotonic() < deadline, f"not within {within} s"
        time.sleep(0.1)


@contextmanager
def second_node(address: str, folder: Path, **variables: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Another node of a cluster, on this machine: `ray start` in a process of its own, and all that belongs to it."""
    ray = str(Path(sys.executable).with_name("ray"))
    environment = os.environ | {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"} | variables
    with open(folder / "node.log", "wb") as log:
        command = [ray, "start", "--address", address, "--num-cpus", "2", "--object-store-memory", "100000000", "--block"]
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    with process:
        try:
            yield process
        finally:
            kill(family(process.pid))


def kill(processes: set[int]) -> None:
    """Kill processes, as a power cut would."""
    for one in processes:
        try:
            os.kill(one, 9)
        except ProcessLookupError:
            continue
