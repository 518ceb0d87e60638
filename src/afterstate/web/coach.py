"""Answers about games that were played: reviews, records for files, and puzzles. They run in threads."""

import re
import secrets
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.engine.record import Record, format_moves, parse_moves
from afterstate.engine.record import replay as play_again
from afterstate.errors import InputError
from afterstate.games.game import Game
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.play.episode_line import episode_line
from afterstate.play.episodes import read_line
from afterstate.play.puzzles import find_puzzles
from afterstate.play.review import Mistake, best_line, review
from afterstate.rng import Purpose, Random
from afterstate.web import lessons, messages
from afterstate.web.answers import NAMES, line_of, tiles
from afterstate.web.library import Library, game_of


def coach(library: Library, request: lessons.Coaching) -> lessons.Coached:
    """Review a game, given by seed and moves or by a line of an episode file."""
    network = library.network(request.model)
    game = _game_for(network, request)
    record = _game_of(game, request, start=request.start)
    if len(record.slides) > messages.MOVES:
        raise InputError(f"the coach takes games of at most {messages.MOVES} moves, not {len(record.slides)}")
    found = review(network, record)
    who = _read_marks(request.marks, len(record))
    with library.agent(request.model, depth=2, move_time=None) as agent:
        worst = [_worst(agent, record, mistake) for mistake in found.worst]
    return lessons.Coached(
        game=game.name, rules=game.rules, size=str(game.shape), slider=_slider(request, record),
        plies=len(record), slides=record.moves, tiles=[tiles(game, state) for state in record.states],
        beside=_beside(game, record), rewards=record.rewards.tolist(), scores=found.scores.tolist(),
        values=_round(found.values), best=format_moves(found.best), options=_options(found.options),
        regrets=_round(found.regrets), shares=_round(found.shares, 5), luck=_round(found.luck), choices=found.choices.tolist(),
        accuracy=found.accuracy, yours=found.accuracy_of(who == "y") if (who == "y").any() else None,
        ais=found.accuracy_of(who == "a") if (who == "a").any() else None, best_share=found.best_share,
        mean_regret=found.mean_regret, luck_total=float(found.luck.sum()), score=int(found.scores[-1]), largest=record.largest,
        worst=worst,
    )  # fmt: skip


def record(request: lessons.Recording) -> lessons.Recorded:
    """A game as one line of an episode file, with its result. A line that is given is checked by the rules."""
    game = game_of(request)
    found = _game_of(game, request)
    if request.episode is None:
        found = replace(found, slider=request.slider, tick=request.began / 1000, tock=request.ended / 1000)
    return lessons.Recorded(
        game=game.name, rules=game.rules, size=str(game.shape), slider=found.slider, moves=found.moves, score=found.score,
        largest=found.largest, tiles=tiles(game, found.state(-1)), over=game.is_over(found.state(-1)),
        episode=episode_line(found) if request.episode is None else request.episode.strip(),
    )  # fmt: skip


def puzzles(library: Library, request: lessons.Puzzling) -> lessons.Puzzles:
    """Positions in which a quick look of the model goes clearly wrong."""
    network = library.network(request.model)
    game = network.game
    seed = secrets.randbelow(10**9) if request.seed is None else request.seed
    found = [
        lessons.Puzzle(text=game.format(one.state), tiles=tiles(game, one.state), score=one.score, slide=NAMES[one.slide])
        for one in find_puzzles(network, count=request.count, seed=seed)
    ]
    return lessons.Puzzles(game=game.name, rules=game.rules, size=str(game.shape), puzzles=found)


def warm_up(library: Library) -> None:
    """Load or compile what the first review needs, before anyone asks."""
    default = library.models().default
    if default is not None:
        game = library.network(default).game
        ref = {"game": game.name, "rules": game.rules, "size": str(game.shape)}
        coach(library, lessons.Coaching(model=default, seed=1, moves="", **ref))


# --- parts ---------------------------------------------------------------------------------------------------------------


def _game_for(network: Network, request: messages.GameRef) -> Game:
    game = game_of(request)
    if game != network.game:
        raise InputError(f"this model is for {network.game!r}, not for {game!r}; choose another model")
    return game


def _game_of(game: Game, request: lessons.Played, *, start: str | None = None) -> Record:
    seed, moves, episode = request.seed, request.moves, request.episode
    if seed is not None and moves is not None and episode is None:
        first = None if start is None else game.parse(start)
        return play_again(game, Random(seed, Purpose.PLAY), parse_moves(moves), start=first)
    if seed is None and moves is None and episode is not None:
        return read_line(episode.encode(), game)
    raise InputError("give the seed and the moves of a game, or one line of an episode file")


def _slider(request: lessons.Played, record: Record) -> str | None:
    """Who played, if the record says so."""
    return None if request.episode is None else record.slider or None


def _read_marks(marks: str | None, plies: int) -> NDArray[np.str_]:
    """(plies,) who made each move: "2y1a" -> y y a. All are ? if nothing is given."""
    if marks is None:
        return np.full(plies, "?")
    runs = [(int(count), who) for count, who in re.findall(r"([0-9]+)([ya?])", marks)]
    if (total := sum(count for count, _ in runs)) != plies:
        raise InputError(f"marks: they say who made {total} moves, but the game has {plies}")
    return np.repeat([who for _, who in runs], [count for count, _ in runs]) if runs else np.full(0, "?")


def _worst(agent: Agent, record: Record, mistake: Mistake) -> lessons.Worst:
    """One of the worst moves, with the better line."""
    return lessons.Worst(
        ply=mistake.ply, slide=NAMES[mistake.slide], best=NAMES[mistake.best], regret=mistake.regret, share=mistake.share,
        line=line_of(agent.network.game, best_line(agent, record.state(mistake.ply))),
    )  # fmt: skip


def _beside(game: Game, record: Record) -> list[str]:
    """What the texts say besides the tiles; one look at the first shows whether that is anything."""
    if "|" not in game.format(record.state(0)):
        return []
    return ["".join(game.format(state).partition(" |")[1:]) for state in record.states]


def _options(values: NDArray[np.float64]) -> list[list[float | None]]:
    return [[round(value, 1) if value > -np.inf else None for value in four] for four in values.tolist()]


def _round(values: Any, digits: int = 2) -> list[float]:
    """Hundredths of a point are enough for a chart."""
    return [round(value, digits) for value in values.tolist()]
