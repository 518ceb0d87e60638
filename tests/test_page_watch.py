"""Watching at full speed, pauses, the next game, and keys: what is shown is what the game is."""

import re
from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Page, expect

from afterstate.web.library import Library
from afterstate.web.server import make_app
from browsing import Visit, ask_server, at, game_of, new_game, slide, wait_moves, watch_at_full_speed
from serving import HERE, ask

Begin = Callable[..., Visit]

# every board that is shown, with the time of the page
SEEN = (
    "() => { window.seen = []; new MutationObserver(() => seen.push({ms: performance.now(),"
    " tiles: document.querySelector('[data-testid=board]').dataset.tiles}))"
    ".observe(document.querySelector('[data-testid=board]'), {attributeFilter: ['data-tiles']}); }"
)


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """Another server, to replay games."""
    return TestClient(make_app(Library(tmp_path_factory.mktemp("none"))), base_url=HERE)


def replayed(rules: TestClient, page: Page) -> None:
    kept = game_of(page)
    again = ask(rules, "/api/replay", **{key: kept[key] for key in ("game", "rules", "size", "seed", "moves")})
    assert {key: kept[key] for key in ("position", "rng", "score")} == {key: again[key] for key in ("position", "rng", "score")}


def test_a_game_at_full_speed_can_be_watched(visit: Begin) -> None:
    """Some games showed one frame. By the page's clock, which only goes when the test says so, a frame comes at every tick."""
    visitor = visit()
    visitor.context.clock.install()
    page = visitor.open("")
    new_game(page, seed=22)
    page.evaluate(SEEN)
    page.clock.pause_at(page.evaluate("() => Date.now() / 1000 + 1"))
    watch_at_full_speed(page)
    for _ in range(300):
        ask_server(page, "/api/models")  # what was asked before has come by now
        page.clock.run_for(100)
        if at(page, "next-game").count():
            break
    seen = page.evaluate("() => window.seen")
    lasted = (seen[-1]["ms"] - seen[0]["ms"]) / 1000
    assert len(seen) >= min(30 * lasted, len(game_of(page)["moves"])) - 1
    assert lasted < 6


def test_a_pause_stops_at_what_is_shown(visit: Begin, rules: TestClient) -> None:
    """A pause jumped to the end of what was known: by thousands of moves."""
    page = visit().page
    new_game(page, seed=23)
    watch_at_full_speed(page)
    wait_moves(page, 1)
    shown = page.evaluate(
        "() => { const board = document.querySelector('[data-testid=board]').dataset.tiles;"
        " document.querySelector('[data-testid=watch-toggle]').click();"
        " return [board, document.querySelector('[data-testid=board]').dataset.tiles]; }"
    )
    assert shown[0] == shown[1]
    kept = game_of(page)
    assert kept["position"]["tiles"] == shown[0]
    assert not kept["position"]["over"]
    replayed(rules, page)
    slide(page, kept["position"]["legal"][0])
    replayed(rules, page)


def test_the_next_game_and_how_they_went(visit: Begin) -> None:
    page = visit().page
    new_game(page, seed=24)
    tally = at(page, "watch-tally")
    expect(tally).to_contain_text("Games 0")
    watch_at_full_speed(page)
    at(page, "next-game").wait_for()
    first = game_of(page)
    expect(tally).to_contain_text(re.compile(rf"Games 1.*Mean {first['score']:,}.*Best {first['score']:,}"))
    expect(tally).to_contain_text(f"{first['position']['largest']} 100%")
    at(page, "next-game").click()
    expect(tally).to_contain_text("Games 2")
    second = game_of(page)
    assert second["seed"] != first["seed"]
    expect(tally).to_contain_text(f"Best {max(first['score'], second['score']):,}")
    page.keyboard.press("n")  # a game of one's own ends with no "next game" of the AI
    page.keyboard.press("Enter")
    expect(at(page, "next-game")).to_have_count(0)


def test_game_after_game(visit: Begin) -> None:
    page = visit().page
    new_game(page, seed=25)
    at(page, "watch-on").check()
    watch_at_full_speed(page)
    expect(at(page, "watch-tally")).to_contain_text("Games 2")
    page.keyboard.press("ArrowLeft")  # between two games, or in the third one
    expect(at(page, "watch-toggle")).to_contain_text(re.compile("Watch|Next game"))


def test_space_pauses_and_p_works_with_the_slider_in_focus(visit: Begin) -> None:
    page = visit().page
    new_game(page, seed=26)
    page.keyboard.press("Space")
    expect(at(page, "watch-toggle")).to_contain_text("Pause")
    page.keyboard.press("Space")
    expect(at(page, "watch-toggle")).to_contain_text("Watch")
    at(page, "watch-speed").focus()
    page.keyboard.press("p")
    expect(at(page, "watch-toggle")).to_contain_text("Pause")
    page.keyboard.press("p")
    expect(at(page, "watch-toggle")).to_contain_text("Watch")
    moves = game_of(page)["moves"]
    page.keyboard.press("ArrowRight")  # of the slider, not of the board
    assert game_of(page)["moves"] == moves


def test_show_values_is_pressed_while_watching(visit: Begin) -> None:
    page = visit().page
    new_game(page, seed=27)
    page.keyboard.press("p")
    expect(at(page, "watch-toggle")).to_contain_text("Pause")
    at(page, "hint-toggle").click()
    expect(at(page, "hint-toggle")).to_have_attribute("aria-pressed", "true")
    expect(at(page, "watch-toggle")).to_contain_text("Pause")
    page.keyboard.press("h")
    expect(at(page, "hint-toggle")).to_have_attribute("aria-pressed", "false")


def test_z_is_held_to_take_back_all_moves(visit: Begin) -> None:
    page = visit().page
    new_game(page, seed=28)
    first = game_of(page)["position"]["tiles"]
    for _ in range(5):
        slide(page, game_of(page)["position"]["legal"][0])
    for _ in range(200):  # a key that is held: one press, then repeats
        page.keyboard.down("z")
        if game_of(page)["moves"] == "":
            break
    page.keyboard.up("z")
    expect(at(page, "board")).to_have_attribute("data-tiles", first)
    expect(at(page, "undo")).to_be_disabled()


def test_a_question_mark_shows_all_keys(visit: Begin) -> None:
    page = visit().page
    expect(at(page, "board")).to_be_visible()
    page.keyboard.press("Shift+?")
    keys = at(page, "keys")
    expect(keys).to_contain_text("Take a move back")
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    at(page, "all-keys").click()
    expect(keys).to_be_visible()


def test_keys_that_need_a_model_say_so(visit: Begin) -> None:
    page = visit().page
    new_game(page, size="2x2", seed=29)
    for key in ("h", "p", "."):
        page.keyboard.press(key)
        expect(at(page, "toast")).to_have_text(re.compile("There is no model for this game yet"))
        at(page, "toast").get_by_label("Close this message").click()
        expect(at(page, "toast")).to_have_count(0)


def test_what_happens_is_said_to_a_screen_reader(visit: Begin) -> None:
    page = visit().page
    new_game(page, seed=30)
    live = page.locator("#live")
    kept = game_of(page)
    slide(page, kept["position"]["legal"][0])
    expect(live).to_contain_text("Slid ")
    page.keyboard.press("z")
    expect(live).to_contain_text("Took a move back")
    at(page, "hint-toggle").click()
    expect(at(page, "hints-live")).to_contain_text("Best: ")
