"""The Gymnasium environments: clean by Gymnasium's own checker, exact by the rules, and the same games as everywhere else."""

import pickle
import re
import subprocess
import sys
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import afterstate as af
import afterstate.envs
from afterstate.envs import GameVectorEnv, ThreesEnv, Twenty48Env
from afterstate.envs.kernels import NUMBER
from afterstate.games.game import make
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.rng import Purpose, Random

DOCUMENT = Path(__file__).parents[1] / "docs" / "environments.md"
OVER = "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"


def make_env(name: str = "2048", **options: Any) -> Any:
    return gymnasium.make(f"afterstate/{name}-v0", **options).unwrapped


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("2048", {}),
        ("2048", {"observation": "onehot", "size": "3x4", "illegal": "end"}),
        ("Threes", {}),
        ("Threes", {"rules": "tcg2018", "observation": "onehot"}),
        ("Threes", {"rules": "official", "render_mode": "rgb_array"}),
    ],
)
def test_the_checker_of_gymnasium_is_content(name: str, options: dict[str, Any]) -> None:
    """Warnings are errors in these tests."""
    env = gymnasium.make(f"afterstate/{name}-v0", disable_env_checker=False, **options)
    check_env(env.unwrapped, skip_render_check="render_mode" not in options)
    observation, _ = env.reset(seed=3)
    assert env.observation_space.contains(observation)


def test_without_an_import_the_module_is_named_first() -> None:
    assert isinstance(gymnasium.make("afterstate.envs:afterstate/2048-v0").unwrapped, Twenty48Env)


def test_without_an_import_gymnasium_says_what_the_document_says() -> None:
    """In a process that has not imported the environments."""
    code = "import gymnasium; gymnasium.make('afterstate/2048-v0')"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 1
    told = ended.stderr.splitlines()[-1].removeprefix("gymnasium.error.")
    assert told in " ".join(DOCUMENT.read_text().split())


@pytest.mark.parametrize("name", ["2048", "Threes"])
@pytest.mark.parametrize("observation", ["exponents", "onehot"])
def test_a_game_is_that_of_the_rules(name: str, observation: Any) -> None:
    env = make_env(name, observation=observation)
    game, rng, generator = env.game, Random(11, Purpose.EVAL, 0), np.random.default_rng(1)
    shown, info = env.reset(seed=11)
    state, points = game.start(rng), 0
    for _ in range(2000):
        board = shown["board"] if isinstance(shown, dict) else shown
        cells = board.argmax(axis=0) if observation == "onehot" else board
        assert cells.ravel().tolist() == game.cells(state)
        assert observation == "exponents" or (board.sum(axis=0) == 1).all()
        if isinstance(shown, dict):
            assert list(game.next_tiles)[shown["next"]] == game.next_tile(state)
        assert env.state == state
        slid = game.afterstates(state)
        assert info["action_mask"].tolist() == [int(slide in slid) for slide in af.Slide]
        assert env.action_masks().tolist() == [slide in slid for slide in af.Slide]
        assert env.action_masks().dtype == np.bool
        assert info["score"] == game.score(state, points)
        if not slid:
            break
        slide = list(slid)[generator.integers(len(slid))]
        shown, reward, terminated, truncated, info = env.step(int(slide))
        state, points = game.sample(slid[slide], rng), points + slid[slide].reward
        assert (reward, truncated, info["illegal"]) == (slid[slide].reward, False, False)
        assert terminated == game.is_over(state)
    assert game.is_over(state)
    with pytest.raises(ResetNeeded, match="the game is over"):
        env.step(0)


def test_a_network_plays_its_evaluation_through_the_environment() -> None:
    """Resets without a seed go on with the next game of the seed: the games of `evaluate`."""
    game = make("2048", size="3x3")
    network = Network(game, "012,345")
    network.weights[:] = np.random.default_rng(1).normal(size=network.weights.size).astype(np.float32)
    agent, env, scores = Agent(network), make_env(size="3x3"), []
    for number in range(4):
        _, info = env.reset(seed=8 if number == 0 else None)
        over = False
        while not over:
            _, _, over, _, info = env.step(agent.choose(env.state).move)
        scores.append(info["score"])
    assert af.evaluate(agent, games=4, seed=8, threads=1).mean == np.mean(scores)


@pytest.mark.parametrize("illegal", ["ignore", "end", "raise"])
def test_illegal_actions_do_what_was_asked(illegal: Any) -> None:
    env = make_env(illegal=illegal, illegal_reward=-7.0)
    env.reset(seed=1, options={"state": "2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"})
    before = env.get_state()
    if illegal == "raise":
        with pytest.raises(InvalidAction, match="a slide up is illegal on 2 0 0 0"):
            env.step(0)
        assert env.get_state() == before
        return
    _, reward, terminated, _, info = env.step(0)
    assert (reward, terminated, info["illegal"]) == (-7.0, illegal == "end", True)
    assert (env.state, env.get_state().rng, info["score"]) == (before.state, before.rng, 0)  # no tile came


