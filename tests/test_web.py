"""The server's answers: games, questions to a model, the coach; and what it refuses."""

import time
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import afterstate as af
from afterstate.play.evaluation import measure
from afterstate.web.guard import MAX_BODY, POLICY
from commandline import PATIENCE, read_json
from serving import BOARD, HERE, OVER, ask

GAMES = [
    ("2048", "standard"),
    ("threes", "tcg2022"),
    ("threes", "tcg2018"),
    ("threes", "tcg2018-bonus"),
    ("threes", "official"),
]
FIRST = {"rng": "0123456789abcdef", "rewards": 0}


def digits(game: af.Game, position: af.State | af.Afterstate) -> str:
    """A position in the page's format."""
    return "".join("0123456789abcdefgh"[index] for index in game.cells(position))


@pytest.fixture(scope="module")
def model(page: TestClient) -> str:
    return str(next(model["id"] for model in page.get("/api/models").json()["models"] if model["game"] == "2048"))


# --- games ---------------------------------------------------------------------------------------------------------------


def test_about_knows_all_games(page: TestClient) -> None:
    about = page.get("/api/about").json()
    assert [(game["game"], rules["name"]) for game in about["games"] for rules in game["rules"]] == GAMES
    assert about["games"][0]["faces"][:4] == [0, 2, 4, 8]
    assert about["games"][0]["faces"][-1] == 131072
    assert about["games"][1]["faces"][:6] == [0, 1, 2, 3, 6, 12]
    assert [game["title"] for game in about["games"]] == ["2048", "Threes!"]


@pytest.mark.parametrize("number", [0, 1])
def test_about_says_what_the_games_say(page: TestClient, number: int) -> None:
    told = page.get("/api/about").json()["games"][number]
    for rules in told["rules"]:
        assert rules["note"].endswith(".")
        assert [one["size"] for one in rules["sizes"]] == [f"{rows}x{columns}" for rows in (2, 3, 4) for columns in (2, 3, 4)]
        for one in rules["sizes"]:
            made = af.make(told["game"], rules=rules["name"], size=one["size"])
            assert (one["firsts"], one["example"], rules["hints"]) == (made.firsts, made.example, made.hints)
            assert {tile["text"]: tile["words"] for tile in rules["next"]} == made.next_tiles
    shown = {rules["name"]: "".join(tile["text"] for tile in rules["next"]) for rules in told["rules"]}
    expected = {"tcg2022": "123", "tcg2018": "", "tcg2018-bonus": "123+", "official": "123+"} if number else {"standard": ""}
    assert shown == expected
    goals = {one["size"]: one["goal"] for rules in told["rules"] for one in rules["sizes"]}
    with_goal = {size for size, goal in goals.items() if goal is not None}
    assert with_goal == (set() if number else {"3x4", "4x3", "4x4"}), "a board that can hold a 2048"
    assert number or goals["4x4"] == 2048


def test_the_server_says_when_it_is_ready(page: TestClient) -> None:
    end = time.monotonic() + PATIENCE
    while (state := page.get("/api/about").json()["state"]) != "ready":
        assert state in {"starting", "compiling"}
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.parametrize(("game", "rules"), GAMES)
def test_a_game_by_slides_is_the_game_of_its_seed(page: TestClient, game: str, rules: str) -> None:
    ref = {"game": game, "rules": rules}
    start = now = ask(page, "/api/new", seed=7, **ref)
    moves = ""
    while not now["position"]["over"] and len(moves) < 60:
        slide = now["position"]["legal"][len(moves) % len(now["position"]["legal"])]
        now = ask(page, "/api/slide", text=now["position"]["text"], rng=now["rng"], rewards=now["rewards"], slide=slide, **ref)
        assert now["slide"] == slide
        moves += slide[0].upper()
    assert len(moves) > 10
    again = ask(page, "/api/replay", seed=7, moves=moves, **ref)
    assert {key: again[key] for key in ("position", "rng", "rewards", "score")} == {
        key: now[key] for key in ("position", "rng", "rewards", "score")
    }
    assert ask(page, "/api/replay", seed=7, moves="", **ref) == start
    made = af.make(game, rules=rules)
    assert (again["position"]["next"] is not None) == made.shows_next
    assert again["position"]["tiles"] == "".join(
        "0123456789abcdefgh"[i] for i in made.cells(made.parse(again["position"]["text"]))
    )


def test_two_new_games_have_seeds_of_their_own(page: TestClient) -> None:
    assert ask(page, "/api/new")["seed"] != ask(page, "/api/new")["seed"]


