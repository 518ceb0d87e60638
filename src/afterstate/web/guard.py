"""Check every request, and add headers to every answer, so that foreign sites can neither read from this server nor use it.

A browser sends in `Host` the name that it asked for, and in `Origin` the site that asks. A wrong name means that a foreign site
points its own name at this machine (DNS rebinding). A wrong origin is a foreign page. Bodies must be JSON, which a foreign form
cannot send. Who has no token is turned away (access.py).
"""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from typing import Any

from afterstate.web.access import ASKING, Access, Refusal

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = dict[str, str]

MAX_BODY = 2 * 2**20  # bytes; the longest game is smaller
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
    """The outermost layer of the server."""

    def __init__(
        self, app: App, *, hosts: tuple[str, ...] = LOOPBACK, any_address: bool = False, access: Access | None = None
    ) -> None:
        self.app = app
        self.hosts = {host.lower() for host in hosts}
        self.any_address = any_address  # safe: a foreign site has a name, not a number
        self.access = access or Access()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        invited = self._is_invited(scope, headers)
        request = _Request(receive, send, _invitation(headers) if invited else [])
        if refusal := self._refusal(scope, headers, invited=invited):
            await request.refuse(refusal)
            return
        await self.app(scope, request.receive, request.send)

    def _is_invited(self, scope: Scope, headers: Headers) -> bool:
        """Whether this is the one foreign page that may ask for a move, and does just that."""
        return self.access.origin is not None and headers.get("origin") == self.access.origin and scope["path"] == ASKING

    def _refusal(self, scope: Scope, headers: Headers, *, invited: bool) -> Refusal | None:
        """What a request is told that does not get through, or None."""
        host = headers.get("host", "")
        if not self._is_ours(host):
            return Refusal(421, f"this server does not answer to the name {host[:80]!r}")
        if invited and scope["method"] == "OPTIONS":
            return Refusal(204)  # the browser asks first; what is allowed is in the headers
        if not invited and _is_foreign(scope, headers, host):
            return Refusal(403, "another site cannot use this server")
        server = scope.get("server") or ("", None)
        query = scope["query_string"].decode("latin-1")
        if stop := self.access.check(scope["method"], scope["path"], query, headers, server[1] or 80):
            return stop
        return _wrong_body(scope, headers)

    def _is_ours(self, host: str) -> bool:
        """Whether we answer to this name, with or without a port."""
        name, colon, port = host.lower().rpartition(":")
        if not (colon and port.isascii() and port.isdecimal()):
            name = host.lower()
        return name in self.hosts or (self.any_address and _is_address(name))


_TOO_LARGE = Refusal(413, f"the request is too large: at most {MAX_BODY} bytes are allowed")


def _is_foreign(scope: Scope, headers: Headers, host: str) -> bool:
    """Whether another site sends this request. A link does no harm: that site cannot read what it opens."""
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in {f"http://{host.lower()}", f"https://{host.lower()}"}:
        return True
    is_link = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
    return headers.get("sec-fetch-site", "none") not in {"none", "same-origin"} and not is_link


def _wrong_body(scope: Scope, headers: Headers) -> Refusal | None:
    if scope["method"] not in {"POST", "PUT", "PATCH", "DELETE"}:
        return None
    size = headers.get("content-length", "0")
    if not size.isascii() or not size.isdecimal() or int(size) > MAX_BODY:
        return _TOO_LARGE
    has_body = size != "0" or "transfer-encoding" in headers
    if has_body and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return Refusal(415, "send JSON, with the content type application/json")
    return None


def _invitation(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Headers by which a browser lets the named foreign page ask, and read the answer."""
    return [
        (b"access-control-allow-origin", headers["origin"].encode("latin-1")),
        (b"access-control-allow-methods", b"GET, POST"),
        (b"access-control-allow-headers", b"authorization, content-type"),
        (b"access-control-allow-private-network", b"true"),
        (b"access-control-max-age", b"600"),
        (b"vary", b"origin"),
    ]


def _is_address(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class _TooLargeError(Exception):
    """A body is longer than MAX_BODY."""


class _Request:
    """One request. Its body is limited, whatever its content-length says, and its answer gets our headers."""

    def __init__(self, receive: Receive, send: Send, headers: list[tuple[bytes, bytes]]) -> None:
        self._receive, self._send = receive, send
        self._headers = [*HEADERS, *headers]
        self._left = MAX_BODY
        self._refused = False

    async def receive(self) -> MutableMapping[str, Any]:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            await self.refuse(_TOO_LARGE)
            raise _TooLargeError  # whatever the application answers now is dropped
        return message

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if self._refused:
            return
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *self._headers]
        await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        """Answer in the place of the application, and drop its answer."""
        is_reason = refusal.body and refusal.kind == "application/json"
        body = (json.dumps({"error": refusal.body}) if is_reason else refusal.body).encode()
        headers = [(b"connection", b"close"), (b"cache-control", b"no-store"), *refusal.headers]
        if refusal.status != 204:
            headers += [(b"content-type", refusal.kind.encode()), (b"content-length", str(len(body)).encode())]
        await self.send({"type": "http.response.start", "status": refusal.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})
        self._refused = True
