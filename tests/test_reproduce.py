"""`afterstate reproduce`: a report's recipe is run, measured as the report was, and compared with its figures."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import afterstate as af
from afterstate.cli.main import Exit
from afterstate.engine.workers import Workers
from afterstate.errors import FileError, InputError
from afterstate.games.results import find_tile
from afterstate.intervals import wilson
from afterstate.learning.options import TrainOptions
from afterstate.learning.plan import game_of
from afterstate.learning.recipes import load_recipe
from afterstate.learning.runfolder import RunFolder
from afterstate.play.reproduction import Reproduction, Row, reports, reproduce
from afterstate.report.plot import plot_reproduction
from afterstate.units import format_count
from commandline import PNG, check, contents, done, learned, read_metrics, run
from listeners import StopAt
from test_cli_resume import interrupt

OWN = """
[train]
game = "2048"
network = "0123,4567"
games = 300
block = 100
threads = 1
"""
LAST = f"""{OWN}
[report]
title = "my lab"
measure = "last"
[[report.figures]]
games = 300
mean = 1000
reached = {{ 64 = 50, 2048 = 0 }}
"""
BEST = LAST.replace('measure = "last"', 'measure = "best"')
MEASURED = LAST.replace('measure = "last"', 'measure = "eval"\ndepth = 2').replace("mean = 1000", "mean = 1e6")
THREES = """
[train]
game = "threes"
rules = "tcg2022"
network = "0123,4567"
context = ""
games = 300
block = 100
threads = 1
eval_every = 100
eval_games = 60
judge = "1"
[report]
[[report.figures]]
games = 300
points = 60
[[report.figures]]
games = 100
mean = 500
points = 99.9
reached = { 48 = 1 }
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def recipe(text: str, name: str = "own") -> str:
    Path(f"{name}.toml").write_text(text)
    return f"{name}.toml"


def rows(done: Reproduction) -> dict[tuple[int, str], Row]:
    return {(row.games, row.what): row for row in done.rows}


# --- how it is measured --------------------------------------------------------------------------------------------------


def test_by_the_last_block() -> None:
    result = reproduce(recipe(LAST))
    assert result.run == Path("runs/own")
    block = read_metrics(result.run)[-1]
    assert block["games"] == 300
    found = rows(result)
    mean = found[300, "mean score"]
    assert (mean.theirs, mean.ours) == (1000, block["mean"])
    assert (mean.low, mean.high) == pytest.approx((block["mean"] - block["interval"], block["mean"] + block["interval"]))
    tile = found[300, "64 reached"]
    share = block["reached"]["64"]
    assert (tile.theirs, tile.ours) == (0.5, share)
    assert (tile.low, tile.high) == wilson(round(100 * share), 100)
    assert (found[300, "2048 reached"].theirs, found[300, "2048 reached"].ours) == (0, 0)
    assert result.passed


def test_by_the_best_block() -> None:
    result = reproduce(recipe(BEST))
    blocks = {block["games"]: block for block in read_metrics(result.run)}
    best = RunFolder(result.run).best_so_far()
    assert best is not None
    row = result.rows[0]
    assert (row.games, row.ours) == (best.games, blocks[best.games]["mean"])


def test_by_games_with_learning_off_at_a_depth() -> None:
    result = reproduce(recipe(MEASURED), games=5)
    wanted = done(
        "eval", result.run / "checkpoints" / "last.safetensors", "--games", "5", "--seed", "2", "--depth", "2", "--json"
    )
    row = result.rows[0]
    assert (row.ours, row.high - row.ours) == pytest.approx((wanted.json["mean"], wanted.json["interval"]))
    assert result.measured[0]["count"] == 5
    assert not result.passed


