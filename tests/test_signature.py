"""The kernels compute what they always did: a hash of scores and weights for each game and each way to learn.

A change that is meant to change them pins the new hashes here, and says "Bench: HASH" in its commit; every other change to a
kernel says "No functional change", and this test makes it a fact. `afterstate bench signature` prints them.
"""

import pytest

from afterstate.games.game import GAMES
from afterstate.learning.rules import RULES
from afterstate.play.signature import SIGNED, signature

PINNED = {
    "2048 td": "cff9ce486d2d",
    "2048 td backward": "b5a439e98dc9",
    "2048 tc": "109e3d559e61",
    "2048 tc lambda": "282cf0308c6f",
    "2048 tc steps": "95ff6ce38dc7",
    "2048 tc backward": "8ea2e6d0aea3",
    "2048 td state": "398b21ff2f5c",
    "2048 tc stages": "2ffb3b8205d6",
    "2048 td restart": "0064f5206eac",
    "threes tcg2022 tc": "1ba992120931",
    "threes tcg2018-bonus tc": "889dbdb7f624",
    "threes official tc": "837f11c19b95",
}


def test_every_game_and_every_rule_is_signed() -> None:
    named = {word for name in SIGNED for word in name.split()}
    assert set(RULES) <= named
    assert set(GAMES) <= named


@pytest.mark.parametrize("name", SIGNED)
def test_signatures(name: str) -> None:
    assert signature(name) == PINNED[name]
