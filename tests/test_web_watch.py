"""Frames of a watched game, games that begin elsewhere, and slides that are only tried."""

import math
from typing import Any

import pytest
from fastapi.testclient import TestClient

import afterstate as af
from serving import BOARD, ask

GOING = ("position", "rng", "rewards", "score")
START = "2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2"


def watched(page: TestClient, game: str, **more: Any) -> tuple[dict[str, Any], Any]:
    """A game of seed 3 by the model for it."""
    model = next(one for one in page.get("/api/models").json()["models"] if one["game"] == game)
    ref = {key: model[key] for key in ("game", "rules", "size")} | {"seed": 3}
    start = ask(page, "/api/new", **ref)
    asked = {"model": model["id"], "text": start["position"]["text"], "rng": start["rng"], "rewards": 0, "depth": 1}
    return ref, ask(page, "/api/watch", budget=100, **asked, **more)


@pytest.mark.parametrize("game", ["2048", "threes"])
def test_a_game_can_be_continued_from_every_frame(page: TestClient, game: str) -> None:
    """A pause in the middle of an answer is a game like any other: it equals the replay of its moves."""
    ref, seen = watched(page, game, count=100_000, frames=9)
    assert len(seen["moves"]) > 20
    assert len(seen["frames"]) == 9
    for frame in seen["frames"]:
        again = ask(page, "/api/replay", moves=seen["moves"][: frame["at"]], **ref)
        assert {key: frame[key] for key in GOING} == {key: again[key] for key in GOING}
    assert seen["frames"][-1]["at"] == len(seen["moves"])
    assert {key: seen["frames"][-1][key] for key in GOING} == {key: seen[key] for key in GOING}


def test_few_moves_have_a_frame_each(page: TestClient) -> None:
    _, seen = watched(page, "2048", count=7, frames=64)
    assert [frame["at"] for frame in seen["frames"]] == [1, 2, 3, 4, 5, 6, 7]
    _, fewer = watched(page, "2048", count=7, frames=3)
    assert [frame["at"] for frame in fewer["frames"]] == [2, 4, 7]


def test_a_game_from_a_board_of_ones_own(page: TestClient) -> None:
    first = ask(page, "/api/replay", seed=1, moves="", start=START)
    assert (first["position"]["text"], first["score"]) == (START, 0)
    assert ask(page, "/api/replay", seed=1, moves="DL", start=START)["position"]["text"] != START
    refused = ask(page, "/api/replay", 400, seed=1, moves="U", start=START)
    assert "moves nothing" in refused["error"]
    assert "5" in ask(page, "/api/replay", 400, seed=1, moves="", start="2 5 / 0 0", size="2x2")["error"]


def test_the_coach_takes_a_game_from_a_board_of_ones_own(page: TestClient) -> None:
    model = next(one["id"] for one in page.get("/api/models").json()["models"] if one["game"] == "2048")
    coached = ask(page, "/api/coach", model=model, seed=1, moves="DL", start=START)
    assert coached["tiles"][0] == ask(page, "/api/read", board=START)["tiles"]


def test_a_board_is_read_without_a_model(page: TestClient) -> None:
    position = ask(page, "/api/read", board=BOARD)
    assert position["text"] == BOARD
    assert set(position["legal"]) == {"down", "left"}
    assert "2 4" in ask(page, "/api/read", 400, board="2 4")["error"]


@pytest.mark.parametrize(("game", "rules"), [("2048", "standard"), ("threes", "tcg2022"), ("threes", "official")])
def test_a_tried_slide_has_every_new_tile_that_may_come(page: TestClient, game: str, rules: str) -> None:
    made = af.make(game, rules=rules)
    state = made.parse(made.example)
    slide, afterstate = next(iter(made.afterstates(state).items()))
    tried = ask(page, "/api/try", game=game, rules=rules, board=made.example, slide=slide.name.lower())
    assert tried["reward"] == afterstate.reward
    outcomes = made.outcomes(afterstate)
    assert [one["position"]["text"] for one in tried["outcomes"]] == [made.format(one.state) for one in outcomes]
    assert math.isclose(sum(one["probability"] for one in tried["outcomes"]), 1)
    for one in tried["outcomes"]:
        assert len(one["cells"]) == 1
        (cell,) = one["cells"]
        assert tried["after"][cell] == "0" != one["position"]["tiles"][cell]


def test_a_slide_that_is_not_possible_cannot_be_tried(page: TestClient) -> None:
    assert "moves nothing" in ask(page, "/api/try", 409, board=BOARD, slide="up")["error"]
