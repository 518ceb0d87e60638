"""Threes! for people: the rule sets as rows of data, and a state as one line of text.

    0 3 0 1 / 2 0 0 3 / 0 12 0 0 / 1 0 2 6 | bag 13 | next 2 | slid L

`bag` lists the tiles still in it, without the next one; an empty bag (-) is refilled. `next` is 1, 2, 3, or + for a bonus tile.
Rules that count bonus tiles add `given 57+2`: ordinary and bonus tiles so far, including the next one. Only `next` is required,
if the rules show it; without `bag`, one that fits is found.
"""

import re
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.bitboard import Shape, format_cells, pack, unpack
from afterstate.boardtext import parse_cells, quote
from afterstate.errors import InputError
from afterstate.games.game import Afterstate, Game, State, Words
from afterstate.games.threes_kernels import DUE, GIVEN, GIVEN_BONUS, HINT, LAST, MOVED, Threes, Walls, line_table
from afterstate.games.threes_sight import Seen
from afterstate.games.threes_tiles import BONUS_FROM
from afterstate.kernel import u64
from afterstate.units import shorten

# index of the tile that counts as a win, by the number of cells
WINS = {4: 5, 6: 6, 8: 7, 9: 8, 12: 9, 16: 10}
FULL_TILE = 14  # 6144


@dataclass(frozen=True)
class Rules:
    """One set of rules."""

    note: str  # helps to choose them
    copies: int  # of each of 1, 2, 3 in a full bag
    shown: bool = True  # the next tile is known to the player
    hints: bool = False  # records announce it
    bonus: bool = False  # one tile in 21 is a bonus tile, once a 48 is on the board
    counted: bool = False  # but never more than one in 21 so far
    moved: bool = False  # a new tile enters a line that moved; otherwise any line with room at the wall the slide left
    ends: bool = False  # two 6144 make a 12288, and the game ends; otherwise they do not merge


RULES = {
    "tcg2022": Rules("A bag of one each of 1, 2, 3. The next tile is shown.", copies=1, hints=True),
    "tcg2018": Rules("A bag of one each of 1, 2, 3. The next tile is hidden.", copies=1, shown=False),
    "tcg2018-bonus": Rules(
        "A bag of four each, and bonus tiles (+). The next tile is shown.", copies=4, bonus=True, counted=True
    ),
    "official": Rules(
        "As in the app: a bag of four each, bonus tiles (+), new tiles only in lines that moved.",
        copies=4, hints=True, bonus=True, moved=True, ends=True,
    ),
}  # fmt: skip


@cache
def _lines(length: int, top: int) -> NDArray[np.uint64]:
    """The table for lines of one length, shared by all board sizes and rule sets."""
    return line_table(u64(length), u64(top))


