"""Training on the command line: what it prints, and the folder that it leaves behind."""

import re
import tomllib
from pathlib import Path

import pytest

from afterstate.cli.main import Exit
from commandline import BLOCK, NETWORK, PNG, SMALL, TRAIN, contents, done, learned, read_metrics, run

TILE = re.compile(r"\t(\d+)\t([\d.]+)%\t\(([\d.]+)%\)\n")


def test_train_prints_blocks_in_the_course_format(tmp_path: Path) -> None:
    result = done(*SMALL, "--run", tmp_path / "run")
    blocks = list(BLOCK.finditer(result.out))
    assert [int(block["games"]) for block in blocks] == [100, 200, 300]
    rate = "alpha 0.1: each of the 16 weights of a board moves by 0.00625 of the error\n\n"
    assert result.out.startswith(rate + blocks[0][0])
    for block, record in zip(blocks, read_metrics(tmp_path / "run"), strict=True):
        assert int(block["mean"]) == round(record["mean"])
        assert int(block["max"]) == record["max"]
        assert int(block["ops"]) == pytest.approx(2 * record["moves_per_s"], abs=1)
        assert block["slides"] is None, "slides and tiles are not timed apart"
        tiles = [(int(tile), float(reached), float(ended)) for tile, reached, ended in TILE.findall(block["rates"])]
        assert tiles[0][1] == 100.0
        assert sum(ended for _, _, ended in tiles) == pytest.approx(100.0)
        assert [tile for tile, _, _ in tiles] == [int(tile) for tile, ended in record["ended"].items() if ended > 0]
        assert [ended / 100 for _, _, ended in tiles] == pytest.approx([ended for ended in record["ended"].values() if ended])
    rest = result.out[blocks[-1].end() :]
    assert re.match(r"(new best: [^\n]+\n\n)?done at 300 games", rest)
    assert f"measure: afterstate eval {tmp_path / 'run'}" in rest


def test_the_folder_of_a_run(small: Path) -> None:
    files = {"config.toml", "metrics.jsonl", "metrics.csv", "games.bin", "report/curve.png"}
    assert set(contents(small)) == files | {"checkpoints/last.safetensors", "checkpoints/best.safetensors"}
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
    assert found["best"] == max(metrics, key=lambda record: float(record["mean"]))


def test_train_quietly(tmp_path: Path) -> None:
    result = done(*SMALL, "--run", tmp_path / "run", "--quiet", "--eval-every", "100", "--eval-games", "5")
    assert "\t" not in result.out
    assert "learning off" not in result.out
    assert "done at 300 games" in result.out
    assert run(*SMALL, "--run", tmp_path / "other", "--quiet", "--json").error == ""


def test_train_with_evaluations(tmp_path: Path) -> None:
    result = done(*SMALL, "--run", tmp_path / "run", "--eval-every", "150", "--eval-games", "20")
    told = re.findall(r"^learning off at (\d+) games: mean (\d+) ± \d+ \(20 games\)$", result.out, re.MULTILINE)
    records = [record for record in read_metrics(tmp_path / "run") if record["kind"] == "eval"]
    assert told == [(str(record["games"]), f"{record['mean']:.0f}") for record in records]
    assert [(record["games"], record["count"]) for record in records] == [(150, 20), (300, 20)]
    assert len(BLOCK.findall(result.out)) == 5
    assert re.search(r"^ *300 +[\d,]+ +± [\d,]+", result.out, re.MULTILINE), "a table at the end"


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
    assert told["target"] == kept.get("target", "afterstate")
    assert told["symmetry"] == kept.get("symmetry", 8)
    assert told["size"] == kept.get("size", "4x4")
    assert done("eval", folder, "--games", "3", "--json").json["games"] == 3


def test_train_with_the_default_network_of_a_size(tmp_path: Path) -> None:
    done(*SMALL[:2], "--size", "2x2", "--games", "20", "--threads", "1", "--run", tmp_path / "run")
    assert tomllib.loads((tmp_path / "run" / "config.toml").read_text())["network"] == "0123,01,0"


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


# --- what is said on the way -----------------------------------------------------------------------------------------


def test_a_new_best_is_told_as_it_happens(tmp_path: Path) -> None:
    result = done(*SMALL, "--run", tmp_path / "run")
    told = re.findall(r"^new best: mean ([\d,]+)(?: > ([\d,]+))?, win rate .*, saved to best.safetensors$", result.out, re.M)
    means = [record["mean"] for record in read_metrics(tmp_path / "run")]
    tops = [mean for number, mean in enumerate(means) if mean > max([0, *means[:number]])]
    assert [new for new, _ in told] == [f"{mean:,.0f}" for mean in tops]
    assert [old for _, old in told] == ["", *(f"{mean:,.0f}" for mean in tops[:-1])]


def test_evaluations_that_will_never_come_are_told(tmp_path: Path) -> None:
    words = "there will be no evaluation: --eval-every 1,000 is beyond the 300 games of this run\n"
    assert done(*SMALL, "--run", tmp_path / "run", "--eval-every", "1k").out.startswith(words)
    assert "no evaluation" not in done(*SMALL, "--run", tmp_path / "other", "--eval-every", "300", "--eval-games", "5").out


def test_the_evaluations_of_a_recipe_can_be_turned_off(tmp_path: Path) -> None:
    recipe = tmp_path / "mine.toml"
    lines = ["[train]", 'game = "2048"', f'network = "{NETWORK}"', "games = 300", "block = 100", "eval_every = 100"]
    recipe.write_text("\n".join(lines))
    done("train", "--recipe", recipe, "--threads", "1", "--eval-every", "0", "--run", tmp_path / "run")
    assert {record["kind"] for record in read_metrics(tmp_path / "run")} == {"block"}
    done("train", "--run", tmp_path / "run", "--resume", "--games", "310")


@pytest.mark.parametrize("block", ["1", "2"])
def test_train_with_the_smallest_blocks(block: str, tmp_path: Path) -> None:
    """One bad game is not a collapse, and one lucky game is not the best network."""
    done(*TRAIN, "--games", "600", "--block", block, "--run", tmp_path / "run", "--quiet")
    blocks = read_metrics(tmp_path / "run")
    assert len(blocks) == 600 / int(block)
    best = done("info", tmp_path / "run", "--json").json["run"]["best"]
    assert best["count"] == 100
    assert best["mean"] < max(record["mean"] for record in blocks)
