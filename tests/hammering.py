"""Many clients of a server at once: good ones, slow ones and bad ones, over plain sockets."""

import asyncio
import json
import random
import socket
import time
from collections import Counter
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from afterstate.web.connections import IDLE
from commandline import PATIENCE
from serving import BOARD, TOKEN

JSON = "content-type: application/json\r\n"
FIRST = {"text": BOARD, "rng": "0123456789abcdef", "rewards": 0}
Result = TypeVar("Result")


def run_apart(work: Coroutine[Any, Any, Result]) -> Result:
    """Run it in a thread of its own: the browser of other tests has an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def request(method: str, path: str, body: dict[str, Any] | None = None, *, length: int | None = None) -> bytes:
    """A request as bytes; `length` is what it claims its body has."""
    content = b"" if body is None else json.dumps(body).encode()
    size = "" if body is None else f"{JSON}content-length: {len(content) if length is None else length}\r\n"
    head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n{size}\r\n"
    return head.encode() + content


MIX = [
    (200, request("GET", "/")),
    (200, request("GET", "/api/about")),
    (200, request("GET", "/api/runs")),
    (200, request("POST", "/api/new", {"seed": 1})),
    (200, request("POST", "/api/slide", FIRST | {"slide": "left"})),
    (200, request("POST", "/api/move", {"board": BOARD, "depth": 1})),
    (200, request("GET", f"/api/move?depth=2&board={BOARD.replace(' ', '+')}")),
    (200, request("POST", "/api/replay", {"seed": 1, "moves": ""})),
    (404, request("GET", "/nothing")),
    (422, request("POST", "/api/new", {"sed": 1})),
    (409, request("POST", "/api/slide", FIRST | {"slide": "up"})),
    (415, request("POST", "/api/new", {}).replace(b"application/json", b"text/plain")),
]
BAD = [
    b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"\r\n" * 50, b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
    b"POST /api/new HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", b"GET / HTTP/9.9\r\n\r\n",
    request("GET", "/").replace(b"\r\n\r\n", b"\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"),
    b"GET /" + b"x" * 70_000,
]  # fmt: skip
HALF = [
    b"", b"G", b"GET / HTTP/1.1\r\nhost: 127", request("GET", "/")[:-2], request("POST", "/api/new", {}, length=100_000),
]  # fmt: skip


@dataclass
class Load:
    """What came of it."""

    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[tuple[int, int]] = field(default_factory=list)  # status that was expected, status that came
    seconds: list[float] = field(default_factory=list)  # of each answer

    def percentile(self, part: float) -> float:
        return sorted(self.seconds)[int(part * (len(self.seconds) - 1))]

    def __str__(self) -> str:
        took = ", ".join(f"{name} {1000 * self.percentile(part):.0f} ms" for name, part in (("median", 0.5), ("p99", 0.99)))
        return f"{sum(self.statuses.values())} answers, {dict(sorted(self.statuses.items()))}, {took}"


async def answer(reader: asyncio.StreamReader) -> tuple[int, bool]:
    """Read one answer -> its status, and whether the connection stays open."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = next(int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length:"))
    await reader.readexactly(length)
    return int(head.split()[1]), "connection: close" not in head


async def _client(port: int, count: int, seed: int, load: Load) -> None:
    """One client: its requests one after the other, on one connection as long as the server keeps it.

    The server closes a connection that has been silent for IDLE seconds. A client that had to wait for a processor that long
    asks again on a new one, as browsers do. A connection that was not silent must not be closed before its answer.
    """
    draw = random.Random(seed)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    spoke = time.perf_counter()
    for _ in range(count):
        expected, text = draw.choice(MIX)
        began = time.perf_counter()
        silent = began - spoke
        try:
            writer.write(text)
            status, stays = await answer(reader)
        except (ConnectionError, asyncio.IncompleteReadError):
            writer.close()
            if silent < IDLE - 1:
                raise
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(text)
            status, stays = await answer(reader)
        spoke = time.perf_counter()
        load.seconds.append(spoke - began)
        load.statuses[status] += 1
        if status not in {expected, 503}:
            load.wrong.append((expected, status))
        if not stays:
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            spoke = time.perf_counter()
    writer.close()


async def _nuisance(port: int, seed: int, until: asyncio.Event) -> None:
    """Clients that send half a request, or nonsense, and come again when they are closed."""
    draw = random.Random(seed)
    while not until.is_set():
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(draw.choice(HALF + BAD))
            await asyncio.wait_for(reader.read(), timeout=1)
        except (OSError, TimeoutError):
            pass
        writer.close()


def hammer(port: int, *, clients: int, requests: int, nuisances: int) -> Load:
    """Send `requests` requests over `clients` connections, while others are a nuisance."""

    async def all_of_them() -> Load:
        load, over = Load(), asyncio.Event()
        others = [asyncio.create_task(_nuisance(port, seed, over)) for seed in range(nuisances)]
        await asyncio.gather(*(_client(port, requests // clients, seed, load) for seed in range(clients)))
        over.set()
        await asyncio.gather(*others)
        return load

    return run_apart(all_of_them())


def half_sent(port: int, count: int) -> list[socket.socket]:
    """Connections that have sent half a request and stay open."""
    opened = []
    for number in range(count):
        opened.append(socket.create_connection(("127.0.0.1", port), PATIENCE))
        opened[-1].sendall(HALF[number % len(HALF)])
    return opened


@dataclass(frozen=True)
class Footprint:
    """What a process uses."""

    memory: float  # MiB, without mapped files
    threads: int
    files: int

    def __str__(self) -> str:
        return f"{self.memory:.0f} MiB, {self.threads} threads, {self.files} files"


def footprint(pid: int) -> Footprint:
    folder = Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    return Footprint(int(status["RssAnon"].split()[0]) / 1024, int(status["Threads"]), len(list((folder / "fd").iterdir())))
