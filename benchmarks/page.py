"""The page's own figures: first paint, hints, watching at full speed, and twenty pages that all watch.

    python benchmarks/page.py RUN

RUN is a run folder or a model file for 2048. Needs Chromium and the development install; about a minute,
in which nothing else should run.
"""

import http.client
import json
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"]
PAGES = 20
HINTS = 300
WATCHED = 5.0  # seconds

FRAMES = """() => new Promise((done) => {
  const times = []; const begin = performance.now();
  const look = (now) => { times.push(now); now - begin < 5000 ? requestAnimationFrame(look) : done(times); };
  requestAnimationFrame(look);
})"""
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"


class Server:
    """`afterstate play` at a port of its own."""

    def __init__(self, model: Path, runs: str) -> None:
        command = [sys.executable, "-m", "afterstate", "play", str(model), "--no-browser", "--runs", runs]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.address = next(word for word in self.process.stdout.readline().split() if word.startswith("http")).rstrip("/")
        self.connection = http.client.HTTPConnection(self.address.removeprefix("http://"))

    def ask(self, path: str, body: dict[str, Any]) -> Any:
        self.connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {text.decode()}")
        return json.loads(text)

    @property
    def memory(self) -> float:
        """MiB that are resident and its own: tables of a model are a map of its file."""
        status = dict(line.split(":", 1) for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines())
        return int(status["RssAnon"].split()[0]) / 1024


def share(values: list[float], part: float) -> float:
    return sorted(values)[min(int(part * len(values)), len(values) - 1)]


def positions(server: Server) -> list[str]:
    """Boards of a game, from its beginning to its end."""
    start = server.ask("/api/new", {"seed": 1})
    state = {"text": start["position"]["text"], "rng": start["rng"], "rewards": 0}
    found = []
    while not start["position"]["over"] and len(found) < HINTS:
        start = server.ask("/api/watch", {"depth": 1, "count": 20, **state})
        state = {"text": start["position"]["text"], "rng": start["rng"], "rewards": start["rewards"]}
        found.append(start["position"]["text"])
    return found


def hints(server: Server, boards: list[str]) -> list[float]:
    """Milliseconds of each hint at depth 2, there and back."""
    taken = []
    for board in boards:
        began = time.perf_counter()
        server.ask("/api/move", {"board": board, "depth": 2})
        taken.append(1000 * (time.perf_counter() - began))
    return taken


def watch(page: Page) -> None:
    page.locator("[data-testid=watch-speed]").evaluate(
        "slider => { slider.value = slider.max; slider.dispatchEvent(new Event('input', {bubbles: true})); }"
    )
    page.click("[data-testid=watch-toggle]")


def moves_of(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page.evaluate("() => localStorage.getItem('afterstate.game')"))
    return found


def main() -> None:
    model = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as runs, sync_playwright() as tools:
        server = Server(model, runs)
        browser = tools.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        try:
            measure(server, browser)
        finally:
            browser.close()
            server.process.terminate()
            server.process.wait()


def measure(server: Server, browser: Any) -> None:
    boards = positions(server)
    hints(server, boards[:20])  # what is first is compiled or loaded
    page = browser.new_page()
    paints = []
    for _ in range(7):
        page.goto(f"{server.address}/#play")
        page.wait_for_selector("[data-testid=board]")
        paints.append(page.evaluate(PAINT))
        page.goto("about:blank")
    print(f"first paint            {statistics.median(paints):8.0f} ms (median of {len(paints)}; asked: 1000)")
    taken = hints(server, boards)
    print(f"hint at depth 2        {share(taken, 0.95):8.1f} ms (95th percentile of {len(taken)}; asked: 50)")
    page.goto(f"{server.address}/#play")
    page.wait_for_selector("[data-testid=board]")
    watch(page)
    times = page.evaluate(FRAMES)
    rate = page.inner_text("[data-testid=watch-rate]")
    gaps = [later - earlier for earlier, later in pairwise(times)]
    print(f"watching, full speed   {rate}; frames {1000 / statistics.mean(gaps):.0f} a second, longest gap {max(gaps):.0f} ms")
    page.close()
    before = server.memory
    pages = [browser.new_context(viewport={"width": 800, "height": 700}).new_page() for _ in range(PAGES)]
    for page in pages:
        page.goto(f"{server.address}/#play")
        page.wait_for_selector("[data-testid=board]")
        watch(page)
    taken = []
    end = time.monotonic() + WATCHED
    while time.monotonic() < end:
        taken += hints(server, boards[::10])
    print(f"hint, {PAGES} pages watch    {share(taken, 0.95):8.1f} ms (95th percentile of {len(taken)}; asked: 500)")
    print(f"server's memory        {before:8.0f} MiB before, {server.memory:.0f} MiB with {PAGES} pages")
    lost = 0
    for page in pages:
        page.keyboard.press("p")  # pause
        page.close(run_before_unload=False)
    for context in browser.contexts[1:]:
        for page in context.pages:
            kept = moves_of(page)
            again = server.ask("/api/replay", {"seed": kept["seed"], "moves": kept["moves"]})
            lost += again["position"] != kept["position"]
    print(f"games that lost a move {lost:8d} of {PAGES}")


if __name__ == "__main__":
    main()
