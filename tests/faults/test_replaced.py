"""A model in use may be overwritten, cut or deleted: what is served or evaluated goes on with what was loaded."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from afterstate.games.game import Game
from afterstate.network.modelfile import save_model
from afterstate.network.network import Network
from commandline import PATIENCE
from searching import random_network

PATTERNS = "01456,012345"  # 68 MB: far more than a process reads ahead

SERVE = """
import sys
from pathlib import Path
from serving import BOARD, ask, client
with client(Path("nowhere"), Path(sys.argv[1])) as page:
    for _ in sys.stdin:
        print(ask(page, "/api/move", board=BOARD, depth=2)["values"], flush=True)
"""
EVALUATE = """
import sys
import afterstate as af
network = af.load(sys.argv[1])
for _ in sys.stdin:
    summary = af.evaluate(af.Agent(network), games=20, seed=1, threads=1)
    print(summary.mean, summary.moves, network.weights.sum(dtype=float), flush=True)
"""


def overwrite(model: Path, other: Path) -> None:
    """As `cp` does: the same file, with other bytes."""
    subprocess.run(["cp", str(other), str(model)], check=True)


DAMAGES: dict[str, Callable[[Path, Path], object]] = {
    "overwritten": overwrite,
    "cut": lambda model, _: model.write_bytes(b""),
    "deleted": lambda model, _: model.unlink(),
}


@pytest.mark.parametrize("program", [SERVE, EVALUATE], ids=["served", "evaluated"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_model_in_use_may_be_replaced(
    program: str, damage: Callable[[Path, Path], object], game: Game, tmp_path: Path
) -> None:
    model, other = tmp_path / "model.safetensors", tmp_path / "other.safetensors"
    save_model(random_network(game, PATTERNS), model)
    other.write_bytes(np.random.default_rng(1).bytes(1 << 20))  # shorter, and no model
    command = [sys.executable, "-c", program, str(model)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1]
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("first\n")
        process.stdin.flush()
        before = process.stdout.readline()
        damage(model, other)
        after, _ = process.communicate("again\n", timeout=PATIENCE)
    assert before
    assert after == before
    assert process.returncode == 0


def test_a_served_model_that_is_replaced_by_another_one_is_that_one(game: Game, tmp_path: Path) -> None:
    from serving import BOARD, ask, client

    model = tmp_path / "model.safetensors"
    save_model(random_network(game, "0123,4567"), model)
    with client(tmp_path, model) as page:
        before = ask(page, "/api/move", board=BOARD)["values"]
        whole = model.read_bytes()
        model.write_bytes(whole[: len(whole) // 2])  # in the middle of a copy
        assert ask(page, "/api/move", board=BOARD)["values"] == before
        network = Network(game, "0123,4567")
        network.weights[:] = 100.0
        save_model(network, model)
        assert ask(page, "/api/move", board=BOARD)["values"] != before
