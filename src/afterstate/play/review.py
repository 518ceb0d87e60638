"""Review a game: how much each move gave away, how lucky the new tiles were, and how a position could continue.

With Q(s, a) the value of a slide at depth 2, exact, and M(s) the best value at depth 1:

    regret of a move    max over slides of Q(s, .) - Q(s, a)
    luck of a new tile  M(s'') - expectation of M over all new tiles = M(s'') - (Q(s, a) - reward)
    value of a state    score so far + M(s): the expected final score
    share of a move     its regret / (score so far + max over slides of Q(s, .)): what part of the final score it gave away
    accuracy            100 exp(-40 x mean share), over moves with a choice: 100 gives nothing away, 67 gives 1 % away a move

So luck is 0 on average, whoever plays. `benchmarks/accuracy.py` compares the accuracy of weak and strong players.
"""

import math
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
STEEPNESS = 40.0  # of accuracy: at a mean share of 1 / STEEPNESS it is 100 / e


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
    share: float


@dataclass(frozen=True)
class Review:
    """The review of a game of n plies by a network."""

    scores: NDArray[np.int64]  # (n + 1,) before each ply, and at the end
    values: NDArray[np.float64]  # (n + 1,) expected final score
    best: NDArray[np.uint8]  # (n,) the best slide
    options: NDArray[np.float64]  # (n, 4) Q of each slide, -inf if it is illegal
    regrets: NDArray[np.float64]  # (n,)
    shares: NDArray[np.float64]  # (n,) regret as a share of the expected final score, 0 to 1
    luck: NDArray[np.float64]  # (n,) of the new tile after each ply
    choices: NDArray[np.uint8]  # (n,) legal slides
    best_share: float  # share of the plies with a choice that gave nothing away
    mean_regret: float  # over all plies
    worst: tuple[Mistake, ...]  # by their shares

    @property
    def accuracy(self) -> float:
        """100 gives nothing away; over plies with a choice."""
        return self.accuracy_of(np.ones(len(self.shares), np.bool_))

    def accuracy_of(self, plies: NDArray[np.bool_]) -> float:
        """The accuracy of some plies, such as those of one of two players; 100 if none had a choice."""
        counted = self.shares[plies & (self.choices > 1)]
        return 100.0 * math.exp(-STEEPNESS * float(counted.mean())) if counted.size else 100.0


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
    best, top = ahead.argmax(axis=1), ahead.max(axis=1)
    chosen = ahead[np.arange(count), record.slides]
    regrets = top - chosen
    shares = np.clip(regrets / np.maximum(scores[:count] + top, 1.0), 0.0, 1.0)
    luck = now[1:] - (chosen - record.rewards)
    if count and boards[count] == record.after[-1]:  # a record that stops before its last tile
        luck[-1] = 0.0
    choices = np.isfinite(ahead).sum(axis=1)
    free = choices > 1
    worst = [ply for ply in np.argsort(-shares, kind="stable")[:WORST].tolist() if regrets[ply] > 0]
    return Review(
        scores=scores,
        values=scores + now,
        best=best.astype(np.uint8),
        options=ahead,
        regrets=regrets,
        shares=shares,
        luck=luck,
        choices=choices.astype(np.uint8),
        best_share=float((regrets[free] == 0.0).mean()) if free.any() else 1.0,
        mean_regret=float(regrets.mean()) if count else 0.0,
        worst=tuple(_mistake(record, ply, best, regrets, shares) for ply in worst),
    )


def _mistake(
    record: Record, ply: int, best: NDArray[np.intp], regrets: NDArray[np.float64], shares: NDArray[np.float64]
) -> Mistake:
    return Mistake(ply, Slide(int(record.slides[ply])), Slide(int(best[ply])), float(regrets[ply]), float(shares[ply]))


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
