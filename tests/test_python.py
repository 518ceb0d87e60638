"""Training from Python: from a network, with functions, without a folder, on a game that is an object."""

import importlib.metadata
import os
import pickle
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import afterstate as af
from afterstate.bitboard import Shape
from afterstate.games.results import Summary
from afterstate.games.twenty48 import Twenty48Game
from afterstate.learning.runfolder import RunFolder
from afterstate.network.network import Network
from commandline import check, done, run

# 50 games after the last block, so that the last network is not the best one
SMALL: dict[str, Any] = {"network": "0123,4567", "games": 450, "block": 100, "threads": 1, "seed": 3}


class Uphill(Twenty48Game):
    """2048 where only merges up and down score. It is called 2048, but it is not."""

    symmetric = False

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.tables = self.tables._replace(rows=self.tables.rows & ~np.uint64(0xFFFFFF << 32))


class Named(Uphill):
    """The same, with a name of its own."""

    name = "uphill"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> af.Run:
    """A run with a folder."""
    return af.train("2048", run=tmp_path_factory.mktemp("python") / "kept", eval_every=200, eval_games=20, **SMALL)


def measured(of: af.Run) -> list[dict[str, Any]]:
    """The metrics without times."""
    clock = {"seconds", "moves_per_s", "training_seconds"}
    return [{key: value for key, value in record.items() if key not in clock} for record in of.metrics]


def test_the_version_is_that_of_the_package() -> None:
    assert af.__version__ == importlib.metadata.version("afterstate")
    assert "__version__" in dir(af)


# --- without a folder ------------------------------------------------------------------------------------------------------


def test_a_run_without_a_folder_is_the_same_run(kept: af.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    light = af.train("2048", run=False, eval_every=200, eval_games=20, save_every=0.001, **SMALL)
    assert os.listdir(tmp_path) == []
    assert np.array_equal(light.last.weights, kept.last.weights)
    assert np.array_equal(light.network.weights, kept.network.weights)
    assert light.network.training.block == kept.network.training.block
    assert measured(light) == measured(kept)
    for name in ("scores", "moves", "largest"):
        assert np.array_equal(getattr(light.episodes, name), getattr(kept.episodes, name))
    assert (light.games, light.stopped, light.dropped) == (450, False, 0)
    assert light.last.training.games == 450
    with pytest.raises(af.InputError, match=r"has no folder: .* run.network.save"):
        _ = light.folder


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"snapshots": True, "eval_every": 100}, "snapshots are kept in the folder"),
        ({"resume": True}, "say which with run="),
    ],
)
def test_what_needs_a_folder_is_refused_without_one(given: dict[str, Any], words: str) -> None:
    with pytest.raises(af.InputError, match=words):
        af.train("2048", run=False, **(SMALL | given))


def test_a_run_that_diverges_without_a_folder_says_so() -> None:
    with pytest.raises(af.DivergedError, match="nothing is kept, since the run has no folder"):
        af.train("2048", run=False, alpha=90.0, **SMALL)


# --- which network ---------------------------------------------------------------------------------------------------------


def test_the_network_of_a_run_is_the_best_one_everywhere(kept: af.Run, tmp_path: Path) -> None:
    """The one that `load` gives and the commands take; the last one is beside it."""
    folder = RunFolder(kept.folder)
    assert not np.array_equal(kept.network.weights, kept.last.weights), "the best block was not the last one"
    assert np.array_equal(kept.network.weights, af.load(kept.folder).weights)
    assert np.array_equal(kept.network.weights, af.load(folder.best).weights)
    assert np.array_equal(kept.last.weights, af.load(folder.last).weights)
    summary = af.evaluate(af.Agent(kept.network), games=30, seed=5)
    assert done("eval", kept.folder, "--games", "30", "--seed", "5", "--json").json["mean"] == summary.mean


