"""Every command as a user would run it, and what it prints, writes and leaves behind."""

import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from safetensors.numpy import load_file

from afterstate.cli.common import COMPILING
from afterstate.cli.main import Exit, main
from afterstate.learning.options import TrainOptions
from afterstate.learning.workers import Workers
from afterstate.network.patterns import PRESETS

NETWORK = "0123,4567"  # 131,072 weights
TRAIN = ("train", "2048", "--network", NETWORK, "--threads", "1")
SMALL = (*TRAIN, "--games", "300", "--block", "100")
BOARD = "2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2"
OVER = "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"
PNG = b"\x89PNG\r\n\x1a\n"
PROGRAM = (sys.executable, "-c", "from afterstate.cli.main import main; main()")
PATIENCE = 180.0  # seconds; a cold cache compiles first

BLOCK = re.compile(
    r"^(?P<games>\d+)\tavg = (?P<mean>\d+), max = (?P<max>\d+), ops = (?P<ops>\d+) \((?P<slides>\d+)\|(?P<tiles>\d+)\)\n"
    r"(?P<rates>(?:\t\d+\t[\d.]+%\t\([\d.]+%\)\n)+)\n",
    re.MULTILINE,
)
TILE = re.compile(r"\t(\d+)\t([\d.]+)%\t\(([\d.]+)%\)\n")


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """Standard error without the word about compilation, which only comes with a cold cache."""
        return "".join(line for line in self.err.splitlines(keepends=True) if COMPILING not in line)

    @property
    def json(self) -> Any:
        return read_json(self.out)


