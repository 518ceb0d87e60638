"""Your games by real clicks: kept, opened again, reviewed, saved as files and read again; and the best score."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

import afterstate as af
from afterstate.play.episodes import read_episodes
from browsing import Visit, at, game_of, new_game, slide, wait_for_animations, wait_for_frames

Begin = Callable[..., Visit]


def play(page: Page, moves: int, *, seed: int, game: str = "2048") -> dict[str, Any]:
    new_game(page, game=game, seed=seed)
    for _ in range(moves):
        slide(page, game_of(page)["position"]["legal"][-1])
    return game_of(page)


def open_list(page: Page, rows: int) -> None:
    page.evaluate("() => { location.hash = 'coach/games'; }")
    expect(at(page, "games-row")).to_have_count(rows)


def more(page: Page, row: int = 0) -> None:
    at(page, "games-row").nth(row).locator("summary").click()


def saved(page: Page, name: str, tmp_path: Path) -> Path:
    """Click what saves a file -> the file."""
    with page.expect_download() as waiting:
        at(page, name).first.click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_a_game_that_a_new_one_replaced_is_opened_again(visit: Begin) -> None:
    page = visit().page
    first = play(page, 7, seed=12)
    second = play(page, 4, seed=13)
    open_list(page, 2)
    expect(at(page, "games-row").nth(1)).to_contain_text("7 moves")
    at(page, "games-open").nth(1).click()
    expect(at(page, "board")).to_have_attribute("data-tiles", first["position"]["tiles"])
    again = game_of(page)
    assert {key: again[key] for key in ("seed", "moves", "marks", "score", "rng")} == {
        key: first[key] for key in ("seed", "moves", "marks", "score", "rng")
    }
    slide(page, again["position"]["legal"][0])
    open_list(page, 2)  # it is the same game, with one move more
    assert page.locator(".games-row", has_text="8 moves").count() == 1
    assert page.locator(".games-row", has_text=f"{len(second['moves'])} moves").count() == 1


def test_a_review_of_a_kept_game_leaves_its_accuracy(visit: Begin) -> None:
    page = visit().page
    play(page, 6, seed=12)
    play(page, 2, seed=13)
    open_list(page, 2)
    at(page, "games-coach").nth(1).click()
    expect(at(page, "coach-game")).to_have_text("Your game: 2048, 6 moves")
    accuracy = at(page, "coach-accuracy").locator(".coach-big").inner_text()
    at(page, "tab-games").click()
    expect(at(page, "games-row").nth(1)).to_contain_text(f"Accuracy {accuracy}")
    expect(at(page, "games-statistics")).to_contain_text(f"Mean accuracy{accuracy}")


def test_statistics_and_games_of_several_kinds(visit: Begin) -> None:
    page = visit().page
    scores = [play(page, moves, seed=moves)["score"] for moves in (4, 6, 8)]
    play(page, 3, seed=3, game="threes")
    open_list(page, 1)  # of Threes!, which was last
    at(page, "games-kind").select_option("2048")
    expect(at(page, "games-row")).to_have_count(3)
    told = at(page, "games-statistics")
    expect(told).to_contain_text("Games3")
    expect(told).to_contain_text(f"Your best{max(scores)}")
    expect(told).to_contain_text(f"Mean score{round(sum(scores) / 3)}")
    expect(told).to_contain_text("Moves18")


def test_the_best_score_stays_beside_the_score(visit: Begin) -> None:
    page = visit().page
    score = play(page, 9, seed=12)["score"]
    assert score > 0
    expect(at(page, "best")).to_have_text(f"{score:,}")
    play(page, 1, seed=13)
    expect(at(page, "best")).to_have_text(f"{score:,}")
    page.reload()
    expect(at(page, "best")).to_have_text(f"{score:,}")
    new_game(page, game="threes", seed=1)
    expect(at(page, "best")).to_have_text("0")


def test_moves_of_the_ai_are_not_your_best(visit: Begin) -> None:
    page = visit().page
    new_game(page, seed=12)
    for made in range(12):
        page.keyboard.press(".")
        page.wait_for_function(f"() => JSON.parse(localStorage.getItem('afterstate.game')).moves.length > {made}")
    assert game_of(page)["score"] > 0
    expect(at(page, "best")).to_have_text("0")


def test_a_game_as_an_episode_file_and_back(visit: Begin, tmp_path: Path) -> None:
    page = visit().page
    kept = play(page, 8, seed=12)
    open_list(page, 1)
    more(page)
    file = saved(page, "games-episode", tmp_path)
    episode = next(iter(read_episodes(file, af.make("2048"))))
    assert (episode.moves, episode.score, episode.slider) == (kept["moves"], kept["score"], "player")
    other = visit().open("#coach/games")
    at(other, "games-import").set_input_files(file)
    expect(at(other, "games-row")).to_contain_text("8 moves")
    expect(at(other, "games-row").locator("[data-testid=games-open]")).to_have_count(0)  # without a seed it cannot go on
    at(other, "games-coach").click()
    expect(at(other, "coach-game")).to_have_text("A game by player: 2048, 8 moves")
    assert other.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_all_games_as_json_and_back(visit: Begin, tmp_path: Path) -> None:
    page = visit().page
    first = play(page, 8, seed=12)
    play(page, 3, seed=3, game="threes")
    open_list(page, 1)
    file = saved(page, "games-save", tmp_path)
    assert [game["game"] for game in json.loads(file.read_text())["games"]] == ["threes", "2048"]
    other = visit().open("#coach/games")
    expect(at(other, "games")).to_contain_text("No games yet")
    at(other, "games-import").set_input_files(file)
    expect(at(other, "toast")).to_contain_text("Imported 2 games.")
    at(other, "games-kind").select_option("2048")
    expect(at(other, "games-row")).to_have_count(1)
    at(other, "games-open").click()
    expect(at(other, "board")).to_have_attribute("data-tiles", first["position"]["tiles"])
    assert game_of(other)["marks"] == "8y"
    at(page, "games-import").set_input_files(file)  # where they are already, they are not twice
    expect(at(page, "toast")).to_contain_text("Imported 2 games.")
    expect(at(page, "games-row")).to_have_count(1)


def test_the_score_of_an_import_is_counted_again(visit: Begin, tmp_path: Path) -> None:
    page = visit().page
    kept = play(page, 8, seed=12)
    open_list(page, 1)
    file = saved(page, "games-save", tmp_path)
    content = json.loads(file.read_text())
    content["games"][0] |= {"score": 9_999_999, "largest": 131072}
    file.write_text(json.dumps(content))
    other = visit().open("#coach/games")
    at(other, "games-import").set_input_files(file)
    expect(at(other, "games-row").locator(".games-score")).to_have_text(f"{kept['score']:,}")
    content["games"][0]["moves"] += "U" * 50
    file.write_text(json.dumps(content))
    at(other, "games-import").set_input_files(file)
    expect(at(other, "toast").filter(has_text="game 1: move")).to_be_visible()
    for text in ("{", '{"games": []}', "no game at all"):
        file.write_text(text)
        at(other, "games-import").set_input_files(file)
        expect(at(other, "toast").filter(has_text=f"{file.name} ").last).to_be_visible()
    expect(at(other, "games-row")).to_have_count(1)


def test_the_board_as_a_picture(visit: Begin, tmp_path: Path) -> None:
    page = visit().page
    play(page, 8, seed=12)
    open_list(page, 1)
    more(page)
    picture = saved(page, "games-picture", tmp_path).read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", picture[16:24])
    assert width == 1024
    assert 1000 <= height <= 1048
    colours = page.evaluate(
        "async data => { const image = await createImageBitmap(new Blob([new Uint8Array(data)], {type: 'image/png'}));"
        " const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext('2d');"
        " pen.drawImage(image, 0, 0); const at = pen.getImageData(0, 0, image.width, image.height).data;"
        " const seen = new Set(); for (let i = 0; i < at.length; i += 4000) seen.add(at.slice(i, i + 4).join());"
        " return seen.size; }",
        list(picture),
    )
    assert colours > 3


def test_a_game_is_deleted_after_a_second_click(visit: Begin) -> None:
    page = visit().page
    play(page, 3, seed=12)
    play(page, 2, seed=13)
    open_list(page, 2)
    more(page, 1)
    at(page, "games-delete").nth(1).click()
    expect(at(page, "games-row")).to_have_count(2)
    at(page, "games-delete").nth(1).click()
    expect(at(page, "games-row")).to_have_count(1)


PROBES = Path(__file__).parent / "probes"
UNNAMED, FAINT = ((PROBES / name).read_text().partition("\n")[2] for name in ("unnamed.js", "faint.js"))


def check_view(page: Page) -> None:
    """All controls have names, all text can be read, and nothing is wider than the window."""
    assert page.evaluate(UNNAMED) == []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        wait_for_animations(page)
        assert page.evaluate(FAINT) == [], theme
    for width, height in ((1440, 900), (844, 390), (390, 844), (320, 700)):
        page.set_viewport_size({"width": width, "height": height})
        wait_for_frames(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width, width


def test_what_is_full_can_be_read_and_fits(visit: Begin) -> None:
    """A review, a list of games and an answered puzzle, not only empty views."""
    page = visit().page
    for seed in (12, 13, 14):
        play(page, 6, seed=seed)
    page.get_by_label("Coach this game").click()
    expect(at(page, "coach-accuracy")).to_be_visible()
    check_view(page)
    at(page, "tab-games").click()
    more(page)
    check_view(page)
    at(page, "tab-puzzles").click()
    page.get_by_role("radio", name="The AI's mistakes").check()
    expect(at(page, "puzzle-board")).to_be_visible()
    page.locator(".puzzle-choices button:not(:disabled)").first.click()
    expect(at(page, "puzzle-verdict")).to_be_visible()
    check_view(page)