@pytest.mark.parametrize("action", [4, -1, 1.5, "up", None])
def test_what_is_no_action_is_refused(action: Any) -> None:
    env = make_env()
    env.reset(seed=1)
    with pytest.raises(InvalidAction, match="an action is 0"):
        env.step(action)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": "5x5"}, "rows and columns go from 2 to 4"),
        ({"observation": "faces"}, "an observation is one of exponents, onehot, not 'faces'"),
        ({"illegal": "punish"}, "illegal is one of"),
        ({"illegal_reward": float("nan")}, "is a number, not nan"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(af.InputError, match=message):
        make_env(**options)
    with pytest.raises(af.InputError, match=message):
        gymnasium.make_vec("afterstate/2048-v0", num_envs=2, **options)


def test_seeds_and_options_of_reset() -> None:
    env = make_env()
    with pytest.raises(ResetNeeded, match="was never begun"):
        env.step(0)
    one = env.reset(seed=5)[0]
    second = env.reset()[0]
    assert (env.reset(seed=5)[0] == one).all()
    assert (env.reset()[0] == second).all()
    assert len({env.reset(seed=seed)[0].tobytes() for seed in range(50)}) > 40
    unseeded = {make_env().reset()[0].tobytes() for _ in range(8)}
    assert len(unseeded) > 1
    with pytest.raises(af.InputError, match="reset knows the option 'state', not 'board'"):
        env.reset(options={"board": 1})


def test_snapshots_restore_everything() -> None:
    env = make_env("Threes", rules="official")
    env.reset(seed=9)
    generator = np.random.default_rng(2)
    for _ in range(20):
        env.step(int(generator.choice(np.flatnonzero(env.action_masks()))))
    kept = pickle.loads(pickle.dumps(env.get_state()))

    def play_on() -> list[Any]:
        draw = np.random.default_rng(3)
        return [(*env.step(int(draw.choice(np.flatnonzero(env.action_masks()))))[1:3], str(env.state)) for _ in range(10)]

    first, after = play_on(), env.reset()[0]["board"].tolist()
    env.set_state(kept)
    assert (play_on(), env.reset()[0]["board"].tolist()) == (first, after)
    with pytest.raises(af.InputError, match="not of make"):
        env.set_state(make("2048").start(Random(1)))


def test_tiles_above_32768() -> None:
    env = make_env(observation="onehot")
    env.reset(seed=1, options={"state": "65536 65536 0 0 / 32768 0 0 0 / 32768 0 0 0 / 0 0 0 0"})
    observation, reward, *_ = env.step(3)
    assert reward == 131072
    assert env.state.game.cells(env.state)[0] == 17
    assert observation[17, 0, 0] == 1
    assert env.step(0)[1] == 65536
    plain = make_env()
    assert plain.reset(seed=1, options={"state": env.state})[0].max() == 17


def test_chance_outcomes_are_exact() -> None:
    env = make_env(size="2x2")
    env.reset(seed=1, options={"state": "2 2 / 0 0"})
    found = {str(outcome.state): outcome.probability for outcome in env.chance_outcomes(3)}
    assert sum(found.values()) == pytest.approx(1)
    assert found["4 0 / 2 0"] == pytest.approx(0.3)
    assert found["4 0 / 4 0"] == pytest.approx(0.1 / 3)
    assert env.afterstate(3).reward == 4
    assert env.chance_outcomes(0) == [af.Outcome(env.state, 1.0)]  # illegal: nothing happens


def test_rendering(capsys: pytest.CaptureFixture[str]) -> None:
    text = make_env(render_mode="ansi", size="2x2")
    text.reset(seed=1, options={"state": "2 4 / 0 2"})
    assert text.render() == "2 4 / 0 2"
    picture = make_env(render_mode="rgb_array", size="2x2")
    picture.reset(seed=1, options={"state": "2 4 / 0 2"})
    drawn = picture.render()
    assert drawn.shape == (2 * 96 + 3 * 8, 2 * 96 + 3 * 8, 3)
    assert drawn.dtype == np.uint8
    cells = [drawn[16 + row * 104, 16 + column * 104].tolist() for row in (0, 1) for column in (0, 1)]
    assert cells[0] == cells[3] != cells[1]
    assert cells[2] not in (cells[0], cells[1])
    human = make_env("Threes", render_mode="human", size="2x2")
    human.reset(seed=1)
    human.step(int(human.action_masks().argmax()))
    shown = capsys.readouterr().out
    assert shown.count("score ") == 2
    assert "next " in shown
    assert make_env().render() is None
    with pytest.raises(af.InputError, match="a render_mode is one of"):
        Twenty48Env(render_mode="film")


# --- many games ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "threads"), [("2048", 1), ("2048", 2), ("Threes", 1)])
def test_many_games_are_single_games(name: str, threads: int) -> None:
    """Environment i plays games i, i + n, ... of the seed. It needs one step more for each reset."""
    count = 2100 if threads > 1 else 3
    envs = gymnasium.make_vec(f"afterstate/{name}-v0", num_envs=count, threads=threads)
    assert isinstance(envs, GameVectorEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    env, at = make_env(name), 1
    row, _, number = env._row, env.reset(seed=4), at  # the single environment begins game `number` of the seed

    def begin() -> Any:
        row[4] = number - 1
        return env.reset()

    shown, infos = envs.reset(seed=4)
    expected, info = begin()
    ended, resets = False, 0
    for _ in range(400 if threads == 1 else 60):
        board = shown["board"][at] if isinstance(shown, dict) else shown[at]
        assert (board == (expected["board"] if isinstance(expected, dict) else expected)).all()
        if isinstance(shown, dict):
            assert shown["next"][at] == expected["next"]
        assert infos["action_mask"][at].tolist() == info["action_mask"].tolist()
        assert infos["score"][at] == info["score"]
        actions = envs.sample_actions()
        assert not infos["action_mask"][at].any() or infos["action_mask"][at][actions[at]]
        shown, rewards, terminations, truncations, infos = envs.step(actions)
        if ended:
            number, resets, ended = number + count, resets + 1, False
            expected, info = begin()
            assert (rewards[at], terminations[at]) == (0.0, False)
        else:
            expected, reward, ended, _, info = env.step(actions[at])
            assert (rewards[at], terminations[at]) == (reward, ended)
        assert not truncations.any()
    assert resets > 0 or threads > 1
    assert envs.observation_space.contains(shown)


def numbered(name: str, first: int, step: int, **options: Any) -> Any:
    """A single environment whose resets begin games first, first + step, ... of seed 4, as in a vector environment."""
    env, numbers = make_env(name, **options), count(first, step)
    env.reset(seed=4)
    plainly = env.reset

    def reset(*, seed: int | None = None, options: Any = None) -> Any:
        if (number := next(numbers)) == 0:
            return plainly(seed=4)
        env._row[NUMBER] = number - 1
        return plainly()

    env.reset = reset
    return env


def agree(ours: Any, theirs: Any) -> bool:
    """Whether all that one vector environment tells is the same in the other."""
    if isinstance(ours, dict):
        return all(agree(ours[name], theirs[name]) for name in ours)
    if ours is None or theirs is None:
        return ours is theirs
    if isinstance(ours, tuple) or np.asarray(ours).dtype == object:
        return len(ours) == len(theirs) and all(map(agree, ours, theirs))
    return np.array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("name", "options"), [("2048", {"size": "2x2"}), ("Threes", {"size": "2x3"}), ("2048", {"size": "3x3", "illegal": "end"})]
)
def test_a_reset_in_the_same_step_tells_what_gymnasium_tells(name: str, options: dict[str, Any]) -> None:
    """Gymnasium's own vector environment, of single games, agrees in boards, rewards, infos and how games ended."""
    mode, games = AutoresetMode.SAME_STEP, 3
    envs = gymnasium.make_vec(f"afterstate/{name}-v0", num_envs=games, autoreset_mode=mode, **options)
    assert envs.metadata["autoreset_mode"] is mode
    assert GameVectorEnv.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    makers = [partial(numbered, name, first, games, **options) for first in range(games)]
    theirs = SyncVectorEnv(makers, autoreset_mode=mode)
    assert agree(envs.reset(seed=4), theirs.reset())
    generator, ended = np.random.default_rng(1), 0
    for _ in range(150):
        actions = generator.integers(4, size=games)
        told = envs.step(actions)
        assert [agree(*pair) for pair in zip(told, theirs.step(actions), strict=True)] == [True] * 5
        assert told[2].any() == ("final_obs" in told[4])
        ended += int(told[2].sum())
    assert ended > 3


def test_autoreset_modes_have_names() -> None:
    named = gymnasium.make_vec("afterstate/2048-v0", num_envs=1, autoreset_mode="SameStep")
    assert named.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    for wrong in ("sometimes", AutoresetMode.DISABLED):
        with pytest.raises(af.InputError, match="an autoreset_mode is NEXT_STEP or SAME_STEP"):
            gymnasium.make_vec("afterstate/2048-v0", num_envs=1, autoreset_mode=wrong)


def test_random_legal_actions_are_all_equally_likely() -> None:
    envs = gymnasium.make_vec("afterstate/2048-v0", num_envs=20_000)
    envs.reset(seed=1)
    for _ in range(20):
        envs.step(envs.sample_actions())  # type: ignore[attr-defined]
    _, _, _, _, infos = envs.step(envs.sample_actions())  # type: ignore[attr-defined]
    mask = infos["action_mask"]
    actions = envs.sample_actions()  # type: ignore[attr-defined]
    alive = mask.any(axis=1)
    assert mask[alive, actions[alive]].all()
    three = mask.sum(axis=1) == 3
    for missing in range(4):
        some = actions[three & (mask[:, missing] == 0)]
        counts = np.bincount(some, minlength=4)
        assert counts[missing] == 0
        expected = len(some) / 3
        assert (np.abs(np.delete(counts, missing) - expected) < 5 * np.sqrt(expected)).all()


def test_many_games_go_on_after_a_reset_without_a_seed() -> None:
    envs = gymnasium.make_vec("afterstate/2048-v0", num_envs=2, size="2x2", illegal="raise")
    first = envs.reset(seed=1)[0].tolist()
    later = envs.reset()[0].tolist()
    assert envs.reset(seed=1)[0].tolist() == first
    assert envs.reset()[0].tolist() == later
    single = make_env(size="2x2")
    boards = [single.reset(seed=1 if number == 0 else None)[0].tolist() for number in range(4)]
    assert first + later == boards


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0], r"give \(2,\) whole numbers"),
        ([0.0, 1.0], "float64"),
        ([0, 4], "action 1 is 4"),
        ([-1, 0], "action 0 is -1"),
    ],
)
def test_wrong_actions_of_many_games(actions: Any, message: str) -> None:
    envs = gymnasium.make_vec("afterstate/2048-v0", num_envs=2)
    envs.reset(seed=1)
    with pytest.raises(InvalidAction, match=message):
        envs.step(np.array(actions))


