"""What each cut of a search costs: the regret tables in docs/search.md.

    python benchmarks/regret.py RUN [--downgrade TILE] [--games 6] [--every 15]

Positions are taken from games at depth 2, one in `--every` moves. *Regret* is how much less the chosen slide is worth than the
best one, in points a move, by the exact search of depth 3. Times are relative to that search. Takes a few minutes, one thread.
"""

import argparse
from typing import Any

import numpy as np

import afterstate as af

EXACT: dict[str, Any] = {"depth": 3, "exact": True}
CUTS: dict[str, list[dict[str, Any]]] = {
    "2048": [
        {"rare": 0.5, "cutoff": 0.0},
        {"cutoff": 0.02, "rare": 0.0},
        {"cutoff": 0.02, "rare": 0.5},
        *({"cutoff": 0.02, "rare": 0.5, "width": width} for width in (3, 2, 1)),
        *({"cutoff": 0.02, "rare": 0.5, "calm": calm} for calm in (6, 5, 4)),
        {"cutoff": 0.12, "rare": 0.5},
        {"cutoff": 0.12, "rare": 0.5, "calm": 6},
        {"cutoff": 0.12, "rare": 0.5, "calm": 6, "width": 2},
        {"cutoff": 0.2, "rare": 0.5},
    ],
    "threes": [
        {"rare": 0.5, "cutoff": 0.0},
        {"cutoff": 0.02, "rare": 0.5},
        {"cutoff": 0.05, "rare": 0.5},
        {"cutoff": 0.02, "rare": 0.5, "width": 2},
        {"cutoff": 0.02, "rare": 0.5, "width": 2, "calm": 4},
    ],
}


def positions(network: af.Network, games: int, every: int, **more: Any) -> list[af.State]:
    """States with a choice, from games that training never saw."""
    agent = af.Agent(network, depth=2, exact=True, **more)
    found = []
    for number in range(games):
        rng = af.Random(200 + number)
        record = agent.play_on(network.game.start(rng), rng, moves=network.game.longest)
        states = zip(record.boards[:-1:every].tolist(), record.extras[:-1:every].tolist(), strict=True)
        found += [state for board, extra in states if len(network.game.afterstates(state := af.State(board, extra))) > 1]
    return found


def measure(network: af.Network, states: list[af.State], **options: Any) -> tuple[list[af.Choice], float, float]:
    """What a search chooses -> choices, leaves a move, seconds a move."""
    agent = af.Agent(network, **options)
    agent.prepare()
    choices = [agent.choose(state) for state in states]
    searches = [choice.search for choice in choices if choice.search is not None]
    return choices, float(np.mean([one.leaves for one in searches])), float(np.mean([one.times["max"] for one in searches]))


def regret(judge: af.Choice, choice: af.Choice) -> float:
    assert choice.move is not None
    return max(value for value in judge.values.values() if value is not None) - (judge.values[choice.move] or 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--downgrade", type=int, default=0)
    parser.add_argument("--games", type=int, default=6)
    parser.add_argument("--every", type=int, default=15)
    given = parser.parse_args()
    network = af.load(given.run)
    more = {"downgrade": given.downgrade}
    states = positions(network, given.games, given.every, **more)
    judges, leaves, seconds = measure(network, states, **EXACT, **more)
    print(f"{len(states)} positions of {network.game.name} ({network.game.rules})")
    print(f"{'depth 3, exact':44} regret {0.0:7.1f}  leaves {leaves:7.0f}  time 1 ({1e6 * seconds:.0f} us)")
    whole = {"cutoff": 0.0, "rare": 0.0, "calm": 0, "width": 0}
    for cuts in [None, *CUTS[network.game.name]]:
        options = {"depth": 2, "exact": True} if cuts is None else {"depth": 3, **whole, **cuts}
        choices, leaves, taken = measure(network, states, **options, **more)
        mean = np.mean([regret(judge, choice) for judge, choice in zip(judges, choices, strict=True)])
        name = "depth 2" if cuts is None else ", ".join(f"{option} {value}" for option, value in cuts.items())
        print(f"{name:44} regret {mean:7.1f}  leaves {leaves:7.0f}  time {taken / seconds:.2f}", flush=True)


if __name__ == "__main__":
    main()