def run(*arguments: object) -> Result:
    """Run a command in this process, as its own process would: what escapes is a traceback and code 1."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with (
        mock.patch.object(sys, "argv", ["afterstate", *map(str, arguments)]),
        mock.patch.dict(os.environ, {"COLUMNS": "160", "NO_COLOR": "1"}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        except Exception:
            code = Exit.BUG
            traceback.print_exc()
    assert isinstance(code, int)
    return Result(int(code), out.getvalue(), err.getvalue())


def done(*arguments: object) -> Result:
    """Run a command that must succeed and has nothing to complain of."""
    result = run(*arguments)
    assert result.code == Exit.DONE, result.err
    assert result.error == ""
    return result


def read_json(text: str) -> Any:
    """JSON as other programs read it: Infinity and NaN are errors."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    return [read_json(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def learned(folder: Path) -> tuple[dict[str, bytes], list[dict[str, Any]]]:
    """What a run has learned and measured, without what depends on the clock."""
    clock = {"training_seconds", "seconds", "moves_per_s"}
    tensors = {name: tensor.tobytes() for name, tensor in load_file(folder / "checkpoints" / "last.safetensors").items()}
    return tensors, [{key: value for key, value in record.items() if key not in clock} for record in read_metrics(folder)]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 300 games. Tests only read it."""
    folder = tmp_path_factory.mktemp("cli") / "small"
    done(*SMALL, "--run", folder)
    return folder


@pytest.fixture
def copy(small: Path, tmp_path: Path) -> Path:
    """The same run, to change."""
    return Path(shutil.copytree(small, tmp_path / "copy"))


# --- train -----------------------------------------------------------------------------------------------------------


def test_train_prints_blocks_in_the_course_format(tmp_path: Path) -> None:
    result = done(*SMALL, "--run", tmp_path / "run")
    blocks = list(BLOCK.finditer(result.out))
    assert [int(block["games"]) for block in blocks] == [100, 200, 300]
    assert result.out.startswith(blocks[0][0])
    for block, record in zip(blocks, read_metrics(tmp_path / "run"), strict=True):
        assert int(block["mean"]) == round(record["mean"])
        assert int(block["max"]) == record["max"]
        assert int(block["ops"]) == int(block["slides"]) + int(block["tiles"])
        tiles = [(int(tile), float(reached), float(ended)) for tile, reached, ended in TILE.findall(block["rates"])]
        assert tiles[0][1] == 100.0
        assert sum(ended for _, _, ended in tiles) == pytest.approx(100.0)
        assert [tile for tile, _, _ in tiles] == [int(tile) for tile, ended in record["ended"].items() if ended > 0]
        assert [ended / 100 for _, _, ended in tiles] == pytest.approx([ended for ended in record["ended"].values() if ended])
    rest = result.out[blocks[-1].end() :]
    assert rest.startswith("done at 300 games")
    assert f"measure: afterstate eval {tmp_path / 'run'}" in rest


def test_the_folder_of_a_run(small: Path) -> None:
    files = {"config.toml", "metrics.jsonl", "checkpoints/last.safetensors", "checkpoints/best.safetensors", "report/curve.png"}
    assert set(contents(small)) == files
    config = tomllib.loads((small / "config.toml").read_text())
    expected = {"game": "2048", "rules": "standard", "size": "4x4", "network": NETWORK, "symmetry": 8, "alpha": 0.1}
    assert expected.items() <= config.items()
    assert (config["games"], config["block"], config["threads"], config["seed"]) == (300, 100, 1, 1)
    metrics = read_metrics(small)
    assert [(record["kind"], record["games"], record["count"]) for record in metrics] == [
        ("block", 100, 100),
        ("block", 200, 100),
        ("block", 300, 100),
    ]
    assert (small / "report" / "curve.png").read_bytes().startswith(PNG)


def test_train_as_json(tmp_path: Path) -> None:
    result = run(*SMALL, "--run", tmp_path / "run", "--json")
    assert result.code == Exit.DONE
    assert len(BLOCK.findall(result.error)) == 3
    found = result.json
    metrics = read_metrics(tmp_path / "run")
    assert (found["run"], found["games"], found["stopped"]) == (str(tmp_path / "run"), 300, False)
    assert found["last"] == metrics[-1]
    assert found["best"] == max(metrics, key=lambda record: (record["win_rate"], record["mean"]))


def test_train_quietly(tmp_path: Path) -> None:
    result = done(*SMALL, "--run", tmp_path / "run", "--quiet", "--eval-every", "100", "--eval-games", "5")
    assert "\t" not in result.out
    assert "learning off" not in result.out
    assert "done at 300 games" in result.out
    assert run(*SMALL, "--run", tmp_path / "other", "--quiet", "--json").error == ""


def test_train_with_evaluations(tmp_path: Path) -> None:
    result = done(*SMALL, "--run", tmp_path / "run", "--eval-every", "150", "--eval-games", "20")
    told = re.findall(r"^learning off at (\d+) games: mean (\d+) ± \d+, 2048 in [\d.]+% of 20 games$", result.out, re.MULTILINE)
    records = [record for record in read_metrics(tmp_path / "run") if record["kind"] == "eval"]
    assert told == [(str(record["games"]), f"{record['mean']:.0f}") for record in records]
    assert [(record["games"], record["count"]) for record in records] == [(150, 20), (300, 20)]
    assert len(BLOCK.findall(result.out)) == 3


def test_evaluations_change_nothing_of_what_is_learned(small: Path, tmp_path: Path) -> None:
    done(*SMALL, "--run", tmp_path / "run", "--eval-every", "150", "--eval-games", "20")
    tensors, metrics = learned(tmp_path / "run")
    assert (tensors, [record for record in metrics if record["kind"] == "block"]) == learned(small)


def test_training_is_exact_with_one_thread(small: Path, tmp_path: Path) -> None:
    done(*SMALL, "--run", tmp_path / "same")
    assert learned(tmp_path / "same") == learned(small)
    done(*SMALL, "--run", tmp_path / "other", "--seed", "2")
    assert learned(tmp_path / "other") != learned(small)


def test_train_for_a_time(tmp_path: Path) -> None:
    result = done(*TRAIN, "--run", tmp_path / "run", "--time", "1s", "--quiet")
    assert re.search(r"^done at [\d.]+k? games after [\d.]+s", result.out, re.MULTILINE)
    config = tomllib.loads((tmp_path / "run" / "config.toml").read_text())
    assert config["time"] == 1.0
    assert "games" not in config
    assert (tmp_path / "run" / "checkpoints" / "last.safetensors").is_file()


def test_train_for_a_time_that_is_no_round_number_of_seconds(tmp_path: Path) -> None:
    assert run(*TRAIN, "--run", tmp_path / "run", "--time", "9ms", "--quiet").code == Exit.DONE


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        (["--order", "backward"], {"order": "backward"}),
        (["--target", "state", "--games", "60", "--block", "30"], {"target": "state"}),
        (["--symmetry", "4"], {"symmetry": 4}),
        (["--symmetry", "1"], {"symmetry": 1}),
        (["--size", "2x2", "--network", "0123"], {"size": "2x2", "symmetry": 8}),
        (["--rules", "standard", "--method", "td", "--alpha", "1"], {"rules": "standard", "alpha": 1.0}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_train_otherwise(arguments: list[str], kept: dict[str, object], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    result = done(*SMALL, "--run", folder, *arguments)
    assert BLOCK.search(result.out)
    assert kept.items() <= tomllib.loads((folder / "config.toml").read_text()).items()
    told = done("info", folder, "--json").json
    assert told["values"] == kept.get("target", "afterstate")
    assert told["symmetry"] == kept.get("symmetry", 8)
    assert told["size"] == kept.get("size", "4x4")
    assert done("eval", folder, "--games", "3", "--json").json["games"] == 3


def test_train_with_the_default_network_of_a_size(tmp_path: Path) -> None:
    done(*SMALL[:2], "--size", "2x2", "--games", "20", "--threads", "1", "--run", tmp_path / "run")
    assert tomllib.loads((tmp_path / "run" / "config.toml").read_text())["network"] == "0123"


def test_train_with_a_schedule(tmp_path: Path) -> None:
    done(*SMALL, "--run", tmp_path / "run", "--schedule", "50%:0.01,250:0.001")
    assert [record["alpha"] for record in read_metrics(tmp_path / "run")] == [0.1, 0.01, 0.001]


def test_train_with_two_threads(tmp_path: Path) -> None:
    done(*SMALL, "--run", tmp_path / "run", "--threads", "2", "--games", "700")
    assert [record["games"] for record in read_metrics(tmp_path / "run")] == list(range(100, 701, 100))


def test_train_one_game(tmp_path: Path) -> None:
    result = done(*TRAIN, "--run", tmp_path / "run", "--games", "1")
    assert len(BLOCK.findall(result.out)) == 1
    assert len(read_metrics(tmp_path / "run")) == 1
    assert not re.search(r"\b(inf|nan)\b", result.out)


def test_train_fewer_games_than_a_block(tmp_path: Path) -> None:
    done(*TRAIN, "--run", tmp_path / "run", "--games", "30")
    assert [record["count"] for record in read_metrics(tmp_path / "run")] == [30]


def test_runs_without_a_name_are_numbered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in (1, 2):
        result = done(*TRAIN, "--games", "20")
        assert f"measure: afterstate eval runs/2048-0123-4567-td-{number}" in result.out
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["2048-0123-4567-td-1", "2048-0123-4567-td-2"]


@pytest.mark.parametrize("name", ["with space", "brackets [red]", "closed [/red]", "wörter"])
def test_a_run_may_have_any_name(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    out = done(*TRAIN, "--games", "20", "--run", folder).out
    assert f"curve: {folder / 'report' / 'curve.png'}" in out
    for command in (["eval", folder, "--games", "2"], ["info", folder], ["plot", folder]):
        assert name in done(*command).out


def test_train_in_an_empty_folder(tmp_path: Path) -> None:
    done(*TRAIN, "--games", "20", "--run", tmp_path)
    assert (tmp_path / "config.toml").is_file()


# --- resume ----------------------------------------------------------------------------------------------------------


def test_a_run_goes_on_as_if_it_had_never_stopped(copy: Path, tmp_path: Path) -> None:
    result = done("train", "--run", copy, "--resume", "--games", "550")
    assert [int(block["games"]) for block in BLOCK.finditer(result.out)] == [400, 500]
    assert tomllib.loads((copy / "config.toml").read_text())["games"] == 550
    done("train", "--run", copy, "--resume", "--games", "700")
    done(*SMALL, "--games", "700", "--run", tmp_path / "whole")
    assert learned(copy) == learned(tmp_path / "whole")


def test_a_finished_run_has_nothing_to_do(copy: Path) -> None:
    before = learned(copy)
    result = done("train", "2048", "--run", copy, "--resume", "--alpha", "0.1", "--network", NETWORK)
    assert not BLOCK.search(result.out)
    assert "done at 300 games" in result.out
    assert learned(copy) == before


def test_a_run_that_has_no_checkpoint_yet_begins_again(copy: Path, small: Path) -> None:
    shutil.rmtree(copy / "checkpoints")
    (copy / "checkpoints").mkdir()
    done("train", "--run", copy, "--resume")
    assert learned(copy) == learned(small)


def test_a_run_with_a_line_that_was_cut_off_goes_on(copy: Path, tmp_path: Path) -> None:
    with open(copy / "metrics.jsonl", "a") as file:
        file.write('{"kind": "block", "games": 4')
    done("train", "--run", copy, "--resume", "--games", "400")
    done(*SMALL, "--games", "400", "--run", tmp_path / "whole")
    assert learned(copy) == learned(tmp_path / "whole")


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------


def interrupt(arguments: Sequence[object], metrics: Path) -> Result:
    """Start a process, press Ctrl-C as soon as it has measured something, and wait for its end."""
    command = [*PROGRAM, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            deadline = time.monotonic() + PATIENCE
            while not (metrics.exists() and b"\n" in metrics.read_bytes()):
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < deadline, "nothing was measured"
                time.sleep(0.005)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    return Result(process.returncode, out, err)


def test_a_run_that_was_interrupted_goes_on_bit_for_bit(tmp_path: Path) -> None:
    folder, whole = tmp_path / "run", tmp_path / "whole"
    options = (*TRAIN, "--games", "8k", "--block", "300", "--eval-every", "3k", "--eval-games", "50")
    result = interrupt([*options, "--run", folder], folder / "metrics.jsonl")
    assert result.code == Exit.INTERRUPTED
    assert result.error == ""
    assert re.search(r"^stopped at [\d.]+k? games", result.out, re.MULTILINE)
    assert f"go on: afterstate train --run {folder} --resume" in result.out
    played = done("info", folder, "--json").json["run"]["last"]["games"]
    assert 300 <= played < 8000
    assert not list(folder.rglob("*.partial"))

    assert "done at 8k games" in done("train", "--run", folder, "--resume").out
    done(*options, "--run", whole)
    assert learned(folder) == learned(whole)
    assert done("info", folder, "--json").json["run"]["best"] == done("info", whole, "--json").json["run"]["best"]


def test_an_interrupted_evaluation_tells_what_it_has(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C comes when the third part of the games begins."""
    begin = Workers.run

    def with_ctrl_c(self: Workers, play: Any, first: int, count: int, **more: Any) -> int:
        calls = 0

        def play_and_stop(thread: int, start: int, size: int) -> int:
            nonlocal calls
            calls += 1
            if calls == 3:
                self.stop.set()  # what the handler of the signal does
            return int(play(thread, start, size))

        return begin(self, play_and_stop, first, count, **more)

    monkeypatch.setattr(Workers, "run", with_ctrl_c)
    result = run("eval", small, "--games", "1000", "--threads", "1", "--json")
    assert (result.code, result.error) == (Exit.INTERRUPTED, "")
    assert 0 < result.json["games"] < 1000