def test_many_games_refuse_and_show() -> None:
    envs = gymnasium.make_vec("afterstate/2048-v0", num_envs=2, illegal="raise", render_mode="ansi", size="2x2")
    with pytest.raises(ResetNeeded, match="no game was begun"):
        envs.step(np.array([0, 0]))
    envs.reset(seed=1)
    texts = envs.render()
    assert texts is not None
    assert texts[1] == str(envs.positions[1])  # type: ignore[attr-defined]
    mask = envs.action_masks()  # type: ignore[attr-defined]
    illegal = np.where(mask.all(axis=1), 0, mask.argmin(axis=1))
    if not mask.all():
        with pytest.raises(InvalidAction, match="is illegal on"):
            envs.step(illegal)
    with pytest.raises(af.InputError, match="num_envs is 1 to"):
        gymnasium.make_vec("afterstate/2048-v0", num_envs=0)
    with pytest.raises(af.InputError, match="has no options"):
        envs.reset(options={"state": OVER})


def test_threes_hides_what_its_rules_hide() -> None:
    assert isinstance(ThreesEnv(rules="tcg2018").reset(seed=1)[0], np.ndarray)
    assert set(ThreesEnv().reset(seed=1)[0]) == {"board", "next"}
    assert ThreesEnv(rules="official").observation_space["next"].n == 4  # type: ignore[index]