def test_a_slide_shows_the_board_before_the_new_tile(page: TestClient) -> None:
    slid = ask(page, "/api/slide", text="2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", slide="left", **FIRST)
    assert (slid["after"], slid["reward"], slid["score"]) == ("2000000000000000", 4, 4)
    changed = [at for at in range(16) if slid["position"]["tiles"][at] != slid["after"][at]]
    assert len(changed) == 1
    assert slid["position"]["tiles"][changed[0]] in "12"


def test_a_slide_that_moves_nothing(page: TestClient) -> None:
    refused = ask(page, "/api/slide", 409, text=BOARD, slide="up", **FIRST)
    assert refused["error"] == f"a slide up moves nothing on {BOARD}"


@pytest.mark.parametrize("depth", [1, 2])
def test_a_model_plays_as_its_agent_does(page: TestClient, models: list[Path], model: str, depth: int) -> None:
    start = ask(page, "/api/new", seed=3)
    ref = {"model": model, "depth": depth, "text": start["position"]["text"], "rng": start["rng"], "rewards": 0}
    seen = ask(page, "/api/watch", count=20, budget=100, frames=20, **ref)
    game = af.make("2048")
    agent = af.Agent(af.load(models[0]), depth=depth)
    state, moves = game.parse(start["position"]["text"]), ""
    for frame in seen["frames"]:
        choice = agent.choose(state)
        assert choice.move is not None
        assert frame["slide"] == choice.move.name.lower()
        assert frame["after"] == digits(game, game.afterstates(state)[choice.move])
        moves += choice.move.name[0]
        state = game.parse(ask(page, "/api/replay", seed=3, moves=moves)["position"]["text"])
    assert seen["moves"] == moves
    assert seen["position"] == seen["frames"][-1]["position"]
    assert seen["position"]["text"] == game.format(state)


def test_watching_a_game_that_is_over(page: TestClient, model: str) -> None:
    seen = ask(page, "/api/watch", model=model, text=OVER, **FIRST)
    assert (seen["moves"], seen["frames"], seen["position"]["over"]) == ("", [], True)


# --- questions -----------------------------------------------------------------------------------------------------------


def test_a_move_is_the_agents(page: TestClient, models: list[Path], model: str) -> None:
    choice = af.Agent(af.load(models[0]), depth=2).choose(af.make("2048").parse(BOARD))
    for request in ({"model": model}, {}, {"depth": 2}, {"game": "2048"}):
        answer = ask(page, "/api/move", board=BOARD, **request)
        assert choice.move is not None
        assert answer["move"] == choice.move.name.lower()
        assert answer["values"] == {slide.name.lower(): value for slide, value in choice.values.items()}
        assert answer["board"] == BOARD


def test_sixteen_numbers_are_a_board(page: TestClient) -> None:
    numbers = BOARD.replace(" /", "")
    assert ask(page, "/api/move", board=numbers)["board"] == BOARD


def test_there_is_no_move_at_the_end(page: TestClient) -> None:
    answer = ask(page, "/api/move", board=OVER)
    assert (answer["move"], set(answer["values"].values())) == (None, {None})
    assert ask(page, "/api/analyse", board=OVER)["line"] == []


def test_a_time_for_each_move(page: TestClient) -> None:
    answer = ask(page, "/api/move", board=BOARD, move_time=0.02)
    assert answer["depth"] >= 2
    assert answer["ms"] < 1000


def test_an_analysis_tells_what_each_slide_leads_to(page: TestClient) -> None:
    found = ask(page, "/api/analyse", board="2 2 0 0 / 4 0 0 0 / 0 0 0 0 / 0 0 0 0")
    assert set(found["after"]) == set(found["rewards"]) == set(found["position"]["legal"])
    assert found["rewards"]["left"] == 4
    assert found["after"]["left"] == "2000200000000000"
    assert found["line"][0]["slide"] == found["move"]
    assert len(found["line"]) == 4


def test_an_explanation_adds_up(page: TestClient, models: list[Path], model: str) -> None:
    game = af.make("2048")
    found = ask(page, "/api/explain", model=model, board=BOARD, slide="left")
    value = af.load(models[0]).value(game.afterstates(game.parse(BOARD))[af.Slide.LEFT])
    assert found["value"] == pytest.approx(value)
    assert sum(found["cells"]) == pytest.approx(value)
    assert sum(pattern["value"] for pattern in found["patterns"]) == pytest.approx(value)
    assert [pattern["pattern"] for pattern in found["patterns"]] == ["0123", "4567"]
    assert all(len(pattern["isomorphs"]) == 8 for pattern in found["patterns"])
    assert ask(page, "/api/explain", model=model, board=BOARD)["slide"] == ask(page, "/api/move", board=BOARD, depth=1)["move"]


