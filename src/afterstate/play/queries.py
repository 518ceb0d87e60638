"""Questions about positions as JSON objects, and their answers: what `afterstate analyse` reads and writes.

    {"id": "a", "board": "2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 4", "depth": 3}
    {"id": "a", "board": ..., "move": "left", "values": {"up": 612.5, ...}, "depth": 3, "ms": 0.4, "line": [...], ...}

A position is a `board`, or comes from a game: `seed` and `moves`, or an `episode`. Then `turns` may name several of its states.
"""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

from afterstate.engine.record import Record, parse_moves, replay
from afterstate.errors import AfterstateError, InputError
from afterstate.files import parse_json
from afterstate.games.game import Game, State
from afterstate.play.agent import Agent, Choice
from afterstate.play.episodes import read_line
from afterstate.play.review import LINE, best_line
from afterstate.rng import Purpose, Random
from afterstate.search.options import SearchOptions
from afterstate.units import check_seed, shorten

SEARCH = ("depth", "move_time", "exact", "cutoff", "downgrade")  # options of a search that a question may give
PARTS = ("line", "search", "after")  # what an answer may include
LONGEST_LINE = 100
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "board": ((str,), "a text such as '2 4 / 0 2'"),
    "seed": ((int,), "a whole number"),
    "moves": ((str,), "a text of the letters U, R, D and L"),
    "episode": ((str,), "one line of an episode file"),
    "turns": ((list,), "a list of whole numbers"),
    "depth": ((int,), "a whole number"),
    "move_time": ((int, float, str), "seconds, or a text such as '10ms'"),
    "exact": ((bool,), "true or false"),
    "cutoff": ((int, float), "a number"),
    "downgrade": ((int,), "a tile"),
    "include": ((list,), f"a list of {', '.join(PARTS)}"),
    "length": ((int,), f"a whole number, 1 to {LONGEST_LINE}"),
}


class QueryError(InputError):
    """A question that cannot be answered, with its id if it has one."""

    def __init__(self, id_: Any, reason: str) -> None:
        super().__init__(reason)
        self.id = id_


@dataclass(frozen=True)
class Question:
    """One position to look at."""

    id: str | int
    turn: int | None  # how many slides of the game came before; None if a board was given
    state: State
    search: tuple[tuple[str, Any], ...]  # options of the search, as given
    include: tuple[str, ...]
    length: int  # slides of the line


def read_questions(line: bytes | str, game: Game, search: dict[str, Any]) -> list[Question]:
    """The questions of one line, one for each turn that it names. `search` is for what the line leaves open.

    Raises a QueryError if anything is wrong with it.
    """
    try:
        given = parse_json(line)
    except ValueError as error:
        raise QueryError(None, f"this line is not JSON: {shorten(str(error))}") from error
    if not isinstance(given, dict):
        raise QueryError(None, f"a question is a JSON object, not {shorten(repr(given), 40)}")
    id_ = given.pop("id", None)
    if type(id_) not in (str, int) or len(str(id_)[:300]) > 200:
        raise QueryError(None, f"a question needs an id, a text or a whole number, not {shorten(repr(id_), 40)}")
    try:
        _check(given)
        options = tuple(sorted((_search(given, search)).items()))
        SearchOptions.read(**dict(options)).resolve(game.name)
        include = tuple(given.get("include", ("line", "search")))
        positions = _positions(given, game)
        return [Question(id_, turn, state, options, include, given.get("length", LINE)) for turn, state in positions]
    except (AfterstateError, ValueError, OverflowError) as error:
        raise QueryError(id_, str(error)) from error


def _check(given: dict[str, Any]) -> None:
    """Refuse unknown keys and values of the wrong kind."""
    if unknown := [name for name in given if name not in _KINDS]:
        raise InputError(f"a question has no {shorten(unknown[0], 40)!r}; it may have id, {', '.join(_KINDS)}")
    for name, value in given.items():
        kinds, words = _KINDS[name]
        if type(value) not in kinds or value != value:  # noqa: PLR0124 - nan
            raise InputError(f"{name} is {words}, not {shorten(repr(value), 40)}")
    if wrong := [part for part in given.get("include", ()) if part not in PARTS]:
        raise InputError(f"an answer may include {', '.join(PARTS)}, not {shorten(repr(wrong[0]), 40)}")
    if not 1 <= given.get("length", LINE) <= LONGEST_LINE:
        raise InputError(f"a line has 1 to {LONGEST_LINE} slides, not {given['length']}")


def _search(given: dict[str, Any], search: dict[str, Any]) -> dict[str, Any]:
    """The options of a search: a depth or a time in the question replaces both of the command line."""
    own = {name: given[name] for name in SEARCH if name in given}
    usual = {name: value for name, value in search.items() if value is not None and name in SEARCH}
    if {"depth", "move_time"} & own.keys():
        usual = {name: value for name, value in usual.items() if name not in {"depth", "move_time"}}
    return usual | own


def _positions(given: dict[str, Any], game: Game) -> list[tuple[int | None, State]]:
    sources = {
        "board": given.keys() & {"board"},
        "game": given.keys() & {"seed", "moves"},
        "episode": given.keys() & {"episode"},
    }
    if sum(map(bool, sources.values())) != 1 or len(sources["game"]) == 1:
        raise InputError("give a board, or the seed and the moves of a game, or an episode")
    if sources["board"]:
        if "turns" in given:
            raise InputError("turns are those of a game: give its seed and moves, or an episode")
        return [(None, game.parse(given["board"]))]
    record = _record(given, game)
    turns = given.get("turns", [len(record)])
    for turn in turns:
        if type(turn) is not int or not 0 <= turn <= len(record):
            raise InputError(f"this game has the turns 0 to {len(record)}, not {shorten(repr(turn), 40)}")
    if len(turns) > len(record) + 1:
        raise InputError(f"this game has {len(record) + 1} positions, but {len(turns)} turns were given")
    return [(turn, record.state(turn)) for turn in turns]


def _record(given: dict[str, Any], game: Game) -> Record:
    if "episode" in given:
        return read_line(given["episode"].encode(errors="replace"), game)
    return replay(game, Random(check_seed(given["seed"]), Purpose.PLAY), parse_moves(given["moves"]))


def answer(question: Question, agent: Agent, quick: Agent) -> dict[str, Any]:
    """What the agent says about a position. `quick` finds how its best slide could continue."""
    game, state = agent.network.game, question.state
    began = perf_counter()
    choice = agent.choose(state)
    ms = 1000 * (perf_counter() - began)
    found: dict[str, Any] = {"id": question.id}
    if question.turn is not None:
        found["turn"] = question.turn
    found |= {
        "board": game.format(state),
        "move": None if choice.move is None else str(choice.move),
        "values": {str(slide): value for slide, value in choice.values.items()},
        "depth": _depth(agent, choice),
        "ms": round(ms, 3),
    }
    if "after" in question.include:
        slid = game.afterstates(state).items()
        found["after"] = {str(slide): {"board": game.format(after), "reward": after.reward} for slide, after in slid}
    if "line" in question.include:
        line = best_line(quick, state, first=choice, length=question.length)
        found["line"] = [{"move": str(step.slide), "value": step.value, "board": game.format(step.state)} for step in line]
    if "search" in question.include:
        found["search"] = None if choice.search is None else choice.search.as_dict()
    return found


def _depth(agent: Agent, choice: Choice) -> int:
    """How many slides the agent looked ahead."""
    return agent.depth if choice.search is None else max(choice.search.moves_by_depth, default=0)
