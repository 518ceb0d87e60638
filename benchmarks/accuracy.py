"""Does the coach's accuracy tell strong from weak play? The table of docs/page.md.

    python benchmarks/accuracy.py MODEL... [--games 30] [--plies 30,100] [--seed 100]

Each model reviews games of four players: random slides, the slide with the largest reward, and the model itself at depths 1 and
3. All four meet the same random numbers. `--plies` adds columns for what a review of only the first moves would say. A column
in which a stronger player has less than a weaker one is marked.
"""

import argparse
from dataclasses import replace

import numpy as np

import afterstate as af
from afterstate.engine.record import Record
from afterstate.games.game import Game, Slide, State
from afterstate.play.players import NetworkPlayer, Player, RandomEnvironment, RandomPlayer, play_episode
from afterstate.play.review import review


class Greedy(Player):
    """Makes the slide with the largest reward."""

    name = "greedy"

    def choose(self, game: Game, state: State) -> Slide:
        slid = game.afterstates(state)
        return max(slid, key=lambda slide: slid[slide].reward)


def make_players(network: af.Network, seed: int) -> list[tuple[str, Player]]:
    """The four players, the weakest first."""
    return [
        ("random", RandomPlayer(seed)),
        ("greedy", Greedy()),
        ("depth 1", NetworkPlayer(network, depth=1)),
        ("depth 3", NetworkPlayer(network, depth=3)),
    ]


def begin_of(record: Record, plies: int) -> Record:
    """The first moves of a game."""
    return replace(
        record, boards=record.boards[: plies + 1], extras=record.extras[: plies + 1], after=record.after[:plies],
        slides=record.slides[:plies], rewards=record.rewards[:plies],
    )  # fmt: skip


def measure(network: af.Network, records: list[Record], lengths: list[int]) -> tuple[float, float, list[list[float]]]:
    """Review a player's games -> mean score, mean moves, and for each length the accuracy of each game."""
    whole = [review(network, record).accuracy for record in records]
    begins = [[review(network, begin_of(record, plies)).accuracy for record in records] for plies in lengths]
    return (
        float(np.mean([record.score for record in records])),
        float(np.mean([len(record) for record in records])),
        [whole, *begins],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--games", type=int, default=30)
    parser.add_argument("--plies", default="30,100")
    parser.add_argument("--seed", type=int, default=100)
    given = parser.parse_args()
    lengths = [int(text) for text in given.plies.split(",") if text]
    for model in given.models:
        network = af.load(model)
        print(f"{model}: {network.game.name} ({network.game.rules}), {network.training.games:,} games of training")
        print(" | ".join(["| player", "mean score", "moves", "accuracy", *(f"first {plies} moves" for plies in lengths)]), "|")
        print("|---" * (4 + len(lengths)) + "|")
        before = [0.0] * (1 + len(lengths))
        for name, player in make_players(network, given.seed):
            environment = RandomEnvironment(given.seed)
            records = [play_episode(network.game, player, environment) for _ in range(given.games)]
            score, moves, found = measure(network, records, lengths)
            means = [float(np.mean(column)) for column in found]
            cells = [
                f"{mean:.1f} ± {np.std(column):.1f}{' NOT ABOVE' if mean <= last else ''}"
                for mean, column, last in zip(means, found, before, strict=True)
            ]
            print(f"| {name} | {score:,.0f} | {moves:,.0f} | {' | '.join(cells)} |", flush=True)
            before = means


if __name__ == "__main__":
    main()
