"""Training runs for the page: those that this server has started, and those in the folder of runs."""

import contextlib
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import ValidationError

from afterstate.errors import AfterstateError, FileError, InputError
from afterstate.files import is_held
from afterstate.kernel import on_compile
from afterstate.learning.metrics import Metrics, Newest
from afterstate.learning.options import TrainOptions, normalise
from afterstate.learning.plan import make_plan, new_network
from afterstate.learning.progress import Listener, Progress
from afterstate.learning.recipes import load_recipe, recipe_names, with_recipe
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.trainer import resume as go_on
from afterstate.learning.trainer import train
from afterstate.web import messages
from afterstate.web.library import Library, UnknownError, make_id

NICE = 10
READERS = 10_000  # of metrics that are remembered
PATIENCE = 60.0  # seconds that the server waits for the last checkpoint when it stops

Status = Literal["starting", "running", "stopping", "stopped", "done", "failed"]


def step_back() -> None:
    """Lower the priority of this thread and those that it starts, so that quick answers come first."""
    with contextlib.suppress(AttributeError, OSError):  # a system without priorities for threads
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


class BusyError(AfterstateError):
    """Another run is training, or this one is not."""


@dataclass
class _Sitting(Listener):
    """A run that this server has started or resumed."""

    path: Path
    options: TrainOptions
    status: Status = "starting"
    doing: str | None = None
    why: str | None = None
    progress: Progress | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    @property
    def is_alive(self) -> bool:
        return self.thread is not None and self.thread.is_alive()

    def on_progress(self, progress: Progress) -> None:
        self.progress = progress
        self.doing = progress.doing
        if self.status == "starting":
            self.status = "running"

    def work(self, begin: Any) -> None:
        """Train, in its own thread; an error is kept for the page."""
        step_back()
        try:
            with on_compile(self._compiling):
                run = begin(listener=self, stop=self.stop)
            self.status = "stopped" if run.stopped else "done"
        except AfterstateError as error:
            self.status, self.why = "failed", str(error)
        except Exception as error:
            self.status, self.why = "failed", f"{type(error).__name__}: {error}"
            raise
        finally:
            self.doing = self.progress = None

    def _compiling(self) -> None:
        self.doing = "compiling"


