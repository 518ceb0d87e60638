"""What all tests share: reproducible property tests, the game, and a small run."""

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from afterstate.games.game import Game, make

settings.register_profile(
    "afterstate",
    derandomize=True,  # the same examples in every run
    deadline=None,  # the first call of a kernel may compile it
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("afterstate")
# helpers whose asserts tell as much as those of a test
pytest.register_assert_rewrite("commandline", "positions", "searching", "serving")


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
