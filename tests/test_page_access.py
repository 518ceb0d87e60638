"""The token and foreign pages in a real browser: the link, what people see without it, and the script for another site."""

import http.server
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import at, let_in
from commandline import PATIENCE
from serving import TOKEN, Served, make_models, served

HERE = Path(__file__).parent
BUTTON = "#afterstate"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the files of a folder, and prints nothing."""

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        pass


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    """Another site: the same machine by another name, at another port."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(HERE))) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://localhost:{site.server_port}"
        site.shutdown()


@pytest.fixture(scope="module")
def inviting(elsewhere: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a model that lets the other site ask for moves."""
    model = make_models(tmp_path_factory.mktemp("models"))[0]
    with served(tmp_path_factory.mktemp("runs"), model, "--allow-origin", elsewhere) as server:
        yield server


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A visitor who has nothing yet."""
    context = browser.new_context(locale="en-US")
    yield context.new_page()
    context.close()


def test_the_link_opens_the_page_and_its_token_disappears(page: Page, inviting: Served) -> None:
    page.goto(f"{inviting.address}/?token={TOKEN}#training")
    expect(page).to_have_title("Training · Afterstate")
    assert page.url == f"{inviting.address}/#training"
    assert page.evaluate("() => document.cookie") == ""  # no script can read it
    (cookie,) = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    page.goto(f"{inviting.address}/#play")
    page.reload()
    expect(at(page, "board")).to_be_visible()


def test_without_the_token_people_are_told_what_to_do(page: Page, inviting: Served) -> None:
    for path in ("/", "/docs.html", "/?token=of-an-old-server"):
        answer = page.goto(f"{inviting.address}{path}")
        assert answer is not None
        assert answer.status == 401
        expect(page.get_by_role("heading")).to_have_text("Open the link with the token")
        expect(page.locator("p")).to_contain_text("Open the link that afterstate play printed in the terminal")


def follow_link(page: Page, elsewhere: str, address: str) -> None:
    """Click a link on the other site."""
    page.goto(f"{elsewhere}/foreign2048.html")
    page.evaluate(
        "href => document.body.append(Object.assign(document.createElement('a'), {href, textContent: 'a link'}))", address
    )
    page.get_by_text("a link").click()


def test_a_link_on_another_site_works_for_those_who_are_in(page: Page, inviting: Served, elsewhere: str) -> None:
    let_in(page.context, inviting.address)
    follow_link(page, elsewhere, f"{inviting.address}/#training")
    expect(page).to_have_title("Training · Afterstate")
    assert page.url == f"{inviting.address}/#training"


def test_the_link_with_the_token_may_stand_on_another_site(page: Page, inviting: Served, elsewhere: str) -> None:
    follow_link(page, elsewhere, f"{inviting.address}/?token={TOKEN}#training")
    expect(page).to_have_title("Training · Afterstate")
    assert page.url == f"{inviting.address}/#training"


def test_a_link_on_another_site_lets_nobody_in(page: Page, inviting: Served, elsewhere: str) -> None:
    follow_link(page, elsewhere, f"{inviting.address}/#training")
    expect(page.get_by_role("heading")).to_have_text("Open the link with the token")


def test_an_open_page_says_that_the_token_is_another_one(page: Page, tmp_path: Path) -> None:
    """The server was started again; its new link, opened anywhere in the browser, is enough."""
    with served(tmp_path) as first:
        page.goto(f"{first.address}/?token={TOKEN}#play")
        expect(at(page, "board")).to_be_visible()
    fetch = "() => import('/api.js').then(({ api }) => api.get('/api/about')).catch(() => undefined)"
    page.evaluate(fetch)
    expect(at(page, "server-away")).to_contain_text("The server is not running")
    with served(tmp_path, "--port", first.port, token="another-token-than-before"):
        expect(at(page, "server-away")).to_contain_text("Open the link that afterstate play printed")
        other = page.context.new_page()
        other.goto(f"{first.address}/?token=another-token-than-before")
        expect(at(page, "server-away")).to_be_hidden()


@pytest.mark.parametrize("method", ["get", "post"])
def test_the_commands_that_the_page_shows_work_in_a_shell(page: Page, inviting: Served, method: str) -> None:
    if shutil.which("curl") is None:
        pytest.skip("there is no curl")
    let_in(page.context, inviting.address)
    page.goto(f"{inviting.address}/docs.html")
    command = page.locator(f"[aria-labelledby={method}-api-move] pre code").filter(has_text="curl").inner_text()
    environment = os.environ | {"AFTERSTATE_TOKEN": TOKEN}
    shown = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment, timeout=PATIENCE, check=True)
    assert json.loads(shown.stdout)["move"] in {"down", "left"}


# --- the script for another site -----------------------------------------------------------------------------------------


def script_of(browser: Browser, server: Served) -> str:
    """The script, as somebody gets it who has the token."""
    context = browser.new_context()
    let_in(context, server.address)
    answer = context.request.get(f"{server.address}/afterstate.user.js")
    text = answer.text()
    context.close()
    assert answer.status == 200
    return text


def test_the_model_plays_the_foreign_page(browser: Browser, page: Page, inviting: Served, elsewhere: str) -> None:
    page.goto(f"{elsewhere}/foreign2048.html")
    page.add_script_tag(content=script_of(browser, inviting))
    page.locator(BUTTON).click()
    expect(page.locator(BUTTON)).to_have_text("Afterstate: stop")
    page.wait_for_function("() => window.slides > 15")  # over the win of 2048, which asks for a click, too
    expect(page.locator(".tile-2048, .tile-4096").first).to_be_attached()
    page.locator(BUTTON).click()
    expect(page.locator(BUTTON)).to_have_text("Afterstate: play")


def test_the_model_plays_the_foreign_page_to_its_end(browser: Browser, page: Page, inviting: Served, elsewhere: str) -> None:
    page.goto(f"{elsewhere}/foreign2048.html")
    page.evaluate("() => { cells = [2, 4, 2, 4, 4, 2, 4, 2, 2, 4, 2, 4, 4, 2, 8, 8]; draw([]); }")
    page.add_script_tag(content=script_of(browser, inviting).replace("const DEPTH = 3", "const DEPTH = 1"))
    page.locator(BUTTON).click()
    expect(page.locator(BUTTON)).to_have_attribute("data-why", "The game is over.")
    board = page.evaluate("() => cells")
    assert 0 not in board
    assert not [
        at for at in range(16) if (at % 4 < 3 and board[at] == board[at + 1]) or (at < 12 and board[at] == board[at + 4])
    ]


def test_another_site_gets_no_answer(browser: Browser, page: Page, inviting: Served, elsewhere: str) -> None:
    """Not the same site under another name, not another address, and not without the key."""
    script = script_of(browser, inviting)
    for site, changed in (
        (elsewhere.replace("localhost", "127.0.0.1"), script),
        (elsewhere, script.replace("/api/move", "/api/analyse")),
        (elsewhere, script.replace("authorization = ", "accept = ")),
    ):
        page.goto(f"{site}/foreign2048.html")
        page.add_script_tag(content=changed)
        page.locator(BUTTON).click()
        expect(page.locator(BUTTON)).to_have_attribute("data-why", re.compile("Failed to fetch|needs the token of the server"))
        assert page.evaluate("() => window.slides") == 0
