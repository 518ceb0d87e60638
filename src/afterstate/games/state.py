"""The words for one moment of a game: slide, state, afterstate, outcome. They know their game, and show themselves as text."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from afterstate.errors import InputError
from afterstate.games.showing import show_outcome, show_position
from afterstate.units import shorten

if TYPE_CHECKING:
    from afterstate.games.game import Game


class Slide(IntEnum):
    """The four slides, in the order that breaks ties."""

    UP = 0
    RIGHT = 1
    DOWN = 2
    LEFT = 3

    def __str__(self) -> str:
        """Its name, for people: 'left'. As a number, in JSON too, it is what it is."""
        return self.name.lower()

    @classmethod
    def read(cls, given: "Slide | int | str") -> "Slide":
        """A slide by its number, its name or its first letter: 3, "left" and "L" are Slide.LEFT."""
        if isinstance(given, str):
            found = [slide for slide in cls if given.lower() in (str(slide), str(slide)[0])]
            if found:
                return found[0]
        elif not isinstance(given, bool) and given in (0, 1, 2, 3):
            return cls(int(given))
        raise InputError(f"a slide is up, right, down or left, or 0 to 3 in this order, not {shorten(repr(given))}")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Position:
    """Two words, and the game that they belong to."""

    def __eq__(self, other: object) -> bool:
        """Whether the words are the same, unless they are of different games. An unknown game may be any."""
        if type(self) is not type(other):
            return NotImplemented
        return self._words() == other._words() and not _apart(self.game, other.game)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self._words())

    def __str__(self) -> str:
        """One line of text, as the game writes and reads it."""
        return repr(self) if self.game is None else self.game.format(self)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        try:
            text = None if self.game is None else repr(self.game.format(self))  # type: ignore[attr-defined]
        except Exception:  # the words are no position of this game; a debugger must be able to show them
            text = None
        words = self._words()
        shown = f"board={words[0]:#x}, extra={words[1]:#x}" if text is None else text
        return f"{type(self).__name__}({shown}{''.join(f', reward={word}' for word in words[2:])})"

    def _repr_html_(self) -> str | None:
        """Its board, for notebooks."""
        return show_position(self)

    def _words(self) -> tuple[int, ...]:
        raise NotImplementedError


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class State(_Position):
    """A position before a slide. `game` is the game that made it; None if it was made by hand."""

    board: int
    extra: int = 0
    game: "Game | None" = field(default=None, kw_only=True)

    def _words(self) -> tuple[int, ...]:
        return self.board, self.extra


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Afterstate(_Position):
    """A position after a slide and before the new tile, with the reward of that slide."""

    board: int
    extra: int
    reward: int
    game: "Game | None" = field(default=None, kw_only=True)

    def _words(self) -> tuple[int, ...]:
        return self.board, self.extra, self.reward


@dataclass(frozen=True, slots=True)
class Outcome:
    """One state that a new tile may lead to, and its probability."""

    state: State
    probability: float

    def _repr_html_(self) -> str | None:
        return show_outcome(self)


def _apart(one: Any, other: Any) -> bool:
    """Whether two games are known, and different."""
    return one is not other and one is not None and other is not None and one != other
