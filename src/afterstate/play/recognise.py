"""Which game is an episode file of?

The number of characters that its first tiles take leaves a few games, rules and board sizes. Some games of the file are played
again by each of them. The one that allows most of them is chosen; if several do, the first in the order of `rule_sets`.
"""

from pathlib import Path

from afterstate.bitboard import Shape
from afterstate.errors import FileError, InputError
from afterstate.games.game import Game, game_names, make, rule_sets, sizes
from afterstate.play.episodes import begins_like, legal_part, sample_actions
from afterstate.units import shorten

_SAMPLE = 10  # games of the file to play again
_USUAL = "4x4"


def recognise(path: Path | str, *, game: str | None = None, rules: str | None = None, size: str | None = None) -> Game:
    """Find the game of a file. What is given is taken as it is; an error if the file could be of several games."""
    pairs = _pairs(game, rules)
    if size is not None:
        Shape.parse(size)  # report a wrong size first
    usual = make(pairs[0][0], rules=pairs[0][1], size=size or _USUAL)
    if len(pairs) == 1 and size is not None:
        return usual
    played = sample_actions(path, _SAMPLE)
    fitting = [one for one in _candidates(pairs, size) if begins_like(played[0], one)] if played else []
    if fitting:
        return _choose(path, played, fitting)
    if not played or game is not None or rules is not None:
        return usual  # who reads the file by it finds out what is wrong, and says so
    raise FileError(f"{path}: no game begins with these tiles; say which game it is with --game, --rules and --size")


def _pairs(game: str | None, rules: str | None) -> list[tuple[str, str]]:
    """The games and rule sets that are possible."""
    every = [(name, one) for name in (game_names() if game is None else (game,)) for one in rule_sets(name)]
    found = [pair for pair in every if rules is None or pair[1] == rules]
    if not found and rules is not None:
        there_are = ", ".join(one for _, one in every)
        raise InputError(f"{game or 'no game'} has {'no' if game else 'a'} rule set {shorten(rules)!r}; there are: {there_are}")
    return found


def _candidates(pairs: list[tuple[str, str]], size: str | None) -> list[Game]:
    """Each of them on every board, or on the one that is given; the usual board first."""
    boards = [(name, rules, one) for name, rules in pairs for one in sizes(name, rules) if size in (None, one)]
    return [make(name, rules=rules, size=one) for name, rules, one in sorted(boards, key=lambda board: board[2] != _USUAL)]


def _choose(path: Path | str, played: list[bytes], fitting: list[Game]) -> Game:
    """The game that allows the most of what was played."""
    scores: dict[Game, tuple[int, int]] = {}
    for game in fitting:
        parts = [legal_part(actions, game) for actions in played]
        scores[game] = sum(part.whole for part in parts), sum(part.actions for part in parts)
        if scores[game][0] == len(played):
            return game
    best = [game for game in fitting if scores[game] == max(scores.values())]
    if names := {game.name: None for game in best if game.name != best[0].name}:
        raise FileError(f"{path} could be a file of {best[0].name} or of {', '.join(names)}; say which with --game")
    return best[0]
