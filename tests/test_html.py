"""The page of a run: what it shows, that it needs nothing else, that nothing from a file becomes markup; patterns as SVG."""

import json
import os
import re
import shlex
import shutil
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from afterstate.bitboard import Shape
from afterstate.cli.main import Exit
from afterstate.errors import FileError
from afterstate.learning.options import TrainOptions
from afterstate.learning.plan import make_plan
from afterstate.learning.recipes import with_recipe
from afterstate.learning.runfolder import RunFolder
from afterstate.network.svg import svg_file
from afterstate.pictures.markup import Markup, join, tag
from afterstate.report import html
from afterstate.report.commands import other_commands, train_command
from afterstate.report.curves import option_text
from afterstate.report.html import write_report
from commandline import SMALL, check, done, learned, read_metrics, run

if TYPE_CHECKING:
    from playwright.sync_api import Browser


class Reader(HTMLParser):
    """A page as a browser reads it: tags that are closed in order, texts, and where pictures and links come from."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.sources: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in {"meta", "img"}:
            self.open.append(tag)
        self.sources += [str(value) for name, value in attrs if name in {"src", "href", "srcset", "action", "data"}]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)


def read_page(folder: Path, output: Path) -> Reader:
    write_report(folder, output)
    return Reader(output.read_text())


def rewrite(folder: Path, **changed: Any) -> None:
    """Change the last evaluation of a run, or turn its last block into one."""
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    lines[-1] = json.dumps(json.loads(lines[-1]) | changed)
    (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was evaluated on the way."""
    folder = tmp_path_factory.mktemp("evaluated") / "run"
    done(*SMALL, "--eval-every", "100", "--eval-games", "50", "--run", folder)
    return folder


# --- what it shows -------------------------------------------------------------------------------------------------------


def test_a_page_has_all_sections(evaluated: Path, tmp_path: Path) -> None:
    page = read_page(evaluated, tmp_path / "page.html")
    heads = ["Learning curves", "Evaluations", "Tiles", "Training", "Network", "Settings", "Make it again"]
    assert [text for text in page.texts if text in heads] == heads
    assert page.tags.count("img") == 1
    for record in read_metrics(evaluated):
        assert any(f"{record['mean']:,.1f} ± {record['interval']:,.1f}" in text for text in page.texts)
    assert any("2 patterns x 8 isomorphisms = 16 look-ups" in text for text in page.texts)
    told = next(spec.metadata["help"] for spec in fields(TrainOptions) if spec.name == "eval_every")
    assert {"0123 ×2", "37bf ×2", "eval-every", "100", told} <= set(page.texts)
    assert any(text.startswith("50 games with learning off, after 300 games of training") for text in page.texts)


def test_a_page_needs_nothing_else(evaluated: Path, tmp_path: Path) -> None:
    page = read_page(evaluated, tmp_path / "page.html")
    assert not {"script", "link", "iframe", "object", "base", "form"} & set(page.tags)
    assert all(source.startswith("data:image/svg+xml;base64,") for source in page.sources)
    text = (tmp_path / "page.html").read_text()
    assert set(re.findall(r"https?://[^\s\"'<)]*", text)) == {"http://www.w3.org/2000/svg"}  # a name, not an address to load
    assert not re.search(r"@import|url\(", text)


def test_a_run_without_evaluations(small: Path, tmp_path: Path) -> None:
    page = read_page(small, tmp_path / "page.html")
    assert "Evaluations" not in page.texts
    assert any(text.startswith("Score, rates and largest tile: 100 games while learning") for text in page.texts)
    kept = max(read_metrics(small), key=lambda record: (record["win_rate"], record["mean"]))["games"]
    assert any(f"the best checkpoint, is from game {kept}." in text for text in page.texts)


def test_points_of_the_judge_are_shown_where_they_are(evaluated: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(evaluated, tmp_path / "run"))
    assert "judge's points" not in read_page(copy, tmp_path / "page.html").texts
    rewrite(copy, judge=71.7)
    page = read_page(copy, tmp_path / "page.html")
    assert {"judge's points", "points from the judge"} <= set(page.texts)
    assert page.texts.count("71.7") == 2  # in the table and at the top


@pytest.mark.parametrize(
    "changed", [{"judge": "<b>"}, {"ended": []}, {"ended": {"2048": "x"}}, {"max": 10**400}, {"alpha": {}}], ids=str
)
def test_figures_that_are_not_numbers_are_left_out(changed: dict[str, Any], evaluated: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(evaluated, tmp_path / "run"))
    rewrite(copy, **changed)
    assert "<b>" not in read_page(copy, tmp_path / "page.html").texts