def test_without_a_finished_block_it_is_the_last_one(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    for place in (tmp_path / "run", False):
        stopped = af.train("2048", run=place, stop=stop, **SMALL)
        assert (stopped.games, stopped.stopped) == (0, True)
        assert np.array_equal(stopped.network.weights, stopped.last.weights)


# --- callbacks -------------------------------------------------------------------------------------------------------------


def test_callbacks_see_every_block_and_evaluation(kept: af.Run) -> None:
    blocks: list[tuple[int, Summary]] = []
    evals: list[tuple[int, Summary]] = []
    ended = af.train(
        "2048", run=False, eval_every=200, eval_games=20, **SMALL,
        on_block=lambda games, block: blocks.append((games, block)), on_eval=lambda games, each: evals.append((games, each)),
    )  # fmt: skip
    assert not ended.stopped
    assert [games for games, _ in blocks] == [100, 200, 300, 400]
    assert [games for games, _ in evals] == [200, 400]
    means = {(record["kind"], record["games"]): record["mean"] for record in kept.metrics}
    assert all(means["block", games] == block.mean for games, block in blocks)
    assert all(means["eval", games] == each.mean for games, each in evals)
    scores = [block.episodes.scores for _, block in blocks]
    assert np.array_equal(np.concatenate(scores), kept.episodes.scores[:400]), "games of a block stay what they were"
    assert all(each.episodes.scores.mean() == each.mean for _, each in evals)


@pytest.mark.parametrize("answer", [True, np.True_])
def test_a_callback_stops_a_run_that_can_go_on(kept: af.Run, tmp_path: Path, answer: object) -> None:
    stopped = af.train("2048", run=tmp_path / "run", eval_every=200, eval_games=20, **SMALL, on_eval=lambda *_: answer)
    assert (stopped.games, stopped.stopped) == (200, True)
    longer = af.train(run=tmp_path / "run", resume=True)
    assert (longer.games, longer.stopped) == (450, False)
    assert np.array_equal(longer.last.weights, kept.last.weights)


def test_an_error_in_a_callback_loses_nothing(kept: af.Run, tmp_path: Path) -> None:
    def fail(games: int, block: Summary) -> None:
        if games == 200:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        af.train("2048", run=tmp_path / "run", eval_every=200, eval_games=20, **SMALL, on_block=fail)
    again = af.train(run=tmp_path / "run", resume=True)
    assert measured(again) == measured(kept)
    assert np.array_equal(again.last.weights, kept.last.weights)


def test_a_listener_hears_all_and_takes_the_place_of_callbacks() -> None:
    class Ear(af.Listener):
        heard: list[str] = []

        def on_start(self, rate: str, origin: str | None) -> None:
            self.heard.append(rate)

        def on_progress(self, progress: af.Progress) -> None:
            self.heard.append(progress.doing)

    ear = Ear()
    af.train("2048", run=False, listener=ear, **SMALL)
    assert "alpha 0.1" in ear.heard[0]
    assert "training" in ear.heard
    with pytest.raises(af.InputError, match="but not both"):
        af.train("2048", run=False, listener=ear, on_block=print, **SMALL)


# --- a schedule that is a function -----------------------------------------------------------------------------------------


def halving(games: int) -> float:
    return 0.2 / (1 << games // 100)


def test_a_function_gives_the_rate_of_each_block() -> None:
    asked: list[int] = []

    def schedule(games: int) -> float:
        asked.append(games)
        return halving(games)

    found = af.train("2048", run=False, schedule=schedule, **SMALL)
    written = af.train("2048", run=False, alpha=0.2, schedule="100:0.1,200:0.05,300:0.025,400:0.0125", **SMALL)
    assert [record["alpha"] for record in found.metrics] == [0.2, 0.1, 0.05, 0.025]
    assert np.array_equal(found.last.weights, written.last.weights)
    assert asked == [0, 0, 100, 200, 300, 400], "once to check it, and once a block"


def test_a_resume_in_the_middle_of_a_block_keeps_its_rate(tmp_path: Path) -> None:
    given: dict[str, Any] = SMALL | {"schedule": halving, "eval_every": 50, "eval_games": 2}
    whole = af.train("2048", run=False, **given)
    part = af.train("2048", run=tmp_path / "run", on_eval=lambda games, _: games == 150, **given)
    assert part.games == 150
    again = af.train(run=tmp_path / "run", resume=True, schedule=halving)
    assert np.array_equal(again.last.weights, whole.last.weights)
    assert measured(again) == measured(whole)


def test_a_run_with_a_function_goes_on_only_with_one(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    af.train("2048", run=folder, schedule=halving, keep=True, **SMALL)
    assert RunFolder(folder).read_config().schedule == "python"
    with pytest.raises(af.InputError, match="is a function of a Python program"):
        af.train(run=folder, resume=True, games=550)
    check(run("train", "--run", folder, "--resume", "--games", "550"), 3, "is a function of a Python program")
    assert af.train(run=folder, resume=True, games=550, schedule=halving).games == 550
    done("report", folder)
    done("info", folder)
    text = tmp_path / "text"
    af.train("2048", run=text, schedule="50%:0.01", keep=True, **SMALL)
    with pytest.raises(af.InputError, match=r"started with schedule 50%:0\.01, so it cannot continue with schedule python"):
        af.train(run=text, resume=True, schedule=halving)


@pytest.mark.parametrize(
    ("schedule", "words"),
    [(lambda _: 0, "alpha must be above 0"), (lambda _: "fast", "what the schedule gives after 0 games is a number")],
)
def test_a_function_that_gives_no_rate_is_refused_before_anything_begins(
    schedule: Any, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(af.InputError, match=words):
        af.train("2048", schedule=schedule, **SMALL)
    with pytest.raises(af.InputError, match="leave out alpha"):
        af.train("2048", schedule=halving, alpha=0.1, **SMALL)
    assert os.listdir(tmp_path) == []


# --- from a network --------------------------------------------------------------------------------------------------------


def test_a_run_starts_from_a_network_in_memory(kept: af.Run, tmp_path: Path) -> None:
    """As from its file; the network itself stays as it was."""
    before = kept.network.weights.copy()
    given: dict[str, Any] = {"games": 100, "threads": 1, "seed": 4}
    found = af.train(from_=kept.network, run=tmp_path / "run", **given)
    as_file = af.train(from_=kept.folder, run=False, **given)
    assert np.array_equal(found.last.weights, as_file.last.weights)
    assert found.metrics[0]["mean"] > 1.2 * kept.metrics[0]["mean"]
    assert np.array_equal(kept.network.weights, before)
    assert RunFolder(found.folder).read_config().from_ == "(a network in memory)"


def test_a_run_that_stops_before_its_first_game_keeps_what_it_started_from(kept: af.Run, tmp_path: Path) -> None:
    """From a network or a model: the resume does not begin with nothing."""
    origins: list[Network | Path] = [kept.network, kept.folder]
    for number, origin in enumerate(origins):
        stop = threading.Event()
        stop.set()
        folder = tmp_path / str(number)
        assert af.train(from_=origin, run=folder, games=100, threads=1, seed=4, stop=stop).games == 0
        again = af.train(run=folder, resume=True)
        assert np.array_equal(again.last.weights, af.train(from_=origin, run=False, games=100, threads=1, seed=4).last.weights)


def test_a_network_in_memory_cannot_be_found_again_without_a_checkpoint(kept: af.Run, tmp_path: Path) -> None:
    af.train(from_=kept.network, run=tmp_path / "run", games=100, threads=1)
    RunFolder(tmp_path / "run").last.unlink()
    with pytest.raises(af.InputError, match="start it again in Python"):
        af.train(run=tmp_path / "run", resume=True)


def test_a_network_for_another_game_is_refused(kept: af.Run) -> None:
    with pytest.raises(af.InputError, match="a model for 2048, not for threes"):
        af.train("threes", from_=kept.network, run=False, games=10)
    with pytest.raises(af.InputError, match="the model to start from is for"):
        af.train(af.make("2048", size="3x3"), from_=kept.network, run=False, games=10)


# --- the game is an object -------------------------------------------------------------------------------------------------


def test_the_game_that_is_given_is_the_game_that_is_learned(kept: af.Run) -> None:
    """A subclass is not trained as the game that it descends from."""
    game = Uphill(Shape())
    found = af.train(game, run=False, **SMALL)
    assert found.network.game is game
    assert found.last.game is game
    assert found.metrics[0]["mean"] < 0.8 * kept.metrics[0]["mean"], "half of the merges score"
    record = af.Agent(found.network).play_on(game.start(af.Random(1)), af.Random(2), moves=50)
    sideways = [reward for slide, reward in zip(record.slides, record.rewards, strict=True) if slide % 2]
    assert sideways
    assert not any(sideways)
    again = af.train(from_=found.network, run=False, games=100, threads=1)
    assert again.last.game is game


def test_a_game_under_the_name_of_another_is_not_written_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    game = Uphill(Shape())
    with pytest.raises(af.InputError, match=r"this Uphill is not make\('2048'.* give its class a name of its own"):
        af.train(game, **SMALL)
    with pytest.raises(af.InputError, match="give its class a name of its own"):
        Network(game, "01").save(tmp_path / "model.safetensors")
    assert os.listdir(tmp_path) == []
    twin = Twenty48Game(Shape())
    Network(twin, "01").save(tmp_path / "model.safetensors")
    assert af.load(tmp_path / "model.safetensors").game is af.make("2048")


def test_a_game_of_the_program_is_trained_resumed_and_loaded_with_its_object(tmp_path: Path) -> None:
    game, folder = Named(Shape()), tmp_path / "run"
    whole = af.train(game, run=False, **SMALL)
    stopped = af.train(game, run=folder, **SMALL, on_block=lambda games, _: games == 200)
    assert (stopped.games, stopped.network.game) == (200, game)
    with pytest.raises(af.InputError, match="no game is called 'uphill'"):
        af.train(run=folder, resume=True)
    with pytest.raises(af.AfterstateError, match="no game is called 'uphill'"):
        af.load(folder)
    again = af.train(game, run=folder, resume=True)
    assert np.array_equal(again.last.weights, whole.last.weights)
    assert np.array_equal(af.load(folder, game=game).weights, whole.network.weights)
    assert len(af.training_games(folder, game=game).scores) == 450
    with pytest.raises(af.ModelError, match="no game is called 'uphill'"):
        af.load(folder, game=af.make("2048"))


def test_a_resume_refuses_another_game(kept: af.Run) -> None:
    threes, wide = af.make("threes"), af.make("2048", size="3x3")
    for game, words in (
        ("threes", "started with game 2048, so it cannot continue with game threes"),
        (threes, "started with game 2048, so it cannot continue with game threes"),
        (wide, "started with size 4x4, so it cannot continue with size 3x3"),
        (Uphill(Shape()), "give its class a name of its own"),
    ):
        with pytest.raises(af.InputError, match=words):
            af.train(game, run=kept.folder, resume=True)
    for same in ("2048", af.make("2048"), Twenty48Game(Shape()), None):
        assert af.train(same, run=kept.folder, resume=True).games == 450


def test_a_game_has_its_rules_and_size() -> None:
    with pytest.raises(af.InputError, match="has rules tcg2022, not official: leave out rules"):
        af.train(af.make("threes"), rules="official", run=False)
    with pytest.raises(af.InputError, match="has size 4x4, not 3x3: leave out size"):
        af.train(af.make("2048"), size="3x3", run=False)
    found = af.train(af.make("2048", size="3x3"), size="3x3", network="012", games=10, threads=1, run=False)
    assert str(found.last.game.shape) == "3x3"


# --- networks --------------------------------------------------------------------------------------------------------------


def test_a_network_is_saved_and_copied(kept: af.Run, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    kept.network.save(path)
    assert path.read_bytes() == RunFolder(kept.folder).best.read_bytes()
    again = af.load(path)
    twin = again.copy()
    state = twin.game.start(af.Random(1))
    twin.weights += 1.0
    assert twin.value(state) == pytest.approx(again.value(state) + twin.lookups)
    assert twin.values([state])[0] == pytest.approx(twin.value(state)), "kernels see the same memory"
    twin.save(str(path))
    assert af.load(path).value(state) == twin.value(state)
    with pytest.raises(af.FileError):
        twin.save(tmp_path / "missing" / "model.safetensors")


def test_a_pickled_network_goes_on_learning(kept: af.Run) -> None:
    given: dict[str, Any] = {"games": 50, "threads": 1, "run": False}
    one = af.train(from_=pickle.loads(pickle.dumps(kept.network)), **given)
    assert np.array_equal(one.last.weights, af.train(from_=kept.network, **given).last.weights)


def test_memory_for_the_best_network_is_needed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from afterstate import memory

    weights = 4 * 2 * 16**4
    monkeypatch.setattr(memory, "free_memory", lambda: int(1.5 * weights))
    af.train("2048", run=False, network="0123", games=10, threads=1)
    with pytest.raises(af.ResourceError, match="needs"):
        af.train("2048", run=False, **SMALL)


# --- names and numbers -----------------------------------------------------------------------------------------------------


def test_a_wrong_keyword_is_an_error_that_helps() -> None:
    wrong: dict[str, Any] = {"netwrk": "4x6"}
    for resumed in ({}, {"run": "runs/mine", "resume": True}):
        given: dict[str, Any] = wrong | resumed
        with pytest.raises(TypeError, match=r"training has no option 'netwrk': did you mean network\?"):
            af.train("2048", **given)
    odd: dict[str, Any] = {"colour": "blue"}
    with pytest.raises(TypeError, match=r"training has no option 'colour': there are: rules, size, network"):
        af.train("2048", **odd)
    deep: dict[str, Any] = {"dept": 2}
    with pytest.raises(TypeError, match=r"a search has no option 'dept': did you mean depth\?"):
        af.Agent(Network(af.make("2048"), "01"), **deep)


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "games": np.int64(400), "block": np.uint16(100), "threads": np.int8(1), "seed": np.uint64(3), "alpha": np.float32(0.5),
        "lambda_": np.float64(0.5), "horizon": np.int32(2), "symmetry": np.int64(8), "save_every": np.float32(5),
        "optimistic": np.int64(0), "eval_every": np.array(200), "eval_games": np.int16(5), "steps": np.int8(1),
        "keep": np.True_,
    }  # fmt: skip
    own: dict[str, Any] = {name: number.item() for name, number in given.items()}
    found = af.train("2048", network="0123,4567", run=tmp_path / "numpy", **given)
    plain = af.train("2048", network="0123,4567", run=tmp_path / "plain", **own)
    config = (tmp_path / "numpy" / "config.toml").read_text()
    assert config == (tmp_path / "plain" / "config.toml").read_text()
    assert np.array_equal(found.last.weights, plain.last.weights)
    agent = af.Agent(found.network, depth=np.int64(2), cutoff=np.float32(0), table=np.uint32(0), downgrade=np.int64(0))
    assert agent.choose(found.network.game.start(af.Random(np.int64(1)))).move is not None  # type: ignore[arg-type]
    some = af.evaluate(af.Agent(found.network), games=np.int64(20), seed=np.int32(5), threads=np.int64(2), until=np.int64(64))
    same = af.evaluate(af.Agent(found.network), games=20, seed=5, until=64)
    assert np.array_equal(some.episodes.scores, same.episodes.scores)
    assert (some.until, some.win_tile, type(some.games)) == (64, 64, int)
    with pytest.raises(af.InputError, match="games must be at least 1, not 0"):
        af.evaluate(agent, games=np.int64(0))
    with pytest.raises(af.InputError, match=r"games is a number such as 5000, 100k or 2.5M, not 1.5"):
        af.train("2048", games=np.float64(1.5), run=False)  # type: ignore[arg-type]
    with pytest.raises(af.InputError, match=r"threads must be 1 to 256, not 1\.5"):
        af.evaluate(agent, threads=np.float64(1.5))  # type: ignore[arg-type]


def test_an_evaluation_has_its_games(kept: af.Run) -> None:
    summary = af.evaluate(af.Agent(kept.network), games="1k", seed=5)
    games = summary.episodes
    assert (summary.games, len(games.scores), len(games.moves), len(games.largest)) == (1000,) * 4
    assert summary.mean == games.scores.mean()
    assert summary.maximum == games.scores.max()
    assert summary.moves == games.moves.sum()
    assert summary.win_rate == (games.largest >= 2048).mean()
    rng = af.Random(5, number=7)
    record = af.Agent(kept.network).play_on(kept.network.game.start(rng), rng, moves=10_000)
    assert (record.score, len(record), record.largest) == (games.scores[7], games.moves[7], games.largest[7])


def test_the_document_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The blocks of docs/python.md, one after the other; comments below a print say what it says."""
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[1] / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) == 10
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    for told in re.findall(r"^# (.*)", "".join(blocks), flags=re.MULTILINE):
        pattern = re.sub(r"\d[\d,]*(?! %)", r"[\\d,]+", re.escape(told).replace(r"\ ", " "))
        assert any(re.fullmatch(pattern, line) for line in printed), told
    first, second = (float(word) for word in printed[0].split())
    assert first == pytest.approx(second)
    assert len(names["better"].metrics) == 1
