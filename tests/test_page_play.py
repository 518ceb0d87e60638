"""Play, watch and hints, by real keys, touches and clicks."""

import re
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, Page, expect

from afterstate.web.library import Library
from afterstate.web.server import make_app
from browsing import (
    ARROWS,
    KEEP,
    LETTERS,
    PHONE,
    Visit,
    ask_server,
    at,
    game_of,
    keep_game,
    new_game,
    slide,
    tiles,
    wait_moves,
    watch_at_full_speed,
)
from serving import HERE, Served, ask, served

Begin = Callable[..., Visit]


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """Another server, to replay games."""
    return TestClient(make_app(Library(tmp_path_factory.mktemp("none"))), base_url=HERE)


def played_again(rules: TestClient, kept: dict[str, Any]) -> None:
    """The game that the page keeps equals the replay of its seed and moves, to the last tile."""
    ref = {key: kept[key] for key in ("game", "rules", "size", "seed", "moves")}
    again = ask(rules, "/api/replay", **ref)
    assert {key: kept[key] for key in ("position", "rng", "rewards", "score")} == {
        key: again[key] for key in ("position", "rng", "rewards", "score")
    }


def test_a_whole_game_by_keys(visit: Begin, rules: TestClient) -> None:
    page = visit().page
    new_game(page, size="2x2", seed=5)
    for number in range(400):
        kept = game_of(page)
        if kept["position"]["over"]:
            break
        slide(page, kept["position"]["legal"][number % len(kept["position"]["legal"])])
    expect(at(page, "game-over")).to_contain_text("Game over")
    kept = game_of(page)
    assert kept["position"]["over"]
    expect(at(page, "board")).to_have_attribute("data-tiles", kept["position"]["tiles"])
    expect(at(page, "score")).to_contain_text(f"{kept['score']:,}")
    played_again(rules, kept)


@pytest.mark.parametrize("ruleset", ["tcg2022", "official"])
def test_a_game_of_threes_shows_the_next_tile(visit: Begin, rules: TestClient, ruleset: str) -> None:
    page = visit().page
    new_game(page, game="threes", rules=ruleset, size="2x3", seed=2)
    for _ in range(30):
        kept = game_of(page)
        if kept["position"]["over"]:
            break
        expect(at(page, "next-tile")).to_contain_text(kept["position"]["next"])
        slide(page, kept["position"]["legal"][-1])
    assert len(game_of(page)["moves"]) > 3
    played_again(rules, game_of(page))


def swipe(page: Page, name: str) -> None:
    """A finger on the board."""
    box = at(page, "board").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    across, down = {"up": (0, -1), "right": (1, 0), "down": (0, 1), "left": (-1, 0)}[name]
    finger = page.context.new_cdp_session(page)
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in (15, 40, 70):
        points = [{"x": x + across * step, "y": y + down * step}]
        finger.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": points})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    finger.detach()


def test_a_whole_game_by_touch(visit: Begin, rules: TestClient) -> None:
    page = visit(viewport=PHONE, has_touch=True, is_mobile=True).page
    new_game(page, size="2x2", seed=8)
    for number in range(400):
        kept = game_of(page)
        if kept["position"]["over"]:
            break
        swipe(page, kept["position"]["legal"][(number + 1) % len(kept["position"]["legal"])])
        wait_moves(page, len(kept["moves"]) + 1)
    expect(at(page, "game-over")).to_be_visible()
    assert page.evaluate("() => scrollY") == 0  # a swipe is no scroll
    played_again(rules, game_of(page))


def moves_of(rules: TestClient, seed: int, names: Iterable[str]) -> str:
    """The moves of a game of 2048 that tries these slides in order."""
    moves, position = "", ask(rules, "/api/new", seed=seed)["position"]
    for name in names:
        if name in position["legal"]:
            moves += LETTERS[name]
            position = ask(rules, "/api/replay", seed=seed, moves=moves)["position"]
    return moves


def wait_for_moves(page: Page, moves: str) -> dict[str, Any]:
    """Wait until the game is this one."""
    page.wait_for_function(f"moves => JSON.parse(localStorage.getItem('{KEEP}')).moves === moves", arg=moves)
    return game_of(page)


