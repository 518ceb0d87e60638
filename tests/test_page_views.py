"""Analyse, Coach and Training by real clicks, and checks of every view."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import afterstate as af
from afterstate.play.evaluation import measure
from browsing import (
    PHONE,
    Visit,
    ask_server,
    at,
    game_of,
    let_in,
    new_game,
    shorten_runs,
    slide,
    wait_for_animations,
    wait_for_frames,
)
from commandline import NETWORK
from serving import Served, served

Begin = Callable[..., Visit]
BOARD = "2 4 8 16 / 4 8 32 64 / 0 2 16 256 / 0 0 4 512"
VIEWS = ("play", "analyse", "coach", "training")


# --- analyse -------------------------------------------------------------------------------------------------------------


def analysis(visitor: Visit) -> Page:
    """Analyse, for 2048."""
    page = visitor.open("#analyse")
    page.get_by_role("radio", name="2048").check()
    return page


def test_a_pasted_board_is_analysed(visit: Begin) -> None:
    page = analysis(visit())
    at(page, "analyse-text").fill(BOARD)
    expect(at(page, "analyse-board")).to_have_attribute("data-tiles", "1234235601480029")
    page.wait_for_function("() => document.querySelector('[data-testid=analyse-values] tr.best') !== null")
    model = next(one["id"] for one in ask_server(page, "/api/models")["models"] if one["game"] == "2048")
    answer = ask_server(page, "/api/analyse", {"board": BOARD, "model": model, "depth": 1})
    for name, value in answer["values"].items():
        row = at(page, f"analyse-value-{name}")
        expect(row).to_have_attribute("data-value", "" if value is None else re.compile(re.escape(f"{value:.10g}"[:7])))
    expect(at(page, f"analyse-value-{answer['move']}")).to_have_class("best")
    expect(at(page, "analyse-line").locator("li")).to_have_count(4)
    expect(at(page, "analyse-patterns").locator("details")).to_have_count(2)
    heat = at(page, "analyse-heat")
    expect(heat).to_have_attribute("aria-label", re.compile("Share of each cell"))
    before = heat.get_attribute("aria-label")
    at(page, "analyse-values").locator("tbody tr:not(.best) input:not(:disabled)").first.check()
    page.wait_for_function(
        "before => document.querySelector('[data-testid=analyse-heat]').getAttribute('aria-label') !== before", arg=before
    )


def test_a_text_that_is_no_board_is_told_beside_it(visit: Begin) -> None:
    page = analysis(visit())
    at(page, "analyse-text").fill("2 4 8 16 / 4 8 32 64 / 0 2 16 256 / 0 0 4 5")
    expect(at(page, "analyse-error")).to_contain_text(re.compile(r"\b5\b"))


def test_a_board_is_set_up_by_clicks_and_keys(visit: Begin) -> None:
    page = analysis(visit())
    at(page, "analyse-text").fill("0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    board = at(page, "analyse-board")
    expect(board).to_have_attribute("data-tiles", "0000000000000001")
    board.locator("button").nth(5).click()
    at(page, "palette").get_by_label("Put 64", exact=True).click()
    expect(board).to_have_attribute("data-tiles", "0000060000000001")
    board.locator("button").nth(5).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.type("128")
    expect(board).to_have_attribute("data-tiles", "0000067000000001")
    expect(at(page, "analyse-text")).to_have_value("0 0 0 0 / 0 64 128 0 / 0 0 0 0 / 0 0 0 2")


def test_the_board_of_my_game_and_the_next_tile_of_threes(visit: Begin) -> None:
    page = visit().page
    new_game(page, game="threes", seed=3)
    kept = game_of(page)
    page.get_by_label("Analyse this board").click()
    expect(at(page, "analyse-board")).to_have_attribute("data-tiles", kept["position"]["tiles"])
    page.wait_for_function("() => document.querySelector('[data-testid=analyse-values] tr.best') !== null")


# --- coach ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def episodes(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("episodes") / "games.txt"
    measure(af.Agent(af.load(original)), games=3, seed=4, threads=1, save=file)
    return file


def test_the_coach_reads_an_episode_file(visit: Begin, episodes: Path) -> None:
    page = visit().open("#coach")
    at(page, "coach-file").set_input_files(episodes)
    expect(at(page, "coach-games")).to_be_visible()
    at(page, "coach-episode").click()
    expect(at(page, "coach-accuracy")).to_contain_text(re.compile(r"\d+\.\d ?%"))
    expect(at(page, "coach-chart")).to_be_visible()
    expect(at(page, "coach-luck")).to_be_visible()
    worst = at(page, "coach-worst").locator("article, li, .coach-worst-card")
    expect(worst.first).to_be_visible()
    before = at(page, "coach-board").get_attribute("data-tiles")
    at(page, "coach-next-mistake").click()
    page.wait_for_function("before => document.querySelector('[data-testid=coach-board]').dataset.tiles !== before", arg=before)


def test_the_coach_looks_at_my_game(visit: Begin) -> None:
    page = visit().page
    new_game(page, seed=12)
    for _ in range(8):
        slide(page, game_of(page)["position"]["legal"][-1])
    page.get_by_label("Coach this game").click()
    at(page, "coach-mine").first.click()
    expect(at(page, "coach-accuracy")).to_contain_text(re.compile(r"Accuracy\d+(\.\d)?%"))


def test_a_file_that_is_no_episode_is_told(visit: Begin, tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_text("this is no game\n")
    page = visit().open("#coach")
    at(page, "coach-file").set_input_files(file)
    expect(page.get_by_role("alert").filter(has_text="x.txt has no line such as")).to_be_visible()
    expect(at(page, "coach-episode")).to_have_count(0)


# --- training ------------------------------------------------------------------------------------------------------------


def test_someone_new_trains_a_player_and_watches_it(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path / "runs") as server:
        visit = Visit(browser, server.address)
        page = visit.page
        shorten_runs(page, games="3000", network=NETWORK)
        at(page, "train-now").click()
        at(page, "train-done").get_by_text("Watch it").click()
        page.wait_for_function("() => JSON.parse(localStorage.getItem('afterstate.game')).moves.length > 3")
        visit.close()


def test_a_run_is_started_seen_stopped_and_resumed(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path / "runs") as server:
        visit = Visit(browser, server.address)
        page = visit.open("#training")
        shorten_runs(page, games="10M", network=NETWORK)
        at(page, "train-first").click()
        row = at(page, "run-row")
        expect(row).to_have_attribute("data-status", "running")
        expect(at(page, "chart-score").locator("path").first).to_be_visible()
        page.wait_for_function("() => fetch('/api/runs').then(a => a.json()).then(a => a.runs[0].games > 3000)")
        at(page, "run-stop").click()
        expect(row).to_have_attribute("data-status", "stopped")
        at(page, "run-resume").click()
        expect(row).to_have_attribute("data-status", "running")
        at(page, "run-stop").click()
        expect(row).to_have_attribute("data-status", "stopped")
        visit.close()


def test_a_run_that_cannot_be_is_told_beside_the_form(visit: Begin) -> None:
    page = visit().open("#training")
    shorten_runs(page, network="zz", games="10")
    page.get_by_role("radio", name="Own options").check()
    at(page, "train-start").click()
    expect(at(page, "train-error")).to_contain_text("zz")


def test_several_runs_are_one_picture(browser: Browser, original: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(original, tmp_path / name)
    with served(tmp_path) as server:
        visit = Visit(browser, server.address)
        page = visit.open("#training")
        expect(at(page, "run-row")).to_have_count(2)
        for box in at(page, "run-select").all():
            box.check()
        for name in ("one", "two"):
            expect(at(page, "chart-score")).to_contain_text(name)
        visit.close()


def test_the_description_is_drawn_for_programs(visit: Begin) -> None:
    page = visit().open("docs.html")
    expect(at(page, "docs-operation")).to_have_count(16)
    expect(page.locator("body")).to_contain_text("/api/move")


# --- every view ----------------------------------------------------------------------------------------------------------

PROBES = Path(__file__).parent / "probes"
UNNAMED, FAINT = ((PROBES / name).read_text().partition("\n")[2] for name in ("unnamed.js", "faint.js"))


def wait_until_calm(page: Page) -> None:
    """Wait until there are no pending requests; a view that polls has its first answers then."""
    page.wait_for_load_state("networkidle")
    wait_for_frames(page)


@pytest.mark.parametrize("view", [*(f"#{name}" for name in VIEWS), "docs.html"])
def test_every_view_can_be_read_and_fits(visit: Begin, view: str) -> None:
    page = visit().open(view)
    wait_until_calm(page)
    assert page.evaluate(UNNAMED) == []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        wait_for_animations(page)  # colours may fade over
        assert page.evaluate(FAINT) == [], theme
    for width in (1440, 768, 390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        wait_for_frames(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_the_page_does_not_jump(visit: Begin) -> None:
    """Layout shift while a view loads, as browsers measure it; below 0.1 is good."""
    visitor = visit(viewport=PHONE)
    visitor.context.add_init_script(
        "window.shifts = 0; new PerformanceObserver(list => list.getEntries().forEach(one => { window.shifts += one.value; }))"
        ".observe({type: 'layout-shift', buffered: true})"
    )
    for view in VIEWS:
        page = visitor.open(f"#{view}")
        wait_until_calm(page)
        assert page.evaluate("() => window.shifts") < 0.1, view
        page.close()


def test_all_of_play_can_be_reached_by_keyboard(visit: Begin) -> None:
    page = visit().page
    expect(at(page, "board")).to_be_visible()
    seen: list[str] = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("() => document.activeElement.dataset.testid ?? document.activeElement.className"))
        outline = page.evaluate(
            "() => { const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.boxShadow]; }"
        )
        behind_the_last = page.evaluate("() => document.activeElement === document.body")
        assert behind_the_last or outline != ["none", "none"], seen[-1]
    wanted = {
        "theme",
        "new-game",
        "value-up",
        "model-select",
        "depth-select",
        "hint-toggle",
        "watch-toggle",
        "watch-speed",
        "share",
    }
    assert wanted <= set(seen)


MOVED = (
    "window.moved = 0; const animate = Element.prototype.animate;"
    "Element.prototype.animate = function (frames, ...rest) {"
    "  const animation = animate.call(this, frames, ...rest);"
    "  const moves = animation.effect.getKeyframes().some(one => one.transform && one.transform !== 'none');"
    "  window.moved += moves ? 1 : 0; return animation; };"
    "addEventListener('animationstart', () => { window.moved += 1; }, true);"
)


@pytest.mark.parametrize("wish", ["reduce", "no-preference"])
def test_less_motion_is_less_motion(visit: Begin, wish: str) -> None:
    """With reduced motion no tile moves, not even for a moment; without it they do."""
    visitor = visit(reduced_motion=wish)
    visitor.context.add_init_script(MOVED)
    page = visitor.open("")
    new_game(page, seed=2)
    legal = game_of(page)["position"]["legal"]
    slide(page, legal[0])
    wait_for_animations(page)
    assert (page.evaluate("() => window.moved") == 0) == (wish == "reduce")


def test_the_theme_is_chosen_and_kept(visit: Begin, server: Served) -> None:
    page = visit(color_scheme="light").page
    light = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    at(page, "theme").click()
    at(page, "theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") != light
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_a_foreign_page_cannot_drive_it(browser: Browser, server: Served) -> None:
    """Requests from another origin fail in a browser."""
    context = browser.new_context()
    elsewhere = server.address.replace("127.0.0.1", "localhost")  # another origin by name, the same server
    let_in(context, elsewhere)
    page = context.new_page()
    page.goto(f"{elsewhere}/")
    answer = page.evaluate(
        "address => fetch(address + '/api/new', {method: 'POST', headers: {'content-type': 'application/json'}, body: '{}'})"
        ".then(a => a.status, () => 'refused')",
        server.address,
    )
    context.close()
    assert answer == "refused"
