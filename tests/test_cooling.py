"""Cooling a run down: a branch whose rate falls to its end, while the run itself goes on."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import afterstate as af
from afterstate.cli.main import Exit
from afterstate.errors import FileError, InputError, ResourceError
from afterstate.files import hold_folder
from afterstate.learning.cooling import cool_down
from afterstate.learning.options import COOLING, Phase, TrainOptions
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.trainer import Run, resume, train
from afterstate.network.modelfile import open_model, read_training
from commandline import check, learned, run
from listeners import StopAt

OPTIONS: dict[str, Any] = {
    "network": "0123,4567", "method": "tc", "threads": 1, "block": 100, "stages": "0,128", "starts": "carousel", "seed": 5
}  # fmt: skip


def options(**given: Any) -> TrainOptions:
    return TrainOptions(**(OPTIONS | given))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that is in the middle of a block, and has a step of its schedule behind it and one before it."""
    folder = tmp_path_factory.mktemp("cooling") / "source"
    return train(options(games=430, schedule="200:0.5,5000:0.3", keep=True), run=folder)


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- rates -----------------------------------------------------------------------------------------------------------


def test_the_rate_falls_in_the_last_part_of_a_run() -> None:
    phases = TrainOptions(games=1000, alpha=0.2, schedule="500:0.1,950:0.7", cool_down="200").phases()
    before = [Phase(0.0, False, "td", 0.2), Phase(500, False, "td", 0.1)]
    assert phases == before + [Phase(round(800 + 200 * at), False, "td", 0.1 * part) for at, part in COOLING]
    rates = [phase.alpha for phase in phases]
    assert rates == sorted(rates, reverse=True)


def test_a_cool_down_by_time_follows_steps_by_games() -> None:
    phases = TrainOptions(time=3600.0, method="tc", schedule="5k:0.5", cool_down="10m").phases()
    assert [(phase.start, phase.by_time) for phase in phases[:3]] == [(0, False), (5000, False), (3000.0, True)]
    assert phases[2].alpha == 0.5 * COOLING[0][1]
    assert phases[-1].alpha == 0.5 * COOLING[-1][1]


