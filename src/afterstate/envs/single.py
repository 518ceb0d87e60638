"""One game as a Gymnasium environment."""

from dataclasses import dataclass
from typing import Any, ClassVar, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import InvalidAction, ResetNeeded
from numpy.typing import NDArray

from afterstate.envs.drawing import draw_board, print_board
from afterstate.envs.kernels import (
    ACTION,
    BOARD,
    EXTRA,
    LEGAL,
    NUMBER,
    OVER,
    POINTS,
    REWARD,
    RNG,
    ROW,
    SCORE,
    SEED,
    SHOWN,
    STEPS,
    WHOLE,
    begin_all,
    look_around_all,
    make_memory,
    play_one,
    show_one,
)
from afterstate.envs.rules import EVAL_SEEDS, EnvRules, Illegal, Observing, as_seed
from afterstate.errors import InputError
from afterstate.games.game import Afterstate, Game, Outcome, Slide, State, make

MASKS = [np.array([bits >> slide & 1 for slide in range(4)], np.int8) for bits in range(16)]  # by the legal bits


@dataclass(frozen=True)
class Snapshot:
    """Everything that decides how a game goes on."""

    state: State
    rng: int  # of the next new tile
    rewards: int  # sum of the slides' rewards so far
    steps: int
    over: bool
    seed: int
    number: int  # of the game: the next one without a seed has the next number