def test_by_the_evaluations_on_the_way() -> None:
    result = reproduce(recipe(THREES), games=50)
    on_the_way = next(record for record in read_metrics(result.run) if record["kind"] == "eval" and record["games"] == 100)
    found = rows(result)
    assert found[100, "mean score"].ours == on_the_way["mean"]
    points = found[100, "judge's points"]
    assert points.ours == on_the_way["judge"]
    assert points.low < points.ours < points.high
    assert found[300, "judge's points"].ours == result.measured[0]["judge"]
    assert [(row.games, row.what) for row in result.rows] == [
        *((100, what) for what in ("mean score", "judge's points", "48 reached")),
        (300, "judge's points"),
    ]


@pytest.mark.parametrize(
    ("ours", "low", "high", "passed"),
    [(10.0, 9.0, 11.0, True), (9.5, 8.0, 11.0, True), (12.0, 11.0, 13.0, True), (9.0, 8.0, 9.9, False), (9.0, 8.0, 10.0, True)],
)
def test_passed_is_at_least_theirs_or_theirs_within_our_interval(ours: float, low: float, high: float, passed: bool) -> None:
    assert Row(1, 1, "mean score", 10.0, ours, low, high).passed is passed


# --- the run -------------------------------------------------------------------------------------------------------------


def test_a_finished_run_is_measured_again_without_training() -> None:
    name = recipe(LAST)
    first = reproduce(name)
    before = contents(first.run)
    assert reproduce(name, threads=2) == first
    assert contents(first.run) == before


def test_a_stopped_run_goes_on() -> None:
    name, listener = recipe(LAST), StopAt(100)
    stopped = reproduce(name, run="stopped", listener=listener, stop=listener.stop)
    assert stopped.stopped
    assert stopped.rows == ()
    assert not RunFolder("stopped").is_finished()
    whole = reproduce(name, run="whole")
    assert reproduce(name, run="stopped").rows == whole.rows
    assert learned(Path("stopped")) == learned(Path("whole"))


def test_an_evaluation_that_was_stopped_is_repeated() -> None:
    """All games are played, but the last evaluation is missing."""
    reproduce(name := recipe(THREES), games=5)
    folder = RunFolder("runs/own")
    assert folder.is_finished()
    listener = StopAt(300)
    reproduce(name, run="stopped", games=5, listener=listener, stop=listener.stop)
    assert not RunFolder("stopped").is_finished()
    assert not reproduce(name, run="stopped", games=5).stopped
    assert learned(Path("stopped")) == learned(folder.path)


def test_a_shorter_run_fails_nothing() -> None:
    name = recipe(LAST.replace("mean = 1000", "mean = 1e9"))
    result = reproduce(name, scale="10%")
    assert (result.run, result.scale) == (Path("runs/own-x0.1"), 0.1)
    assert RunFolder(result.run).read_config().games == 30
    assert (result.rows[0].games, result.rows[0].their_games) == (30, 300)
    assert not result.rows[0].passed
    assert result.passed
    assert result.as_dict()["passed"] is None
    assert {row["passed"] for row in result.as_dict()["figures"]} == {None}


def test_a_shorter_run_is_evaluated_as_often() -> None:
    result = reproduce(recipe(THREES), scale=0.07, games=5)
    options = RunFolder(result.run).read_config()
    assert (options.games, options.eval_every) == (21, 7)
    assert [(row.games, row.their_games) for row in result.rows] == [(7, 100), (7, 100), (7, 100), (21, 300)]


def test_the_seed_is_that_of_the_run() -> None:
    name = recipe(LAST)
    one, other = reproduce(name, run="one", seed=1), reproduce(name, run="other", seed=5)
    assert one.rows != other.rows
    assert reproduce(name, run="other").rows == other.rows
    with pytest.raises(InputError, match="run other was made with seed 5, not 1: choose another folder with --run"):
        reproduce(name, run="other", seed=1)
    with pytest.raises(InputError, match="was made with games 300, not 30"):
        reproduce(name, run="other", scale="10%")