def test_a_long_run_has_a_short_table(small: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(small, tmp_path / "run"))
    record = read_metrics(small)[0]
    (copy / "metrics.jsonl").write_text("".join(json.dumps(record | {"games": 100 * at}) + "\n" for at in range(1, 2001)))
    page = read_page(copy, tmp_path / "page.html")
    assert any("2,000 blocks of 100 games while learning. Each row has the games of 50 blocks." in text for text in page.texts)
    assert page.tags.count("tr") < 100
    assert (tmp_path / "page.html").stat().st_size < 300_000


def test_a_run_without_a_checkpoint_has_a_page(small: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(small, tmp_path / "run"))
    shutil.rmtree(copy / "checkpoints")
    assert "Training" in read_page(copy, tmp_path / "page.html").texts


def test_the_same_run_gives_the_same_page(small: Path, tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        write_report(small, tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_section_of_ones_own(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sections are a list; one that has nothing to show is left out."""
    mine = (lambda paper: tag("p", f"mine: {paper.name}"), lambda _: None)
    monkeypatch.setattr(html, "SECTIONS", (*html.SECTIONS[:1], *mine))
    page = read_page(small, tmp_path / "page.html")
    assert "mine: small" in page.texts
    assert "None" not in page.texts


# --- nothing from a file becomes markup ----------------------------------------------------------------------------------

NASTY = "<script>alert('&amp;\"')<|script>"


@pytest.mark.parametrize("name", [NASTY.encode(), b"not \xff text", b"\x1b[31mred", "二千四十八".encode()])
def test_a_run_may_have_any_name(name: bytes, small: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(small, tmp_path / os.fsdecode(name)))
    page = read_page(copy, tmp_path / "page.html")
    assert "script" not in page.tags
    shown = os.fsdecode(name).replace("\udcff", "\ufffd").replace("\x1b", "\ufffd")
    assert page.texts.count(shown) == 1  # the title of the page
    assert "script" not in (tmp_path / "page.html").read_text().replace("&lt;script&gt;", "").replace("&lt;|script&gt;", "")


def test_options_are_escaped(small: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(small, tmp_path / "run"))
    with open(copy / "config.toml", "a") as file:
        file.write(f"recipe = {json.dumps(NASTY)}\n")
    page = read_page(copy, tmp_path / "page.html")
    assert "script" not in page.tags
    assert NASTY in page.texts


def test_markup_is_escaped_once() -> None:
    assert tag("td", "a < b", tag("b", "&"), class_='"', width=None) == '<td class="&quot;">a &lt; b<b>&amp;</b></td>'
    assert tag("meta", name="a", content="b") == '<meta name="a" content="b">'
    assert join("<", Markup("<br>"), "\x00\ud800") == "&lt;<br>\ufffd\ufffd"


# --- files ---------------------------------------------------------------------------------------------------------------


def test_a_page_replaces_only_a_page(small: Path, tmp_path: Path) -> None:
    page, mine = tmp_path / "page.html", tmp_path / "mine.html"
    write_report(small, page)
    write_report(small, page)
    mine.write_text("<!doctype html><title>my thesis</title>")
    check(run("report", small, "--out", mine), Exit.FILE, "mine.html", "another name")
    assert mine.read_text() == "<!doctype html><title>my thesis</title>"


def test_a_run_without_metrics_has_no_page(small: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(small, tmp_path / "run"))
    (copy / "metrics.jsonl").unlink()
    with pytest.raises(FileError, match="no finished block"):
        write_report(copy, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


# --- command lines -------------------------------------------------------------------------------------------------------


def test_the_command_line_of_a_page_makes_the_run_again(small: Path, tmp_path: Path) -> None:
    """One thread: bit for bit, and with the same config."""
    assert train_command(RunFolder(small).read_config(), small) in read_page(small, tmp_path / "page.html").texts
    line = train_command(RunFolder(small).read_config(), tmp_path / "again and again")
    words = shlex.split(line)
    assert words[:3] == ["afterstate", "train", "2048"]
    done(*words[1:])
    again = tmp_path / "again and again"
    assert learned(again) == learned(small)
    assert (again / "config.toml").read_text() == (small / "config.toml").read_text()


GIVEN: list[tuple[dict[str, Any], str]] = [
    ({}, "train 2048"),
    ({"game": "threes"}, "train threes"),
    ({"game": "threes", "rules": "official", "context": "hint"}, "train threes --rules official --context hint"),
    ({"games": 250_000, "seed": 5, "alpha": 0.25}, "train 2048 --alpha 0.25 --games 250k --seed 5"),
    ({"network": "8x4", "symmetry": 8}, "train 2048 --network 8x4 --symmetry 8"),
    ({"size": "3x3", "lambda_": 0.5, "order": "backward"}, "train 2048 --size 3x3 --order backward --lambda 0.5"),
    ({"time": 5400.0, "schedule": "50%:0.01"}, "train 2048 --schedule 50%:0.01 --time 90m"),
    ({"games": 10, "time": 2.5}, "train 2048 --games 10 --time 2.5s"),
    ({"alpha": 0.1 + 0.2}, "train 2048 --alpha 0.30000000000000004"),
    ({"recipe": "quick"}, "train --recipe quick"),
    ({"recipe": "quick", "seed": 9}, "train --recipe quick --seed 9"),
    ({"recipe": "quick", "games": 1000}, "train --recipe quick --games 1k"),
]


@pytest.mark.parametrize(("given", "line"), GIVEN, ids=[row[1] for row in GIVEN])
def test_a_command_line_is_short_and_exact(given: dict[str, Any], line: str) -> None:
    plan = make_plan(TrainOptions(**with_recipe(given)))
    assert train_command(plan.options, Path("runs/x")) == f"afterstate {line} --run runs/x"


def test_a_recipe_that_is_not_known_is_told_by_its_options() -> None:
    options = make_plan(TrainOptions(game="2048", seed=3, recipe="mine 2")).options
    assert train_command(options, Path("x")) == "afterstate train 2048 --seed 3 --run x"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "--game 2048"),
        ({"size": "3x3"}, "--game 2048 --size 3x3"),
        ({"game": "threes", "rules": "tcg2022"}, "--version 2 --rules tcg2022"),
        ({"game": "threes", "rules": "official"}, "--game threes --version win --rules official"),
    ],
)
def test_the_judge_is_asked_for_the_game_of_the_run(given: dict[str, Any], words: str) -> None:
    lines = dict(other_commands(make_plan(TrainOptions(**given)).options, Path("my runs/x")))
    assert lines["Judge the saved games"] == f"afterstate judge games.txt {words}"
    assert lines["Make this page again"] == "afterstate report 'my runs/x'"


@pytest.mark.parametrize("seconds", [600.0, 3600.0, 90.0, 0.5, 5400.0, 3725.0])
def test_times_are_exact(seconds: float) -> None:
    assert TrainOptions(time=option_text("time", seconds)).time == seconds  # type: ignore[arg-type]


# --- patterns ------------------------------------------------------------------------------------------------------------


def shapes(svg: str, kind: str) -> list[ElementTree.Element]:
    return [element for element in ElementTree.fromstring(svg).iter() if element.tag.endswith(f"}}{kind}")]


def test_patterns_as_svg() -> None:
    """A board for each pattern, with as many filled cells as the pattern has."""
    picture = svg_file(["0123", "0145", "9"], Shape())
    cells = shapes(picture, "rect")
    assert len(cells) == 3 * 16
    assert sum(cell.get("fill") != "none" for cell in cells) == 4 + 4 + 1
    assert [text.text for text in shapes(picture, "text")].count("1") == 3
    assert len(shapes(svg_file(["01"], Shape(2, 3)), "rect")) == 6


def test_isomorphs_as_svg() -> None:
    picture = svg_file(["0126", "569a"], Shape(), symmetry=8)
    assert len(shapes(picture, "rect")) == (8 + 1) * 16
    texts = [text.text for text in shapes(picture, "text")]
    assert {"0126", "fb76", "569a ×8"} <= set(texts)
    assert texts.count("4") == 9  # the last cell of each board, so that one can see how it is turned


# --- in a browser --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_the_page(scheme: Any, evaluated: Path, tmp_path: Path, browser: "Browser") -> None:
    """On a phone too: no scripts run, nothing is fetched, the picture is there, and the page is not wider than the screen."""
    write_report(evaluated, tmp_path / "page.html")
    address = (tmp_path / "page.html").as_uri()
    context = browser.new_context(java_script_enabled=True, color_scheme=scheme, viewport={"width": 390, "height": 844})
    page = context.new_page()
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto(address)
    assert [url for url in fetched if not url.startswith("data:")] == [address]
    assert page.evaluate("document.images[0].naturalWidth") > 500
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    page.emulate_media(media="print", color_scheme=scheme)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    context.close()
