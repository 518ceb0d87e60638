"""The referee passes environments that follow the rules, and catches each kind of mistake by name."""

import json
import re
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import afterstate as af
import afterstate.envs
from afterstate.games.game import Slide, make
from afterstate.play.conformance import Conformance, check_env, load_env
from afterstate.play.vectors import FORMAT, make_vectors
from commandline import run


class Honest:
    """2048 by the rules, with faces and another order of actions. Broken ones change a part."""

    order = (Slide.LEFT, Slide.RIGHT, Slide.UP, Slide.DOWN)

    def __init__(self) -> None:
        self.env: Any = gymnasium.make("afterstate/2048-v0").unwrapped

    def reset(self, *, seed: int) -> Any:
        self.rng = np.random.default_rng(seed)
        return self.show(self.env.reset(seed=seed))

    def show(self, shown: Any) -> Any:
        observation, info = shown
        faces = np.where(observation > 0, 2 ** observation.astype(np.int64), 0)
        return faces, {"action_mask": self.mask(info["action_mask"][list(self.order)])}

    def step(self, action: int) -> Any:
        observation, reward, over, truncated, info = self.env.step(self.slide(action))
        observation, info = self.show((observation, info))
        return observation, self.reward(reward), self.over(over), truncated, info

    def set_board(self, exponents: Any) -> None:
        self.env.set_state(self.env.game.from_array(exponents[None])[0])

    def slide(self, action: int) -> int:
        return int(self.order[action])

    def mask(self, mask: Any) -> Any:
        return mask

    def reward(self, reward: float) -> float:
        return reward

    def over(self, over: bool) -> bool:
        return over


class WrongMask(Honest):
    def mask(self, mask: Any) -> Any:
        return np.ones(4, np.int8)


class WrongReward(Honest):
    def reward(self, reward: float) -> float:
        return min(reward, 127.0)  # an int8


class NeverOver(Honest):
    """Says that a game goes on, three times, after its end."""

    def over(self, over: bool) -> bool:
        if over:
            self.env.reset()
        return False if over and self.rng.random() < 0.9 else over


