"""Checkpoints: a network with all that a run needs to continue exactly."""

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from afterstate.errors import FileError, ModelError
from afterstate.files import reading
from afterstate.games.results import Results, make_results
from afterstate.learning.plan import Plan
from afterstate.learning.runfolder import is_complete, options_as_dict
from afterstate.learning.starts import Carousel
from afterstate.learning.team import Team
from afterstate.network.modelfile import ModelFile, save_model
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
    measured: int | None = None  # bytes of the metrics that the last checkpoint speaks of
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
        measured=state.measured,
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


def is_slim(file: ModelFile, plan: Plan) -> bool:
    """Whether a checkpoint lacks all that its learning rules keep: enough to play, not to learn on."""
    return bool(plan.kept) and not any(map(file.has, plan.kept))


def too_slim(file: ModelFile) -> FileError:
    """What to tell about a checkpoint that no run can go on from."""
    run = file.path.parent.parent
    return FileError(
        f"run {run} was complete after {file.training.games} games and has kept only what play needs (--keep keeps all), so it "
        f"cannot go on: start a new run from its weights, afterstate train --from {shlex.quote(str(run))}"
    )


def restore_checkpoint(file: ModelFile, plan: Plan, team: Team) -> RunState:
    """Read what `save_checkpoint` wrote into a team that has not played yet."""
    training = team.network.training = file.training
    slim = is_slim(file, plan)
    if slim and not is_complete(plan.options, training):
        raise too_slim(file)
    if len(training.tally) != len(team.sums()):
        raise ModelError(f"{file.path} is not a checkpoint: it has no statistics of its current block")
    with reading(file.path, ModelError):
        count, results = _restore_block(file, plan)
        team.forget_sums(np.array(training.tally))
    file.read_tables(team.network)
    for name, kept in team.tables.kept.items() if not slim else ():
        file.read_into(name, kept)
    _restore_pools(file, team)
    return RunState(
        training.games, training.seconds, training.evaluated, training.usual, count, training.block_seconds, training.measured,
        results,
    )  # fmt: skip


def _restore_block(file: ModelFile, plan: Plan) -> tuple[int, Results]:
    """The games of the current block -> how many, and their results."""
    results = make_results(plan.options.block)
    part = Results(*(file.read(f"block.{name}") for name in Results._fields))
    count = len(part.scores)
    if {array.shape for array in part} != {(count,)} or [array.dtype for array in part] != [each.dtype for each in results]:
        raise ModelError(f"{file.path} is not a checkpoint: the results of its block do not fit together")
    if count > min(plan.options.block, file.training.games):
        raise ModelError(
            f"{file.path} holds {count} games of a block, but the block has {plan.options.block}, and "
            f"{file.training.games} were played: set block back to resume"
        )
    game = plan.game
    if count and (part.moves.min() < 0 or part.largest.max() > game.top or part.scores.max() > game.most):
        raise ModelError(f"{file.path} holds games that cannot be of {game!r}")
    results.scores[:count], results.moves[:count], results.largest[:count] = part
    return count, results


def _pools(team: Team) -> dict[str, Carousel]:
    observers = [seat.observer for seat in team.seats]
    return {f"pool.{number}": observer for number, observer in enumerate(observers) if isinstance(observer, Carousel)}


def _restore_pools(file: ModelFile, team: Team) -> None:
    """Give each thread the boards that it had; a new thread begins without any."""
    for number, (name, pool) in enumerate(_pools(team).items()):
        names = [f"{name}.{each}" for each in _POOL]
        if number == 0 or all(map(file.has, names)):
            for each, stored in zip(_POOL, names, strict=True):
                file.read_into(stored, getattr(pool, each))
