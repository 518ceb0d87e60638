"""What is left of a training run: its network, and what it measured."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from afterstate.games.results import Episodes
from afterstate.learning.keeper import Keeper
from afterstate.learning.showing import show_run
from afterstate.network.network import Network


@dataclass(frozen=True)
class Run:
    """A training run that has ended or was stopped."""

    keeper: Keeper = field(repr=False)  # where it is kept
    last: Network = field(repr=False)  # as it was after the last game
    games: int
    seconds: float
    stopped: bool  # before its end, by a signal
    dropped: int = 0  # bytes that only more training would need, and that a complete run has not kept

    def _repr_html_(self) -> str:
        """Its figures and its curve, for notebooks."""
        return show_run(self)

    @property
    def folder(self) -> Path:
        """Its folder; a run without one refuses."""
        return self.keeper.path

    @cached_property
    def network(self) -> Network:
        """The network to play with: that of the best block, as `load` and every command take it.

        It is the last one if no block was finished.
        """
        return self.keeper.model(self.last)

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """What was measured: one record for each block and each evaluation."""
        return self.keeper.metrics()

    @property
    def episodes(self) -> Episodes:
        """Every training game: scores, moves and largest tiles, as arrays."""
        return self.keeper.episodes(self.last.game)
