"""Training runs through the server: started, watched, stopped, resumed, and what is refused."""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from afterstate.learning.runfolder import RunFolder
from commandline import NETWORK, PATIENCE, learned
from serving import BOARD, ask, client

SMALL = {"network": NETWORK, "method": "tc"}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture
def page(runs: Path) -> Iterator[TestClient]:
    with client(runs) as opened:
        yield opened


def wait_for(look: Callable[[], Any], until: Callable[[Any], bool]) -> Any:
    """Poll until it is true."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if until(seen := look()):
            return seen
        time.sleep(0.02)
    raise AssertionError(f"it did not come to that: {seen}")


def run_of(page: TestClient, id_: str) -> Any:
    return page.get(f"/api/runs/{id_}").json()["run"]


def test_without_a_run_there_are_recipes(page: TestClient) -> None:
    told = page.get("/api/runs").json()
    assert (told["runs"], told["busy"]) == ([], None)
    assert {"quick", "strong-1h", "threes-quick"} <= {recipe["name"] for recipe in told["recipes"]}
    assert page.get("/api/models").json() == {"models": [], "default": None}
    assert "no model for 2048" in ask(page, "/api/move", 404, board=BOARD)["error"]


def test_a_run_is_started_watched_and_asked(page: TestClient, runs: Path) -> None:
    begun = ask(page, "/api/runs", 201, games="3000", **SMALL)
    assert begun["status"] in {"starting", "running"}
    assert page.get("/api/runs").json()["busy"] in {begun["id"], None}
    done = wait_for(lambda: run_of(page, begun["id"]), lambda run: run["status"] not in {"starting", "running"})
    assert (done["status"], done["games"], done["total"], done["why"]) == ("done", 3000, 3000, None)
    told = page.get(f"/api/runs/{begun['id']}").json()
    assert [record["games"] for record in told["records"]] == [1000, 2000, 3000]
    assert told["next"] == 3
    assert all(record["mean"] > 0 and record["reached"] for record in told["records"])
    later = page.get(f"/api/runs/{begun['id']}?after=2").json()
    assert later["records"] == told["records"][2:]
    assert page.get(f"/api/runs/{begun['id']}?after=9").json()["records"] == []
    model = page.get("/api/models").json()
    assert model["default"] == done["model"] == begun["id"]
    assert ask(page, "/api/move", board=BOARD)["move"] in {"down", "left"}
    assert RunFolder(runs / done["name"]).read_config().network == NETWORK


def test_one_run_at_a_time_stopped_and_resumed(page: TestClient, runs: Path) -> None:
    begun = ask(page, "/api/runs", 201, games="10M", name="long", **SMALL)
    refused = ask(page, "/api/runs", 409, games="10", **SMALL)
    assert "a run is still training" in refused["error"]
    wait_for(lambda: run_of(page, begun["id"]), lambda run: run["games"] > 100)
    assert ask(page, f"/api/runs/{begun['id']}/stop")["status"] in {"stopping", "stopped"}
    stopped = wait_for(lambda: run_of(page, begun["id"]), lambda run: run["status"] == "stopped")
    assert ask(page, f"/api/runs/{begun['id']}/stop", 409)["error"].startswith("this server is not training this run")
    assert RunFolder(runs / "long").last.is_file()
    end = stopped["games"] + 5000
    ask(page, f"/api/runs/{begun['id']}/resume", games=str(end))
    done = wait_for(lambda: run_of(page, begun["id"]), lambda run: run["status"] not in {"starting", "running"})
    assert (done["status"], done["games"]) == ("done", end)
    assert "this run is complete" in ask(page, f"/api/runs/{begun['id']}/resume", 400)["error"]


def test_a_run_by_the_page_is_the_run_of_the_command(page: TestClient, runs: Path, original: Path) -> None:
    """300 games, one thread, the same seed: bit for bit."""
    shutil.copytree(original, runs / "copy")
    (runs / "copy" / "metrics.jsonl").write_text("")
    shutil.rmtree(runs / "copy" / "checkpoints")
    (runs / "copy" / "checkpoints").mkdir()
    id_ = page.get("/api/runs").json()["runs"][0]["id"]
    ask(page, f"/api/runs/{id_}/resume")
    wait_for(lambda: run_of(page, id_), lambda run: run["status"] == "done")
    assert learned(runs / "copy") == learned(original)


def test_the_end_of_the_server_keeps_what_was_learned(runs: Path) -> None:
    with client(runs) as page:
        begun = ask(page, "/api/runs", 201, games="10M", name="cut", **SMALL)
        wait_for(lambda: run_of(page, begun["id"]), lambda run: run["games"] > 100)
    assert RunFolder(runs / "cut").last.is_file()
    with client(runs) as page:
        run = run_of(page, begun["id"])
        assert run["status"] == "stopped"
        assert run["model"] == begun["id"]


def test_runs_of_other_processes_are_shown_as_they_are(page: TestClient, runs: Path, original: Path) -> None:
    for name in ("ended", "at work", "left"):
        shutil.copytree(original, runs / name)
    for name in ("at work", "left"):
        config = runs / name / "config.toml"
        config.write_text(config.read_text().replace("games = 300 ", "games = 3000"))
    with RunFolder(runs / "at work").hold():
        found = {run["name"]: run for run in page.get("/api/runs").json()["runs"]}
        assert {name: run["status"] for name, run in found.items()} == {
            "ended": "done", "at work": "elsewhere", "left": "stopped",
        }  # fmt: skip
        answer = page.post(f"/api/runs/{found['at work']['id']}/resume", json={})
        assert (answer.status_code, "another process" in answer.text) == (409, True)
    assert run_of(page, found["at work"]["id"])["status"] == "stopped"


def test_folders_that_are_no_sound_run(page: TestClient, runs: Path, original: Path) -> None:
    """Broken runs are left out, and the others are still shown."""
    names = ("broken config", "broken metrics", "no interval", "strange speed", "sound")
    for name in names:
        shutil.copytree(original, runs / name)
    ids = {run["name"]: run["id"] for run in page.get("/api/runs").json()["runs"]}
    assert set(ids) == set(names)
    (runs / "broken config" / "config.toml").write_text("game = ")
    (runs / "broken metrics" / "metrics.jsonl").write_text("{\n{}\n")
    record = {"kind": "block", "games": 1, "count": 1, "mean": 1, "win_tile": 2048, "win_rate": 0, "reached": {"2": 1}}
    (runs / "no interval" / "metrics.jsonl").write_text(json.dumps(record) + "\n")
    (runs / "strange speed" / "metrics.jsonl").write_text(json.dumps(record | {"interval": None, "moves_per_s": "x"}) + "\n")
    (runs / "empty").mkdir()
    (runs / "file").write_text("x")
    assert [run["name"] for run in page.get("/api/runs").json()["runs"]] == ["sound"]
    for name in names[:-1]:
        assert page.get(f"/api/runs/{ids[name]}").status_code == 400, name


DEEP = "[" * 100_000
RECORD = {
    "kind": "block", "games": 1, "count": 1, "mean": 1, "win_tile": 2048, "win_rate": 0, "reached": {"2": 1}, "interval": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("metrics.jsonl", json.dumps(RECORD | {"mean_error": float("nan")}) + "\n{}\n"),
        ("metrics.jsonl", json.dumps(RECORD | {"mean_rate": float("inf")}) + "\n{}\n"),
        ("metrics.jsonl", json.dumps(RECORD)[:-1] + ', "mean_rate": 1e999}\n{}\n'),
        ("metrics.jsonl", json.dumps(RECORD | {"games": 10**400}) + "\n"),
        ("metrics.jsonl", json.dumps(RECORD | {"kind": []}) + "\n"),
        ("metrics.jsonl", f'{{"kind": {DEEP}\n{{}}\n'),
        ("config.toml", f"game = {DEEP}"),
        ("config.toml", "alpha = nan"),
        ("config.toml", "games = 1e999"),
        ("config.toml", "seed = " + "9" * 5000),
    ],
    ids=lambda text: text[:60],
)
def test_one_bad_folder_hides_no_other(page: TestClient, runs: Path, original: Path, file: str, text: str) -> None:
    for name in ("bad", "sound"):
        shutil.copytree(original, runs / name)
    (runs / "bad" / file).write_text(text)
    for route, key in (("/api/runs", "runs"), ("/api/models", "models")):
        answer = page.get(route)
        assert answer.status_code == 200, answer.text
        assert "sound" in [each["name"] for each in answer.json()[key]]
    assert [run["name"] for run in page.get("/api/runs").json()["runs"]] == ["sound"]


def with_header(file: Path, **changed: str) -> None:
    """Change the header of a model file, and nothing else."""
    content = file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header["__metadata__"] |= changed
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + length :])


@pytest.mark.parametrize(
    "changed",
    [
        {"training": DEEP},
        {"training": "[]"},
        {"training": '{"kind": []}'},
        {"training": '{"games": NaN, "block": {"mean": Infinity}}'},
        {"training": '{"games": 1e999}'},
        {"training": '{"games": []}'},
        {"training": '{"block": []}'},
        {"training": '{"block": {"mean": []}}'},
        {"training": '{"options": []}'},
        {"training": '{"options": {"network": {}}}'},
        {"game": "chess"},
        {"rules": "none"},
        {"size": "9" * 5000},
        {"patterns": ""},
    ],
    ids=str,
)
def test_one_bad_model_hides_no_other(page: TestClient, runs: Path, original: Path, changed: dict[str, str]) -> None:
    for name in ("bad", "sound"):
        shutil.copytree(original, runs / name)
    for _, file in RunFolder(runs / "bad").checkpoints:
        with_header(file, **changed)
    models, told = page.get("/api/models"), page.get("/api/runs")
    assert (models.status_code, told.status_code) == (200, 200)
    assert "sound" in [model["name"] for model in models.json()["models"]]
    assert "sound" in [run["name"] for run in told.json()["runs"]]
    assert ask(page, "/api/move", board=BOARD)["move"]
    for model in models.json()["models"]:
        assert page.post("/api/move", json={"board": BOARD, "model": model["id"]}).status_code in {200, 409}, model


@pytest.mark.parametrize("file", ["config.toml", "metrics.jsonl", "checkpoints/best.safetensors"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "loop"])
def test_what_is_no_file_hides_no_other_run(page: TestClient, runs: Path, original: Path, file: str, kind: str) -> None:
    """A pipe would keep the server waiting forever."""
    for name in ("bad", "sound"):
        shutil.copytree(original, runs / name)
    bad = runs / "bad" / file
    bad.unlink()
    make: dict[str, Callable[[], None]] = {
        "pipe": lambda: os.mkfifo(bad), "folder": bad.mkdir, "loop": lambda: bad.symlink_to(bad)
    }  # fmt: skip
    make[kind]()
    for route, key in (("/api/runs", "runs"), ("/api/models", "models")):
        answer = page.get(route)
        assert answer.status_code == 200, answer.text
        assert "sound" in [each["name"] for each in answer.json()[key]]


def test_a_poll_reads_only_what_is_new(page: TestClient, runs: Path, original: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All lines of all runs were read at each poll: four seconds for 100,000 of them."""
    shutil.copytree(original, runs / "long")
    (runs / "long" / "metrics.jsonl").write_text("".join(json.dumps(RECORD | {"games": at + 1}) + "\n" for at in range(1000)))
    id_ = page.get("/api/runs").json()["runs"][0]["id"]
    parsed: list[bytes] = []

    def parse(text: bytes) -> Any:
        parsed.append(text)
        return json.loads(text)

    monkeypatch.setattr("afterstate.learning.metrics.parse_json", parse)
    assert page.get("/api/runs").json()["runs"][0]["games"] == 1000
    assert (page.get(f"/api/runs/{id_}?after=1000").json()["next"], parsed) == (1000, [])
    RunFolder(runs / "long").append(RECORD | {"games": 1001})
    assert page.get("/api/runs").json()["runs"][0]["games"] == 1001
    told = page.get(f"/api/runs/{id_}?after=998").json()
    assert ([record["games"] for record in told["records"]], told["next"]) == ([999, 1000, 1001], 1001)
    assert len(parsed) == 1 + 3
    (runs / "long" / "metrics.jsonl").write_text(json.dumps(RECORD | {"games": 400}) + "\n")  # a resume has rewound it
    assert page.get("/api/runs").json()["runs"][0]["games"] == 400
    assert page.get(f"/api/runs/{id_}?after=1001").json()["next"] == 1


