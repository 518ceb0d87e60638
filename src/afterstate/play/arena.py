"""The line protocol of the course's arena: matches between programs, as lines on standard input and output.

    in                       out
    @ login                  @ login ACCOUNT NAME(slider) NAME(placer)
    #ID open SLIDER:PLACER   #ID open accept, or reject if neither of them is ours
    #ID ?                    #ID ACTION: it is our turn
    #ID ACTION               the other's action
    #ID close FLAG           the match is over
    @ status, @ error, @ exit

An action is a slide, #U #R #D #L, or a new tile: its cell (0-F) and its index in base 36, and if the rules announce the next
tile + and that tile, as in episode files. All actions are checked by the rules. Several matches may be open.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from afterstate.engine.record import LETTERS, Record
from afterstate.errors import AfterstateError, InputError
from afterstate.games.game import Afterstate, Game, Slide, State, announced
from afterstate.kernel import kernel, u64
from afterstate.play.agent import Agent
from afterstate.play.episode_line import episode_line
from afterstate.rng import Purpose, Random
from afterstate.units import shorten

MATCHES = 1000  # open at the same time
LONGEST = 1000  # characters of a line
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_PLACE = re.compile(r"([0-9A-F])([0-9A-Z])(?:\+?([0-9]))?")
_NAME = re.compile(r"[^\s:()]{1,100}")


@kernel
def _announced(game: Any, extra: u64) -> u64:
    return announced(game, extra)


@dataclass
class Match:
    """A game that goes on."""

    game: Game
    rng: Random
    slides: bool  # whether we slide
    places: bool  # whether we place the new tiles
    due: int  # tiles that come before the next slide
    position: State | Afterstate = field(default_factory=lambda: State(0))
    planned: list[str] = field(default_factory=list)  # our first tiles that are still to come

    @property
    def is_ours(self) -> bool:
        """Whether it is our turn."""
        return self.places if self.due else self.slides

    def apply(self, action: str) -> None:
        """Play an action; the rules must allow it."""
        if action.startswith("#"):
            if self.due:
                raise InputError(f"a new tile must come first, not {action}")
            if len(action) != 2 or action[1] not in LETTERS:
                raise InputError(f"a slide is #U, #R, #D or #L, not {shorten(action, 20)!r}")
            state = State(self.position.board, self.position.extra)
            slide = Slide(LETTERS.index(action[1]))
            slid = self.game.afterstates(state)
            if slide not in slid:
                raise InputError(f"a slide {slide} is illegal on {self.game.format(state)}")
            self.position, self.due = slid[slide], 1
            return
        match = _PLACE.fullmatch(action)
        if match is None:
            raise InputError(f"an action is a slide such as #U, or a cell and a tile such as 51 or 51+2, not {action[:20]!r}")
        if not self.due:
            raise InputError(f"a slide must come first, not {action}")
        cell, tile = int(match[1], 16), int(match[2], 36)
        hint = int(match[3] or 0) if self.game.hints else 0
        if cell >= self.game.shape.cells or not 1 <= tile <= 15 or (self.game.hints and not 1 <= hint <= 4):
            raise InputError(f"{action} is no new tile of {self.game!r}")
        self.position, self.due = self.game.place(self.position, cell, tile, hint), self.due - 1

    def next_tile(self) -> str:
        """Draw a new tile by the rules -> the action that places it."""
        game = self.game
        if self.position == State(0) and not self.planned:
            self.planned = _first_tiles(game, game.start(self.rng))
        if self.planned:
            return self.planned.pop(0)
        state = game.sample(self.position, self.rng)
        new = state.board ^ self.position.board
        cell = next(cell for cell in range(game.shape.cells) if new >> game.shape.shift(cell) & 15)
        tile = new >> game.shape.shift(cell) & 15
        hint = f"+{int(_announced(game.tables, u64(state.extra)))}" if game.hints else ""
        return f"{_DIGITS[cell]}{_DIGITS[tile]}{hint}"


def _first_tiles(game: Game, state: State) -> list[str]:
    """The actions that make a first state, in an order that the rules allow."""
    words, none = np.array([[state.board], [state.extra]], np.uint64), np.zeros(0, np.uint64)
    record = Record(game, words[0], words[1], none, np.zeros(0, np.uint8), np.zeros(0, np.int64))
    actions = re.sub(r"\[[^\]]*\]", "", episode_line(record).split("|")[1])
    width = 3 if game.hints else 2
    tiles = [actions[start : start + width] for start in range(0, len(actions), width)]
    return [f"{tile[:2]}+{tile[2]}" if game.hints else tile for tile in tiles]


class Arena:
    """One program at the arena: answers lines. What cannot be answered is told to `note`, never to the arena."""

    def __init__(
        self, agent: Agent, note: Callable[[str], Any], *, account: str, slider: str, placer: str, seed: int = 1
    ) -> None:
        for name in (account, slider, placer):
            if not _NAME.fullmatch(name):
                raise InputError(f"a name has 1 to 100 characters, and no blanks, colons or brackets: {shorten(name)!r}")
        self.agent, self._note, self._seed = agent, note, seed
        self.account, self.slider, self.placer = account, slider, placer
        self.matches: dict[str, Match] = {}
        self.over = False  # the arena has sent us away
        self._opened = 0

    def answer(self, line: str) -> str | None:
        """What to say to a line; None for nothing."""
        words = line.split()
        if not words:
            return None
        if len(line) > LONGEST:
            self._note(f"a line of more than {LONGEST} characters: {shorten(line, 60)!r}")
            return None
        if words[0] == "@":
            return self._control(words[1:])
        if not words[0].startswith("#") or len(words) < 2:
            self._note(f"this is no line of the protocol: {shorten(line, 60)!r}")
            return None
        if words[1] == "open":
            return self._open(words[0], words[2:])
        if words[1] == "close":
            self.matches.pop(words[0], None)
            return None
        return self._act(words[0], words[1])

    def _control(self, words: list[str]) -> str | None:
        if words[:1] == ["login"]:
            return f"@ login {self.account} {self.slider}(slider) {self.placer}(placer)"
        if words[:1] == ["exit"]:
            self.over = True
        elif words[:1] in (["status"], ["error"]):
            self._note(shorten(" ".join(words), 200))
        else:
            self._note(f"this is no line of the protocol: {shorten(' '.join(['@', *words]), 60)!r}")
        return None

    def _open(self, name: str, words: list[str]) -> str:
        slider, _, placer = (words[0] if words else "").partition(":")
        slides, places = slider == self.slider, placer == self.placer
        if name in self.matches or len(self.matches) >= MATCHES or not (slides or places):
            return f"{name} open reject"
        self._opened += 1
        game, rng = self.agent.network.game, Random(self._seed, Purpose.PLAY, self._opened - 1)
        self.matches[name] = Match(game, rng, slides, places, game.firsts)
        return f"{name} open accept"

    def _act(self, name: str, action: str) -> str | None:
        match = self.matches.get(name)
        if match is None:
            self._note(f"{name}: there is no such match")
            return None
        try:
            if action != "?":
                match.apply(action)
                return None
            if not match.is_ours:
                raise InputError(f"it is not our turn to {'place a tile' if match.due else 'slide'}")
            own = match.next_tile() if match.due else self._slide(match)
            match.apply(own)
        except AfterstateError as error:
            del self.matches[name]
            self._note(f"{name}: {error}; we leave this match")
            return None
        return f"{name} {own}"

    def _slide(self, match: Match) -> str:
        state = State(match.position.board, match.position.extra)
        best = self.agent.choose(state).move
        if best is None:
            raise InputError(f"the game is over: no slide is legal on {match.game.format(state)}")
        return f"#{LETTERS[best]}"