class Runs:
    """Start, watch, stop and resume runs, one at a time: two would compete for the processors."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._lock = threading.Lock()
        self._sittings: dict[str, _Sitting] = {}
        self._reading = threading.Lock()
        self._readers: dict[Path, Metrics] = {}

    def start(self, request: messages.Start) -> messages.Run:
        """Start a run."""
        with self._lock:
            self._check_free()
            options = _options(request)
            new_network(make_plan(options))  # report an impossible network now; its memory is not touched
            named = None if request.name is None else self.library.runs / request.name
            path = RunFolder.plan(named, options, root=self.library.runs).path  # a name that is taken is an error
            return self._begin(_Sitting(path, options), lambda **how: train(options, run=path, **how))

    def resume(self, run: messages.Id, request: messages.Resume) -> messages.Run:
        """Resume a run."""
        with self._lock:
            self._check_free()
            folder = self._folder(run)
            if is_held(folder.path):
                raise BusyError("another process is training this run: wait for its end, or stop it")
            given = normalise(request.model_dump(exclude_none=True))
            options = make_plan(folder.read_config().changed(given)).options
            if not given and _is_done(options, *_progress_of(self._metrics(folder).newest())):
                raise InputError("this run is complete: give a larger total number of games, or a longer total time")
            return self._begin(_Sitting(folder.path, options), lambda **how: go_on(folder.path, given, **how))

    def _begin(self, sitting: _Sitting, begin: Any) -> messages.Run:
        id_ = make_id(sitting.path)
        sitting.thread = threading.Thread(target=sitting.work, args=(begin,), daemon=True, name="training")
        self._sittings[id_] = sitting
        sitting.thread.start()
        return self.facts(id_)

    def stop(self, run: messages.Id) -> messages.Run:
        """Stop a run of this server; its checkpoint keeps everything."""
        sitting = self._sittings.get(run)
        if sitting is None or not sitting.is_alive:
            if run not in self.library.run_folders():
                raise UnknownError("there is no such run; /api/runs lists them")
            raise BusyError("this server is not training this run, so it cannot stop it")
        sitting.status = "stopping"
        sitting.stop.set()
        return self.facts(run)

    def close(self) -> None:
        """Stop all runs of this server, and wait for their checkpoints."""
        for sitting in self._sittings.values():
            sitting.stop.set()
        for sitting in self._sittings.values():
            if sitting.thread is not None:
                sitting.thread.join(PATIENCE)

    @property
    def busy(self) -> str | None:
        """The id of the run that is training now."""
        return next((id_ for id_, sitting in self._sittings.items() if sitting.is_alive), None)

    def _check_free(self) -> None:
        if self.busy is not None:
            raise BusyError("a run is still training: stop it first, or wait until it is done")

    def _folder(self, id_: str) -> RunFolder:
        sitting = self._sittings.get(id_)
        folder = self.library.run_folders().get(id_) or (RunFolder(sitting.path) if sitting else None)
        if folder is None:
            raise UnknownError("there is no such run; /api/runs lists them")
        return folder

    # --- what is shown -----------------------------------------------------------------------------------------------------

    def all(self) -> messages.Runs:
        """All readable runs, newest first, and the recipes."""
        shown = []
        for id_ in dict.fromkeys([*self._sittings, *self.library.run_folders()]):
            try:
                shown.append(self.facts(id_))
            except AfterstateError:
                continue  # the folder is not a complete run
        return messages.Runs(runs=shown, recipes=_recipes(), busy=self.busy)

    def facts(self, id_: str) -> messages.Run:
        """One run as it is now."""
        folder = self._folder(id_)
        return self._facts(id_, folder, self._metrics(folder).newest())

    def _metrics(self, folder: RunFolder) -> Metrics:
        """The metrics of a run, as far as this server has read them."""
        with self._reading:
            if len(self._readers) >= READERS:
                self._readers.clear()  # runs that are gone; the others are read again
            return self._readers.setdefault(folder.metrics, Metrics(folder.metrics))

    def _facts(self, id_: str, folder: RunFolder, newest: Newest) -> messages.Run:
        sitting = self._sittings.get(id_)
        options = sitting.options if sitting else make_plan(folder.read_config()).options
        last = newest.block or {}
        games, seconds = _progress_of(newest)
        progress = sitting.progress if sitting else None
        if progress is not None:
            games, seconds = progress.games, progress.seconds
        return messages.Run(
            id=id_, name=folder.path.name, game=options.game, rules=str(options.rules), size=options.size,
            network=str(options.network), method=options.method,
            status=sitting.status if sitting else _status(folder, options, games, seconds),
            why=sitting.why if sitting else None,
            games=games, total=options.games, seconds=seconds, limit=options.time,
            moves_per_s=progress.moves_per_s if progress else last.get("moves_per_s"),
            mean=last.get("mean"), win_rate=last.get("win_rate"), win_tile=last.get("win_tile"),
            doing=sitting.doing if sitting else None,
            model=id_ if any(path.is_file() for _, path in folder.checkpoints) else None,
        )  # fmt: skip

    def records(self, run: messages.Id, after: Annotated[int, Query(ge=0, le=10**9)] = 0) -> messages.RunRecords:
        """The metrics of a run from line `after` on."""
        folder = self._folder(run)
        told, newest = self._metrics(folder).since(after)
        known = messages.Record.model_fields
        try:
            records = [messages.Record(**{key: line[key] for key in line if key in known}) for line in told]
        except ValidationError as error:
            raise FileError(f"{folder.metrics} has a line that cannot be read") from error
        return messages.RunRecords(run=self._facts(run, folder, newest), records=records, next=newest.count)


def _options(request: messages.Start) -> TrainOptions:
    given = request.model_dump(exclude_none=True, exclude_unset=True, exclude={"name"})
    if "recipe" in given:
        if given["recipe"] not in recipe_names():  # never a path
            raise InputError(f"there is no such recipe; choose one of: {', '.join(recipe_names())}")
        if len(given) > 1:
            raise InputError("a recipe sets all options: give a recipe or options, not both")
    return make_plan(TrainOptions(**with_recipe(given))).options


def _recipes() -> list[messages.RecipeFacts]:
    recipes = [load_recipe(name) for name in recipe_names()]
    return [
        messages.RecipeFacts(
            name=recipe.name, about=recipe.about, takes=recipe.takes, expect=recipe.expect, game=recipe.options["game"]
        )
        for recipe in recipes
    ]


def _progress_of(newest: Newest) -> tuple[int, float]:
    """Games and seconds so far, from the last line of the metrics."""
    if newest.last is None:
        return 0, 0.0
    seconds = newest.last.get("training_seconds")
    return int(newest.last["games"]), float(seconds) if isinstance(seconds, int | float) else 0.0


def _is_done(options: TrainOptions, games: int, seconds: float) -> bool:
    if options.games is not None and games >= options.games:
        return True
    return options.time is not None and seconds >= options.time * 0.98  # the last block is rarely complete


def _status(folder: RunFolder, options: TrainOptions, games: int, seconds: float) -> Literal["elsewhere", "stopped", "done"]:
    """Status of a run that this server has not started."""
    if _is_done(options, games, seconds):
        return "done"
    return "elsewhere" if is_held(folder.path) else "stopped"