class TooManyFours(Honest):
    def step(self, action: int) -> Any:
        before = self.env.get_state()
        result = super().step(action)
        state = self.env.state
        slid = self.env.game.slide(before.state, self.slide(action))
        if slid is None or result[2] or self.rng.random() > 0.15:
            return result
        self.env.set_state(before)
        fours = [one.state for one in self.env.game.outcomes(slid) if one.state.board.bit_count() >= 0]
        chosen = fours[1 + 2 * int(self.rng.integers(len(fours) // 2))]
        self.env.set_state(chosen)
        assert state is not None
        faces, info = self.show((self.env._observe(), self.env._info(illegal=False)))
        return faces, result[1], not self.env.action_masks().any(), False, info


class SpawnsAfterIllegal(Honest):
    def step(self, action: int) -> Any:
        state = self.env.state
        if self.env.game.slide(state, self.slide(action)) is not None or 0 not in self.env.game.cells(state):
            return super().step(action)
        self.env.set_state(self.env.game.sample(state, af.Random(int(self.rng.integers(1000)))))
        faces, info = self.show((self.env._observe(), self.env._info(illegal=True)))
        return faces, 0.0, not self.env.action_masks().any(), False, info


class FirstCell(Honest):
    """New tiles prefer the first empty cell."""

    def step(self, action: int) -> Any:
        slid = self.env.game.slide(self.env.state, self.slide(action))
        result = super().step(action)
        if slid is None or self.rng.random() > 0.3:
            return result
        self.env.set_state(self.env.game.outcomes(slid)[0].state)
        faces, info = self.show((self.env._observe(), self.env._info(illegal=False)))
        return faces, result[1], not self.env.action_masks().any(), False, info


def verdicts(found: Conformance) -> dict[str, str]:
    return {finding.name: finding.verdict for finding in found.findings}


def test_an_honest_environment_passes() -> None:
    found = check_env(Honest(), games=12, seed=3)
    assert found.passed
    assert set(verdicts(found).values()) == {"right"}
    assert (found.faces, found.actions) == (True, ("left", "right", "up", "down"))
    assert 0.05 < found.fours < 0.15


@pytest.mark.parametrize("options", [{}, {"observation": "onehot"}, {"size": "3x3"}], ids=str)
def test_our_own_environments_pass(options: dict[str, Any]) -> None:
    found = check_env(gymnasium.make("afterstate/2048-v0", **options), games=6, size=options.get("size", "4x4"))
    assert found.passed
    assert found.actions == ("up", "right", "down", "left")
    assert not found.faces


@pytest.mark.parametrize(
    ("env", "broken", "example"),
    [
        (WrongMask, "mask", r"the mask was \[True, True, True, True\]"),
        (WrongReward, "rewards", r"gave 127\.0, not"),
        (NeverOver, "end of the game", "it said not over"),
        (TooManyFours, "new tiles", r"new tiles are a 4, not 0\.1"),
        (SpawnsAfterIllegal, "illegal actions", "is illegal, but led to"),
        (FirstCell, "cells of new tiles", "empty cells are not all equally likely"),
    ],
)
def test_each_mistake_is_caught_by_name(env: Any, broken: str, example: str) -> None:
    found = check_env(env(), games=25, seed=5)
    wrong = {finding.name: finding.example for finding in found.findings if finding.wrong}
    assert broken in wrong
    assert re.search(example, wrong[broken])
    assert not found.passed


def test_an_illegal_action_may_end_the_game() -> None:
    found = check_env(gymnasium.make("afterstate/2048-v0", illegal="end"), games=8)
    assert found.passed
    assert found.notes == ("an illegal action ends the game",)
    assert next(one for one in found.findings if one.name == "illegal actions").checked > 0


def test_what_cannot_be_judged_is_refused() -> None:
    for name, message in (
        ("nowhere/Nothing-v0", "there is no environment"),
        ("no_such_module:Env", "cannot be imported"),
        ("json:Env", "has no class or function 'Env'"),
    ):
        with pytest.raises(af.InputError, match=message):
            load_env(name)
    with pytest.raises(af.InputError, match=r"no 4x4 board was found"):
        check_env(load_env("CartPole-v1"))
    with pytest.raises(af.InputError, match="needs a game"):
        check_env(Honest(), games=0)


def test_vectors_say_what_the_rules_say() -> None:
    game = make("2048")
    made = json.loads(json.dumps(make_vectors(game, 60, seed=2)))
    assert (made["format"], len(made["boards"]), made["slides"]) == (FORMAT, 60, ["up", "right", "down", "left"])
    assert made == json.loads(json.dumps(make_vectors(game, 60, seed=2)))
    assert max(max(one["board"]) for one in made["boards"]) == 131072
    assert any(one["over"] for one in made["boards"])
    for one in made["boards"]:
        state = game.parse(" ".join(map(str, one["board"])))
        for slide, said in zip(Slide, one["slides"], strict=True):
            slid = game.slide(state, slide)
            assert said["legal"] == (slid is not None)
            if slid is not None:
                assert (said["after"], said["reward"]) == ([game.face(tile) for tile in game.cells(slid)], slid.reward)
    for one in made["new_tiles"]:
        assert not one["outcomes"] or sum(chance for _, _, chance in one["outcomes"]) == pytest.approx(1)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    Path("liar.py").write_text(
        "import gymnasium, afterstate.envs\n"
        "class Liar(gymnasium.RewardWrapper):\n    def reward(self, reward):\n        return reward + 1\n"
        "def make():\n    return Liar(gymnasium.make('afterstate/2048-v0'))\n"
    )
    done = run("conformance", "afterstate.envs:afterstate/2048-v0", "--games", "3", "--json")
    assert (done.code, done.json["passed"]) == (0, True)
    done = run("conformance", "liar:make", "--games", "3", "--vectors", "vectors.json", "--count", "20")
    assert done.code == 8
    assert "does not play by the rules" in done.out
    assert len(json.loads(Path("vectors.json").read_text())["boards"]) == 20
    assert run("conformance").code == 3
    assert "--count is 1 to 1000000" in run("conformance", "--vectors", "more.json", "--count", "0").error