# --- the coach -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 1])
def test_the_coach_reads_a_game_by_seed_and_by_its_record(
    page: TestClient, models: list[Path], tmp_path: Path, number: int
) -> None:
    network = af.load(models[number])
    file = tmp_path / "games.txt"
    measure(af.Agent(network), games=1, seed=4, threads=1, save=file)
    ref = {"game": network.game.name, "rules": network.game.rules}
    ids = {model["name"]: model["id"] for model in page.get("/api/models").json()["models"]}
    told = ask(page, "/api/coach", model=ids[models[number].stem], episode=file.read_text(), **ref)
    assert told["slider"] == "afterstate"
    plies = told["plies"]
    lengths = {"slides": 0, "best": 0, "regrets": 0, "luck": 0, "rewards": 0, "choices": 0, "options": 0, "shares": 0}
    lengths |= {"tiles": 1, "scores": 1, "values": 1}
    assert {key: len(told[key]) - plies for key in lengths} == lengths
    assert told["score"] == told["scores"][-1] == told["values"][-1]  # nothing is to come any more
    assert told["luck_total"] == pytest.approx(sum(told["luck"]), abs=0.01 * plies)
    assert [worst["share"] for worst in told["worst"]] == pytest.approx(sorted(told["shares"], reverse=True)[:3], abs=1e-5)
    for worst in told["worst"]:
        assert worst["best"][0].upper() == told["best"][worst["ply"]] == worst["line"][0]["slide"][0].upper()


def test_the_coach_of_a_game_from_its_seed(page: TestClient, model: str) -> None:
    start = ask(page, "/api/new", seed=8)
    ref = {"model": model, "depth": 1, "text": start["position"]["text"], "rng": start["rng"], "rewards": 0}
    seen = ask(page, "/api/watch", count=100_000, budget=100, **ref)
    told = ask(page, "/api/coach", model=model, seed=8, moves=seen["moves"])
    assert told["slides"] == seen["moves"]
    assert told["score"] == seen["score"]
    assert told["tiles"][-1] == seen["position"]["tiles"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 400, "give the seed and the moves"),
        ({"seed": 1}, 400, "give the seed and the moves"),
        ({"seed": 1, "moves": "U", "episode": "x"}, 400, "give the seed and the moves"),
        ({"seed": 1, "moves": "UX"}, 422, "moves"),
        ({"seed": 1, "moves": "UUUUUUUUUUUU"}, 400, "moves nothing"),
        ({"episode": "nonsense"}, 400, "a game is written"),
        ({"episode": "a:b@1|12#U|b@2"}, 400, "the record, line 1"),
        ({"seed": 1, "moves": "", "game": "threes"}, 400, "this model is for"),
    ],
)
def test_games_that_cannot_be_coached(page: TestClient, model: str, body: dict[str, Any], status: int, words: str) -> None:
    assert words in ask(page, "/api/coach", status, model=model, **body)["error"]


# --- bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/api/new", {"game": "chess"}, 400, "no game is called 'chess'"),
        ("/api/new", {"game": "threes", "rules": "x"}, 400, "no rule set"),
        ("/api/new", {"size": "9x9"}, 400, "9x9"),
        ("/api/new", {"seed": -1}, 422, "seed"),
        ("/api/new", {"seed": "1"}, 422, "seed"),
        ("/api/new", {"sed": 1}, 422, "sed"),
        ("/api/slide", {"text": BOARD, "slide": "north", **FIRST}, 422, "slide"),
        ("/api/slide", {"text": "1 2 3", "slide": "up", **FIRST}, 400, "16 cells"),
        ("/api/slide", {"text": BOARD, "slide": "up", "rng": "0", "rewards": 0}, 422, "rng"),
        ("/api/replay", {"seed": 1, "moves": "UU?"}, 422, "moves"),
        ("/api/move", {"board": "x" * 3000}, 422, "board"),
        ("/api/move", {"board": BOARD, "model": "../../etc/passwd"}, 404, "no such model"),
        ("/api/move", {"board": BOARD, "depth": 6}, 422, "depth"),
        ("/api/move", {"board": BOARD, "move_time": 60}, 422, "move_time"),
        ("/api/move", {"board": BOARD, "depth": 2, "move_time": 0.1}, 400, "not both"),
        ("/api/move", {"board": BOARD, "size": "3x3"}, 404, "no model for 2048 (standard, 3x3)"),
        ("/api/watch", {"model": "none", "text": BOARD, **FIRST}, 404, "no such model"),
        ("/api/explain", {"model": "?", "board": BOARD}, 404, "no such model"),
        ("/api/runs", {"recipe": "/etc/passwd"}, 400, "no such recipe"),
        ("/api/runs", {"recipe": "quick", "network": "4x6"}, 400, "a recipe or options"),
        ("/api/runs", {"name": "../x"}, 422, "name"),
        ("/api/runs", {"time": "soon"}, 400, "soon"),
        ("/api/runs", {"network": "zz"}, 400, "zz"),
        ("/api/runs/none/stop", {}, 404, "no such run"),
        ("/api/runs/none/resume", {}, 404, "no such run"),
    ],
)
def test_what_is_refused(page: TestClient, path: str, body: dict[str, Any], status: int, words: str) -> None:
    assert words in ask(page, path, status, **body)["error"]


