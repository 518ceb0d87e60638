"""Adapters, so that `afterstate conformance` can judge environments that are not Gymnasium's.

    pip install pgx       && afterstate conformance examples.referee:Pgx
    pip install jumanji   && afterstate conformance examples.referee:Jumanji
    pip install gymnasium-2048 && afterstate conformance examples.referee:Gymnasium2048

An adapter has `reset` and `step` as in Gymnasium. `read_board` says where the exponents are, if they are not found by
themselves; `set_board` lets the referee try tiles that random games never reach.
"""

from typing import Any

import numpy as np


class Pgx:
    """pgx is functional: the state goes in and comes out, and a key decides the new tile."""

    def __init__(self) -> None:
        import jax  # type: ignore[import-not-found,unused-ignore]
        import pgx  # type: ignore[import-not-found,unused-ignore]

        env = pgx.make("2048")
        self._jax, self._init, self._step = jax, jax.jit(env.init), jax.jit(env.step)
        self._key, self._state = jax.random.PRNGKey(0), None

    def reset(self, *, seed: int) -> tuple[Any, dict[str, Any]]:
        self._key, first = self._jax.random.split(self._jax.random.PRNGKey(seed))
        self._state = self._init(first)
        return self._show()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._key, key = self._jax.random.split(self._key)
        state: Any = self._step(self._state, action, key)
        self._state = state
        shown, info = self._show()
        return shown, float(state.rewards[0]), bool(state.terminated), False, info

    def _show(self) -> tuple[Any, dict[str, Any]]:
        state: Any = self._state
        return np.asarray(state.observation), {"action_mask": np.asarray(state.legal_action_mask)}

    def read_board(self, observation: Any, info: Any) -> Any:  # noqa: ARG002
        """(4, 4, 31) planes; plane 0 is an empty cell."""
        return observation.argmax(axis=2)


class Jumanji:
    """jumanji is functional, too."""

    def __init__(self) -> None:
        import jax
        import jumanji  # type: ignore[import-not-found,unused-ignore]

        env = jumanji.make("Game2048-v1")
        self._mask_of = env.unwrapped._get_action_mask
        self._jax, self._reset, self._step = jax, jax.jit(env.reset), jax.jit(env.step)
        self._state: Any = None

    def reset(self, *, seed: int) -> tuple[Any, dict[str, Any]]:
        self._state, timestep = self._reset(self._jax.random.PRNGKey(seed))
        return self._show(timestep)

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._state, timestep = self._step(self._state, action)
        shown, info = self._show(timestep)
        return shown, float(timestep.reward), bool(timestep.last()), False, info

    def _show(self, timestep: Any) -> tuple[Any, dict[str, Any]]:
        seen = timestep.observation
        return np.asarray(seen.board), {"action_mask": np.asarray(seen.action_mask)}

    def set_board(self, exponents: Any) -> None:
        board = self._jax.numpy.asarray(exponents, self._state.board.dtype)
        self._state = self._state.replace(board=board, action_mask=self._mask_of(board))  # it trusts its mask


class Gymnasium2048:
    """It is found by its id, too; here its board can be set."""

    def __init__(self) -> None:
        import gymnasium
        import gymnasium_2048  # type: ignore[import-not-found,unused-ignore]

        assert gymnasium_2048 is not None
        self._env: Any = gymnasium.make("gymnasium_2048/TwentyFortyEight-v0", max_pow=18).unwrapped

    def reset(self, *, seed: int) -> Any:
        return self._env.reset(seed=seed)

    def step(self, action: int) -> Any:
        return self._env.step(action)

    def set_board(self, exponents: Any) -> None:
        self._env.board = np.asarray(exponents, np.uint8)
