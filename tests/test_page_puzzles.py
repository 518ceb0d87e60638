"""Puzzles by real clicks and keys: your mistakes and the AI's, what is told, and what comes again."""

import json
import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from browsing import ARROWS, Visit, ask_server, at, game_of, new_game, slide

Begin = Callable[..., Visit]


def model_of(page: Page) -> str:
    return next(str(one["id"]) for one in ask_server(page, "/api/models")["models"] if one["game"] == "2048")


def err(page: Page, moves: int) -> None:
    """Play badly: always the worst slide by the model."""
    new_game(page, seed=12)
    model = model_of(page)
    for _ in range(moves):
        values = ask_server(page, "/api/move", {"board": game_of(page)["position"]["text"], "model": model, "depth": 3})[
            "values"
        ]
        slide(page, min((value, name) for name, value in values.items() if value is not None)[1])


def my_puzzles(page: Page) -> None:
    """Puzzles from a bad game of mine, by the coach."""
    err(page, 12)
    page.get_by_label("Coach this game").click()
    expect(at(page, "coach-accuracy")).to_be_visible()
    at(page, "tab-puzzles").click()
    expect(at(page, "puzzle-board")).to_be_visible()


def deck(page: Page) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(page.evaluate("() => localStorage.getItem('afterstate.puzzles')"))
    return kept


def card(page: Page) -> dict[str, Any]:
    """The position that is shown."""
    shown = at(page, "puzzle-board").get_attribute("data-tiles")
    found: dict[str, Any] = next(one for one in deck(page)["cards"] if one["tiles"] == shown)
    return found


def values(page: Page) -> dict[str, float]:
    """What each possible slide of the position that is shown is worth."""
    shown = card(page)
    models = ask_server(page, "/api/models")["models"]
    model = next(str(one["id"]) for one in models if (one["game"], one["rules"]) == (shown["game"], shown["rules"]))
    told = ask_server(page, "/api/move", {"board": shown["text"], "model": model, "depth": 3})
    return {name: value for name, value in told["values"].items() if value is not None}


def answer(page: Page, *, right: bool, keys: bool = False) -> dict[str, float]:
    found = values(page)
    name = max(found, key=lambda one: found[one]) if right else min(found, key=lambda one: found[one])
    if keys:
        page.keyboard.press(ARROWS[name])
    else:
        at(page, f"puzzle-{name}").click()
    expect(at(page, "puzzle-verdict")).to_be_visible()
    return found


def test_your_mistakes_are_puzzles_and_the_loss_is_told(visit: Begin) -> None:
    page = visit().page
    my_puzzles(page)
    expect(at(page, "puzzle-count")).to_contain_text(re.compile(r"^\d+ open, 0 found$"))
    found = answer(page, right=False)
    best, worst = max(found, key=lambda one: found[one]), min(found, key=lambda one: found[one])
    lost = f"{round(found[best] - found[worst]):,}"
    expect(at(page, "puzzle-verdict")).to_have_text(f"{worst.capitalize()} lost {lost}. Best: {best}.")
    expect(at(page, f"puzzle-{worst}")).to_contain_text(f"−{lost}")
    expect(at(page, "puzzles")).to_contain_text("This position comes again.")


def test_a_mistake_comes_again_until_it_is_found_twice(visit: Begin) -> None:
    page = visit().page
    my_puzzles(page)
    wrong = card(page)["key"]
    count = len(deck(page)["cards"])
    assert count > 4
    answer(page, right=False)
    shown = []
    for _ in range(4 * count):
        page.keyboard.press("n")
        expect(at(page, "puzzle-verdict").or_(page.get_by_text("No mistakes of yours"))).to_have_count(0)
        expect(at(page, "puzzle-board")).to_be_visible()
        shown.append(card(page)["key"])
        answer(page, right=True, keys=True)
        expect(at(page, "puzzle-verdict")).to_have_text(re.compile("^Right: "))
        if shown.count(wrong) == 2:
            break
    assert shown.index(wrong) >= 2  # some others came between
    assert next(one["found"] for one in deck(page)["cards"] if one["key"] == wrong) == 2
    page.reload()
    expect(at(page, "puzzle-board")).to_be_visible()
    assert card(page)["key"] != wrong


def test_without_a_mistake_of_yours_the_server_sets_puzzles(visit: Begin) -> None:
    page = visit().open("#coach/puzzles")
    expect(at(page, "puzzle-board")).to_be_visible()
    expect(page.get_by_role("radio", name="The AI's mistakes")).to_be_checked()
    shown = card(page)
    assert shown["from"] == "ai"
    found = values(page)
    assert max(found, key=lambda one: found[one]) != shown["slide"]
    page.get_by_role("radio", name="Your mistakes").check()
    expect(at(page, "puzzles")).to_contain_text("No mistakes of yours")
    page.get_by_role("radio", name="The AI's mistakes").check()
    expect(at(page, "puzzle-board")).to_be_visible()


def test_from_a_puzzle_to_analyse(visit: Begin) -> None:
    page = visit().page
    my_puzzles(page)
    shown = card(page)
    answer(page, right=True)
    at(page, "puzzle-analyse").click()
    expect(at(page, "analyse-board")).to_have_attribute("data-tiles", shown["tiles"])
