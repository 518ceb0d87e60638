"""New games that are cancelled, a server that is away, two tabs, links, and windows of all shapes."""

import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import afterstate.web
from browsing import Visit, at, game_of, new_game, slide, wait_for_frames
from serving import served

Begin = Callable[..., Visit]


def free_port() -> int:
    """A port that no other server takes while ours is away."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def play_some(page: Page, count: int) -> dict[str, object]:
    kept = game_of(page)
    for _ in range(count):
        kept = slide(page, kept["position"]["legal"][0])
    return kept


def test_a_cancelled_new_game_destroys_nothing(browser: Browser, original: Path, tmp_path: Path) -> None:
    """Server away, N, Start, Esc, server back: the game was replaced by a new one."""
    with served(tmp_path, original, "--port", free_port()) as first:
        visit = Visit(browser, first.address)
        page = visit.page
        new_game(page, seed=6)
        kept = play_some(page, 4)
        first.end(signal.SIGKILL)
        page.keyboard.press("n")
        at(page, "start-game").click()
        expect(at(page, "start-game")).to_have_text("Starting …")
        expect(at(page, "server-away")).to_contain_text("Run `afterstate play` again")
        page.keyboard.press("Escape")
        expect(page.locator("dialog[open]")).to_have_count(0)
    with served(tmp_path, original, "--port", first.port):
        expect(at(page, "server-away")).to_be_hidden()
        after = slide(page, kept["position"]["legal"][0])  # type: ignore[index]
        assert after["moves"][:-1] == kept["moves"]
        assert after["seed"] == 6
        page.keyboard.press("n")
        page.keyboard.press("Escape")
        assert game_of(page) == after
        visit.complaints.clear()  # of the time without a server
        visit.close()


def test_n_and_enter_start_a_game(visit: Begin) -> None:
    page = visit().page
    new_game(page, seed=7)
    play_some(page, 2)
    page.keyboard.press("n")
    expect(page.locator("dialog[open]")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_have_count(0)
    kept = game_of(page)
    assert (kept["moves"], kept["seed"] == 7) == ("", False)


def test_all_views_open_while_the_server_is_away_and_recover(browser: Browser, original: Path, tmp_path: Path) -> None:
    """Modules that were loaded late failed to load, for good."""
    with served(tmp_path, original, "--port", free_port()) as first:
        visit = Visit(browser, first.address)
        page = visit.page
        expect(at(page, "board")).to_be_visible()
        first.end(signal.SIGKILL)
        for view in ("Training", "Coach", "Analyse"):
            page.get_by_role("link", name=view).click()
            expect(page.locator("h1", has_text=view)).to_have_count(1)
            expect(page.locator("#main")).not_to_contain_text("could not be shown")
        expect(at(page, "server-away")).to_contain_text("Run `afterstate play` again")
    with served(tmp_path, original, "--port", first.port):
        expect(at(page, "server-away")).to_be_hidden()
        expect(at(page, "analyse-values").locator("tr.best").first).to_be_visible()
        visit.complaints.clear()  # of the time without a server
        visit.close()


def test_two_tabs_have_a_game_each(visit: Begin) -> None:
    visitor = visit()
    one = visitor.page
    new_game(one, seed=8)
    first = play_some(one, 3)
    other = visitor.open("")
    expect(at(other, "board")).to_have_attribute("data-tiles", first["position"]["tiles"])  # type: ignore[index]
    new_game(other, seed=9)
    one.get_by_role("link", name="Analyse").click()
    expect(at(one, "analyse-text")).to_be_visible()
    second = play_some(other, 2)
    one.get_by_role("link", name="Play").click()  # the game is loaded again: it was that of the other tab
    for page, kept in ((one, first), (other, second)):
        expect(at(page, "board")).to_have_attribute("data-tiles", kept["position"]["tiles"])  # type: ignore[index]
        page.reload()
        expect(at(page, "board")).to_have_attribute("data-tiles", kept["position"]["tiles"])  # type: ignore[index]


def test_a_link_says_that_only_this_computer_can_open_it(visit: Begin) -> None:
    page = visit(permissions=["clipboard-read", "clipboard-write"]).page
    new_game(page, seed=10)
    at(page, "share").click()
    expect(at(page, "toast")).to_contain_text("It works on this computer only")


@pytest.mark.parametrize("rest", ["%E0%A4%A/standard/4x4/1/BOQ", "2048/standard/4x4/9007199254740993/BOQ"])
def test_a_link_that_cannot_be_read_says_so_plainly(visit: Begin, rest: str) -> None:
    page = visit().open(f"#replay/{rest}")
    expect(at(page, "toast")).to_contain_text("This link is damaged")
    expect(at(page, "toast")).not_to_contain_text("URI")


def test_a_game_of_a_link_may_begin_with_any_board(visit: Begin) -> None:
    page = visit().open("#replay/2048/standard/2x2/3/AA/2 4 %2F 0 2")
    expect(at(page, "board")).to_have_attribute("data-tiles", "1201")


# --- the board fits ------------------------------------------------------------------------------------------------------

WINDOWS = [(1440, 900), (1024, 768), (844, 390), (667, 375), (390, 844), (320, 640)]


def overflow(page: Page, name: str) -> str:
    """How far a board leaves the window, once it is scrolled to."""
    board = at(page, name)
    board.evaluate("it => it.scrollIntoView({block: 'center'})")
    wait_for_frames(page)
    box, size = board.bounding_box(), page.viewport_size
    assert box is not None
    assert size is not None
    fits = box["x"] >= 0 and box["x"] + box["width"] <= size["width"] and box["height"] <= size["height"] - 100
    return "" if fits else f"{box} in {size}"


@pytest.mark.parametrize("shape", ["4x4", "4x2", "2x4"])
def test_the_board_fits_the_window_in_both_directions(visit: Begin, shape: str) -> None:
    page = visit().page
    new_game(page, size=shape, seed=11)
    for width, height in WINDOWS:
        page.set_viewport_size({"width": width, "height": height})
        wait_for_frames(page)
        assert overflow(page, "board") == ""
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        page.evaluate("() => scrollTo(0, 0)")
        box = at(page, "board").bounding_box()
        assert box["y"] + box["height"] <= height, f"{box} in {width}x{height}"  # without scrolling
        assert box["height"] >= 130
    page.get_by_label("Analyse this board").click()
    expect(at(page, "analyse-board")).to_be_visible()
    for width, height in WINDOWS:
        page.set_viewport_size({"width": width, "height": height})
        wait_for_frames(page)
        assert overflow(page, "analyse-board") == ""
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_on_a_low_window_the_controls_stand_beside_the_board(visit: Begin) -> None:
    page = visit(viewport={"width": 844, "height": 390}).page
    board = at(page, "board").bounding_box()
    for name in ("score", "undo", "new-game", "watch-toggle"):
        assert at(page, name).bounding_box()["x"] >= board["x"] + board["width"], name
    assert at(page, "watch-toggle").bounding_box()["y"] < 390


def test_the_words_of_these_views(visit: Begin) -> None:
    page = visit().page
    expect(at(page, "watch-toggle")).to_be_visible()
    expect(page.get_by_role("heading", name="AI")).to_be_visible()
    expect(page.locator("#main")).not_to_contain_text(re.compile("player", re.IGNORECASE))
    page.goto(f"{page.url.partition('#')[0]}#analyse")
    expect(at(page, "analyse-values")).to_contain_text("Loss")
    for words in ("To the best", "moves nothing", "The player"):
        expect(page.locator("#main")).not_to_contain_text(words)


def test_the_page_stays_small() -> None:
    """All that a visitor loads, in bytes: the page in one language (test_page_language.py sees that it is one)."""
    page = Path(afterstate.web.__file__).parent / "page"
    *_, other = sorted((file.stat().st_size for file in page.glob("texts-*.js")), reverse=True)
    assert sum(file.stat().st_size for file in page.iterdir()) - other <= 400_000
