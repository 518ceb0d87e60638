"""What the tests of the search share: a random network, boards, and what a choice says."""

from collections.abc import Iterator

import numpy as np

import afterstate as af
from afterstate.games.game import Game
from afterstate.network.lookup import Target
from afterstate.network.network import Network
from positions import state_of

HARD = "2 4 8 16 / 256 128 64 32 / 0 0 4 0 / 0 2 0 0"  # hardly anything is met twice


def random_network(game: Game, patterns: str, target: Target = "afterstate", stages: tuple[int, ...] = (0,)) -> Network:
    network = Network(game, patterns, target=target, symmetry=game.shape.symmetries, stages=stages)
    network.weights[:] = np.random.default_rng(6).uniform(0, 50, network.weights.size)
    return network


def some_boards(game: Game, count: int, empty: int, seed: int = 4) -> Iterator[list[int]]:
    """Boards with this many empty cells and a legal slide."""
    generator = np.random.default_rng(seed)
    while count:
        cells = [int(face) for face in generator.choice([2, 2, 4, 8, 16, 64], game.shape.cells)]
        for cell in generator.choice(game.shape.cells, empty, replace=False):
            cells[cell] = 0
        if game.afterstates(state_of(game, cells)):
            count -= 1
            yield cells


def values_of(choice: af.Choice) -> dict[int, float]:
    return {int(slide): value for slide, value in choice.values.items() if value is not None}
