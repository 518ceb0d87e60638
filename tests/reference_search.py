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
    rare: float = 0.0
    width: int = 4

    def weigh(self, state: Any, depth: int) -> dict[int, float]:
        """Every legal slide -> reward + expectation."""
        slid = self.rules.afterstates(state)
        return {slide: reward + self.expect(after, depth - 1, 1.0, first=True) for slide, (after, reward) in slid.items()}

    def leaf(self, after: Any) -> float:
        if not self.of_states:
            return self.value(after)
        return math.fsum(float(chance) * self.value(state) for state, chance in self.rules.outcomes(after))

    def expect(self, after: Any, depth: int, reach: float, *, first: bool = False) -> float:
        if depth == 0 or reach < self.cutoff:
            return self.leaf(after)
        possible = [(state, float(chance)) for state, chance in self.rules.outcomes(after)]
        if not first:
            likeliest = max(chance for _, chance in possible)
            possible = [(state, chance) for state, chance in possible if chance >= self.rare * likeliest]
        total = math.fsum(chance for _, chance in possible)
        return math.fsum(chance * self.best(state, depth, reach * chance) for state, chance in possible) / total

    def best(self, state: Any, depth: int, reach: float) -> float:
        slid = list(self.rules.afterstates(state).values())
        if depth > 1:
            slid = sorted(slid, key=lambda pair: -(pair[1] + self.leaf(pair[0])))[: self.width]
        return max((reward + self.expect(after, depth - 1, reach) for after, reward in slid), default=0.0)
