"""Two models side by side: what is computed, and the job on the server."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

import afterstate as af
from afterstate.api import evaluate
from afterstate.games.game import make
from afterstate.games.results import Results, compare
from afterstate.network.modelfile import save_model
from searching import random_network
from serving import ask, client, make_models
from test_web_runs import wait_for


def results(*scores: int) -> Results:
    return Results(np.array(scores), np.ones(len(scores), np.int64), np.zeros(len(scores), np.uint8))


def test_the_difference_of_two_players() -> None:
    """Differences 10, 20, 30, -20: mean 10, deviation 21.6; half of the interval is 3.1824 * 21.6 / 2."""
    found = compare(results(110, 220, 330, 80, 999), results(100, 200, 300, 100))
    assert (found.games, found.mean, found.ahead) == (4, 10.0, 0.75)
    assert found.interval == pytest.approx(3.18245 * math.sqrt(1400 / 3) / 2, rel=1e-5)
    assert found.correlation == pytest.approx(np.corrcoef([110, 220, 330, 80], [100, 200, 300, 100])[0, 1])
    same = compare(results(5, 5), results(5, 5))
    assert (same.mean, same.interval, same.correlation, same.ahead) == (0.0, 0.0, None, 0.5)
    assert compare(results(5), results(4)).interval == math.inf


# --- on the server -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("models")
    rival = folder / "rival.safetensors"
    save_model(random_network(make("2048"), "0123"), rival)
    return [*make_models(folder), rival]


@pytest.fixture
def page(models: list[Path], tmp_path: Path) -> Iterator[TestClient]:
    with client(tmp_path / "runs", *models) as opened:
        yield opened


def ids(page: TestClient) -> dict[str, str]:
    return {model["name"]: model["id"] for model in page.get("/api/models").json()["models"]}


def test_two_models_play_the_same_games(page: TestClient, models: list[Path]) -> None:
    """The figures are those of `afterstate eval` with the same seed."""
    known = ids(page)
    begun = ask(page, "/api/versus", 201, model=known["2048"], other=known["rival"], games=40, seed=5)
    assert (begun["status"], begun["games"], begun["difference"]) == ("running", 40, None)
    match = wait_for(lambda: page.get(f"/api/versus/{begun['id']}").json(), lambda match: match["status"] != "running")
    assert (match["status"], match["why"]) == ("done", None)
    expected = [evaluate(af.Agent(af.load(path)), games=40, seed=5, threads=1) for path in (models[0], models[2])]
    for side, summary in zip(match["sides"], expected, strict=True):
        assert (side["played"], side["mean"], side["maximum"]) == (40, summary.mean, summary.maximum)
        assert (side["interval"], side["win_rate"]) == (summary.interval, summary.win_rate)
    assert match["difference"]["games"] == 40
    assert match["difference"]["mean"] == pytest.approx(expected[0].mean - expected[1].mean)
    assert match["difference"]["interval"] > 0


@pytest.fixture(scope="module")
def compiled(models: list[Path]) -> None:
    """The kernels of a search, compiled at full priority: a comparison runs at a low one."""
    evaluate(af.Agent(af.load(models[0]), depth=2), games=1, threads=1)


@pytest.mark.usefixtures("compiled")
def test_a_model_against_itself_one_slide_deeper(page: TestClient) -> None:
    known = ids(page)
    begun = ask(page, "/api/versus", 201, model=known["2048"], other=known["2048"], depth=1, other_depth=2, games=3)
    match = wait_for(lambda: page.get(f"/api/versus/{begun['id']}").json(), lambda match: match["status"] != "running")
    assert match["status"] == "done"
    assert [side["depth"] for side in match["sides"]] == [1, 2]


@pytest.mark.usefixtures("compiled")
def test_a_comparison_is_stopped_and_only_one_runs(page: TestClient) -> None:
    known = ids(page)
    long = {"model": known["2048"], "other": known["rival"], "depth": 3, "other_depth": 3, "games": 1000}
    begun = ask(page, "/api/versus", 201, **long)
    assert "being compared" in ask(page, "/api/versus", 409, **long)["error"]
    assert ask(page, f"/api/versus/{begun['id']}/stop")["status"] in {"stopping", "stopped"}
    match = wait_for(lambda: page.get(f"/api/versus/{begun['id']}").json(), lambda match: match["status"] == "stopped")
    assert match["why"] is None
    both = min(side["played"] for side in match["sides"])
    assert match["difference"] is None or match["difference"]["games"] <= both < 1000


def test_what_cannot_be_compared(page: TestClient) -> None:
    known = ids(page)
    pair = {"model": known["2048"], "other": known["threes"]}
    assert "different games" in ask(page, "/api/versus", 400, **pair)["error"]
    assert "no such model" in ask(page, "/api/versus", 404, **pair | {"other": "none"})["error"]
    for wrong in ({"games": 1}, {"games": 1001}, {"depth": 4}, {"seed": -1}):
        ask(page, "/api/versus", 422, **pair | wrong)
    assert page.get("/api/versus/none").status_code == 404
    ask(page, "/api/versus/none/stop", 404)
