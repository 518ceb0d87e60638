"""The game loop: one for training, evaluation, replay, review and the page.

Four parts are chosen by type at compile time: a chooser picks the slide (`choosers`), an observer looks on (`record`, and
`learning.starts`), a learner learns (`learning.learner`), and `Until` ends a game at a tile. The last three may be `Nobody`,
which costs nothing.
"""

from typing import Any, NamedTuple

import numpy as np

from afterstate.engine.choosers import GREEDY, Desk, choose, make_desk, survey
from afterstate.games.game import Game, State, final_score, largest, slides, spawn, start
from afterstate.games.results import Results, find_tile
from afterstate.kernel import implement, kernel, specialised, u64
from afterstate.network.lookup import Lookup
from afterstate.rng import Purpose, Random, stream

_0 = u64(0)


class Nobody(NamedTuple):
    """An observer that sees nothing, a learner that learns nothing, no tile to stop at, a network that is never used."""

    unused: np.uint64 = u64(0)


NOBODY = Nobody()


class Until(NamedTuple):
    """Ends a game as soon as a tile is on the board, before the new tile comes."""

    tile: np.uint64  # its index


class Table(NamedTuple):
    """The parts of one game loop."""

    chooser: Any
    observer: Any
    learner: Any
    until: Any
    desk: Desk


# --- what an observer offers ---------------------------------------------------------------------------------------------


@specialised
def see_state(observer: Any, net: Any, number: int, board: u64, extra: u64) -> bool:
    """See state `number` of the game, counted from 0 -> whether to play on."""


@specialised
def see_slide(observer: Any, number: int, slide: int, desk: Desk) -> None:
    """See the slide chosen in state `number`."""


@specialised
def begin_again(observer: Any, turn: u64, moves: int, rng: u64) -> tuple[bool, u64, u64, u64, u64]:
    """Decide whether another game follows in this round, after game number `turn` with this many moves.

    Returns (whether one follows, its number, board, extra, rng).
    """


@implement(see_state, Nobody)
def _see_no_state(observer: Any, net: Any, number: int, board: u64, extra: u64) -> bool:
    return True


@implement(see_slide, object)
def _see_no_slide(observer: Any, number: int, slide: int, desk: Desk) -> None:
    pass


@implement(begin_again, object)
def _never_again(observer: Any, turn: u64, moves: int, rng: u64) -> tuple[bool, u64, u64, u64, u64]:
    return False, turn, _0, _0, rng


# --- where a game ends -------------------------------------------------------------------------------------------------


@specialised
def is_reached(until: Any, game: Any, board: u64, extra: u64) -> bool:
    """Whether the game ends here, although a slide may be legal."""


@implement(is_reached, Nobody)
def _never_reached(until: Any, game: Any, board: u64, extra: u64) -> bool:
    return False


@implement(is_reached, Until)
def _has_tile(until: Any, game: Any, board: u64, extra: u64) -> bool:
    return bool(largest(game, board, extra) >= until.tile)


# --- what a learner offers -----------------------------------------------------------------------------------------------


@specialised
def begin_learning(learner: Any) -> Any:
    """What a learner remembers from move to move; the functions below take it, and return it while the game lasts."""


@specialised
def learn_state(learner: Any, memory: Any, net: Any, board: u64, extra: u64, desk: Desk, at: u64) -> Any:
    """Learn when a state is known and the weights for its move are prefetched."""


@specialised
def learn_slide(learner: Any, memory: Any, net: Any, slide: int, desk: Desk, at: u64) -> Any:
    """Learn when a slide is chosen."""


@specialised
def finish_learning(learner: Any, memory: Any, net: Any, moves: int, desk: Desk) -> None:
    """Learn when the game is over."""


@implement(begin_learning, Nobody)
def _begin_nothing(learner: Any) -> Any:
    return _0


@implement(learn_state, Nobody)
def _learn_no_state(learner: Any, memory: Any, net: Any, board: u64, extra: u64, desk: Desk, at: u64) -> Any:
    return memory


@implement(learn_slide, Nobody)
def _learn_no_slide(learner: Any, memory: Any, net: Any, slide: int, desk: Desk, at: u64) -> Any:
    return memory


