"""The answer of /api/about: games, learning rules and limits."""

from collections.abc import Callable
from importlib.metadata import version
from typing import Literal

from afterstate.games.game import Game, game_names, make, rule_sets, sizes
from afterstate.learning.rules import RULES
from afterstate.web import messages

State = Literal["starting", "compiling", "ready"]


def about(state: Callable[[], State]) -> messages.About:
    """What the page needs to know before anything else."""
    return messages.About(
        version=version("afterstate"),
        state=state(),
        games=[_about_game(name) for name in game_names()],
        methods=[messages.Method(name=name, about=rule.about) for name, rule in RULES.items()],
    )


def _about_game(name: str) -> messages.AboutGame:
    """Describe a game, with all its rule sets and board sizes."""
    every = {rules: [make(name, rules=rules, size=size) for size in sizes(name, rules)] for rules in rule_sets(name)}
    most = max((game for games in every.values() for game in games), key=lambda game: game.top)
    return messages.AboutGame(
        game=name,
        title=most.title,
        rules=[_about_rules(rules, games) for rules, games in every.items()],
        faces=[most.face(index) for index in range(most.top + 1)],
    )


def _about_rules(rules: str, games: list[Game]) -> messages.RuleSet:
    """Describe one rule set, given its game on each board size."""
    game = games[-1]
    return messages.RuleSet(
        name=rules, note=game.note, hints=game.hints,
        sizes=[
            messages.BoardSize(
                size=str(one.shape), firsts=one.firsts, goal=one.face(one.goal) or None, example=one.example,
            )
            for one in games
        ],
        next=[messages.NextTile(text=text, words=words) for text, words in game.next_tiles.items()],
    )  # fmt: skip
