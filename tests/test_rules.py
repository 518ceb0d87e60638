"""A learning rule is one file and one line in a table: nothing else has to know of it."""

import json
import os
import subprocess
import sys
from pathlib import Path

OWN_RULE = '''
"""A rule that moves each weight by a fixed step in the direction of the error."""

from typing import Any, NamedTuple

import numpy as np

from afterstate.kernel import implement
from afterstate.learning.rules import Kind
from afterstate.learning.update import apply


class Sign(NamedTuple):
    step: np.float64


@implement(apply, Sign)
def _apply(rule, net, indices, at, error):
    step = np.float32(rule.step if error > 0 else -rule.step)
    for place in range(at, at + net.lookups):
        net.weights[indices[place]] += step
    return rule.step


KIND = Kind(lambda network, rate, kept: Sign(np.float64(rate)))
'''

USE = """
import sys
from afterstate.learning.rules import RULES, Rule

RULES["sign"] = Rule("sign_rule", 0.5, "a fixed step in the direction of the error")
from afterstate.cli.main import main

main()
"""


def test_a_rule_of_ones_own_trains_and_is_measured(tmp_path: Path) -> None:
    """By every command that names rules, in a process and with a cache of its own."""
    (tmp_path / "sign_rule.py").write_text(OWN_RULE)
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PYTHONPATH": paths, "AFTERSTATE_CACHE": str(tmp_path / "cache")}

    def run(*words: str) -> str:
        command = [sys.executable, "-c", USE, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "sign (a fixed step" in " ".join(run("train", "--help").replace("│", " ").split())
    small = ("--network", "0123,4567", "--threads", "1")
    run("train", "2048", "--method", "sign", "--games", "600", "--block", "200", *small, "--run", "run", "--quiet")
    metrics = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    means = [json.loads(line)["mean"] for line in metrics]
    assert means[-1] > 1.1 * means[0]
    found = json.loads(run("bench", "train", "--method", "sign", "--games", "10", *small, "--json"))
    assert found["method"] == "sign"
    assert found["runs"][0]["train"]["moves_per_s"] > 0