@implement(finish_learning, Nobody)
def _finish_nothing(learner: Any, memory: Any, net: Any, moves: int, desk: Desk) -> None:
    pass


# --- the loop ------------------------------------------------------------------------------------------------------------


@kernel
def play_game(table: Any, game: Any, net: Any, board: u64, extra: u64, rng: u64) -> Any:
    """Play from a state to the end, or until a tile, observer or chooser stops it -> sum of rewards, moves, board, extra, rng.

    A game that ends at a tile ends with an afterstate, unless the tile was on the first board or came as a new one.
    """
    chooser, observer, learner, until, desk = table.chooser, table.observer, table.learner, table.until, table.desk
    rewards, moves = 0, 0
    at = _0  # where this move's slot begins
    memory = begin_learning(learner)
    while see_state(observer, net, moves, board, extra) and not is_reached(until, game, board, extra):
        legal = slides(game, board, extra, desk.after, desk.extras, desk.rewards)
        survey(chooser, net, board, extra, legal, desk, at)
        memory = learn_state(learner, memory, net, board, extra, desk, at)
        if legal == 0:
            break
        slide = choose(chooser, game, net, moves, board, extra, legal, desk, at)
        if slide < 0:
            break
        memory = learn_slide(learner, memory, net, slide, desk, at)
        see_slide(observer, moves, slide, desk)
        rewards += desk.rewards[slide]
        moves += 1
        board, extra = desk.after[slide], desk.extras[slide]
        if not is_reached(until, game, board, extra):
            board, extra, rng = spawn(game, board, extra, rng)
        at += desk.slot
        if at == u64(desk.indices.size):
            at = _0
    finish_learning(learner, memory, net, moves, desk)
    return rewards, moves, board, extra, rng


@kernel
def _play_games(table: Any, game: Any, net: Any, seed: u64, purpose: u64, first: int, results: Any) -> None:
    """Play games number first, first + 1, ... until `results` is full.

    The observer may add games after each of them that begin elsewhere; these leave no results.
    """
    for number in range(results.scores.size):
        rng = stream(seed, purpose, u64(first + number))
        board, extra, rng = start(game, rng)
        turn, more = _0, True
        while more:
            rewards, moves, board, extra, rng = play_game(table, game, net, board, extra, rng)
            if turn == _0:
                results.scores[number] = final_score(game, board, extra, rewards)
                results.moves[number] = moves
                results.largest[number] = largest(game, board, extra)
            more, turn, board, extra, rng = begin_again(table.observer, turn, moves, rng)


class Seat:
    """One thread's place at the board: its chooser, observer, learner and working memory."""

    def __init__(
        self, game: Game, net: Lookup | None, chooser: Any = GREEDY, *, observer: Any = NOBODY, learner: Any = NOBODY,
        slots: int = 1, until: int | None = None,
    ) -> None:  # fmt: skip
        """`slots` is the number of moves whose indices the learner needs at the same time; a game ends at the tile `until`."""
        self.game = game
        self.net = NOBODY if net is None else net
        self.chooser, self.observer, self.learner = chooser, observer, learner
        self.until = until  # the face of the tile; None for games to their end
        self._until: Any = NOBODY if until is None else Until(u64(find_tile(game, until)))
        self.desk = make_desk(net, slots=slots)

    def _table(self) -> Table:
        return Table(self.chooser, self.observer, self.learner, self._until, self.desk)

    def play(self, seed: int, purpose: Purpose, first: int, results: Results) -> None:
        """Play games number first, first + 1, ... of a seed, until `results` is full."""
        _play_games(self._table(), self.game.tables, self.net, u64(seed), u64(purpose), first, results)

    def play_from(self, state: State, rng: Random) -> int:
        """Play from a state until the observer stops it or the game is over -> moves. `rng` draws the new tiles."""
        _, moves, _, _, drawn = play_game(
            self._table(), self.game.tables, self.net, u64(state.board), u64(state.extra), rng.state
        )
        rng.state = u64(drawn)
        return int(moves)
