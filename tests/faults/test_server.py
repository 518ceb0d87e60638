"""The server under load: half-sent requests, slow and bad clients, many at once. `--long` for the full number and an hour."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from afterstate.web.connections import MOST
from commandline import PATIENCE
from hammering import BAD, Footprint, footprint, half_sent, hammer
from serving import Served, make_models, served
from test_web_process import fetch

FILES = 1024  # that the server may open, as on most systems
GROWTH = 64  # MiB that a server may grow by under load, after it has warmed up

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")


@pytest.fixture(scope="module", autouse=True)
def many_files() -> Iterator[None]:
    """Let this process open as many files as it may: each client is one."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < 2 * FILES:
        pytest.skip(f"this process may open only {hard} files")
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_models(tmp_path_factory.mktemp("models"))[0]


@pytest.fixture
def server(model: Path, tmp_path: Path) -> Iterator[Served]:
    """A server that is ready."""
    with served(tmp_path, model, files=FILES) as opened:
        while fetch(f"{opened.address}/api/about")["state"] != "ready":
            time.sleep(0.05)
        yield opened


def check_bounded(server: Served, before: Footprint, threads: int) -> None:
    """It has the files, the threads and the memory that it should have, and a short log."""
    now = footprint(server.process.pid)
    print(f"before: {before}; now: {now}")
    assert now.files <= before.files + MOST
    assert now.threads <= threads
    assert now.memory <= before.memory + GROWTH
    assert len("".join(server.lines)) < 20_000
    assert "Traceback" not in "".join(server.lines)


def most_threads(before: Footprint) -> int:
    """Those that are there, the four for quick answers, the long ones, and a few of the libraries."""
    import os

    return before.threads + 4 + (os.cpu_count() or 1) + 4


def test_half_sent_requests_do_not_stop_answers(server: Served) -> None:
    """1,100 of them took all files of the server, and 186 MB of log."""
    before = footprint(server.process.pid)
    opened = half_sent(server.port, 1100)
    try:
        for path in ("", "api/about", "api/runs"):
            assert fetch(f"{server.address}/{path}")
        check_bounded(server, before, most_threads(before))
    finally:
        for one in opened:
            one.close()


def test_nonsense_writes_no_long_log(server: Served) -> None:
    import socket

    for number in range(400):
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as one:
            one.sendall(BAD[number % len(BAD)])
    assert fetch(f"{server.address}/api/about")
    assert len(server.lines) < 30


def test_many_requests_over_many_connections(server: Served, request: pytest.FixtureRequest) -> None:
    long = request.config.getoption("--long")
    hammer(server.port, clients=20, requests=100, nuisances=20)  # warm
    before = footprint(server.process.pid)
    requests, clients = (10_000, 200) if long else (400, 100)
    began = time.perf_counter()
    load = hammer(server.port, clients=clients, requests=requests, nuisances=100)
    took = time.perf_counter() - began
    print(f"\n{clients} connections, 100 slow or bad clients: {load}; {requests / took:.0f} answers a second")
    assert load.wrong == []
    assert sum(load.statuses.values()) == requests
    check_bounded(server, before, most_threads(before))


def test_nothing_grows_over_time(server: Served, request: pytest.FixtureRequest) -> None:
    """Rounds of requests for an hour, or three of them."""
    seconds = 3600 if request.config.getoption("--long") else 0
    hammer(server.port, clients=50, requests=100, nuisances=20)  # warm
    before = highest = footprint(server.process.pid)
    answers, rounds, end = 0, 0, time.monotonic() + seconds
    while rounds < 3 or time.monotonic() < end:
        load = hammer(server.port, clients=50, requests=100 if not seconds else 1000, nuisances=20)
        assert load.wrong == []
        answers, rounds = answers + sum(load.statuses.values()), rounds + 1
        now = footprint(server.process.pid)
        highest = Footprint(max(highest.memory, now.memory), max(highest.threads, now.threads), max(highest.files, now.files))
    print(f"\n{rounds} rounds, {answers} answers; before: {before}; at most: {highest}")
    check_bounded(server, before, most_threads(before))
    assert highest.memory <= before.memory + GROWTH
