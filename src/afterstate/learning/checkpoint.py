"""Checkpoints: a network with all that a run needs to continue exactly."""

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from afterstate.errors import FileError, ModelError
from afterstate.games.results import Results, make_results
from afterstate.learning.plan import Plan
from afterstate.learning.runfolder import is_complete, options_as_dict
from afterstate.learning.starts import Carousel
from afterstate.learning.team import Team
from afterstate.network.modelfile import has_tensors, load_tensors, save_model
from afterstate.network.network import Network
from afterstate.network.training import Block, Training

_POOL = ("boards", "extras", "counts")  # what is kept of a Carousel


@dataclass
class RunState:
    """How far a run has come since it began."""

    games: int = 0
    seconds: float = 0.0  # spent on training
    evaluated: int = 0  # games at the last evaluation
    usual: int = 0  # index of the largest tile that at least one game in a hundred reached, in the last block
    in_block: int = 0  # games played in the current block
    block_seconds: float = 0.0
    results: Results = field(default_factory=lambda: make_results(0))  # of the current block

    @property
    def mark(self) -> tuple[int, ...]:
        """Changes whenever there is something new to save."""
        return self.games, self.in_block, self.evaluated


def describe(plan: Plan, team: Team, state: RunState, *, block: Block | None = None) -> Training:
    """What a model file says about the run."""
    return Training(
        options=options_as_dict(plan.options), games=state.games, seconds=state.seconds, usual=state.usual, block=block,
        evaluated=state.evaluated, block_seconds=state.block_seconds, tally=tuple(team.sums().tolist()),
    )  # fmt: skip


def save_checkpoint(path: Path, plan: Plan, team: Team, state: RunState, *, slim: bool = False) -> None:
    """Write the network, what its rules keep (unless `slim`), the current block, and the boards that games begin on."""
    part = state.results.part(0, state.in_block)
    more: dict[str, Any] = {f"block.{name}": array for name, array in part._asdict().items()}
    if not slim:
        more |= team.tables.kept
    for name, pool in _pools(team).items():
        more |= {f"{name}.{each}": getattr(pool, each) for each in _POOL}
    team.network.training = describe(plan, team, state)
    save_model(team.network, path, more=more)


def is_slim(path: Path, plan: Plan) -> bool:
    """Whether a checkpoint lacks all that its learning rules keep: enough to play, not to learn on."""
    return bool(plan.kept) and not any(has_tensors(path, [name]) for name in plan.kept)


def restore_checkpoint(path: Path, plan: Plan, network: Network, team: Team) -> RunState:
    """Read the rest of what `save_checkpoint` wrote, after the network itself."""
    training, slim = network.training, is_slim(path, plan)
    if slim and not is_complete(plan.options, training):
        run = path.parent.parent
        raise FileError(
            f"run {run} was complete after {training.games} games and has kept only what play needs (--keep keeps all), so it "
            f"cannot go on: start a new run from its weights, afterstate train --from {shlex.quote(str(run))}"
        )
    part = Results(*(load_tensors(path, [f"block.{name}"])[f"block.{name}"] for name in Results._fields))
    if len(training.tally) != len(team.sums()):
        raise ModelError(f"{path} is not a checkpoint: it has no statistics of its current block")
    team.forget_sums(np.array(training.tally))
    for name, kept in team.tables.kept.items() if not slim else ():
        kept[:] = load_tensors(path, [name])[name]
    _restore_pools(path, team)
    count, size = len(part.scores), plan.options.block
    if count > size:
        raise FileError(f"{path} holds {count} games of a block of only {size}: set block back to resume")
    results = make_results(size)
    results.scores[:count], results.moves[:count], results.largest[:count] = part
    return RunState(
        training.games, training.seconds, training.evaluated, training.usual, count, training.block_seconds, results
    )


def _pools(team: Team) -> dict[str, Carousel]:
    observers = [seat.observer for seat in team.seats]
    return {f"pool.{number}": observer for number, observer in enumerate(observers) if isinstance(observer, Carousel)}


def _restore_pools(path: Path, team: Team) -> None:
    """Give each thread the boards that it had; a new thread begins without any."""
    for number, (name, pool) in enumerate(_pools(team).items()):
        names = [f"{name}.{each}" for each in _POOL]
        if number == 0 or has_tensors(path, names):
            for each, stored in zip(_POOL, names, strict=True):
                getattr(pool, each)[...] = load_tensors(path, [stored])[stored]
