"""Review a game: how much each move gave away, how lucky the new tiles were, and how a position could continue.

With Q(s, a) the value of a slide at depth 2, exact, and M(s) the best value at depth 1:

    regret of a move    max over slides of Q(s, .) - Q(s, a)
    luck of a new tile  M(s'') - expectation of M over all new tiles = M(s'') - (Q(s, a) - reward)
    value of a state    score so far + M(s): the expected final score

So luck is 0 on average, whoever plays.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from afterstate.engine.record import Record
from afterstate.games.game import Afterstate, Outcome, Slide, State
from afterstate.network.network import Network
from afterstate.play.agent import Agent, Choice

WORST = 3  # moves that a review shows
LINE = 4  # slides of a line of play


@dataclass(frozen=True)
class Step:
    """One slide of a line of play, and a typical new tile after it."""

    slide: Slide
    value: float  # reward + value, in the state before
    afterstate: Afterstate
    state: State


@dataclass(frozen=True)
class Mistake:
    """A move that gave a lot away."""

    ply: int
    slide: Slide
    best: Slide
    regret: float


@dataclass(frozen=True)
class Review:
    """The review of a game of n plies by a network."""

    scores: NDArray[np.int64]  # (n + 1,) before each ply, and at the end
    values: NDArray[np.float64]  # (n + 1,) expected final score
    best: NDArray[np.uint8]  # (n,) the best slide
    regrets: NDArray[np.float64]  # (n,)
    luck: NDArray[np.float64]  # (n,) of the new tile after each ply
    choices: NDArray[np.uint8]  # (n,) legal slides
    accuracy: float  # 100: always the best slide, 0: always the worst; over plies with a choice
    best_share: float  # share of the plies with a choice that gave nothing away
    mean_regret: float  # over all plies
    worst: tuple[Mistake, ...]


def _best_values(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) M(s); 0 where the game is over."""
    best = values.max(axis=1)
    return np.where(np.isfinite(best), best, 0.0)


def review(network: Network, record: Record) -> Review:
    """Review a game."""
    count, boards, extras = len(record), record.boards, record.extras
    now = _best_values(Agent(network, depth=1).weigh_all(boards, extras))
    ahead = Agent(network, depth=2, exact=True).weigh_all(boards[:count], extras[:count])
    scores = record.scores
    if count == 0:
        nothing = np.zeros(0)
        empty = np.zeros(0, np.uint8)
        return Review(scores, scores + now, empty, nothing, nothing, empty, 100.0, 1.0, 0.0, ())
    best = ahead.argmax(axis=1)
    top = ahead.max(axis=1)
    chosen = ahead[np.arange(count), record.slides]
    regrets = top - chosen
    luck = now[1:] - (chosen - record.rewards)
    if boards[count] == record.after[-1]:  # a record that stops before its last tile
        luck[-1] = 0.0
    legal = np.isfinite(ahead)
    choices = legal.sum(axis=1)
    spread = top - np.where(legal, ahead, np.inf).min(axis=1)
    free = choices > 1
    whole = float(spread[free].sum())
    worst = [ply for ply in np.argsort(-regrets, kind="stable")[:WORST].tolist() if regrets[ply] > 0]
    return Review(
        scores=scores,
        values=scores + now,
        best=best.astype(np.uint8),
        regrets=regrets,
        luck=luck,
        choices=choices.astype(np.uint8),
        accuracy=100.0 * (1.0 - float(regrets[free].sum()) / whole) if whole > 0 else 100.0,
        best_share=float((regrets[free] == 0.0).mean()) if free.any() else 1.0,
        mean_regret=float(regrets.mean()),
        worst=tuple(Mistake(ply, Slide(int(record.slides[ply])), Slide(int(best[ply])), float(regrets[ply])) for ply in worst),
    )


def best_line(agent: Agent, state: State, *, first: Choice | None = None, length: int = LINE) -> tuple[Step, ...]:
    """How a position could continue: the best slide, the new tile whose value is closest to the expectation, and so on.

    `first` is the choice in `state` if it is known already, for example from a deeper search.
    """
    network, game = agent.network, agent.network.game
    line: list[Step] = []
    while len(line) < length:
        choice = first if first is not None and not line else agent.choose(state)
        if choice.move is None:
            break
        value = choice.values[choice.move]
        assert value is not None
        afterstate = game.afterstates(state)[choice.move]
        state = _typical(network, game.outcomes(afterstate))
        line.append(Step(choice.move, value, afterstate, state))
    return tuple(line)


def _typical(network: Network, outcomes: Sequence[Outcome]) -> State:
    boards = np.array([outcome.state.board for outcome in outcomes], np.uint64)
    extras = np.array([outcome.state.extra for outcome in outcomes], np.uint64)
    values = _best_values(Agent(network).weigh_all(boards, extras))
    expected = float(np.dot(values, [outcome.probability for outcome in outcomes]))
    return outcomes[int(np.abs(values - expected).argmin())].state
