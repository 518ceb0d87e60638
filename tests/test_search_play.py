"""Looking ahead in play: time, threads, many games, the commands, bad input, and how a search is stopped."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import afterstate as af
from afterstate.cli.main import Exit
from afterstate.games.game import Game, Slide, make
from afterstate.kernel import kernel, now
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.play.evaluation import measure
from afterstate.search.options import expected_time
from commandline import BOARD, OVER, PATIENCE, PROGRAM, check, done, judged
from commandline import run as run_command
from positions import state_of
from searching import HARD, random_network, some_boards, values_of


@pytest.fixture(scope="module")
def network(game: Game) -> Network:
    return random_network(game, "0123,0145")


# --- time ------------------------------------------------------------------------------------------------------------------


@kernel
def _clock() -> int:
    return now()


def test_kernels_tell_the_time() -> None:
    _clock()
    before, inside, after = time.monotonic_ns(), _clock(), time.monotonic_ns()
    assert before - 1000 <= inside <= after + 1000


def test_more_time_means_more_depth(network: Network) -> None:
    game = network.game
    state = state_of(game, next(some_boards(game, 1, 6)))
    reached = []
    for limit in ("1us", "2s"):
        agent = Agent(network, move_time=limit, exact=True, depth=5)
        agent.prepare()
        choice = agent.choose(state)
        assert choice.move is not None
        assert choice.search is not None
        (depth,) = choice.search.moves_by_depth
        reached.append(depth)
        exact = Agent(network, depth=depth, exact=True).choose(state)
        assert values_of(choice) == pytest.approx(values_of(exact), rel=1e-6)
    assert reached[0] == 1
    assert reached[1] >= 3


def test_a_search_ends_in_time(network: Network) -> None:
    """The search would need far more time; the bound is wide, since other programs may use the processor."""
    agent = Agent(network, move_time=0.005, exact=True, depth=5)
    agent.prepare()
    state = network.game.parse(HARD)
    began = time.monotonic()
    choice = agent.choose(state)
    assert time.monotonic() - began < 5.0
    assert choice.search is not None
    assert max(choice.search.moves_by_depth) < 5


def test_one_slide_needs_no_time(network: Network) -> None:
    """A forced slide is answered at once; with a second slide the search would take seconds, and had a minute."""
    forced = network.game.parse("0 2 4 8 / 0 4 8 16 / 0 8 16 32 / 0 16 32 64")
    assert len(network.game.afterstates(forced)) == 1
    agent = Agent(network, move_time=60.0, cutoff=0.0)
    agent.prepare()
    began = time.monotonic()
    assert agent.choose(forced).move is Slide.LEFT
    assert time.monotonic() - began < 2.0


def test_times_of_moves_are_those_of_the_clock(network: Network) -> None:
    """Half of the moves take p50 or longer, one of twenty p95 or longer, ...: together no longer than the games took."""
    agent = Agent(network, depth=3)
    measure(agent, games=1, seed=1, threads=1)  # compile
    began, began_work = time.monotonic(), time.process_time()
    found = measure(agent, games=20, seed=1, threads=1).search
    took, worked = time.monotonic() - began, time.process_time() - began_work
    assert found is not None
    p50, p95, p99, longest = (found.times[name] for name in ("p50", "p95", "p99", "max"))
    assert 0 < p50 <= p95 <= p99 <= longest <= took
    assert 0.98 * found.moves * (0.45 * p50 + 0.04 * p95 + 0.01 * p99) <= took  # a percentile may be 1 % too high
    assert 20 * p50 > worked / found.moves  # nearly all of the work is to search, and most moves are alike
    assert measure(Agent(network), games=1, seed=1, threads=1).search is None


# --- many games, many threads ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [2, 3])
def test_threads_play_the_same_games(game: Game, depth: int) -> None:
    agent = Agent(random_network(game, "0123,0145"), depth=depth)
    one = measure(agent, games=12, seed=5, threads=1)
    three = measure(agent, games=12, seed=5, threads=3)
    assert one.results.scores.tolist() == three.results.scores.tolist()
    assert one.results.moves.tolist() == three.results.moves.tolist()
    assert one.search is not None
    assert three.search is not None
    assert one.search.moves == three.search.moves == one.results.moves.sum()


def test_depth_helps() -> None:
    """On a small board, even a network that knows nothing plays better if it looks further."""
    game = make("2048", size="3x3")
    network = Network(game, "012,345")
    means = [af.evaluate(Agent(network, depth=depth), games=200, seed=1).mean for depth in (1, 3)]
    assert means[1] > 1.3 * means[0]


def test_depth_helps_in_threes() -> None:
    network = Network(make("threes"), "0123")
    means = [af.evaluate(Agent(network, depth=depth), games=100, seed=1).mean for depth in (1, 3)]
    assert means[1] > 1.5 * means[0]


@pytest.mark.parametrize("cuts", [{"exact": True}, {"cutoff": 0.01, "table": 0}, {}], ids=str)
def test_two_threads_search_as_one(network: Network, cuts: dict[str, Any]) -> None:
    one, two = Agent(network, depth=4, **cuts), Agent(network, depth=4, threads=2, **cuts)
    for cells in some_boards(network.game, 3, 3):
        state = state_of(network.game, cells)
        alone, together = one.choose(state), two.choose(state)
        assert together.move == alone.move
        assert values_of(together) == pytest.approx(values_of(alone), rel=1e-6)
        assert alone.search is not None
        assert together.search is not None
        assert together.search.moves_by_depth == alone.search.moves_by_depth
    assert two.choose(network.game.parse(OVER)).move is None


def test_two_threads_search_in_time(network: Network) -> None:
    agent = Agent(network, move_time=0.05, exact=True, depth=5, threads=2)
    agent.prepare()
    state = state_of(network.game, next(some_boards(network.game, 1, 6)))
    choice = agent.choose(state)
    assert choice.search is not None
    (depth,) = choice.search.moves_by_depth
    assert depth in (2, 3, 4, 5)
    exact = Agent(network, depth=depth, exact=True).choose(state)
    assert values_of(choice) == pytest.approx(values_of(exact), rel=1e-6)


# --- bad input, and how a search is stopped --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"depth": 0}, "depth must be 1 to 8, not 0"),
        ({"depth": -1}, "depth must be 1 to 8, not -1"),
        ({"depth": 12}, "depth must be 1 to 8, not 12; a move would take about"),
        ({"depth": 10**9}, "a move would take more than a thousand years"),
        ({"depth": 6, "exact": True}, "1 to 5 for an exact search, not 6; a move would take about"),
        ({"move_time": 0.0}, "move time must be more than 0"),
        ({"move_time": "soon"}, "move time is written like"),
        ({"move_time": "1"}, "move time 1 has no unit: give 1s or 1ms"),
        ({"move_time": "2h"}, "move time must be at most 1h00m, not 2h00m"),
        ({"depth": 3, "exact": True, "cutoff": 0.1}, "exact search leaves nothing out.*--cutoff"),
        ({"depth": 3, "cutoff": 1.0}, "cutoff is a probability"),
        ({"depth": 3, "cutoff": -0.1}, "cutoff is a probability"),
        ({"depth": 3, "table": "much"}, "table is written in bytes"),
        ({"depth": 3, "table": -5}, "a table cannot have -5 bytes"),
        ({"depth": 2, "downgrade": 3}, "no tile 3 of 2048"),
        ({"depth": 2, "threads": 0}, "threads must be 1 to 256"),
    ],
    ids=str,
)
def test_a_search_that_cannot_be(network: Network, options: dict[str, Any], words: str) -> None:
    with pytest.raises(af.InputError, match=words):
        Agent(network, **options)


def test_a_table_that_does_not_fit(network: Network) -> None:
    with pytest.raises(af.ResourceError, match=r"a table of .* needs more than the .* of free memory"):
        Agent(network, depth=3, table="900000G")


@pytest.mark.parametrize("tile", [1, 3, 6, 7])
def test_small_tiles_of_threes_stay_what_they_are(tile: int) -> None:
    with pytest.raises(af.InputError, match=f"no tile {tile} of threes can be downgraded"):
        Agent(Network(make("threes"), "0123"), depth=2, downgrade=tile)


def test_the_expected_time_grows() -> None:
    for exact in (False, True):
        times = [expected_time(depth, exact=exact) for depth in range(2, 12)]
        assert times == sorted(times)
    assert expected_time(5, exact=True) > expected_time(5, exact=False)


def test_a_board_without_a_move(network: Network) -> None:
    for options in ({"depth": 3}, {"depth": 5}, {"move_time": 0.01}, {"depth": 4, "threads": 2}):
        choice = Agent(network, **options).choose(network.game.parse(OVER))
        assert choice.move is None
        assert set(choice.values.values()) == {None}


ENDLESS = ("--depth", "8", "--cutoff", "0")


def processor_time(pid: int) -> float:
    """Processor seconds of a process and all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def time_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process tells its time in another way")