class ThreesGame(Game):
    """Threes! on a board of 2x2 to 4x4."""

    name = "threes"
    title = "Threes!"
    lowest_downgrade = 4

    def __init__(self, rules: str, shape: Shape) -> None:
        row = self._row = RULES[rules]
        self.rules = rules
        self.shape = shape
        self.win = WINS[shape.cells]
        self.firsts = max(9 * shape.cells // 16, 1)
        self.top = FULL_TILE + row.ends
        self.note, self.hints = row.note, row.hints
        if row.shown:
            self.next_tiles = {tile: tile for tile in "123"} | ({"+": "a bonus tile"} if row.bonus else {})
        # new tiles are 2 on average and a bag is never more than 8 off; the faces of a board add up to all new tiles
        self.longest = (shape.cells + 1) * self.face(FULL_TILE) // 2 + 16
        self.most = shape.cells * self.worth(FULL_TILE) + row.ends * self.worth(FULL_TILE + 1)
        self.features = (
            "swap",
            "entry",
            *(("hint",) if row.shown else ()),
            *(("bag",) if row.shown and row.copies == 1 else ()),
        )
        self.context = "+".join(feature for feature in self.features if feature != "bag")
        corners = [0] * shape.cells
        corners[0], corners[shape.columns - 1], corners[-1] = 1, 2, 3
        self.example = format_cells(corners, shape) + (" | next 1" if row.shown else "")
        self.tables = self._tables()

    def _tables(self) -> Threes:
        row, shape = self._row, self.shape
        worth = [self.worth(index) for index in range(16)]
        return Threes(
            rows=_lines(shape.columns, self.top),
            columns=_lines(shape.rows, self.top),
            # 1 and 2 are worth nothing, two tiles of index i - 1 are worth 2 * 3**(i - 3)
            gains=np.array([0, 0, 0, 3, *(worth[i] - 2 * worth[i - 1] for i in range(4, 16))], np.int64),
            worth=np.array(worth, np.int64),
            walls=self._walls(moved=row.moved),
            cells=u64(shape.mask),
            bag=u64(row.copies * 0o111),
            first=np.int64(self.firsts),
            shown=np.bool(row.shown),
            bonus=np.bool(row.bonus),
            counted=np.bool(row.counted),
            ends=np.bool(row.ends),
        )

    def _walls(self, *, moved: bool) -> Walls:
        row = sum(1 << 4 * column for column in range(self.shape.columns))
        column = sum(1 << 16 * row for row in range(self.shape.rows))
        bottom, right = 16 * (self.shape.rows - 1), 4 * (self.shape.columns - 1)
        return Walls(u64(row << bottom), u64(column), u64(row), u64(column << right), np.bool(moved))

    def sight(self, context: str) -> tuple[Any, int]:
        words = self.read_context(context)
        if "bag" in words and "hint" not in words:
            raise InputError(f"context {context!r}: bag needs hint, so add hint")
        seen = {word: np.bool(word in words) for word in ("swap", "entry", "hint", "bag")}
        kinds = (3 + self._row.bonus - ("swap" in words)) if "hint" in words else 1
        return Seen(self._walls(moved=False), **seen), kinds * (4 if "bag" in words else 1)

    @staticmethod
    def worth(index: int) -> int:
        """What a tile adds to the score of a board."""
        return int(3 ** (index - 2)) if index >= 3 else 0

    def face(self, index: int) -> int:
        return index if index < 3 else 3 << (index - 3)

    def cells(self, position: State | Afterstate) -> list[int]:
        return unpack(position.board, self.shape)

    def next_tile(self, position: State | Afterstate) -> str:
        return "?123+"[int(u64(position.extra) >> HINT) & 7] if self._row.shown else ""

    def check_words(self, boards: Words, extras: Words) -> None:
        """Kernels look tables up by what `extra` says, so it must be possible."""
        super().check_words(boards, extras)
        row = self._row
        fields = [(3 * place, 7, row.copies) for place in range(3)]  # bit, mask, largest
        fields += [(int(HINT), 7, (3 + row.bonus) * row.shown), (int(LAST), 7, 4), (int(DUE), 1, 1)]
        fields += [(int(MOVED), 15, 15 * row.moved)]
        fields += [(int(at), 2**22 - 1, (2**22 - 1) * row.counted) for at in (GIVEN, GIVEN_BONUS)]
        wrong = np.zeros(len(extras), np.bool)
        for at, mask, most in fields:
            wrong |= (extras >> u64(at)) & u64(mask) > u64(most)
        if row.shown:
            wrong |= (extras >> HINT) & u64(7) == u64(0)
        if wrong.any():
            number = int(np.argmax(wrong))
            raise InputError(f"extra {int(extras[number]):#x} of board {number} is no bag and next tile of {self!r}")

    # --- text ------------------------------------------------------------------------------------------------------------

    def format(self, position: State | Afterstate) -> str:
        row, extra = self._row, u64(position.extra)
        parts = [format_cells((self.face(cell) for cell in self.cells(position)), self.shape)]
        counts = [int(extra >> u64(3 * place)) & 7 for place in range(3)]
        parts.append("bag " + ("".join(str(place + 1) * count for place, count in enumerate(counts)) or "-"))
        if row.shown:
            parts.append(f"next {self.next_tile(position)}")
        if last := int(extra >> LAST) & 7:
            parts.append("slid " + "URDL"[last - 1])
        if row.counted:
            given, among = (int(extra >> at) & (1 << 22) - 1 for at in (GIVEN, GIVEN_BONUS))
            parts.append(f"given {given - among}+{among}")
        if int(extra >> DUE) & 1:
            parts.append("a tile is due")
        return " | ".join(parts)

    def parse(self, text: str) -> State:
        board, *words = re.split(r"\|\s*(?=[A-Za-z])", text, maxsplit=1)  # a | before a number is part of a frame
        parts = words[0].split("|") if words else []
        cells = self._parse_board(board, text)
        said = self._parse_parts(parts, text)
        hint = self._parse_next(said.get("next"), text)
        counts = self._find_bag(cells, hint, said.get("bag"), text)
        last = said.get("slid")
        if last is not None and last.upper() not in {"U", "R", "D", "L"}:
            raise InputError(f"slid is U, R, D or L, not {shorten(last)!r}: {quote(text)}")
        extra = sum(count << 3 * place for place, count in enumerate(counts)) | hint << int(HINT)
        extra |= (1 + "URDL".index(last.upper()) if last else 0) << int(LAST)
        extra |= self._parse_given(said.get("given"), cells, hint, text)
        return State(pack(cells, self.shape), extra, game=self)

    def _parse_board(self, board: str, text: str) -> list[int]:
        faces = {self.face(index): index for index in range(self.top + 1)}
        cells = []
        for number, face in enumerate(parse_cells(board, self.shape, [self.face(index) for index in range(16)]), start=1):
            if face not in faces:
                raise InputError(
                    f"cell {number} of the board is {face}, which is not a tile of Threes! under the rules {self.rules} "
                    f"(0, 1, 2, 3, 6, 12, ... {max(faces)}): {quote(text)}"
                )
            cells.append(faces[face])
        return cells

    def _parse_parts(self, parts: list[str], text: str) -> dict[str, str]:
        allowed = ["bag", "slid", *(["next"] if self._row.shown else []), *(["given"] if self._row.counted else [])]
        said: dict[str, str] = {}
        for part in parts:
            words = part.split()
            if len(words) != 2 or words[0] not in allowed or words[0] in said:
                raise InputError(
                    f"after the board write {', '.join(allowed)}, each at most once and with one word, "
                    f"not {shorten(part.strip())!r}: {quote(text)}"
                )
            said[words[0]] = words[1]
        return said

    def _parse_next(self, word: str | None, text: str) -> int:
        if not self._row.shown:
            return 0
        if word is None or word not in self.next_tiles:
            kinds = ", ".join(self.next_tiles)
            raise InputError(f"give the next tile: end the line with '| next 2', one of {kinds}: {quote(text)}")
        return "123+".index(word) + 1

    def _find_bag(self, cells: list[int], hint: int, word: str | None, text: str) -> tuple[int, ...]:
        """How many 1s, 2s and 3s are in the bag: as given, if that is possible; by default the fullest possible bag."""
        fitting = [counts for counts in product(range(self._row.copies + 1), repeat=3) if self._fits(cells, hint, counts)]
        if word is None:
            if not fitting:
                raise InputError(f"no bag fits: these tiles and this next tile cannot come from whole bags: {quote(text)}")
            return max(fitting, key=lambda counts: (sum(counts), counts))
        if not re.fullmatch(r"-|[123]{1,12}", word):
            raise InputError(f"a bag is written like 13, or - if it is empty, not {shorten(word)!r}: {quote(text)}")
        counts = tuple(word.count(tile) for tile in "123")
        if counts == (self._row.copies,) * 3:
            counts = (0, 0, 0)  # a full bag counts as an empty one that will be refilled
        if counts not in fitting:
            raise InputError(f"bag {word} does not fit this board{' and its next tile' * bool(hint)}: {quote(text)}")
        return counts

    def _fits(self, cells: list[int], hint: int, counts: tuple[int, ...]) -> bool:
        """Whether tiles, next tile and bag fit together: all tiles that came, and those left in the bag, add up to whole bags.

        Merges keep the sum of faces. Bonus tiles are multiples of 6, and so is the sum of a full bag.
        """
        copies = self._row.copies
        if counts == (copies,) * 3 or (1 <= hint <= 3 and counts[hint - 1] == copies):
            return False
        total = sum(self.face(cell) for cell in cells) + (hint if hint <= 3 else 0)
        total += sum((place + 1) * count for place, count in enumerate(counts))
        full = 6 * copies
        may_have_bonus = self._row.bonus and max(cells) >= int(BONUS_FROM)
        return total % (6 if may_have_bonus else full) == 0

    def _parse_given(self, word: str | None, cells: list[int], hint: int, text: str) -> int:
        """The counters of rules that count bonus tiles; if not given, as if no tile but the next was a bonus tile."""
        if not self._row.counted:
            return 0
        if word is None:
            given = sum(self.face(cell) for cell in cells) // 2 + 1
            return max(given, 21) << int(GIVEN) | 1 << int(GIVEN_BONUS) if hint == 4 else given << int(GIVEN)
        match = re.fullmatch(r"([0-9]{1,6})\+([0-9]{1,6})", word)
        if match is None:
            raise InputError(f"given is written like 57+2, not {shorten(word)!r}: {quote(text)}")
        among = int(match[2])
        given = int(match[1]) + among
        if among * 21 > given or (hint == 4 and among == 0):
            raise InputError(f"given {word}: bonus tiles are at most one in 21, including the next one: {quote(text)}")
        return given << int(GIVEN) | among << int(GIVEN_BONUS)


def build(rules: str, shape: Shape) -> Game:
    return ThreesGame(rules, shape)
