"""The public interface is typed: an editor finds a wrong keyword before the program runs."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

PROGRAM = """
import numpy as np
import afterstate as af

game = af.make("2048")
run = af.train(game, network="4x6", games=np.int64(100), alpha=np.float32(0.1), seed=np.uint8(1), run=False)
af.train(from_=run.network, schedule=lambda games: 0.1 / (1 + games), on_block=lambda games, block: block.mean > 1)
af.train(game, netwrk="4x6")  # wrong
af.train(game, games=1.5)  # wrong
af.train(game, target="board")  # wrong
af.train(game, schedule=lambda games: "fast")  # wrong
af.train(game, on_block=lambda games: True)  # wrong
af.train(game, from_=game)  # wrong
agent = af.Agent(run.network, depth=2)
af.Agent(run.network, dept=2)  # wrong
summary = af.evaluate(agent, games="1k", seed=np.int64(2))
summary.medain  # wrong
summary.episodes.scores.mean()
found = af.compare([run.network, agent], summary, games=100)
found.diference  # wrong
af.compare(run.network, "runs/mine")  # wrong
learner = af.Learner(run.network, method="tc", lambda_=0.5, order="backward")
af.Learner(run.network, lambda_="half")  # wrong
learner.learn_episode(af.replay(game, af.Random(1), np.zeros(0, np.uint8)))
learner.learn_episode(summary)  # wrong
run.network.save("model.safetensors")
version: str = af.__version__
"""


def test_a_wrong_line_is_an_error_in_an_editor(tmp_path: Path) -> None:
    """Mypy with the project's own settings finds each line that is wrong, and no other."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--no-error-summary", str(path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    found = {int(line) for line in re.findall(r"program\.py:(\d+): error", ended.stdout)}
    wrong = {number for number, line in enumerate(PROGRAM.splitlines(), start=1) if line.endswith("# wrong")}
    assert found == wrong, ended.stdout + ended.stderr
    assert 'Unexpected keyword argument "netwrk" for "train"; did you mean "network"?' in ended.stdout
