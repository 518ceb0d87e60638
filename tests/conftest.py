"""What all tests share: reproducible property tests, and the game."""

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


@pytest.fixture(scope="session")
def game() -> Game:
    """2048 on the 4x4 board."""
    return make("2048")
