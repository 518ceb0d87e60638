"""Training options: defaults, schedules, what is refused, what a resume may change, and the file that keeps them."""

import dataclasses
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from afterstate.errors import FileError, InputError
from afterstate.learning.options import Phase, TrainOptions, check_rate, normalise, option_type
from afterstate.learning.plan import make_plan
from afterstate.learning.runfolder import RunFolder, find_model, options_as_dict

EVERY_OPTION = [spec.name for spec in dataclasses.fields(TrainOptions)]


# --- defaults and texts ----------------------------------------------------------------------------------------------


def test_without_games_and_time_there_are_100k_games() -> None:
    assert TrainOptions().games == 100_000
    assert TrainOptions(time=60.0).games is None
    assert TrainOptions(time=60.0, games=5).games == 5


def test_counts_and_times_may_be_texts() -> None:
    options = TrainOptions(**normalise({"games": "2k", "block": "1k", "eval_every": "1k", "eval_games": "50", "time": "10m"}))
    assert (options.games, options.block, options.eval_every, options.eval_games) == (2000, 1000, 1000, 50)
    assert options.time == 600.0


def test_normalise_leaves_what_it_got_as_it_was() -> None:
    given = {"games": "2k", "seed": 3}
    assert normalise(given) == {"games": 2000, "seed": 3}
    assert given == {"games": "2k", "seed": 3}


def test_every_option_has_a_help_text() -> None:
    assert all(spec.metadata["help"] for spec in dataclasses.fields(TrainOptions))


def test_what_a_resume_may_change() -> None:
    free = [spec.name for spec in dataclasses.fields(TrainOptions) if spec.metadata["free"]]
    assert free == ["games", "time", "threads", "keep", "save_every", "tensorboard"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("game", str), ("rules", str), ("symmetry", int), ("order", str), ("alpha", float), ("games", int), ("time", float)],
)
def test_the_type_of_an_option(name: str, kind: type) -> None:
    assert option_type(name) is kind


@pytest.mark.parametrize("name", EVERY_OPTION)
def test_the_type_of_an_option_is_a_plain_one(name: str) -> None:
    assert option_type(name) in {str, int, float, bool}


@pytest.mark.parametrize("given", [{"games": "1000G"}, {"time": "1.03m"}, {"time": "9ms"}])
def test_options_may_be_made_from_options(given: dict[str, Any]) -> None:
    """Options from the command line survive `replace`, which every run uses."""
    options = TrainOptions(**given)
    assert dataclasses.replace(options) == options


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"games": 0}, ["games", "at least 1", "0"]),
        ({"games": -5}, ["games", "-5"]),
        ({"games": "abc"}, ["games", "abc", "100k"]),
        ({"block": 0}, ["block", "at least 1"]),
        ({"eval_every": -1}, ["eval-every", "at least 0"]),
        ({"save_every": 0}, ["save-every", "more than 0"]),
        ({"eval_games": 0}, ["eval-games", "at least 1"]),
        ({"time": "0"}, ["time", "more than 0"]),
        ({"time": "5x"}, ["time", "5x", "10m"]),
        ({"alpha": 0.0}, ["alpha", "above 0", "0.0"]),
        ({"alpha": -1.0}, ["alpha", "-1.0"]),
        ({"alpha": float("nan")}, ["alpha", "nan"]),
        ({"alpha": float("inf")}, ["alpha", "inf"]),
        ({"alpha": 101.0}, ["alpha", "100", "101"]),
        ({"seed": -1}, ["seed", "-1"]),
        ({"seed": 2**63}, ["seed", "2**63"]),
        ({"method": "magic"}, ["method", "td", "magic"]),
        ({"target": "both"}, ["target", "afterstate", "state", "both"]),
        ({"order": "sideways"}, ["order", "forward", "backward", "sideways"]),
    ],
)
def test_a_wrong_value_is_refused(given: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        TrainOptions(**given)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize("alpha", [1e-9, 0.1, 1, 100])
def test_a_rate_that_can_learn(alpha: float) -> None:
    check_rate(alpha)


def test_options_are_by_name_and_final() -> None:
    with pytest.raises(TypeError):
        TrainOptions("2048")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="nosuch"):
        TrainOptions(nosuch=1)  # type: ignore[call-arg]
    with pytest.raises(dataclasses.FrozenInstanceError):
        TrainOptions().seed = 2  # type: ignore[misc]