# --- what is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LAST.replace("title", "source"), r"\[report\] has title, measure, depth and figures, and nothing else"),
        (LAST.replace('"my lab"', "5"), r"the title of \[report\] is text of at most 60 characters, not 5"),
        (LAST.replace('"my lab"', f'"{"x" * 61}"'), "at most 60 characters"),
        (LAST.replace('"last"', '"first"'), "measure is eval, last, best, not 'first'"),
        (LAST.replace('"last"', '"last"\ndepth = 2'), "above 1 only with measure eval"),
        (LAST.replace("games = 300\nblock", 'time = "1s"\nblock'), r"a recipe with \[report\] needs games in \[train\]"),
        (LAST.replace("games = 300\nmean", "games = 301\nmean"), "at 301 games come after the end of the run, which has 300"),
        (LAST.replace("mean = 1000", "points = 5"), r"at 300 games have points: set judge in \[train\]"),
        (BEST.replace("games = 300\nmean", "games = 200\nmean"), "at 200 games cannot be measured: the best block"),
        (MEASURED.replace("games = 300\nmean", "games = 200\nmean"), "at 200 games cannot be measured: .*a depth above 1"),
        (THREES.replace("games = 100", "games = 150"), "at 150 games cannot be measured: set eval_every"),
        (LAST.replace("mean = 1000", "median = 1000"), "figures are games, mean, points and reached, and nothing else"),
    ],
)  # fmt: skip
def test_a_report_that_makes_no_sense_is_refused(text: str, words: str) -> None:
    with pytest.raises(FileError, match=rf"own.toml: .*{words}"):
        load_recipe(recipe(text))


def test_what_cannot_be_done_is_refused_before_the_training() -> None:
    with pytest.raises(InputError, match="recipe quick does not repeat a report; these do: report-cpp, report-hooks"):
        reproduce("quick")
    with pytest.raises(InputError, match="measured by its last block of training, as the report was: leave out --games"):
        reproduce(recipe(LAST), games=100)
    with pytest.raises(InputError, match="100 is not a tile"):
        reproduce(recipe(LAST.replace("64 = 50", "100 = 50")))
    assert not Path("runs").exists()


def test_every_report_of_the_package_can_be_compared() -> None:
    """Its figures are of tiles of the game."""
    found = reports()
    assert [each.name for each in found] == [
        "report-cpp",
        "report-hooks",
        "report-python",
        "report-threes",
        "report-threes-search",
    ]
    for each in found:
        assert each.report is not None
        game = game_of(TrainOptions(**each.options))
        assert all(find_tile(game, face) for figures in each.report.figures for face in figures.reached)


def test_the_document_has_every_figure() -> None:
    page = (Path(__file__).parent.parent / "docs" / "reports.md").read_text()
    for each in reports():
        assert each.report is not None
        section = page.partition(f"\n## {each.report.title}\n")[2].partition("\n## ")[0]
        assert f"\nafterstate reproduce {each.name}\n" in section
        for figures in each.report.figures:
            wanted = [f"{figures.mean:,.0f}"] if figures.mean is not None else []
            wanted += [f"{figures.points:.1f}"] if figures.points is not None else []
            wanted += [f"{face} | {100 * share:.1f} %" for face, share in figures.reached.items()]
            rows = [line for line in section.splitlines() if line.startswith(f"| {format_count(figures.games)} |")]
            assert all(any(f"| {text} |" in row for row in rows) for text in wanted), (each.name, wanted)


# --- as a command --------------------------------------------------------------------------------------------------------


def test_the_list() -> None:
    shown = done("reproduce").out
    for each in reports():
        assert each.name in shown
        assert each.takes in shown
    assert [row["name"] for row in done("reproduce", "--json").json] == [each.name for each in reports()]


