"""Many games as one Gymnasium vector environment, on the kernels."""

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from afterstate.envs.drawing import draw_board
from afterstate.envs.kernels import (
    BOARD,
    EXTRA,
    NUMBER,
    RESETS,
    SCORE,
    SEED,
    STRIDE,
    advance,
    begin_all,
    draw_legal,
    find_illegal,
    find_wrong,
    make_memory,
    write_masks,
)
from afterstate.envs.rules import EVAL_SEEDS, EnvRules, Illegal, Observing, as_seed
from afterstate.errors import InputError
from afterstate.games.arrays import Positions
from afterstate.games.game import Game, State, make
from afterstate.rng import Purpose, Random
from afterstate.threads import count_threads, share_out

Rows = NDArray[np.uint64]  # the memory of some games, a row each
MOST = 1 << 24  # games at once: a row has 192 bytes


class GameVectorEnv(VectorEnv[Any, Any, Any]):
    """Many games of one kind, one slide each a step. Options, spaces and rewards are those of the single environment.

    `autoreset_mode` says when the next game begins. NEXT_STEP (if not given): the step after a game has ended ignores its
    action, begins the next game, and has reward 0. SAME_STEP: the step that ends a game shows the first board of the next one.
    How a game ended is told as Gymnasium's own vector environments do: its last observation is in `infos["final_obs"]`, its
    mask and score are in `infos["final_info"]`, and `infos["_final_obs"]` is True where one has ended.

    `reset(seed=s)` begins games 0 .. n - 1 of the seed; environment i goes on with i + n, i + 2n, and so on. So results do not
    depend on `threads`. `infos` has `action_mask` (n, 4) int8 and `score` (n,).
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 4,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        game: Game,
        num_envs: int = 1,
        *,
        observation: Observing = "exponents",
        illegal: Illegal = "ignore",
        illegal_reward: float = 0.0,
        render_mode: str | None = None,
        threads: int | None = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        if not 1 <= num_envs <= MOST:
            raise InputError(f"num_envs is 1 to {MOST}, not {num_envs}")
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise InputError(f"a render_mode is one of {', '.join(self.metadata['render_modes'])}, not {render_mode!r}")
        self.game, self.num_envs, self.render_mode = game, num_envs, render_mode
        self.autoreset_mode = _read_mode(autoreset_mode)
        self.metadata = self.metadata | {"autoreset_mode": self.autoreset_mode}  # type: ignore[misc]
        self._rules = EnvRules(game, observation, illegal, illegal_reward)
        self._rules.settings[RESETS], self._rules.settings[STRIDE] = 1, num_envs
        self.single_observation_space = self._rules.space
        self.single_action_space = spaces.Discrete(4)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._threads = count_threads(threads)
        self._memory = make_memory(num_envs)
        self._begun = False
        self._random = Random(0)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin all games anew. Without a seed, they are the next games of the last one."""
        if options:
            raise InputError(f"reset of a vector environment has no options, not {', '.join(map(repr, options))}")
        super().reset(seed=seed)
        if seed is None and self._begun:
            numbers = self._memory[:, NUMBER]
            first = (int(numbers.max()) // self.num_envs + 1) * self.num_envs
        else:
            drawn = int(self.np_random.integers(EVAL_SEEDS)) if seed is None else as_seed(seed)
            self._memory[:, SEED], first = drawn, 0
            self._random = Random(drawn, Purpose.PLAY)
        self._memory[:, NUMBER] = np.arange(first, first + self.num_envs, dtype=np.uint64)
        begin_all(self.game.tables, self._memory)
        self._begun = True
        return self._observe(), self._infos()

    def step(self, actions: Any) -> tuple[Any, NDArray[np.float64], NDArray[np.bool], NDArray[np.bool], dict[str, Any]]:
        """One slide in each game."""
        chosen = self._read(actions)
        rewards, ended = np.empty(self.num_envs), np.empty(self.num_envs, np.bool)
        rules, tables = self._rules, self.game.tables

        def work(thread: int, start: int, end: int) -> None:
            at = slice(start, end)
            advance(
                tables, self._memory[at], chosen[at], rules.settings, rules.illegal_reward, rewards[at], ended[at]
            )  # fmt: skip

        share_out(work, self.num_envs, self._threads)
        final = self._start_again(ended) if self.autoreset_mode is AutoresetMode.SAME_STEP and ended.any() else {}
        return self._observe(), rewards, ended, np.zeros(self.num_envs, np.bool), self._infos() | final

    def _start_again(self, ended: NDArray[np.bool]) -> dict[str, Any]:
        """Begin the next game where one has ended -> how those ended, in Gymnasium's form."""
        over = np.flatnonzero(ended)
        rows = self._memory[over]
        shown = np.full(self.num_envs, None, object)
        last = self._observe(rows)
        for place, at in enumerate(over):
            shown[at] = {name: part[place] for name, part in last.items()} if isinstance(last, dict) else last[place]
        told: dict[str, Any] = {}
        for name, values in self._infos(rows).items():
            told[name] = np.zeros((self.num_envs, *values.shape[1:]), values.dtype)
            told[name][over], told[f"_{name}"] = values, ended.copy()
        rows[:, NUMBER] += np.uint64(self.num_envs)
        begin_all(self.game.tables, rows)
        self._memory[over] = rows
        return {"final_obs": shown, "_final_obs": ended.copy(), "final_info": told, "_final_info": ended.copy()}

    def sample_actions(self) -> NDArray[np.int64]:
        """(n,) random legal actions, all equally likely, by random numbers of their own that the seed decides."""
        actions = np.empty(self.num_envs, np.int64)
        self._random.state = np.uint64(draw_legal(self._memory, self._random.state, actions))
        return actions

    def action_masks(self) -> NDArray[np.bool]:
        """(n, 4) which actions are legal."""
        masks: NDArray[np.int8] = self._infos()["action_mask"]
        return masks.astype(np.bool)

    @property
    def positions(self) -> Positions:
        """The positions of all games, for `network.values` and `agent.choose_many`."""
        return Positions(self.game, self._memory[:, BOARD].copy(), self._memory[:, EXTRA].copy())

    def render(self) -> Any:
        """All boards, as text (ansi) or as pictures (rgb_array)."""
        states: list[State] = list(self.positions)
        if self.render_mode == "ansi":
            return tuple(str(state) for state in states)
        return tuple(draw_board(self.game, state) for state in states) if self.render_mode == "rgb_array" else None

    def _read(self, actions: Any) -> NDArray[np.int64]:
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise InvalidAction(f"give ({self.num_envs},) whole numbers, an action each, not {chosen.dtype} {chosen.shape}")
        if not self._begun:
            raise ResetNeeded("no game was begun: call reset()")
        chosen = np.ascontiguousarray(chosen, np.int64)
        if (at := find_wrong(chosen)) >= 0:
            raise InvalidAction(f"action {at} is {chosen[at]}; actions are 0 (up), 1 (right), 2 (down) and 3 (left)")
        if self._rules.illegal == "raise" and (at := find_illegal(self._memory, chosen)) >= 0:
            raise InvalidAction(f"action {chosen[at]} of game {at} is illegal on {self.positions[at]}")
        return chosen

    def _observe(self, rows: Rows | None = None) -> Any:
        boards, following = self._rules.show(self._memory if rows is None else rows)
        return boards if following is None else {"board": boards, "next": following}

    def _infos(self, rows: Rows | None = None) -> dict[str, Any]:
        found = self._memory if rows is None else rows
        masks = np.empty((len(found), 4), np.int8)
        write_masks(found, masks)
        return {"action_mask": masks, "score": found[:, SCORE].astype(np.int64)}


def _read_mode(given: AutoresetMode | str) -> AutoresetMode:
    """An autoreset mode, or its name as Gymnasium writes it: "SameStep"."""
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        if given in (mode, mode.value):
            return mode
    raise InputError(f"an autoreset_mode is NEXT_STEP or SAME_STEP, not {given!r}")


class Twenty48VectorEnv(GameVectorEnv):
    """Many games of 2048: `gymnasium.make_vec("afterstate/2048-v0", num_envs=1024)`."""

    def __init__(self, num_envs: int = 1, *, size: str = "4x4", **options: Any) -> None:
        super().__init__(make("2048", size=size), num_envs, **options)


class ThreesVectorEnv(GameVectorEnv):
    """Many games of Threes!: `gymnasium.make_vec("afterstate/Threes-v0", num_envs=1024)`."""

    def __init__(self, num_envs: int = 1, *, rules: str | None = None, size: str = "4x4", **options: Any) -> None:
        super().__init__(make("threes", rules=rules, size=size), num_envs, **options)
