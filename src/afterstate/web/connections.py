"""Connections that cannot stop the server: slow clients are closed, the number is limited, and the log stays short.

uvicorn waits forever for the rest of a request. A thousand clients that send half a request would take all files that this
process may open. Here each stage of a connection has a time limit. If too many are open, the one that has kept us waiting
longest goes.
"""

import asyncio
import contextlib
import functools
import logging
import math
import time
from importlib import import_module
from typing import Any, Literal

from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

Stage = Literal["waiting", "sending", "answering", "reading"]

# seconds for each stage: until a request is complete, until its body is, until the client has read the answer
LIMITS: dict[Stage, float | None] = {"waiting": 10.0, "sending": 30.0, "answering": None, "reading": 120.0}
IDLE = 5  # seconds that a connection may stay open between two requests
MOST = 500  # open connections
GRACE = 1.0  # seconds that a new connection has for its first request before it may have to make room
EVERY = 60.0  # seconds between two lines of one kind in the log
KINDS = 100  # kinds of lines that the log tells apart

_log = logging.getLogger("uvicorn.error")


@functools.cache
def most_open() -> int:
    """How many connections may be open: fewer if this process may open few files."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        resource: Any = import_module("resource")  # not on every system
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY:
            return max(8, min(MOST, int(soft) // 2))
    return MOST


class Connection(H11Protocol):
    """One connection, with a time limit for each stage of a request."""

    stage: Stage = "waiting"
    since = -math.inf  # when the stage began, by the clock of the event loop
    _timer: asyncio.TimerHandle | None = None
    _answered: object = None  # the request that the stage belongs to

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin("waiting")
        if len(self.connections) > most_open():
            self._make_room()
            _log.warning("closed a connection, since more than %d were open", most_open())

    def _make_room(self) -> None:
        """Close the oldest connection that has never asked anything; without one, the oldest that waits for no answer."""
        idle = [one for one in self.connections if isinstance(one, Connection) and one.stage != "answering"]
        young = self.loop.time() - GRACE
        min(idle, key=lambda one: (one.cycle is not None or one.since > young, one.since)).end()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._timer is not None:
            self._timer.cancel()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP. While an answer is under way, only the end of the connection can say so."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.end()
        else:
            super().send_400_response(msg)

    def end(self) -> None:
        """Close the connection now, whatever is still to be sent."""
        self.connections.discard(self)
        self.transport.abort()

    def _now(self) -> Stage:
        if self.transport.get_write_buffer_size():
            return "reading"
        if self.cycle is None or self.cycle.response_complete:
            return "waiting"
        return "sending" if self.cycle.more_body else "answering"

    def _look(self) -> None:
        """Start the clock again if a new stage has begun. More bytes of the same request are no reason."""
        if (stage := self._now()) != self.stage or self.cycle is not self._answered:
            self._begin(stage)

    def _begin(self, stage: Stage) -> None:
        self.stage, self.since, self._answered = stage, self.loop.time(), self.cycle
        if self._timer is not None:
            self._timer.cancel()
        limit = LIMITS[stage]
        self._timer = None if limit is None else self.loop.call_later(limit, self._expire)

    def _expire(self) -> None:
        if self._now() == self.stage and self.cycle is self._answered:
            self.end()
        else:
            self._look()


class Sparing(logging.Filter):
    """Lets one line of a kind through each minute, and counts the others."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[str, tuple[float, int]] = {}  # when the last line came through, and how many were left out since

    def filter(self, record: logging.LogRecord) -> bool:
        kind = str(record.msg).partition("\n")[0]
        if kind not in self._kinds and len(self._kinds) >= KINDS:
            kind = "others"
        now = time.monotonic()
        last, left_out = self._kinds.get(kind, (-math.inf, 0))
        if now - last < EVERY:
            self._kinds[kind] = (last, left_out + 1)
            return False
        self._kinds[kind] = (now, 0)
        if left_out:
            record.msg = f"{record.msg} (and {left_out} more like this since the last such line)"
        return True


def configure(app: Any, *, ending: int) -> Config:
    """Settings of uvicorn with these limits; it has `ending` seconds to finish its answers when it stops."""
    config = Config(
        app, http=Connection, ws="none", lifespan="on", log_level="warning", access_log=False, server_header=False,
        backlog=max(8, most_open() // 4),  # accepted at once, before we can close others
        timeout_keep_alive=IDLE, timeout_graceful_shutdown=ending,
    )  # fmt: skip
    sparing = Sparing()
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addFilter(sparing)
    return config
