"""What every request must pass, and what every answer carries: a foreign site can neither read from this server nor drive it.

A browser tells in `Host` which name it asked for and in `Origin` who asks. A name that is not ours is a foreign site that
points its own name at this machine; an origin that is not ours is a foreign page. Bodies must be JSON, which a foreign form
cannot send.
"""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY = 2 * 2**20  # bytes; the longest game takes less
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class Guard:
    """The outermost part of the server."""

    def __init__(self, app: App, *, hosts: tuple[str, ...] = LOOPBACK, any_address: bool = False) -> None:
        self.app = app
        self.hosts = {host.lower() for host in hosts}
        self.any_address = any_address  # numbers are no foreign site's name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = _Request(receive, send)
        if refusal := self._refusal(scope):
            await request.refuse(*refusal)
            return
        await self.app(scope, request.receive, request.send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Why a request is not let in."""
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "")
        if not self._is_ours(host):
            return 421, f"this server does not answer to the name {host[:80]!r}"
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in {f"http://{host.lower()}", f"https://{host.lower()}"}:
            return 403, "another site cannot use this server"
        is_link = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
        if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"} and not is_link:
            return 403, "another site cannot use this server"
        if scope["method"] not in {"POST", "PUT", "PATCH", "DELETE"}:
            return None
        size = headers.get("content-length", "0")
        if not size.isascii() or not size.isdecimal() or int(size) > MAX_BODY:
            return _TOO_LARGE
        has_body = size != "0" or "transfer-encoding" in headers
        if has_body and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return 415, "send JSON, with the content type application/json"
        return None

    def _is_ours(self, host: str) -> bool:
        """Whether a name, with or without its port, is one that we answer to."""
        name, colon, port = host.lower().rpartition(":")
        if not (colon and port.isascii() and port.isdecimal()):
            name = host.lower()
        return name in self.hosts or (self.any_address and _is_address(name))


_TOO_LARGE = (413, f"a request has at most {MAX_BODY} bytes")


def _is_address(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class _TooLargeError(Exception):
    """A body that is longer than it may be."""


class _Request:
    """One request: its body is limited, whatever length it told, and its answer carries our headers."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._left = MAX_BODY
        self._refused = False

    async def receive(self) -> MutableMapping[str, Any]:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            await self.refuse(*_TOO_LARGE)
            raise _TooLargeError  # what the application makes of it goes nowhere
        return message

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if self._refused:
            return
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await self._send(message)

    async def refuse(self, status: int, reason: str) -> None:
        """Answer with a reason, and with nothing else."""
        body = json.dumps({"error": reason}).encode()
        kind, length = (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())
        headers = [kind, length, (b"connection", b"close")]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})
        self._refused = True
