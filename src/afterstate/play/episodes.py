"""Read episode files of any program: every action is replayed by the rules. `episode_line` describes the format.

    for episode in read_episodes("games.txt", make("threes")):
        print(episode.line, episode.score, episode.largest)

Only one line is in memory at a time. The score is counted again: a stored [reward] must be a number, but is not used. A line
that is not a game raises a `FileError`, an action that the rules forbid an `IllegalActionError`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from afterstate.engine.choosers import make_desk
from afterstate.engine.record import Record, make_recorder
from afterstate.errors import FileError
from afterstate.games.game import (
    WRONG_CELL,
    WRONG_HINT,
    WRONG_TILE,
    Afterstate,
    Game,
    Slide,
    enter,
    final_score,
    game_names,
    largest,
    make,
    rule_sets,
    sizes,
    slides,
)
from afterstate.kernel import kernel, u64
from afterstate.units import shorten

UNREADABLE, STUCK, OVER, NO_TILE, NO_SLIDE, TOO_LONG = range(10, 16)
_FORMAT = "SLIDER:PLACER@TICK|ACTIONS|WINNER@TOCK"
_LONGEST = 1 << 24  # bytes; a line of any game is shorter
_NAMES = 4096  # most characters before and after the actions
_DIGITS = 13  # of a reward, or of milliseconds: 300 years
_WIDEST = 2 * (3 + 2 * (_DIGITS + 3))  # a slide and a tile, each with [-n] and (-n)
_HEAD = re.compile(rb"([^:]*):(.*)@([0-9]{1,15})", re.DOTALL)
_TAIL = re.compile(rb"(.*)@([0-9]{1,15})", re.DOTALL)
_ASIDE = re.compile(rb"\[[^\]]*\]|\([^)]*\)")

_0 = u64(0)


class IllegalActionError(FileError):
    """The file can be read, but the rules forbid one of its actions."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Episode(Record):
    """A record of a game, with what else its line of the file says."""

    line: int  # line number in the file, from 1
    size: int  # bytes of that line
    winner: str
    places: int  # new tiles, including the first ones
    slider_ms: int  # total time of the slides, as the file gives it
    placer_ms: int
    ended: bool  # no slide is legal after its last action

    @property
    def all_ms(self) -> int:
        """Time from the start of the game to its end."""
        return max(round(1000 * self.tock) - round(1000 * self.tick), 0)


def read_episodes(path: Path | str, game: Game) -> Iterator[Episode]:
    """Yield the games of a file. Empty lines are skipped; an error is raised when its line is reached."""
    path = Path(path)
    reader = _Reader(game)
    most = _WIDEST * (game.longest + game.firsts) + _NAMES
    found = False
    try:
        with open(path, "rb") as file:
            for number, line in _lines(file, path, most):
                found = True
                yield _read(path, number, line, reader)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from error
    if not found:
        raise FileError(f"there is no game in {path}")


def read_line(line: bytes, game: Game) -> Episode:
    """The game of one line of a file."""
    return _read("the record", 1, line.rstrip(b"\r\n") + b"\n", _Reader(game))


def _lines(file: IO[bytes], path: Path, most: int) -> Iterator[tuple[int, bytes]]:
    """Yield (number, line) of the lines that are not empty; a line longer than any game is an error."""
    number = 0
    while line := file.readline(most):
        number += 1
        if len(line) == most:
            begins = shorten(line[:100].decode(errors="replace"), 60)
            raise FileError(f"{path}, line {number}: this line has {most} characters or more, too long for a game: {begins!r}")
        if line.strip():
            yield number, line


class _Parts(NamedTuple):
    """A line of the file; a part that is not as it should be is None."""

    head: re.Match[bytes] | None
    actions: bytes
    tail: re.Match[bytes] | None


def _split(text: bytes) -> _Parts:
    begin, end = text.find(b"|"), text.rfind(b"|")
    tail = _TAIL.fullmatch(text, end + 1) if begin < end else None
    return _Parts(_HEAD.fullmatch(text, 0, max(begin, 0)), text[begin + 1 : end], tail)


def _read(path: Path | str, number: int, line: bytes, reader: "_Reader") -> Episode:
    text = line.rstrip(b"\r\n")
    head, actions, tail = _split(text)
    cut_off = not line.endswith(b"\n")
    if head is None or tail is None or (cut_off and int(tail[2]) < int(head[3])):
        begins = shorten(text[:100].decode(errors="replace"), 60)
        if cut_off and head is not None:
            raise FileError(f"{path} is cut off in the middle of line {number}; a whole line is {_FORMAT}: {begins!r}")
        raise FileError(f"{path}, line {number}: a game is written {_FORMAT}, but this line is {begins!r}")
    played = reader.play(np.frombuffer(actions, np.uint8))
    if played.wrong:
        raise _error(f"{path}, line {number}", actions, reader.game, played)
    return Episode.cut(
        reader.game, reader.kept, played.slides,
        line=number, size=len(line), slider=head[1].decode(errors="replace"), placer=head[2].decode(errors="replace"),
        winner=tail[1].decode(errors="replace"), tick=int(head[3]) / 1000, tock=int(tail[2]) / 1000, places=played.places,
        slider_ms=played.slider_ms, placer_ms=played.placer_ms, ended=bool(played.ended),
    )  # fmt: skip


