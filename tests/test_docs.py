"""The documents: links work, texts are only about the project, and the map matches the files."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "afterstate"
MAP = ROOT / "docs" / "architecture.md"
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DOCUMENTS = [*GUIDES, ROOT / "CHANGELOG.md"]
WIDEST = 120  # characters of a line

FOREIGN = {
    "a path of one machine": r"(?<![\w.])/(?:home|root|work|tmp|Users|mnt|opt|private|var|srv)/\w|\b[A-Z]:\\|~/\.",
    "an address of packages": r"pypi|pythonhosted|npmjs|registry\.|anaconda|--(?:extra-)?index-url|devpi|artifactory",
    "how the text was made": r"\b(?i:sessions?|sandbox|worktree|chatbot|assistant|language model|LLM)\b",
    "something left to be done": r"@[A-Z]+@|\b(?:TODO|FIXME|XXX|TBD)\b",
}


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


# --- words ---------------------------------------------------------------------------------------------------------------


def foreign_words(text: str) -> list[str]:
    """What a text says that is not about the project -> ["a path of one machine: /srv"]."""
    return [f"{kind}: {found[0]}" for kind, pattern in FOREIGN.items() for found in re.finditer(pattern, text)]


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_a_document_speaks_of_the_project_alone(path: Path) -> None:
    assert foreign_words(path.read_text()) == []


@pytest.mark.parametrize(
    "text",
    [
        "the runs are in /home/me/runs", "`/srv/main`", "C:\\runs", "~/.cache", "pip install --index-url x", "https://registry.example/simple",
        "in this session", "an LLM wrote it", "the mean is @MEAN@", "TODO: measure",
    ],
)  # fmt: skip
def test_foreign_words_are_found(text: str) -> None:
    assert foreign_words(text)


def test_own_words_are_not_foreign() -> None:
    assert foreign_words("curl http://127.0.0.1:2048/api/move; runs/srv/x; 2 4 / 0 2; home, root; a slide is undone") == []


# --- lines and links -----------------------------------------------------------------------------------------------------


def prose(text: str) -> list[tuple[int, str]]:
    """The lines outside blocks of code, with their numbers."""
    lines, inside = [], False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            inside = not inside
        elif not inside:
            lines.append((number, line))
    return lines


@pytest.mark.parametrize("path", GUIDES, ids=named)
def test_lines_fit_on_a_screen(path: Path) -> None:
    """Tables and code are as wide as they must be."""
    long = [number for number, line in prose(path.read_text()) if len(line) > WIDEST and not line.startswith("|")]
    assert long == [], f"lines of more than {WIDEST} characters"


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings: "## How it works, in `code`" -> "how-it-works-in-code"; a second one has -1."""
    found: set[str] = set()
    for _, line in prose(text):
        if heading := re.match(r"#+\s+(.*)", line):
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1]).strip().lower()
            name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            number = next(number for number in range(len(found) + 1) if (f"{name}-{number}" if number else name) not in found)
            found.add(f"{name}-{number}" if number else name)
    return found


def links(text: str) -> Iterator[str]:
    """Where the links and pictures of a page lead, but for other sites."""
    for _, line in prose(text):
        for target in re.findall(r"\]\(([^)\s]+)[^)]*\)|(?:src|href)=\"([^\"]+)\"", re.sub(r"`[^`]*`", "", line)):
            place = "".join(target)
            if not re.match(r"[a-z]+:", place):
                yield place


def broken_links(path: Path, text: str) -> list[str]:
    """The links of a page that lead nowhere."""
    broken = []
    for link in links(text):
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        if not target.exists() or (anchor and anchor not in anchors(text if target == path else target.read_text())):
            broken.append(link)
    return broken


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_every_link_leads_somewhere(path: Path) -> None:
    assert broken_links(path, path.read_text()) == []


def test_broken_links_are_found() -> None:
    text = (
        "# One, two `three`\n# Twice\n# Twice\n"
        "[a](#one-two-three) [b](#twice-1) [c](docs/runs.md) [d](https://example.com) ![e](docs/images/backup.svg)\n"
        "```\n[f](no.md)\n# Code\n```\n"
        "[g](no.md) [h](#code) [i](docs/runs.md#no) ![j](docs/images/no.svg) [k](#twice-2)\n"
    )
    assert broken_links(ROOT / "README.md", text) == ["no.md", "#code", "docs/runs.md#no", "docs/images/no.svg", "#twice-2"]


@pytest.mark.parametrize("path", GUIDES, ids=named)
def test_every_program_that_is_named_exists(path: Path) -> None:
    """`benchmarks/page.py` is a file of the project, `learning/rules.py` one of the package."""
    for file in re.findall(r"(?<![\w/.])\w+(?:/\w+)*/\w+\.py\b", path.read_text()):
        assert (ROOT / file).is_file() or (PACKAGE / file).is_file(), file


