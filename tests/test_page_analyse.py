"""Analyse by real clicks and keys: cells, moves on the board, back and forward, other ways, links, large pastes."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browsing import PHONE, Visit, ask_server, at, game_of, new_game, slide, wait_moves

Begin = Callable[..., Visit]
BOARD = "2 4 8 16 / 4 8 32 64 / 0 2 16 256 / 0 0 4 512"
TILES = "1234235601480029"
THREES = "1 2 3 0 / 0 0 0 0 / 3 0 0 0 / 0 0 2 1 | bag 12 | next 3 | slid U"


def hash_of(board: str, game: str = "2048/standard/4x4") -> str:
    return f"#analyse={game}/{board.replace('/', '%2F')}"


def analysis(visitor: Visit, board: str = BOARD, game: str = "2048/standard/4x4") -> Page:
    page = visitor.open(hash_of(board, game))
    expect(at(page, "analyse-text")).not_to_have_value("")
    return page


def shown(page: Page) -> Any:
    return at(page, "analyse-board")


def text(page: Page) -> Any:
    return at(page, "analyse-text")


@pytest.mark.parametrize("touch", [False, True])
def test_a_cell_with_a_tile_can_be_clicked_and_tapped(visit: Begin, touch: bool) -> None:
    """The tile covered the button, so only empty cells responded."""
    page = analysis(visit(viewport=PHONE, has_touch=True, is_mobile=True) if touch else visit())
    expect(shown(page)).to_have_attribute("data-tiles", TILES)
    box = shown(page).bounding_box()  # the third cell of the second row, by its place
    x, y = box["x"] + box["width"] * 5 / 8, box["y"] + box["height"] * 3 / 8
    if touch:
        page.touchscreen.tap(x, y)
    else:
        page.mouse.click(x, y)
    expect(page.get_by_label("32, row 2, column 3")).to_have_attribute("aria-pressed", "true")
    at(page, "palette").get_by_label("Put 128", exact=True).click()
    expect(shown(page)).to_have_attribute("data-tiles", TILES[:6] + "7" + TILES[7:])


def test_tiles_above_131072_are_written(visit: Begin) -> None:
    page = analysis(visit(), "131072 131072 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    expect(at(page, "analyse-line").locator("li")).to_have_count(4)
    lines = at(page, "analyse-line")
    expect(lines.locator("[data-tile='18']").first).to_have_text("262144")
    assert "undefined" not in lines.inner_text()
    assert "undefined" not in " ".join(one.get_attribute("aria-label") for one in lines.get_by_role("img").all())


def test_moves_are_made_by_keys_and_by_the_values_at_the_edges(visit: Begin) -> None:
    page = analysis(visit())
    expect(at(page, "value-down")).to_have_attribute("data-value", re.compile(r"\d"))
    page.keyboard.press("ArrowDown")
    expect(at(page, "analyse-back")).to_be_enabled()
    first = text(page).input_value()
    assert first != BOARD
    legal = ask_server(page, "/api/read", {"board": first})["legal"]
    expect(at(page, f"value-{legal[0]}")).to_have_attribute("data-value", re.compile(r"\d"))
    at(page, f"value-{legal[0]}").click()
    page.wait_for_function("first => document.querySelector('[data-testid=analyse-text]').value !== first", arg=first)
    tried = ask_server(page, "/api/try", {"board": first, "slide": legal[0]})
    assert text(page).input_value() in [one["position"]["text"] for one in tried["outcomes"]]


def test_a_slide_that_is_not_possible_is_said(visit: Begin) -> None:
    page = analysis(visit())
    expect(shown(page)).to_have_attribute("data-tiles", TILES)
    page.keyboard.press("ArrowUp")
    expect(page.locator("#live")).to_have_text("Up is not possible.")
    expect(text(page)).to_have_value(BOARD)


def test_the_new_tile_can_be_chosen(visit: Begin) -> None:
    page = analysis(visit())
    page.get_by_role("radio", name="I choose").check()
    page.keyboard.press("s")
    offer = at(page, "tryout")
    expect(offer).to_contain_text("Where is the new tile?")
    offer.get_by_role("radio", name="4").check()
    shown(page).get_by_label("empty, row 2, column 1").click()
    expect(text(page)).to_have_value("0 0 8 16 / 4 4 32 64 / 2 8 16 256 / 4 2 4 512")


def test_back_and_forward_and_another_way(visit: Begin) -> None:
    """Undo is there, the browser's Back stays on the site, and another way says what it forgets."""
    page = analysis(visit())
    seen = [BOARD]
    for _ in range(2):
        legal = ask_server(page, "/api/read", {"board": seen[-1]})["legal"]
        page.keyboard.press({"up": "w", "right": "d", "down": "s", "left": "a"}[legal[0]])
        page.wait_for_function("last => document.querySelector('[data-testid=analyse-text]').value !== last", arg=seen[-1])
        seen.append(text(page).input_value())
    at(page, "analyse-back").click()
    expect(text(page)).to_have_value(seen[1])
    page.keyboard.press("z")
    expect(text(page)).to_have_value(seen[0])
    expect(at(page, "analyse-back")).to_be_disabled()
    page.keyboard.press("y")
    expect(text(page)).to_have_value(seen[1])
    page.go_forward()
    expect(text(page)).to_have_value(seen[2])
    expect(at(page, "analyse-forward")).to_be_disabled()
    page.go_back()
    page.go_back()
    expect(text(page)).to_have_value(seen[0])
    assert "#analyse=" in page.url
    at(page, "palette").get_by_label("Put 2048", exact=True).click()
    expect(at(page, "toast")).to_contain_text("forgotten")
    expect(at(page, "analyse-forward")).to_be_disabled()


