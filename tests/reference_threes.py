"""The rules of Threes! again, slow and obvious: the judge of the kernels. It shares no code with the package.

A board is a tuple of face values row by row (0 is an empty cell). Tiles 1 and 2 are worth nothing, 3 is worth 3, 6 is worth 9,
12 is worth 27 and so on.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import reference
import reference_learning as slow

LETTERS = "URDL"


@dataclass(frozen=True)
class Rules:
    bag: tuple[int, ...]
    shown: bool = True
    bonus: bool = False
    counted: bool = False
    moved: bool = False
    ends: bool = False


RULES = {
    "tcg2022": Rules((1, 2, 3)),
    "tcg2018": Rules((1, 2, 3), shown=False),
    "tcg2018-bonus": Rules((1,) * 4 + (2,) * 4 + (3,) * 4, bonus=True, counted=True),
    "official": Rules((1,) * 4 + (2,) * 4 + (3,) * 4, bonus=True, moved=True, ends=True),
}


@dataclass(frozen=True)
class Position:
    cells: tuple[int, ...]
    bag: tuple[int, ...] = ()  # tiles left, in rising order; () is filled before the next is drawn
    hint: str = ""  # 1, 2, 3, + or nothing
    last: str = ""  # the last slide
    entry: tuple[int, ...] = ()  # cells that the new tile may enter, in an afterstate
    given: int = 0  # tiles so far, the next one among them, where they are counted
    bonuses: int = 0


def worth(tile: int) -> int:
    points = 3
    if tile < 3:
        return 0
    while tile > 3:
        tile //= 2
        points *= 3
    return points


def merge(one: int, other: int, rules: Rules) -> int:
    """The tile that two make; 0 if they make none."""
    if {one, other} == {1, 2}:
        return 3
    if one == other and one >= 3 and (one < 6144 or (rules.ends and one == 6144)):
        return one + other
    return 0


def slide_line(line: list[int], rules: Rules) -> list[int]:
    """From the wall on, the first tile that can step or merge does, and all behind it follow: [1, 2, 0, 3] -> [3, 0, 3, 0]."""
    for place in range(1, len(line)):
        before, tile = line[place - 1], line[place]
        made = tile if before == 0 else merge(before, tile, rules)
        if before == 0 or made:
            return [*line[: place - 1], made, *line[place + 1 :], 0]
    return line


class Game:
    """Threes! under one set of rules on one board size."""

    def __init__(self, rules: str, rows: int = 4, columns: int = 4) -> None:
        self.rules, self.rows, self.columns = RULES[rules], rows, columns

    def afterstates(self, state: Position) -> dict[int, tuple[Position, int]]:
        """Every legal slide -> afterstate, reward."""
        found = {}
        if self.rules.ends and 12288 in state.cells:
            return {}
        for direction in range(4):
            cells, entry = list(state.cells), []
            for line in reference.lines(self.rows, self.columns, direction):
                before = [state.cells[cell] for cell in line]
                after = slide_line(before, self.rules)
                for cell, tile in zip(line, after, strict=True):
                    cells[cell] = tile
                if after[-1] == 0 and (after != before or not self.rules.moved):
                    entry.append(line[-1])
            if tuple(cells) != state.cells:
                reward = sum(map(worth, cells)) - sum(map(worth, state.cells))
                after_state = replace(state, cells=tuple(cells), last=LETTERS[direction], entry=tuple(sorted(entry)))
                found[direction] = (after_state, reward)
        return found

    def kinds(self, position: Position) -> dict[str, Fraction]:
        """What may be drawn next, with its chance."""
        rules = self.rules
        bag = position.bag or rules.bag
        bonus = Fraction(0)
        fair = not rules.counted or 21 * (position.bonuses + 1) <= position.given + 1
        if rules.bonus and max(position.cells) >= 48 and fair:
            bonus = Fraction(1, 21)
        chances = {str(tile): (1 - bonus) * Fraction(bag.count(tile), len(bag)) for tile in sorted(set(bag))}
        return chances | ({"+": bonus} if bonus else {})

    def take(self, position: Position, kind: str) -> Position:
        """The position once a tile of this kind has been drawn."""
        if self.rules.counted:
            position = replace(position, given=position.given + 1, bonuses=position.bonuses + (kind == "+"))
        if kind == "+":
            return position
        bag = list(position.bag or self.rules.bag)
        bag.remove(int(kind))
        return replace(position, bag=tuple(bag))

    def put(self, position: Position, cell: int, tile: int) -> Position:
        cells = [*position.cells[:cell], tile, *position.cells[cell + 1 :]]
        return replace(position, cells=tuple(cells), entry=(), hint="")

    def faces(self, position: Position, kind: str) -> list[int]:
        """The tiles that a kind stands for: bonus tiles are 6, 12, ... up to an eighth of the largest."""
        if kind != "+":
            return [int(kind)]
        return [tile for tile in (6 * 2**power for power in range(12)) if 8 * tile <= max(position.cells)]

    def outcomes(self, after: Position) -> list[tuple[Position, Fraction]]:
        """Every state that may follow, with its chance."""
        found = []
        kinds = {after.hint: Fraction(1)} if after.hint else self.kinds(after)
        for kind, chance in kinds.items():
            drawn = after if after.hint else self.take(after, kind)
            tiles = self.faces(after, kind)
            for tile in tiles:
                for cell in after.entry:
                    placed = self.put(drawn, cell, tile)
                    likely = chance / len(tiles) / len(after.entry)
                    if not self.rules.shown:
                        found.append((placed, likely))
                        continue
                    for following, share in self.kinds(placed).items():
                        found.append((replace(self.take(placed, following), hint=following), likely * share))
        return found

    def score(self, state: Position) -> int:
        return sum(map(worth, state.cells))

    def text(self, position: Position) -> str:
        """As the package writes a state."""
        rows = [position.cells[start : start + self.columns] for start in range(0, len(position.cells), self.columns)]
        parts = [" / ".join(" ".join(map(str, row)) for row in rows)]
        parts.append("bag " + ("".join(map(str, position.bag)) or "-"))
        parts += [f"next {position.hint}"] if self.rules.shown else []
        parts += [f"slid {position.last}"] if position.last else []
        parts += [f"given {position.given - position.bonuses}+{position.bonuses}"] if self.rules.counted else []
        return " | ".join(parts)

    def perft(self, state: Position, depth: int) -> list[reference.Row]:
        """Count every line of play -> one row (afterstates, states, reward, ended) for each depth."""
        table, states = [], [state]
        for _ in range(depth):
            slid = [after for each in states for after in self.afterstates(each).values()]
            states = [outcome for after, _ in slid for outcome, _ in self.outcomes(after)]
            ended = sum(not self.afterstates(each) for each in states)
            table.append((len(slid), len(states), sum(reward for _, reward in slid), ended))
        return table

    # --- the package's own way to draw, from its definition ------------------------------------------------------------

    def draw_kind(self, generator: slow.Generator, position: Position, low: int) -> str:
        chances = self.kinds(position)
        if "+" in chances and generator.bits() & 0xFFFFFFFF < round(2**32 / 21):
            return "+"
        bag = sorted(position.bag or self.rules.bag)
        return str(bag[low * len(bag) >> 32])

    def place(self, generator: slow.Generator, position: Position, cells: list[int]) -> Position:
        bits = generator.bits()
        cell = cells[(bits >> 32) * len(cells) >> 32]
        kind = position.hint
        if not kind:
            kind = self.draw_kind(generator, position, bits & 0xFFFFFFFF)
            position = self.take(position, kind)
        tiles = self.faces(position, kind)
        tile = tiles[(generator.bits() >> 32) * len(tiles) >> 32] if kind == "+" else tiles[0]
        position = self.put(position, cell, tile)
        if self.rules.shown:
            low = generator.bits() & 0xFFFFFFFF
            kind = self.draw_kind(generator, position, low)
            position = replace(self.take(position, kind), hint=kind)
        return position

    def first(self, generator: slow.Generator) -> Position:
        position = Position((0,) * (self.rows * self.columns))
        for _ in range(max(9 * self.rows * self.columns // 16, 1)):
            empty = [cell for cell, tile in enumerate(position.cells) if tile == 0]
            position = self.place(generator, position, empty)
        return position


def indices(tiles: list[int]) -> list[int]:
    """0 1 2 3 6 12 -> 0 1 2 3 4 5."""
    return [tile if tile < 3 else (tile // 3).bit_length() + 2 for tile in tiles]


class Network(slow.Network):
    """A network that sees what `context` names: 1s and 2s swapped, entry cells, the next tile, the bag."""

    def __init__(self, game: Game, patterns: list[list[int]], symmetry: int, context: set[str]) -> None:
        super().__init__(game.rows, game.columns, patterns, symmetry)
        self.game, self.context = game, context
        self.tables = [{} for _ in patterns for _ in range(16)]

    def see(self, position: Position) -> tuple[list[int], int]:
        """The board as indices, and the set of tables."""
        cells, hint, bag = list(position.cells), position.hint, list(position.bag)
        if "swap" in self.context:
            more_twos = cells.count(2) > cells.count(1)
            if "bag" in self.context and hint == "3" and bag.count(1) != bag.count(2):
                more_twos = bag.count(2) > bag.count(1)
            if hint == "2" or (hint != "1" and more_twos):
                other = {1: 2, 2: 1}
                cells = [other.get(tile, tile) for tile in cells]
                bag = [other.get(tile, tile) for tile in bag]
                hint = "1" if hint == "2" else hint
        seen = indices(cells)
        if "entry" in self.context:
            lines = reference.lines(self.rows, self.columns, LETTERS.index(position.last)) if position.entry else []
            wall = {line[-1] for line in lines}  # that the slide left
            seen = [index + 1 if index else int(cell in wall) for cell, index in enumerate(seen)]
            if 12288 in cells:
                seen = [0] * len(seen)
        if "hint" not in self.context or not hint:
            return seen, 0
        kinds = "13+" if "swap" in self.context else "123+"
        context = kinds.index(hint)
        if "bag" in self.context:
            smaller, larger = [tile for tile in (1, 2, 3) if str(tile) != hint]
            context = 4 * context + (smaller in bag) + 2 * (larger in bag)
        return seen, context

    def keys(self, position: Position) -> list[tuple[int, tuple[int, ...]]]:  # type: ignore[override]
        cells, context = self.see(position)
        turns = slow.symmetries(self.rows, self.columns, self.symmetry)
        return [
            (context * len(self.patterns) + number, tuple(cells[turn[cell]] for cell in pattern))
            for number, pattern in enumerate(self.patterns)
            for turn in turns
        ]

    def weight(self, number: int, key: tuple[int, ...]) -> float:
        return self.tables[number].get(key, 0.0)

    def afterstates(self, position: Position) -> dict[int, tuple[Position, int]]:  # type: ignore[override]
        return self.game.afterstates(position)

    def outcomes(self, position: Position) -> list[tuple[Position, Fraction]]:  # type: ignore[override]
        return self.game.outcomes(position)

    def first(self, generator: slow.Generator) -> Position:  # type: ignore[override]
        return self.game.first(generator)

    def place(self, generator: slow.Generator, after: Position) -> Position:  # type: ignore[override]
        return self.game.place(generator, after, list(after.entry))