def test_an_evaluation_without_a_game_saves_nothing(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C comes before the first game: the games that were saved before are still there."""
    begin = Workers.run

    def with_ctrl_c(self: Workers, play: Any, first: int, count: int, **more: Any) -> int:
        self.stop.set()
        return begin(self, play, first, count, **more)

    (tmp_path / "games.txt").write_text("mine")
    monkeypatch.setattr(Workers, "run", with_ctrl_c)
    result = run("eval", small, "--games", "5", "--save", tmp_path / "games.txt")
    assert (result.code, result.out, result.error) == (Exit.INTERRUPTED, "", "")
    assert contents(tmp_path) == {"games.txt": b"mine"}


def test_ctrl_c_at_any_other_time_is_no_traceback(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("afterstate.report.plot.plot_runs", press)
    result = run("plot", small)
    assert result.code == Exit.INTERRUPTED
    assert "Traceback" not in result.err


# --- eval ------------------------------------------------------------------------------------------------------------


def test_eval(small: Path) -> None:
    out = done("eval", small, "--games", "100", "--threads", "1").out
    assert out.startswith(f"{small / 'checkpoints' / 'best.safetensors'}, depth 1, seed 1\n")
    assert re.search(r"^mean score +[\d,]+ ± [\d,]+ +\(95 %, 100 games\)", out, re.MULTILINE)
    assert re.search(r"^2048 reached +[\d.]+% +\([\d.]+% to [\d.]+%\)", out, re.MULTILINE)
    assert re.search(r"^ +128 +[\d.]+% +[\d.]+%", out, re.MULTILINE)


def test_eval_as_json(small: Path) -> None:
    model = small / "checkpoints" / "last.safetensors"
    found = done("eval", model, "--games", "0.1k", "--seed", "5", "--json").json
    assert (found["model"], found["depth"], found["seed"], found["games"]) == (str(model), 1, 5, 100)
    assert 0 < found["median"] <= found["max"]
    assert found["mean"] > 1500  # random play gets 1100
    assert sum(found["ended"].values()) == pytest.approx(1.0)


def test_eval_is_the_same_with_any_number_of_threads(small: Path) -> None:
    one, two = (done("eval", small, "--games", "100", "--threads", threads, "--json").json for threads in (1, 2))
    for key in ("mean", "median", "max", "moves", "ended"):
        assert one[key] == two[key]
    assert done("eval", small, "--games", "100", "--seed", "2", "--json").json["mean"] != one["mean"]


def test_eval_of_one_game(small: Path) -> None:
    assert done("eval", small, "--games", "1", "--json").json["games"] == 1
    assert not re.search(r"\b(inf|nan)\b", done("eval", small, "--games", "1").out)


def test_eval_that_looks_ahead(small: Path) -> None:
    found = done("eval", small, "--games", "3", "--depth", "2", "--json").json
    assert (found["depth"], found["games"]) == (2, 3)


def test_eval_saves_one_line_a_game(small: Path, tmp_path: Path) -> None:
    lines: list[list[str]] = []
    for threads in (1, 2):
        path = tmp_path / f"games-{threads}.txt"
        result = done("eval", small, "--games", "12", "--threads", threads, "--save", path)
        assert f"wrote 12 games to {path}" in result.out
        text = path.read_text()
        assert text.endswith("\n")
        games = [re.fullmatch(r"afterstate:random@\d+\|([0-9A-Z#\[\]]+)\|random@\d+", line) for line in text.splitlines()]
        lines.append([game[1] for game in games if game is not None])
    assert len(lines[0]) == 12
    assert lines[0] == lines[1]
    mean = done("eval", small, "--games", "12", "--json").json["mean"]
    rewards = [int(reward) for game in lines[0] for reward in re.findall(r"\[(\d+)\]", game)]
    assert sum(rewards) / 12 == mean


# --- move ------------------------------------------------------------------------------------------------------------


def test_move_draws_the_board_and_marks_the_best_slide(small: Path) -> None:
    out = done("move", small, BOARD).out
    assert re.search(r"│ +2 +4 +8 +16 │", out)
    assert len(re.findall("best", out)) == 1
    assert len(re.findall("illegal", out)) == 2
    assert re.search(r"^up +illegal *$", out, re.MULTILINE)


def test_move_takes_the_numbers_one_by_one(small: Path) -> None:
    assert done("move", small, *BOARD.replace("/", " ").split()).out == done("move", small, BOARD).out
    assert done("move", small, BOARD.replace("0", ".")).out == done("move", small, BOARD).out


@pytest.mark.parametrize("depth", [1, 2])
def test_move_as_json(small: Path, depth: int) -> None:
    found = done("move", small, BOARD, "--json", "--depth", depth).json
    assert (found["board"], found["depth"]) == (BOARD, depth)
    assert list(found["values"]) == ["up", "right", "down", "left"]
    assert found["values"]["up"] is None
    assert found["values"]["right"] is None
    assert found["move"] in {"down", "left"}
    assert found["values"][found["move"]] == max(found["values"]["down"], found["values"]["left"])


def test_move_in_a_finished_game(small: Path) -> None:
    assert "the game is over: no slide is legal" in done("move", small, OVER).out
    found = done("move", small, OVER, "--json").json
    assert found["move"] is None
    assert set(found["values"].values()) == {None}


# --- plot ------------------------------------------------------------------------------------------------------------


def test_plot_of_one_run(small: Path, copy: Path, tmp_path: Path) -> None:
    (copy / "report" / "curve.png").unlink()
    assert done("plot", copy).out == f"wrote {copy / 'report' / 'curve.png'}\n"
    assert (copy / "report" / "curve.png").read_bytes().startswith(PNG)
    done("plot", small, "-o", tmp_path / "curve.svg")
    text = (tmp_path / "curve.svg").read_text()
    assert ">training games<" in text
    assert ">mean score<" in text


def test_plot_of_several_runs(small: Path, copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert done("plot", small, copy).out == "wrote curves.png\n"
    assert (tmp_path / "curves.png").read_bytes().startswith(PNG)
    done("plot", small, copy, "--output", "both.svg")
    text = (tmp_path / "both.svg").read_text()
    for part in ("training games", "mean score", "small", "copy"):
        assert f">{part}<" in text


# --- info ------------------------------------------------------------------------------------------------------------


def test_info_of_a_model(small: Path) -> None:
    model = small / "checkpoints" / "last.safetensors"
    out = done("info", model).out
    for part in (str(model), "2048 4x4, rules standard", "2 patterns x 8 isomorphisms = 16 look-ups", "131,072", "300 games"):
        assert part in out
    assert re.search(r"^0123 +4567 *\n■ ■ ■ ■ +· · · · *\n· · · · +■ ■ ■ ■ *\n", out, re.MULTILINE)


def test_info_of_a_model_as_json(small: Path) -> None:
    found = done("info", small / "checkpoints" / "last.safetensors", "--json").json
    assert (found["game"], found["rules"], found["size"], found["values"]) == ("2048", "standard", "4x4", "afterstate")
    assert (found["patterns"], found["symmetry"], found["lookups"], found["weights"]) == (["0123", "4567"], 8, 16, 131_072)
    assert found["training"]["games"] == 300
    assert found["training"]["options"]["seed"] == 1
    assert "run" not in found


def test_info_of_a_run(small: Path) -> None:
    out = done("info", small).out
    assert "3 blocks" in out
    assert re.search(r"^best +game \d+, win rate [\d.]+%, mean [\d,]+ *$", out, re.MULTILINE)
    found = done("info", small, "--json").json
    assert found["model"] == str(small / "checkpoints" / "best.safetensors")
    assert found["run"]["blocks"] == 3
    assert found["run"]["last"]["games"] == 300
    best = max(read_metrics(small), key=lambda record: (record["win_rate"], record["mean"]))
    assert found["run"]["best"]["games"] == best["games"]
    assert found["run"]["best"]["mean"] == best["mean"]


def test_info_of_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out = done("info", "8x6").out
    assert "134,217,728 (512 MiB)" in out
    assert all(pattern in out for pattern in PRESETS["8x6"].names)
    assert done("info", "2x8", "--json").json["weights"] == 2 * 16**8  # more than fits in memory, only talked about
    found = done("info", "0123,4567", "--json").json
    assert found == {"network": "0123,4567", "patterns": ["0123", "4567"], "weights": 131_072}
    assert done("info", "013", "--size", "2x2").out.rstrip().endswith("013\n■ ■\n· ■")


def test_info_without_an_argument_lists_the_networks() -> None:
    out = done("info").out
    for name, preset in PRESETS.items():
        assert re.search(rf"^{re.escape(name)} +{preset.patterns} *$", out, re.MULTILINE)
    assert done("info", "--json").json == {name: list(preset.names) for name, preset in PRESETS.items()}


# --- perft and bench -------------------------------------------------------------------------------------------------


def test_perft() -> None:
    found = done("perft", "2048", "--depth", "2", "--json").json
    assert (found["game"], found["board"]) == ("2048", "2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    assert found["rows"] == [
        {"depth": 1, "afterstates": 4, "states": 112, "reward": 0, "ended": 0},
        {"depth": 2, "afterstates": 424, "states": 11536, "reward": 1024, "ended": 0},
    ]
    out = done("perft", "2048", "--depth", "2").out
    assert re.search(r"^ *2 +424 +11,536 +1,024 +0 *$", out, re.MULTILINE)


def test_perft_of_another_board() -> None:
    found = done("perft", "2048", "--size", "2x2", "--board", "4 2 / 2 0", "--depth", "1", "--json").json
    assert found["rows"] == [{"depth": 1, "afterstates": 2, "states": 4, "reward": 0, "ended": 0}]
    finished = done("perft", "2048", "--board", OVER, "--depth", "1", "--json").json
    assert finished["rows"] == [{"depth": 1, "afterstates": 0, "states": 0, "reward": 0, "ended": 0}]


BENCH = ("--games", "200", "--threads", "1", "--network", NETWORK)


def test_bench_train() -> None:
    found = done("bench", "train", *BENCH, "--json").json
    assert (found["network"], found["games"]) == (NETWORK, 200)
    (only,) = found["runs"]
    assert only["threads"] == 1
    assert only["train"]["moves_per_s"] > 0
    assert set(only) == {"threads", "train"}
    assert "train, moves/s" in done("bench", "train", *BENCH).out


def test_bench_eval() -> None:
    (only,) = done("bench", "eval", *BENCH, "--json").json["runs"]
    assert only["eval"]["moves_per_s"] > 0
    assert "train" not in only


def test_bench_signature_is_the_same_twice() -> None:
    found = done("bench", *BENCH, "--json").json
    assert re.fullmatch("[0-9a-f]{12}", found["signature"])
    assert found["runs"][0]["gather"]["lookups_per_s"] > 0
    assert done("bench", "signature").out == f"signature {found['signature']}\n"


# --- help and version ------------------------------------------------------------------------------------------------

HELP = {
    "train": ["--run", "--resume", "--quiet", "--json"]
    + [f"--{spec.name.replace('_', '-')}" for spec in fields(TrainOptions) if spec.name != "game"],
    "eval": ["--games", "--depth", "--threads", "--seed", "--save", "--json"],
    "move": ["--depth", "--json"],
    "plot": ["--output", "-o"],
    "info": ["--size", "--json"],
    "bench": ["--threads", "--games", "--network", "--json", "all", "train", "eval", "signature"],
    "perft": ["--depth", "--board", "--size", "--rules", "--json"],
}


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("command", HELP)
def test_help_of_a_command(command: str, flag: str) -> None:
    out = done(command, flag).out
    assert out.startswith(f"Usage: afterstate {command} ")
    assert all(re.search(rf"(^|\s|[\[|,<]){option}\b", out) for option in HELP[command]), out


def test_help_of_train_tells_each_option_and_default() -> None:
    out = " ".join(done("train", "--help").out.split())
    for spec in fields(TrainOptions):
        if spec.name != "game":
            assert " ".join(str(spec.metadata["help"]).split()) in out
    assert "[default: 0.1]" in out
    assert "[default: 1000]" in out


def test_help_lists_the_commands() -> None:
    out = done("--help").out
    assert all(re.search(rf"^  {command} +\w", out, re.MULTILINE) for command in HELP)
    assert "Exit codes" in out


def test_version() -> None:
    assert done("--version").out == version("afterstate") + "\n"


@pytest.mark.parametrize(
    "program",
    [
        "import afterstate",
        "import afterstate; dir(afterstate)",
        "import sys; sys.argv = ['afterstate', '--help']; from afterstate.cli.main import main; main()",
        "import sys; sys.argv = ['afterstate', 'train', '--help']; from afterstate.cli.main import main; main()",
        "import sys; sys.argv = ['afterstate', 'train', '2048', '--alpha', '0']; from afterstate.cli.main import main; main()",
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_needed(program: str) -> None:
    watched = f"import atexit, sys\natexit.register(lambda: print('loaded:', *sorted(sys.modules)))\n{program}"
    done = subprocess.run([sys.executable, "-c", watched], capture_output=True, text=True, timeout=PATIENCE, check=False)
    loaded = done.stdout.splitlines()[-1].split()
    assert loaded[0] == "loaded:"
    assert "afterstate" in loaded
    assert not {"numba", "matplotlib", "llvmlite"} & set(loaded)


def test_names_of_the_package_are_found_on_first_use() -> None:
    import afterstate

    assert all(getattr(afterstate, name) is not None for name in afterstate.__all__)
    assert dir(afterstate) == sorted(afterstate.__all__)
    with pytest.raises(AttributeError, match="nosuch"):
        _ = afterstate.nosuch


def test_the_script_is_installed() -> None:
    script = shutil.which("afterstate", path=str(Path(sys.executable).parent))
    if script is None:
        pytest.skip("the package is not installed as a program")
    shown = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert shown.stdout == version("afterstate") + "\n"