def test_no_slide_to_explain(page: TestClient, model: str) -> None:
    assert "the game is over" in ask(page, "/api/explain", 400, model=model, board=OVER)["error"]
    assert "moves nothing" in ask(page, "/api/explain", 409, model=model, board=BOARD, slide="up")["error"]


def test_bodies_that_are_no_json(page: TestClient) -> None:
    for content, kind, status in (
        (b"{", "application/json", 422),
        (b"[]", "application/json", 422),
        (b"seed=1", "application/x-www-form-urlencoded", 415),
        (b'{"seed":1}', "text/plain", 415),
        (b" " * (MAX_BODY + 1), "application/json", 413),
    ):
        answer = page.post("/api/new", content=content, headers={"content-type": kind})
        assert answer.status_code == status
        assert read_json(answer.text)["error"]


def test_a_body_that_does_not_tell_its_length_is_limited_too(page: TestClient) -> None:
    parts = (b" " * 100_000 for _ in range(MAX_BODY // 100_000 + 2))
    answer = page.post("/api/new", content=parts, headers={"content-type": "application/json"})
    assert answer.status_code == 413


# --- safety --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "127.0.0.2", "localhost:x"])
def test_names_that_are_not_ours(page: TestClient, host: str) -> None:
    assert page.get("/api/about", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:2048", "LOCALHOST", "[::1]:2048"])
def test_names_that_are_ours(page: TestClient, host: str) -> None:
    assert page.get("/api/about", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "navigate"},
    ],
)
def test_a_foreign_page_cannot_drive_it(page: TestClient, headers: dict[str, str]) -> None:
    answer = page.post("/api/new", json={}, headers=headers)
    assert answer.status_code == 403
    assert "another site" in answer.json()["error"]


def test_its_own_page_can(page: TestClient) -> None:
    assert page.post("/api/new", json={}, headers={"origin": HERE, "sec-fetch-site": "same-origin"}).status_code == 200


def test_a_link_from_elsewhere_opens_the_page_but_not_the_data(page: TestClient) -> None:
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert page.get("/", headers=link).status_code == 200
    assert page.get("/api/models", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}).status_code == 403


def test_every_answer_carries_the_policy(page: TestClient) -> None:
    answers = [page.get("/"), page.get("/api/about"), page.get("/nothing"), page.get("/", headers={"host": "x"})]
    for answer in answers:
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert "unsafe" not in POLICY


@pytest.mark.parametrize("path", ["/../pyproject.toml", "/%2e%2e/server.py", "/server.py", "/page/index.html", "//etc/passwd"])
def test_only_the_files_of_the_page_are_served(page: TestClient, path: str) -> None:
    assert page.get(path).status_code == 404


def test_the_page_asks_nobody_else(page: TestClient) -> None:
    folder = Path(af.__file__).parent / "web" / "page"
    files = [file for file in folder.iterdir() if file.is_file()]
    for file in files:
        served = page.get("/" if file.name == "index.html" else f"/{file.name}")
        assert served.status_code == 200
        assert served.content == file.read_bytes()
        foreign = file.read_text().replace("http://www.w3.org/2000/svg", "").replace("http://127.0.0.1", "")
        assert "http://" not in foreign
        assert "https://" not in foreign


def test_a_file_that_was_not_changed_is_not_sent_again(page: TestClient) -> None:
    first = page.get("/")
    again = page.get("/", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
