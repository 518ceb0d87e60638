"""The course's blocks, tables and plots, from figures made by hand."""

import json
import math
import os
import re
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.console import Console, RenderableType

from afterstate.bitboard import Shape
from afterstate.errors import FileError, InputError
from afterstate.games.game import Game, Slide
from afterstate.games.results import Results, Summary, TileRate, summarise
from afterstate.intervals import wilson
from afterstate.learning.blocks import merge
from afterstate.learning.metrics import reached
from afterstate.learning.options import TrainOptions
from afterstate.learning.runfolder import RunFolder
from afterstate.play.judge import Pace
from afterstate.report.course import format_block
from afterstate.report.plot import plot_runs
from afterstate.report.tables import PatternDrawings, board_drawing, facts, summary_table, values_table

PNG = b"\x89PNG\r\n\x1a\n"


def summary(**changed: Any) -> Summary:
    """1000 games that ended with 1024, 2048 or 4096 as their largest tile."""
    figures: dict[str, Any] = {
        "games": 1000,
        "mean": 17483.4,
        "interval": 321.0,
        "median": 16000.0,
        "maximum": 52464,
        "win_tile": 2048,
        "win_rate": 0.406,
        "win_interval": (0.376, 0.437),
        "tiles": (TileRate(1024, 1.0, 0.594), TileRate(2048, 0.406, 0.396), TileRate(4096, 0.01, 0.01)),
        "moves": 3_349_200,
        "seconds": 2.0,
    }
    return Summary(**(figures | changed))


def drawn(what: RenderableType) -> str:
    """What a terminal 100 characters wide would show, without colours."""
    screen = Console(file=StringIO(), width=100, color_system=None, highlight=False)
    screen.print(what)
    assert isinstance(screen.file, StringIO)
    return screen.file.getvalue()


def strictly(value: Any) -> Any:
    """To JSON and back; Infinity and NaN, which are not JSON, are errors."""
    return json.loads(json.dumps(value, allow_nan=False))


# --- the course's block ----------------------------------------------------------------------------------------------


def test_a_block_in_the_words_of_the_course() -> None:
    assert format_block(5000, summary()) == (
        "5000\tavg = 17483, max = 52464, ops = 3349200\n\t1024\t100%\t(59.4%)\n\t2048\t40.6%\t(39.6%)\n\t4096\t1%\t(1%)\n"
    )


@pytest.mark.parametrize(("apart", "speeds"), [(True, " (30|20)"), (False, "")])
def test_a_block_tells_both_speeds_only_if_they_were_measured(apart: bool, speeds: str) -> None:
    pace = Pace(everyone=24.0, slider=30.0, placer=20.0, apart=apart)
    assert f", ops = 24{speeds}\n" in format_block(1, summary(), pace)


def test_a_block_leaves_out_tiles_that_no_game_ended_with() -> None:
    tiles = (TileRate(512, 1.0, 0.25), TileRate(1024, 0.75, 0.0), TileRate(2048, 0.75, 0.75))
    lines = format_block(1000, summary(tiles=tiles)).splitlines()
    assert lines[1:] == ["\t512\t100%\t(25%)", "\t2048\t75%\t(75%)"]


def test_a_block_has_few_digits() -> None:
    tiles = (TileRate(512, 1.0, 1 / 3), TileRate(1024, 2 / 3, 2 / 3))
    assert format_block(3, summary(tiles=tiles)).splitlines()[1:] == ["\t512\t100%\t(33.33%)", "\t1024\t66.67%\t(66.67%)"]


def test_a_block_that_took_no_time_has_no_speed() -> None:
    text = format_block(1000, summary(seconds=0.0))
    assert "ops = 0\n" in text
    assert not re.search("inf|nan", text)


# --- summaries -------------------------------------------------------------------------------------------------------


def results(scores: list[int], largest: list[int]) -> Results:
    return Results(np.array(scores, np.int64), np.full(len(scores), 100, np.int64), np.array(largest, np.uint8))


def test_a_summary_of_games(game: Game) -> None:
    found = summarise(game, results([1000, 2000, 3000, 6000], [7, 8, 8, 11]), 0.5)
    assert (found.games, found.mean, found.median, found.maximum) == (4, 3000.0, 2500.0, 6000)
    assert (found.moves, found.seconds, found.moves_per_s) == (400, 0.5, 800.0)
    assert (found.win_tile, found.win_rate) == (2048, 0.25)
    assert found.tiles == (
        TileRate(128, 1.0, 0.25),
        TileRate(256, 0.75, 0.5),
        TileRate(512, 0.25, 0.0),
        TileRate(1024, 0.25, 0.0),
        TileRate(2048, 0.25, 0.25),
    )
    deviation = math.sqrt((2000**2 + 1000**2 + 0 + 3000**2) / 3)
    assert found.interval == pytest.approx(3.182446 * deviation / 2, rel=1e-6)


