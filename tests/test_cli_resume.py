"""Resumed runs and Ctrl-C: nothing that was learned or measured is lost."""

import re
import shutil
import signal
import subprocess
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from afterstate.cli.main import Exit
from afterstate.engine.workers import Workers
from commandline import BLOCK, NETWORK, PATIENCE, PROGRAM, SMALL, TRAIN, Result, contents, done, learned, run

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
    assert f"continue: afterstate train --run {folder} --resume" in result.out
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
    result = run("eval", small, "--games", "5", "--save", tmp_path / "games.txt", "--force")
    assert (result.code, result.out, result.error) == (Exit.INTERRUPTED, "", "")
    assert contents(tmp_path) == {"games.txt": b"mine"}


def test_ctrl_c_at_any_other_time_is_no_traceback(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("afterstate.report.plot.plot_runs", press)
    result = run("plot", small)
    assert result.code == Exit.INTERRUPTED
    assert "Traceback" not in result.err
