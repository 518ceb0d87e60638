"""Measure the page: first paint, hints, watching at full speed, and twenty pages that watch at once.

    python benchmarks/page.py RUN

RUN is a run folder or a model file for 2048. Needs Chromium and the development install. Takes about a minute; nothing else
should run meanwhile.
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
  const look = (now) => { times.push(now); now - begin < 2000 ? requestAnimationFrame(look) : done(times); };
  requestAnimationFrame(look);
})"""
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"


class Server:
    """`afterstate play` as a process of its own."""

    def __init__(self, model: Path, runs: str) -> None:
        command = [sys.executable, "-m", "afterstate", "play", str(model), "--no-browser", "--runs", runs]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.link = next(word for word in self.process.stdout.readline().split() if word.startswith("http"))
        self.address, _, token = self.link.partition("/?token=")
        self.headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
        self.connection = http.client.HTTPConnection(self.address.removeprefix("http://"))

    def ask(self, path: str, body: dict[str, Any]) -> Any:
        self.connection.request("POST", path, json.dumps(body), self.headers)
        return self._read(path)

    def look(self, path: str) -> Any:
        self.connection.request("GET", path, headers=self.headers)
        return self._read(path)

    def _read(self, path: str) -> Any:
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {text.decode()}")
        return json.loads(text)

    @property
    def memory(self) -> float:
        """MiB of resident memory, without the tables of models, which are mapped files."""
        status = dict(line.split(":", 1) for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines())
        return int(status["RssAnon"].split()[0]) / 1024


def share(values: list[float], part: float) -> float:
    return sorted(values)[min(int(part * len(values)), len(values) - 1)]


def positions(server: Server) -> list[str]:
    """Boards of a game, from start to end."""
    model = server.look("/api/models")["default"]
    start = server.ask("/api/new", {"seed": 1})
    state = {"text": start["position"]["text"], "rng": start["rng"], "rewards": 0}
    found = []
    while not start["position"]["over"] and len(found) < HINTS:
        start = server.ask("/api/watch", {"model": model, "depth": 1, "count": 20, **state})
        state = {"text": start["position"]["text"], "rng": start["rng"], "rewards": start["rewards"]}
        found.append(start["position"]["text"])
    return found


def hints(server: Server, boards: list[str]) -> list[float]:
    """Milliseconds of each hint at depth 2, as a client sees it."""
    taken = []
    server.connection.close()  # the server closes idle connections; the next request opens a new one
    for board in boards:
        began = time.perf_counter()
        server.ask("/api/move", {"board": board, "depth": 2})
        taken.append(1000 * (time.perf_counter() - began))
    return taken


def watch(page: Page, look: str, speed: float) -> None:
    """Let the model play; `speed` is the position of the slider, 0 to 1."""
    page.select_option("[data-testid=depth-select]", look)
    move = "(it, part) => { it.value = it.max * part; it.dispatchEvent(new Event('input', {bubbles: true})); }"
    page.locator("[data-testid=watch-speed]").evaluate(move, speed)
    page.click("[data-testid=watch-toggle]")


def count_moves(page: Page) -> int:
    return int(page.inner_text("[data-testid=moves]").split()[0].replace(",", ""))


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
    hints(server, boards[:20])  # the first hints compile and load
    page = browser.new_page()
    page.goto(server.link)  # once; the browser has the cookie then
    paints = []
    for _ in range(7):
        page.goto(f"{server.address}/#play")
        page.wait_for_selector("[data-testid=board]")
        paints.append(page.evaluate(PAINT))
        page.goto("about:blank")
    print(f"first paint            {statistics.median(paints):8.0f} ms (median of {len(paints)}; target: 1000)")
    taken = hints(server, boards)
    print(f"hint at depth 2        {share(taken, 0.95):8.1f} ms (95th percentile of {len(taken)}; target: 50)")
    page.goto(f"{server.address}/#play")
    page.wait_for_selector("[data-testid=board]")
    watch(page, "depth:1", 0.97)
    page.wait_for_timeout(200)
    first, began = count_moves(page), time.perf_counter()
    times = page.evaluate(FRAMES)
    rate = (count_moves(page) - first) / (time.perf_counter() - began)
    gaps = sorted(later - earlier for earlier, later in pairwise(times))
    frames = f"{1000 / statistics.mean(gaps):.0f} frames a second, the longest gap {gaps[-1]:.0f} ms"
    print(f"watching               {rate:8.0f} moves/s (target: 1000), {frames}")
    page.close()
    before = server.memory
    pages = [browser.new_context(viewport={"width": 800, "height": 700}).new_page() for _ in range(PAGES)]
    for page in pages:
        page.goto(f"{server.link}#play")  # a visitor of its own
        page.wait_for_selector("[data-testid=board]")
        watch(page, "time:10", 1.0)  # keeps all processors busy
    taken = []
    end = time.monotonic() + WATCHED
    while time.monotonic() < end:
        taken += hints(server, boards[::10])
    print(f"hint, {PAGES} pages watch    {share(taken, 0.95):8.1f} ms (95th percentile of {len(taken)}; target: 500)")
    moved = sum(count_moves(page) for page in pages)
    print(f"                       {moved:8d} moves by all pages in that time")
    print(f"server's memory        {before:8.0f} MiB before, {server.memory:.0f} MiB with {PAGES} pages")
    lost = 0
    for page in pages:
        page.evaluate("() => dispatchEvent(new Event('pagehide'))")  # the page saves its game
        kept = moves_of(page)
        again = server.ask("/api/replay", {"seed": kept["seed"], "moves": kept["moves"]})
        lost += again["position"] != kept["position"]
    print(f"games that lost a move {lost:8d} of {PAGES}")


if __name__ == "__main__":
    main()
