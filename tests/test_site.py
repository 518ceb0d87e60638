"""The documentation as a site: it builds without a warning, its reference is complete, and it loads nothing from elsewhere."""

import doctest
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import FunctionType
from typing import TYPE_CHECKING

import pytest

import afterstate

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "api"
PUBLIC = [name for name in afterstate.__all__ if not name.startswith("__")]  # __version__ is only text


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it: with --quiet, a warning would be no error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, timeout=300, check=False)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    return folder


def test_every_page_is_there(site: Path) -> None:
    """Pages that the navigation does not name are warnings, so here we only count."""
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs")).with_suffix(".html").is_file(), page
    assert (site / "source" / "examples" / "drift.py.html").is_file()  # which pages link to


def test_the_page_of_commands_has_them_all(site: Path) -> None:
    page = (site / "commands.html").read_text()
    for command in ("train", "eval", "move", "play", "judge", "conformance"):
        assert f'id="afterstate-{command}"' in page
    assert "--optimistic" in page
    assert "\b" not in page  # how a help text says that a paragraph keeps its lines


# --- nothing from elsewhere ----------------------------------------------------------------------------------------------


def outside_assets(text: str) -> list[str]:
    """What a page or a style sheet loads from other sites; links for readers are no assets."""
    tags = re.findall(r"<(?:script|link|img|iframe|source|video|audio|object|embed)\b[^>]*>", text)
    found = [
        address for tag in tags for address in re.findall(r"(?:src|href|data|srcset)=[\"']?((?:https?:)?//[^\"'\s>]+)", tag)
    ]
    return found + re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)", text)


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.suffix in {".html", ".css"}]
    assert len(files) > 40
    assert {path.name: found for path in files if (found := outside_assets(path.read_text()))} == {}


def test_assets_from_elsewhere_are_found() -> None:
    text = (
        '<a href="https://a.example">x</a><link rel=x href="https://b.example/x.css"><img src="//c.example/x.png">'
        "<script src=https://d.example/x.js></script><style>@import 'https://e.example';p{background:url(http://f.example)}</style>"
        '<img src="images/x.png"><svg xmlns="http://www.w3.org/2000/svg">'
    )
    hosts = [re.findall(r"\w+\.example", address)[0] for address in outside_assets(text)]
    assert hosts == ["b.example", "c.example", "d.example", "e.example", "f.example"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_reader_finds_what_they_search(browser: "Browser", address: str) -> None:
    """In a real browser: the search answers, and no request leaves the site."""
    context = browser.new_context()
    asked, complaints = [], []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.goto(f"{address}/index.html")
    page.get_by_role("textbox", name="Search").fill("carousel")
    page.locator("a.md-search-result__link", has_text="Where games begin").first.click()
    page.wait_for_url("**/methods/starts.html**")
    assert page.locator("h1").inner_text().startswith("Where games begin")
    context.close()
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
    assert complaints == []


# --- the reference -------------------------------------------------------------------------------------------------------


def listed_names() -> list[str]:
    """What the pages of the reference list, such as "Agent"."""
    pages = [path.read_text() for path in sorted(REFERENCE.glob("*.md"))]
    return [name for page in pages for name in re.findall(r"^::: afterstate\.(\w+)$", page, flags=re.MULTILINE)]


def test_the_reference_lists_every_public_name_once() -> None:
    assert sorted(listed_names()) == sorted([*PUBLIC, "envs"])


def test_the_reference_shows_every_public_name(site: Path) -> None:
    pages = "".join(path.read_text() for path in (site / "api").glob("*.html"))
    for name in PUBLIC:
        assert f'id="afterstate.{name}"' in pages, name
    assert ":::" not in pages
    assert "<blockquote>" not in pages  # an example that is not shown as code
    assert 'id="afterstate.Choices.moves"' in pages  # a field that is explained by the comment behind it


def members(name: str) -> Iterator[tuple[str, object]]:
    """A public name and, if it is a class of ours, its public methods and properties."""
    thing = getattr(afterstate, name)
    yield name, thing
    if inspect.isclass(thing):
        for key, member in vars(thing).items():
            if not key.startswith("_") and isinstance(member, (FunctionType, classmethod, staticmethod, property)):
                yield f"{name}.{key}", getattr(thing, key)  # the docstring of what it overrides will do


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_says_what_it_is(name: str) -> None:
    """The first line of a docstring is a sentence; a dataclass without one would have its signature instead."""
    for member, thing in members(name):
        text = inspect.getdoc(thing) or ""
        assert re.match(r"[^a-z\s].*[.:,;\"]|m: ", text.partition("\n")[0]), f"{member}: {text[:60]!r}"
        assert not text.startswith(f"{name}("), member


def test_the_examples_of_docstrings_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the package, then of `train`, whose run the others use, then of all other names; each says what comes out."""
    monkeypatch.chdir(tmp_path)
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    names = ["train", *(name for name in PUBLIC if name != "train")]
    for thing in (afterstate, *(member for name in names for _, member in members(name))):
        home = sys.modules[getattr(thing, "__module__", None) or "afterstate"] if thing is not afterstate else afterstate
        for example in finder.find(thing, name=getattr(thing, "__name__", "it"), globs=vars(home) | {"af": afterstate}):
            runner.run(example)
    assert runner.tries >= 25
    assert runner.failures == 0
