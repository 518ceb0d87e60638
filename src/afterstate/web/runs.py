"""Training runs for the page: those that this server has started, and those in the folder of runs."""

import contextlib
import os
import secrets
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import ValidationError

from afterstate.errors import AfterstateError, FileError, InputError
from afterstate.files import hold_folder, is_held
from afterstate.kernel import on_compile
from afterstate.learning.checkpoint import is_slim
from afterstate.learning.metrics import Metrics, Newest
from afterstate.learning.options import TrainOptions, normalise
from afterstate.learning.plan import Plan, make_plan, new_network
from afterstate.learning.progress import Listener, Progress
from afterstate.learning.recipes import load_recipe, recipe_names, with_recipe
from afterstate.learning.runfolder import RunFolder, is_complete
from afterstate.learning.trainer import resume as go_on
from afterstate.learning.trainer import train
from afterstate.network.modelfile import open_model
from afterstate.network.training import Training
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


@dataclass(frozen=True)
class _Saved:
    """What the last checkpoint of a run says."""

    training: Training = field(default_factory=Training)
    slim: bool = False
    why: str | None = None  # it cannot be read


class Runs:
    """Start, watch, stop and resume runs, one at a time: two would compete for the processors."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._lock = threading.Lock()
        self._sittings: dict[str, _Sitting] = {}
        self._reading = threading.Lock()
        self._readers: dict[Path, Metrics] = {}
        self._saved: dict[Path, tuple[tuple[int, int], _Saved]] = {}

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
            plan = make_plan(folder.read_config().changed(given))
            options, saved = plan.options, self._look(folder, plan)
            if not given and _is_done(options, saved, *_progress_of(self._metrics(folder).newest())):
                raise InputError("this run is complete: give a larger total number of games, or a longer total time")
            if saved.slim:
                raise InputError("this run is complete and has kept only what play needs: start a new one, and let it keep all")
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

    def rename(self, run: messages.Id, request: messages.Rename) -> messages.Run:
        """Give the folder of a run another name."""
        with self._lock, self._alone(run) as folder:
            path = folder.path.with_name(request.name)
            if os.path.lexists(path):
                raise InputError(f"there is a run or a file called {request.name!r}: choose another name")
            _move(folder.path, path)
        self._forget(run)
        return self.facts(make_id(path))

    def delete(self, run: messages.Id) -> messages.Runs:
        """Delete the folder of a run, with all that is in it; links in it are deleted, not followed."""
        with self._lock, self._alone(run) as folder:
            aside = folder.path.with_name(f".deleted-{secrets.token_hex(4)}")
            _move(folder.path, aside)  # gone at once, even if deleting it takes a while or fails
        self._forget(run)
        try:
            shutil.rmtree(aside)
        except OSError as error:
            raise FileError(f"could not delete all of it, the rest is in {aside}: {error.strerror}") from error
        return self.all()

    @contextlib.contextmanager
    def _alone(self, id_: str) -> Iterator[RunFolder]:
        """A run of the folder of runs that nobody trains, and that nobody can train while the block runs."""
        folder = self._folder(id_)
        if not self.library.owns(folder):
            raise InputError(f"{folder.path} does not lie in {self.library.runs}, so the page leaves it as it is")
        busy = BusyError("this run is training: stop it first, or wait until it is done")
        if self.busy == id_:  # perhaps without a folder yet
            raise busy
        with hold_folder(folder.path) as free:
            if not free:
                raise busy
            yield folder

    def _forget(self, id_: str) -> None:
        self._sittings.pop(id_, None)
        self.library.forget(id_)

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
        plan = make_plan(sitting.options if sitting else folder.read_config())
        options, saved = plan.options, self._look(folder, plan)
        model, trouble = self.library.look(id_, folder)
        last = newest.block or {}
        games, seconds = _progress_of(newest)
        games, seconds = max(games, saved.training.games), max(seconds, saved.training.seconds)
        measured = last if model is None or model.mean is None else model.model_dump()
        status = sitting.status if sitting else _status(folder, options, saved, games, seconds)
        progress = sitting.progress if sitting else None
        if progress is not None:
            games, seconds = progress.games, progress.seconds
        return messages.Run(
            id=id_, name=folder.path.name, game=options.game, rules=str(options.rules), size=options.size,
            network=str(options.network), method=options.method,
            status=status, why=(sitting.why if sitting else None) or trouble or saved.why,
            games=games, total=options.games, seconds=seconds, limit=options.time,
            moves_per_s=progress.moves_per_s if progress else last.get("moves_per_s"),
            mean=measured.get("mean"), win_rate=measured.get("win_rate"), block=measured.get("games"),
            win_tile=last.get("win_tile") or (model.win_tile if model else None),
            doing=sitting.doing if sitting else None,
            model=id_ if model else None, disk=folder.disk_usage(), own=self.library.owns(folder),
            resumable=not saved.slim and saved.why is None,
        )  # fmt: skip

    def _look(self, folder: RunFolder, plan: Plan) -> _Saved:
        """What the last checkpoint says; read again only if the file has changed."""
        try:
            status = folder.last.stat()
        except OSError:
            return _Saved()  # there is none yet
        version = (status.st_mtime_ns, status.st_size)
        known = self._saved.get(folder.last)
        if known is None or known[0] != version:
            try:
                with open_model(folder.last) as file:
                    saved = _Saved(file.training, is_slim(file, plan))
            except AfterstateError as error:
                saved = _Saved(why=str(error))
            known = self._saved[folder.last] = (version, saved)
        return known[1]

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
        if set(given) - {"recipe", "keep"}:
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


def _is_done(options: TrainOptions, saved: _Saved, games: int, seconds: float) -> bool:
    """Whether a run is complete: its last checkpoint says so, or without one its metrics."""
    measured = Training(games=games, seconds=seconds, evaluated=games)
    return is_complete(options, saved.training if saved.training.games else measured)


def _status(
    folder: RunFolder, options: TrainOptions, saved: _Saved, games: int, seconds: float
) -> Literal["elsewhere", "stopped", "done"]:
    """Status of a run that this server has not started."""
    if is_held(folder.path):
        return "elsewhere"
    return "done" if _is_done(options, saved, games, seconds) else "stopped"


def _move(path: Path, to: Path) -> None:
    try:
        path.rename(to)
    except OSError as error:
        raise FileError(f"cannot rename {path}: {error.strerror}") from error
