"""The commands that ask a run or a model: eval, move, plot, report and info."""

import re
from pathlib import Path

import pytest

from afterstate.cli.main import Exit
from afterstate.network.patterns import PRESETS
from commandline import BOARD, OVER, PNG, check, done, read_metrics, run

# --- eval ------------------------------------------------------------------------------------------------------------


def test_eval(small: Path) -> None:
    out = done("eval", small, "--games", "100", "--threads", "1").out
    assert out.startswith(f"{small / 'checkpoints' / 'best.safetensors'}, depth 1, seed 1\n")
    assert re.search(r"^mean score +[\d,]+\.\d ± [\d,]+\.\d +\(95 %, 100 games\)", out, re.MULTILINE)
    assert re.search(r"^2048 reached +[\d.]+% +\([\d.]+% to [\d.]+%\)", out, re.MULTILINE)
    assert re.search(r"^ +128 +[\d.]+% +[\d.]+%", out, re.MULTILINE)


def test_eval_as_json(small: Path) -> None:
    model = small / "checkpoints" / "last.safetensors"
    found = done("eval", model, "--games", "0.1k", "--seed", "5", "--json").json
    assert (found["model"], found["max_depth"], found["seed"], found["games"]) == (str(model), 1, 5, 100)
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
    assert (found["max_depth"], found["games"]) == (2, 3)


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


def test_eval_replaces_a_file_only_if_it_is_told_to(small: Path, tmp_path: Path) -> None:
    path = tmp_path / "games.txt"
    path.write_text("mine")
    command = ("eval", small, "--games", "2", "--save", path)
    check(run(*command), Exit.FILE, f"{path} exists", "--force")
    assert path.read_text() == "mine"
    done(*command, "--force")
    assert len(path.read_text().splitlines()) == 2


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
    assert (found["board"], found["max_depth"]) == (BOARD, depth)
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


# --- report ----------------------------------------------------------------------------------------------------------


def test_report_of_a_run(copy: Path, tmp_path: Path) -> None:
    assert done("report", copy).out == f"wrote {copy / 'report' / 'report.html'}\n"
    assert done("report", copy, "--out", tmp_path / "page.html").out == f"wrote {tmp_path / 'page.html'}\n"
    pages = [(copy / "report" / "report.html").read_text(), (tmp_path / "page.html").read_text()]
    assert pages[0] == pages[1]
    assert ">copy</h1>" in pages[0]


# --- info ------------------------------------------------------------------------------------------------------------


def test_info_of_a_model(small: Path) -> None:
    model = small / "checkpoints" / "last.safetensors"
    out = done("info", model).out
    for part in (str(model), "2048 4x4, rules standard", "2 patterns x 8 isomorphisms = 16 look-ups", "131,072", "300 games"):
        assert part in out
    assert re.search(r"^0123 +4567 *\n■ ■ ■ ■ +· · · · *\n· · · · +■ ■ ■ ■ *\n", out, re.MULTILINE)


def test_info_of_a_model_as_json(small: Path) -> None:
    found = done("info", small / "checkpoints" / "last.safetensors", "--json").json
    assert (found["game"], found["rules"], found["size"], found["target"]) == ("2048", "standard", "4x4", "afterstate")
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
    best = max(read_metrics(small), key=lambda record: float(record["mean"]))
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


def test_info_lists_and_draws_the_isomorphs(small: Path) -> None:
    out = done("info", "0123,4567,0126", "--isomorphs").out
    assert "0123: 4 places, each looked up 2 times\n" in out
    assert "0126: 8 places\n" in out
    assert re.search(r"^0123 +fedc +c840 +37bf *\n■ ■ ■ ■ +· · · · +■ · · · +· · · ■ *\n", out, re.MULTILINE)
    own = re.findall(r"^--network (\S+) --symmetry 1$", out, re.MULTILINE)
    assert len(own) == 1
    assert len(own[0].split(",")) == 4 + 4 + 8
    assert "16 tables, 1,048,576 (4 MiB) weights" in out
    found = done("info", "0123,4567,0126", "--isomorphs", "--json").json
    assert found["isomorphs"]["4567"] == {"4567": 2, "ba98": 2, "d951": 2, "26ae": 2}
    assert (found["symmetry"], ",".join(found["own_tables"])) == (8, own[0])
    assert done("info", small, "--isomorphs", "--json").json["own_tables"] == found["own_tables"][:8]
    assert "0123: 1 place\n" in done("info", "8x4", "--isomorphs").out  # a preset without isomorphisms


def test_the_listed_isomorphs_can_be_trained(small: Path, tmp_path: Path) -> None:
    """The list, as it is printed, trains a network in which no two look-ups share a table."""
    line = done("info", small, "--isomorphs").out.splitlines()[-1]
    done("train", "2048", *line.split(), "--games", "10", "--threads", "1", "--run", tmp_path / "own")
    found = done("info", tmp_path / "own", "--json").json
    assert (len(found["patterns"]), found["symmetry"], found["lookups"]) == (8, 1, 8)
    assert done("eval", tmp_path / "own", "--games", "10", "--json").json["mean"] > 0


def test_info_draws_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done("info", "4x6", "--svg", "patterns.svg")
    plain = Path("patterns.svg").read_text()
    done("info", "4x6", "--isomorphs", "--svg", "patterns.svg")  # our own drawing may be replaced
    assert len(Path("patterns.svg").read_text()) > 4 * len(plain)
    Path("mine.svg").write_text("<svg>mine</svg>")
    check(run("info", "4x6", "--svg", "mine.svg"), Exit.FILE, "mine.svg", "another name")
    assert Path("mine.svg").read_text() == "<svg>mine</svg>"


def test_info_without_an_argument_lists_the_networks() -> None:
    out = done("info").out
    for name, preset in PRESETS.items():
        assert re.search(rf"^{re.escape(name)} +{preset.patterns} *$", out, re.MULTILINE)
    assert done("info", "--json").json == {name: list(preset.names) for name, preset in PRESETS.items()}
