"""Test vectors: what the rules say about many boards, as JSON, for programs in any language."""

from typing import Any

import numpy as np

from afterstate.games.game import Game, Slide, State
from afterstate.rng import Random

FORMAT = "afterstate-vectors-1"


def make_vectors(game: Game, count: int = 1000, *, seed: int = 1) -> dict[str, Any]:
    """Slides, rewards, ends and chances of many boards: half from random games, half random with tiles up to the largest."""
    boards = _played(game, count // 2, seed) + _random(game, count - count // 2, seed)
    return {
        "format": FORMAT,
        "game": game.name,
        "rules": game.rules,
        "size": str(game.shape),
        "cells": "faces, row by row; 0 is an empty cell",
        "slides": [str(slide) for slide in Slide],
        "seed": seed,
        "boards": [_vector(game, state) for state in boards],
        "new_tiles": [_chances(game, state) for state in boards[: min(count, 50)]],
    }


def _played(game: Game, count: int, seed: int) -> list[State]:
    rng, generator = Random(seed), np.random.default_rng(seed)
    found: list[State] = []
    while len(found) < count:
        state = game.start(rng)
        while slid := game.afterstates(state):
            if generator.random() < 0.1:
                found.append(state)
            state = game.sample(list(slid.values())[generator.integers(len(slid))], rng)
        found.append(state)  # the end of the game
    return found[:count]


def _random(game: Game, count: int, seed: int) -> list[State]:
    """Boards with tiles up to 4, 8, 16, ... and the largest of all, which is there only once: two of it cannot be made."""
    generator = np.random.default_rng(seed + 1)
    top = 2 + np.arange(count)[::-1, None] % (game.top - 1)
    cells = generator.integers(0, np.minimum(top, game.top - 1) + 1, size=(count, game.shape.cells))
    cells[generator.random(cells.shape) < 0.3] = 0
    cells[np.arange(count), generator.integers(game.shape.cells, size=count)] = top[:, 0]
    return list(game.from_array(cells))


def _faces(game: Game, position: Any) -> list[int]:
    return [game.face(tile) for tile in game.cells(position)]


def _vector(game: Game, state: State) -> dict[str, Any]:
    tried = game.try_slides(state)
    return {
        "board": _faces(game, state),
        "over": game.is_over(state),
        "slides": [
            {"legal": legal, "after": _faces(game, after), "reward": after.reward} if legal else {"legal": False}
            for after, legal in tried.values()
        ],
    }


def _chances(game: Game, state: State) -> dict[str, Any]:
    """The afterstate of the first legal slide, and every new tile: cell, face, probability."""
    slid = next(iter(game.afterstates(state).values()), None)
    if slid is None:
        return {"afterstate": _faces(game, state), "outcomes": []}
    before = _faces(game, slid)
    outcomes = []
    for outcome in game.outcomes(slid):
        after = _faces(game, outcome.state)
        cell = next(number for number, face in enumerate(after) if face != before[number])
        outcomes.append([cell, after[cell], outcome.probability])
    return {"afterstate": before, "outcomes": outcomes}
