"""Expectimax again, slow and obvious: the judge of the search. It shares no code with the package."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


class Rules(Protocol):
    def afterstates(self, state: Any) -> dict[int, tuple[Any, int]]: ...
    def outcomes(self, after: Any) -> list[tuple[Any, Any]]: ...


@dataclass(frozen=True)
class Tree:
    """How to search, and what to leave out."""

    rules: Rules
    value: Callable[[Any], float]
    of_states: bool = False  # what is valued: afterstates or states
    cutoff: float = 0.0

    def weigh(self, state: Any, depth: int) -> dict[int, float]:
        """Every legal slide -> reward + expectation."""
        slid = self.rules.afterstates(state)
        return {slide: reward + self.expect(after, depth - 1, 1.0) for slide, (after, reward) in slid.items()}

    def leaf(self, after: Any) -> float:
        """What the network says; nothing is worth less than 0."""
        if not self.of_states:
            return max(self.value(after), 0.0)
        return math.fsum(float(chance) * max(self.value(state), 0.0) for state, chance in self.rules.outcomes(after))

    def expect(self, after: Any, depth: int, reach: float) -> float:
        if depth == 0 or reach < self.cutoff:
            return self.leaf(after)
        possible = [(state, float(chance)) for state, chance in self.rules.outcomes(after)]
        return math.fsum(chance * self.best(state, depth, reach * chance) for state, chance in possible)

    def best(self, state: Any, depth: int, reach: float) -> float:
        slid = self.rules.afterstates(state).values()
        return max((reward + self.expect(after, depth - 1, reach) for after, reward in slid), default=0.0)
