"""Models that come with the package: found by name, listed with their strength, described by their card."""

import json
import shutil
from pathlib import Path

import pytest

import afterstate as af
from afterstate.cli.main import Exit
from afterstate.errors import FileError, ModelError
from afterstate.games.game import make
from afterstate.learning.options import TrainOptions
from afterstate.learning.runfolder import find_model
from afterstate.learning.trainer import train
from afterstate.network import shipped
from afterstate.network.compactfile import save_compact
from afterstate.network.modelfile import load_model
from afterstate.web.library import Library
from commandline import BOARD, check, done, run

CARD = """
about = "a small network"
games = 200
hours = 0.001
seed = 1
made = ["afterstate train 2048 --network 012,345 --games 200 --run runs/small", "afterstate convert runs/small 2048.afs"]
[[strength]]
how = "depth 1"
mean = 2500.0
interval = 120.5
games = 1000
reached = { "256" = 0.75 }
ms = 0.012
command = "afterstate eval 2048 --games 1k --seed 2"
[[strength]]
how = "10 ms a move"
mean = 9000.0
interval = 300.0
games = 100
command = "afterstate eval 2048 --games 100 --seed 2 --move-time 10ms"
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two small models and their cards."""
    folder = tmp_path_factory.mktemp("shipped")
    for name, game in (("2048", "2048"), ("threes", "threes")):
        options = TrainOptions(game=game, network="012,345", games=200, block=100, threads=1)
        network = train(options, run=folder / "runs" / name).network
        (folder / "models").mkdir(exist_ok=True)
        save_compact(network, folder / "models" / f"{name}.afs")
        (folder / "models" / f"{name}.toml").write_text(CARD)
    return folder


@pytest.fixture(autouse=True)
def models(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The models of the package are these; the current folder and the cache are empty."""
    folder = Path(shutil.copytree(made / "models", tmp_path / "models"))
    monkeypatch.setattr(shipped, "FOLDER", folder)
    monkeypatch.setenv("AFTERSTATE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return folder


def test_a_name_is_a_model_everywhere(models: Path) -> None:
    assert find_model("2048") == models / "2048.afs"
    assert af.load("2048").game.name == "2048"
    assert af.load("threes").game.name == "threes"
    assert len(json.loads(done("move", "2048", BOARD, "--json").out)["values"]) == 4
    assert json.loads(done("eval", "threes", "--games", "3", "--threads", "1", "--json").out)["games"] == 3
    done("convert", "2048", "plain.safetensors")
    assert (af.load("plain.safetensors").weights == af.load("2048").weights).all()
    assert af.train(from_="2048", games=5, threads=1, run="on").network.patterns == ("012", "345")


def test_a_file_or_a_run_of_that_name_comes_first(made: Path, models: Path) -> None:
    Path("2048").mkdir()
    assert find_model("2048") == models / "2048.afs", "a folder that is no run does not count"
    shutil.copytree(made / "runs" / "2048", "2048", dirs_exist_ok=True)
    assert find_model("2048") == Path("2048/checkpoints/best.safetensors")
    shutil.copy(models / "2048.afs", "threes")
    assert find_model("threes") == Path("threes")
    assert "comes first" in done("models", "--help").out


def test_an_unknown_name_lists_those_there_are() -> None:
    for command in (("eval", "2049"), ("move", "2049", BOARD), ("analyse", "2049")):
        check(run(*command), Exit.FILE, "no model or run 2049", "the models of the package are 2048, threes")
    with pytest.raises(FileError, match="are 2048, threes"):
        af.load("nothing")


def test_a_model_of_another_game_is_refused_with_both_names(models: Path) -> None:
    with pytest.raises(ModelError, match=r"model for make\('2048'.*not for make\('threes'"):
        load_model(find_model("2048"), game=make("threes"))
    with pytest.raises(ModelError, match=r"rules='tcg2022'.*not for.*rules='official'"):
        load_model(find_model("threes"), game=make("threes", rules="official"))
    check(run("train", "threes", "--from", "2048", "--run", "x"), Exit.INPUT, "is a model for 2048, not for threes")


def test_models_lists_strength_and_size(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = json.loads(done("models", "--json").out)
    assert [(row["name"], row["game"], row["rules"]) for row in told] == [
        ("2048", "2048", "standard"), ("threes", "threes", "tcg2022")
    ]  # fmt: skip
    assert told[0]["bytes"] == (models / "2048.afs").stat().st_size
    assert told[0]["card"]["strength"][0]["mean"] == 2500
    text = done("models").out
    assert "depth 1: 2,500 ± 120 (1k games), 256 in 75.0%, 0.012 ms a move" in text
    assert "10 ms a move: 9,000 ± 300 (100 games)" in text
    monkeypatch.setattr(shipped, "FOLDER", models / "none")
    assert "no models come with this version" in done("models").out
    assert json.loads(done("models", "--json").out) == []


def test_info_prints_the_card() -> None:
    text = done("info", "2048").out
    for words in (
        "a small network",
        "200 games",
        "seed 1",
        "afterstate convert runs/small",
        "depth 1: 2,500",
        "--move-time 10ms",
    ):
        assert words in text
    assert json.loads(done("info", "2048", "--json").out)["card"]["hours"] == 0.001


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("seed = 1", "seed = true"), "seed is True"),
        (("hours = 0.001", 'hours = "long"'), "hours is 'long'"),
        (("mean = 2500.0", "mean = nan"), "nan"),
        (("ms = 0.012", "milliseconds = 3"), "unknown key 'milliseconds'"),
        (("interval = 300.0\n", ""), "lacks interval"),
        (("[[strength]]", "[[strength"), "cannot read"),
    ],
)
def test_a_wrong_card_is_refused(models: Path, change: tuple[str, str], words: str) -> None:
    (models / "2048.toml").write_text(CARD.replace(*change))
    with pytest.raises(FileError, match=words):
        shipped.shipped_models()[0].read_card()
    (models / "2048.toml").unlink()
    check(run("models"), Exit.FILE, "2048.toml")


def test_the_page_has_them(made: Path, models: Path) -> None:
    paths = [model.path for model in shipped.shipped_models()]
    alone = Library(Path("runs"), shipped=paths).models()
    assert [model.name for model in alone.models] == ["2048", "threes"]
    assert alone.default == alone.models[0].id
    library = Library(made / "runs", [models / "2048.afs"], shipped=paths)
    assert library.models().models[0].id == alone.models[0].id, "the given one is the first"
    assert len(library.models().models) == 4, "the given one is not listed twice"
    assert library.network(alone.models[1].id).game.name == "threes"