# --- what is wrong -------------------------------------------------------------------------------------------------------


class _Played(NamedTuple):
    """Result of playing a line's actions, up to the first wrong one."""

    wrong: int  # 0, or a code for what is wrong
    at: int  # where the wrong action begins in the text
    board: int
    extra: int
    score: int
    slides: int
    places: int
    largest: int
    slider_ms: int
    placer_ms: int
    ended: int


def _error(where: str, actions: bytes, game: Game, played: _Played) -> FileError:
    """The error for a wrong action."""
    if played.slides == 0 and (others := _other_rules(actions, game)):
        return FileError(
            f"{where}: not a game of {game.name} under the rules {game.rules}: its first {game.firsts} tiles "
            f"do not take {_characters(game)} characters; read it with {' or '.join(others)}"
        )
    number = played.slides + played.places + 1
    action = actions[played.at : played.at + 2 + (actions[played.at : played.at + 1] != b"#" and game.hints)]
    shown = action.decode(errors="replace")
    board = game.format(Afterstate(played.board, played.extra, 0))
    if played.wrong == UNREADABLE:
        begins = shorten(actions[played.at : played.at + 40].decode(errors="replace"), 30)
        return FileError(f"{where}: action {number} cannot be read: {begins!r}, after {board}")
    if not action:
        return IllegalActionError(f"{where}: the game stops after {played.places} of {game.firsts} first tiles: {board}")
    return IllegalActionError(f"{where}, action {number} ({shown}): {_reason(played.wrong, shown, game)}, on {board}")


def _reason(wrong: int, action: str, game: Game) -> str:
    if wrong == STUCK:
        return f"a slide {Slide('URDL'.index(action[1]))} moves nothing"
    if wrong in {WRONG_CELL, WRONG_TILE, WRONG_HINT}:
        tile = game.face(int(action[1], 36))
        if wrong == WRONG_CELL:
            return f"a tile {tile} cannot enter cell {action[0]}"
        if wrong == WRONG_TILE:
            return f"a tile {tile} cannot come now"
        return f"a tile {action[2]} cannot be announced" if action[2] != "4" else "a bonus tile cannot be announced"
    return {
        OVER: "the game is over",
        NO_TILE: f"a new tile must come first, {game.firsts} of them before the first slide",
        NO_SLIDE: "a slide must come first",
        TOO_LONG: f"no game has more than {game.longest} slides",
    }[wrong]


def _characters(game: Game) -> int:
    """Characters of the first tiles of a record, without rewards and times."""
    return game.firsts * (3 if game.hints else 2)


def _other_rules(actions: bytes, game: Game) -> list[str]:
    """Options for games whose records begin like this one; none if it fits `game`."""
    if begins_like(actions, game):
        return []
    pairs = [(name, rules) for name in game_names() for rules in rule_sets(name) if str(game.shape) in sizes(name, rules)]
    every = [make(name, rules=rules, size=str(game.shape)) for name, rules in pairs]
    fitting = [other for other in every if begins_like(actions, other)]
    return [f"--game {other.name} " * (other.name != game.name) + f"--rules {other.rules}" for other in fitting]


# --- what game is it? ----------------------------------------------------------------------------------------------------


class LegalPart(NamedTuple):
    """How much of a game the rules allow."""

    whole: bool  # all of it, and then the game is over
    actions: int  # before the first that is wrong


def sample_actions(path: Path | str, count: int) -> list[bytes]:
    """The actions of the first lines of a file that are games."""
    found: list[bytes] = []
    try:
        with open(path, "rb") as file:
            while len(found) < count and (line := file.readline(_LONGEST)):
                head, actions, tail = _split(line.rstrip(b"\r\n"))
                if head is not None and tail is not None:
                    found.append(actions)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from error
    return found


def begins_like(actions: bytes, game: Game) -> bool:
    """Whether the first tiles of these actions take as many characters as those of a game do."""
    return len(_ASIDE.sub(b"", actions[:1000].partition(b"#")[0])) == _characters(game)  # first tiles are never that long


def legal_part(actions: bytes, game: Game) -> LegalPart:
    """How much of these actions the rules of a game allow."""
    played = _Reader(game).play(np.frombuffer(actions, np.uint8))
    return LegalPart(played.wrong == 0 and bool(played.ended), played.slides + played.places)


# --- the kernel ----------------------------------------------------------------------------------------------------------


