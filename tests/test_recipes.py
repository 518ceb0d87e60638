"""Recipes: those of the package, a user's own, and what is refused."""

import json
import tomllib
from pathlib import Path

import pytest

from afterstate.api import train
from afterstate.errors import FileError, InputError
from afterstate.learning.options import TrainOptions
from afterstate.learning.plan import make_plan
from afterstate.learning.recipes import load_recipe, recipe_names, with_recipe
from afterstate.learning.runfolder import RunFolder
from commandline import NETWORK, check, run

OWN = """
about = "mine"
version = 3

[train]
game = "2048"
network = "0123,4567"
lambda = 0.25
games = "200"
block = 100
threads = 1
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text(OWN)
    return Path("own.toml")


# --- those of the package ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_can_be_used(name: str) -> None:
    """It says what it is, what to expect and how long it takes, and its options make a run."""
    recipe = load_recipe(name)
    assert recipe.about
    assert recipe.takes
    assert recipe.expect
    assert recipe.version >= 1
    plan = make_plan(TrainOptions(**with_recipe({"recipe": name})))
    assert plan.options.recipe == f"{name} {recipe.version}"
    assert plan.patterns


def test_the_recipes_that_the_documents_name_are_there() -> None:
    assert {"quick", "strong-1h", "paper-td0", "otd-tc", "threes-quick"} <= set(recipe_names())
    assert sum(name.startswith("report-") for name in recipe_names()) == 5


def test_they_are_what_they_are_named_after() -> None:
    paper = TrainOptions(**load_recipe("paper-td0").options)
    assert (paper.method, paper.lambda_, paper.target, paper.alpha) == ("td", 0.0, "afterstate", 0.08)
    guei = TrainOptions(**load_recipe("otd-tc").options)
    assert guei.optimistic == 320_000
    assert [(phase.method, phase.alpha) for phase in guei.phases()] == [("td", 0.1), ("td", 0.01), ("td", 0.001), ("tc", 1.0)]
    assert load_recipe("strong-1h").options["time"] == "56m"


# --- one's own -----------------------------------------------------------------------------------------------------------


def test_a_file_works_as_a_name_does(own: Path) -> None:
    done = train("2048", recipe=str(own), run="run", seed=5)
    config = RunFolder(done.folder).read_config()
    assert (config.network, config.lambda_, config.games, config.seed) == ("0123,4567", 0.25, 200, 5)
    assert config.recipe == "own 3"


def test_options_that_are_given_win(own: Path) -> None:
    options = with_recipe({"recipe": str(own), "lambda_": 0.75})
    assert options["lambda_"] == 0.75
    assert options["network"] == "0123,4567"


def test_another_end_replaces_that_of_the_recipe(own: Path) -> None:
    assert "games" not in with_recipe({"recipe": str(own), "time": "1s"})
    assert with_recipe({"recipe": str(own), "games": 7})["games"] == 7


def test_without_a_recipe_nothing_changes() -> None:
    assert with_recipe({"games": 5}) == {"games": 5}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[train]\ngame = '2048'\nspeed = 9\n", ["unknown key 'speed'"]),
        ("games = 10\n[train]\ngame = '2048'\n", ["unknown key 'games'", "under [train]"]),
        ("about = 'nothing'\n", ["no [train]"]),
        ("train = 5\n", ["no [train]"]),
        ("[train\n", ["not TOML"]),
        ("version = 'x'\n[train]\ngame = '2048'\n", ["version"]),
        ("about = 5\n[train]\ngame = '2048'\n", ["about must be text"]),
        ("[train]\ngames = 0\n", ["games must be at least 1"]),
        ("[train]\nlambda = 'x'\n", ["lambda must be of type float"]),
        ("[train]\nlambda = 2.0\n", ["lambda must be 0 to 1"]),
        ("[train]\nrecipe = 'quick'\n", ["cannot name another"]),
        ("[train]\nseed = true\n", ["seed must be of type int"]),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, words: list[str]) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(FileError) as caught:
        load_recipe(str(path))
    assert all(word in str(caught.value) for word in [str(path), *words]), str(caught.value)


def test_what_is_no_recipe_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no recipe is called 'qick'; there are: .*quick"):
        load_recipe("qick")
    with pytest.raises(FileError, match="cannot read the recipe"):
        load_recipe(str(tmp_path / "missing.toml"))
    (tmp_path / "long.toml").write_text("#" * 100_001)
    with pytest.raises(FileError, match="longer than 100000 bytes"):
        load_recipe(str(tmp_path / "long.toml"))
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="cannot read the recipe"):
        load_recipe(str(tmp_path / "binary.toml"))


# --- as commands ---------------------------------------------------------------------------------------------------------


def test_the_list_names_all_of_them() -> None:
    result = run("recipes")
    assert result.code == 0
    for name in recipe_names():
        recipe = load_recipe(name)
        assert name in result.out
        assert recipe.takes in result.out
    assert {row["name"] for row in run("recipes", "--json").json} == set(recipe_names())


def test_one_is_shown_as_it_is(tmp_path: Path) -> None:
    """The printed recipe is a valid recipe file."""
    result = run("recipes", "quick")
    assert tomllib.loads(result.out)["train"]["game"] == "2048"
    (tmp_path / "mine.toml").write_text(result.out)
    assert load_recipe(str(tmp_path / "mine.toml")).options == load_recipe("quick").options
    assert run("recipes", "quick", "--json").json["train"]["game"] == "2048"
    check(run("recipes", "slow"), 3, "slow", "quick")


def test_train_takes_a_recipe(own: Path) -> None:
    result = run("train", "--recipe", own, "--run", "run", "--games", "100", "--json")
    assert result.code == 0, result.err
    assert result.json["games"] == 100
    assert "own 3" in run("info", "run").out
    check(run("train", "--run", "run", "--resume", "--recipe", own), 3, "leave out --recipe")


def test_a_recipe_for_another_game_is_refused(own: Path) -> None:
    own.write_text(OWN.replace('"2048"', '"threes"'))
    check(run("train", "2048", "--recipe", own, "--run", "run"), 3, "is for threes, not for 2048")
    own.write_text(OWN + "speed = 9\n")
    check(run("train", "2048", "--recipe", own, "--run", "run"), 4, "unknown key 'speed'")
    assert not Path("run").exists()


def test_the_figures_of_the_learning_are_in_the_metrics(own: Path) -> None:
    assert run("train", "2048", "--network", NETWORK, "--games", "200", "--block", "100", "--run", "run").code == 0
    lines = [json.loads(line) for line in Path("run/metrics.jsonl").read_text().splitlines()]
    for line in lines:
        assert line["mean_rate"] == pytest.approx(0.1)
        assert 1 < line["mean_error"] < 1e5
        assert 0 <= line["out_of_range"] < 0.9
        assert line["moves_per_s"] > 0
