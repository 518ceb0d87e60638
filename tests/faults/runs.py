"""Kinds of trainings that faults disturb, and how to see that nothing was lost."""

import shutil
from pathlib import Path

from afterstate.learning.gamesfile import GamesFile
from afterstate.learning.runfolder import RunFolder
from afterstate.network.modelfile import read_training
from commandline import NETWORK, contents, learned, read_metrics
from nursery import Child, Nursery

GAMES = 3000
SHARED = ("--network", NETWORK, "--games", str(GAMES), "--block", "500", "--save-every", "0.05")
KINDS: dict[str, tuple[str, ...]] = {
    "td": ("train", "2048", *SHARED, "--threads", "1"),
    "tc": (
        "train", "2048", *SHARED, "--threads", "1", "--method", "tc", "--lambda", "0.5", "--stages", "0,256",
        "--starts", "carousel", "--schedule", "50%:0.1", "--eval-every", "1000", "--eval-games", "50",
    ),
    "threes": ("train", "threes", *SHARED, "--threads", "1", "--method", "tc", "--lambda", "0.5", "--order", "backward"),
    "two threads": ("train", "2048", *SHARED, "--threads", "2", "--method", "tc"),
}  # fmt: skip
EXACT = ("td", "tc", "threes")  # one thread repeats a run bit for bit


def partial(folder: Path) -> list[Path]:
    return list(folder.rglob(".*.partial"))


def saved_games(folder: Path) -> int:
    last = RunFolder(folder).last
    return read_training(last).games if last.exists() else 0


def played_games(folder: Path) -> int:
    """How many games are on disk, saved by a checkpoint or not."""
    return len(GamesFile(RunFolder(folder).games))


def begin(nursery: Nursery, kind: str, folder: Path) -> Child:
    if (folder / "config.toml").exists():
        return nursery.start("train", "--run", folder, "--resume")
    shutil.rmtree(folder, ignore_errors=True)  # killed before it had begun: it has no options yet
    return nursery.start(*KINDS[kind], "--run", folder)


def check_complete(kind: str, folder: Path, whole: Path) -> None:
    """No game twice, none missing, no half file left; one thread is equal bit for bit."""
    assert [record["games"] for record in read_metrics(folder) if record["kind"] == "block"] == list(range(500, GAMES + 1, 500))
    assert played_games(folder) == saved_games(folder) == GAMES
    assert not partial(folder)
    if kind in EXACT:
        (tensors, metrics), (other_tensors, other_metrics) = learned(folder), learned(whole)
        assert metrics == other_metrics
        names = tensors.keys() | other_tensors.keys()
        assert [name for name in sorted(names) if tensors.get(name) != other_tensors.get(name)] == []
        assert (folder / "games.bin").read_bytes() == (whole / "games.bin").read_bytes()
    kept = {name for name in contents(folder) if not name.startswith("before-")}  # measured before its first checkpoint
    assert kept == set(contents(whole))