# --- schedules -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schedule", "steps"),
    [
        (None, []),
        ("", []),
        ("500:0.01", [(500, 0.01)]),
        ("50%:0.01", [(500, 0.01)]),
        ("50%:0.01,75%:0.001", [(500, 0.01), (750, 0.001)]),
        (" 50% : 0.01 , 75% : 0.001 ", [(500, 0.01), (750, 0.001)]),
        ("0.5k:1e-2,75%:1e-3", [(500, 0.01), (750, 0.001)]),
        ("0.01%:0.5", [(1, 0.5)]),  # never before the second game
        ("5k:0.01", [(5000, 0.01)]),  # after the end: allowed, the run may go on
    ],
)
def test_rates(schedule: str | None, steps: list[tuple[int, float]]) -> None:
    options = TrainOptions(alpha=0.2, games=1000, schedule=schedule)
    assert options.phases() == [Phase(0, False, "td", 0.2), *(Phase(game, False, "td", alpha) for game, alpha in steps)]


def test_game_numbers_need_no_games() -> None:
    options = TrainOptions(time=60.0, schedule="1k:0.01")
    assert options.phases() == [Phase(0, False, "td", 0.1), Phase(1000, False, "td", 0.01)]


def test_percent_of_a_run_that_ends_by_time_is_time() -> None:
    options = TrainOptions(time=60.0, schedule="50%:0.01,75%:0.001")
    assert options.phases()[1:] == [Phase(30.0, True, "td", 0.01), Phase(45.0, True, "td", 0.001)]
    with pytest.raises(InputError, match="not both"):
        TrainOptions(time=60.0, schedule="50%:0.01,75k:0.001")


@pytest.mark.parametrize(
    ("schedule", "steps", "coherent"),
    [
        ("50%:tc", [("tc", 1.0)], True),
        ("50%:tc:0.5", [("tc", 0.5)], True),
        ("50%:0.01,90%:tc,95%:0.1", [("td", 0.01), ("tc", 1.0), ("tc", 0.1)], True),
        ("50%:td:0.05", [("td", 0.05)], False),
    ],
)
def test_a_schedule_may_change_the_rule(schedule: str, steps: list[tuple[str, float]], coherent: bool) -> None:
    options = TrainOptions(games=1000, schedule=schedule)
    assert [(phase.method, phase.alpha) for phase in options.phases()[1:]] == steps
    assert ("tc" in make_plan(options).rules) is coherent


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ("garbage", ["garbage", "game:alpha"]),
        ("50%", ["'50%'", "game:alpha"]),
        ("50%:", ["'50%:'", "game:alpha"]),
        ("50%:x", ["50%:x", "game:alpha"]),
        ("50%:nan", ["50%:nan"]),
        ("500:0.01:7", ["500:0.01:7"]),
        ("50%:sarsa:0.1", ["50%:sarsa:0.1", "game:rule:alpha"]),
        ("50%:tc:x", ["50%:tc:x"]),
        (":0.01", ["step of the schedule"]),
        ("x:0.01", ["step of the schedule", "'x'"]),
        ("x%:0.01", ["x%", "between 0% and 100%"]),
        ("0%:0.01", ["0%", "between 0% and 100%"]),
        ("100%:0.01", ["100%", "between"]),
        ("-5%:0.01", ["-5%", "between"]),
        ("0:0.01", ["at least 1"]),
        ("50%:0", ["alpha", "above 0"]),
        ("50%:-1", ["alpha", "-1"]),
        ("50%:inf", ["alpha", "inf"]),
        ("50%:0.01,25%:0.001", ["rising order", "50%:0.01,25%:0.001"]),
        ("50%:0.01,50%:0.001", ["rising order"]),
        ("500:0.01,50%:0.001", ["rising order"]),
    ],
)
def test_a_wrong_schedule_is_refused(schedule: str, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        TrainOptions(games=1000, schedule=schedule)
    assert all(word in str(caught.value) for word in words), str(caught.value)


# --- what a resume may change ----------------------------------------------------------------------------------------


def test_the_end_and_the_threads_may_change() -> None:
    options = TrainOptions(games=1000, threads=1)
    assert options.changed({}) == options
    assert options.changed({"games": 2000, "threads": 4}) == dataclasses.replace(options, games=2000, threads=4)
    assert options.changed({"time": 60.0}).time == 60.0


def test_saying_again_what_was_said_is_no_change() -> None:
    options = TrainOptions(alpha=0.2, seed=7, network="0123")
    assert options.changed({"alpha": 0.2, "seed": 7, "network": "0123"}) == options


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"alpha": 0.2}, ["alpha 0.1", "alpha 0.2", "leave --alpha out"]),
        ({"seed": 2}, ["seed 1", "seed 2", "leave --seed out"]),
        ({"game": "threes"}, ["game 2048", "game threes", "leave the game out"]),
        ({"network": "8x6"}, ["network 4x6", "network 8x6"]),
        ({"symmetry": 4}, ["symmetry 8", "symmetry 4"]),
        ({"game": "threes"}, ["game 2048", "game threes"]),
        ({"size": "3x3"}, ["size 4x4", "size 3x3"]),
        ({"target": "state"}, ["target afterstate", "target state"]),
        ({"order": "backward"}, ["order forward", "order backward"]),
        ({"block": 7}, ["block 1000", "block 7"]),
        ({"eval_every": 500}, ["eval-every", "leave --eval-every out"]),
        ({"schedule": "50%:0.01"}, ["schedule", "50%:0.01"]),
    ],
)
def test_what_was_learned_cannot_change(given: dict[str, Any], words: list[str]) -> None:
    options = make_plan(TrainOptions(network="4x6", symmetry=8, games=1000)).options
    with pytest.raises(InputError) as caught:
        options.changed(given)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_wrong_change_is_refused() -> None:
    with pytest.raises(InputError, match="games must be at least 1"):
        TrainOptions().changed({"games": 0})


