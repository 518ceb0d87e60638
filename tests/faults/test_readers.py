"""Every reader, with files that were changed at random: only errors of ours come out, and no memory is taken on a file's word.

`pytest tests/faults/test_readers.py` makes a few thousand changes, with `--long` a million.
"""

import hashlib
import json
import random
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from afterstate.cluster.sweeps.file import load_sweep, parse_sweep, read_sweep
from afterstate.cluster.sweeps.folder import Result, SweepFolder
from afterstate.errors import AfterstateError, FileError
from afterstate.games.game import Game, make
from afterstate.learning.blocks import merge
from afterstate.learning.checkpoint import restore_checkpoint
from afterstate.learning.gamesfile import GamesFile
from afterstate.learning.options import TrainOptions
from afterstate.learning.plan import check_same, make_plan, new_network
from afterstate.learning.recipes import load_recipe, recipe_names, with_recipe
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.runlog import RunLog
from afterstate.learning.team import Team
from afterstate.learning.trainer import train
from afterstate.learning.watch import Watch
from afterstate.network.compactfile import save_compact
from afterstate.network.modelfile import load_model, open_model
from afterstate.network.network import Network
from afterstate.network.patterns import parse_patterns
from afterstate.network.tensorfile import open_tensors, write_tensors
from afterstate.play.episode_line import episode_line
from afterstate.play.episodes import read_episodes
from afterstate.play.players import RandomEnvironment, RandomPlayer, play_episodes
from afterstate.play.recognise import recognise
from afterstate.play.reproduction import _Task
from afterstate.report.curves import Curve
from afterstate.rng import Random
from afterstate.units import parse_bytes, parse_count, parse_rate, parse_share, parse_time
from mutations import mutate

OPTIONS = TrainOptions(
    network="012,345", method="tc", games=60, block=25, threads=1, starts="carousel", stages="0,64", eval_every=20, eval_games=2
)
SWEEP = """
games = 1200
seeds = [1, 5]
[halving]
first = 300
factor = 2
[train]
network = "0123,4567"
block = 300
[vary]
alpha = { log = [0.01, 1.0], count = 3 }
lambda = [0.0, 0.5]
[reference]
alpha = 0.1
"""
SHORT, LONG = 150, 80_000  # changes of each kind of file
SLOW = {"report": 10}  # where there are fewer


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return RunFolder(train(OPTIONS, run=tmp_path_factory.mktemp("runs") / "run").folder)


