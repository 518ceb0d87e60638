"""Where a run keeps what it learns and measures: in its folder, or in memory alone."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from afterstate.errors import InputError
from afterstate.games.game import Game
from afterstate.games.results import Episodes, Results, make_results
from afterstate.learning.checkpoint import RunState, describe, save_checkpoint
from afterstate.learning.gamesfile import GamesFile
from afterstate.learning.plan import Plan
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.runlog import RunLog
from afterstate.learning.team import Team
from afterstate.network.modelfile import load_model, save_model
from afterstate.network.network import Network
from afterstate.network.training import Block


class Keeper(ABC):
    """What a run asks of the place where it is kept."""

    writes: bool  # whether there are checkpoints to write from time to time

    @property
    @abstractmethod
    def path(self) -> Path:
        """The folder of the run."""

    @abstractmethod
    def add(self, record: dict[str, Any]) -> None:
        """Keep a block or an evaluation."""

    @abstractmethod
    def add_games(self, first: int, results: Results) -> None:
        """Keep the results of games number first, first + 1, ..."""

    @abstractmethod
    def keep_best(self, player: Network) -> Path | None:
        """Keep the best network so far -> its file, if there is one."""

    @abstractmethod
    def keep_snapshot(self, player: Network, games: int) -> None:
        """Keep the network of an evaluation."""

    @abstractmethod
    def keep_last(self, plan: Plan, team: Team, state: RunState, *, slim: bool) -> None:
        """Keep all that was learned; if `slim`, only what play needs."""

    @abstractmethod
    def has_last(self) -> bool:
        """Whether that was done."""

    @abstractmethod
    def best_so_far(self) -> Block | None:
        """The games that the best network was kept for; None if there is none yet."""

    @abstractmethod
    def kept(self) -> str:
        """Which networks are kept, for people."""

    @abstractmethod
    def metrics(self) -> list[dict[str, Any]]:
        """One record for each block and each evaluation."""

    @abstractmethod
    def episodes(self, game: Game) -> Episodes:
        """Every training game."""

    @abstractmethod
    def model(self, last: Network) -> Network:
        """The network to play with: the best one, or the last if no block was finished."""

    def rewind(self, state: RunState) -> str | None:  # noqa: ARG002
        """Drop what was measured after a checkpoint -> what to tell if results of games are missing."""
        return None

    def set_aside(self) -> Path | None:
        """Move all measurements out of the way -> where they are now; None if there are none."""
        return None


class InFolder(Keeper):
    """A run with a folder."""

    writes = True

    def __init__(self, folder: RunFolder, plan: Plan) -> None:
        self.folder = folder
        self.log = RunLog(folder, plan.game)

    @property
    def path(self) -> Path:
        return self.folder.path

    def add(self, record: dict[str, Any]) -> None:
        self.log.add(record)

    def add_games(self, first: int, results: Results) -> None:
        self.log.add_games(first, results)

    def keep_best(self, player: Network) -> Path:
        save_model(player, self.folder.best)
        return self.folder.best

    def keep_last(self, plan: Plan, team: Team, state: RunState, *, slim: bool) -> None:
        state.measured = self.log.sync()  # what was measured is on the disk before it
        save_checkpoint(self.folder.last, plan, team, state, slim=slim)

    def keep_snapshot(self, player: Network, games: int) -> None:
        save_model(player, self.folder.snapshot(games))

    def has_last(self) -> bool:
        return self.folder.last.exists()

    def best_so_far(self) -> Block | None:
        return self.folder.best_so_far()

    def kept(self) -> str:
        found = [f"the {name} checkpoint is kept in {path}" for name, path in self.folder.checkpoints if path.exists()]
        return " and ".join(found) or "no checkpoint was written"

    def metrics(self) -> list[dict[str, Any]]:
        return self.folder.read_metrics()

    def episodes(self, game: Game) -> Episodes:
        return GamesFile(self.folder.games).read(game)

    def rewind(self, state: RunState) -> str | None:
        blocks = state.games - state.in_block
        return self.log.rewind(state.games, blocks=blocks, evals=state.evaluated, measured=state.measured)

    def set_aside(self) -> Path | None:
        return self.log.set_aside()

    def model(self, last: Network) -> Network:
        return load_model(self.folder.model, game=last.game)


class InMemory(Keeper):
    """A run that writes nothing. What it keeps is gone with it."""

    writes = False

    def __init__(self) -> None:
        self._best: Network | None = None
        self._records: list[dict[str, Any]] = []
        self._games: list[Results] = []

    @property
    def path(self) -> Path:
        raise InputError("this run has no folder: it was trained with run=False; keep its network with run.network.save(path)")

    def add(self, record: dict[str, Any]) -> None:
        self._records.append(record)

    def add_games(self, first: int, results: Results) -> None:  # noqa: ARG002  # they come in their order
        self._games.append(Results(results.scores.copy(), results.moves.copy(), results.largest.copy()))

    def keep_best(self, player: Network) -> None:
        self._best = None  # frees its memory
        self._best = player.copy()

    def keep_last(self, plan: Plan, team: Team, state: RunState, *, slim: bool) -> None:  # noqa: ARG002
        team.network.training = describe(plan, team, state)

    def keep_snapshot(self, player: Network, games: int) -> None:  # noqa: ARG002
        raise InputError("a run without a folder keeps no snapshots: leave out snapshots or run=False")

    def has_last(self) -> bool:
        return True  # the network is there

    def best_so_far(self) -> Block | None:
        return None if self._best is None else self._best.training.block

    def kept(self) -> str:
        return "nothing is kept, since the run has no folder"

    def metrics(self) -> list[dict[str, Any]]:
        return [dict(record) for record in self._records]

    def episodes(self, game: Game) -> Episodes:
        parts = self._games or [make_results(0)]
        scores, moves, largest = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return Results(scores, moves, largest).episodes(game)

    def model(self, last: Network) -> Network:
        return last if self._best is None else self._best
