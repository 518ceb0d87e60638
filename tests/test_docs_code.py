"""The code of the documents runs: every block of Python and every command, in the order of its page.

Where a page shows what a block prints, as a block of `text` behind it, that must be what it prints; `...` stands for anything.
A block that is not run says why, in a comment above it: <!-- not run: it installs -->
"""

import contextlib
import doctest
import io
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.main import get_command

from afterstate.cli.main import app
from commandline import run

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
FENCED = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+) -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
PROGRAMS = {"afterstate", "make", "pip", "python", "source", "export", "curl", "python3.11"}

# pages whose code other tests run
ELSEWHERE = {
    "docs/python.md": "test_python.py",
    "README.md": "test_readme.py",
    "docs/environments.md": "test_envs.py",
    "docs/formats.md": "test_programs.py",
    "docs/programs.md": "test_programs.py",
}


@dataclass(frozen=True)
class Block:
    """A block of code in a page."""

    line: int
    kind: str  # python, commands, text, or something else
    text: str
    reason: str | None  # why it is not run

    @property
    def commands(self) -> list[str]:
        """Its lines without remarks; a line that ends with \\ goes on in the next."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [bare for line in lines if (bare := re.sub(r"(^|\s+)# .*", "", line).strip())]


def read_blocks(text: str) -> list[Block]:
    """The blocks of a page. One without a language whose first word is a program holds commands."""
    found = []
    for block in FENCED.finditer(text):
        kind, inside = block["kind"], block["text"]
        if kind == "sh" or (not kind and inside.split(maxsplit=1)[0] in PROGRAMS):
            kind = "commands"
        found.append(Block(text[: block.start("text")].count("\n"), kind, inside, block["reason"]))
    return found


PAGES = {str(path.relative_to(ROOT)): path for path in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))}
BLOCKS = {name: read_blocks(path.read_text()) for name, path in PAGES.items()}
TO_RUN = [
    name
    for name, blocks in BLOCKS.items()
    if name not in ELSEWHERE and any(block.kind in {"python", "commands"} and not block.reason for block in blocks)
]


def print_block(block: Block, variables: dict[str, object]) -> str:
    """Run a block -> what it printed."""
    out = io.StringIO()
    if block.kind == "python":
        with contextlib.redirect_stdout(out):
            exec(compile("\n" * block.line + block.text, "page", "exec"), variables)
        return out.getvalue()
    for command in block.commands:
        words = shlex.split(command)
        assert words[0] == "afterstate", f"say <!-- not run: why --> above: {command}"
        ended = run(*words[1:])
        assert ended.code == 0, ended.err
        assert "Traceback" not in ended.err
        out.write(ended.out)
    return out.getvalue()


def bare(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def differences(blocks: list[Block]) -> Iterator[str]:
    """Run the blocks of a page, one after the other -> where another text is shown than is printed."""
    variables: dict[str, object] = {"__name__": "page"}
    checker, printed = doctest.OutputChecker(), None
    for block in blocks:
        if block.kind in {"python", "commands"}:
            printed = None if block.reason else print_block(block, variables)
        elif block.kind == "text" and printed is not None:
            wanted, found = bare(block.text), bare(printed)
            if not checker.check_output(wanted, found, doctest.ELLIPSIS):
                yield f"line {block.line} shows\n{wanted}\nbut this is printed\n{found}"
            printed = None


@pytest.mark.parametrize("name", TO_RUN)
def test_the_code_of_a_page_runs(name: str, original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder with a small trained network, runs/mine, as in the README."""
    shutil.copytree(original, tmp_path / "runs" / "mine")
    monkeypatch.chdir(tmp_path)
    assert list(differences(BLOCKS[name])) == []


def test_pages_that_are_run_elsewhere_are_known_there() -> None:
    for page, test in ELSEWHERE.items():
        assert Path(page).name in (ROOT / "tests" / test).read_text(), page


# --- commands that are only shown ----------------------------------------------------------------------------------------


def options_of(command: str) -> set[str]:
    """The options of a command: {"--games", ...}."""
    commands = get_command(app).commands  # type: ignore[attr-defined]
    assert command in commands, f"there is no command {command}"
    return {name for option in commands[command].params for name in (*option.opts, *option.secondary_opts)} | {"--help"}


def shown_commands(name: str) -> Iterator[list[str]]:
    """Every command of a page, as words: in blocks, and in the text as `afterstate eval RUN`."""
    for block in BLOCKS[name]:
        if block.kind == "commands":
            lines = (re.sub(r"\$\([^)]*\)", "", line) for line in block.commands)  # without what another command fills in
            yield from (shlex.split(line) for line in lines if line.startswith("afterstate "))
    for span in re.findall(r"(?<!`)`(afterstate [a-z]+[^`]*)`(?!`)", FENCED.sub("", PAGES[name].read_text())):
        with contextlib.suppress(ValueError):  # a quote inside
            yield shlex.split(span)


def wrong_words(words: list[str]) -> list[str]:
    """The options of a command line that the command does not have."""
    if len(words) < 2 or not re.fullmatch(r"[a-z]+", words[1]):
        return []
    known = options_of(words[1])
    return [word for word in words if word.startswith("--") and word.partition("=")[0] not in known]


@pytest.mark.parametrize("name", PAGES)
def test_commands_have_the_options_that_are_shown(name: str) -> None:
    assert [(words, wrong) for words in shown_commands(name) if (wrong := wrong_words(words))] == []


# --- the tests themselves ------------------------------------------------------------------------------------------------


def test_blocks_are_read() -> None:
    page = (
        "A\n<!-- not run: slow -->\n```\nmake train   # now\n```\n```python\nx = 1\n```\n"
        "```\nu8   0\n```\n```sh\nafterstate info \\\n  4x6\n```\n"
    )
    blocks = read_blocks(page)
    assert [(block.line, block.kind, block.reason) for block in blocks] == [
        *((3, "commands", "slow"), (6, "python", None), (9, "", None), (12, "commands", None)),
    ]
    assert blocks[0].commands == ["make train"]
    assert blocks[3].commands == ["afterstate info    4x6"]


def test_wrong_pages_are_found_out() -> None:
    right = "```python\nprint(1 + 1)\n```\n\n```text\n2\n```\n"
    assert list(differences(read_blocks(right))) == []
    assert "shows\n3\n" in next(differences(read_blocks(right.replace("\n2\n", "\n3\n"))))
    assert list(differences(read_blocks("<!-- not run: wrong -->\n```python\n1 / 0\n```\n```text\n2\n```\n"))) == []
    with pytest.raises(ZeroDivisionError):
        list(differences(read_blocks("```python\n1 / 0\n```\n")))
    with pytest.raises(AssertionError, match="no-such-model"):
        list(differences(read_blocks("```\nafterstate info no-such-model\n```\n")))
    assert wrong_words(shlex.split("afterstate eval RUN --games 5 --gmaes=5")) == ["--gmaes=5"]
