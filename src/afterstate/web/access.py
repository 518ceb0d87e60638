"""Who may come in: whoever has the token of the link that `afterstate play` prints.

The link's token becomes a cookie that scripts cannot read and that foreign sites cannot send; then it leaves the address bar.
Programs send the token as `Authorization: Bearer TOKEN`.
"""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from hmac import compare_digest, digest
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from afterstate.errors import InputError

SHORTEST = 12  # characters of a token of your own
ASKING = "/api/move"  # all that a foreign page may use

_MISSING = "this needs the token of the server: open the link that `afterstate play` printed"
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{script}<title>Afterstate</title>
<h1>{title}</h1>
<p>{text}</p>
</html>
"""
_CLOSED = _PAGE.format(
    script="",
    title="Open the link with the token",
    text="This page belongs to whoever started it. Open the link that <code>afterstate play</code> printed in the terminal: "
    "it ends with <code>?token=...</code>. If the server was started again, its token is a new one.",
)
# the browser holds the cookie back if another site's link has led here; it sends it when our own page asks
OPEN = "/again.js"
_AGAIN = _PAGE.format(script=f'<script src="{OPEN}" defer></script>\n', title="Afterstate", text="One moment ...")


def check_token(text: str) -> str:
    """A token of your own, if it is good enough."""
    if not re.fullmatch(rf"[A-Za-z0-9_-]{{{SHORTEST},200}}", text):
        raise InputError(f"a token has {SHORTEST} to 200 letters, digits, - and _ (leave --token out, and one is made for you)")
    return text


def check_origin(text: str) -> str:
    """The site in `--allow-origin`, as a browser names it: https://Example.org/ -> https://example.org."""
    parts = urlsplit(text.strip().lower())
    site = f"{parts.scheme}://{parts.netloc}"
    if parts.scheme not in {"http", "https"} or not re.fullmatch(r"[a-z0-9.\-\[\]:]+", parts.netloc) or parts.path.strip("/"):
        raise InputError(f"a site is given as https://example.org, without a path, not {text!r}")
    return site


@dataclass(frozen=True)
class Refusal:
    """An answer of the guard itself, instead of the application's."""

    status: int
    body: str = ""
    kind: str = "application/json"
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Access:
    """Compares what a request brings with the token. Without a token, everybody who reaches the server may use it."""

    def __init__(self, token: str | None = None, *, origin: str | None = None) -> None:
        self.token = token
        self.origin = origin  # the one foreign site that may ask for moves
        self._once = secrets.token_urlsafe(16)

    def link(self, address: str) -> str:
        """The link to show."""
        return address if self.token is None else f"{address}?token={self.token}"

    def link_once(self, address: str) -> str:
        """A link that works once: other users of the machine see the command line of the browser that opens it."""
        return address if self.token is None else f"{address}?token={self._once}"

    @property
    def key(self) -> str | None:
        """What a foreign page sends instead of the token. It opens nothing but the question for a move."""
        return None if self.token is None else digest(self.token.encode(), b"move", "sha256").hex()[:32]

    def check(self, method: str, path: str, query: str, headers: Mapping[str, str], port: int) -> Refusal | None:
        """None if a request may pass; otherwise what it is told, which may be the cookie."""
        if self.token is None or path == OPEN:
            return None
        known = self._is_known(path, headers, port)
        parameters = parse_qsl(query, keep_blank_values=True)
        given = [value for name, value in parameters if name == "token"]
        if method == "GET" and given and (known or self._is_right(given[0])):
            rest = urlencode([(name, value) for name, value in parameters if name != "token"])
            place = "/" + quote(path.lstrip("/")) + (f"?{rest}" if rest else "")  # never another site
            cookie = f"{cookie_name(port)}={self.token}; Path=/; HttpOnly; SameSite=Strict"
            return Refusal(303, headers=((b"location", place.encode()), (b"set-cookie", cookie.encode())))
        return None if known else _refuse(path, headers)

    def _is_known(self, path: str, headers: Mapping[str, str], port: int) -> bool:
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return _same(bearer.strip(), self.token) or (path == ASKING and _same(bearer.strip(), self.key))
        cookies = [cookie.strip().partition("=") for cookie in headers.get("cookie", "").split(";")]
        return any(name == cookie_name(port) and _same(value, self.token) for name, _, value in cookies)

    def _is_right(self, given: str) -> bool:
        """Whether this is the token, or the code that works once, which is used up then."""
        if _same(given, self._once):
            self._once = secrets.token_urlsafe(16)
            return True
        return _same(given, self.token)


def cookie_name(port: int) -> str:
    """Servers at other ports have cookies of their own; a browser keeps one jar for all ports of a name."""
    return f"afterstate-{port}"


def _same(given: str, wanted: str | None) -> bool:
    """Compare in a time that tells nothing about how much was right."""
    return wanted is not None and compare_digest(given.encode(), wanted.encode())


def _refuse(path: str, headers: Mapping[str, str]) -> Refusal:
    for_people = "text/html" in headers.get("accept", "") and not path.startswith("/api/")
    if not for_people:
        return Refusal(401, _MISSING, headers=((b"www-authenticate", b"Bearer"),))
    led_here = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-site") in {"cross-site", "same-site"}
    return Refusal(401, _AGAIN if led_here else _CLOSED, "text/html; charset=utf-8")
