"""Versus by real clicks: two boards in step, and many games compared."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from afterstate.games.game import make
from afterstate.learning.runfolder import RunFolder
from afterstate.network.modelfile import save_model
from browsing import Visit, ask_server, at
from searching import random_network
from serving import make_models, served


@pytest.fixture(scope="module")
def models(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run and a weaker one, of random weights; a model of Threes! lies beside it."""
    folder = tmp_path_factory.mktemp("versus")
    for name in ("trained", "weak"):
        shutil.copytree(original, folder / "runs" / name)
    make_models(folder)
    network = random_network(make("2048"), "0123,4567")
    network.weights *= 1000  # no reward counts beside such values
    save_model(network, RunFolder(folder / "runs" / "weak").best)
    return folder


@pytest.fixture
def versus(browser: Browser, models: Path) -> Iterator[Page]:
    with served(models / "runs", models / "threes.safetensors") as server:
        visit = Visit(browser, server.address)
        page = visit.open("#versus")
        choose(page, "versus-model-a", "trained")
        choose(page, "versus-model-b", "weak")
        yield page
        visit.close()


def choose(page: Page, testid: str, name: str) -> None:
    option = at(page, testid).locator("option", has_text=re.compile(f"^{name} "))
    at(page, testid).select_option(option.get_attribute("value"))


def test_two_boards_move_in_step_from_one_seed(versus: Page) -> None:
    """Each step is one move of each model, and the one that the model would make."""
    at(versus, "versus-seed").fill("7")
    at(versus, "versus-seed").press("Enter")
    first = ask_server(versus, "/api/new", {"game": "2048", "seed": 7})
    known = {model["name"]: model["id"] for model in ask_server(versus, "/api/models")["models"]}
    for letter in "ab":
        expect(at(versus, f"versus-board-{letter}")).to_have_attribute("data-tiles", first["position"]["tiles"])
    at(versus, "versus-step").click()
    at(versus, "versus-step").click()
    at(versus, "versus-step").click()
    for letter, name in (("a", "trained"), ("b", "weak")):
        body = {
            "model": known[name],
            "depth": 1,
            "text": first["position"]["text"],
            "rng": first["rng"],
            "rewards": 0,
            "count": 3,
        }
        answer = ask_server(versus, "/api/watch", body | {"budget": 100})
        expect(at(versus, f"versus-board-{letter}")).to_have_attribute("data-tiles", answer["position"]["tiles"])
        expect(at(versus, f"versus-score-{letter}")).to_have_text(f"{answer['score']:,}")


def test_both_games_are_played_to_their_end_and_can_be_paused(versus: Page) -> None:
    versus.get_by_role("radio", name="Very fast").check()
    at(versus, "versus-toggle").click()
    expect(at(versus, "versus-toggle")).to_have_text("Pause")
    at(versus, "versus-toggle").click()
    expect(at(versus, "versus-toggle")).to_have_text("Play")
    at(versus, "versus-toggle").click()
    for side in versus.locator(".versus-side").all():
        expect(side).to_contain_text("game over")
    expect(at(versus, "versus-toggle")).to_be_disabled()
    at(versus, "versus-another").click()
    expect(at(versus, "versus-toggle")).to_be_enabled()
    expect(versus.locator(".versus-side").first).to_contain_text("0 moves")


def test_many_games_are_compared(versus: Page) -> None:
    at(versus, "versus-games").select_option("300")
    at(versus, "versus-start").click()
    expect(at(versus, "versus-verdict")).to_have_attribute("data-clear", "true")
    expect(at(versus, "versus-verdict")).to_contain_text(
        re.compile(r"A scores [\d,]+ more on average, 95% interval of A − B: \+[\d,]+ to \+")
    )
    table = at(versus, "versus-table")
    expect(table).to_contain_text("A: trained, depth 1")
    expect(table.locator("tr", has_text="Mean score")).to_contain_text(re.compile(r"[\d,]+ ± [\d,]+.*\+[\d,]+ ± [\d,]+"))
    versus.goto(versus.url.replace("#versus", "#play"))
    versus.goto(versus.url.replace("#play", "#versus"))
    expect(at(versus, "versus-table")).to_be_visible()


def test_a_comparison_can_be_stopped(versus: Page) -> None:
    at(versus, "versus-depth-a").select_option("3")
    at(versus, "versus-games").select_option("1000")
    at(versus, "versus-start").click()
    expect(at(versus, "versus-progress")).to_be_visible()
    expect(at(versus, "versus-start")).to_be_disabled()
    at(versus, "versus-stop").click()
    expect(at(versus, "versus-stop")).to_be_hidden()
    expect(at(versus, "versus-start")).to_be_enabled()


def test_only_models_of_one_game_meet(versus: Page) -> None:
    expect(at(versus, "versus-model-b").locator("option")).to_have_count(2)
    expect(at(versus, "versus-depth-b")).to_have_value("1")
    choose(versus, "versus-model-a", "threes")
    expect(at(versus, "versus-model-b").locator("option")).to_have_count(1)
    expect(at(versus, "versus-board-b")).to_have_attribute("data-game", "threes")
    expect(at(versus, "versus-depth-b")).to_have_value("2")  # a model meets itself with another depth


def test_without_a_model_it_says_where_to_get_one(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path) as server:
        visit = Visit(browser, server.address)
        page = visit.open("#versus")
        page.get_by_role("link", name="Go to Training").click()
        expect(page.get_by_role("heading", name="Training", exact=True)).to_be_visible()
        visit.close()
