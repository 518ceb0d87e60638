"""Perft: count every line of play to a fixed depth. Two programs that agree on these numbers agree on the rules."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterstate.errors import InputError
from afterstate.games.game import MAX_OUTCOMES, Game, State, outcomes, slides
from afterstate.kernel import kernel, u64

MAX_DEPTH = 6


@dataclass(frozen=True)
class PerftRow:
    """What happens at one depth, over all lines of play that reach it."""

    depth: int  # slides made
    afterstates: int  # lines that end with a slide
    states: int  # lines that end with a new tile
    reward: int  # rewards of the last slide, added up over the afterstates
    ended: int  # states of this depth in which no slide is legal


@kernel
def _count(
    game: Any,
    board: u64,
    extra: u64,
    level: int,
    depth: int,
    after: Any,
    after_extra: Any,
    rewards: Any,
    boards: Any,
    extras: Any,
    chances: Any,
    totals: Any,
) -> int:
    legal = slides(game, board, extra, after[level], after_extra[level], rewards[level])
    if legal == 0:
        totals[level, 3] += 1
    if level == depth:
        return 0
    for slide in range(4):
        if legal & (1 << slide):
            totals[level + 1, 0] += 1
            totals[level + 1, 2] += rewards[level, slide]
            count = outcomes(game, after[level, slide], after_extra[level, slide], boards[level], extras[level], chances[level])
            totals[level + 1, 1] += count
            for number in range(count):
                _count(
                    game, boards[level, number], extras[level, number], level + 1, depth,
                    after, after_extra, rewards, boards, extras, chances, totals,
                )  # fmt: skip
    return 0


def perft(game: Game, state: State, depth: int, *, progress: Callable[[int, int], None] | None = None) -> list[PerftRow]:
    """Count all lines of play from a state, one row for each depth from 1 to `depth`; `progress` gets (done, total)."""
    if not 1 <= depth <= MAX_DEPTH:
        raise InputError(f"perft counts to a depth of 1 to {MAX_DEPTH}, not {depth}")
    totals = np.zeros((depth + 1, 4), np.int64)
    branches = []
    for afterstate in game.afterstates(state).values():
        children = game.outcomes(afterstate)
        branches += [outcome.state for outcome in children]
        totals[1, :3] += (1, len(children), afterstate.reward)
    two, many = (depth, 4), (depth, MAX_OUTCOMES)
    desk: list[Any] = [np.zeros(two, np.uint64), np.zeros(two, np.uint64), np.zeros(two, np.int64)]
    desk += [np.zeros(many, np.uint64), np.zeros(many, np.uint64), np.zeros(many, np.float64)]
    for number, branch in enumerate(branches):
        arguments: Any = (game.tables, u64(branch.board), u64(branch.extra), 0, depth - 1, *desk, totals[1:])
        _count(*arguments)
        if progress:
            progress(number + 1, len(branches))
    return [PerftRow(level, *(int(n) for n in totals[level])) for level in range(1, depth + 1)]
