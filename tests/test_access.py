"""Who gets in: the token as a link, a cookie and a header; one foreign site that may ask for moves."""

import hmac
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from afterstate.cli.main import Exit
from afterstate.cli.play import _access, _is_here, _reachable, _tell
from afterstate.errors import InputError
from afterstate.web import access as module
from afterstate.web.access import Access, check_origin, cookie_name
from afterstate.web.library import Library
from afterstate.web.server import make_app
from commandline import check, run
from serving import BEARER, BOARD, HERE, TOKEN, make_models, served

SITE = "https://play.example"
COOKIE = {"cookie": f"theme=dark; {cookie_name(80)}={TOKEN}"}
READER = {"accept": "text/html,*/*", "sec-fetch-mode": "navigate", "sec-fetch-site": "none"}
PATHS = ["/", "/main.js", "/api/about", "/api/runs", "/openapi.json", "/docs.html", "/afterstate.user.js"]
ASKED: dict[str, Any] = {"board": BOARD, "depth": 1}


@pytest.fixture(scope="module")
def access() -> Access:
    return Access(TOKEN, origin=SITE)


@pytest.fixture(scope="module")
def page(access: Access, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    library = Library(tmp_path_factory.mktemp("runs"), make_models(tmp_path_factory.mktemp("models"))[:1])
    with TestClient(make_app(library, access=access), base_url=HERE, follow_redirects=False) as opened:
        yield opened


@pytest.fixture(autouse=True)
def no_cookies(page: TestClient) -> None:
    page.cookies.clear()


# --- the token -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_open_without_the_token(page: TestClient, path: str) -> None:
    answer = page.get(path)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "open the link that `afterstate play` printed" in answer.json()["error"]
    assert page.get(path, headers=BEARER).status_code == 200
    assert page.get(path, headers=COOKIE).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer"},
        {"authorization": f"Bearer {TOKEN[:-1]}"},
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": "Bearer wrong", **COOKIE},
        {"cookie": f"{cookie_name(81)}={TOKEN}"},
        {"cookie": f"{cookie_name(80)}="},
        {"cookie": f"{cookie_name(80)}={TOKEN.upper()}"},
        {"authorization": "Bearer \u00e9\u00ff".encode("latin-1")},
    ],
    ids=str,
)
def test_what_is_not_the_token(page: TestClient, headers: dict[str, Any]) -> None:
    assert page.post("/api/new", json={}, headers=headers).status_code == 401
    assert page.post("/api/move", json=ASKED, headers=headers).status_code == 401


def test_people_are_told_what_to_do(page: TestClient) -> None:
    for path in ("/", "/docs.html", "/?token=wrong"):
        answer = page.get(path, headers=READER)
        assert (answer.status_code, answer.headers["content-type"]) == (401, "text/html; charset=utf-8")
        assert "Open the link that <code>afterstate play</code> printed" in answer.text
        assert "script" not in answer.text
        assert "set-cookie" not in answer.headers
        assert answer.headers["content-security-policy"]


def test_the_link_gives_the_cookie_and_leaves_the_address_bar(page: TestClient, access: Access) -> None:
    answer = page.get(access.link("/"), headers=READER)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert answer.headers["set-cookie"] == f"{cookie_name(80)}={TOKEN}; Path=/; HttpOnly; SameSite=Strict"
    assert answer.headers["cache-control"] == "no-store"
    assert page.get("/").status_code == 200  # the client keeps cookies, as a browser does
    again = page.get("/?token=of-an-old-server", headers=READER)
    assert (again.status_code, again.headers["location"]) == (303, "/")


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ("/docs.html?token={}&x=1+2&y=", "/docs.html?x=1+2&y="),
        ("//evil.example/?token={}", "/evil.example/"),
        ("/%5Cevil.example/?token={}", "/%5Cevil.example/"),
        ("/%0D%0Aset-cookie:x?token={}", "/%0D%0Aset-cookie%3Ax"),
        ("/api/move?token={}&board=2+4", "/api/move?board=2+4"),
    ],
)
def test_the_link_leads_to_no_other_site(page: TestClient, given: str, place: str) -> None:
    answer = page.get(HERE + given.format(TOKEN))
    assert (answer.status_code, answer.headers["location"]) == (303, place)


def test_only_a_link_that_is_opened_takes_the_token_from_the_address(page: TestClient) -> None:
    assert page.post(f"/api/new?token={TOKEN}", json={}).status_code == 401