def test_a_model_file_that_is_broken_is_not_offered(page: TestClient, runs: Path, original: Path) -> None:
    shutil.copytree(original, runs / "torn")
    (runs / "torn" / "checkpoints" / "best.safetensors").write_bytes(b"nonsense")
    assert page.get("/api/models").json()["models"] == []


def test_a_name_that_is_taken(page: TestClient, runs: Path, original: Path) -> None:
    shutil.copytree(original, runs / "taken")
    assert "exists" in ask(page, "/api/runs", 400, name="taken", **SMALL)["error"]


def test_a_run_that_diverges_says_why(page: TestClient) -> None:
    begun = ask(page, "/api/runs", 201, games="20k", network="0123456", alpha=100.0, method="td")
    failed = wait_for(lambda: run_of(page, begun["id"]), lambda run: run["status"] == "failed")
    assert "smaller --alpha" in failed["why"]


def test_a_new_checkpoint_is_the_one_that_is_asked(page: TestClient, runs: Path, original: Path) -> None:
    shutil.copytree(original, runs / "one")
    before = ask(page, "/api/move", board=BOARD, depth=1)["values"]
    ask(page, "/api/runs", 201, games="2000", name="two", **SMALL)
    wait_for(lambda: page.get("/api/runs").json()["busy"], lambda busy: busy is None)
    shutil.copy(runs / "two" / "checkpoints" / "best.safetensors", runs / "one" / "checkpoints" / "best.safetensors")
    one = next(model["id"] for model in page.get("/api/models").json()["models"] if model["name"] == "one")
    assert ask(page, "/api/move", board=BOARD, depth=1, model=one)["values"] != before
