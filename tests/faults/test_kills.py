"""Nothing is lost, whatever ends a training: killed at any moment, it goes on and comes out the same, bit for bit.

`make test` kills each kind of run a few times, `make faults` hundreds of times. The figures are in docs/reliability.md.
"""

import random
import shutil
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from afterstate.cli.main import Exit
from nursery import Nursery
from runs import KINDS, begin, check_complete, partial, played_games, saved_games


@dataclass
class Tale:
    """What happened to a run on its way."""

    ends: dict[str, int] = field(default_factory=dict)  # how often it was ended, and how
    in_write: int = 0  # kills that left half a file
    lost: int = 0  # most games that a kill took
    slowest: float = 0.0  # seconds from a start to the first sign that it trains again


def disturb(nursery: Nursery, kind: str, folder: Path, kills: int, luck: random.Random) -> Tale:
    """Train to the end, ended `kills` times on the way: by SIGKILL at any moment or in a write, or by a signal to stop."""
    tale = Tale()
    for _ in range(kills):
        before = saved_games(folder)
        child = begin(nursery, kind, folder)
        number = luck.choice([signal.SIGKILL] * 5 + [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
        if luck.random() < 0.3:
            running = child.wait_until(lambda: partial(folder))
        else:
            time.sleep(luck.random() ** 2 * 0.4)
            running = True
        if running:
            child.signal(number)
        code = child.wait()
        if code == Exit.DONE:
            break  # it was quicker
        name = signal.Signals(number).name
        tale.ends[name] = tale.ends.get(name, 0) + 1
        assert code == -number or (code == Exit.INTERRUPTED and number != signal.SIGKILL), (name, code, child.log.read_text())
        tale.in_write += bool(partial(folder))
        assert saved_games(folder) >= before
        if "stopped at" in child.log.read_text():  # else the signal came before the training began
            assert saved_games(folder) == played_games(folder), "a stop lost games"
        tale.lost = max(tale.lost, played_games(folder) - saved_games(folder))
    assert begin(nursery, kind, folder).wait() == Exit.DONE
    return tale


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_survives_its_ends(
    kind: str, nursery: Nursery, whole: dict[str, Path], tmp_path: Path, long: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run after run of each kind, each ended several times."""
    told: dict[str, Any] = {"kills": 0, "in a write": 0, "most games lost": 0}
    ends: dict[str, int] = {}
    luck = random.Random(kind)
    wanted = 130 if long else 4
    number = 0
    while (ends.get("SIGKILL", 0) if long else sum(ends.values())) < wanted:
        number += 1
        folder = tmp_path / str(number)
        tale = disturb(nursery, kind, folder, 4 if not long else 8, luck)
        check_complete(kind, folder, whole[kind])
        shutil.rmtree(folder)
        for name, count in tale.ends.items():
            ends[name] = ends.get(name, 0) + count
        told["in a write"] += tale.in_write
        told["most games lost"] = max(told["most games lost"], tale.lost)
        assert number < 10 * wanted
    told["kills"] = ends.get("SIGKILL", 0)
    if long:
        with capsys.disabled():
            print(f"\n{kind}: {number} runs, {ends}, {told}")