def test_the_browser_is_opened_with_a_link_that_works_once(page: TestClient, access: Access) -> None:
    """Other users see the command line of a browser."""
    link = access.link_once("/")
    assert TOKEN not in link
    assert page.get(link).status_code == 303
    page.cookies.clear()
    assert page.get(link).status_code == 401
    assert access.link_once("/") != link


def test_a_link_on_another_site_is_tried_again_by_the_page_itself(page: TestClient) -> None:
    """The browser holds a strict cookie back then. A second try from our own page has it, or there is none."""
    led = READER | {"sec-fetch-site": "cross-site"}
    assert '<script src="/again.js" defer>' in page.get("/", headers=led).text
    assert page.get("/again.js").status_code == 200
    assert "Open the link" in page.get("/?token=", headers=READER | {"sec-fetch-site": "same-origin"}).text
    answer = page.get("/api/move", params=ASKED, headers=led)
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/json")


def test_tokens_are_compared_in_constant_time(page: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return hmac.compare_digest(one, other)

    monkeypatch.setattr(module, "compare_digest", compare)
    for request in ({"headers": BEARER}, {"headers": COOKIE}, {"params": {"token": TOKEN}}):
        del compared[:]
        assert page.get("/api/about", **request).status_code < 400  # type: ignore[arg-type]
        page.cookies.clear()
        assert (TOKEN.encode(), TOKEN.encode()) in compared


def test_the_guard_comes_before_the_token(page: TestClient) -> None:
    assert page.get("/", headers={"host": "evil.example", **BEARER}).status_code == 421
    assert page.post("/api/new", json={}, headers={"origin": "https://evil.example", **BEARER}).status_code == 403


# --- one foreign site ----------------------------------------------------------------------------------------------------


def test_the_named_site_may_ask_for_a_move(page: TestClient, access: Access) -> None:
    foreign = {"origin": SITE, "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}
    asking = {"access-control-request-method": "POST", "access-control-request-private-network": "true"}
    first = page.options("/api/move", headers=foreign | asking)
    assert (first.status_code, first.content) == (204, b"")
    assert first.headers["access-control-allow-origin"] == SITE
    assert first.headers["access-control-allow-headers"] == "authorization, content-type"
    assert first.headers["access-control-allow-private-network"] == "true"
    assert "access-control-allow-credentials" not in first.headers
    key = {"authorization": f"Bearer {access.key}"}
    for answer in (
        page.post("/api/move", json=ASKED, headers=foreign | key),
        page.get("/api/move", params=ASKED, headers=foreign | key),
    ):
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == SITE
        assert answer.headers["vary"] == "origin"
    refused = page.post("/api/move", json=ASKED, headers=foreign)
    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, SITE)  # so that it can tell why


def test_the_named_site_may_do_nothing_else(page: TestClient, access: Access) -> None:
    for brought in (BEARER, COOKIE, {"authorization": f"Bearer {access.key}"}):
        foreign = {"origin": SITE, "sec-fetch-site": "cross-site", **brought}
        asked = [page.get(path, headers=foreign) for path in ("/", "/api/runs", "/afterstate.user.js")]
        asked += [page.post(path, json=ASKED, headers=foreign) for path in ("/api/new", "/api/analyse")]
        for answer in (*asked, page.options("/api/new", headers=foreign)):
            assert answer.status_code == 403
            assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "origin", ["https://play.example.evil.example", "http://play.example", "https://play.example:8443", "null", ""]
)
def test_other_sites_stay_out(page: TestClient, origin: str) -> None:
    for answer in (
        page.options("/api/move", headers={"origin": origin}),
        page.post("/api/move", json=ASKED, headers={"origin": origin, **BEARER}),
    ):
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers


def test_the_key_opens_the_question_for_a_move_alone(page: TestClient, access: Access) -> None:
    key = {"authorization": f"Bearer {access.key}"}
    assert page.post("/api/move", json=ASKED, headers=key).status_code == 200
    for path in ("/", "/api/about", "/api/runs", "/api/move/", "/afterstate.user.js"):
        assert page.get(path, headers=key).status_code == 401, path
    assert TOKEN not in str(access.key)


