"""Modules of the page that need no browser, by Node's own test runner: the tests are in js/."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = sorted((Path(__file__).parent / "js").glob("*.test.mjs"))
PAGE = Path(__file__).parent.parent / "src" / "afterstate" / "web" / "page"


def find_node() -> str:
    """Node, as the system has it. Where CI is set it must be there."""
    found = shutil.which("node")
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("there is no Node: install it (nodejs)")
        pytest.skip("there is no Node")
    return found


def test_modules_of_the_page(tmp_path: Path) -> None:
    node = find_node()
    shutil.copytree(PAGE, tmp_path / "page")
    (tmp_path / "page" / "package.json").write_text('{"type": "module"}')
    done = subprocess.run(
        [node, "--test", *map(str, TESTS)], capture_output=True, text=True, timeout=120, check=False,
        env=os.environ | {"PAGE": str(tmp_path / "page")},
    )  # fmt: skip
    if done.returncode != 0:
        pytest.fail(f"{done.stdout}\n{done.stderr}", pytrace=False)
    passed = re.search(r"^\W*pass (\d+)$", done.stdout, flags=re.MULTILINE)
    written = sum(len(re.findall(r"^ *test\(", path.read_text(), flags=re.MULTILINE)) for path in TESTS)
    assert passed is not None, done.stdout
    assert int(passed[1]) >= written > 0


def test_every_test_is_of_a_module_that_exists() -> None:
    names = {path.name.removesuffix(".test.mjs") for path in TESTS}
    assert {"scale", "links", "motion", "notation", "pace", "timeline", "hints"} <= names
    assert names <= {path.stem for path in PAGE.glob("*.js")}


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("1", pytest.fail.Exception)])
def test_without_node(ci: str, outcome: type[BaseException], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is skipped, but not where CI is set."""
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(outcome, match="there is no Node"):
        find_node()
