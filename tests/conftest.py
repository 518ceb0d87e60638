"""What all tests share: reproducible property tests, the game, a small run, and a browser."""

import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from afterstate.games.game import Game, make

if TYPE_CHECKING:
    from fastapi.testclient import TestClient
    from playwright.sync_api import Browser

    from browsing import Visit
    from nursery import Nursery
    from serving import Served

settings.register_profile(
    "afterstate",
    derandomize=True,  # the same examples in every run
    deadline=None,  # the first call of a kernel may compile it
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("afterstate")

# started in the background we ignore Ctrl-C, and so would what the tests start
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# the files that take longest come first, so that no worker waits for another at the end
LONGEST = (
    "learning",
    "search_play",
    "page_views",
    "web",
    "stages",
    "search",
    "readme",
    "page_play",
    "threes_learning",
    "players",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="repeat the tests of faults often: `make faults`, an hour")


@pytest.fixture(scope="session")
def long(request: pytest.FixtureRequest) -> bool:
    """Whether this is the long version of the tests of faults."""
    return bool(request.config.getoption("--long"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ranks = {f"test_{name}": rank for rank, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path.stem, len(ranks)))
    for item in items:  # one process runs all tests of a file, and one all those that share a Ray
        together = item.path.stem.startswith("test_cluster")
        item.add_marker(pytest.mark.xdist_group("test_cluster" if together else item.path.stem))


# helpers whose asserts tell as much as those of a test
pytest.register_assert_rewrite("commandline", "positions", "searching", "serving", "browsing", "hammering", "runs")


@pytest.fixture(scope="session")
def game() -> Game:
    """2048 on the 4x4 board."""
    return make("2048")


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 300 games that no test changes."""
    from commandline import SMALL, done  # after the line above on its asserts

    folder = tmp_path_factory.mktemp("cli") / "small"
    done(*SMALL, "--run", folder)
    return folder


@pytest.fixture
def small(original: Path) -> Path:
    """The same run. Tests only read it."""
    return original


@pytest.fixture
def copy(original: Path, tmp_path: Path) -> Path:
    """The same run, to change."""
    return Path(shutil.copytree(original, tmp_path / "copy"))


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """One Chromium for all tests of the page."""
    from playwright.sync_api import sync_playwright

    from browsing import launch

    with sync_playwright() as tools:
        opened = launch(tools)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def server(original: Path, tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Served]":
    """`afterstate play` with a model for 2048 and one for Threes!."""
    from serving import make_models, served

    folder = tmp_path_factory.mktemp("runs")
    shutil.copytree(original, folder / "small")
    with served(folder, make_models(tmp_path_factory.mktemp("models"))[1]) as opened:
        yield opened


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two small models, for 2048 and for Threes!."""
    from serving import make_models

    return make_models(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def page(models: list[Path], tmp_path_factory: pytest.TempPathFactory) -> "Iterator[TestClient]":
    """The server with these models, asked without a port."""
    from serving import client

    with client(tmp_path_factory.mktemp("runs"), *models) as opened:
        yield opened


@pytest.fixture
def visit(browser: "Browser", server: "Served") -> "Iterator[Callable[..., Visit]]":
    """Open the page as a new visitor: visit(), visit(has_touch=True). No console may show an error."""
    from browsing import Visit

    visits: list[Visit] = []

    def begin(**context: Any) -> Visit:
        visits.append(Visit(browser, server.address, **context))
        return visits[-1]

    yield begin
    for one in visits:
        one.close()


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """One Ray with two processors for all files test_cluster*.py -> its address. This process is connected to it."""
    import secrets
    import threading

    from afterstate.cluster.connection import connect

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))  # else Ray writes one to the home folder
        patch.setenv("RAY_health_check_period_ms", "500")  # notice soon that a node is lost
        patch.setenv("RAY_health_check_failure_threshold", "4")
        with connect("local", threading.Event()) as session:
            yield session.address


# --- tests of faults ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Nursery]":
    """Commands that start at once, each in a process of its own."""
    from nursery import Nursery

    opened = Nursery(tmp_path_factory.mktemp("logs"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def whole(nursery: "Nursery", tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Undisturbed runs, by kind. The nursery has loaded their kernels."""
    from runs import KINDS

    folder = tmp_path_factory.mktemp("whole")
    for name, options in KINDS.items():
        nursery.rehearse(*options, "--run", folder / name)
    return {name: folder / name for name in KINDS}
