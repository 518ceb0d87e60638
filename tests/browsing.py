"""The page in a real Chromium: how tests open it, play on it, and look at what it shows."""

import json
import os
import shutil
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, Route, expect

from afterstate.web.access import cookie_name
from serving import TOKEN

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip
PATIENCE = 180_000.0  # milliseconds; a cold cache compiles first, perhaps on a busy machine
DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
ARROWS = {"up": "ArrowUp", "right": "ArrowRight", "down": "ArrowDown", "left": "ArrowLeft"}
LETTERS = {"up": "U", "right": "R", "down": "D", "left": "L"}
KEEP = "afterstate.game"
TITLES = {"2048": "2048", "threes": "Threes!", "drift": "Drift"}

expect.set_options(timeout=PATIENCE)


def launch(tools: Playwright) -> Browser:
    """Chromium, as the system has it. Where CI is set it must be there."""
    found = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("there is no Chromium: install it, as 'make test' does where it may")
        pytest.skip("there is no Chromium")
    return tools.chromium.launch(executable_path=found, args=FLAGS)


def let_in(context: BrowserContext, address: str) -> None:
    """Give a visitor the cookie of a server."""
    port = int(address.rpartition(":")[2])
    context.add_cookies([{"name": cookie_name(port), "value": TOKEN, "url": address, "httpOnly": True, "sameSite": "Strict"}])


class Visit:
    """One page of somebody who has opened the link with the token, and all errors in its console."""

    def __init__(self, browser: Browser, address: str, **context: Any) -> None:
        self.address = address
        self.context = browser.new_context(**({"viewport": DESK, "locale": "en-US"} | context))
        let_in(self.context, address)
        self.complaints: list[str] = []
        self.page = self.open("")

    def open(self, path: str) -> Page:
        """Another page of the same visitor."""
        page = self.context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: self._hear(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(f"{self.address}/{path}")
        return page

    def _hear(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"} and "Failed to load resource" not in text:  # refusals are shown on the page
            self.complaints.append(text)

    def close(self) -> None:
        self.context.close()
        assert self.complaints == []


def at(page: Page, name: str) -> Any:
    """An element by its data-testid."""
    return page.locator(f"[data-testid={name}]")


def tiles(page: Page) -> str:
    return str(at(page, "board").get_attribute("data-tiles"))


def game_of(page: Page) -> dict[str, Any]:
    """The game as the page keeps it."""
    kept: dict[str, Any] = json.loads(page.evaluate(f"() => localStorage.getItem('{KEEP}')"))
    return kept


def keep_game(page: Page, kept: dict[str, Any]) -> None:
    """Load the page again, with another game in this tab."""
    page.evaluate(f"kept => addEventListener('pagehide', () => sessionStorage.setItem('{KEEP}', kept))", json.dumps(kept))
    page.reload()


def watch_at_full_speed(page: Page) -> None:
    at(page, "watch-speed").evaluate("it => { it.value = it.max; it.dispatchEvent(new Event('input', {bubbles: true})); }")
    at(page, "watch-toggle").click()


def wait_moves(page: Page, count: int) -> dict[str, Any]:
    """Wait until the game has at least `count` moves."""
    page.wait_for_function(f"() => JSON.parse(localStorage.getItem('{KEEP}')).moves.length >= {count}")
    return game_of(page)


def wait_for_frames(page: Page) -> None:
    """Wait until changes are laid out and drawn, including those that follow from them."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def wait_for_animations(page: Page) -> None:
    """Wait until all animations are over, except endless ones."""
    wait_for_frames(page)
    page.wait_for_function(
        "() => document.getAnimations().every(one => one.playState !== 'running' || "
        "one.effect.getComputedTiming().endTime === Infinity)"
    )


def ask_server(page: Page, path: str, body: dict[str, Any] | None = None) -> Any:
    """Ask the server as the page does."""
    post = {"method": "POST", "body": json.dumps(body), "headers": {"content-type": "application/json"}}
    script = "([path, options]) => fetch(path, options).then(answer => answer.json())"
    return page.evaluate(script, [path, {} if body is None else post])


def new_game(
    page: Page, *, game: str = "2048", rules: str | None = None, size: str | None = None, seed: int | None = None
) -> None:
    """Start a game in the dialog, as people do."""
    at(page, "new-game").click()
    panel = page.locator("dialog[open]")
    panel.get_by_role("radio", name=TITLES[game]).check()
    if rules is not None:
        panel.get_by_label("Rules").select_option(rules)
    if size is not None:
        panel.get_by_label("Size").select_option(size)
    if seed is not None:
        at(page, "seed").fill(str(seed))
    at(page, "start-game").click()
    expect(panel).to_have_count(0)


def shorten_runs(page: Page, **options: str) -> None:
    """Make the runs that the page starts short: tests cannot wait 30 seconds."""

    def change(route: Route) -> None:
        request = route.request
        if request.method != "POST":
            route.continue_()
            return
        body = {key: value for key, value in json.loads(request.post_data or "").items() if key != "time"} | options
        route.continue_(post_data=json.dumps(body))

    page.route("**/api/runs", change)


def slide(page: Page, name: str) -> dict[str, Any]:
    """Press an arrow key for a slide that moves something, and wait until it is made."""
    before = len(game_of(page)["moves"])
    page.keyboard.press(ARROWS[name])
    return wait_moves(page, before + 1)
