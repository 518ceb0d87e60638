"""The commands that need no run: perft, bench, help and version, and what is loaded for them."""

import re
import shutil
import subprocess
import sys
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path

import pytest

from afterstate.learning.options import TrainOptions
from afterstate.threads import count_threads
from commandline import NETWORK, OVER, PATIENCE, done
from test_signature import PINNED

# --- perft and bench -------------------------------------------------------------------------------------------------


def test_perft() -> None:
    found = done("perft", "2048", "--depth", "2", "--json").json
    assert (found["game"], found["board"]) == ("2048", "2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2")
    assert found["rows"] == [
        {"depth": 1, "afterstates": 4, "states": 112, "reward": 0, "ended": 0},
        {"depth": 2, "afterstates": 424, "states": 11536, "reward": 1024, "ended": 0},
    ]
    out = done("perft", "2048", "--depth", "2").out
    assert re.search(r"^ *2 +424 +11,536 +1,024 +0 *$", out, re.MULTILINE)


def test_perft_of_another_board() -> None:
    found = done("perft", "2048", "--size", "2x2", "--board", "4 2 / 2 0", "--depth", "1", "--json").json
    assert found["rows"] == [{"depth": 1, "afterstates": 2, "states": 4, "reward": 0, "ended": 0}]
    finished = done("perft", "2048", "--board", OVER, "--depth", "1", "--json").json
    assert finished["rows"] == [{"depth": 1, "afterstates": 0, "states": 0, "reward": 0, "ended": 0}]


BENCH = ("--games", "200", "--threads", "1", "--network", NETWORK)


def test_bench_train() -> None:
    found = done("bench", "train", *BENCH, "--json").json
    assert (found["network"], found["games"]) == (NETWORK, 200)
    (only,) = found["runs"]
    assert only["threads"] == 1
    assert only["train"]["moves_per_s"] > 0
    assert set(only) == {"threads", "train"}
    assert "train, moves/s" in done("bench", "train", *BENCH).out


@pytest.mark.skipif(count_threads(None) < 2, reason="there is one core")
def test_bench_with_two_threads() -> None:
    """Threads share tables, so it prints the cost: at least the time that light needs, at most that of a descheduled thread."""
    two = ("bench", "train", "--games", "200", "--threads", "2", "--network", NETWORK)
    (only,) = done(*two, "--json").json["runs"]
    assert set(only) == {"threads", "train", "round_trip_ns"}
    assert 5 < only["round_trip_ns"] < 1e7
    assert "from core to core and back: " in done(*two).out


def test_bench_eval() -> None:
    (only,) = done("bench", "eval", *BENCH, "--json").json["runs"]
    assert only["eval"]["moves_per_s"] > 0
    assert "train" not in only


def test_bench_search() -> None:
    (only,) = done("bench", "search", *BENCH, "--json").json["runs"]
    assert set(only) == {"threads", "search"}
    assert set(only["search"]) == {"depth 2", "depth 3, exact", "depth 3"}
    assert all(speed["moves_per_s"] > 0 and speed["mean"] > 0 for speed in only["search"].values())
    assert "depth 3, exact, moves/s" in done("bench", "search", *BENCH).out


def test_bench_tells_everything() -> None:
    found = done("bench", *BENCH, "--json").json
    assert found["runs"][0]["gather"]["lookups_per_s"] > 0
    assert found["signatures"] == PINNED
    shown = done("bench", "signature").out
    assert all(f"signature {hashed}  {name}\n" in shown for name, hashed in PINNED.items())


# --- help and version ------------------------------------------------------------------------------------------------

HELP = {
    "train": ["--run", "--resume", "--quiet", "--json"]
    + [f"--{spec.name.rstrip('_').replace('_', '-')}" for spec in fields(TrainOptions) if spec.name != "game"],
    "eval": [
        *("--games", "--depth", "--move-time", "--exact", "--cutoff", "--table"),
        *("--threads", "--seed", "--until", "--save", "--force", "--json"),
    ],
    "move": ["--depth", "--move-time", "--exact", "--threads", "--json"],
    "plot": ["--output", "--out", "-o"],
    "report": ["--output", "--out", "-o"],
    "info": ["--size", "--isomorphs", "--svg", "--json"],
    "bench": ["--threads", "--game", "--rules", "--games", "--network", "--json", "train", "eval", "search", "signature"],
    "perft": ["--depth", "--board", "--size", "--rules", "--json"],
    "judge": ["--version", "--speed", "--load", "--judge", "--rules", "--game", "--size", "--python", "--until", "--json"],
    "reproduce": ["--scale", "--run", "--seed", "--threads", "--games", "--json"],
    "solve": ["--size", "--rules", "--aim", "--board", "--json"],
    "sweep": ["--run", "--resume", "--cluster", "--show", "--quiet", "--json"],
}


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("command", HELP)
def test_help_of_a_command(command: str, flag: str) -> None:
    out = done(command, flag).out
    assert out.startswith(f"Usage: afterstate {command} ")
    assert all(re.search(rf"(^|\s|[\[|,<]){option}\b", out) for option in HELP[command]), out


def test_help_of_train_tells_each_option_and_default() -> None:
    out = " ".join(done("train", "--help").out.split())
    for spec in fields(TrainOptions):
        if spec.name != "game":
            assert " ".join(str(spec.metadata["help"]).split()) in out
    assert "[default: 0.1 for td, 1.0 for tc]" in out
    assert "[default: 1000]" in out


def test_help_lists_the_commands() -> None:
    out = done("--help").out
    assert all(re.search(rf"^  {command} +\w", out, re.MULTILINE) for command in HELP)
    assert "Exit codes" in out


def test_version() -> None:
    assert done("--version").out == version("afterstate") + "\n"


@pytest.mark.parametrize(
    "program",
    [
        "import afterstate",
        "import afterstate; dir(afterstate)",
        "import sys; sys.argv = ['afterstate', '--help']; from afterstate.cli.main import main; main()",
        "import sys; sys.argv = ['afterstate', 'train', '--help']; from afterstate.cli.main import main; main()",
        "import sys; sys.argv = ['afterstate', 'train', '2048', '--alpha', '0']; from afterstate.cli.main import main; main()",
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_needed(program: str) -> None:
    watched = f"import atexit, sys\natexit.register(lambda: print('loaded:', *sorted(sys.modules)))\n{program}"
    done = subprocess.run([sys.executable, "-c", watched], capture_output=True, text=True, timeout=PATIENCE, check=False)
    loaded = done.stdout.splitlines()[-1].split()
    assert loaded[0] == "loaded:"
    assert "afterstate" in loaded
    assert not {"numba", "matplotlib", "llvmlite"} & set(loaded)


def test_names_of_the_package_are_found_on_first_use() -> None:
    import afterstate

    assert all(getattr(afterstate, name) is not None for name in afterstate.__all__)
    assert dir(afterstate) == sorted(afterstate.__all__)
    with pytest.raises(AttributeError, match="nosuch"):
        _ = afterstate.nosuch


def test_the_script_is_installed() -> None:
    script = shutil.which("afterstate", path=str(Path(sys.executable).parent))
    if script is None:
        pytest.skip("the package is not installed as a program")
    shown = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert shown.stdout == version("afterstate") + "\n"
