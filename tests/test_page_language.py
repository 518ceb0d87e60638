"""The page in Traditional Chinese in a real browser: chosen by the browser or by the switch, complete, and in its place."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import Visit, at, game_of, new_game, slide, wait_for_animations, wait_for_frames
from serving import served

Begin = Callable[..., Visit]

PROBES = Path(__file__).parent / "probes"
UNNAMED, FAINT = ((PROBES / name).read_text().partition("\n")[2] for name in ("unnamed.js", "faint.js"))
WINDOWS = ((390, 844), (1440, 900))
VIEWS = ("play", "analyse", "coach", "coach/games", "coach/puzzles", "versus", "training")

# all that is written in the window, also in names and hints; what the server says is left out: names of rules, models,
# runs and recipes, descriptions of rules, methods and recipes
WORDS = """() => {
  const theirs = "option, .train-what, .train-name, .train-about, .train-facts dd, .rule-note, .pattern-name, .versus-name,"
    + " kbd, [lang=en]:not(html), noscript, script, style";
  const found = [document.title];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest(theirs)) found.push(walker.currentNode.textContent);
  for (const name of ["aria-label", "aria-valuetext", "title", "placeholder"]) {
    for (const one of document.querySelectorAll(`[${name}]`)) if (!one.closest(theirs)) found.push(one.getAttribute(name));
  }
  return found;
}"""
# where no font has Chinese characters, the boxes for them are narrow: make texts as wide as they are with a font
WIDEN = """() => {
  const probe = document.body.appendChild(Object.assign(document.createElement("span"), {textContent: "盤".repeat(10)}));
  probe.style.cssText = "position: absolute; font-size: 100px";
  const missing = 1 - probe.getBoundingClientRect().width / 1000;
  probe.remove();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (missing > 0.01 && walker.nextNode()) {
    const { parentElement, textContent } = walker.currentNode;
    if (/\\p{Script=Han}/u.test(textContent)) parentElement.style.letterSpacing = `${missing}em`;
  }
}"""
KNOWN = re.compile(
    r"Afterstate \d[\w.+-]*|\b(Afterstate|AI|API|JSON|WASD|MB|kB|ms|Lambda|Threes!|tcg\d+|standard|openapi\.json|small|"
    r"threes|\d+x\d+|\d+[smhkMG]|[AB]|afterstate play|[0-9a-f,]{8,})(?![A-Za-z])"
)


def english_in(page: Page) -> list[str]:
    """Words in Latin letters that are left on the page."""
    return [text for text in page.evaluate(WORDS) if re.search("[A-Za-z]{2,}|undefined|[{}]", KNOWN.sub("", text))]


def check(page: Page) -> None:
    """All is Chinese, can be read, and fits."""
    assert english_in(page) == []
    assert page.evaluate(UNNAMED) == []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        wait_for_animations(page)
        assert page.evaluate(FAINT) == [], theme
    page.evaluate(WIDEN)
    for width, height in WINDOWS:
        page.set_viewport_size({"width": width, "height": height})
        wait_for_frames(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("view", VIEWS)
def test_a_chinese_browser_sees_chinese(visit: Begin, view: str) -> None:
    page = visit(locale="zh-TW").open(f"#{view}")
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hant")
    page.wait_for_load_state("networkidle")
    expect(page.locator("#main .view")).to_contain_text(re.compile(r"[\u4e00-\u9fff]{2}"))
    check(page)


def test_what_a_game_shows_is_chinese(visit: Begin) -> None:
    """The board's values, the dialogs, a review with its moves, the list of games, and a puzzle."""
    page = visit(locale="zh-TW").page
    expect(at(page, "board")).to_be_visible()
    at(page, "new-game").click()
    page.locator("dialog[open]").get_by_role("radio", name="2048").check()
    assert english_in(page) == []
    at(page, "start-game").click()
    expect(page.locator("dialog[open]")).to_have_count(0)
    at(page, "hint-toggle").click()
    expect(at(page, "hints-live")).to_contain_text("最佳：")
    for _ in range(8):
        slide(page, game_of(page)["position"]["legal"][-1])
    expect(page.locator("#live")).to_contain_text("出現")
    page.keyboard.press("?")
    expect(at(page, "keys")).to_contain_text("遊玩與分析")
    assert english_in(page) == []
    page.keyboard.press("Escape")
    page.goto(f"{page.url.partition('#')[0]}#coach/mine")
    expect(at(page, "coach-accuracy")).to_contain_text("準確度")
    expect(at(page, "coach-moves")).to_contain_text("你")
    check(page)
    at(page, "tab-games").click()
    expect(at(page, "games-row")).to_contain_text(re.compile(r"\d+年\d+月\d+日"))
    check(page)


def test_the_switch_changes_the_language_and_keeps_the_game(visit: Begin) -> None:
    page = visit().page
    new_game(page, seed=5)
    for _ in range(4):
        slide(page, game_of(page)["position"]["legal"][0])
    before = game_of(page)
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(at(page, "moves")).to_have_text("4 moves")
    at(page, "language").click()
    for _ in range(2):
        expect(page.locator("html")).to_have_attribute("lang", "zh-Hant")
        expect(page).to_have_title("遊玩 · Afterstate")
        expect(at(page, "moves")).to_have_text("4 步")
        expect(at(page, "board")).to_have_attribute("data-tiles", before["position"]["tiles"])
        assert english_in(page) == []
        page.reload()
    assert game_of(page)["moves"] == before["moves"]
    at(page, "language").click()
    expect(at(page, "moves")).to_have_text("4 moves")
    expect(page.get_by_role("navigation", name="Views")).to_contain_text("Analyse")


def test_the_switch_keeps_the_board_of_analyse(visit: Begin) -> None:
    page = visit().open("#analyse=2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    expect(at(page, "analyse-verdict")).to_contain_text("Best")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => document.querySelector('[data-testid=analyse-board]').dataset.tiles.startsWith('22')")
    tiles = at(page, "analyse-board").get_attribute("data-tiles")
    at(page, "language").click()
    expect(at(page, "analyse-verdict")).to_contain_text("最佳")
    expect(at(page, "analyse-board")).to_have_attribute("data-tiles", str(tiles))


@pytest.mark.parametrize(("locale", "lang"), [("zh-CN", "zh-Hant"), ("en-GB", "en"), ("de-DE", "en")])
def test_the_browser_chooses_the_language(visit: Begin, locale: str, lang: str) -> None:
    """And only the texts of this language are loaded."""
    page = visit(locale=locale).page
    expect(page.locator("html")).to_have_attribute("lang", lang)
    expect(at(page, "board")).to_be_visible()
    loaded = page.evaluate("() => performance.getEntriesByType('resource').map(one => one.name)")
    assert [name.rpartition("/")[2] for name in loaded if "/texts-" in name] == [f"texts-{lang[:2]}.js"]


def test_without_a_server_the_language_stays(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path) as server:
        visitor = Visit(browser, server.address)
        page = visitor.page
        expect(at(page, "board")).to_be_visible()
    at(page, "language").click()
    expect(at(page, "toast")).to_contain_text("afterstate play")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    visitor.close()