def test_games_that_took_no_time_have_no_speed(game: Game) -> None:
    found = summarise(game, results([1000, 2000], [7, 8]), 0.0)
    assert found.moves_per_s == 0.0
    strictly(found.as_dict())


def test_one_game_is_enough_for_a_summary(game: Game) -> None:
    """It says nothing about the spread; JSON knows neither Infinity nor NaN."""
    found = summarise(game, results([1000], [7]), 0.0)
    strictly(found.as_dict())
    for text in (drawn(summary_table(found)), format_block(1, found)):
        assert not re.search(r"\b(inf|nan)\b", text), text


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (1, 1, 0.2065, 1.0)],
)
def test_the_interval_of_a_rate(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=1e-4)


# --- tables ----------------------------------------------------------------------------------------------------------


def test_a_summary_as_a_table() -> None:
    text = drawn(summary_table(summary()))
    for part in ("17,483 ± 321", "1,000 games", "16,000, 52,464", "40.6%   (37.6% to 43.7%)", "1.67M moves/s"):
        assert part in text
    assert re.search(r"^ *1024 +100\.0% +59\.4% +━+ *$", text, re.MULTILINE)
    assert re.search(r"^ *4096 +1\.0% +1\.0% *$", text, re.MULTILINE)


def test_a_board_is_drawn(game: Game) -> None:
    text = drawn(board_drawing(game, game.parse("2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 131072")))
    rows = [re.findall(r"\d+|·", line) for line in text.splitlines()[1:-1]]
    assert rows == [["2", "4", "8", "16"], ["·", "2", "4", "8"], ["·", "·", "2", "4"], ["·", "·", "·", "131072"]]
    assert len({len(line) for line in text.splitlines()}) == 1


def test_the_best_slide_is_marked() -> None:
    values = {Slide.UP: 1200.0, Slide.RIGHT: 1234.5, Slide.DOWN: None, Slide.LEFT: 1234.5}
    lines = [line.split() for line in drawn(values_table(values, Slide.RIGHT)).splitlines()]
    assert lines == [
        ["up", "1,200.0", "-34.5"],
        ["right", "1,234.5", "◀", "best"],
        ["down", "illegal"],
        ["left", "1,234.5", "equal"],
    ]


def test_patterns_are_drawn_six_a_row() -> None:
    names = ["01", "02", "03", "12", "13", "23", "0"]
    lines = [line.rstrip() for line in drawn(PatternDrawings(names, Shape(2, 2))).splitlines()]
    assert lines[0].split() == names[:6]
    assert lines[1].split("    ")[:2] == ["■ ■", "■ ·"]
    assert lines[4:7] == ["0", "■ ·", "· ·"]


@pytest.mark.parametrize("text", ["runs/[bold]", "a[/]b", "[/nosuch]", "[red]x", "plain"])
def test_facts_are_shown_as_they_are(text: str) -> None:
    """File names can look like the markup of rich."""
    assert text in drawn(facts([("folder", text)]))


# --- plots -----------------------------------------------------------------------------------------------------------


def block(games: int, mean: float, reached: dict[str, float], **changed: Any) -> dict[str, Any]:
    """One line of metrics."""
    record = {"kind": "block", "games": games, "mean": mean, "interval": 100.0, "win_tile": 2048, "reached": reached}
    return record | {"win_rate": reached.get("2048", 0.0), "count": 1000} | changed


def make_run(path: Path, records: list[dict[str, Any]], **options: Any) -> Path:
    given = TrainOptions(**({"network": "0123"} | options))
    folder = RunFolder.plan(path, given)
    folder.make(given)
    for record in records:
        folder.append(record)
    return folder.path


BLOCKS = [
    block(10_000, 3000.0, {"256": 1.0, "512": 0.5, "1024": 0.01}),
    block(20_000, 9000.0, {"512": 1.0, "1024": 0.7, "2048": 0.3}),
    block(30_000, 12000.0, {"512": 1.0, "1024": 0.9, "2048": 0.5, "4096": 0.01}),
]


def texts(svg: Path) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg.read_text())


