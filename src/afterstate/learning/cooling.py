"""Cool a run down: branch from its last checkpoint into a new run whose rate falls to its end. The run itself may go on.

The branch has the games, metrics, weights and TC's sums that the run had, and continues its count of games. So it equals a run
that was started with the same --cool-down at its end, with one thread bit for bit. Nothing of the run is locked or changed: its
checkpoint is read through one handle, and what was measured before it stays as it is.
"""

import shutil
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeGuard

from afterstate.errors import FileError, InputError, ModelError, ResourceError
from afterstate.files import is_file, reading
from afterstate.learning.checkpoint import is_slim, too_slim
from afterstate.learning.gamesfile import RECORD
from afterstate.learning.options import A_FUNCTION, TrainOptions, read_options
from afterstate.learning.plan import NOTHING, Objects, Plan, make_plan
from afterstate.learning.progress import Listener
from afterstate.learning.run import Run
from afterstate.learning.runfolder import RunFolder, options_as_dict
from afterstate.learning.trainer import TeamMaker, resume
from afterstate.network.modelfile import ModelFile, open_model
from afterstate.network.network import count_weights
from afterstate.network.training import Training
from afterstate.units import parse_length


def is_branch(run: Path | str | None, given: dict[str, Any], into: Path | str | None) -> TypeGuard[Path | str]:
    """Whether --cool-down asks for a branch from a run that exists, and not for a new run that has a cool-down at its end."""
    known = run is not None and is_file(RunFolder(run).config)
    asked = given.get("cool_down") is not None
    if into is not None and not (known and asked):
        raise InputError("--into is where --cool-down branches to: give --cool-down, and the --run of a run that exists")
    if asked and run is not None and not known and not given.keys() & {"game", "recipe", "from_"}:
        raise FileError(f"there is no run in {run} to cool down (no config.toml)")
    return known and asked


def cool_down(
    run: Path | str,
    given: dict[str, Any],
    *,
    into: Path | str | None = None,
    listener: Listener | None = None,
    stop: threading.Event | None = None,
    objects: Objects = NOTHING,
    make_team: TeamMaker | None = None,
) -> Run:
    """Branch from the last checkpoint of a run, and train on for a time or some games while the rate falls.

    `given` has `cool_down`, and other options that change, such as threads. The new run is in `into`, or beside the run:
    RUN-cooled-1.
    """
    others = {name: value for name, value in given.items() if name != "cool_down"}
    folder = _branch(RunFolder.open(run), str(given["cool_down"]), others, into, listener or Listener(), objects)
    return resume(folder.path, listener=listener, stop=stop, objects=objects, make_team=make_team)


def _branch(
    source: RunFolder, length: str, given: dict[str, Any], into: Path | str | None, listener: Listener, objects: Objects
) -> RunFolder:
    """Make the new run as if it had just been stopped. Its config comes last: without it, there is no run."""
    if not is_file(source.last):
        raise FileError(f"run {source.path} has no checkpoint yet")
    with open_model(source.last) as file:
        plan = make_plan(_options(file, length, given), objects)
        if is_slim(file, plan):
            raise too_slim(file)
        size = 4 * count_weights(plan.patterns, len(plan.stages) * plan.game.sight(plan.context)[1])
        place, stem = source.path.parent, f"{source.path.absolute().name}-cooled"
        folder = RunFolder.plan(into, plan.options, room=(2 * plan.numbers + 1) * size, root=place, stem=stem)
        listener.on_note(f"branches from game {file.training.games:,} of {source.path}: {_explain(plan, length)}")
        folder.take()
        _copy_start(source.metrics, folder.metrics, file.training.measured)
        _copy_start(source.games, folder.games, file.training.games * RECORD.itemsize)
        file.copy(folder.last, replace(file.training, options=options_as_dict(plan.options)))
    folder.write_config(plan.options)
    return folder


def _options(file: ModelFile, length: str, given: dict[str, Any]) -> TrainOptions:
    """The options of the new run: those of the run up to its checkpoint, and the cool-down behind it."""
    training = file.training
    if not training.options:
        raise ModelError(f"{file.path} is not a checkpoint: it does not say which options its run had")
    if ends := sorted({"games", "time"} & given.keys()):
        raise InputError(f"a cool-down ends after {length}: leave out --{ends[0]}")
    with reading(file.path, ModelError):
        before = TrainOptions(**read_options(dict(training.options), str(file.path)))
    if before.schedule == A_FUNCTION:
        raise InputError(
            f"the schedule of run {file.path.parent.parent} is a function of a Python program, so its rate is not known here: "
            "start a new run from it with --from"
        )
    number, by_time = parse_length(length, name="cool-down")
    games, time = (None, training.seconds + number) if by_time else (training.games + int(number), None)
    steps = _steps_so_far(before, training)
    return replace(before.changed(given), schedule=steps, cool_down=length, games=games, time=time)


def _steps_so_far(options: TrainOptions, training: Training) -> str | None:
    """The steps of a run's schedule that it has reached, in games or seconds, whatever they were a percentage of."""
    steps = []
    for phase in options.phases()[1:]:
        if phase.start <= (training.seconds if phase.by_time else training.games):
            where = f"{max(round(phase.start, 3), 0.001)}s" if phase.by_time else str(int(phase.start))
            steps.append(f"{where}:{phase.method}:{phase.alpha!r}")
    return ",".join(steps) or None


def _explain(plan: Plan, length: str) -> str:
    return f"in {length} more, the rate falls in steps to {plan.phases[-1].alpha:.3g}"


def _copy_start(source: Path, target: Path, size: int | None) -> None:
    """Copy the first bytes of a file that may be growing, if there is one; without a size all of it."""
    if not is_file(source):
        return
    try:
        with open(source, "rb") as old, open(target, "wb") as new:
            shutil.copyfileobj(old, new)
            if size is not None:
                new.truncate(min(size, new.tell()))
    except OSError as error:
        raise ResourceError(f"cannot copy {source} to {target}: {error.strerror}") from error
