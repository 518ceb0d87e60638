"""Training by real clicks: sizes, names, deletion, what is kept, links, colours, games apart, and the examples of the API."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import afterstate as af
from afterstate.learning.runfolder import RunFolder
from browsing import Visit, ask_server, at, shorten_runs
from commandline import NETWORK
from serving import served


@pytest.fixture
def runs(original: Path, tmp_path: Path) -> Path:
    """Two runs of 2048."""
    for name in ("one", "two"):
        shutil.copytree(original, tmp_path / "runs" / name)
    return tmp_path / "runs"


@pytest.fixture
def trainer(browser: Browser, runs: Path) -> Iterator[Page]:
    """Training, with these runs."""
    with served(runs) as server:
        visit = Visit(browser, server.address)
        yield visit.open("#training")
        visit.close()


def row(page: Page, name: str) -> Any:
    return at(page, "run-row").filter(has=page.locator(".train-name", has_text=re.compile(f"^{name}$")))


def test_a_run_shows_its_size_and_is_deleted_after_a_question(trainer: Page, runs: Path) -> None:
    size = re.compile(r"Best block: at game 300 · [\d.]+ (kB|MB) on disk")
    expect(row(trainer, "one").locator("[data-testid=run-kept]")).to_have_text(size)
    row(trainer, "one").locator("[data-testid=run-delete]").click()
    expect(at(trainer, "care-cancel")).to_be_focused()
    at(trainer, "care-cancel").click()
    assert (runs / "one").is_dir()
    row(trainer, "one").locator("[data-testid=run-delete]").click()
    expect(trainer.locator("dialog")).to_contain_text("Delete one?")
    at(trainer, "delete-yes").click()
    expect(row(trainer, "one")).to_have_count(0)
    expect(row(trainer, "two")).to_have_count(1)
    assert [path.name for path in runs.iterdir()] == ["two"]


def test_a_run_is_renamed(trainer: Page, runs: Path) -> None:
    row(trainer, "one").locator("[data-testid=run-rename]").click()
    at(trainer, "rename-name").fill("two")
    at(trainer, "rename-yes").click()
    expect(trainer.locator("dialog [role=alert]")).to_contain_text("'two'")
    at(trainer, "rename-name").fill("my best")
    trainer.keyboard.press("Enter")
    expect(row(trainer, "my best")).to_have_count(1)
    assert sorted(path.name for path in runs.iterdir()) == ["my best", "two"]


def test_what_a_run_keeps_is_asked_before_it_starts(trainer: Page, runs: Path) -> None:
    shorten_runs(trainer, games="300", network=NETWORK, method="tc")
    trainer.get_by_role("radio", name="Own options").check()
    for name, keep in (("slim", False), ("whole", True)):
        trainer.get_by_role("textbox", name="Name").fill(name)
        at(trainer, "train-keep").set_checked(keep)
        at(trainer, "train-start").click()
        expect(row(trainer, name)).to_have_attribute("data-status", "done")
        expect(row(trainer, name).locator("[data-testid=run-resume]")).to_be_visible(visible=keep)
    expect(row(trainer, "slim").locator("[data-testid=run-kept]")).to_contain_text("kept for play only")
    assert RunFolder(runs / "whole").last.stat().st_size > 2 * RunFolder(runs / "slim").last.stat().st_size


def test_a_broken_checkpoint_gives_its_reason(trainer: Page, runs: Path) -> None:
    (runs / "one" / "checkpoints" / "best.safetensors").write_bytes(b"x" * 5000)
    expect(row(trainer, "one").locator(".error")).to_contain_text("best.safetensors is not a model file")
    expect(row(trainer, "one").locator("[data-testid=run-watch]")).to_be_hidden()


def test_a_run_and_the_list_of_models_show_one_mean(trainer: Page, runs: Path) -> None:
    folder = RunFolder(runs / "one")
    folder.append(folder.read_metrics()[-1] | {"games": 400, "mean": 1.0})
    best = folder.best_so_far()
    assert best is not None
    expect(row(trainer, "one")).to_contain_text(f"Best mean{best.mean:,.0f}")
    trainer.reload()
    expect(row(trainer, "one")).to_contain_text(f"Best mean{best.mean:,.0f}")


def test_the_run_of_the_command_line_is_listed_and_left_alone(browser: Browser, original: Path, tmp_path: Path) -> None:
    with served(tmp_path / "empty", original) as server:
        visit = Visit(browser, server.address)
        page = visit.open("#training")
        expect(row(page, "small")).to_have_attribute("data-status", "done")
        expect(at(page, "run-delete")).to_be_hidden()
        visit.close()


def test_a_run_that_ended_by_time_is_done(browser: Browser, tmp_path: Path) -> None:
    af.train("2048", network=NETWORK, time=0.3, block=100_000, run=tmp_path / "short")
    with served(tmp_path) as server:
        visit = Visit(browser, server.address)
        expect(row(visit.open("#training"), "short")).to_have_attribute("data-status", "done")
        visit.close()


def test_see_its_curves_shows_that_run(browser: Browser, runs: Path) -> None:
    """A run of Threes! is started in Play, while Training has an older run chosen."""
    with served(runs) as server:
        visit = Visit(browser, server.address)
        page = visit.open("#training")
        row(page, "one").locator("[data-testid=run-select]").check()
        page.goto(f"{server.address}/#play")
        at(page, "new-game").click()
        page.locator("dialog[open]").get_by_role("radio", name="Threes!").check()
        at(page, "start-game").click()
        shorten_runs(page, games="10M", network=NETWORK)
        at(page, "train-now").click()
        at(page, "train-curves").click()
        chosen = page.locator("[data-testid=run-row]:has([data-testid=run-select]:checked)")
        expect(chosen).to_have_count(1)
        expect(chosen).to_contain_text("Threes!")
        chosen.locator("[data-testid=run-stop]").click()
        expect(chosen).to_have_attribute("data-status", "stopped")
        visit.close()


def test_two_games_have_charts_of_their_own(browser: Browser, runs: Path) -> None:
    af.train("threes", network=NETWORK, games=200, block=100, threads=1, run=runs / "other game")
    with served(runs) as server:
        visit = Visit(browser, server.address)
        page = visit.open("#training")
        for name in ("one", "two", "other game"):
            row(page, name).locator("[data-testid=run-select]").check()
        expect(at(page, "chart-score")).to_have_count(2)
        both = at(page, "chart-score").filter(has_text="two")
        expect(both).to_contain_text("one")
        expect(both).not_to_contain_text("other game")
        row(page, "other game").locator("[data-testid=run-select]").uncheck()
        expect(at(page, "chart-score")).to_have_count(1)
        visit.close()


COLOURS = (
    "() => Object.fromEntries([...document.querySelectorAll('[data-testid=chart-tiles] .chart-labels g')]"
    ".map(one => [one.textContent, one.getAttribute('class')]))"
)


def test_a_tile_keeps_its_colour_when_another_appears(trainer: Page, runs: Path) -> None:
    row(trainer, "two").locator("[data-testid=run-select]").uncheck()
    row(trainer, "one").locator("[data-testid=run-select]").check()
    trainer.wait_for_function(f"() => Object.keys(({COLOURS})()).length > 2")
    before = trainer.evaluate(COLOURS)
    folder = RunFolder(runs / "one")
    last = folder.read_metrics()[-1]
    larger = str(2 * max(int(tile) for tile in last["reached"]))
    folder.append(last | {"games": 400, "reached": last["reached"] | {larger: 0.01}})
    trainer.wait_for_function(f"larger => larger in ({COLOURS})()", arg=larger)
    after = trainer.evaluate(COLOURS)
    assert {tile: after[tile] for tile in before} == before
    assert len(set(after.values())) == len(after)


# --- the examples of the API ---------------------------------------------------------------------------------------------


def send(page: Page, method: str, path: str, **parameters: str) -> tuple[int, Any]:
    """Send an operation's example, as it stands, with its form -> status and answer."""
    operation = at(page, "docs-operation").filter(
        has=page.locator("h3", has_text=re.compile(f"^{method.upper()}{re.escape(path)}$"))
    )
    form = operation.locator("details.docs-try")
    if form.get_attribute("open") is None:
        form.locator("summary").click()
    for name, value in parameters.items():
        form.locator(f"input[name={name}]").fill(value)
    form.get_by_role("button", name="Send").click()
    expect(form.locator(".docs-said")).to_contain_text(re.compile(r"^\d"))
    said = form.locator(".docs-said").text_content() or ""
    text = form.locator(".docs-answer").text_content() or ""
    return int(said.split()[0]), json.loads(text) if "more characters" not in text else None


