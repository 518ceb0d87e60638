"""TD and TC again, slow and obvious: one dictionary a pattern, one float a weight, one line a formula. No code of the package.

A board is a list of face values row by row, as in `reference`. A pattern is a list of cells.
"""

from dataclasses import dataclass, field
from fractions import Fraction

import reference

MASK = 2**64 - 1


class NearTieError(Exception):
    """Two slides are so close that rounding may decide between them: such a game compares nothing."""


class Generator:
    """The package's random stream for one game, from its definition."""

    def __init__(self, seed: int, purpose: int, number: int) -> None:
        golden = 0x9E3779B97F4A7C15
        self.state = self.mix(self.mix((self.mix((seed + golden) & MASK) + purpose) & MASK) ^ ((number * golden) & MASK))

    @staticmethod
    def mix(x: int) -> int:
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
        return x ^ (x >> 31)

    def bits(self) -> int:
        """The next 64 random bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        return self.mix(self.state)

    def place(self, cells: list[int]) -> list[int]:
        """Put a 2 or a 4 on an empty cell: the high half of the bits chooses the cell, the low half the tile."""
        bits = self.bits()
        empty = [cell for cell, tile in enumerate(cells) if tile == 0]
        cell = empty[(bits >> 32) * len(empty) >> 32]
        result = list(cells)
        result[cell] = 4 if bits & 0xFFFFFFFF < round(0.1 * 2**32) else 2
        return result


def symmetries(rows: int, columns: int, count: int) -> list[list[int]]:
    """Ways to look at a board: cell i of the turned board is cell turn[i] of the board. 4 are the rotations of a square."""
    across = [[row * columns + column for column in range(columns)] for row in range(rows)]

    def rotate(grid: list[list[int]]) -> list[list[int]]:
        return [list(row) for row in zip(*grid[::-1], strict=True)]

    if rows != columns:
        turned = rotate(rotate(across))
        grids = [across, turned, [row[::-1] for row in across], across[::-1]]
    else:
        grids = [across, rotate(across), rotate(rotate(across)), rotate(rotate(rotate(across)))]
        grids += [[row[::-1] for row in grid] for grid in grids]
    return [[cell for row in grid for cell in row] for grid in grids[:count]]


@dataclass
class Network:
    """V(board) = sum of the weights of every pattern seen in every turned board."""

    rows: int
    columns: int
    patterns: list[list[int]]
    symmetry: int
    tables: list[dict[tuple[int, ...], float]] = field(default_factory=list)  # stage by stage, pattern by pattern
    stages: list[int] = field(default_factory=lambda: [0])  # the tile that begins each

    def keys(self, cells: list[int]) -> list[tuple[int, tuple[int, ...]]]:
        """The table and the key of each look-up."""
        turns = symmetries(self.rows, self.columns, self.symmetry)
        stage = max(number for number, tile in enumerate(self.stages) if max(cells) >= tile)
        return [
            (
                stage * len(self.patterns) + number,
                tuple(min(cells[turn[cell]].bit_length() - 1, 15) if cells[turn[cell]] else 0 for cell in pattern),
            )
            for number, pattern in enumerate(self.patterns)
            for turn in turns
        ]

    def weight(self, number: int, key: tuple[int, ...]) -> float:
        """A weight that its stage never wrote is that of the stage before."""
        while number >= len(self.patterns) and key not in self.tables[number]:
            number -= len(self.patterns)
        return self.tables[number].get(key, 0.0)

    # the rules of the game; another game has its own

    def afterstates(self, cells: list[int]) -> dict[int, tuple[list[int], int]]:
        return reference.afterstates(cells, self.rows, self.columns)

    def outcomes(self, cells: list[int]) -> list[tuple[list[int], Fraction]]:
        return reference.outcomes(cells)

    def first(self, generator: Generator) -> list[int]:
        return generator.place(generator.place([0] * (self.rows * self.columns)))

    def place(self, generator: Generator, after: list[int]) -> list[int]:
        return generator.place(after)

    def value(self, cells: list[int]) -> float:
        return sum(self.weight(number, key) for number, key in self.keys(cells))

    def move(self, cells: list[int], error: float, rule: "Rule") -> None:
        """Every look-up moves its weight by rate * alpha / m * error; one that is looked up twice moves twice."""
        keys = self.keys(cells)
        for number, key in keys:
            rate = 1.0
            if rule.coherent:
                total, sizes = rule.coherence.get((number, key), (0.0, 0.0))
                rate = abs(total) / sizes if sizes else 1.0
                rule.coherence[number, key] = (total + error, sizes + abs(error))
            self.tables[number][key] = self.weight(number, key) + rate * rule.alpha / len(keys) * error


@dataclass
class Rule:
    """How to learn: TD or TC, and towards what."""

    alpha: float
    coherent: bool = False
    backward: bool = False
    decay: float = 0.0
    horizon: int = 0
    steps: int = 1
    coherence: dict[tuple[int, tuple[int, ...]], tuple[float, float]] = field(default_factory=dict)


def choose(network: Network, cells: list[int], of_states: bool) -> tuple[list[int], int] | None:
    """The best slide -> afterstate, reward; None when the game is over."""
    options = []
    for after, reward in network.afterstates(cells).values():
        if of_states:
            value = sum(float(chance) * network.value(state) for state, chance in network.outcomes(after))
        else:
            value = network.value(after)
        options.append((reward + value, after, reward))
    if not options:
        return None
    top = max(value for value, _, _ in options)
    if any(1e-6 < top - value < 1e-2 for value, _, _ in options):
        raise NearTieError
    # the first of equals: isomorphic afterstates are worth the same
    return next((after, reward) for value, after, reward in options if top - value <= 1e-6)


def train_game(
    network: Network, generator: Generator, rule: Rule, *, of_states: bool, start: list[int] | None = None
) -> tuple[int, int, list[int], list[list[int]]]:
    """Play one game, from a state if one is given, and learn from it -> score, slides, last board, all states."""
    cells = start if start is not None else network.first(generator)
    states = [cells]
    chain: list[list[int]] = []  # valued positions
    rewards: list[int] = []  # on the way to each
    errors: list[float] = []  # delta of each but the last
    score = slides = reward = 0

    def discounted(first: int) -> float:
        return sum(rule.decay**power * error for power, error in enumerate(errors[first : first + rule.horizon + 1]))

    def arrive(position: list[int], gained: int) -> None:
        chain.append(position)
        rewards.append(gained)
        now = len(chain) - 1
        if rule.backward:
            return
        if rule.steps > 1:
            first = now - rule.steps
            if first >= 0:
                target = sum(rewards[first + 1 :]) + network.value(position)
                network.move(chain[first], target - network.value(chain[first]), rule)
            return
        if now >= 1:
            errors.append(gained + network.value(position) - network.value(chain[-2]))
        first = now - 1 - rule.horizon
        if first >= 0:
            network.move(chain[first], discounted(first), rule)

    def finish() -> None:
        last = len(chain) - 1
        if rule.backward:
            target = 0.0
            for position, gained in zip(reversed(chain), reversed(rewards), strict=True):
                network.move(position, target - network.value(position), rule)
                target = gained + rule.decay * target + (1 - rule.decay) * network.value(position)
        elif rule.steps > 1:
            for first in range(max(last - rule.steps + 1, 0), last + 1):
                network.move(chain[first], sum(rewards[first + 1 :]) - network.value(chain[first]), rule)
        else:
            errors.append(-network.value(chain[-1]))
            for first in range(max(last - rule.horizon, 0), last + 1):
                network.move(chain[first], discounted(first), rule)

    while True:
        if of_states:
            arrive(cells, reward)
        best = choose(network, cells, of_states)
        if best is None:
            break
        after, reward = best
        score += reward
        slides += 1
        if not of_states:
            arrive(after, reward)
        cells = network.place(generator, after)
        states.append(cells)
    finish()
    return score, slides, cells, states
