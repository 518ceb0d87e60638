"""Learn step by step from Python: from a game on record, from one transition, towards a value of one's own."""

import math
import threading
from typing import SupportsFloat, SupportsIndex

import numpy as np

from afterstate.engine.choosers import GREEDY, make_desk
from afterstate.engine.record import Record
from afterstate.errors import InputError
from afterstate.games.game import Afterstate, Slide, State
from afterstate.learning.backups import make_backup, slots_needed
from afterstate.learning.follow import follow, move_value
from afterstate.learning.learner import Learner as Parts
from afterstate.learning.options import Order, TrainOptions, check_rate
from afterstate.learning.progress import Learning
from afterstate.learning.rules import RULES
from afterstate.learning.update import make_tally
from afterstate.memory import allocate
from afterstate.network.network import Network
from afterstate.units import parse_rate, shorten


class Learner:
    """Moves the weights of a network by a learning rule, as training does, with games and transitions of your own.

    >>> import afterstate as af
    >>> network = af.Network(af.make("2048"), "5x4")
    >>> learner = Learner(network, method="tc", lambda_=0.5)
    >>> for number in range(100):
    ...     game = af.play_episode(network.game, af.RandomPlayer(seed=number), af.RandomEnvironment(seed=number))
    ...     learned = learner.learn_episode(game)
    >>> learned.moves == len(game)
    True
    >>> state = network.game.parse("2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 4")
    >>> left = network.game.slide(state, "left")
    >>> learner.learn_value(left, 1000.0) > 0  # the error: 1000 - value
    True

    The options are those of `train`. The network learns in place, so an agent that uses it knows at once. `alpha` may be
    changed at any time.
    """

    def __init__(
        self,
        network: Network,
        *,
        method: str = "td",
        alpha: SupportsFloat | str | None = None,
        lambda_: SupportsFloat = 0.0,
        horizon: SupportsIndex = 3,
        steps: SupportsIndex = 1,
        order: Order = "forward",
    ) -> None:
        given = TrainOptions.read(
            method=method, alpha=alpha, lambda_=lambda_, horizon=horizon, steps=steps, order=order, target=network.target
        )
        self.network = network
        self._kind = RULES[given.method].kind
        self._kept = allocate(self._kind.numbers * network.weights.size)
        self._backup = make_backup(
            backward=given.order == "backward", decay=given.lambda_, horizon=given.horizon, steps=given.steps,
            longest=network.game.longest,
        )  # fmt: skip
        self._tally = make_tally(network.game.most)
        self._desk = make_desk(network.lookup, slots=slots_needed(self._backup))
        self._lock = threading.Lock()  # working memory is used by one lesson at a time
        self._alpha = given.rate

    @property
    def alpha(self) -> float:
        """The learning rate. Each of the m weights of a position moves by alpha / m of the error; with TC at most."""
        return self._alpha

    @alpha.setter
    def alpha(self, rate: SupportsFloat | str) -> None:
        found = parse_rate(rate)
        check_rate(found)
        self._alpha = found

    def _parts(self) -> Parts:
        return Parts(self._kind.make(self.network, self._alpha, self._kept), self._backup, self._tally)

    # --- a game ------------------------------------------------------------------------------------------------------------

    def learn_episode(self, record: Record) -> Learning:
        """Learn from a whole game, as training would have if it had played it -> how that went.

        The record may come from `play_episode`, `Agent.play_on`, `replay` or `read_episodes`. It may begin anywhere, but must
        end where no slide is legal: the last position is worth nothing.
        """
        self._check(record)
        with self._lock:
            self._tally.sums.fill(0.0)
            follow(
                self._parts(), GREEDY, self.network.game.tables, self.network.lookup,
                record.boards, record.extras, record.slides, self._desk,
            )  # fmt: skip
            learned = Learning.of(self._tally.sums)
        assert learned is not None
        return learned

    def _check(self, record: Record) -> None:
        """Refuse a record that is not a whole game by the rules. Where new tiles appear is up to its environment."""
        game = self.network.game
        if not isinstance(record, Record):
            raise InputError(f"{shorten(repr(record))} is not a game on record: play_episode, play_on and replay make some")
        if record.game != game:
            raise InputError(f"this is a game of {record.game!r}, but the network is for {game!r}")
        count = len(record)
        if not 1 <= count <= game.longest or len(record.boards) != count + 1:
            raise InputError(f"a game of {game!r} has 1 to {game.longest} slides and one state more, not {count} slides")
        found = game.afterstates_many(game.from_array(record.boards, extras=record.extras))
        rows, taken = np.arange(count), record.slides
        right = taken < 4
        right &= found.legal[rows, taken % 4] & (found.boards[rows, taken % 4] == record.after)
        right &= found.rewards[rows, taken % 4] == record.rewards
        if not right.all():
            at = int(np.argmin(right))
            slide = Slide(int(taken[at])) if taken[at] < 4 else taken[at]
            raise InputError(f"move {at + 1} of the record is not by the rules: {slide} on {record.state(at)}")
        if found.legal[-1].any():
            raise InputError(
                f"the record ends before its game, on {record.state(-1)}: learn its transitions one by one with learn(), "
                "or play it to the end"
            )

    # --- a transition ------------------------------------------------------------------------------------------------------

    def learn(
        self,
        position: State | Afterstate,
        following: State | Afterstate | None = None,
        *,
        reward: SupportsFloat | None = None,
    ) -> float:
        """One step of TD(0): move V(position) towards reward + V(following) -> the error, which is what was missing.

        Both are afterstates or states, as the network's target says. An afterstate knows its reward; with states, give the
        reward of the slide between them. Without a following position the game is over, and the reward is 0 if none is given.
        """
        if following is None:
            return self.learn_value(position, 0.0 if reward is None else reward)
        self._own(following)
        if reward is None and isinstance(following, State):
            raise InputError("between two states there is a reward: give it, as reward=")
        gained = following.reward if reward is None and isinstance(following, Afterstate) else reward
        return self.learn_value(position, float(gained or 0) + self.network.value(following))

    def learn_value(self, position: State | Afterstate, target: SupportsFloat) -> float:
        """Move V(position) towards a value that you know better, such as that of a search -> the error, target - V(position).

        TD with alpha 1 sets it, unless the position looks up a weight more than once.
        """
        self._own(position)
        wanted = float(target)
        if not math.isfinite(wanted):
            raise InputError(f"a value to learn is a finite number, not {wanted}")
        with self._lock:
            board, extra = np.uint64(position.board), np.uint64(position.extra)
            return float(move_value(self._parts(), self.network.lookup, board, extra, wanted, self._desk))

    def _own(self, position: State | Afterstate) -> None:
        """Refuse a position of another game, and a state for an afterstate."""
        self.network.game.own(position)
        wanted = Afterstate if self.network.target == "afterstate" else State
        if not isinstance(position, wanted):
            raise InputError(f"this network values {self.network.target}s, and {position} is none of them")