def test_all_examples_of_the_api_answer(browser: Browser, runs: Path) -> None:
    with served(runs) as server:
        visit = Visit(browser, server.address)
        page = visit.open("docs.html")
        expect(at(page, "docs-operation").first).to_be_visible()
        paths = ask_server(page, "/openapi.json")["paths"]
        operations = [(method, path) for path, methods in paths.items() for method in methods]
        known: dict[str, str] = {}
        for method, path in operations:
            if path.endswith(("/rename", "/delete")):
                page.wait_for_function("() => fetch('/api/runs').then(a => a.json()).then(a => a.busy === null)")
            names = {name: known[name] for name in re.findall(r"\{(\w+)\}", path)}
            status, answer = send(page, method, path, **names)
            assert 200 <= status < 300, (method, path, answer)
            if (method, path) in (("post", "/api/runs"), ("post", "/api/runs/{run}/rename")):
                known["run"] = answer["id"]
            elif (method, path) == ("post", "/api/versus"):
                known["match"] = answer["id"]
            if path == "/api/runs/{run}/stop":
                page.wait_for_function("() => fetch('/api/runs').then(a => a.json()).then(a => a.busy === null)")
            if path == "/api/runs/{run}/resume":
                send(page, "post", "/api/runs/{run}/stop", **names)
        assert known.keys() == {"run", "match"}
        visit.close()
