"""Your own game on the page: chosen, played, trained, watched, analysed and coached, by real clicks."""

import json
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import KEEP, Visit, ask_server, at, game_of, new_game, shorten_runs, slide, wait_moves
from commandline import NETWORK
from serving import Served, served
from test_players import EXAMPLES

Begin = Callable[..., Visit]
SIZES = "label:has-text('Size') option"
FIELD = "label.field:has(> span:text-is('{}')) select"


@pytest.fixture(scope="module")
def drift(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`afterstate play` with Drift beside our own games, and no model."""
    with served(tmp_path_factory.mktemp("runs"), games=EXAMPLES / "drift.py") as server:
        yield server


@pytest.fixture
def page(browser: Browser, drift: Served) -> Iterator[Page]:
    visit = Visit(browser, drift.address)
    yield visit.page
    visit.close()


def test_drift_is_chosen_and_played(page: Page) -> None:
    at(page, "new-game").click()
    panel = page.locator("dialog[open]")
    expect(panel.locator(SIZES)).to_have_count(9)
    panel.get_by_label("Size").select_option("2x3")
    panel.get_by_role("radio", name="Drift").check()
    expect(panel.locator(SIZES)).to_have_text(["4 × 4"])  # and not the size that was chosen before
    expect(at(page, "rule-note")).to_have_text("Lines move by one cell only. Every new tile is a 2.")
    panel.get_by_role("radio", name="Threes!").check()
    expect(panel.locator(SIZES)).to_have_count(9)
    panel.get_by_role("button", name="Close").click()
    new_game(page, game="drift", seed=4)
    kept = game_of(page)
    assert (kept["game"], kept["size"]) == ("drift", "4x4")
    for _ in range(5):
        kept = slide(page, kept["position"]["legal"][-1])
    expect(at(page, "board")).to_have_attribute("data-tiles", kept["position"]["tiles"])
    ref = {key: kept[key] for key in ("game", "rules", "size", "seed", "moves")}
    assert ask_server(page, "/api/replay", ref)["position"] == kept["position"]
    tile = page.locator("[data-testid=board] .tile[data-tile='1']").first
    assert tile.evaluate("tile => getComputedStyle(tile).backgroundColor") == "rgb(247, 240, 222)"


def test_drift_is_trained_watched_analysed_and_coached(page: Page) -> None:
    new_game(page, game="drift", seed=5)
    shorten_runs(page, games="2000", network=NETWORK)
    at(page, "train-now").click()
    at(page, "train-done").get_by_text("Watch it").click()
    wait_moves(page, 5)
    at(page, "watch-toggle").click()
    page.get_by_label("Analyse this board").click()
    expect(at(page, "analyse-values").locator("tr.best")).to_be_visible()
    expect(page.locator(SIZES)).to_have_text(["4 × 4"])
    page.goto(f"{page.url.partition('#')[0]}#play")
    page.get_by_label("Coach this game").click()
    expect(at(page, "coach-accuracy")).to_contain_text("%")
    page.goto(f"{page.url.partition('#')[0]}#training")
    expect(at(page, "run-row").first).to_contain_text("Drift · 4x4")


def test_the_form_offers_the_boards_of_the_game(page: Page) -> None:
    page.goto(f"{page.url.partition('#')[0]}#training")
    page.get_by_role("radio", name="Own options").check()
    game, rules, board = (at(page, "train-form").locator(FIELD.format(name)) for name in ("Game", "Rules", "Board"))
    expect(board.locator("option")).to_have_count(9)
    game.select_option("drift")
    expect(board.locator("option")).to_have_text(["4 × 4"])
    game.select_option("threes")
    expect(rules).to_have_value("tcg2022")
    expect(board).to_have_value("4x4")


def test_the_example_of_each_game_can_be_analysed(page: Page) -> None:
    page.goto(f"{page.url.partition('#')[0]}#analyse")
    for name, text in (("Threes!", re.compile(r"^1 0 0 2 / .+ \\| next 1$")), ("Drift", re.compile(r"^2 0 0 0 / "))):
        page.get_by_role("radio", name=name).check()
        expect(at(page, "analyse-text")).to_have_value(text)
        expect(at(page, "analyse-error")).to_have_text("")


def test_a_kept_game_that_the_server_does_not_have_is_passed_over(visit: Begin) -> None:
    """A browser has a saved game of Drift, but the server does not have Drift."""
    visitor = visit()
    expect(at(visitor.page, "board")).to_be_visible()
    kept = game_of(visitor.page) | {"game": "drift", "rules": "standard"}
    visitor.page.goto("about:blank")
    visitor.context.add_init_script(
        "if (!localStorage.getItem('seen')) { localStorage.setItem('seen', '1');"
        f" localStorage.setItem('{KEEP}', {json.dumps(json.dumps(kept))}); }}"
    )
    page = visitor.open("")
    expect(at(page, "board")).to_be_visible()
    page.wait_for_function(f"() => JSON.parse(localStorage.getItem('{KEEP}')).game !== 'drift'")
