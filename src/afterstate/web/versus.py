"""Two players side by side: both play the same games in the background, and their scores are compared."""

import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Literal

from afterstate.engine.workers import Share, count_threads
from afterstate.errors import AfterstateError, InputError
from afterstate.games.results import Results, compare, summarise
from afterstate.play.agent import Agent
from afterstate.play.evaluation import Evaluation, measure
from afterstate.web import messages
from afterstate.web.library import Library, UnknownError, look_ahead
from afterstate.web.runs import PATIENCE, BusyError, step_back

REMEMBERED = 20  # matches whose results can still be asked for


@dataclass
class _Side:
    """One of the two players."""

    model: str
    name: str
    depth: int
    agent: Agent | None  # until its games are over
    played: int = 0
    found: Evaluation | None = None
    why: str | None = None

    def play(self, match: "_Match", threads: int) -> None:
        """Play all games, in a thread of its own; an error is kept for the page and ends the other side, too."""
        step_back()
        assert self.agent is not None
        try:
            self.found = measure(
                self.agent, games=match.games, seed=match.seed, threads=threads, stop=match.stop, on_tick=self._tick
            )
        except AfterstateError as error:
            self.why = str(error)
        except Exception as error:
            self.why = f"{type(error).__name__}: {error}"
            raise
        finally:
            self.agent = None
            if self.why is not None:
                match.stop.set()

    def _tick(self, share: Share) -> None:
        self.played = share.games

    @property
    def results(self) -> Results | None:
        return None if self.found is None else self.found.results


@dataclass
class _Match:
    """Two players and their games."""

    id: str
    games: int
    seed: int
    sides: list[_Side]
    stop: threading.Event = field(default_factory=threading.Event)
    threads: list[threading.Thread] = field(default_factory=list)

    @property
    def is_alive(self) -> bool:
        return any(thread.is_alive() for thread in self.threads)

    @property
    def why(self) -> str | None:
        return next((side.why for side in self.sides if side.why), None)

    @property
    def status(self) -> Literal["running", "stopping", "stopped", "done", "failed"]:
        if self.is_alive:
            return "stopping" if self.stop.is_set() else "running"
        if self.why is not None:
            return "failed"
        return "stopped" if any(side.found is None or side.found.stopped for side in self.sides) else "done"


class Matches:
    """Start, watch and stop matches, one at a time."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._lock = threading.Lock()
        self._known: OrderedDict[str, _Match] = OrderedDict()

    def start(self, request: messages.Versus) -> messages.Match:
        """Let two models play the same games; the answer comes at once, and `versus/{match}` tells how far they are."""
        with self._lock:
            if any(match.is_alive for match in self._known.values()):
                raise BusyError("two models are being compared: stop that first, or wait until it is done")
            sides = [self._side(request.model, request.depth), self._side(request.other, request.other_depth)]
            games = [self.library.network(side.model).game for side in sides]
            if games[0] is not games[1]:
                raise InputError(f"the two models play different games: {games[0]!r} and {games[1]!r}")
            match = _Match(secrets.token_hex(6), request.games, request.seed, sides)
            threads = max(count_threads(None) // 2, 1)
            match.threads = [
                threading.Thread(target=side.play, args=(match, threads), daemon=True, name="versus") for side in sides
            ]
            self._known[match.id] = match
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
            for thread in match.threads:
                thread.start()
            return self._facts(match)

    def _side(self, model: str, depth: int) -> _Side:
        name = next((facts.name for facts in self.library.models().models if facts.id == model), model)
        return _Side(model, name, depth, Agent(self.library.network(model), **look_ahead(depth, None)))

    def facts(self, match: messages.Id) -> messages.Match:
        """How far two models are, and how they compare once they are done."""
        return self._facts(self._find(match))

    def cancel(self, match: messages.Id) -> messages.Match:
        """Stop; the games that both have finished are compared."""
        found = self._find(match)
        found.stop.set()
        return self._facts(found)

    def close(self) -> None:
        """End all matches when the server stops."""
        for match in self._known.values():
            match.stop.set()
            for thread in match.threads:
                thread.join(PATIENCE)

    def _find(self, id_: str) -> _Match:
        if id_ not in self._known:
            raise UnknownError("there is no such match: this server has not started it, or it was long ago")
        return self._known[id_]

    def _facts(self, match: _Match) -> messages.Match:
        status = match.status
        one, other = (side.results for side in match.sides)
        both = 0 if one is None or other is None else min(len(one.scores), len(other.scores))
        over = status in {"done", "stopped"} and both > 0
        found = compare(one, other) if over and one is not None and other is not None else None
        return messages.Match(
            id=match.id, status=status, why=match.why, games=match.games, seed=match.seed,
            sides=[self._side_facts(side, both if over else 0) for side in match.sides],
            difference=None if found is None else messages.Difference(
                games=found.games, mean=found.mean, interval=found.interval if found.games > 1 else None,
                correlation=found.correlation, ahead=found.ahead,
            ),
        )  # fmt: skip

    def _side_facts(self, side: _Side, count: int) -> messages.Side:
        summary = None
        if count and side.found is not None and side.found.summary is not None:
            summary = summarise(self.library.network(side.model).game, side.found.results.part(0, count), 0.0)
        return messages.Side(
            model=side.model, name=side.name, depth=side.depth, played=side.played,
            mean=summary and summary.mean, interval=summary and (summary.interval if count > 1 else None),
            median=summary and summary.median, maximum=summary and summary.maximum, win_rate=summary and summary.win_rate,
            win_interval=summary and list(summary.win_interval), win_tile=summary and summary.win_tile,
        )  # fmt: skip