class GameEnv(gymnasium.Env[Any, int]):
    """Any game as an environment; `Twenty48Env` and `ThreesEnv` say what it does."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi", "rgb_array", "human"], "render_fps": 4}  # type: ignore[misc]

    def __init__(
        self,
        game: Game,
        *,
        observation: Observing = "exponents",
        illegal: Illegal = "ignore",
        illegal_reward: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise InputError(f"a render_mode is one of {', '.join(self.metadata['render_modes'])}, not {render_mode!r}")
        self.game = game
        self.render_mode = render_mode
        self._rules = EnvRules(game, observation, illegal, illegal_reward)
        self.observation_space = self._rules.space
        self.action_space = spaces.Discrete(4)  # type: ignore[assignment]
        self._memory = make_memory(1, ROW + 2)
        self._row = self._memory[0]
        self._shown = self._row[SHOWN : SHOWN + 2].view(np.uint8)  # exponents, if they are what is observed
        if self._rules.settings[WHOLE]:
            self._shown = self._shown.reshape(4, 4)
        self._whole = bool(self._rules.settings[WHOLE])
        self._begun = False
        self._legal, self._over = 0, True  # as in the row, at hand

    # --- the interface of Gymnasium ------------------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a game. With a seed it is game 0 of that seed; without, the next game of the last seed."""
        row = self._row
        super().reset(seed=seed)
        if seed is not None:
            row[SEED], row[NUMBER] = as_seed(seed), 0
        elif not self._begun:
            row[SEED], row[NUMBER] = int(self.np_random.integers(EVAL_SEEDS)), 0
        else:
            row[NUMBER] += np.uint64(1)
        begin_all(self.game.tables, self._memory)
        self._begun = True
        unknown = set(options or {}) - {"state"}
        if unknown:
            raise InputError(f"reset knows the option 'state', not {', '.join(sorted(map(repr, unknown)))}")
        if options and "state" in options:
            self.set_state(options["state"])
        if self.render_mode == "human":
            self.render()
        self._look()
        return self._observe(), self._info(illegal=False)

    def step(self, action: int) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Slide, and draw the new tile."""
        row = self._row
        if self._over:
            raise ResetNeeded("the game is over, or was never begun: call reset()")
        if action not in (0, 1, 2, 3):
            raise InvalidAction(f"an action is 0 (up), 1 (right), 2 (down) or 3 (left), not {action!r}")
        legal = self._legal >> int(action) & 1
        if legal:
            row[ACTION] = action
            play_one(self.game.tables, row)
            self._legal, over, score, _, reward = row[LEGAL : REWARD + 1].tolist()
            self._over = bool(over)
        else:
            reward, score = self._refuse(int(action)), self.score
        if self.render_mode == "human":
            self.render()
        info = {"action_mask": MASKS[0 if self._over else self._legal].copy(), "score": score, "illegal": not legal}
        return self._observe(), float(reward), self._over, False, info

    def _refuse(self, action: int) -> float:
        """What an illegal action does -> its reward."""
        rules, row = self._rules, self._row
        if rules.illegal == "raise":
            raise InvalidAction(f"a slide {Slide(action)} is illegal on {self.state}")
        row[STEPS] += np.uint64(1)
        if rules.illegal == "end":
            row[OVER], self._over = 1, True
        return rules.illegal_reward

    def action_masks(self) -> NDArray[np.bool]:
        """(4,) which actions are legal, as sb3-contrib's MaskablePPO asks for it."""
        return MASKS[0 if self._over else self._legal].astype(np.bool)

    def render(self) -> Any:
        """The board as text (ansi), as a picture (rgb_array), or printed on the terminal (human)."""
        if self.render_mode == "ansi":
            return str(self.state)
        if self.render_mode == "rgb_array":
            return draw_board(self.game, self.state)
        if self.render_mode == "human":
            print_board(self.game, self.state, self.score)
        return None

    # --- what games can do besides ---------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """The position, as the rest of Afterstate understands it."""
        return State(int(self._row[BOARD]), int(self._row[EXTRA]), game=self.game)

    @property
    def score(self) -> int:
        """The score so far."""
        return int(self._row[SCORE])

    def get_state(self) -> Snapshot:
        """Everything that decides how the game goes on, also the next tiles."""
        row = self._row
        return Snapshot(
            self.state, int(row[RNG]), int(row[POINTS]), int(row[STEPS]), bool(row[OVER]), int(row[SEED]), int(row[NUMBER])
        )

    def set_state(self, state: "Snapshot | State | str") -> None:
        """Go back to a snapshot; or to a state (or its text), with points from 0 and the random numbers as they are."""
        row, found = self._row, state
        if isinstance(found, Snapshot):
            found = found.state
        if isinstance(found, str):
            found = self.game.parse(found)
        words = self.game.from_array([found])
        row[BOARD], row[EXTRA] = words.boards[0], words.extras[0]
        row[POINTS] = row[STEPS] = 0
        if isinstance(state, Snapshot):
            row[RNG], row[POINTS], row[STEPS] = state.rng, state.rewards, state.steps
            row[SEED], row[NUMBER] = state.seed, state.number
        elif not self._begun:
            row[SEED] = row[RNG] = int(self.np_random.integers(EVAL_SEEDS))
        self._begun = True
        look_around_all(self.game.tables, self._memory)
        if isinstance(state, Snapshot) and state.over:
            row[OVER] = 1
        self._look()

    def afterstate(self, action: int) -> Afterstate | None:
        """What an action leads to before the new tile comes; None if it is illegal."""
        return self.game.slide(self.state, action)

    def chance_outcomes(self, action: int) -> list[Outcome]:
        """Every state that an action may lead to, with its exact probability; the state itself if it is illegal."""
        slid = self.afterstate(action)
        return [Outcome(self.state, 1.0)] if slid is None else self.game.outcomes(slid)

    # --- parts -----------------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Take over what the row says, after anything but a step."""
        self._legal, self._over = int(self._row[LEGAL]), bool(self._row[OVER])
        show_one(self._row)

    def _observe(self) -> Any:
        if self._whole:
            return self._shown.copy()
        boards, following = self._rules.show(self._memory)
        return boards[0] if following is None else {"board": boards[0], "next": following[0]}

    def _info(self, *, illegal: bool) -> dict[str, Any]:
        mask = MASKS[0 if self._over else self._legal].copy()
        return {"action_mask": mask, "score": self.score, "illegal": illegal}


