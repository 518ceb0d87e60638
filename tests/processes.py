"""Which processes belong to which, and whether they are gone: for the tests of the cluster."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray

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


_START = """
from ray._private import services
services.resolve_ip_for_localhost = lambda host: host  # join on loopback, which `ray start` does not offer
from ray.scripts.scripts import main
main()
"""


@contextmanager
def second_node(address: str, folder: Path, **variables: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Another node of a cluster, on this machine: `ray start` in a process of its own, and all that belongs to it."""
    options = {"address": address, "node-ip-address": "127.0.0.1", "num-cpus": "2", "object-store-memory": "100000000"}
    command = [sys.executable, "-c", _START, "start", "--block", *(f"--{name}={value}" for name, value in options.items())]
    environment = os.environ | {"RAY_USAGE_STATS_ENABLED": "0"} | variables
    nodes = len(_alive())
    with open(folder / "node.log", "wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    with process:
        try:
            wait_until(lambda: process.poll() is not None or len(_alive()) > nodes, 2 * SOON)
            assert process.poll() is None, (folder / "node.log").read_text()
            yield process
        finally:
            processes = family(process.pid)
            process.terminate()  # it says that it leaves
            are_gone(processes, SOON / 2)
            kill(processes)
    wait_until(lambda: len(_alive()) == nodes, 2 * SOON)


def _alive() -> list[Any]:
    return [one for one in ray.nodes() if one["Alive"]]


def kill(processes: set[int]) -> None:
    """Kill processes, as a power cut would."""
    for one in processes:
        try:
            os.kill(one, 9)
        except ProcessLookupError:
            continue
