"""Another program that writes and reads episode files: slow, obvious, and without a line of the package.

It plays at random by the rules of `reference` and `reference_threes`, and reads a line action by action.
"""

import random
import re
from dataclasses import dataclass, replace

import reference
import reference_threes
from reference_threes import LETTERS, Position, indices, worth

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
HINTED = {"tcg2022", "official"}
KINDS = "123+"
LINE = re.compile(r"([^:]*):([^@]*)@(\d+)\|([^|]*)\|([^@]*)@(\d+)")


@dataclass(frozen=True)
class Told:
    """What a line says, read the slow way."""

    score: int
    slides: int
    places: int
    largest: int  # index
    slider_ms: int
    placer_ms: int
    rewards: int  # the sum of what is in brackets
    over: bool


class Rules2048:
    """What `Reader` and `Writer` need to know about 2048."""

    firsts, hinted = 2, False

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns

    def slides(self, state: Position) -> dict[int, tuple[Position, int]]:
        found = reference.afterstates(list(state.cells), self.rows, self.columns)
        empty = {way: tuple(i for i, tile in enumerate(cells) if tile == 0) for way, (cells, _) in found.items()}
        return {way: (Position(tuple(cells), entry=empty[way]), reward) for way, (cells, reward) in found.items()}

    def tiles(self, state: Position) -> list[int]:
        return [2, 2, 2, 2, 2, 2, 2, 2, 2, 4]

    def hints(self, state: Position) -> list[str]:
        return [""]

    def put(self, state: Position, cell: int, tile: int, hint: str) -> Position:
        return Position((*state.cells[:cell], tile, *state.cells[cell + 1 :]))

    def index(self, tile: int) -> int:
        return tile.bit_length() - 1

    def worth(self, tile: int) -> int:
        return 0

    def score(self, state: Position, rewards: int) -> int:
        return rewards


class RulesThrees:
    """What they need to know about Threes!"""

    def __init__(self, rules: str, rows: int, columns: int) -> None:
        self.game = reference_threes.Game(rules, rows, columns)
        self.rows, self.columns = rows, columns
        self.hinted = rules in HINTED
        self.firsts = max(9 * rows * columns // 16, 1)

    def slides(self, state: Position) -> dict[int, tuple[Position, int]]:
        return self.game.afterstates(state)

    def _kinds(self, state: Position) -> list[str]:
        return [state.hint] if state.hint else list(self.game.kinds(state))

    def tiles(self, state: Position) -> list[int]:
        return [tile for kind in self._kinds(state) for tile in self.game.faces(state, kind)]

    def hints(self, state: Position) -> list[str]:
        return list(self.game.kinds(state)) if self.hinted else [""]

    def put(self, state: Position, cell: int, tile: int, hint: str) -> Position:
        if not state.hint:
            state = self.game.take(state, str(tile) if tile <= 3 else "+")
        state = self.game.put(state, cell, tile)
        return replace(self.game.take(state, hint), hint=hint) if hint else state

    def index(self, tile: int) -> int:
        return indices([tile])[0]

    def worth(self, tile: int) -> int:
        return worth(tile)

    def score(self, state: Position, rewards: int) -> int:
        return self.game.score(state)


def rules_of(name: str, rules: str, rows: int, columns: int) -> Rules2048 | RulesThrees:
    return Rules2048(rows, columns) if name == "2048" else RulesThrees(rules, rows, columns)


def read_line(rules: Rules2048 | RulesThrees, line: str) -> Told:
    """Play a line; whatever the rules forbid is an AssertionError."""
    parts = LINE.fullmatch(line)
    assert parts is not None
    text = parts[4]
    hint_of = "([1-4])" if rules.hinted else "()"
    action = re.compile(rf"(?:#([URDL])|([0-9A-F])([0-9A-Z]){hint_of})(?:\[(-?\d+)\])?(?:\((\d+)\))?")
    state = Position((0,) * (rules.rows * rules.columns))
    at = slides = places = rewards = told = 0
    clock = [0, 0]
    due = rules.firsts
    while at < len(text):
        match = action.match(text, at)
        assert match is not None, text[at : at + 20]
        at = match.end()
        told += int(match[5] or 0)
        if match[1]:
            assert due == 0
            state, reward = rules.slides(state)[LETTERS.index(match[1])]
            slides, rewards, due = slides + 1, rewards + reward, 1
            clock[0] += int(match[6] or 0)
            continue
        assert due > 0
        cell, hint = int(match[2], 16), KINDS[int(match[4]) - 1] if match[4] else ""
        (tile,) = {tile for tile in rules.tiles(state) if rules.index(tile) == int(match[3], 36)}
        assert state.cells[cell] == 0
        assert not slides or cell in state.entry
        placed = rules.put(state, cell, tile, "")
        assert hint in rules.hints(placed)
        state = rules.put(state, cell, tile, hint)
        places, due = places + 1, due - 1
        clock[1] += int(match[6] or 0)
    over = not rules.slides(state)
    largest = rules.index(max(state.cells))
    return Told(rules.score(state, rewards), slides, places, largest, clock[0], clock[1], told, over)


def write_line(rules: Rules2048 | RulesThrees, generator: random.Random, *, timed: bool = True) -> str:
    """A random game as a line, with times behind some of its actions."""
    state = Position((0,) * (rules.rows * rules.columns))
    text = ""
    due = rules.firsts
    while True:
        if due == 0:
            found = rules.slides(state)
            if not found:
                break
            way = generator.choice(sorted(found))
            state, reward = found[way]
            text += f"#{LETTERS[way]}" + f"[{reward}]" * bool(reward)
            due = 1
        else:
            cells = state.entry or [cell for cell, tile in enumerate(state.cells) if tile == 0]
            cell, tile = generator.choice(cells), generator.choice(rules.tiles(state))
            hint = generator.choice(rules.hints(rules.put(state, cell, tile, "")))
            state = rules.put(state, cell, tile, hint)
            text += DIGITS[cell] + DIGITS[rules.index(tile)] + (str(KINDS.index(hint) + 1) if hint else "")
            text += f"[{rules.worth(tile)}]" * bool(rules.worth(tile))
            due -= 1
        text += f"({generator.randrange(1, 2000)})" * (timed and generator.random() < 0.1)
    tick = generator.randrange(10**12, 2 * 10**12)
    return f"my player:the dice@{tick}|{text}|the dice@{tick + generator.randrange(5000)}"
