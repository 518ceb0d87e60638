"""A connection to Ray: to a cluster by its address, or to one that is started here and stopped again.

    with connect("local", stop) as session:          # or "10.0.0.1:6379", or "auto": the one that runs on this machine
        with translated():
            ray.get(...)
            session.check()                          # now and then: raises a ClusterError if the head is gone

What is started here listens on loopback only, has no dashboard, sends no statistics, and keeps its files in a folder of its
own, which is removed at the end.
"""

import logging
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from afterstate.cluster.address import AUTO, LOCAL, is_loopback, split_address
from afterstate.cluster.failures import check_cluster, load_ray, translated
from afterstate.cluster.versions import check_versions
from afterstate.engine.workers import stop_on_signal
from afterstate.errors import ClusterError, InputError
from afterstate.threads import count_threads

STORE = 1 << 28  # bytes for shared objects, by default
ANSWER = 8.0  # seconds that a head has to answer in
LONGEST_FOLDER = 36  # characters; a socket's name in it must have fewer than 108
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # how every talk with Ray begins
_SETTINGS = 4  # the kind of what a server then sends first
_TOKEN = "set RAY_AUTH_MODE=token if the cluster asks for a token"


@dataclass(frozen=True)
class Node:
    """A machine of a cluster."""

    id: str
    name: str  # host and address
    processors: int


@dataclass(frozen=True)
class Session:
    """A connection to a cluster."""

    address: str  # of its head
    ours: bool  # whether it was started here

    def nodes(self) -> list[Node]:
        """The machines that are there now."""
        with translated():
            return [
                Node(
                    found["NodeID"], f"{found['NodeManagerHostname']} ({found['NodeManagerAddress']})",
                    int(found["Resources"].get("CPU", 0)),
                )
                for found in load_ray().nodes() if found["Alive"]
            ]  # fmt: skip

    def check(self) -> None:
        """Raise a ClusterError if the head does not answer. Ray itself would wait a minute, then end this process."""
        try:
            _greet(self.address)
        except OSError as error:
            raise ClusterError(f"the head of the Ray cluster at {self.address} is gone: {_reason(error)}") from error


@contextmanager
def connect(address: str, stop: threading.Event, *, store: int = STORE) -> Iterator[Session]:
    """Connect to a cluster, or start one on this machine, and leave nothing of it behind.

    Ctrl-C and SIGTERM set `stop` while the block runs; while Ray starts, they end it with KeyboardInterrupt. `store` is how
    many bytes of shared objects a cluster that we start has room for. If this process is connected already, that is used and
    stays open.
    """
    check_cluster(address)
    ray = load_ray()
    with stop_on_signal(stop), _mute():
        if ray.is_initialized():
            yield _present(ray, address)
            return
        with _environment(RAY_AUTH_MODE=None), _folder(address) as folder:  # Ray sets this variable
            try:
                with stop_on_signal(stop):  # again: Ray sets handlers of its own
                    session = _open(ray, address, folder, store)
                if stop.is_set():
                    raise KeyboardInterrupt
                if not session.ours:
                    check_versions(session.nodes())
                yield session
            finally:
                _close(ray, folder)


def _present(ray: Any, address: str) -> Session:
    """The connection that this process has already."""
    current = str(ray.get_runtime_context().gcs_address)
    if address not in {LOCAL, AUTO, current}:
        raise InputError(f"this process is connected to the cluster at {current} already, and not to {address}")
    session = Session(current, ours=False)
    check_versions(session.nodes())
    return session


@contextmanager
def _folder(address: str) -> Iterator[Path | None]:
    """A folder for the files of a cluster that we start."""
    if address != LOCAL:
        yield None
        return
    place = tempfile.gettempdir()
    path = Path(tempfile.mkdtemp(prefix="ray-", dir=place if len(place) + 13 <= LONGEST_FOLDER else "/tmp"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _open(ray: Any, address: str, folder: Path | None, store: int) -> Session:
    begin = partial(ray.init, log_to_driver=False, logging_level=logging.CRITICAL)
    try:
        with _quietly(loopback=address == LOCAL or is_loopback(address)):
            if folder is None:
                if address != AUTO:
                    _greet(address)
                begin(address=address)
            else:
                processors = count_threads(None)
                begin(
                    address=LOCAL,
                    num_cpus=processors,
                    object_store_memory=store,
                    include_dashboard=False,
                    _temp_dir=str(folder),
                )
    except (Exception, SystemExit) as error:  # Ray sends itself a SIGTERM if it cannot connect
        what = "Ray cannot be started here" if address == LOCAL else f"cannot connect to the Ray cluster at {address}"
        hint = f"; {_TOKEN}" if isinstance(error, ConnectionError) and not isinstance(error, ConnectionRefusedError) else ""
        raise ClusterError(f"{what}: {_reason(error)}{hint}") from error
    return Session(str(ray.get_runtime_context().gcs_address), ours=folder is not None)


@contextmanager
def _quietly(*, loopback: bool) -> Iterator[None]:
    """What Ray starts in the block sends no statistics; with `loopback`, other machines cannot reach it."""
    from ray._private import ray_constants

    reachable = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = reachable and not loopback
    try:
        with _environment(RAY_USAGE_STATS_ENABLED="0"):
            yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = reachable


@contextmanager
def _mute() -> Iterator[None]:
    """Keep Ray from printing to standard output that a worker was lost: the task is done again, and output may be JSON."""
    from ray._private import worker

    before = worker.print_to_stdstream
    worker.print_to_stdstream = lambda *_, **_more: None
    try:
        yield
    finally:
        worker.print_to_stdstream = before


@contextmanager
def _environment(**values: str | None) -> Iterator[None]:
    """Set environment variables (those that are None stay as they are), and restore them after the block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update({name: value for name, value in values.items() if value is not None})
    try:
        yield
    finally:
        for name, old in before.items():
            if old is not None:
                os.environ[name] = old
            else:
                os.environ.pop(name, None)


def _close(ray: Any, folder: Path | None) -> None:
    """Leave the cluster; what we started ends. Ray forgets some of it if a part of it was killed before."""
    started = [] if folder is None else _started(folder)
    with suppress(Exception):
        ray.shutdown()
    for process in started:
        with suppress(Exception):  # it has ended
            process.kill()


def _started(folder: Path) -> list[Any]:
    """The processes of the Ray that we started, known by its folder or by the names that they give themselves."""
    import psutil  # comes with Ray

    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            words = process.cmdline()
            if any(str(folder) in word for word in words) or (words and words[0].startswith("ray::")):
                found.append(process)
    return found


def _greet(address: str) -> None:
    """Raise an OSError unless something that talks as Ray does answers at an address."""
    with socket.create_connection(split_address(address), timeout=ANSWER) as talk:
        talk.sendall(_GREETING)
        answer = talk.recv(9)
    if len(answer) < 4 or answer[3] != _SETTINGS:
        raise OSError("what answers there is not Ray")


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, SystemExit):
        return "it does not answer"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return text[:300] or type(error).__name__