# --- examples -------------------------------------------------------------------------------------------------------------


def load_example(name: str) -> Any:
    spec = spec_from_file_location(name, Path(__file__).parents[1] / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_of_a_network_scores_what_evaluate_says() -> None:
    game = make("2048", size="3x3")
    network = Network(game, "012,345")
    network.weights[:] = np.random.default_rng(1).normal(size=network.weights.size).astype(np.float32)
    example = load_example("gym_network")
    scores = example.play(network, 5, seed=3)
    assert example.play_many(network, 5, seed=3) == scores
    assert af.evaluate(Agent(network), games=5, seed=3, threads=1).mean == np.mean(scores)


def test_the_example_of_maskable_ppo_learns_a_few_steps() -> None:
    pytest.importorskip("sb3_contrib", reason="needs sb3-contrib, which brings PyTorch")
    example = load_example("ppo")
    model = example.learn(256, n_steps=64, batch_size=32, n_epochs=1)
    assert model.num_timesteps == 256
    assert example.play(model) > 0


def test_the_code_of_the_document_runs(capsys: pytest.CaptureFixture[str]) -> None:
    programs = re.findall(r"^```python\n(.*?)^```", DOCUMENT.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert len(programs) == 2
    for program in programs:
        exec(compile(program, "docs/environments.md", "exec"), {})
    assert int(capsys.readouterr().out) > 0
