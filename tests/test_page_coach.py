"""The Coach by real clicks: which game it reviews, who moved, the list of moves, mistakes, the curve, the way to Analyse."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import afterstate as af
from afterstate.play.evaluation import measure
from browsing import Visit, ask_server, at, game_of, new_game, slide

Begin = Callable[..., Visit]


def play(page: Page, moves: int, *, seed: int, game: str = "2048") -> None:
    """A new game, and some moves in it."""
    new_game(page, game=game, seed=seed)
    for _ in range(moves):
        slide(page, game_of(page)["position"]["legal"][-1])


def watch(page: Page, moves: int) -> None:
    """Let the AI make some moves, one by one."""
    for _ in range(moves):
        before = len(game_of(page)["moves"])
        page.keyboard.press(".")
        page.wait_for_function(f"() => JSON.parse(localStorage.getItem('afterstate.game')).moves.length > {before}")


def coach_this(page: Page) -> None:
    page.get_by_label("Coach this game").click()
    expect(at(page, "coach-accuracy")).to_be_visible()


def go_to(page: Page, move: int) -> None:
    """Bring a move to the board by the slider."""
    at(page, "coach-scrub").fill(str(move - 1))
    expect(page.locator(".coach-where")).to_contain_text(f"Move {move} of")


def test_coach_this_game_is_this_game_and_not_an_earlier_one(visit: Begin) -> None:
    page = visit().page
    play(page, 6, seed=12)
    coach_this(page)
    expect(at(page, "coach-game")).to_have_text("Your game: 2048, 6 moves")
    page.locator(".site-nav").get_by_text("Play").click()
    play(page, 9, seed=13)
    coach_this(page)
    expect(at(page, "coach-game")).to_have_text("Your game: 2048, 9 moves")


def test_a_review_survives_a_reload(visit: Begin) -> None:
    page = visit().page
    play(page, 7, seed=12)
    coach_this(page)
    go_to(page, 5)
    page.wait_for_function("() => JSON.parse(localStorage.getItem('afterstate.review')).ply === 4")
    accuracy = at(page, "coach-accuracy").inner_text()
    page.reload()
    expect(at(page, "coach-game")).to_have_text("Your game: 2048, 7 moves")
    expect(at(page, "coach-accuracy")).to_have_text(re.sub(r"\n", "", accuracy))
    expect(page.locator(".coach-where")).to_contain_text("Move 5 of 7")


def test_you_are_only_who_made_the_move(visit: Begin) -> None:
    """Three moves of yours, four by the AI, and one more of yours."""
    page = visit().page
    play(page, 3, seed=21)
    watch(page, 4)
    slide(page, game_of(page)["position"]["legal"][0])
    assert game_of(page)["marks"] == "3y4a1y"
    coach_this(page)
    expect(at(page, "coach-game")).to_have_text("A game by you and the AI: 2048, 8 moves")
    expect(at(page, "coach-accuracy")).to_contain_text("Your moves. AI:")
    for move, who in ((1, "You"), (3, "You"), (4, "AI"), (7, "AI"), (8, "You")):
        go_to(page, move)
        expect(page.locator(".coach-cost")).to_have_text(re.compile(f"^{who}: "))
    whose = at(page, "coach-moves").locator("tbody tr td:nth-child(2)")
    expect(whose).to_have_text(["You"] * 3 + ["AI"] * 4 + ["You"])
    rule = re.compile(r"^(You|AI): \w+ lost [\d,]+\. Best: \w+\.[\d.]+% of the expected score$")
    for words in at(page, "coach-worst").locator(".coach-case p").all_inner_texts():
        assert rule.match(words.replace("\n", "")), words


def test_a_move_that_is_taken_back_takes_its_mark_along(visit: Begin) -> None:
    page = visit().page
    play(page, 2, seed=21)
    watch(page, 2)
    for left in (3, 2, 1):
        page.keyboard.press("z")
        page.wait_for_function(f"() => JSON.parse(localStorage.getItem('afterstate.game')).moves.length === {left}")
    assert game_of(page)["marks"] == "1y"


def test_a_game_of_before_has_moves_of_nobody_known(visit: Begin) -> None:
    visitor = visit()
    page = visitor.page
    play(page, 4, seed=12)
    old = {key: value for key, value in game_of(page).items() if key not in {"marks", "begun"}}
    page.goto("about:blank")
    page = visitor.open("docs.html")
    page.evaluate("game => localStorage.setItem('afterstate.game', game)", json.dumps(old))
    page = visitor.open("")
    expect(at(page, "moves")).to_have_text("4 moves")
    slide(page, game_of(page)["position"]["legal"][0])
    assert game_of(page)["marks"] == "4?1y"
    coach_this(page)
    go_to(page, 2)
    expect(page.locator(".coach-cost")).not_to_have_text(re.compile("^(You|AI)"))
    go_to(page, 5)
    expect(page.locator(".coach-cost")).to_have_text(re.compile("^You: "))


@pytest.fixture(scope="module")
def episodes(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("episodes") / "games.txt"
    measure(af.Agent(af.load(original)), games=3, seed=4, threads=1, save=file)
    return file


def review_file(page: Page, file: Path) -> None:
    at(page, "coach-file").set_input_files(file)
    at(page, "coach-episode").click()
    expect(at(page, "coach-accuracy")).to_be_visible()


def answer_of(page: Page, file: Path) -> dict[str, list[float]]:
    """What the server says of the first game of a file."""
    model = next(one["id"] for one in ask_server(page, "/api/models")["models"] if one["game"] == "2048")
    answer: dict[str, list[float]] = ask_server(
        page, "/api/coach", {"model": model, "episode": file.read_text().split("\n")[0]}
    )
    return answer


def test_the_sources_close_once_a_game_is_there(visit: Begin, episodes: Path) -> None:
    page = visit().open("#coach")
    expect(at(page, "coach-source")).to_be_visible()
    review_file(page, episodes)
    expect(at(page, "coach-source")).to_be_hidden()
    at(page, "coach-choose").locator("summary").click()
    expect(at(page, "coach-source")).to_be_visible()
    expect(at(page, "coach-game")).to_contain_text("A game by afterstate: 2048")


def test_mistakes_by_keys_and_buttons_and_on_the_curve(visit: Begin, episodes: Path) -> None:
    page = visit().open("#coach")
    review_file(page, episodes)
    told = answer_of(page, episodes)
    wrong = [ply for ply, share in enumerate(told["shares"]) if share >= 0.01 and told["regrets"][ply] >= 4]
    after = [ply for ply in wrong if ply > 0]
    assert len(after) > 2
    where = page.locator(".coach-where strong")
    total = len(told["shares"])
    page.keyboard.press("Home")
    expect(where).to_have_text(f"Move 1 of {total}")
    for step, ply in enumerate(after[:3]):
        if step % 2:
            at(page, "coach-next-mistake").click()
        else:
            page.keyboard.press("n")
        expect(where).to_have_text(f"Move {ply + 1} of {total}")
    page.keyboard.press("b")
    expect(where).to_have_text(f"Move {after[1] + 1} of {total}")
    at(page, "coach-last-mistake").click()
    expect(where).to_have_text(f"Move {after[0] + 1} of {total}")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    expect(where).to_have_text(f"Move {total} of {total}")
    assert 0 < at(page, "coach-chart").locator(".chart-mark").count() <= len(wrong)


def test_the_list_of_moves_has_all_values_and_ranks_mistakes(visit: Begin, episodes: Path) -> None:
    page = visit().open("#coach")
    review_file(page, episodes)
    told = answer_of(page, episodes)
    moves = at(page, "coach-moves")
    moves.locator(".moves-scroll").evaluate("element => { element.scrollTop = 0; }")
    row = moves.locator("tbody tr[aria-rowindex='2']")
    shown = row.locator("td").all_inner_texts()[1:5]
    assert shown == ["–" if value is None else f"{round(value):,}" for value in told["options"][0]]  # type: ignore[attr-defined]
    moves.get_by_role("radio", name=re.compile(r"^Mistakes \(\d")).check()
    ranked = sorted(
        (ply for ply, share in enumerate(told["shares"]) if share >= 0.01 and told["regrets"][ply] >= 4),
        key=lambda ply: -told["shares"][ply],
    )
    moves.locator(".moves-scroll").evaluate("element => { element.scrollTop = 0; }")
    expect(moves.locator("tbody tr[aria-rowindex='2'] button")).to_have_text(f"{ranked[0] + 1:,}")
    assert moves.locator("tbody tr[aria-rowindex]").count() < 40  # only what is in sight is drawn
    moves.get_by_role("button", name=f"Go to move {ranked[1] + 1:,}", exact=True).click()
    expect(page.locator(".coach-where strong")).to_have_text(f"Move {ranked[1] + 1:,} of {len(told['shares']):,}")


@pytest.mark.parametrize("game", ["2048", "threes"])
def test_analyse_from_any_move(visit: Begin, game: str) -> None:
    page = visit().page
    play(page, 5, seed=3, game=game)
    kept = game_of(page)
    coach_this(page)
    go_to(page, 4)
    ref = {key: kept[key] for key in ("game", "rules", "size", "seed")}
    there = ask_server(page, "/api/replay", {**ref, "moves": kept["moves"][:3]})["position"]
    at(page, "coach-analyse").click()
    expect(at(page, "analyse-board")).to_have_attribute("data-tiles", there["tiles"])
    expect(at(page, "analyse-text")).to_have_value(there["text"])


def test_words(visit: Begin) -> None:
    """Loss, good or bad luck, AI: the words of the coach."""
    page = visit().page
    play(page, 3, seed=12)
    coach_this(page)
    expect(at(page, "coach-luck")).to_have_text(re.compile("(Good luck|Bad luck|Neither good nor bad luck)"))
    words = page.locator("main").inner_text().lower()
    assert not [word for word in ("regret", "unkind", "the player", "to the best", "slid ") if word in words]


def test_a_watched_game_is_the_ais(visit: Begin) -> None:
    page = visit().open("#coach")
    at(page, "coach-model").select_option(label="small, 2048")
    at(page, "coach-model-game").click()
    expect(at(page, "coach-game")).to_have_text(re.compile("^A game by the AI: "))
    expect(at(page, "coach-moves").locator("tbody tr[aria-rowindex] td:nth-child(2)").first).to_have_text("AI")
