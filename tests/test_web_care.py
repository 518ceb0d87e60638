"""The care for runs through the server: their end, their size, names and deletion, what they keep, and broken checkpoints."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import afterstate as af
from afterstate.learning.runfolder import RunFolder
from commandline import NETWORK
from serving import BOARD, ask, client
from test_web_runs import SMALL, page, run_of, runs, wait_for

__all__ = ["page", "runs"]  # fixtures


def only(opened: TestClient) -> Any:
    (found,) = opened.get("/api/runs").json()["runs"]
    return found


# --- its end -------------------------------------------------------------------------------------------------------------


def test_a_run_that_ended_by_time_is_done_after_a_restart(runs: Path) -> None:
    """Its last block is not full, so its metrics end before its time does."""
    af.train("2048", network=NETWORK, time=0.3, block=100_000, run=runs / "short")
    with client(runs) as opened:
        run = only(opened)
    assert (run["status"], run["limit"]) == ("done", 0.3)
    assert run["seconds"] >= 0.3
    assert run["games"] > 0


def test_a_run_that_was_made_longer_is_not_done(runs: Path, original: Path, page: TestClient) -> None:
    shutil.copytree(original, runs / "run")
    assert only(page)["status"] == "done"
    config = runs / "run" / "config.toml"
    config.write_text(config.read_text().replace("games = 300 ", "games = 3000"))
    assert only(page)["status"] == "stopped"


# --- where it lies -------------------------------------------------------------------------------------------------------


def test_the_run_of_the_command_line_is_a_run(runs: Path, original: Path) -> None:
    with client(runs, original) as opened:
        run = only(opened)
        assert (run["name"], run["own"], run["status"]) == ("small", False, "done")
        for what, body in (("delete", {}), ("rename", {"name": "other"})):
            assert "leaves it as it is" in ask(opened, f"/api/runs/{run['id']}/{what}", 400, **body)["error"]
    assert original.is_dir()


def test_a_run_behind_a_link_is_left_alone(page: TestClient, runs: Path, copy: Path) -> None:
    runs.mkdir()
    (runs / "linked").symlink_to(copy, target_is_directory=True)
    run = only(page)
    for what, body in (("delete", {}), ("rename", {"name": "other"})):
        assert "leaves it as it is" in ask(page, f"/api/runs/{run['id']}/{what}", 400, **body)["error"]
    assert RunFolder(copy).best.is_file()
    assert (runs / "linked").is_symlink()


# --- its size, its name, its end as a folder ------------------------------------------------------------------------------


def test_the_size_of_a_run_is_what_it_takes_on_the_disk(page: TestClient, runs: Path, original: Path) -> None:
    shutil.copytree(original, runs / "run")
    files = [path for path in (runs / "run").rglob("*") if path.is_file()]
    assert only(page)["disk"] == sum(512 * path.stat().st_blocks for path in files) > 500_000


def test_a_run_is_deleted_and_nothing_beside_it(page: TestClient, runs: Path, original: Path, tmp_path: Path) -> None:
    for name in ("run", "other"):
        shutil.copytree(original, runs / name)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("mine")
    (runs / "run" / "link").symlink_to(precious, target_is_directory=True)
    id_ = next(run["id"] for run in page.get("/api/runs").json()["runs"] if run["name"] == "run")
    ask(page, "/api/move", board=BOARD, model=id_)  # it is loaded
    left = ask(page, f"/api/runs/{id_}/delete")
    assert [run["name"] for run in left["runs"]] == ["other"]
    assert sorted(path.name for path in runs.iterdir()) == ["other"]
    assert (precious / "file").read_text() == "mine"
    assert id_ not in {model["id"] for model in page.get("/api/models").json()["models"]}
    assert "no such model" in ask(page, "/api/move", 404, board=BOARD, model=id_)["error"]
    assert "no such run" in ask(page, f"/api/runs/{id_}/delete", 404)["error"]
    maps = Path("/proc/self/maps")
    assert not maps.exists() or "deleted-" not in maps.read_text(), "a file that is still mapped keeps its room on the disk"


def test_a_run_is_renamed(page: TestClient, runs: Path, original: Path) -> None:
    for name in ("run", "taken"):
        shutil.copytree(original, runs / name)
    id_ = next(run["id"] for run in page.get("/api/runs").json()["runs"] if run["name"] == "run")
    assert "'taken'" in ask(page, f"/api/runs/{id_}/rename", 400, name="taken")["error"]
    for wrong in ("", ".", "..", "../x", "a/b", ".hidden", "x" * 61, "/tmp/x"):
        ask(page, f"/api/runs/{id_}/rename", 422, name=wrong)
    renamed = ask(page, f"/api/runs/{id_}/rename", name="new name")
    assert (renamed["name"], renamed["status"]) == ("new name", "done")
    assert sorted(path.name for path in runs.iterdir()) == ["new name", "taken"]
    assert ask(page, "/api/move", board=BOARD, model=renamed["model"])["move"] in {"down", "left"}
    assert page.get(f"/api/runs/{renamed['id']}").json()["next"] == 3


def test_a_run_in_training_is_neither_deleted_nor_renamed(page: TestClient, runs: Path, original: Path) -> None:
    begun = ask(page, "/api/runs", 201, games="10M", name="long", **SMALL)
    shutil.copytree(original, runs / "elsewhere")
    with RunFolder(runs / "elsewhere").hold():
        for run in page.get("/api/runs").json()["runs"]:
            for what, body in (("delete", {}), ("rename", {"name": "other"})):
                assert "is training" in ask(page, f"/api/runs/{run['id']}/{what}", 409, **body)["error"], run["name"]
    wait_for(lambda: run_of(page, begun["id"]), lambda run: run["status"] == "running")
    ask(page, f"/api/runs/{begun['id']}/stop")
    wait_for(lambda: run_of(page, begun["id"]), lambda run: run["status"] == "stopped")
    ask(page, f"/api/runs/{begun['id']}/delete")
    assert sorted(path.name for path in runs.iterdir()) == ["elsewhere"]


# --- what it keeps -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", [None, True])
def test_what_a_complete_run_keeps(page: TestClient, runs: Path, keep: bool | None) -> None:
    begun = ask(page, "/api/runs", 201, games="300", name="run", **SMALL, **({} if keep is None else {"keep": keep}))
    run = wait_for(lambda: run_of(page, begun["id"]), lambda run: run["status"] not in {"starting", "running"})
    assert (run["status"], run["resumable"]) == ("done", bool(keep))
    answer = ask(page, f"/api/runs/{run['id']}/resume", 200 if keep else 400, games="400")
    if keep:
        wait_for(lambda: run_of(page, begun["id"]), lambda run: run["status"] == "done")
    else:
        assert "kept only what play needs" in answer["error"]


def test_a_recipe_may_keep_all(page: TestClient) -> None:
    assert "not both" in ask(page, "/api/runs", 400, recipe="quick", games="10")["error"]
    begun = ask(page, "/api/runs", 409 if page.get("/api/runs").json()["busy"] else 400, recipe="nosuch", keep=True)
    assert "no such recipe" in begun["error"]


# --- what it says --------------------------------------------------------------------------------------------------------


def test_a_run_and_its_model_have_one_mean(page: TestClient, runs: Path, original: Path) -> None:
    """Both are of the block that the network was kept for, also if later blocks were worse."""
    shutil.copytree(original, runs / "run")
    folder = RunFolder(runs / "run")
    folder.append(folder.read_metrics()[-1] | {"games": 400, "mean": 1.0, "win_rate": 0.0})
    run, model = only(page), page.get("/api/models").json()["models"][0]
    best = folder.best_so_far()
    assert best is not None
    assert run["mean"] == model["mean"] == best.mean
    assert run["block"] == model["games"] == best.games
    os.unlink(folder.best)
    os.unlink(folder.last)
    assert (only(page)["mean"], only(page)["block"]) == (1.0, 400)


@pytest.mark.parametrize("name", ["best", "last"])
def test_a_broken_checkpoint_says_why(page: TestClient, runs: Path, original: Path, name: str) -> None:
    shutil.copytree(original, runs / "run")
    file = runs / "run" / "checkpoints" / f"{name}.safetensors"
    file.write_bytes(file.read_bytes()[:5000])
    run = only(page)
    assert f"{name}.safetensors is not a model file, or is incomplete" in run["why"]
    assert (run["model"] is None) == (name == "best")
    assert run["resumable"] == (name == "best")
