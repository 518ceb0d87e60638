"""Games compare by what they are, not by which object they are: a pickled network's game is still its game."""

from typing import Any, Self

import numpy as np

from afterstate.bitboard import Shape


class ByFacts:
    """Equal if of one class, with the same name, rules, size and tables."""

    name: str
    rules: str
    shape: Shape
    tables: Any

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or not isinstance(other, ByFacts):
            return NotImplemented
        return self._facts() == other._facts() and same_tables(self.tables, other.tables)

    def __hash__(self) -> int:
        return hash(self._facts())

    def __copy__(self) -> Self:
        """An object of its own, which can be changed; pickling would give the same one again."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def _facts(self) -> tuple[str, str, Shape]:
        return self.name, self.rules, self.shape


def same_tables(one: Any, other: Any) -> bool:
    """Whether the tables of two games hold the same; arrays are compared only if they are not the same object."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same_tables, one, other))
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else bool(one == other)