@pytest.mark.parametrize(("text", "games"), [("1", 1), ("3", 3)])
def test_a_short_cool_down_takes_the_steps_that_fit(text: str, games: int) -> None:
    phases = TrainOptions(games=games, cool_down=text).phases()
    starts = [phase.start for phase in phases]
    assert starts == sorted(set(starts))
    assert starts[0] == 0
    assert phases[-1].alpha < TrainOptions().rate


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"games": 100, "cool_down": "1h"}, ["cool-down 1h", "games such as 50k"]),
        ({"time": 60.0, "cool_down": "50k"}, ["cool-down 50k", "time such as 30m"]),
        ({"games": 100, "cool_down": "101"}, ["longer than the run"]),
        ({"games": 100, "cool_down": "soon"}, ["30m", "50k", "'soon'"]),
        ({"games": 100, "cool_down": "0"}, ["30m", "50k", "'0'"]),
    ],
)
def test_a_wrong_cool_down_is_refused(given: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        TrainOptions(**given)
    assert [word for word in words if word not in str(caught.value)] == []


def test_a_schedule_may_have_steps_by_seconds() -> None:
    assert TrainOptions(time=60.0, schedule="30.5s:0.01").phases()[1] == Phase(30.5, True, "td", 0.01)


# --- branches --------------------------------------------------------------------------------------------------------


def test_a_branch_is_the_run_with_a_cool_down_at_its_end(source: Run, tmp_path: Path) -> None:
    """Bit for bit: weights, TC's sums, what was measured, and every game."""
    before = files(source.folder)
    cooled = cool_down(source.folder, {"cool_down": "300", "keep": True}, into=tmp_path / "cooled")
    assert files(source.folder) == before, "the run itself is as it was"
    assert (cooled.games, cooled.stopped) == (source.games + 300, False)
    whole = train(options(games=cooled.games, schedule="200:0.5", cool_down="300", keep=True), run=tmp_path / "whole")
    assert learned(cooled.folder) == learned(whole.folder)
    assert (cooled.folder / "games.bin").read_bytes() == (whole.folder / "games.bin").read_bytes()
    rates = [record["alpha"] for record in cooled.metrics]
    assert rates[:4] == [1.0, 1.0, 0.5, 0.5]
    assert 0.5 > rates[4] > rates[5] > rates[6] > 0
    other = resume(shutil.copytree(source.folder, tmp_path / "on"), {"games": cooled.games})
    assert (other.network.weights != cooled.network.weights).any(), "with a rate that stays"


def test_a_branch_that_is_stopped_and_resumed_is_the_same(source: Run, tmp_path: Path) -> None:
    cooled = cool_down(source.folder, {"cool_down": "300"}, into=tmp_path / "cooled")
    halt = StopAt(source.games + 130)
    cut = cool_down(source.folder, {"cool_down": "300"}, into=tmp_path / "cut", listener=halt, stop=halt.stop)
    assert cut.stopped
    assert learned(resume(cut.folder).folder) == learned(cooled.folder)


def test_branches_by_time_stand_beside_the_run(source: Run, tmp_path: Path) -> None:
    """The run may be training meanwhile: its lock is not needed."""
    folder = Path(shutil.copytree(source.folder, tmp_path / "mine"))
    with hold_folder(folder) as free:
        assert free
        first = af.train(run=folder, cool_down="0.3s")
        second = af.train("2048", run=folder, cool_down="0.2s", threads=2)
    assert (first.folder, second.folder) == (tmp_path / "mine-cooled-1", tmp_path / "mine-cooled-2")
    for cooled, seconds in ((first, 0.3), (second, 0.2)):
        assert cooled.seconds == pytest.approx(source.seconds + seconds, abs=0.3)
        assert cooled.games > source.games
    assert RunFolder(second.folder).read_config().threads == 2


def test_steps_in_percent_keep_their_places(tmp_path: Path) -> None:
    first = train(options(games=400, schedule="25%:0.5,50%:0.4", keep=True), run=tmp_path / "run")
    cooled = cool_down(first.folder, {"cool_down": "100"})
    assert RunFolder(cooled.folder).read_config().schedule == "100:tc:0.5,200:tc:0.4"
    again = cool_down(tmp_path / "run", {"cool_down": "1k"}, listener=(halt := StopAt(450)), stop=halt.stop)
    third = cool_down(again.folder, {"cool_down": "50"})
    schedule = str(RunFolder(third.folder).read_config().schedule)
    assert f"400:tc:{0.4 * COOLING[0][1]!r}" in schedule, "a branch of a branch goes on from its rate"


def test_steps_by_time_keep_their_places(tmp_path: Path) -> None:
    first = train(options(time=0.4, schedule="50%:0.5", keep=True), run=tmp_path / "run")
    assert RunFolder(cool_down(first.folder, {"cool_down": "20"}).folder).read_config().schedule == "0.2s:tc:0.5"


def test_a_branch_killed_while_it_is_made_is_no_run(source: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a resume would begin at game 0 with the rates of the end."""

    def full(*_: Any) -> None:
        raise ResourceError("no room")

    monkeypatch.setattr("afterstate.network.plainfile.write_tensors", full)
    with pytest.raises(ResourceError):
        cool_down(source.folder, {"cool_down": "10"}, into=tmp_path / "cooled")
    monkeypatch.undo()
    with pytest.raises(FileError, match="there is no run in"):
        resume(tmp_path / "cooled")


def test_what_cannot_be_cooled_down_is_refused(source: Run, tmp_path: Path) -> None:
    done_run = train(options(games=100), run=tmp_path / "complete")
    with pytest.raises(FileError, match=r"complete after 100 games.*--from"):
        cool_down(done_run.folder, {"cool_down": "10"})
    with pytest.raises(InputError, match="leave out --games"):
        cool_down(source.folder, {"cool_down": "10", "games": 20})
    with pytest.raises(InputError, match="was started with seed 5"):
        cool_down(source.folder, {"cool_down": "10", "seed": 6})
    with pytest.raises(InputError, match="without --resume"):
        resume(source.folder, {"cool_down": "10"})
    with pytest.raises(FileError, match="exists"):
        cool_down(source.folder, {"cool_down": "10"}, into=done_run.folder)
    (folder := tmp_path / "fresh").mkdir()
    shutil.copy(source.folder / "config.toml", folder)
    with pytest.raises(FileError, match="no checkpoint yet"):
        cool_down(folder, {"cool_down": "10"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["complete", "fresh"], "nothing is left behind"


def test_commands(source: Run, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(source.folder, tmp_path / "mine"))
    result = run("train", "--run", folder, "--cool-down", "150", "--json", "--quiet")
    assert result.code == Exit.DONE, result.err
    told = json.loads(result.out)
    assert told["run"] == str(tmp_path / "mine-cooled-1")
    assert told["games"] == source.games + 150
    assert "branches from game" in result.err
    assert read_training(RunFolder(told["run"]).last).games == source.games + 150
    with open_model(RunFolder(told["run"]).last) as file:
        assert file.has("coherence"), "it keeps what its run kept"
    check(run("train", "--run", tmp_path / "none", "--cool-down", "1k"), Exit.FILE, "no run in", "none")
    check(run("train", "--run", folder, "--into", tmp_path / "x"), Exit.INPUT, "--into", "--cool-down")
    check(run("train", "--run", folder, "--cool-down", "1k", "--resume"), Exit.INPUT, "without --resume")


def test_a_schedule_that_is_a_function_cannot_be_cooled_down(tmp_path: Path) -> None:
    """It gives every rate itself, and a branch does not know it."""

    def rate(games: int) -> float:
        return 0.1

    given: dict[str, Any] = {"network": "0123,4567", "games": 100, "block": 50, "threads": 1}
    with pytest.raises(InputError, match="let the function fall"):
        af.train("2048", schedule=rate, cool_down=50, run=False, **given)
    made = af.train("2048", schedule=rate, keep=True, run=tmp_path / "made", **given)
    with pytest.raises(InputError, match="its rate is not known here"):
        af.train(run=made.folder, cool_down=50)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made"]