def test_keys_that_come_fast_are_each_played_once_and_in_order(visit: Begin, rules: TestClient) -> None:
    """Slides are made in the order of the keys: once a later one is made, all earlier ones are, too."""
    page = visit().page
    new_game(page, seed=11)
    names = ("left", "down", "left", "down", "right", "up") * 5
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate(
        "keys => keys.forEach(key => document.dispatchEvent(new KeyboardEvent('keydown', {key, code: key, bubbles: true})))",
        [ARROWS[name] for name in names],
    )
    moves = moves_of(rules, 11, names)
    assert len(moves) > 15
    kept = wait_for_moves(page, moves)
    last = kept["position"]["legal"][0]
    page.keyboard.press(ARROWS[last])
    played_again(rules, wait_for_moves(page, moves + LETTERS[last]))
    assert sum(url.endswith("/api/slide") for url in asked) == len(moves) + 1


def test_letters_slide_too_and_undo_takes_back(visit: Begin, rules: TestClient) -> None:
    page = visit().page
    new_game(page, seed=3)
    first = game_of(page)
    for key in "aswd":
        page.keyboard.press(key)
    moves = moves_of(rules, 3, ("left", "down", "up", "right"))
    assert len(moves) >= 2
    wait_for_moves(page, moves)
    for _ in moves:
        at(page, "undo").click()
    assert wait_for_moves(page, "")["position"] == first["position"]
    expect(at(page, "undo")).to_be_disabled()
    expect(at(page, "board")).to_have_attribute("data-tiles", first["position"]["tiles"])


def test_a_slide_that_moves_nothing_changes_nothing(visit: Begin, rules: TestClient) -> None:
    """The server is not asked, and the next legal slide is the next move."""
    page = visit().page
    new_game(page, size="2x2", seed=1)
    kept = game_of(page)
    while not (wrong := [name for name in ARROWS if name not in kept["position"]["legal"]]):
        kept = slide(page, kept["position"]["legal"][0])
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    right = kept["position"]["legal"][0]
    page.keyboard.press(ARROWS[wrong[0]])
    page.keyboard.press(ARROWS[right])
    played_again(rules, wait_for_moves(page, kept["moves"] + LETTERS[right]))
    assert sum(url.endswith("/api/slide") for url in asked) == 1


def test_a_reload_in_the_middle_of_a_game(visit: Begin, rules: TestClient) -> None:
    page = visit().page
    new_game(page, game="threes", rules="official", seed=4)
    for _ in range(5):
        kept = slide(page, game_of(page)["position"]["legal"][0])
    page.reload()
    expect(at(page, "board")).to_have_attribute("data-tiles", kept["position"]["tiles"])
    assert game_of(page) == kept
    played_again(rules, slide(page, kept["position"]["legal"][0]))


def test_a_seed_is_a_game_and_a_wrong_one_is_told(visit: Begin) -> None:
    page = visit().page
    new_game(page, seed=77)
    first = tiles(page)
    slide(page, game_of(page)["position"]["legal"][0])
    new_game(page, seed=77)
    expect(at(page, "board")).to_have_attribute("data-tiles", first)
    at(page, "new-game").click()
    at(page, "seed").fill("minus one")
    at(page, "start-game").click()
    expect(page.locator("dialog[open] [role=alert]")).to_contain_text("whole number")
    page.keyboard.press("Escape")
    assert tiles(page) == first


