"""Find models and runs by id. No path ever comes from a client: ids are looked up among the files found on this machine."""

import contextlib
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afterstate.errors import AfterstateError, FileError, InputError, ResourceError
from afterstate.files import is_file
from afterstate.games.game import Game, make
from afterstate.learning.runfolder import RunFolder
from afterstate.network.interop.reading import split_reading
from afterstate.network.modelfile import load_model, open_model
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.web import messages

NETWORKS = 4  # that stay loaded, if there is memory for them
AGENTS = 6  # kept for the next question


class UnknownError(AfterstateError):
    """There is no model or run with this id."""


def make_id(path: Path) -> str:
    """The id of a file or folder. It stays the same until the file is moved."""
    return hashlib.blake2s(str(path.resolve()).encode(), digest_size=6).hexdigest()


@dataclass(frozen=True)
class Source:
    """A model file that was found."""

    id: str
    name: str
    path: Path
    run: str | None

    @property
    def version(self) -> tuple[int, int]:
        """Changes with the file: a run replaces its checkpoints."""
        status = split_reading(self.path)[0].stat()
        return status.st_mtime_ns, status.st_size


class Library:
    """The models given on the command line, those of all runs in a folder, and those that come with the package."""

    def __init__(self, runs: Path, models: Sequence[Path] = (), *, shipped: Sequence[Path] = ()) -> None:
        self.runs = runs
        self._given = [path.resolve() for path in models]
        self._shipped = [path.resolve() for path in shipped]
        self._lock = threading.Lock()
        self._facts: dict[str, tuple[tuple[int, int], messages.Model]] = {}
        self._networks: OrderedDict[str, tuple[tuple[int, int], Network]] = OrderedDict()
        self._idle: list[tuple[tuple[Any, ...], Agent]] = []  # the last used one is at the end

    # --- what there is -----------------------------------------------------------------------------------------------------

    def run_folders(self) -> dict[str, RunFolder]:
        """The runs in the folder and those given on the command line by id, newest first."""
        found = []
        given = [path / "config.toml" for path in self._given if path.is_dir()]
        for config in (*given, *(path for path in self.runs.glob("*/config.toml") if path.parent.name[0] != ".")):
            with contextlib.suppress(OSError):  # the folder was just deleted
                if config.is_file():  # a pipe would keep us waiting
                    found.append((config.stat().st_mtime, config.parent))
        return {make_id(path): RunFolder(path) for _, path in sorted(found, reverse=True)}

    def owns(self, folder: RunFolder) -> bool:
        """Whether a run lies in the folder of runs itself, and not behind a link."""
        return not folder.path.is_symlink() and folder.path.parent.resolve() == self.runs.resolve()

    def _sources(self) -> list[Source]:
        found = []
        for path in self._given:
            id_ = make_id(path)
            if not path.is_dir():
                found.append(Source(id_, path.stem, path, None))
            elif file := _model_of(RunFolder(path)):
                found.append(Source(id_, path.name, file, id_))
        for id_, folder in self.run_folders().items():
            if (file := _model_of(folder)) and all(source.id != id_ for source in found):
                found.append(Source(id_, folder.path.name, file, id_))
        for path in self._shipped:
            if path not in self._given:
                found.append(Source(make_id(path), path.stem, path, None))
        return found

    def models(self) -> messages.Models:
        """All readable models: those of the command line first, then by game, best first."""
        found = []
        for source in self._sources():
            try:
                found.append(self._read_facts(source))
            except (AfterstateError, OSError, ValueError, KeyError, TypeError):
                continue  # skip what is not a model; `afterstate info` says why
        given = {make_id(path) for path in self._given}
        found.sort(key=lambda model: (model.id not in given, model.game, model.rules, -(model.mean or 0.0)))
        return messages.Models(models=found, default=found[0].id if found else None)

    def _read_facts(self, source: Source) -> messages.Model:
        """What a header says. While a file cannot be used, that of the network which was loaded from it before."""
        known = self._facts.get(source.id)
        try:
            version = source.version
            if known is None or known[0] != version:
                known = self._facts[source.id] = (version, _facts(source))
        except (AfterstateError, OSError):
            if known is None or source.id not in self._networks:
                raise
        return known[1]

    def look(self, id_: str, folder: RunFolder) -> tuple[messages.Model | None, str | None]:
        """The model of a run, if there is one, and why it cannot be used, if it cannot."""
        file = _model_of(folder)
        if file is None:
            return None, None
        try:
            return self._read_facts(Source(id_, folder.path.name, file, id_)), None
        except (AfterstateError, OSError, ValueError, KeyError, TypeError) as error:
            return None, str(error)

    def forget(self, model: str) -> None:
        """Let go of a model whose file was moved or deleted, so that the disk gets its room back."""
        with self._lock:
            self._facts.pop(model, None)
            self._networks.pop(model, None)
            self._dismiss(model)

    # --- what they are for -------------------------------------------------------------------------------------------------

    def find(self, model: str | None, game: str, rules: str | None, size: str) -> str:
        """The id of a model: the given one, or the best for a game."""
        if model is not None:
            return model
        wanted = make(game, rules=rules, size=size)
        for facts in self.models().models:
            if (facts.game, facts.rules, facts.size) == (wanted.name, wanted.rules, str(wanted.shape)):
                return facts.id
        raise UnknownError(f"there is no model for {wanted.name} ({wanted.rules}, {wanted.shape}) yet: train one")

    def network(self, model: str) -> Network:
        """Load a network by the id of its model, once; again if its file has changed.

        While the file is gone or cannot be used, such as in the middle of a copy, the network that was loaded before goes on.
        """
        source = next((source for source in self._sources() if source.id == model), None)
        with self._lock:
            known = self._networks.get(model)
            try:
                if source is None:
                    raise UnknownError("there is no such model; /api/models lists them")
                version = source.version
                if known is None or known[0] != version:
                    known = (version, self._load(source.path))
                    self._dismiss(model)
                    self._networks[model] = known
            except (AfterstateError, OSError) as error:
                if known is None:
                    raise (FileError("the model's file is gone") if isinstance(error, OSError) else error) from error
            self._networks.move_to_end(model)
            while len(self._networks) > NETWORKS:
                self._drop_oldest()
            return known[1]

    def _load(self, path: Path) -> Network:
        """Load a network; if there is no memory for it, drop others first."""
        while True:
            try:
                return load_model(path)
            except ResourceError:
                if not self._networks:
                    raise
                self._drop_oldest()

    def _drop_oldest(self) -> None:
        oldest, _ = self._networks.popitem(last=False)
        self._dismiss(oldest)

    def _dismiss(self, model: str) -> None:
        """Drop the agents of a network that is no longer loaded."""
        self._idle = [(key, agent) for key, agent in self._idle if key[0] != model]

    @contextlib.contextmanager
    def agent(self, model: str, *, depth: int | None, move_time: float | None) -> Iterator[Agent]:
        """Lend an agent for one question; afterwards it waits for the next one."""
        network = self.network(model)
        options = look_ahead(depth, move_time)
        key = (model, id(network), *sorted(options.items()))
        with self._lock:
            place = next((place for place, (other, _) in enumerate(self._idle) if other == key), None)
            agent = None if place is None else self._idle.pop(place)[1]
        agent = agent or Agent(network, **options)
        yield agent
        with self._lock:
            self._idle.append((key, agent))
            del self._idle[:-AGENTS]


