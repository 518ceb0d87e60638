"""Speed of arrays and environments, one figure a command; steps and boards are counted per CPU second of one thread.

    python benchmarks/envs.py single      steps of afterstate/2048-v0 through gymnasium.make, random legal play
    python benchmarks/envs.py peer        the same of gymnasium-2048 (pip install gymnasium-2048), with its legal actions
    python benchmarks/envs.py vector      steps of the vector environment, random legal play
    python benchmarks/envs.py values      microseconds a board of network.values, a million boards, one thread

Compare two of them in turn on a machine that does other things, too.
"""

import argparse
import time
from typing import Any

import gymnasium
import numpy as np


def play(env: Any, seconds: float, legal: Any) -> float:
    """Random legal play through a single environment -> steps a CPU second."""
    draw, steps = np.random.default_rng(1).random, 0
    _, info = env.reset(seed=1)
    began = time.process_time()
    while time.process_time() - began < seconds:
        for _ in range(200):
            actions = legal(info)
            _, _, over, _, info = env.step(actions[int(draw() * len(actions))])
            steps += 1
            if over:
                _, info = env.reset()
    return steps / (time.process_time() - began)


def single(seconds: float) -> str:
    import afterstate.envs

    env = gymnasium.make("afterstate/2048-v0")
    by_bits = {bytes(mask): [slide for slide in range(4) if mask[slide]] for mask in np.ndindex(2, 2, 2, 2)}

    def legal(info: Any) -> list[int]:
        return by_bits[info["action_mask"].tobytes()]

    play(env, 0.2, legal)
    return f"single: {play(env, seconds, legal):.0f} steps a CPU second ({afterstate.envs.__name__})"


def peer(seconds: float) -> str:
    import gymnasium_2048  # type: ignore[import-not-found]

    env = gymnasium.make("gymnasium_2048/TwentyFortyEight-v0")
    slid: Any = env.unwrapped.apply_action  # type: ignore[attr-defined]

    def legal(info: Any) -> list[int]:
        return [slide for slide in range(4) if slid(info["board"], slide)[2]]

    play(env, 0.2, legal)
    return f"peer: {play(env, seconds, legal):.0f} steps a CPU second ({gymnasium_2048.__name__})"


def vector(seconds: float, count: int = 2048) -> str:
    import afterstate.envs

    envs: Any = gymnasium.make_vec("afterstate/2048-v0", num_envs=count)
    envs.reset(seed=1)
    steps, began = 0, 0.0
    for number in range(10**9):
        if number == 200:
            steps, began = 0, time.process_time()
        envs.step(envs.sample_actions())
        steps += count
        if number > 200 and time.process_time() - began > seconds:
            break
    spent = time.process_time() - began
    return f"vector: {steps / spent / 1e6:.2f} M steps a CPU second, {count} games at once ({afterstate.envs.__name__})"


def values(seconds: float, count: int = 1_000_000) -> str:
    import afterstate as af
    import afterstate.envs
    from afterstate.network.network import Network

    envs: Any = gymnasium.make_vec("afterstate/2048-v0", num_envs=4096)
    envs.reset(seed=1)
    boards = []
    while 4096 * len(boards) < count:
        envs.step(envs.sample_actions())
        boards.append(envs.positions.boards)
    game = af.make("2048")
    network = Network(game, "4x6")
    network.weights[:] = np.random.default_rng(1).normal(size=network.weights.size)
    words = np.concatenate(boards)[:count]
    network.values(words)
    spent, rounds = 0.0, 0
    while spent < seconds:
        began = time.process_time()
        network.values(words)
        spent, rounds = spent + time.process_time() - began, rounds + 1
    cells = game.to_array(words)
    network.values(cells)
    began = time.process_time()
    network.values(cells)
    by_cells = time.process_time() - began
    any_board = game.from_array(np.random.default_rng(2).integers(0, 12, (count, 16)))
    began = time.process_time()
    network.values(any_board)
    scattered = time.process_time() - began
    each = spent / rounds / count * 1e6
    return (
        f"values: {each:.4f} us a board from words, {by_cells / count * 1e6:.4f} from (n, 4, 4) cells; "
        f"{scattered / count * 1e6:.4f} if all tiles are random ({afterstate.envs.__name__})"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["single", "peer", "vector", "values"])
    parser.add_argument("--seconds", type=float, default=3.0)
    given = parser.parse_args()
    print({"single": single, "peer": peer, "vector": vector, "values": values}[given.what](given.seconds))
