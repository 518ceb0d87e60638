"""Judged on the way: points and snapshots at each evaluation."""

from pathlib import Path

import pytest

from afterstate.games.game import make
from afterstate.games.points import Merits, find_version, judge_results
from afterstate.learning.runfolder import RunFolder
from afterstate.network.modelfile import load_model
from afterstate.play.agent import Agent
from afterstate.play.evaluation import measure
from commandline import check, run

THREES = (
    "train",
    "threes",
    "--rules",
    "tcg2022",
    "--network",
    "0123,4567",
    "--threads",
    "1",
    "--games",
    "200",
    "--block",
    "100",
)
JUDGED = (*THREES, "--eval-every", "100", "--eval-games", "50", "--judge", "1", "--snapshots")


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run with evaluations, and what it printed."""
    path = tmp_path_factory.mktemp("judged") / "run"
    result = run(*JUDGED, "--run", path)
    assert result.code == 0, result.err
    return path, result.out


def test_the_points_are_those_of_the_snapshot(judged: tuple[Path, str]) -> None:
    """The network that is kept plays the same games again, and the judge gives the same points."""
    path, out = judged
    records = [record for record in RunFolder(path).read_metrics() if record["kind"] == "eval"]
    assert [record["games"] for record in records] == [100, 200]
    for record in records:
        network = load_model(path / "checkpoints" / f"at-{record['games']}.safetensors")
        assert network.training.games == record["games"]
        again = measure(Agent(network), games=50, seed=1)
        points = judge_results(make("threes", rules="tcg2022"), again.results, "1")
        assert record["judge"] == pytest.approx(points)
        assert record["judge"] == pytest.approx(find_version("1").points(Merits(record["mean"], 0.0, 0.0, 0)))
        assert f"(50 games), {points:.1f} points" in out
    assert records[0]["judge"] != records[1]["judge"]


def test_the_table_at_the_end_has_them(judged: tuple[Path, str]) -> None:
    path, out = judged
    end = out[out.index("evaluations") :]
    for record in RunFolder(path).read_metrics():
        if record["kind"] == "eval":
            assert f"{record['judge']:.1f}" in end
    assert "points" in end


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--judge", "2"), "say after how many games"),
        (("--snapshots",), "say after how many games"),
        (("--judge", "7", "--eval-every", "100"), "no version of the judge is called '7'"),
        (("--judge", "2018-1", "--eval-every", "100"), "by the rules tcg2018"),
    ],
)
def test_what_cannot_be_judged_is_refused(tmp_path: Path, more: tuple[str, ...], words: str) -> None:
    check(run(*THREES, "--run", tmp_path / "run", *more), 3, words)
    assert not (tmp_path / "run").exists()
