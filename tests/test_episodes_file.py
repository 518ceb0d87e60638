"""The result of every training game: kept exactly, read as arrays, drawn as a picture; and metrics.csv beside them."""

import csv
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import afterstate as af
from afterstate.cli.main import Exit
from afterstate.errors import FileError
from afterstate.games.game import Game
from afterstate.games.results import Results
from afterstate.learning.gamesfile import RECORD, GamesFile
from afterstate.learning.runfolder import RunFolder
from afterstate.report.episodes_plot import survey
from commandline import PNG, SMALL, check, contents, done, read_metrics, run, run_here

small = run_here  # the fixture: in this file, a copy in the current folder


def results(count: int, seed: int = 1) -> Results:
    rng = np.random.default_rng(seed)
    numbers = rng.integers(1, 17, count)
    return Results(rng.integers(0, 100_000, count), 10 * numbers, numbers.astype(np.uint8))


# --- the file --------------------------------------------------------------------------------------------------------


def test_games_are_written_to_their_places(tmp_path: Path, game: Game) -> None:
    file = GamesFile(tmp_path / "games.bin")
    played = results(1000)
    for first in (0, 300, 650):
        file.write(first, played.part(first, first + 350))
    assert len(file) == 1000
    found = file.read(game)
    assert np.array_equal(found.scores, played.scores)
    assert np.array_equal(found.moves, played.moves)
    assert np.array_equal(found.largest, 2 ** played.largest.astype(np.int64))
    raw = np.fromfile(file.path, [("score", "<i8"), ("moves", "<u4"), ("largest", "u1")])
    assert np.array_equal(raw["score"], played.scores), "as the docs say"


def test_a_file_is_cut_back(tmp_path: Path, game: Game) -> None:
    file = GamesFile(tmp_path / "games.bin")
    file.write(0, results(100))
    assert file.cut(60) == 0
    assert len(file) == 60
    with open(file.path, "ab") as end:
        end.write(b"half of a")
    assert len(file) == 60
    assert file.cut(80) == 20
    assert file.path.stat().st_size == 80 * RECORD.itemsize
    assert np.flatnonzero(file.read(game).largest == 0).tolist() == list(range(60, 80))


def test_a_file_of_something_else_is_refused(tmp_path: Path, game: Game) -> None:
    (tmp_path / "games.bin").write_bytes(bytes(range(255)) * 13)
    with pytest.raises(FileError, match=r"games\.bin does not hold games"):
        GamesFile(tmp_path / "games.bin").read(game)


# --- runs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
def test_every_game_of_a_run_is_kept(threads: int, tmp_path: Path) -> None:
    """In the order of their numbers: each block of the metrics is made of its own games."""
    trained = af.train(network="0123,4567", games=900, block=150, threads=threads, run=tmp_path / "run")
    games = trained.episodes
    assert len(games.scores) == len(games.moves) == len(games.largest) == 900
    assert np.array_equal(af.training_games(tmp_path / "run").scores, games.scores)
    for number, block in enumerate(trained.metrics):
        part = slice(150 * number, 150 * (number + 1))
        assert games.scores[part].mean() == pytest.approx(block["mean"], rel=1e-12)
        assert games.moves[part].sum() == block["moves"]
        assert (games.largest[part] >= 512).mean() == pytest.approx(block["reached"].get("512", 0.0))


def test_a_resume_goes_on_at_its_game(small: Path, tmp_path: Path) -> None:
    """What was played after the checkpoint is played again."""
    with open(small / "games.bin", "ab") as file:
        file.write(b"later" * 100)
    done("train", "--run", "small", "--resume", "--games", "450")
    done(*SMALL, "--games", "450", "--run", "whole")
    assert Path("small/games.bin").read_bytes() == Path("whole/games.bin").read_bytes()


def test_lost_games_are_told_and_left_out(small: Path) -> None:
    path = small / "games.bin"
    path.write_bytes(path.read_bytes()[: 200 * RECORD.itemsize + 5])
    result = done("train", "--run", "small", "--resume", "--games", "350")
    assert "the results of games 201 to 300 are not known: small/games.bin was too short\n" in result.out
    games = af.training_games(small)
    assert len(games.scores) == 350
    assert np.flatnonzero(games.moves == 0).tolist() == list(range(200, 300))
    done("plot", "small", "--episodes")
    path.unlink()
    assert "the results of games 1 to 350 are not known" in done("train", "--run", "small", "--resume", "--games", "360").out


