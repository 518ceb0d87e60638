"""Connections: each stage has a time limit, the oldest idle one makes room, and the log stays short."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import uvicorn

from afterstate.web import connections
from afterstate.web.connections import Connection, Sparing, configure, most_open
from commandline import PATIENCE
from hammering import run_apart

GET = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n"
MUCH = 20_000_000  # bytes: more than the system's buffers hold
SOON = 0.1  # seconds

Open = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


class App:
    """Answers a GET with MUCH if its path says so, after `free` is set; a POST when its body is there."""

    def __init__(self) -> None:
        self.free = asyncio.Event()
        self.free.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for _ in range(2):
                kind = (await receive())["type"]
                await send({"type": f"{kind}.complete"})
            return
        while scope["method"] == "POST" and (message := await receive()).get("more_body"):
            if message["type"] == "http.disconnect":
                return
        await self.free.wait()
        body = b"x" * (MUCH if scope["path"] == "/much" else 2)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(len(body)).encode())]})
        await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[App, uvicorn.Server, Open]]:
    app = App()
    config = configure(app, ending=1)
    config.host, config.port = "127.0.0.1", 0
    server = uvicorn.Server(config)
    task = asyncio.create_task(server._serve())  # without its handlers of signals
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    opened = []

    async def connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        opened.append(await asyncio.open_connection("127.0.0.1", port))
        return opened[-1]

    yield app, server, connect
    for _, writer in opened:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
    server.should_exit = True
    await task


def limit(monkeypatch: pytest.MonkeyPatch, **seconds: float) -> None:
    """Short limits for these stages, and none that matters for the others."""
    every = {stage: seconds.get(stage, PATIENCE) for stage in ("waiting", "sending", "reading")}
    monkeypatch.setattr(connections, "LIMITS", every | {"answering": None})
    monkeypatch.setattr(connections, "IDLE", PATIENCE)


def run(what: Callable[[], Awaitable[None]]) -> None:
    run_apart(asyncio.wait_for(what(), PATIENCE))


async def closed(reader: asyncio.StreamReader) -> bytes:
    """Wait for the server to close the connection -> what it had sent."""
    got = b""
    try:
        while more := await reader.read(2**16):
            got += more
    except ConnectionError:
        pass
    return got


@pytest.mark.parametrize("start", [b"", b"G", GET[:-2], b"POST / HTTP/1.1\r\n"])
def test_a_request_must_be_complete_in_time(monkeypatch: pytest.MonkeyPatch, start: bytes) -> None:
    limit(monkeypatch, waiting=SOON)

    async def test() -> None:
        async with serving() as (_, _, connect):
            reader, writer = await connect()
            writer.write(start)
            assert await closed(reader) == b""

    run(test)


def test_drops_of_a_request_win_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, waiting=SOON)

    async def test() -> None:
        async with serving() as (_, _, connect):
            reader, writer = await connect()
            ended = asyncio.create_task(closed(reader))
            writer.write(b"GET / HTTP/1.1\r\n")
            while not ended.done():
                writer.write(b"a: b\r\n")
                await asyncio.sleep(SOON / 10)
            assert ended.result() == b""

    run(test)


def test_the_second_request_must_be_complete_in_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, waiting=SOON)

    async def test() -> None:
        async with serving() as (_, _, connect):
            reader, writer = await connect()
            writer.write(GET + GET[:-2])
            assert (await closed(reader)).count(b"200 OK") == 1

    run(test)


def test_a_body_must_be_complete_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, sending=SOON)

    async def test() -> None:
        async with serving() as (_, _, connect):
            reader, writer = await connect()
            writer.write(POST + b"12345")
            assert await closed(reader) == b""
            reader, writer = await connect()
            writer.write(POST + b"1234567890")
            assert b"200 OK" in await reader.read(100)

    run(test)


def test_who_does_not_read_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, reading=SOON)

    async def test() -> None:
        async with serving() as (_, server, connect):
            reader, writer = await connect()
            reader._transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(GET.replace(b"/ ", b"/much "))
            while not server.server_state.connections:
                await asyncio.sleep(0.01)
            while server.server_state.connections:
                await asyncio.sleep(0.01)
            reader._transport.resume_reading()  # type: ignore[attr-defined]
            assert len(await closed(reader)) < MUCH

    run(test)


def test_an_answer_takes_as_long_as_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, waiting=SOON, sending=SOON, reading=SOON)

    async def test() -> None:
        async with serving() as (app, _, connect):
            app.free.clear()
            reader, writer = await connect()
            writer.write(POST + b"1234567890")
            for _ in range(3):  # each of these takes longer than the limit
                idle, _ = await connect()
                await closed(idle)
            app.free.set()
            assert b"200 OK" in await reader.read(100)

    run(test)


def test_the_oldest_idle_connection_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch)
    monkeypatch.setattr(connections, "most_open", lambda: 4)

    async def test() -> None:
        async with serving() as (app, server, connect):
            app.free.clear()
            busy, busy_writer = await connect()
            busy_writer.write(GET)
            opened = []
            for count in range(2, 5):
                opened.append(await connect())
                while len(server.server_state.connections) < count:
                    await asyncio.sleep(0.01)
            while [one.stage for one in server.server_state.connections if isinstance(one, Connection)].count("answering") != 1:
                await asyncio.sleep(0.01)
            reader, writer = await connect()
            assert await closed(opened[0][0]) == b""
            app.free.set()
            for one, its_writer in ((busy, None), opened[1], opened[2], (reader, writer)):
                if its_writer is not None:
                    its_writer.write(GET)
                assert b"200 OK" in await one.read(100)

    run(test)


def test_who_never_asks_makes_room_first(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch)
    monkeypatch.setattr(connections, "GRACE", 0.0)
    monkeypatch.setattr(connections, "most_open", lambda: 2)

    async def test() -> None:
        async with serving() as (_, _, connect):
            asked, writer = await connect()
            writer.write(GET)
            assert b"200 OK" in await asked.read(100)
            silent, _ = await connect()
            await connect()
            assert await closed(silent) == b""  # although it is younger
            writer.write(GET)
            assert b"200 OK" in await asked.read(100)

    run(test)


def test_nonsense_during_an_answer_ends_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    """A bad chunk came while the answer was under way: uvicorn logged two tracebacks."""

    async def test() -> None:
        async with serving() as (app, server, connect):
            app.free.clear()
            reader, writer = await connect()
            writer.write(GET.replace(b"\r\n\r\n", b"\r\ntransfer-encoding: chunked\r\n\r\n"))
            while not [one for one in server.server_state.connections if isinstance(one, Connection) and one.cycle]:
                await asyncio.sleep(0.01)
            writer.write(b"zz\r\n")
            assert await closed(reader) == b""
            app.free.set()

    run(test)
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize(("files", "most"), [(1024, 500), (256, 128), (4, 8), (10**6, 500), (-1, 500)])
def test_few_files_allow_few_connections(monkeypatch: pytest.MonkeyPatch, files: int, most: int) -> None:
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    most_open.cache_clear()
    assert most_open() == most
    most_open.cache_clear()


def test_the_log_counts_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    sparing = Sparing()

    def say(text: str) -> str | None:
        record = logging.LogRecord("x", logging.WARNING, "", 0, text, ("a", 1), None)
        return record.getMessage() if sparing.filter(record) else None

    assert [say("%s: bad %d\nmore") for _ in range(3)] == ["a: bad 1\nmore", None, None]
    assert say("%s: other %d") == "a: other 1"
    now += 61
    assert say("%s: bad %d\nless") == "a: bad 1\nless (and 2 more like this since the last such line)"
    assert say("%s: bad %d") is None
    assert len([text for number in range(1000) if (text := say(f"{number} %s %d"))]) == 100 - 2 + 1