# --- the map -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """A line of the map: the names that it begins with, and the files that its words name."""

    row: int
    room: str  # "" is the package itself
    names: list[str]
    told: list[str]


def read_map(page: str) -> list[Entry]:
    """The tree of the house: two spaces before modules and rooms of the package, four before files of the room above."""
    tree = re.search(r"^```\w*\nsrc/afterstate/\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    assert tree is not None, "there is no tree of src/afterstate/"
    entries: list[Entry] = []
    room = ""
    for row, line in enumerate(tree[1].splitlines()):
        words = line.split()
        names = list(takewhile(lambda word: re.fullmatch(r"\w+(\.py|/)", word), words))
        inside = len(line) - len(line.lstrip()) > 2
        if not inside:
            room = next((name.rstrip("/") for name in reversed(names) if name.endswith("/")), "")
        told = re.findall(r"(?<![\w/])\w+\.py\b", " ".join(words[len(names) :]))
        entries.append(Entry(row, room if inside else "", names, told))
    return entries


def is_listed(room: str, entries: list[Entry]) -> bool:
    """Whether the map lists the files of a room one by one."""
    return any(entry.room == room and any(name.endswith(".py") for name in entry.names) for entry in entries)


def missing_from(entries: list[Entry]) -> set[str]:
    """Modules and rooms that the map does not name at their place."""
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    wanted = {f"{room}/" for room in rooms} | {path.name for path in PACKAGE.glob("*.py")}
    wanted |= {f"{room}/{path.name}" for room in rooms if is_listed(room, entries) for path in (PACKAGE / room).glob("*.py")}
    given = {name for entry in entries if not entry.room for name in entry.names}
    given |= {f"{entry.room}/{name}" for entry in entries if entry.room for name in (*entry.names, *entry.told)}
    return {name for name in wanted - given if not name.endswith("__init__.py")}


def invented_by(entries: list[Entry]) -> list[str]:
    """Names of the map that are not there."""
    invented = []
    for entry in entries:
        here = PACKAGE / entry.room
        around = [here, *(here / name for name in entry.names if name.endswith("/"))]
        invented += [name for name in entry.names if not (here / name).exists()]
        invented += [name for name in entry.told if not any((folder / name).exists() for folder in around)]
    return invented


def imports_of(path: Path) -> set[str]:
    """The modules of the package that a module imports, anywhere in it -> {"network/lookup.py", "kernel.py"}."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    files = {f"{name.replace('.', '/')}.py" for name in found if name.startswith("afterstate.")}
    return {file.removeprefix("afterstate/") for file in files if (PACKAGE.parent / file).is_file()}


def upward_imports(entries: list[Entry], *, rooms: bool) -> set[str]:
    """Imports of what is lower on the map, between rooms or inside them -> {"kernel.py imports network/"}.

    What shares a line shares a place.
    """
    rows = {f"{entry.room}/{name}".lstrip("/"): entry.row for entry in entries for name in (*entry.names, *entry.told)}
    upward = set()
    for path in PACKAGE.rglob("*.py"):
        module = str(path.relative_to(PACKAGE))
        for imported in imports_of(path):
            if rooms == (module.partition("/")[0] != imported.partition("/")[0]):
                one, other = (re.sub(r"/.*", "/", name) if rooms else name for name in (module, imported))
                if one in rows and other in rows and rows[other] > rows[one]:
                    upward.add(f"{one} imports {other}")
    return upward


@pytest.fixture(scope="module")
def tree() -> list[Entry]:
    return read_map(MAP.read_text())


def test_the_map_names_every_room(tree: list[Entry]) -> None:
    assert missing_from(tree) == set()


def test_the_map_names_only_what_there_is(tree: list[Entry]) -> None:
    assert invented_by(tree) == []


def test_a_room_imports_only_what_stands_above_it_on_the_map(tree: list[Entry]) -> None:
    assert upward_imports(tree, rooms=True) == set()


def test_a_file_of_a_room_imports_only_what_stands_above_it_on_the_map(tree: list[Entry]) -> None:
    assert upward_imports(tree, rooms=False) == set()


WRONG = """
```
src/afterstate/
  errors.py            kinds of errors
  dice.py              is called rng.py
  network/             what a position is worth
    network.py           tables; fold.py makes them fewer
    games.py             is a room of its own
    lookup.py            imported by what stands above
  kernel.py            imported by a room above
```
"""


def test_a_wrong_map_is_found_out() -> None:
    tree = read_map(WRONG)
    missing = missing_from(tree)
    assert {"rng.py", "games/", "learning/", "network/patterns.py"} <= missing
    assert not {"errors.py", "network/", "network/fold.py", "games/game.py"} & missing
    assert invented_by(tree) == ["dice.py", "games.py"]
    assert "network/ imports kernel.py" in upward_imports(tree, rooms=True)
    assert "network/network.py imports network/lookup.py" in upward_imports(tree, rooms=False)