def test_one_run_shows_its_score_and_its_tiles(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", BLOCKS)
    plot_runs([run], tmp_path / "curve.svg")
    shown = texts(tmp_path / "curve.svg")
    assert shown.count("training games") == 2
    assert "run: 2048 4x4, network 0123, td" in shown
    assert {"mean score", "games, %", "Score", "Games that reach a tile", "30k"} <= set(shown)
    assert "training, 1,000 games a point, 95 % interval" in shown
    assert {"512", "1024", "2048 (win)"} <= set(shown)
    assert not {"256", "4096"} & set(shown)  # always reached, and hardly ever


def test_evaluations_are_shown(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", [*BLOCKS, block(30_000, 13000.0, {"2048": 1.0}, kind="eval", count=50)])
    plot_runs([run], tmp_path / "curve.svg")
    assert "learning off, 50 games a point" in texts(tmp_path / "curve.svg")
    assert "the judge's points" not in texts(tmp_path / "curve.svg")


def test_evaluations_of_several_runs_are_named(tmp_path: Path) -> None:
    dots = [block(30_000, 13000.0, {"2048": 1.0}, kind="eval", count=count) for count in (50, 1000)]
    runs = [make_run(tmp_path / f"run-{dot['count']}", [*BLOCKS, dot]) for dot in dots]
    plot_runs(runs, tmp_path / "curves.svg")
    assert "learning off, 50 to 1,000 games a point" in texts(tmp_path / "curves.svg")


def test_the_points_of_the_judge_are_shown(tmp_path: Path) -> None:
    for name, judge in (("points", 71.7), ("words", "many")):
        record = block(30_000, 13000.0, {"2048": 1.0}, kind="eval", judge=judge)
        plot_runs([make_run(tmp_path / name, [*BLOCKS, record])], tmp_path / f"{name}.svg")
        assert ("the judge's points" in texts(tmp_path / f"{name}.svg")) == (name == "points")


@pytest.mark.parametrize(
    "reached",
    [{"2048": 1.0}, {"512": 1.0}, {str(2**place): 1.0 - 0.05 * place for place in range(7, 17)}],
    ids=["always", "never", "many"],
)
def test_the_win_tile_is_always_shown(reached: dict[str, float], tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", [block(games, 9000.0, reached) for games in (1000, 2000)])
    plot_runs([run], tmp_path / "curve.svg")
    assert "2048 (win)" in texts(tmp_path / "curve.svg")


def test_each_game_has_its_own_panels(tmp_path: Path) -> None:
    """Scores and win tiles of two games say nothing about each other."""
    goal = {"384": 0.7, "768": 0.2}
    other = [block(games, 60_000.0, goal, win_tile=384, win_rate=0.7) for games in (10_000, 20_000)]
    runs = [make_run(tmp_path / name, BLOCKS) for name in ("a", "b")]
    runs += [make_run(tmp_path / name, other, game="threes", rules="tcg2022") for name in ("c", "d")]
    plot_runs(runs, tmp_path / "curves.svg")
    shown = texts(tmp_path / "curves.svg")
    for text in ("2048 4x4, network 0123, td", "threes 4x4, tcg2022 rules, network 0123, td", "Games that reach 2048"):
        assert shown.count(text) == 1
    assert shown.count("Games that reach 384") == 1
    assert shown.count("Score") == 2
    assert {"a", "b", "c", "d"} <= set(shown)
    plot_runs([runs[0], runs[2]], tmp_path / "two.svg")
    assert {"2048 (win)", "384 (win)"} <= set(texts(tmp_path / "two.svg"))


def test_runs_are_named_by_what_tells_them_apart(tmp_path: Path) -> None:
    runs = [
        make_run(tmp_path / part / "run", BLOCKS, alpha=alpha) for part, alpha in (("one", 0.1), ("two", 0.30000000000000004))
    ]
    plot_runs([*runs, make_run(tmp_path / ("n" * 200), BLOCKS, alpha=0.1)], tmp_path / "curves.svg")
    shown = texts(tmp_path / "curves.svg")
    assert {"one/run (alpha 0.1)", "two/run (alpha 0.3)"} <= set(shown)
    assert any(re.fullmatch(r"n{20,40}…n{20,40} \(alpha 0\.1\)", text) for text in shown)


def test_many_blocks_become_few_points(game: Game) -> None:
    """Blocks put together have the mean, the interval and the rates that a summary of all their games has."""
    draw = np.random.default_rng(2)
    every = results(
        [int(score) for score in draw.integers(0, 50_000, 1000)], [int(tile) for tile in draw.integers(5, 13, 1000)]
    )
    parts = [summarise(game, every.part(start, start + 10), 1.0).as_dict() for start in range(0, 1000, 10)]
    blocks = [part | {"kind": "block", "games": 10 * (number + 1), "count": 10} for number, part in enumerate(parts)]
    assert merge(blocks, 100) == blocks
    thin = merge(blocks, 40)
    assert [block["games"] for block in thin] == [30 * number for number in range(1, 34)] + [1000]
    for start, one in zip(range(0, 1000, 30), thin, strict=True):
        whole = summarise(game, every.part(start, start + 30), 1.0).as_dict()
        assert (one["count"], one["max"]) == (whole["games"], whole["max"])
        for name in ("mean", "interval", "win_rate"):
            assert one[name] == pytest.approx(whole[name])
        for tile, rate in whole["reached"].items():
            assert reached(one, int(tile)) == pytest.approx(rate)


def test_a_long_run_is_drawn_with_few_points(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", [block(1000 * number, 9000.0 + number, {"2048": 0.5}) for number in range(1, 5001)])
    plot_runs([run], tmp_path / "curve.svg")
    assert "training, 13,000 games a point, 95 % interval" in texts(tmp_path / "curve.svg")
    assert (tmp_path / "curve.svg").stat().st_size < 200_000


def test_several_runs_show_their_names(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / f"run-{number}", BLOCKS) for number in range(8)]  # more than there are colours
    plot_runs(runs, tmp_path / "curves.svg")
    shown = texts(tmp_path / "curves.svg")
    assert {f"run-{number}" for number in range(8)} <= set(shown)
    assert "Games that reach 2048" in shown


@pytest.mark.parametrize("name", ["_hidden", "costs $5", "$\\nosuch$", "a_b^c", "[bold]", "ends with <&>", "二千四十八"])
def test_a_run_may_have_any_name(name: str, tmp_path: Path) -> None:
    runs = [make_run(tmp_path / name, BLOCKS), make_run(tmp_path / "other", BLOCKS)]
    plot_runs(runs, tmp_path / "curves.svg")
    shown = texts(tmp_path / "curves.svg")
    assert "other" in shown
    assert escape(name, quote=False) in shown
    plot_runs(runs[:1], tmp_path / "curve.svg")
    assert any(text.startswith(escape(name, quote=False)) for text in texts(tmp_path / "curve.svg"))


@pytest.mark.parametrize("name", [b"not \xff text", b"rings \x07 a bell"])
def test_a_run_may_have_a_name_that_is_not_text(name: bytes, tmp_path: Path) -> None:
    run = make_run(tmp_path / os.fsdecode(name), BLOCKS)
    for kind in ("png", "svg"):
        plot_runs([run, make_run(tmp_path / kind, BLOCKS)], tmp_path / f"curves.{kind}")
        plot_runs([run], tmp_path / f"curve.{kind}")
    ElementTree.parse(tmp_path / "curves.svg")


@pytest.mark.parametrize(
    "records",
    [
        [block(1000, 3000.0, {"256": 1.0})],
        [block(1000, 0.0, {"4": 1.0})],
        [block(games, 3000.0, {"256": 1.0}) for games in (1000, 2000)],
    ],
    ids=["one block", "no score", "every game alike"],
)
def test_a_short_or_dull_run_is_drawn_without_a_warning(records: list[dict[str, Any]], tmp_path: Path) -> None:
    plot_runs([make_run(tmp_path / "run", records)], tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(PNG)


def test_a_run_of_one_game_is_drawn(game: Game, tmp_path: Path) -> None:
    figures = summarise(game, results([1000], [7]), 0.5).as_dict()
    record = {"kind": "block", **figures, "games": 1, "count": 1}
    plot_runs([make_run(tmp_path / "run", [record])], tmp_path / "curve.svg")
    assert "mean score" in texts(tmp_path / "curve.svg")


def test_the_same_metrics_give_the_same_picture(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", BLOCKS)
    for name in ("a.svg", "b.svg", "a.PNG", "b.PNG"):
        plot_runs([run], tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.PNG").read_bytes() == (tmp_path / "b.PNG").read_bytes()


def test_a_plot_replaces_the_one_before(tmp_path: Path) -> None:
    output = tmp_path / "curve.svg"
    output.write_text("old")
    plot_runs([make_run(tmp_path / "run", BLOCKS)], output)
    assert "mean score" in texts(output)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curve.svg", "run"]


@pytest.mark.parametrize("name", ["curve.gif", "curve", "curve.png.txt", ".png"])
def test_other_kinds_of_pictures_are_refused(name: str, tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", BLOCKS)
    with pytest.raises(InputError, match=r"\.png or \.svg") as caught:
        plot_runs([run], tmp_path / name)
    assert name in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_run_without_blocks_cannot_be_drawn(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", [])
    with pytest.raises(FileError, match="no finished block"):
        plot_runs([run], tmp_path / "curve.png")
    assert not (tmp_path / "curve.png").exists()