def look_ahead(depth: int | None, move_time: float | None) -> dict[str, Any]:
    """Options of an agent. Deep searches have a time limit, so that no question takes forever."""
    if depth is not None and move_time is not None:
        raise InputError("give a depth or a time for each move, not both")
    if move_time is not None:
        return {"move_time": move_time}
    depth = 2 if depth is None else depth
    return {"depth": depth} | ({"move_time": messages.MOVE_TIME} if depth > 3 else {})


def game_of(ref: messages.GameRef) -> Game:
    return make(ref.game, rules=ref.rules, size=ref.size)


def _model_of(folder: RunFolder) -> Path | None:
    try:
        return folder.model if is_file(folder.model) else None
    except AfterstateError:
        return None


def _facts(source: Source) -> messages.Model:
    with open_model(source.path) as file:
        header, training = file.header, file.training
    block = training.block
    game = make(header["game"], rules=header["rules"], size=header["size"])
    patterns = header["patterns"].split()
    return messages.Model(
        id=source.id,
        name=source.name,
        game=game.name,
        rules=game.rules,
        size=str(game.shape),
        network=str(training.options.get("network") or f"{len(patterns)} patterns"),
        games=(training.games if block is None else block.games) or None,
        mean=None if block is None else block.mean,
        win_rate=None if block is None else block.win_rate,
        win_tile=game.face(game.win),
        run=source.run,
    )