def test_play_from_here(visit: Begin) -> None:
    page = analysis(visit())
    expect(at(page, "play-from-here")).to_be_enabled()
    at(page, "play-from-here").click()
    expect(at(page, "board")).to_have_attribute("data-tiles", TILES)
    kept = slide(page, "down")
    assert (kept["start"], kept["moves"]) == (BOARD, "D")
    page.keyboard.press("z")
    page.wait_for_function("() => JSON.parse(localStorage.getItem('afterstate.game')).moves === ''")
    expect(at(page, "board")).to_have_attribute("data-tiles", TILES)
    page.reload()
    expect(at(page, "board")).to_have_attribute("data-tiles", TILES)


def test_play_from_here_asks_before_it_replaces_a_game(visit: Begin) -> None:
    page = visit().page
    new_game(page, seed=4)
    kept = slide(page, game_of(page)["position"]["legal"][0])
    page.get_by_label("Analyse this board").click()
    text(page).fill(BOARD)
    expect(shown(page)).to_have_attribute("data-tiles", TILES)
    at(page, "play-from-here").click()
    page.get_by_role("button", name="Keep my game").click()
    assert wait_moves(page, 1) == kept
    page.go_back()
    at(page, "play-from-here").click()
    page.get_by_role("button", name="Play", exact=True).click()
    expect(at(page, "board")).to_have_attribute("data-tiles", TILES)


def test_editing_a_board_of_threes_keeps_what_else_is_known(visit: Begin) -> None:
    page = analysis(visit(), THREES, "threes/tcg2022/4x4")
    expect(text(page)).to_have_value(re.compile("bag 12"))
    before = text(page).input_value()
    assert "slid U" in before
    shown(page).get_by_label("empty, row 2, column 2").click()
    at(page, "palette").get_by_label("Put 6", exact=True).click()
    expect(text(page)).to_have_value(re.compile(r"^1 2 3 0 / 0 6 0 0 /"))
    for part in ("bag 12", "next 3", "slid U"):
        expect(text(page)).to_have_value(re.compile(re.escape(part)))


def test_what_no_longer_fits_is_said(visit: Begin) -> None:
    page = analysis(visit(), THREES, "threes/tcg2022/4x4")
    page.get_by_role("radiogroup", name="Next tile").get_by_role("radio", name="1").check()
    expect(at(page, "toast")).to_contain_text("Left out, since it no longer fits: bag 12")
    expect(text(page)).to_have_value(re.compile(r"next 1"))
    expect(text(page)).to_have_value(re.compile(r"slid U"))


def test_a_link_with_a_wrong_board_shows_what_is_wrong(visit: Begin) -> None:
    page = analysis(visit(), "2 4 8 16 / 4 8 32 64 / 0 2 16 256 / 0 0 4 5")
    expect(at(page, "analyse-error")).to_contain_text("5")
    expect(text(page)).to_have_value(re.compile(" 5$"))
    text(page).fill(BOARD)
    expect(shown(page)).to_have_attribute("data-tiles", TILES)


def test_a_huge_paste_is_refused_at_once(visit: Begin) -> None:
    page = analysis(visit(permissions=["clipboard-read", "clipboard-write"]))
    expect(shown(page)).to_have_attribute("data-tiles", TILES)
    page.evaluate("() => navigator.clipboard.writeText('2 4 / '.repeat(1_700_000))")
    text(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+v")
    expect(at(page, "analyse-error")).to_have_text("This text is too long for a board: 10,200,000 characters.")
    expect(text(page)).to_have_value(BOARD)
    page.keyboard.type("2")
    expect(text(page)).to_have_value("2")


def test_no_picture_wraps_a_button(visit: Begin) -> None:
    page = analysis(visit())
    expect(at(page, "analyse-heat")).to_be_visible()
    assert page.locator("[role=img] button, [role=img] a, [role=img] input").count() == 0
    page.goto(f"{page.url.partition('#')[0]}#play")
    expect(at(page, "board")).to_be_visible()
    assert page.locator("[role=img] button").count() == 0
    expect(at(page, "board").get_by_role("img")).to_have_attribute("aria-label", re.compile("^Board, row 1"))


def test_paste_stands_before_the_palette_and_the_answer_at_the_board(visit: Begin) -> None:
    page = analysis(visit(viewport=PHONE))
    expect(at(page, "analyse-verdict")).to_contain_text("Best: ")
    board, verdict, field, palette = (
        at(page, name).bounding_box()["y"] for name in ("analyse-board", "analyse-verdict", "analyse-text", "palette")
    )
    assert board < verdict < field < palette
    assert verdict < PHONE["height"] - 60  # above the tabs, without scrolling


def test_without_a_model_the_board_can_be_played_on(visit: Begin) -> None:
    page = analysis(visit(), "2 2 0 / 0 0 0", "2048/standard/2x3")
    expect(at(page, "train-now")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(text(page)).to_have_value(re.compile(r"^4 "))
