"""Compiling in a separate process: it works, its failures do no harm, and the memory of a first run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commandline import PATIENCE, PROGRAM, process, read_json

LOAD = """
import sys, threading, time
from afterstate.kernel import u64
from afterstate.learning.compiling import load_or_compile
from afterstate.rng import mix

code, wait = sys.argv[1:]
stop = threading.Event()
if wait:
    threading.Timer(float(wait), stop.set).start()
found = []
began = time.perf_counter()
load_or_compile(lambda: found.append(int(mix(u64(1)))), code, ["1"], stop)
print(found, sum(mix.stats.cache_hits.values()), time.perf_counter() - began < 20)
"""
MIX = [0x5692161D100B05E5]
COMPILE = "import sys; from afterstate.kernel import u64; from afterstate.rng import mix; mix(u64(int(sys.argv[1])))"


@pytest.mark.parametrize(
    ("code", "wait", "printed"),
    [
        pytest.param(COMPILE, "", f"{MIX} 1 True", id="compiled there"),
        pytest.param("raise SystemExit(1)", "", f"{MIX} 0 True", id="fails"),
        pytest.param("import os; os.abort()", "", f"{MIX} 0 True", id="crashes"),
        pytest.param("import time; time.sleep(60)", "0.1", "[] 0 True", id="stopped"),
    ],
)
def test_another_process_compiles(code: str, wait: str, printed: str, tmp_path: Path) -> None:
    result = process(LOAD, code, wait, AFTERSTATE_CACHE=str(tmp_path))
    assert (result.out.strip(), result.err) == (printed, "")


def test_without_a_cache_folder_nothing_can_be_handed_over() -> None:
    assert process(LOAD, "raise SystemExit(1)", "", AFTERSTATE_CACHE="/dev/null/x").out.strip() == f"{MIX} 0 True"


IN_TURN = """
import sys
from afterstate.kernel import u64
from afterstate.learning.compiling import load_in_turn
from afterstate.rng import mix

found = []
print("ready", flush=True)
sys.stdin.readline()
load_in_turn(lambda: found.append(int(mix(u64(1)))))
print(found[-1:], sum(mix.stats.cache_misses.values()) > 0 and sum(mix.stats.cache_hits.values()) == 0)
"""


def test_one_of_many_processes_compiles(tmp_path: Path) -> None:
    def begin() -> "subprocess.Popen[str]":
        environment = os.environ | {"AFTERSTATE_CACHE": str(tmp_path)}
        return subprocess.Popen(
            [sys.executable, "-c", IN_TURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    processes = [begin() for _ in range(3)]
    for one in processes:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in processes:  # all at once
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    printed = [one.communicate(timeout=PATIENCE)[0].strip() for one in processes]
    assert sorted(printed) == [f"{MIX} False", f"{MIX} False", f"{MIX} True"]


TRAIN = f"""
import json, re, resource, sys
from pathlib import Path
sys.argv[0] = "afterstate"
try:
    {PROGRAM[-1]}
finally:
    from afterstate.engine.loop import _play_games
    own = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
    others = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(json.dumps([own * 1024, others * 1024, sum(_play_games.stats.cache_hits.values())]), file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process tells its memory in another way")
def test_the_memory_of_a_first_run(tmp_path: Path) -> None:
    """A 4x6 network takes 268 MB; the compiler, which would keep some 90 MB more, is gone when training begins."""

    def used(run: str) -> list[int]:
        arguments = ("train", "2048", "--games", "20", "--threads", "1", "--run", tmp_path / run, "--quiet", "--json")
        result = process(TRAIN, *arguments, AFTERSTATE_CACHE=str(tmp_path / "cache"), MPLCONFIGDIR=str(tmp_path))
        assert read_json(result.out)["games"] == 20
        return list(read_json(result.err.splitlines()[-1]))

    first, compiler, from_cache = used("first")
    again, _, _ = used("again")
    assert from_cache > 0
    assert 0 < compiler < 500e6
    assert 268e6 < again < first < 500e6
    assert first - again < 50e6