class Inputs:
    """Files to change, and how to read one."""

    def __init__(self, run: RunFolder, folder: Path) -> None:
        self.run, self.folder = run, folder
        self.path = folder / "changed"
        self.plan = make_plan(OPTIONS)

    def write(self, data: bytes, name: str = "changed") -> Path:
        path = self.folder / name
        path.unlink(missing_ok=True)  # to cut a file that is there costs a write to the disk on some systems
        path.write_bytes(data)
        return path

    # each gives the sound files and a reader

    def model(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        return [self.run.best.read_bytes()] if self.run.best.exists() else [
            self.run.last.read_bytes()
        ], lambda data: load_model(self.write(data))

    def compact(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        save_compact(load_model(self.run.model), self.folder / "sound.afs")
        return [(self.folder / "sound.afs").read_bytes()], lambda data: _unpack(self.write(data))

    def packed(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        """The tables of a compact model, with checksums that are right, so that changes get further."""
        save_compact(load_model(self.run.model), self.folder / "sound.afs")
        with open_tensors(self.folder / "sound.afs") as file:
            header = {name: text for name, text in file.metadata.items() if name not in ("sums", "check")}
            tables = {name: file.read(name).tobytes() for name in file.tensors}

        def read(data: bytes) -> None:
            found, rest = {}, data
            for name, table in tables.items():
                found[name], rest = np.frombuffer(rest[: len(table)], np.uint8), rest[len(table) :]
            sha256 = hashlib.sha256(data[: len(data) - len(rest)]).hexdigest()
            write_tensors(self.path, header | {"sha256": sha256}, found)
            _unpack(self.path)

        return [b"".join(tables.values())], read

    def header(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        """The header without checksums, with the right length, so that changes get further."""
        text, rest = _split(self.run.last.read_bytes())

        def read(data: bytes) -> None:
            load_model(self.write(len(data).to_bytes(8, "little") + data + rest))

        return [text, json.dumps(json.loads(text), indent=0).encode()], read

    def training(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        """The part of a checkpoint's header that says how far the run was, and the checkpoint's other tensors."""
        text, rest = _split(self.run.last.read_bytes())
        header = json.loads(text)
        said = header["__metadata__"]["training"].encode()

        def read(data: bytes) -> None:
            header["__metadata__"]["training"] = data.decode(errors="replace")
            self._restore(json.dumps(header).encode(), rest)

        return [said, said.replace(b", ", b",\n")], read

    def checkpoint(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        text, rest = _split(self.run.last.read_bytes())
        return [text, json.dumps(json.loads(text), indent=0).encode()], lambda data: self._restore(data, rest)

    def _restore(self, header: bytes, rest: bytes) -> None:
        self.write(len(header).to_bytes(8, "little") + header + rest)
        with open_model(self.path) as file:
            check_same(file, self.plan, self.run)
            restore_checkpoint(file, self.plan, Team(self.plan, new_network(self.plan), 1))

    def config(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        folder = RunFolder(self.folder)

        def read(data: bytes) -> None:
            self.write(data, "config.toml")
            make_plan(folder.read_config()).options.changed({"games": 100})

        lines = [line for line in self.run.config.read_bytes().splitlines(keepends=True) if not line.startswith(b"#")]
        return [
            self.run.config.read_bytes(),
            b"".join(line.partition(b"  #")[0] + b"\n" for line in lines) + b"# recipe =\n",
        ], read

    def metrics(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        folder = RunFolder(self.folder)
        log = RunLog(folder, self.plan.game)
        self.write(self.run.config.read_bytes(), "config.toml")

        def read(data: bytes) -> None:
            self.write(data, "metrics.jsonl")
            curve = Curve.of(self.folder)
            merge(curve.blocks, 1)
            watch = Watch(40)
            for record in curve.blocks:
                watch.see(record)
            log.rewind(50, blocks=50, evals=40, measured=100)

        return [self.run.metrics.read_bytes()], read

    def games(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        file = GamesFile(self.folder / "games.bin")

        def read(data: bytes) -> None:
            self.write(data, "games.bin")
            file.read(self.plan.game)
            file.results(self.plan.game, 5, 10**12)

        return [self.run.games.read_bytes()], read

    def recipe(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        def read(data: bytes) -> None:
            path = str(self.write(data, "recipe.toml"))
            make_plan(TrainOptions(**with_recipe({"recipe": path})))

        return [load_recipe(name).text.encode() for name in recipe_names()], read

    def sweep(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        """The file of a sweep; every trial is planned."""

        def read(data: bytes) -> None:
            read_sweep(self.write(data, "sweep.toml"))

        return [load_sweep("tuples").text.encode(), SWEEP.encode()], read

    def trials(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        """What a sweep has found so far."""
        folder = SweepFolder.make(self.folder / "sweep", parse_sweep("small", SWEEP, "small.toml"))
        one, other, *_ = folder.sweep.trials
        folder.add_result(one, Result(folder.sweep.rungs[0], (812.5, 900.25), (300, 300), 1.5))
        folder.add_end(other, "failed", "no memory")

        def read(data: bytes) -> None:
            folder.log.write_bytes(data)
            SweepFolder.open(folder.path).write_csv()

        return [folder.log.read_bytes()], read

    def report(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        """A report, up to the training itself."""

        def read(data: bytes) -> None:
            _Task.plan(str(self.write(data, "report.toml")), 0.5, self.folder / "nothing", None, 1, None)

        return [recipe.text.encode() for recipe in map(load_recipe, recipe_names()) if recipe.report], read

    def episodes_2048(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        return self._episodes(make("2048"))

    def episodes_threes(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        return self._episodes(make("threes", rules="tcg2018-bonus"))

    def _episodes(self, game: Game) -> tuple[list[bytes], Callable[[bytes], object]]:
        _, games = play_episodes(game, RandomPlayer(1), RandomEnvironment(2), games=3)
        sound = "".join(episode_line(each) + "\n" for each in games).encode()

        def read(data: bytes) -> None:
            path = self.write(data)
            for episode in read_episodes(path, game):
                assert episode.score >= 0

        return [sound], read

    def recognised(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        sound, _ = self.episodes_threes()
        return sound, lambda data: recognise(self.write(data))

    def boards(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        games = [make("2048"), make("2048", size="3x3"), make("threes"), make("threes", rules="tcg2018-bonus")]
        texts = [each.format(each.start(Random(1))).encode() for each in games]
        turn = iter(range(10**9))

        def read(data: bytes) -> None:
            each = games[next(turn) % len(games)]
            each.format(each.parse(data.decode(errors="surrogateescape")))

        return texts, read

    def words(self) -> tuple[list[bytes], Callable[[bytes], object]]:
        """Options as people write them."""
        readers: list[Callable[[str], object]] = [
            parse_count, parse_time, parse_bytes, parse_rate, parse_share,
            lambda text: parse_patterns(text, make("2048").shape),
            lambda text: replace(OPTIONS, schedule=text),
            lambda text: replace(OPTIONS, stages=text),
            lambda text: make_plan(replace(OPTIONS, context=text)),
            lambda text: make("2048", size=text),
        ]  # fmt: skip
        turn = iter(range(10**9))
        texts = [
            b"100k",
            b"1.5M",
            b"10m",
            b"64M",
            b"1/64",
            b"10%",
            b"0123,4567",
            b"8x6",
            b"50%:0.01,90%:tc:0.5",
            b"0,16384",
            b"3x4",
        ]
        return texts, lambda data: readers[next(turn) % len(readers)](data.decode(errors="surrogateescape"))


def _unpack(path: Path) -> None:
    with open_model(path) as file:
        described = file.describe()
        file.read_tables(Network(described.game, described.patterns, stages=described.stages, context=described.context))


def _split(model: bytes) -> tuple[bytes, bytes]:
    """The header of a model file, as it is without checksums, and the rest."""
    length = 8 + int.from_bytes(model[:8], "little")
    header = json.loads(model[8:length])
    header["__metadata__"] |= {"format": "afterstate-model-1"}
    del header["__metadata__"]["sums"], header["__metadata__"]["check"]
    return json.dumps(header).encode(), model[length:]


READERS = [name for name in vars(Inputs) if not name.startswith("_") and name != "write"]


@pytest.mark.parametrize("reader", READERS)
def test_only_errors_of_ours(
    reader: str, run: RunFolder, tmp_path: Path, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.fsync", lambda _: None)
    sound, read = getattr(Inputs(run, tmp_path), reader)()
    for data in sound:
        if reader != "words":  # of which each reader takes some
            read(data)
    chance = random.Random(reader)
    count = (LONG if pytestconfig.getoption("--long") else SHORT) // SLOW.get(reader, 1)
    began, refused = time.perf_counter(), 0
    for number in range(count):
        data = mutate(chance.choice(sound), chance, sound)
        try:
            read(data)
        except AfterstateError:
            refused += 1
        except BaseException as error:
            error.add_note(f"{reader} {number}: {data[:2000]!r}")
            raise
    assert refused > 0
    print(f"{reader}: {count} changes, {refused} refused, {time.perf_counter() - began:.0f} s")


def test_a_recipe_whose_version_is_too_long_to_write(tmp_path: Path) -> None:
    """TOML has hex numbers of any length, which Python does not turn into text."""
    (tmp_path / "mine.toml").write_text(f"version = 0x{'f' * 5000}\n[train]\ngames = 10\n")
    with pytest.raises(FileError, match="a number of 20000 bits"):
        load_recipe(str(tmp_path / "mine.toml"))


PROMISES: list[Any] = [
    {"shape": [2**60]}, {"data_offsets": [0, 2**61]}, {"shape": [2**60], "data_offsets": [0, 2**62]}, {"shape": [2**31, 2**31]},
    {"shape": [0, 2**60]}, {"shape": [2**60, 0, 2**60]}, {"data_offsets": [2**60, 2**60 + 16384]}, {"shape": [-1]},
    {"shape": [1] * 10**5},
]  # fmt: skip


@pytest.mark.parametrize("promise", PROMISES, ids=[str(each)[:60] for each in PROMISES])
@pytest.mark.parametrize("name", ["012", "block.scores"])
def test_no_memory_is_taken_on_a_files_word(promise: dict[str, Any], name: str, run: RunFolder, tmp_path: Path) -> None:
    text, rest = _split(run.last.read_bytes())
    header = json.loads(text)
    header[name] |= promise
    text = json.dumps(header).encode()
    path = tmp_path / "model"
    path.write_bytes(len(text).to_bytes(8, "little") + text + rest)
    _check_cheap(path)


@pytest.mark.parametrize("length", [2**24, 2**31, 2**60, 2**64 - 1])
def test_a_header_without_an_end(length: int, tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(length.to_bytes(8, "little") + b"{" * 1000)
    _check_cheap(path)


def _read_all(path: Path) -> None:
    with open_model(path) as file:
        file.read("block.scores")
        file.load()


def _check_cheap(path: Path) -> None:
    """A file is refused, with little memory."""
    tracemalloc.start()
    try:
        with pytest.raises(AfterstateError):
            _read_all(path)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()