def test_percent_holds_the_games_fast() -> None:
    options = TrainOptions(games=1000, schedule="50%:0.01")
    assert options.changed({"games": 1000}) == options
    with pytest.raises(InputError, match=r"percent of the run, so its --games or --time cannot change"):
        options.changed({"games": 2000})
    assert TrainOptions(games=1000, schedule="500:0.01").changed({"games": 2000}).games == 2000


# --- defaults that depend on others ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "network", "symmetry"),
    [
        ({}, "4x6", 8),
        ({"network": "8x4"}, "8x4", 1),  # the preset's own
        ({"network": "8x4", "symmetry": 8}, "8x4", 8),
        ({"network": "0123"}, "0123", 8),
        ({"size": "2x2"}, "0123,01,0", 8),
        ({"size": "2x3"}, "012345,0134,012,01,03,0,1", 4),
        ({"size": "3x2"}, "012345,0123,024,02,01,0,2", 4),
        ({"size": "3x3"}, "012345,012478", 8),
    ],
)
def test_a_plan_fills_in_the_network(given: dict[str, Any], network: str, symmetry: int) -> None:
    options = make_plan(TrainOptions(**given)).options
    assert (options.network, options.symmetry, options.rules) == (network, symmetry, "standard")


def test_a_plan_makes_a_block_no_longer_than_the_run() -> None:
    assert make_plan(TrainOptions(games=10)).options.block == 10
    assert make_plan(TrainOptions(games=5000)).options.block == 1000
    assert make_plan(TrainOptions(time=60.0)).options.block == 1000


def test_a_plan_twice_is_once() -> None:
    plan = make_plan(TrainOptions(games=10))
    assert make_plan(plan.options) == plan


# --- the file --------------------------------------------------------------------------------------------------------

KEPT = [
    {},
    {"alpha": 1},
    {"alpha": 1e-7},
    {"time": "10m"},
    {"time": "1.03m"},
    {"time": "0.01ms"},
    {"games": "1000G"},
    {"seed": 2**63 - 1},
    {"size": "2x2", "symmetry": 4, "target": "state", "order": "backward"},
    {"network": "0123,4567", "schedule": "50%:0.01,75%:0.001", "games": "1k", "eval_every": 100, "eval_games": 7, "threads": 3},
]