class _Reader:
    """Plays the actions of one line after the other, and reuses the memory."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.kept = make_recorder(game.longest)  # the game of the last line
        self._desk = make_desk()
        self._shifts = np.array([game.shape.shift(cell) for cell in range(game.shape.cells)], np.uint64)

    def play(self, text: NDArray[np.uint8]) -> _Played:
        game = self.game
        found = _play(game.tables, text, game.hints, game.firsts, self._shifts, self.kept, self._desk)
        return _Played(*map(int, found))


@kernel
def _digit(character: int) -> int:
    """Value of a digit in base 36; -1 if it is not one."""
    if 48 <= character <= 57:
        return np.int64(character) - 48  # type: ignore[return-value]
    return np.int64(character) - 55 if 65 <= character <= 90 else -1  # type: ignore[return-value]


@kernel
def _aside(text: Any, at: int, opening: int, closing: int) -> tuple[int, int]:
    """Read a number in brackets, if there is one -> where it ends (-1: not a number), the number: [12] -> 12, none -> 0."""
    if at >= text.size or text[at] != opening:
        return at, 0
    at += 1
    sign = 1
    if at < text.size and text[at] == 45:  # '-': some programs write it, and a clock may be set back
        sign = -1
        at += 1
    begin, number = at, 0
    while at < text.size and 48 <= text[at] <= 57 and at - begin < _DIGITS:
        number = 10 * number + _digit(text[at])
        at += 1
    if at == begin or at >= text.size or text[at] != closing:
        return -1, 0
    return at + 1, sign * number


@kernel
def _after_action(text: Any, at: int) -> tuple[int, int]:
    """Read an optional [reward] and (ms) after an action -> where they end (-1: unreadable), ms."""
    at, _ = _aside(text, at, 91, 93)
    if at < 0:
        return -1, 0
    return _aside(text, at, 40, 41)


@kernel
def _check_slide(text: Any, at: int, due: int, legal: int) -> tuple[int, int]:
    """Read and check the slide at `at` -> 0 or what is wrong, the slide."""
    slide = -1
    for number, letter in enumerate((85, 82, 68, 76)):  # U R D L
        if at + 1 < text.size and text[at + 1] == letter:
            slide = number
    if slide < 0:
        return UNREADABLE, slide
    if due > 0:
        return NO_TILE, slide
    if (legal >> slide) & 1 == 0:
        return (OVER if legal == 0 else STUCK), slide
    return 0, slide


@kernel
def _place(
    game: Any, text: Any, at: int, hints: bool, shifts: Any, due: int, legal: int, board: u64, extra: u64
) -> tuple[int, u64, u64]:
    """Read the tile at `at` and place it -> 0 or what is wrong, board, extra."""
    if at + (3 if hints else 2) > text.size:
        return UNREADABLE, board, extra
    cell, tile = _digit(text[at]), _digit(text[at + 1])
    hint = _digit(text[at + 2]) if hints else 0
    if cell < 0 or tile < 0 or hint < 0:
        return UNREADABLE, board, extra
    if due == 0:
        return (OVER if legal == 0 else NO_SLIDE), board, extra
    if cell >= shifts.size:
        return WRONG_CELL, board, extra
    if tile == 0 or tile > 15:
        return WRONG_TILE, board, extra
    wrong, then, more = enter(game, board, extra, shifts[cell], u64(tile), u64(hint))
    if wrong == 0 and hints and not 1 <= hint <= 4:
        wrong = WRONG_HINT
    return (0, then, more) if wrong == 0 else (wrong, board, extra)


@kernel
def _play(game: Any, text: Any, hints: bool, firsts: int, shifts: Any, kept: Any, desk: Any) -> Any:
    """Play actions until one is wrong -> the fields of `_Played`."""
    board, extra = _0, _0
    moves, places, score = 0, 0, 0
    sliding, placing = 0, 0
    due = firsts  # tiles that come before the next slide
    wrong, at, legal = 0, 0, 0
    while at < text.size:
        is_slide = text[at] == 35  # '#'
        end, ms = _after_action(text, at + (3 if hints and not is_slide else 2))
        slide = 0
        if end < 0:
            wrong = UNREADABLE
        elif moves + is_slide >= kept.boards.size:
            wrong = TOO_LONG
        elif is_slide:
            wrong, slide = _check_slide(text, at, due, legal)
        else:
            wrong, board, extra = _place(game, text, at, hints, shifts, due, legal, board, extra)
        if wrong != 0:
            break
        if is_slide:
            kept.slides[moves], kept.rewards[moves], kept.after[moves] = slide, desk.rewards[slide], desk.after[slide]
            board, extra = desk.after[slide], desk.extras[slide]
            score += desk.rewards[slide]
            moves, due, sliding = moves + 1, 1, sliding + ms
        else:
            places, due, placing = places + 1, due - 1, placing + ms
        kept.boards[moves], kept.extras[moves] = board, extra
        if due == 0:
            legal = slides(game, board, extra, desk.after, desk.extras, desk.rewards)
        at = end
    if wrong == 0 and moves == 0 and due > 0:
        wrong = NO_TILE
    ended = slides(game, board, extra, desk.after, desk.extras, desk.rewards) == 0
    score = final_score(game, board, extra, score)
    return wrong, at, board, extra, score, moves, places, largest(game, board, extra), sliding, placing, ended
