"""The server's answers about games that were played: who made which move, records for files, puzzles."""

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import afterstate as af
from afterstate.play.puzzles import CLEAR, find_puzzles
from afterstate.rng import Purpose
from serving import ask

THREES = {"game": "threes", "rules": "tcg2022"}


def model_for(page: TestClient, game: str) -> str:
    return next(str(model["id"]) for model in page.get("/api/models").json()["models"] if model["game"] == game)


def moves_of(models: list[Path], count: int, **ref: str) -> dict[str, Any]:
    """A game by a model: its seed and moves."""
    network = af.load(models[1 if ref else 0])
    rng = af.Random(8, Purpose.PLAY)
    return {"seed": 8, "moves": af.Agent(network).play_on(network.game.start(rng), rng, moves=count).moves, **ref}


def test_each_player_of_a_game_has_an_accuracy(page: TestClient, models: list[Path]) -> None:
    played = moves_of(models, 40)
    model, count = model_for(page, "2048"), len(played["moves"])
    both = ask(page, "/api/coach", model=model, marks=f"10y{count - 10}a", **played)
    assert min(both["yours"], both["ais"]) <= both["accuracy"] <= max(both["yours"], both["ais"])
    alone = ask(page, "/api/coach", model=model, marks=f"{count}y", **played)
    assert (alone["yours"], alone["ais"]) == (alone["accuracy"], None)
    nobody = ask(page, "/api/coach", model=model, **played)
    assert (nobody["yours"], nobody["ais"]) == (None, None)
    assert "10 moves" in ask(page, "/api/coach", 400, model=model, marks="10y", **played)["error"]
    assert "marks" in ask(page, "/api/coach", 422, model=model, marks="10x", **played)["error"]


@pytest.mark.parametrize("ref", [{}, THREES])
def test_every_position_of_a_review_can_be_asked_about(page: TestClient, models: list[Path], ref: dict[str, str]) -> None:
    """The tiles and what stands beside them are the text of the position."""
    played = moves_of(models, 12, **ref)
    told = ask(page, "/api/coach", model=model_for(page, ref.get("game", "2048")), **played)
    game = af.make(told["game"], rules=told["rules"])
    for ply in (0, 5, len(played["moves"])):
        text = ask(page, "/api/replay", **(played | {"moves": played["moves"][:ply]}))["position"]["text"]
        faces = [str(game.face(int(digit, 36))) for digit in told["tiles"][ply]]
        rows = " / ".join(" ".join(faces[at : at + 4]) for at in range(0, 16, 4))
        assert rows + (told["beside"][ply] if told["beside"] else "") == text
    assert bool(told["beside"]) == bool(ref)


def test_a_game_that_began_on_another_board(page: TestClient) -> None:
    start = "2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2"
    told = ask(page, "/api/coach", model=model_for(page, "2048"), seed=1, moves="DR", start=start)
    assert told["tiles"][0] == "1234012300120001"


@pytest.mark.parametrize("ref", [{}, THREES])
def test_a_game_goes_into_a_file_and_out_again(page: TestClient, models: list[Path], ref: dict[str, str]) -> None:
    played = moves_of(models, 30, **ref)
    written = ask(page, "/api/episode", slider="me", began=1_700_000_000_000, ended=1_700_000_060_000, **played)
    assert written["episode"].startswith("me:random@1700000000000|")
    assert written["episode"].endswith("@1700000060000")
    assert written["moves"] == played["moves"]
    game = {key: written[key] for key in ("game", "rules", "size")}
    again = ask(page, "/api/episode", episode=written["episode"], **game)
    assert again == written


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 400, "give the seed and the moves"),
        ({"episode": "nonsense"}, 400, "a game is written"),
        ({"seed": 1, "moves": "", "slider": "a b"}, 422, "slider"),
    ],
)
def test_games_that_cannot_be_written(page: TestClient, body: dict[str, Any], status: int, words: str) -> None:
    assert words in ask(page, "/api/episode", status, **body)["error"]


def test_puzzles_are_positions_in_which_a_quick_look_is_wrong(original: Path) -> None:
    network = af.load(original)
    quick, deep = af.Agent(network, depth=1), af.Agent(network, depth=3)
    found = find_puzzles(network, count=5, seed=3)
    assert len(found) == 5
    assert found == find_puzzles(network, count=5, seed=3)
    for one in found:
        assert quick.choose(one.state).move == one.slide
        values = {slide: value for slide, value in deep.choose(one.state).values.items() if value is not None}
        top = max(values.values())
        assert top - values[one.slide] >= 0.99 * CLEAR * (one.score + top)


def test_puzzles_from_the_server(page: TestClient) -> None:
    model = model_for(page, "2048")
    told = ask(page, "/api/puzzles", model=model, count=3, seed=5)
    assert 1 <= len(told["puzzles"]) <= 3
    for one in told["puzzles"]:
        answer = ask(page, "/api/move", model=model, board=one["text"], depth=3)
        assert answer["move"] != one["slide"]
    assert "count" in ask(page, "/api/puzzles", 422, model=model, count=21)["error"]
    assert "no such model" in ask(page, "/api/puzzles", 404, model="none")["error"]