# --- metrics.csv -----------------------------------------------------------------------------------------------------


def test_metrics_for_a_spreadsheet(small: Path) -> None:
    with open(small / "metrics.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for row, record in zip(rows, read_metrics(small), strict=True):
        assert (row["kind"], int(row["games"]), float(row["mean"])) == (record["kind"], record["games"], record["mean"])
        assert float(row["win_rate"]) == record["win_rate"]
        assert float(row["reached_2"]) == 1.0
        assert float(row["reached_131072"]) == 0.0
        assert all(float(row[f"reached_{tile}"]) == rate for tile, rate in record["reached"].items())


def test_metrics_for_a_spreadsheet_are_exact_over_a_resume(small: Path) -> None:
    with open(small / "metrics.csv", "a") as file:
        file.write("block,400,cut o")
    done("train", "--run", "small", "--resume", "--games", "500", "--quiet")
    with open(small / "metrics.csv", newline="") as file:
        lines = [(row["kind"], row["games"], row["mean"]) for row in csv.DictReader(file)]
    assert lines == [(record["kind"], str(record["games"]), str(record["mean"])) for record in read_metrics(small)]
    assert len(lines) == 5


# --- the picture -----------------------------------------------------------------------------------------------------


def make_run(games: int, small: Path) -> RunFolder:
    """A run with this many games on record, whose scores rise."""
    rng = np.random.default_rng(1)
    folder = RunFolder(small)
    size = 1 << 20
    for first in range(0, games, size):
        count = min(size, games - first)
        scores = (rng.gamma(4.0, 5000.0, count) * (1 + 3 * np.arange(first, first + count) / games)).astype(np.int64)
        GamesFile(folder.games).write(first, Results(scores, scores // 20, np.full(count, 11, np.uint8)))
    return folder


def test_plot_every_game(small: Path) -> None:
    assert done("plot", "small", "--episodes").out == "wrote small/report/episodes.png\n"
    assert (small / "report" / "episodes.png").read_bytes().startswith(PNG)
    done("plot", "small", "--episodes", "-o", "games.svg")
    assert "small: every training game" in Path("games.svg").read_text()


def test_a_survey_of_few_games_is_exact(small: Path, game: Game) -> None:
    scores = af.training_games(small).scores
    found = survey(GamesFile(small / "games.bin"), game)
    assert (found.games, found.highest, found.window) == (300, scores.max(), 100)
    assert found.counts.sum() == 300
    for end, mean, quantiles in zip(found.ends, found.means, found.quantiles, strict=True):
        window = scores[end - 100 : end]
        assert mean == pytest.approx(window.mean())
        assert quantiles == pytest.approx(np.quantile(window, (0.1, 0.5, 0.9)))


def test_a_survey_of_many_games_takes_little_memory(small: Path, game: Game) -> None:
    folder = make_run(3_000_000, small)
    tracemalloc.start()
    try:
        found = survey(GamesFile(folder.games), game)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.counts.sum() == 3_000_000
    assert found.counts.shape == (250, 500)
    assert found.window == 60_000
    assert (np.diff(found.means) > -500).all()
    assert found.means[-1] == pytest.approx(4 * 20_000, rel=0.05)
    assert peak < 50_000_000


def test_plot_many_games(small: Path) -> None:
    make_run(100_000, small)
    done("plot", "small", "--episodes", "-o", "games.png")
    assert Path("games.png").read_bytes().startswith(PNG)


def test_games_that_cannot_be_drawn(small: Path) -> None:
    before = contents(small)
    check(run("plot", "small", "small", "--episodes"), Exit.INPUT, "--episodes", "one")
    check(run("plot", "small", "--episodes", "-o", "games.pdf"), Exit.INPUT, "games.pdf")
    assert contents(small) == before
    (small / "games.bin").write_bytes(b"?" * 1300)
    check(run("plot", "small", "--episodes"), Exit.FILE, "small/games.bin", "does not hold games")
    (small / "games.bin").unlink()
    check(run("plot", "small", "--episodes"), Exit.FILE, "small", "games.bin is missing")
