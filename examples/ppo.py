"""MaskablePPO learns 2048 through the Gymnasium environment.

    pip install 'afterstate[gym]' sb3-contrib        (this brings PyTorch)
    python examples/ppo.py [STEPS]

sb3-contrib asks the environment for `action_masks()`, so no illegal slide is ever tried. This shows how the parts fit
together. An n-tuple network learns far more in the same time: see docs/results.md.
"""

import math
import sys
from typing import Any

import gymnasium

import afterstate.envs


class LogReward(gymnasium.RewardWrapper[Any, Any]):
    """Rewards grow with the tiles; their logarithm suits a neural network better."""

    def reward(self, reward: Any) -> float:
        return math.log2(1 + float(reward)) / 16


def make_env() -> Any:
    """2048 as planes. `afterstate.envs` has registered it."""
    assert afterstate.envs.Twenty48Env is not None
    return LogReward(gymnasium.make("afterstate/2048-v0", observation="onehot"))


def learn(steps: int, *, seed: int = 1, **options: Any) -> Any:
    """A MaskablePPO model that has learned for so many steps."""
    from sb3_contrib import MaskablePPO  # type: ignore[import-not-found,unused-ignore]

    model = MaskablePPO("MlpPolicy", make_env(), seed=seed, verbose=0, **options)
    model.learn(steps)
    return model


def play(model: Any, *, seed: int = 2) -> int:
    """The score of a game."""
    env = make_env()
    observation, info = env.reset(seed=seed)
    over = False
    while not over:
        action, _ = model.predict(observation, action_masks=env.unwrapped.action_masks(), deterministic=False)
        observation, _, over, _, info = env.step(int(action))
    return int(info["score"])


if __name__ == "__main__":
    learned = learn(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
    print(f"scores: {[play(learned, seed=number) for number in range(10)]}")
