"""Starting a run from a model: what is taken, what it says, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

import afterstate as af
from afterstate.errors import InputError
from afterstate.games.game import Game, State, make
from afterstate.learning.runfolder import RunFolder
from afterstate.network.inherit import check_heir, inherit
from afterstate.network.modelfile import load_model
from afterstate.network.network import Network
from afterstate.rng import Random
from commandline import NETWORK, SMALL, TRAIN, check, run


def random_network(game: Game, patterns: str, *, stages: tuple[int, ...] = (0,), context: str | None = None) -> Network:
    """A network in which half of the weights were never written."""
    network = Network(game, patterns, stages=stages, context=context)
    random = np.random.default_rng(1)
    network.weights[:] = random.normal(size=network.weights.size) * random.integers(0, 2, network.weights.size)
    return network


def some_states(game: Game) -> list[State]:
    """Positions of games played by chance."""
    states = []
    for number in range(6):
        rng, choose = Random(3, number=number), np.random.default_rng(number)
        state = game.start(rng)
        while afterstates := list(game.afterstates(state).values()):
            state = game.sample(afterstates[choose.integers(len(afterstates))], rng)
            states.append(state)
    return states


# --- what is taken -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stages", [(0,), (0, 16), (0, 8, 16), (0, 8, 32)])
@pytest.mark.parametrize("patterns", ["0123,014", "014,0145,0123"])
def test_more_stages_and_patterns_change_no_value(game: Game, stages: tuple[int, ...], patterns: str) -> None:
    source = random_network(game, "0123,014", stages=stages)
    heir = Network(game, patterns, stages=tuple(sorted({*stages, 4, 64})))
    inherit(heir, source)
    states = some_states(game)
    assert len(states) > 100
    for state in states:
        assert heir.value(state) == pytest.approx(source.value(state), abs=1e-4)


def test_a_stage_that_is_given_up_leaves_what_it_knew_to_the_next(game: Game) -> None:
    source = random_network(game, "0123", stages=(0, 8, 16))
    heir = Network(game, "0123", stages=(0, 16))
    inherit(heir, source)
    late = [state for state in some_states(game) if max(game.cells(state)) >= 4]
    assert late
    for state in late:
        assert heir.value(state) == pytest.approx(source.value(state), abs=1e-4)


def test_every_context_begins_with_what_was_learned_without() -> None:
    threes = make("threes", rules="tcg2022")
    source = random_network(threes, "0123", context="")
    heir = Network(threes, "0123", context="hint")
    assert heir.contexts > 1
    inherit(heir, source)
    for state in some_states(threes):
        assert heir.value(state) == pytest.approx(source.value(state), abs=1e-4)


@pytest.mark.parametrize(
    ("patterns", "symmetry", "words"),
    [("0123", 8, "has the pattern 014"), ("0123,014", 4, "symmetry 8"), ("0123,014,0145", 1, "symmetry 8")],
)
def test_a_network_without_room_for_all_of_it_is_refused(game: Game, patterns: str, symmetry: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        check_heir(Network(game, patterns, symmetry=symmetry), Network(game, "0123,014"))


# --- as a command --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 300 games."""
    path = tmp_path_factory.mktemp("from") / "first"
    assert run(*SMALL, "--seed", "5", "--run", path).code == 0
    return path


def test_a_run_starts_where_another_ended(first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With another rule and rate; the game and the network need not be named."""
    monkeypatch.chdir(tmp_path)
    options = ("--method", "tc", "--alpha", "0.5", "--games", "200", "--block", "100", "--threads", "1")
    result = run("train", "--from", first, *options, "--run", "second")
    assert result.code == 0, result.err
    assert f"starts with the weights of {first / 'checkpoints' / 'best.safetensors'}" in result.out
    assert run(*TRAIN, *options, "--run", "fresh").code == 0
    means = {name: json.loads(Path(name, "metrics.jsonl").read_text().splitlines()[0])["mean"] for name in ("second", "fresh")}
    assert means["second"] > 1.2 * means["fresh"]
    config = RunFolder("second").read_config()
    assert (config.network, config.method, config.from_) == (NETWORK, "tc", str(first))


def test_it_says_what_is_new(first: Path, tmp_path: Path) -> None:
    more = ("--network", f"{NETWORK},0145", "--stages", "0,64", "--target", "state", "--games", "10", "--threads", "1")
    result = run("train", "--from", first / "checkpoints" / "last.safetensors", *more, "--run", tmp_path / "run")
    assert result.code == 0, result.err
    for words in ("last.safetensors (300 games)", "0145 start at 0", "stage 64 starts", "values of afterstates are taken"):
        assert words in result.out, result.out


def test_python_can_start_from_a_model_too(first: Path, tmp_path: Path) -> None:
    done = af.train(from_=str(first), games=10, threads=1, run=tmp_path / "run")
    assert done.network.game.name == "2048"
    assert done.network.patterns == load_model(first / "checkpoints" / "best.safetensors").patterns


def test_a_resume_needs_the_model_no_more(first: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.safetensors"
    model.write_bytes((first / "checkpoints" / "best.safetensors").read_bytes())
    assert run("train", "--from", model, "--games", "10", "--threads", "1", "--run", tmp_path / "run").code == 0
    model.unlink()
    result = run("train", "--run", tmp_path / "run", "--resume", "--games", "20")
    assert result.code == 0, result.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("threes", "--from", "RUN"), 3, "is a model for 2048, not for threes"),
        (("--from", "RUN", "--size", "3x3"), 3, "the model to start from is for"),
        (("--from", "RUN", "--symmetry", "4"), 3, "leave out --symmetry"),
        (("--from", "RUN", "--network", "0123"), 3, "has the pattern 4567"),
        (("--from", "RUN", "--optimistic", "1000"), 3, "leave out one of them"),
        (("--from", "missing"), 4, "there is no model or run missing"),
        (("--from", "RUN", "--run", "RUN", "--resume"), 3, "give one"),
    ],
)
def test_what_cannot_be_is_refused(
    first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("train", *(str(first) if word == "RUN" else word for word in arguments))
    check(result, code, words)
    assert not Path("runs").exists()
