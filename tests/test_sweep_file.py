"""A sweep's file: what varies, which trials are drawn, and errors that name the line."""

import io
import math
import random
import re
from itertools import combinations
from pathlib import Path

import pytest
from rich.console import Console

from afterstate.bitboard import Shape
from afterstate.cluster.sweeps.figures import best_drawn, sweep_table
from afterstate.cluster.sweeps.file import line_of, load_sweep, parse_sweep, sweep_names
from afterstate.cluster.sweeps.folder import Result, SweepFolder
from afterstate.errors import FileError, InputError
from afterstate.network.patterns import isomorphic_cells, parse_pattern, parse_patterns
from afterstate.network.tuples import connected_patterns, count_sets, draw_set
from commandline import done, run

TOP = 'games = "8k"\n'
HALVING = '[halving]\nfirst = "1k"\nfactor = 2\n'
VARY = "[vary]\nalpha = [0.1, 0.2]\n"


def trials(text: str) -> list[dict[str, object]]:
    return [trial.varied for trial in parse_sweep("x", text, "x.toml").trials]


# --- patterns ------------------------------------------------------------------------------------------------------------


def is_connected(cells: frozenset[int]) -> bool:
    """Whether cells of a 4x4 board hang together, by flooding from one of them."""
    seen, new = set(), {min(cells)}
    while new:
        seen |= new
        new = {b for a in new for b in cells - seen if abs(a // 4 - b // 4) + abs(a % 4 - b % 4) == 1}
    return seen == cells


@pytest.mark.parametrize("cells", [1, 2, 4, 6])
def test_connected_patterns_are_all_of_them_once(cells: int) -> None:
    classes = set()
    for choice in combinations(range(16), cells):
        if is_connected(frozenset(choice)):
            turned = isomorphic_cells(choice, Shape(), 8)
            classes.add(min(tuple(sorted(places)) for places in turned))
    found = [parse_pattern(pattern, Shape()) for pattern in connected_patterns(cells, Shape())]
    assert set(found) == classes
    assert len(found) == len(classes)


def test_there_are_68_patterns_of_six_cells() -> None:
    assert len(connected_patterns(6, Shape())) == 68
    assert count_sets(4, 6, Shape()) == math.comb(68, 4) == 814_385


def test_a_set_depends_on_the_seed_alone() -> None:
    sets = [draw_set(random.Random(seed), 4, 6, Shape()) for seed in (1, 1, 2)]
    assert sets[0] == sets[1] != sets[2]
    assert len(set(parse_patterns(sets[0], Shape()))) == 4
    with pytest.raises(InputError, match="68 connected patterns of 6 cells"):
        draw_set(random.Random(1), 69, 6, Shape())
    with pytest.raises(InputError, match="1 to 8 cells"):
        connected_patterns(9, Shape())


# --- trials --------------------------------------------------------------------------------------------------------------


def test_lists_make_every_combination() -> None:
    found = trials(f"{TOP}[vary]\nlambda = [0.0, 0.5]\nnetwork = ['2x4', '5x4']\n")
    assert found == [{"lambda_": first, "network": second} for first in (0.0, 0.5) for second in ("2x4", "5x4")]


def test_a_count_makes_a_list_of_a_range() -> None:
    assert [one["alpha"] for one in trials(f"{TOP}[vary]\nalpha = {{ log = [0.01, 1.0], count = 3 }}\n")] == [0.01, 0.1, 1.0]
    assert [one["horizon"] for one in trials(f"{TOP}[vary]\nhorizon = {{ range = [1, 9], count = 5 }}\n")] == [1, 3, 5, 7, 9]


def test_drawn_values_lie_in_their_range_and_differ() -> None:
    text = f"{TOP}trials = 200\nseed = 3\n[vary]\nalpha = {{ log = [0.001, 1.0] }}\nlambda = {{ range = [0.2, 0.4] }}\n"
    found = trials(text + "horizon = { range = [2, 4] }\n")
    assert found == trials(text + "horizon = { range = [2, 4] }\n")  # the seed is enough
    assert len({repr(one) for one in found}) == 200
    alphas = [float(str(one["alpha"])) for one in found]
    assert all(0.001 <= alpha <= 1.0 for alpha in alphas)
    assert 60 < sum(alpha < 0.0316 for alpha in alphas) < 140  # half of a log range lies below the geometric mean
    assert all(0.2 <= float(str(one["lambda_"])) <= 0.4 for one in found)
    assert {one["horizon"] for one in found} == {2, 3, 4}


def test_fewer_trials_than_combinations_are_drawn() -> None:
    text = f"{TOP}trials = 5\n[vary]\nsteps = [1, 2, 3]\nalpha = [0.1, 0.2]\n"
    assert len({repr(one) for one in trials(text)}) == 5


def test_comparisons_rise_by_the_factor() -> None:
    sweep = parse_sweep("x", f"{TOP}{HALVING}{VARY}", "x.toml")
    assert (sweep.by, sweep.rungs) == ("games", (1000, 2000, 4000, 8000))
    assert parse_sweep("x", f"{TOP}{VARY}", "x.toml").rungs == (8000,)
    timed = parse_sweep("x", f'time = "10m"\n[halving]\nfirst = "2m"\n{VARY}', "x.toml")
    assert (timed.by, timed.rungs, timed.factor) == ("time", (120.0, 360.0, 600.0), 3)


def test_options_of_a_training() -> None:
    text = f"seeds = [7, 9]\n{TOP}[train]\nthreads = 2\n[vary]\nrecipe = ['quick', 'otd-tc']\n"
    sweep = parse_sweep("x", text, "x.toml")
    options = [sweep.run_options(trial, seed) for trial in sweep.trials for seed in sweep.seeds]
    assert [(one.games, one.seed, one.threads) for one in options] == [(8000, seed, 2) for seed in (7, 9, 7, 9)]
    assert [one.optimistic > 0 for one in options] == [False, False, True, True]  # the recipe's own


def test_tuples_comes_with_the_package() -> None:
    sweep = load_sweep("tuples")
    assert "tuples" in sweep_names()
    assert sweep.reference is not None
    assert sweep.run_options(sweep.reference, 1).network == "4x6"
    assert len(sweep.seeds) > 1
    assert all(len(parse_patterns(str(trial.options["network"]), Shape())) == 4 for trial in sweep.trials)


# --- errors --------------------------------------------------------------------------------------------------------------

WRONG = {
    "alfa = 1\n" + TOP + VARY: "line 1: unknown key 'alfa'",
    TOP + "[vary]\n\nalfa = [1]\n": "line 4: unknown key 'alfa' in [vary]",
    TOP + "[train]\nalfa = 1\n" + VARY: "line 3: unknown key 'alfa' in [train]",
    TOP + "[halving]\nfirst = '1k'\nlast = 3\n" + VARY: "line 4: unknown key 'last' in [halving]",
    TOP + "[vary]\nalpha = { log = [0.1, 1.0], steps = 3 }\n": "line 3: alpha has an unknown key 'steps'",
    TOP + "time = '3m'\n" + VARY: "line 2: games contradicts time",
    TOP + "[halving]\nfirst = '9k'\n" + VARY: "line 3: first contradicts games",
    TOP + "[halving]\nfirst = 1500\n" + VARY: "line 3: 1,500 games are not a whole number of blocks of 1,000",
    TOP + "[train]\nalpha = 0.1\n" + VARY: "line 5: alpha contradicts [train]",
    TOP + "[train]\nseed = 1\n" + VARY: "line 3: [train] cannot have seed: seeds at the top",
    TOP + "trials = 9\n" + VARY: "line 2: trials is 9, but there are only 2 different combinations",
    TOP + "[vary]\nalpha = { log = [0.1, 1.0] }\n": "line 2: alpha is drawn at random: say how many trials",
    TOP + "[vary]\nalpha = { log = [0, 1.0] }\n": "line 3: alpha: a log range needs 0 < low < high",
    TOP + "[vary]\nalpha = [0.1, 200]\n": "line 3: alpha must be above 0 and at most 100, not 200",
    TOP + "[vary]\nlambda = [0.0, 'a']\n": "line 3: lambda must be of type float",
    TOP + "[vary]\nnetwork = { range = [1, 2] }\n": "line 3: network is not a number",
    TOP + "[vary]\nnetwork = ['4x6', '4x9']\n": "line 3: no network is called '4x9'",
    TOP + "[vary]\nnetwork = { tuples = 4, cells = 9 }\n": "line 3: a pattern on a 4x4 board has 1 to 8 cells",
    TOP + "[vary]\nhorizon = { range = [1.5, 3] }\n": "line 3: horizon takes whole numbers",
    TOP + "[vary]\ngame = ['2048', 'threes']\n": "line 3: game must be the same for all trials",
    TOP + "[vary]\nrecipe = ['quick', 'threes-quick']\n": "line 3: all trials need the same game",
    TOP + "[vary]\nlambda = [0.5]\nsteps = [1, 3]\n": "line 2: the trial with lambda 0.5, steps 3: steps above 1 need lambda 0",
    TOP + "[train]\nstages = 'a'\n" + VARY: "line 3: stages are tiles",
    TOP + "[train]\nthreads = 0\n" + VARY: "line 3: threads must be 1 to 256",
    TOP + VARY + "[reference]\nalpha = -1.0\n": "line 5: alpha must be above 0",
    TOP + "seeds = [1, 1]\n" + VARY: "line 2: seeds are 1 to 100 different numbers",
    TOP + "seeds = 0\n" + VARY: "line 2: seeds is a whole number from 1 to 100",
    TOP + "keep = true\n" + VARY: "line 2: keep is a whole number",
    TOP + "[vary]\nalpha = 0.1\n": "line 3: alpha must be one of list",
    TOP + "[vary]\nalpha = [0.1, 0.1]\n": "line 3: alpha names a value twice",
    TOP: "there is nothing to vary",
    VARY: "does not say how long a training lasts",
    TOP + "[vary\n": "is not TOML",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items(), ids=[message[:40] for message in WRONG.values()])
def test_errors_name_the_line(text: str, message: str) -> None:
    with pytest.raises(FileError) as error:
        parse_sweep("x", text, "x.toml")
    assert str(error.value).startswith("x.toml")
    assert message in str(error.value)


def test_lines_of_keys_in_all_forms() -> None:
    text = "a = 1\n# b = 2\n[vary]\nb = [\n  2,\n]\n'c' = 3\nd.e = 4\n[vary.f]\ng = 5\n"
    places = {("a",): 1, ("vary",): 3, ("vary", "b"): 4, ("vary", "c"): 7, ("vary", "d"): 8, ("vary", "f"): 9}
    assert {path: line_of(text, *path) for path in places} == places
    assert line_of(text, "vary", "nowhere") == 3
    assert line_of(text, "nowhere") is None


def test_the_command_lists_and_shows() -> None:
    assert "tuples" in done("sweep").out
    assert [one["name"] for one in done("sweep", "--json").json] == sweep_names()
    assert done("sweep", "tuples", "--show").out == load_sweep("tuples").text


def test_a_wrong_name_or_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "long.toml").write_text("#" * 200_000)
    for name, message in {
        "nothing": "no sweep is called 'nothing'; there are: ",
        folder / "none.toml": "No such file",
        folder / "long.toml": "longer than 100000 bytes",
    }.items():
        result = run("sweep", name)
        assert result.code in (3, 4)
        assert message in result.error
    assert "say which sweep to continue" in run("sweep", "--resume").error


# --- what people see -------------------------------------------------------------------------------------------------------


def test_the_best_patterns_are_named_and_drawn(tmp_path: Path) -> None:
    text = f"{TOP}{HALVING}[vary]\nnetwork = ['2x4', '0123,0145', '9x4']\n[reference]\nnetwork = '5x4'\n"
    folder = SweepFolder.make(tmp_path / "sweep", parse_sweep("x", text, "x.toml"))
    for number, at, score in [(0, 1000, 100.0), (1, 1000, 90.0), (2, 1000, 120.0), (3, 1000, 10.0), (2, 2000, 150.0)]:
        folder.add_result(folder.standings[number].trial, Result(at, (score,), (int(at),), 1.0))
    folder.add_end(folder.standings[3].trial, "failed", "it has diverged")
    screen = Console(width=100, file=io.StringIO())
    screen.print(sweep_table(folder))
    screen.print(best_drawn(folder))
    shown = screen.file.getvalue() if isinstance(screen.file, io.StringIO) else ""
    rows = re.findall(r"^ *(\d) +(\d) +(\w+) +(\w+ games) +(\d+) *(\S+%)? +(.*?) *$", shown, re.MULTILINE)
    assert rows == [
        ("1", "2", "waiting", "2k games", "150", "+20.0%", "network 0123,0145"),
        ("2", "0", "waiting", "1k games", "100", "", "network 5x4"),
        ("3", "1", "waiting", "1k games", "90", "-10.0%", "network 2x4"),
        ("4", "3", "failed", "1k games", "10", "-90.0%", "it has diverged"),
    ]
    assert "best: trial 2, network 0123,0145\n" in shown
    assert re.search(r"0123 +0145 *\n■ ■ ■ ■ +■ ■ · ·", shown)
    assert "second: trial 0, network 5x4" in shown