def test_the_command_prints_both_and_draws_both() -> None:
    result = run("reproduce", recipe(LAST))
    assert (result.code, result.error) == (Exit.DONE, "")
    lines = result.out.splitlines()
    assert lines[0].startswith("100 of 300 games: mean ")
    assert "my lab, measured by the last block of training, as the report was" in lines
    mean = next(line.split() for line in lines if "mean score" in line)
    assert (mean[0], mean[3], mean[-1]) == ("300", "1,000", "passed")
    assert next(line.split() for line in lines if "64 reached" in line)[3] == "50.0%"
    assert "passed 3 of 3 figures" in lines
    assert Path("runs/own/report/reproduce.png").read_bytes().startswith(PNG)


def test_a_figure_that_is_not_reached_has_an_exit_code() -> None:
    result = run("reproduce", recipe(MEASURED), "--games", "5", "--json")
    assert (result.code, result.error) == (Exit.FAILED, "100 of 300" + result.error.partition("100 of 300")[2])
    found: dict[str, Any] = result.json
    assert (found["passed"], found["depth"], found["measure"], found["scale"]) == (False, 2, "eval", 1.0)
    assert [row["passed"] for row in found["figures"]] == [False, True, True]
    shown = run("reproduce", "own.toml", "--games", "5")
    assert shown.code == Exit.FAILED
    assert "passed 2 of 3 figures" in shown.out
    assert "measured with learning off, depth 2" in shown.out


def test_a_shorter_run_says_so() -> None:
    result = done("reproduce", recipe(MEASURED), "--games", "5", "--scale", "20%")
    assert "ours, shorter" in result.out
    assert "60 of 300  mean score" in result.out
    assert "our figures are of a shorter run, 20 % of the report's games: none passes or fails" in result.out


def test_the_picture_names_the_report() -> None:
    result = reproduce(recipe(THREES), games=5)
    plot_reproduction(replace(result, report=replace(result.report, title="another's lab")), Path("both.svg"))
    drawn = Path("both.svg").read_text()
    for words in ("the report: another's lab", "training, 100 games a point", "learning off, 5 to 60 games a point", ">48<"):
        assert words in drawn


def test_ctrl_c_while_it_trains() -> None:
    name = recipe(LAST.replace("games = 300", "games = 30000"))
    result = interrupt(["reproduce", name, "--run", "a run"], Path("a run/metrics.jsonl"))
    assert (result.code, result.error) == (Exit.INTERRUPTED, "")
    assert f"stopped; continue: {shlex.join(['afterstate', 'reproduce', name, '--run', 'a run'])}\n" in result.out
    assert RunFolder("a run").last.exists()


def test_ctrl_c_while_it_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    reproduce(name := recipe(MEASURED), games=5)
    begin = Workers.run

    def with_ctrl_c(self: Workers, play: Any, first: int, count: int, **more: Any) -> int:
        self.stop.set()  # what the handler of the signal does
        return begin(self, play, first, count, **more)

    monkeypatch.setattr(Workers, "run", with_ctrl_c)
    result = run("reproduce", name, "--games", "5")
    assert (result.code, result.error) == (Exit.INTERRUPTED, "")
    assert result.out == "stopped; continue: afterstate reproduce own.toml --run runs/own --games 5\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("report-hooks", "--scale", "0"), ["scale", "such as 10%", "'0'"]),
        (("report-hooks", "--scale", "200%"), ["at most 100%", "'200%'"]),
        (("report-hooks", "--scale", "a lot"), ["'a lot'"]),
        (("report-nothing",), ["no recipe is called 'report-nothing'", "report-hooks"]),
        (("report-hooks", "--games", "many"), ["games", "'many'"]),
        (("report-hooks", "--threads", "0"), ["threads must be 1 to 256"]),
        (("report-hooks", "--seed", "-1"), ["seed must be"]),
    ],
)
def test_a_wrong_question(arguments: tuple[str, ...], words: list[str]) -> None:
    check(run("reproduce", *arguments), Exit.INPUT, *words)
    assert not Path("runs").exists()


def test_python_has_it_too() -> None:
    assert af.reproduce(recipe(LAST)).passed