@pytest.mark.parametrize(
    "command",
    [
        ("eval", "{model}", "--games", "5", *ENDLESS),
        ("move", "{model}", HARD, *ENDLESS, "--threads", "1"),
        ("move", "{model}", HARD, *ENDLESS, "--threads", "2"),
        ("eval", "{model}", "--games", "5", "--save", "{folder}/games.txt", "--force", *ENDLESS),
    ],
    ids=lambda command: " ".join(command[:1]) + command[-1],
)
def test_an_endless_search_is_stopped_at_once(small: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    """It is searching once it has run for longer than the same command with a short search takes in total."""
    words = [part.format(model=small, folder=tmp_path) for part in command]
    brief = ["2" if word == "8" else word for word in words]
    done(*brief)  # compile
    before = time_of_children()
    subprocess.run([*PROGRAM, *brief], capture_output=True, timeout=PATIENCE, check=True)
    takes = time_of_children() - before
    with subprocess.Popen([*PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        end = time.monotonic() + PATIENCE
        while running.poll() is None and processor_time(running.pid) < takes + 0.5 and time.monotonic() < end:
            time.sleep(0.02)
        assert running.poll() is None, "it should not have come to an end"
        running.send_signal(signal.SIGINT)
        began = time.monotonic()
        out, error = running.communicate(timeout=60)
        assert time.monotonic() - began < 20.0
    assert running.returncode == 130, error
    assert out == b""
    assert b"Traceback" not in error


def test_eval_tells_what_the_search_did(small: Path) -> None:
    found = done("eval", small, "--games", "3", "--depth", "3", "--json").json
    assert (found["max_depth"], found["exact"], found["move_time"]) == (3, False, None)
    search = found["search"]
    assert search["moves"] == found["moves"]
    assert 0 < search["table"]["hits"] < search["table"]["probes"]
    assert search["table"]["hit_rate"] == pytest.approx(search["table"]["hits"] / search["table"]["probes"])
    assert max(search["moves_by_depth"]) == "3"
    assert sum(search["moves_by_depth"].values()) == found["moves"]
    assert 0 < search["seconds_a_move"]["p50"] <= search["seconds_a_move"]["p99"] <= search["seconds_a_move"]["max"]
    out = done("eval", small, "--games", "2", "--move-time", "100us").out
    assert "100us a move" in out
    timed = done("eval", small, "--games", "2", "--move-time", "100us", "--json").json
    assert timed["max_depth"] == 8, "as deep as the time allows"
    assert max(map(int, timed["search"]["moves_by_depth"])) <= 8
    assert "a move took" in out
    assert "search" not in done("eval", small, "--games", "2", "--json").json


def test_move_tells_what_the_search_did(small: Path) -> None:
    found = done("move", small, BOARD, "--depth", "4", "--json").json
    assert (found["max_depth"], found["search"]["moves_by_depth"]) == (4, {"4": 1})
    assert "depth 2; " in done("move", small, BOARD, "--depth", "2", "--exact").out
    assert "leaves" not in done("move", small, BOARD).out


def test_a_game_that_was_searched_is_written_down(small: Path, tmp_path: Path) -> None:
    done("eval", small, "--games", "3", "--depth", "2", "--save", tmp_path / "games.txt")
    verdict = judged(tmp_path / "games.txt", "--json").json
    played = done("eval", small, "--games", "3", "--depth", "2", "--json").json
    assert verdict["summary"]["mean"] == played["mean"]


def test_bad_options_are_told_before_the_model_is_read(tmp_path: Path) -> None:
    check(run_command("eval", tmp_path / "none", "--depth", "99"), Exit.INPUT, "depth must be 1 to 8, not 99")