def test_the_game_goes_on_after_2048(visit: Begin) -> None:
    page = visit().page
    new_game(page, seed=1)
    kept = game_of(page)
    kept["position"] |= {"text": "1024 1024 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "tiles": "aa00000000000000"}
    kept["position"]["legal"] = ["right", "down", "left"]
    keep_game(page, kept)
    expect(at(page, "board")).to_have_attribute("data-tiles", "aa00000000000000")
    slide(page, "left")
    reached = at(page, "toast").filter(has_text="You reached 2048")
    expect(reached).to_be_visible()
    reached.get_by_label("Close this message").click()
    slide(page, game_of(page)["position"]["legal"][0])
    expect(at(page, "toast")).to_have_count(0)


# --- a server that dies, and pages that are closed ---------------------------------------------------------------------


def test_a_server_that_is_killed_loses_nothing(browser: Browser, original: Path, tmp_path: Path, rules: TestClient) -> None:
    with served(tmp_path, original) as first:
        visit = Visit(browser, first.address)
        page = visit.page
        new_game(page, seed=6)
        kept = slide(page, game_of(page)["position"]["legal"][0])
        first.end(signal.SIGKILL)
        page.keyboard.press(ARROWS[kept["position"]["legal"][0]])
        expect(at(page, "server-away")).to_be_visible()
        assert game_of(page)["moves"] == kept["moves"]
    with served(tmp_path, original, "--port", first.port):
        expect(at(page, "server-away")).to_be_hidden()
        played_again(rules, wait_moves(page, len(kept["moves"]) + 1))
        visit.complaints.clear()  # of the time without a server
        visit.close()


def test_a_page_that_is_closed_while_it_watches_disturbs_nobody(visit: Begin, server: Served) -> None:
    one, other = visit(), visit()
    for page in (one.page, other.page):
        new_game(page, seed=9)
    watch_at_full_speed(one.page)
    wait_moves(one.page, 10)
    one.page.close()
    slide(other.page, game_of(other.page)["position"]["legal"][0])
    assert server.process.poll() is None


# --- watch, hints, links -----------------------------------------------------------------------------------------------


def at_rest(page: Page) -> dict[str, Any]:
    """The game, once it has not changed for a second of the page's clock: a watched model would have moved."""
    for _ in range(20):
        before = game_of(page)
        page.clock.run_for(1500)
        ask_server(page, "/api/models")  # what was asked before has come by now
        page.clock.run_for(1500)
        if game_of(page) == before:
            return before
    raise AssertionError(f"the game goes on and on: {game_of(page)['moves']}")


def test_the_model_plays_pauses_steps_and_gives_way(visit: Begin, rules: TestClient) -> None:
    visitor = visit()
    visitor.context.clock.install()
    page = visitor.open("")
    new_game(page, seed=21)
    at(page, "watch-step").click()
    wait_moves(page, 1)
    expect(at(page, "moves")).to_contain_text("1 move")
    at(page, "watch-toggle").click()
    wait_moves(page, 4)
    at(page, "watch-toggle").click()
    paused = game_of(page)
    assert at_rest(page) == paused
    at(page, "watch-toggle").click()
    wait_moves(page, len(paused["moves"]) + 1)
    page.keyboard.press(ARROWS["left"])
    page.keyboard.press(ARROWS["down"])  # one of the two moves something, and the player stops
    taken = at_rest(page)
    played_again(rules, taken)
    expect(at(page, "board")).to_have_attribute("data-tiles", taken["position"]["tiles"])


def test_the_model_plays_to_the_end_at_full_speed(visit: Begin, rules: TestClient) -> None:
    page = visit().page
    new_game(page, seed=22)
    watch_at_full_speed(page)
    expect(at(page, "game-over")).to_be_visible()
    kept = game_of(page)
    assert len(kept["moves"]) > 50
    played_again(rules, kept)
    expect(at(page, "board")).to_have_attribute("data-tiles", kept["position"]["tiles"])


def test_hints_are_the_models_values(visit: Begin) -> None:
    page = visit().page
    new_game(page, seed=23)
    at(page, "depth-select").select_option("depth:2")
    at(page, "hint-toggle").click()
    model = next(one for one in ask_server(page, "/api/models")["models"] if one["game"] == "2048")
    body = {"board": game_of(page)["position"]["text"], "model": model["id"], "depth": 2}
    answer = ask_server(page, "/api/move", body)
    for name, value in answer["values"].items():
        edge = at(page, f"value-{name}")
        if value is None:
            expect(edge).to_have_attribute("data-value", "")
        else:
            expect(edge).to_have_attribute("data-value", re.compile(re.escape(f"{value:.10g}"[:8])))
    best = at(page, f"value-{answer['move']}")
    expect(best).to_contain_text("★")
    best.click()
    assert wait_moves(page, 1)["moves"] == answer["move"][0].upper()


def test_a_link_shows_the_game_again(visit: Begin, rules: TestClient) -> None:
    first = visit(permissions=["clipboard-read", "clipboard-write"])
    page = first.page
    new_game(page, game="threes", seed=31)
    for _ in range(6):
        kept = slide(page, game_of(page)["position"]["legal"][0])
    at(page, "share").click()
    expect(at(page, "toast")).to_contain_text("link")
    link = page.evaluate("() => navigator.clipboard.readText()")
    assert "#replay/threes/tcg2022/4x4/31/" in link
    other = visit().open(link.partition("/#")[1].lstrip("/") + link.partition("/#")[2])
    expect(at(other, "replay-bar")).to_be_visible()
    other.wait_for_function("() => localStorage.getItem('afterstate.game') !== null")
    assert {key: game_of(other)[key] for key in ("seed", "game", "rules", "size")} == {
        key: kept[key] for key in ("seed", "game", "rules", "size")
    }
    played_again(rules, game_of(other))


def test_a_broken_link_is_told(visit: Begin) -> None:
    page = visit().open("#replay/2048/standard/4x4/1/gA")
    expect(at(page, "toast")).to_contain_text("This link is damaged")
    expect(at(page, "board")).to_be_visible()
