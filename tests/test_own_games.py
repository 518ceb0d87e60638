"""Your own game: what the package finds out about it, and what the server says about it."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import afterstate as af
from afterstate.games import game as games
from afterstate.games.own import OWN
from serving import ask, client

# kernels of 2048, so that nothing is compiled; what is tested is everything else
SQUARE = """
from afterstate.errors import InputError
from afterstate.games.twenty48 import Twenty48Game

RULES = ("plain", "large")


class Square(Twenty48Game):
    name = "square"

    def __init__(self, rules, shape):
        if not shape.square or (rules == "large" and shape.rows < 4):
            raise InputError(f"no board of {shape} here")
        super().__init__(shape)
        self.rules, self.note = rules, f"The {rules} rules."


def build(rules, shape):
    return Square(rules, shape)
"""


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A game that is forgotten afterwards; the others stay the objects that they are for other tests."""
    path = tmp_path / "square.py"
    path.write_text(SQUARE)
    monkeypatch.setitem(OWN, "square", path)
    monkeypatch.setattr(games, "_make", cache(games._make.__wrapped__))
    return path


def test_rule_sets_and_sizes_of_an_own_game(own: Path) -> None:
    assert games.game_names() == ("2048", "threes", "square")
    assert games.rule_sets("square") == ("plain", "large")
    assert games.sizes("square", "plain") == ("2x2", "3x3", "4x4")
    assert games.sizes("square", "large") == ("4x4",)
    assert (af.make("square").title, af.make("square").note) == ("square", "The plain rules.")
    with pytest.raises(af.InputError, match="no rule set 'odd'; it has: plain, large"):
        af.make("square", rules="odd")


def test_rule_sets_and_sizes_of_our_games() -> None:
    assert games.rule_sets("threes") == ("tcg2022", "tcg2018", "tcg2018-bonus", "official")
    every = tuple(f"{rows}x{columns}" for rows in (2, 3, 4) for columns in (2, 3, 4))
    assert games.sizes("2048", "standard") == games.sizes("threes", "official") == every
    with pytest.raises(af.InputError, match="no game is called 'chess'; there are: 2048, threes"):
        games.rule_sets("chess")


def test_a_game_that_fits_no_board_says_why(own: Path) -> None:
    own.write_text(SQUARE.replace("not shape.square", "True"))
    own = own.rename(own.with_name("never.py"))
    OWN["never"] = own
    try:
        with pytest.raises(af.InputError, match="no board of 4x4 here"):
            games.sizes("never", "plain")
    finally:
        del OWN["never"]


@pytest.fixture
def page(own: Path, tmp_path: Path) -> Iterator[TestClient]:
    with client(tmp_path / "runs") as opened:
        yield opened


def test_the_server_tells_of_an_own_game(page: TestClient) -> None:
    told: dict[str, Any] = next(game for game in page.get("/api/about").json()["games"] if game["game"] == "square")
    assert told["title"] == "square"
    assert [(rules["name"], rules["note"]) for rules in told["rules"]] == [
        ("plain", "The plain rules."),
        ("large", "The large rules."),
    ]
    assert [[one["size"] for one in rules["sizes"]] for rules in told["rules"]] == [["2x2", "3x3", "4x4"], ["4x4"]]
    assert told["rules"][1]["sizes"][0]["goal"] == 2048
    assert told["faces"] == [af.make("2048").face(index) for index in range(18)]


def test_an_own_game_is_played_by_each_of_its_rules(page: TestClient) -> None:
    for rules, size in (("plain", "2x2"), ("large", "4x4")):
        ref = {"game": "square", "rules": rules, "size": size}
        now = ask(page, "/api/new", seed=1, **ref)
        assert {key: now[key] for key in ref} == ref
        slide = now["position"]["legal"][0]
        slid = ask(page, "/api/slide", text=now["position"]["text"], rng=now["rng"], rewards=0, slide=slide, **ref)
        assert slid["position"]["tiles"] != now["position"]["tiles"]
    refused = ask(page, "/api/new", 400, game="square", rules="large", size="3x3")
    assert refused["error"] == "no board of 3x3 here"
