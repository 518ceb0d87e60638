"""A game looked back on: what each move gave away, what luck the new tiles brought, and how a position may go on.

With Q(s, a) the value of a slide at depth 2, exact, and M(s) the best value at depth 1:

    regret of a move    max over slides of Q(s, .) - Q(s, a)
    luck of a new tile  M(s'') - expectation of M over all new tiles = M(s'') - (Q(s, a) - reward)
    value of a state    score so far + M(s): the score that the game will end with, as it is expected there

So luck is 0 on average, whoever plays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterstate.games.game import Afterstate, Game, Outcome, Slide, State, slides
from afterstate.kernel import kernel, u64
from afterstate.learning.episode import Recorded, state_at
from afterstate.network.greedy import make_desk, survey, weigh
from afterstate.network.network import Network
from afterstate.play.agent import Agent, Choice
from afterstate.search.lookahead import make_view
from afterstate.search.options import SearchOptions

WORST = 3  # moves that a review shows
LINE = 4  # slides of a line


@dataclass(frozen=True)
class Step:
    """One slide of a line, and a typical new tile after it."""

    slide: Slide
    value: float  # reward + value, in the state before
    afterstate: Afterstate
    state: State


@dataclass(frozen=True)
class Mistake:
    """A move that gave much away."""

    ply: int
    slide: Slide
    best: Slide
    regret: float


@dataclass(frozen=True)
class Review:
    """A game of n plies, looked back on with a network."""

    scores: NDArray[np.int64]  # (n + 1,) before each ply, and at the end
    values: NDArray[np.float64]  # (n + 1,) expected final score
    best: NDArray[np.uint8]  # (n,) the best slide
    regrets: NDArray[np.float64]  # (n,)
    luck: NDArray[np.float64]  # (n,) of the new tile after each ply
    choices: NDArray[np.uint8]  # (n,) legal slides
    accuracy: float  # 100: always the best slide, 0: always the worst; over plies with a choice
    best_share: float  # part of the plies with a choice in which nothing was given away
    mean_regret: float  # over all plies
    worst: tuple[Mistake, ...]


@kernel
def _weigh_all(game: Any, net: Any, view: Any, boards: Any, extras: Any, desk: Any, values: Any) -> None:
    for number in range(boards.size):
        legal = slides(game, boards[number], extras[number], desk.after, desk.extras, desk.rewards)
        if legal != 0:
            survey(view, net, boards[number], extras[number], legal, desk, u64(0))
            weigh(view, game, net, legal, desk, u64(0))
            for slide in range(4):
                values[number, slide] = desk.values[slide]


def weigh_all(network: Network, boards: NDArray[np.uint64], extras: NDArray[np.uint64], depth: int) -> NDArray[np.float64]:
    """(n, 4) reward + value of each slide of many states, by an exact search; -inf where a slide is illegal."""
    values = np.full((len(boards), 4), -np.inf)
    view = make_view(network, SearchOptions.of(network.game.name, depth=depth, exact=True))
    _weigh_all(network.game.tables, network.lookup, view, boards, extras, make_desk(network.lookup), values)
    return values


def _best_values(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) M(s); 0 where the game is over."""
    best = values.max(axis=1)
    return np.where(np.isfinite(best), best, 0.0)


def scores_of(game: Game, record: Recorded) -> NDArray[np.int64]:
    """(n + 1,) the score in each state of a record, as if the game had ended there."""
    sums = np.concatenate([[0], np.cumsum(record.rewards)])
    return np.array([game.score(state_at(record, ply), int(rewards)) for ply, rewards in enumerate(sums)], np.int64)


def review(network: Network, record: Recorded) -> Review:
    """Look back on a game: `record` has one state more than slides."""
    count = len(record.slides)
    boards, extras = np.ascontiguousarray(record.boards), np.ascontiguousarray(record.extras)
    now = _best_values(weigh_all(network, boards, extras, 1))
    ahead = weigh_all(network, boards[:count], extras[:count], 2)
    scores = scores_of(network.game, record)
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
    """How a position may go on: the best slide, the new tile whose value is nearest to the expectation, and so on.

    `first` is what is known of the state already, perhaps from a deeper look.
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
    values = _best_values(weigh_all(network, boards, extras, 1))
    expected = float(np.dot(values, [outcome.probability for outcome in outcomes]))
    return outcomes[int(np.abs(values - expected).argmin())].state
