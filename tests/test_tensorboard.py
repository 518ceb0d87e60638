"""Event files for TensorBoard, read back with TensorBoard's own reader."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import afterstate as af
from afterstate.errors import ResourceError
from afterstate.learning.events import EventFile
from afterstate.learning.options import TrainOptions
from afterstate.learning.trainer import Run, resume, train
from commandline import done
from listeners import StopAt

OPTIONS: dict[str, Any] = {"network": "0123,4567", "games": 400, "block": 100, "threads": 1, "seed": 3}
OPTIONS |= {"tensorboard": True, "eval_every": 200, "eval_games": 20}
CLOCK = ("time/moves_per_second", "time/training_seconds")

Point = tuple[int, float]  # step, value


def read(folder: Path) -> dict[str, list[Point]]:
    """All scalars of a run's folder by their tags."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    reader = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    reader.Reload()
    return {tag: [(event.step, event.value) for event in reader.Scalars(tag)] for tag in reader.Tags()["scalars"]}


def figures(run: Run, kind: str, name: str) -> list[tuple[int, Any]]:
    """The same from the metrics."""
    return [(line["games"], pytest.approx(line[name])) for line in run.metrics if line["kind"] == kind]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train(TrainOptions(**OPTIONS), run=tmp_path_factory.mktemp("runs") / "whole")


def test_every_figure_has_the_name_that_people_expect(whole: Run) -> None:
    found = read(whole.folder)
    for kind, name in (("block", "train"), ("eval", "eval")):
        assert found[f"{name}/score_mean"] == figures(whole, kind, "mean")
        assert found[f"{name}/score_max"] == figures(whole, kind, "max")
        assert found[f"{name}/win_rate"] == figures(whole, kind, "win_rate")
        largest = [max(map(int, line["reached"])) for line in whole.metrics if line["kind"] == kind]
        assert [value for _, value in found[f"{name}/largest_tile"]] == largest
        assert [step for step, _ in found[f"{name}/largest_tile"]] == [
            line["games"] for line in whole.metrics if line["kind"] == kind
        ]
    assert found["train/learning_rate"] == figures(whole, "block", "alpha")
    assert found["train/td_error"] == figures(whole, "block", "mean_error")
    assert found["time/moves_per_second"] == figures(whole, "block", "moves_per_s")
    assert [step for step, _ in found["time/training_seconds"]] == [100, 200, 300, 400]
    assert {tag.partition("/")[0] for tag in found} == {"train", "eval", "time"}


def test_a_tile_is_told_from_its_first_time_on(tmp_path: Path) -> None:
    """Also where no game reached it any more: a missing point would look like the one before."""
    lines = [
        {"kind": "block", "games": games, "mean": 1.0, "reached": rates}
        for games, rates in ((1, {"64": 1.0, "128": 0.5}), (2, {"256": 1.0}), (3, {"64": 1.0}))
    ]
    file = EventFile(tmp_path)
    for line in lines:
        file.add(line)
    file.close()
    found = read(tmp_path)
    assert found["train/reached_64"] == [(1, 1.0), (2, 1.0), (3, 1.0)]
    assert found["train/reached_128"] == [(1, 0.5), (2, 1.0), (3, 0.0)]
    assert found["train/reached_256"] == [(2, 1.0), (3, 0.0)]
    assert "train/score_median" not in found  # not in the metrics, so not here


def without_clock(found: dict[str, list[Point]]) -> dict[str, list[Point]]:
    return {tag: points for tag, points in found.items() if tag not in CLOCK}


def test_a_resume_doubles_no_point(whole: Run, tmp_path: Path) -> None:
    """The last block of the first part comes after its checkpoint, as after a power cut, and is played again."""
    stop = StopAt(200)
    train(TrainOptions(**OPTIONS), run=tmp_path / "run", listener=stop, stop=stop.stop)
    checkpoint = (tmp_path / "run/checkpoints/last.safetensors").read_bytes()
    stop = StopAt(300)
    resume(tmp_path / "run", listener=stop, stop=stop.stop)
    assert [step for step, _ in read(tmp_path / "run")["train/score_mean"]] == [100, 200, 300]
    (tmp_path / "run/checkpoints/last.safetensors").write_bytes(checkpoint)
    resume(tmp_path / "run")
    assert without_clock(read(tmp_path / "run")) == without_clock(read(whole.folder))
    assert len(list((tmp_path / "run").glob("*tfevents*"))) == 1


def test_time_goes_on_where_it_stopped(whole: Run) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    reader = EventAccumulator(str(whole.folder))
    reader.Reload()
    times = [event.wall_time for event in reader.Scalars("train/score_mean")]
    training = [line["training_seconds"] for line in whole.metrics if line["kind"] == "block"]
    assert [time - times[0] for time in times] == pytest.approx([taken - training[0] for taken in training], abs=1e-3)


def test_a_run_may_ask_for_it_late(whole: Run, tmp_path: Path) -> None:
    af.train("2048", run=tmp_path / "run", **(OPTIONS | {"games": 200, "tensorboard": None, "keep": True}))
    assert not list((tmp_path / "run").glob("*tfevents*"))
    af.train(run=tmp_path / "run", resume=True, games=400, tensorboard=True)
    assert without_clock(read(tmp_path / "run")) == without_clock(read(whole.folder))


def test_the_command(tmp_path: Path) -> None:
    small = ("--network", "0123,4567", "--games", "200", "--block", "100", "--threads", "1", "--quiet")
    done("train", "2048", *small, "--tensorboard", "--run", tmp_path / "run")
    assert [step for step, _ in read(tmp_path / "run")["train/score_mean"]] == [100, 200]
    done("report", tmp_path / "run", "-o", tmp_path / "page.html")
    assert "--tensorboard --run" in (tmp_path / "page.html").read_text()  # a switch without a value


def test_without_the_package_one_line_says_what_to_install(tmp_path: Path) -> None:
    """In a process whose imports cannot find it."""
    code = (
        "import sys; sys.modules['tensorboard'] = None\n"
        "from afterstate.__main__ import main\n"
        "sys.argv = ['afterstate', 'train', '2048', '--games', '100', '--tensorboard', '--run', 'run']\n"
        "main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False, timeout=120)
    assert ended.returncode == 3
    assert ended.stderr.count("\n") == 1
    assert "pip install 'afterstate[tensorboard]'" in ended.stderr
    assert not (tmp_path / "run").exists()


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ResourceError, match="cannot write an event file to"):
        EventFile(tmp_path / "file").begin([])


def test_training_loads_it_only_when_asked() -> None:
    code = "import sys, afterstate.learning.trainer; assert not {'tensorboard', 'google.protobuf'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
