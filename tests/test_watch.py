"""Which network is the best, and when a run is stopped: judged by enough games, whatever the block."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from afterstate.cli.main import Exit
from afterstate.learning.runfolder import RunFolder
from afterstate.learning.watch import ENOUGH, Watch, is_better
from afterstate.network.training import Block
from commandline import SMALL, done, read_metrics, run


def block(games: int, mean: float, *, count: int = 1000, win_rate: float = 0.0) -> dict[str, Any]:
    return {"games": games, "count": count, "mean": mean, "win_rate": win_rate}


def test_small_blocks_are_judged_together() -> None:
    watch = Watch(None)
    judged = [watch.see(block(games, float(games), count=1)) for games in range(1, 2 * ENOUGH + 1)]
    found = [stretch for stretch in judged if stretch is not None]
    assert [(stretch.games, stretch.count, stretch.mean) for stretch in found] == [(100, 100, 50.5), (200, 100, 150.5)]
    whole = Watch(None).see(block(1000, 1 / 3))
    assert whole == Block(1000, 0.0, 1 / 3, 1000), "a block of enough games is judged alone, exactly"


def test_a_short_run_is_judged_by_all_it_has() -> None:
    stretch = Watch(10).see(block(10, 5.0, count=10))
    assert stretch is not None
    assert is_better(Block(100, 0.0, 1.0, ENOUGH), stretch, "mean"), "few games give way to enough"
    assert not is_better(stretch, Block(100, 0.0, 1.0, ENOUGH), "mean")


def test_a_few_bad_games_are_no_collapse() -> None:
    watch = Watch(None)
    for games in range(1, 1001):
        watch.see(block(games, 0.0 if games % 10 else 9000.0, count=1))
        assert not watch.collapsed
    for games in range(1001, 1301):
        watch.see(block(games, 100.0, count=1))
        assert watch.collapsed == (games == 1300)


FULL = [(0.998, 50_000, 1.0, 60_000), (1.0, 50_000, 0.999, 60_000), (0.0, 500, 0.001, 400), (0.905, 90_000, 0.9, 91_000)]


@pytest.mark.parametrize(("rate", "mean", "other_rate", "other_mean"), FULL)
def test_win_rates_that_tell_nothing(rate: float, mean: float, other_rate: float, other_mean: float) -> None:
    """Once win rates differ by chance only, the mean decides."""
    one, other = Block(1000, rate, mean), Block(2000, other_rate, other_mean)
    better, worse = (one, other) if mean > other_mean else (other, one)
    assert is_better(better, worse, "win")
    assert not is_better(worse, better, "win")


def test_win_rates_that_differ() -> None:
    more, fewer = Block(1000, 0.9, 50_000), Block(2000, 0.8, 60_000)
    assert is_better(more, fewer, "win")
    assert not is_better(fewer, more, "win")
    assert is_better(fewer, more, "mean")


def test_eval_tells_of_a_better_checkpoint(tmp_path: Path) -> None:
    """The best checkpoint is from a run of 100 games, the last one from one of 3000."""
    done(*SMALL, "--games", "100", "--run", tmp_path / "short", "--quiet")
    done(*SMALL, "--games", "3000", "--run", tmp_path / "long", "--quiet")
    long = RunFolder(tmp_path / "long")
    assert "probably better" not in done("eval", long.path, "--games", "5").out
    shutil.copy(RunFolder(tmp_path / "short").best, long.best)
    mean = long.read_metrics()[-1]["mean"]
    words = f"the last checkpoint of this run is probably better, its last block has a mean of {mean:,.0f}: afterstate eval "
    assert f"{words}{long.last}\n" in done("eval", long.path, "--games", "5").out
    assert done("eval", long.path, "--games", "5", "--json").json["better"] == {"model": str(long.last), "mean": mean}
    assert "probably better" not in done("eval", long.last, "--games", "5").out


# --- the learning rate ---------------------------------------------------------------------------------------------------

TOO_LARGE = ("train", "threes", "--network", "5x4", "--threads", "1", "--games", "3k", "--block", "500", "--alpha", "1.5")


def test_too_large_a_rate_is_told_once(tmp_path: Path) -> None:
    """On standard error if there is no terminal, and in the metrics; a resume does not repeat it."""
    result = run(*TOO_LARGE, "--run", tmp_path / "run", "--quiet")
    assert result.code == Exit.DONE
    (told,) = re.findall(r"^warning: (alpha 1\.5 is probably too large: .* Try a smaller --alpha)$", result.error, re.MULTILINE)
    assert [record["warning"] for record in read_metrics(tmp_path / "run") if "warning" in record] == [told]
    assert told in (tmp_path / "run" / "metrics.csv").read_text()
    assert "warning" not in run("train", "--run", tmp_path / "run", "--resume", "--games", "3500").error


def sound(mean: float, error: float, outside: float, **more: Any) -> dict[str, Any]:
    return block(1000, mean) | {"alpha": 1.0, "mean_error": error, "out_of_range": outside} | more


# the worst blocks that were measured in sound runs: TD with alpha 1.0, TD(1) backward, 10 steps, Threes! with alpha 1.0
@pytest.mark.parametrize("figures", [(7000, 3200, 0.001), (1135, 419, 0.014), (2359, 533, 0.004), (1833, 401, 0.01)])
def test_a_sound_rate_is_not_warned_of(figures: tuple[float, float, float]) -> None:
    watch = Watch(None)
    watch.see(sound(*figures))
    assert watch.warning is None


def test_optimism_is_no_error() -> None:
    """The first values are far beyond the score on purpose."""
    for optimistic, warns in ((320_000.0, False), (0.0, True)):
        watch = Watch(None, optimistic=optimistic)
        watch.see(sound(2690, 5800, 0.0))
        assert (watch.warning is not None) == warns


def test_a_warning_comes_once() -> None:
    watch = Watch(None)
    watch.see(sound(2580, 100_000, 0.0))
    assert "off by 100,000 points" in str(watch.warning)
    watch.see(sound(2580, 100_000, 0.5))
    assert watch.warning is None
    other = Watch(None)
    other.see(sound(2580, 10, 0.5))
    assert "50% of the values" in str(other.warning)
    resumed = Watch(None)
    resumed.see(sound(2580, 100_000, 0.0, warning="it was told"))
    assert resumed.warning is None
