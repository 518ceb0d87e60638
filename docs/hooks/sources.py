"""Files of the project that a page links to, such as ../examples/drift.py, become pages of the site."""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(?<=\]\()(?:\.\./)+[\w./-]+(?=[)#])")
LANGUAGES = {".py": "python", ".toml": "toml", ".sh": "sh"}


def outside(page: str, link: str) -> str | None:
    """The file of the project that a page links to, if it is not below docs/: "examples/drift.py"."""
    place = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link))
    return None if place.startswith("docs/") or not (ROOT / place).exists() else place


def written_as_page(place: str) -> str:
    """A file of the project as Markdown; of a folder, links to its programs."""
    path = ROOT / place
    if path.is_dir():
        rows = [f"- [{file.name}]({file.name}.md)" for file in sorted(path.glob("*.py"))]
        return f"# {place}/\n\n" + "\n".join(rows) + "\n"
    text = path.read_text()
    if path.suffix == ".md":
        return text.replace("](docs/", "](../")
    return f"# {place}\n\n````{LANGUAGES.get(path.suffix, 'text')}\n{text}````\n"


def page_of(place: str) -> str:
    """Where the page of a file of the project is."""
    if (ROOT / place).is_dir():
        return f"source/{place}/index.md"
    return f"source/{place}" if place.endswith(".md") else f"source/{place}.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for the changelog, the examples, and each file of the project that a page links to."""
    wanted = {"CHANGELOG.md", *(str(path.relative_to(ROOT)) for path in (ROOT / "examples").glob("*.py"))}
    for file in files.documentation_pages():
        links = LINK.findall(file.content_string)
        wanted |= {place for link in links if (place := outside(file.src_uri, link))}
    for place in sorted(wanted):
        files.append(File.generated(config, page_of(place), content=written_as_page(place)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links to files of the project lead to their pages."""
    here = page.file.src_uri

    def turn(link: re.Match[str]) -> str:
        place = outside(here, link[0])
        return link[0] if place is None else posixpath.relpath(page_of(place), posixpath.dirname(here))

    return markdown if here.startswith("source/") else LINK.sub(turn, markdown)
