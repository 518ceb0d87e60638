"""A trained network plays through the Gymnasium environment, and scores what `evaluate` says.

    python examples/gym_network.py MODEL [GAMES]

Needs `pip install 'afterstate[gym]'`. The network is asked about the environment's own state, so nothing is converted.
"""

import sys
from typing import Any

import gymnasium

import afterstate as af
import afterstate.envs


def play(network: af.Network, games: int, seed: int = 1) -> list[int]:
    """The scores of some games."""
    env: Any = gymnasium.make("afterstate/2048-v0", size=str(network.game.shape)).unwrapped
    agent, scores = af.Agent(network), []
    for number in range(games):
        _, info = env.reset(seed=seed if number == 0 else None)
        over = False
        while not over:
            _, _, over, _, info = env.step(agent.choose(env.state).move)
        scores.append(info["score"])
    return scores


def play_many(network: af.Network, games: int, seed: int = 1) -> list[int]:
    """The same games at once: all positions are valued in one call a step. One game for each environment."""
    envs: Any = gymnasium.make_vec("afterstate/2048-v0", num_envs=games, size=str(network.game.shape))
    agent = af.Agent(network)
    _, infos = envs.reset(seed=seed)
    scores = [0] * games
    open_games = set(range(games))
    while open_games:
        moves = agent.choose_many(envs.positions).moves.clip(min=0)
        _, _, ended, _, infos = envs.step(moves)
        for number in ended.nonzero()[0].tolist():
            if number in open_games:
                open_games.remove(number)
                scores[number] = int(infos["score"][number])
    return scores


if __name__ == "__main__":
    loaded = af.load(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    found = play_many(loaded, count)
    print(f"{afterstate.envs.__name__}: mean {sum(found) / count:,.0f} of {count} games")