class Twenty48Env(GameEnv):
    """2048 as an environment, `afterstate/2048-v0`.

    ## Description
    Tiles slide as far as they can; two equal ones that meet become one of twice the value. After each slide a new tile
    comes on a random empty cell: a 2, or a 4 one time in ten. The game is over when no slide changes the board.

    ## Action Space
    `Discrete(4)`: 0 up, 1 right, 2 down, 3 left. `info["action_mask"]` (int8, as `action_space.sample(mask)` takes it) and
    `action_masks()` (bool, as sb3-contrib takes it) say which are legal.

    ## Observation Space
    With `observation="exponents"`, `Box(0, 17, (4, 4), uint8)`: 0 is an empty cell, k is the tile `2**k`. Tiles go up to
    131072, the largest that fits. With `observation="onehot"`, `Box(0, 1, (18, 4, 4), uint8)`: plane k is 1 where the
    tile is `2**k`, plane 0 where the cell is empty.

    ## Rewards
    The sum of the tiles that merges made, as in the original game. Rewards of a game add up to its score.

    ## Starting State
    Two tiles on random cells. `reset(seed=s)` is game 0 of the seed, and each reset without a seed is the next one: the
    games of `afterstate.evaluate(..., seed=s)`, tile for tile if the slides are the same. `reset(options={"state": ...})`
    begins with a state, given as a State or as text.

    ## Episode End
    `terminated` when no slide is legal. Nothing is truncated; `gymnasium.make(..., max_episode_steps=...)` does that.

    ## Arguments
    * `size`: "2x2" to "4x4".
    * `observation`: "exponents" or "onehot".
    * `illegal`: what an illegal action does. "ignore" changes nothing, and no tile comes; "end" terminates the episode;
      "raise" is an error.
    * `illegal_reward`: the reward of an illegal action, 0 if not given.
    * `render_mode`: "ansi" (text), "rgb_array" (a picture) or "human" (printed on the terminal).

    `info` has `action_mask`, `score` and `illegal`, whether the action was. `get_state()` and `set_state()` save and restore a
    game with its random numbers. `chance_outcomes(action)` lists all next states with their exact probabilities.

    ## Version History
    * v0: first version
    """

    def __init__(self, *, size: str = "4x4", **options: Any) -> None:
        super().__init__(make("2048", size=size), **options)


class ThreesEnv(GameEnv):
    """Threes! as an environment, `afterstate/Threes-v0`.

    ## Description
    Each line moves by one cell; 1 and 2 make 3, equal tiles from 3 on merge. The new tile enters at the wall that the slide
    left. Which tile comes next is shown, under most rules.

    ## Action Space
    `Discrete(4)`: 0 up, 1 right, 2 down, 3 left, with masks as in 2048.

    ## Observation Space
    `Dict`: "board" is `Box(0, 14, (4, 4), uint8)` of tile indices (0 empty, 1 2 3 are these tiles, then 4 is 6, 5 is 12, up
    to 14 is 6144), or planes of them; "next" is the number of the next tile in `game.next_tiles`: 0, 1, 2 for the tiles 1, 2,
    3, and 3 for a bonus tile. Rules that hide the next tile have the board alone. Under the rules "official" there is a tile
    15, too.

    ## Rewards
    What the slide adds to the worth of the board: a tile of index i from 3 on is worth 3**(i - 2). New tiles add theirs to
    the score (`info["score"]`), but not to the rewards.

    ## Starting State
    Nine tiles on random cells (fewer on small boards). Seeds and `options` are as in 2048.

    ## Episode End
    `terminated` when no slide is legal.

    ## Arguments
    * `rules`: "tcg2022" (if not given), "tcg2018", "tcg2018-bonus" or "official".
    * `size`, `observation`, `illegal`, `illegal_reward` and `render_mode` are as in 2048.

    ## Version History
    * v0: first version
    """

    def __init__(self, *, rules: str | None = None, size: str = "4x4", **options: Any) -> None:
        super().__init__(make("threes", rules=rules, size=size), **options)