def test_the_script_is_made_for_site_server_and_key(page: TestClient, access: Access) -> None:
    script = page.get("/afterstate.user.js", headers=BEARER)
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    assert f"// @match        {SITE}/*" in script.text
    assert f'const SERVER = "{HERE}";' in script.text
    assert f'const KEY = "{access.key}";' in script.text
    assert TOKEN not in script.text
    assert "@@" not in script.text


def test_without_a_site_nobody_foreign_gets_in(tmp_path: Path) -> None:
    with TestClient(make_app(Library(tmp_path)), base_url=HERE) as page:
        for origin in (SITE, "null"):
            assert page.options("/api/move", headers={"origin": origin}).status_code == 403
        script = page.get("/afterstate.user.js")
        assert (script.status_code, "--allow-origin" in script.json()["error"]) == (404, True)


# --- GET /api/move -------------------------------------------------------------------------------------------------------


def test_a_move_by_address_is_the_same_answer(page: TestClient) -> None:
    body: dict[str, Any] = {"board": BOARD, "depth": 2, "game": "2048", "size": "4x4"}
    posted = page.post("/api/move", json=body, headers=BEARER).json()
    got = page.get("/api/move", params=body, headers=BEARER).json()
    assert {key: got[key] for key in got if key != "ms"} == {key: posted[key] for key in posted if key != "ms"}


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ({}, 422, "board"),
        ({"board": BOARD, "depth": "deep"}, 422, "depth"),
        ({"board": BOARD, "depth": 6}, 422, "depth"),
        ({"board": BOARD, "dept": 2}, 422, "dept"),
        ({"board": "1 2 3"}, 400, "16 cells"),
        ({"board": BOARD, "model": "none"}, 404, "no such model"),
    ],
)
def test_addresses_that_are_refused(page: TestClient, query: dict[str, Any], status: int, words: str) -> None:
    answer = page.get("/api/move", params=query, headers=BEARER)
    assert (answer.status_code, words in answer.json()["error"]) == (status, True), answer.text


# --- the command ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--token", "short"), "a token has 12 to 200"),
        (("--token", ""), "a token has 12 to 200"),
        (("--token", "with a space; and more"), "a token has 12 to 200"),
        (("--no-token", "--token", TOKEN), "contradict each other"),
        (("--no-token", "--host", "0.0.0.0"), "--no-token is for this machine only"),
        (("--no-token", "--host", "::"), "--no-token is for this machine only"),
        (("--allow-origin", "play.example"), "a site is given as https://example.org"),
        (("--allow-origin", "*"), "a site is given as https://example.org"),
        (("--allow-origin", "https://play.example/2048"), "without a path"),
        (("--allow-origin", "file:///x"), "a site is given as https://example.org"),
    ],
)
def test_options_that_are_refused(arguments: tuple[str, ...], words: str) -> None:
    check(run("play", *arguments, "--no-browser"), Exit.INPUT, words)


@pytest.mark.parametrize("text", ["https://Play.Example", "https://play.example/", " https://play.example "])
def test_a_site_is_named_as_browsers_do(text: str) -> None:
    assert check_origin(text) == SITE


def test_every_start_has_a_token_of_its_own(tmp_path: Path) -> None:
    links = []
    for _ in range(2):
        with served(tmp_path, token=None) as server:
            links += re.findall(r"http://127.0.0.1:\d+/\?token=([\w-]{22,})  \(Ctrl-C to stop\)", "".join(server.lines))
    assert len(set(links)) == 2


def test_what_is_here_and_what_is_exposed(capsys: pytest.CaptureFixture[str]) -> None:
    assert all(map(_is_here, ("127.0.0.1", "127.8.8.8", "::1", "localhost")))
    assert not any(map(_is_here, ("0.0.0.0", "::", "192.168.1.2", "example.org")))
    assert _reachable("192.168.1.2") == "192.168.1.2"
    assert _reachable("0.0.0.0") not in {"0.0.0.0", ""}
    access = _access("0.0.0.0", None, no_token=False, origin=SITE)
    _tell(access, "http://192.168.1.2:2048/", Path("runs"), exposed=True)
    told = " ".join(capsys.readouterr().out.split())
    assert f"http://192.168.1.2:2048/?token={access.token}" in told
    assert "whoever has this link can play, ask your models, and start, stop and change the training runs in runs" in told
    assert "nothing is encrypted" in told
    assert f"pages of {SITE} may ask for moves" in told
    with pytest.raises(InputError):
        _access("192.168.1.2", None, no_token=True, origin=None)