def new_run(path: Path, options: TrainOptions) -> RunFolder:
    folder = RunFolder.plan(path, options)
    folder.make(options)
    return folder


@pytest.mark.parametrize("given", KEPT, ids=str)
def test_a_config_reads_as_it_was_written(given: dict[str, Any], tmp_path: Path) -> None:
    options = TrainOptions(**given)
    folder = new_run(tmp_path / "run", options)
    assert folder.read_config() == options
    assert tomllib.loads(folder.config.read_text()) == options_as_dict(options)


def test_a_config_names_every_option_with_its_help(tmp_path: Path) -> None:
    text = new_run(tmp_path / "run", TrainOptions()).config.read_text()
    for spec in dataclasses.fields(TrainOptions):
        assert re.search(rf"^(# )?{spec.name.rstrip('_')} =.* # {re.escape(spec.metadata['help'])}$", text, re.MULTILINE)


def test_a_config_is_replaced_whole(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run", TrainOptions(seed=1))
    folder.write_config(TrainOptions(seed=2))
    assert folder.read_config().seed == 2
    assert sorted(path.name for path in folder.path.iterdir()) == ["checkpoints", "config.toml", "report"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("colour = 3", ["unknown key", "'colour'"]),
        ("seed = 1.5", ["seed", "int", "1.5"]),
        ("seed = true", ["seed", "int", "True"]),
        ('alpha = "1/x"', ["alpha is a number", "'1/x'"]),
        ("game = 2048", ["game", "str", "2048"]),
        ("network = [1, 2]", ["network", "str"]),
        ("alpha = 0", ["alpha", "above 0"]),
        ("alpha = nan", ["alpha", "nan"]),
        ("seed = -1", ["seed", "-1"]),
        ('order = "sideways"', ["order", "sideways"]),
        ('schedule = "garbage"', ["garbage"]),
        ("seed = ", ["cannot read"]),
        ("seed = 1\nseed = 2", ["cannot read"]),
        ("= = =", ["cannot read", "line 1"]),
    ],
)
def test_a_wrong_config_is_refused(line: str, words: list[str], tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run", TrainOptions())
    folder.config.write_text(line)
    with pytest.raises(FileError) as caught:
        folder.read_config()
    assert all(word in str(caught.value) for word in [str(folder.config), *words]), str(caught.value)


def test_a_config_that_is_no_text_is_refused(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run", TrainOptions())
    folder.config.write_bytes(b"seed = 1 # \xff\xfe\n")
    with pytest.raises(FileError, match=r"config\.toml"):
        folder.read_config()


# --- the folder ------------------------------------------------------------------------------------------------------


def test_a_run_may_be_made_in_an_empty_folder(tmp_path: Path) -> None:
    assert new_run(tmp_path, TrainOptions()).config.is_file()


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(FileError, match=r"exists and is not a run.*--run"):
        new_run(tmp_path, TrainOptions())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


RECORD: dict[str, Any] = {
    "kind": "block", "games": 10, "count": 10, "mean": 5.0, "interval": None, "win_tile": 2048, "win_rate": 0.0,
    "reached": {"8": 1.0},
}  # fmt: skip


def test_metrics_are_kept_line_by_line(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run", TrainOptions())
    assert folder.read_metrics() == []
    records = [RECORD | {"games": games} for games in (10, 20, 30)]
    for record in records:
        folder.append(record)
    assert folder.read_metrics() == records


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run", TrainOptions())
    folder.append(RECORD)
    with open(folder.metrics, "a") as file:
        file.write('{"kind": "block", "ga')
    assert folder.read_metrics() == [RECORD]


def test_a_run_without_a_checkpoint_has_no_model(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run", TrainOptions())
    with pytest.raises(FileError, match="has no checkpoint yet"):
        find_model(folder.path)
    folder.last.touch()
    assert find_model(folder.path) == folder.last
    folder.best.touch()
    assert find_model(folder.path) == folder.best
    assert find_model(str(folder.last)) == folder.last
