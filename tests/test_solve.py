"""Optimal play: against a slow recursion that shares no code with the solver, published figures, and games played by it."""

import copy
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import afterstate as af
import reference
from afterstate.cli.main import Exit
from afterstate.errors import InputError, ResourceError
from afterstate.games.game import Game, Slide, State, make
from afterstate.rng import Random
from afterstate.search.optimum import OPTIMA, optimum
from afterstate.search.solve import STATES, Solution, check_solvable, solve
from commandline import USAGE, check, done, process, run

Cells = tuple[int, ...]  # face values row by row

FULL = "2 4 2 / 4 2 4"  # of a 2x3 board: no slide is legal
LATE = "512 256 512 / 256 128 64 / 2 0 2"  # of a 3x3 board: few states can follow


@pytest.fixture(scope="module")
def two() -> Solution:
    return solve(make("2048", size="2x2"))


@pytest.fixture(scope="module")
def six() -> Solution:
    return solve(make("2048", size="2x3"))


# --- the reference ---------------------------------------------------------------------------------------------------


def images(cells: Cells, rows: int, columns: int) -> list[Cells]:
    """A board and all its symmetric images: 8 of a square board, 4 of another."""
    grid = [cells[row * columns : (row + 1) * columns] for row in range(rows)]
    grids = [grid, list(zip(*grid, strict=True))] if rows == columns else [grid]
    grids += [turned[::-1] for turned in grids]
    grids += [[row[::-1] for row in turned] for turned in grids]
    return [tuple(cell for row in turned for cell in row) for turned in grids]


def best_value(rows: int, columns: int, aim: int | None = None, number: type = float) -> Callable[[Cells], Any]:
    """The value of a state by plain recursion; it remembers each state by the smallest of its images."""

    @cache
    def of_image(cells: Cells) -> Any:
        if aim is not None and max(cells) >= aim:
            return number(1)
        values = [
            (reward if aim is None else 0)
            + sum(number(chance) * value(tuple(child)) for child, chance in reference.outcomes(after))
            for after, reward in reference.afterstates(list(cells), rows, columns).values()
        ]
        return max(values, default=number(0))

    def value(cells: Cells) -> Any:
        return of_image(min(images(cells, rows, columns)))

    value.known = of_image.cache_info  # type: ignore[attr-defined]
    return value


def expected(value: Callable[[Cells], Any], size: int) -> Any:
    """The mean over the first two tiles."""
    first = reference.outcomes([0] * size)
    return sum(one * other * value(tuple(cells)) for before, one in first for cells, other in reference.outcomes(before))


def parse(text: str) -> Cells:
    return tuple(int(word) for word in text.replace("/", " ").split())


def as_text(cells: Cells) -> str:
    return " ".join(map(str, cells))


# --- against the reference ---------------------------------------------------------------------------------------------


def test_all_of_2x2(two: Solution) -> None:
    """Exact fractions: every state's value, the expectation at the start, and the published number of states."""
    value = best_value(2, 2, number=Fraction)
    exact = expected(value, 4)
    assert two.value == pytest.approx(float(exact), rel=1e-14)
    assert two.states == STATES["2048"][4] == value.known().currsize == 110  # type: ignore[attr-defined]
    for level in two.levels.values():
        for key, found in zip(level.keys, level.values, strict=True):
            cells = tuple(two.game.face(cell) for cell in two.game.cells(State(int(key))))
            assert found == pytest.approx(float(value(cells)), rel=1e-14)


def test_all_of_2x3(six: Solution) -> None:
    value = best_value(2, 3)
    assert six.value == pytest.approx(expected(value, 6), rel=1e-12)
    assert six.states == STATES["2048"][6] == value.known().currsize  # type: ignore[attr-defined]


@pytest.mark.parametrize(("aim", "board"), [(None, LATE), (1024, "256 32 512 / 64 512 32 / 2 0 4")])
def test_the_end_of_3x3(aim: int | None, board: str) -> None:
    game = make("2048", size="3x3")
    solution = solve(game, aim, start=game.parse(board))
    value = best_value(3, 3, aim)
    assert solution.value == pytest.approx(value(parse(board)), rel=1e-12)
    assert solution.states == value.known().currsize  # type: ignore[attr-defined]
    assert solution.states > 1000


@pytest.mark.parametrize("aim", [8, 16, 32])
def test_the_chance_of_a_tile(two: Solution, aim: int) -> None:
    """As good as the reference, and no worse than play for the score."""
    solution = solve(two.game, aim)
    assert solution.value == pytest.approx(float(expected(best_value(2, 2, aim, Fraction), 4)), rel=1e-14)
    reached = {rate.tile: rate.reached for rate in solution.tiles}
    assert reached[aim] == pytest.approx(solution.value)
    assert reached[aim] >= {rate.tile: rate.reached for rate in two.tiles}[aim] - 1e-12
    assert max(reached) == aim, "nothing follows once the tile is there"


def test_the_slides_of_a_state(six: Solution) -> None:
    value = best_value(2, 3)
    for text in ("4 2 16 / 0 2 16", "2 0 0 / 0 0 2", "64 32 16 / 2 4 8", FULL):
        state = six.game.parse(text)
        values = six.values_of(state)
        wanted = reference.afterstates(list(parse(text)), 2, 3)
        for slide in Slide:
            if slide in wanted:
                after, reward = wanted[slide]
                worth = reward + sum(float(chance) * value(tuple(child)) for child, chance in reference.outcomes(after))
                assert values[slide] == pytest.approx(worth, rel=1e-12)
            else:
                assert values[slide] is None
        best = six.choose(state)
        assert six.value_of(state) == pytest.approx((0.0 if best is None else values[best]) or 0.0, rel=1e-12)


def test_symmetric_states_have_one_value(six: Solution) -> None:
    """To the last bit, and symmetric slides are ties: the first in the order U R D L is chosen."""
    for text in ("4 2 16 / 0 2 16", "2 0 0 / 0 0 2", "64 32 16 / 2 4 8"):
        values = {six.value_of(six.game.parse(as_text(image))) for image in images(parse(text), 2, 3)}
        assert len(values) == 1
    state = six.game.parse("0 2 0 / 0 2 0")
    up, right, down, left = six.values_of(state).values()
    assert (up, right) == (down, left)
    assert six.choose(state) is Slide.RIGHT
    square = solve(make("2048", size="3x3"), start=make("2048", size="3x3").parse(LATE))
    found = [square.value_of(square.game.parse(as_text(image))) for image in images(parse(LATE), 3, 3)]
    assert found == [square.value] * 8


def test_a_board_that_is_turned() -> None:
    turned = solve(make("2048", size="3x2"))
    assert turned.states == STATES["2048"][6]
    assert turned.value == pytest.approx(OPTIMA["2048", "standard", "2x3"], rel=1e-11)


def test_the_same_code_runs_as_plain_python(two: Solution) -> None:
    program = "from afterstate.games.game import make; from afterstate.search.solve import solve;"
    program += "print(repr(solve(make('2048', size='2x2')).value))"
    plain = process(program, NUMBA_DISABLE_JIT="1")
    assert float(plain.out) == two.value, plain.err


# --- games --------------------------------------------------------------------------------------------------------------


def play(solution: Solution, games: int, seed: int) -> tuple[np.ndarray[Any, np.dtype[np.float64]], list[int]]:
    """Scores and largest tiles of games by optimal play."""
    game = solution.game
    choose = cache(solution.choose)
    scores, tiles = np.zeros(games), []
    for number in range(games):
        rng = Random(seed, number=number)
        state = game.start(rng)
        while (slide := choose(state)) is not None:
            after = game.afterstates(state)[slide]
            scores[number] += after.reward
            state = game.sample(after, rng)
        tiles.append(game.face(game.largest(state)))
    return scores, tiles


@pytest.mark.parametrize(("name", "games"), [("two", 2000), ("six", 400)])
def test_games_by_optimal_play(name: str, games: int, request: pytest.FixtureRequest) -> None:
    """Mean score and tile rates come out as computed, within three standard errors."""
    solution: Solution = request.getfixturevalue(name)
    scores, tiles = play(solution, games, seed=1)
    assert abs(scores.mean() - solution.value) < 3 * scores.std(ddof=1) / games**0.5
    assert sum(rate.ended for rate in solution.tiles) == pytest.approx(1.0)
    for rate in solution.tiles:
        error = (rate.ended * (1 - rate.ended) / games) ** 0.5
        assert abs(tiles.count(rate.tile) / games - rate.ended) < 3 * error + 1 / games


@pytest.mark.parametrize(
    ("size", "games", "options", "share"),
    [
        ("2x2", 3000, {"network": "0123", "optimistic": 100}, 0.97),
        ("2x3", 100_000, {"network": "012345", "optimistic": 500}, 0.95),
        ("2x2", 3000, {}, 0.97),
        ("2x3", 30_000, {"lambda_": 0.5}, 0.9),
    ],
)
def test_learning_comes_near_the_optimum(size: str, games: int, options: dict[str, Any], share: float, tmp_path: Path) -> None:
    """One table for the whole board can hold the optimal values; with high hopes at first, it finds them.

    The default network has smaller patterns beside it, and comes near without hopes, sooner but not as near.
    """
    game = make("2048", size=size)
    trained = af.train(game, run=tmp_path / "run", games=games, method="tc", threads=1, seed=1, **options)
    found = af.evaluate(af.Agent(trained.network), games=50_000, seed=2)
    best = optimum(game)
    assert best is not None
    assert share * best < found.mean < best + 2 * found.interval


# --- what is known, and what is refused -----------------------------------------------------------------------------------


def test_the_optima(two: Solution, six: Solution) -> None:
    assert optimum(two.game) == pytest.approx(two.value, rel=1e-10)
    assert optimum(six.game) == pytest.approx(six.value, rel=1e-10)
    assert optimum(make("2048", size="3x2")) == optimum(six.game)
    assert optimum(make("2048", size="3x3")) == pytest.approx(5468.49, abs=0.005)  # as published
    assert optimum(make("2048")) is None


def test_progress_rises_to_the_end() -> None:
    told: list[float] = []
    solve(make("2048", size="2x3"), progress=told.append)
    assert told == sorted(told)
    assert 0 < told[0] < 0.01
    assert told[-1] == pytest.approx(1.0)


def test_what_cannot_be_solved(two: Solution, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="4x4 board has far more than 10"):
        solve(make("2048"))
    with pytest.raises(InputError, match="3x4 board has about 10"):
        solve(make("2048", size="3x4"))
    for aim in (0, 1, 3, 64, -2):
        with pytest.raises(InputError, match=f"aim {aim} is not a tile .* 2, 4, 8, 16, 32$"):
            solve(two.game, aim)
    other: Game = copy.copy(two.game)
    other.name = "go"
    with pytest.raises(InputError, match="go cannot be solved yet; these can: 2048"):
        check_solvable(other)
    monkeypatch.setattr("afterstate.search.solve.free_memory", lambda: 2**20)
    with pytest.raises(ResourceError, match=r"929 MiB.* 1 MiB"):
        solve(make("2048", size="3x3"))


def test_a_state_that_no_game_reaches(two: Solution) -> None:
    strange = two.game.parse("32 32 / 32 32")
    with pytest.raises(InputError, match="32 32 / 32 32"):
        two.value_of(strange)
    with pytest.raises(InputError, match="32 32 / 32 32"):
        two.choose(strange)
    assert solve(two.game, 32).value_of(strange) == 1.0
    assert solve(two.game, start=strange).value == pytest.approx(best_value(2, 2)((32, 32, 32, 32)), rel=1e-14)
    empty = solve(two.game, start=State(0))
    assert (empty.states, empty.value, empty.choose(State(0))) == (1, 0.0, None)


# --- the command ----------------------------------------------------------------------------------------------------------


def test_the_command(two: Solution) -> None:
    found = done("solve", "2048", "--size", "2x2", "--json").json
    assert (found["game"], found["rules"], found["size"], found["aim"]) == ("2048", "standard", "2x2", None)
    assert (found["states"], found["value"]) == (110, two.value)
    assert found["reached"] == {str(rate.tile): rate.reached for rate in two.tiles}
    assert sum(found["ended"].values()) == pytest.approx(1.0)
    out = done("solve", "2048", "--size", "2x2").out
    assert re.search(r"^states +110 up to symmetry", out, re.MULTILINE)
    assert re.search(r"^mean score +66\.9641\b", out, re.MULTILINE)
    assert re.search(r"^ +32 +8\.2887% +8\.2887%", out, re.MULTILINE)


def test_the_command_with_an_aim() -> None:
    out = done("solve", "2048", "--size", "2x3", "--aim", "64").out
    found = done("solve", "2048", "--size", "2x3", "--aim", "64", "--json").json
    assert found["aim"] == 64
    assert 0.9 < found["value"] < 1
    assert re.search(rf"^chance of 64 +{found['value']:.6%}", out, re.MULTILINE)


def test_the_command_with_a_board(six: Solution) -> None:
    board = "4 2 16 / 0 2 16"
    found = done("solve", "2048", "--board", board, "--json").json
    assert (found["board"], found["move"]) == (board, "up")
    assert found["value"] == six.value_of(six.game.parse(board))
    assert found["values"]["right"] is None
    assert found["values"]["up"] == pytest.approx(found["value"])
    assert re.search(r"^up +375\.8635 +◀ best", done("solve", "2048", "--board", board).out, re.MULTILINE)
    assert "the game is over" in done("solve", "2048", "--board", FULL).out
    assert done("solve", "2048", "--board", FULL, "--json").json["move"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("chess",), Exit.INPUT, ["'chess'", "2048"]),
        (("2048", "--size", "4x4"), Exit.INPUT, ["4x4", "far too many", "3x3"]),
        (("2048", "--size", "3x4"), Exit.INPUT, ["3x4", "10**12", "3x3"]),
        (("2048", "--size", "three"), Exit.INPUT, ["'three'"]),
        (("2048", "--rules", "nosuch"), Exit.INPUT, ["'nosuch'", "standard"]),
        (("2048", "--aim", "100"), Exit.INPUT, ["100", "64, 128"]),
        (("2048", "--aim", "256"), Exit.INPUT, ["256", "64, 128"]),
        (("2048", "--aim", "9" * 400), Exit.INPUT, ["999..."]),
        (("2048", "--aim", "high"), USAGE, ["--aim"]),
        (("2048", "--board", "2 2"), Exit.INPUT, ["6 cells", "2 were given"]),
        (("2048", "--board", "3 2 2 2 2 2"), Exit.INPUT, ["cell 1", "not a tile"]),
        ((), USAGE, ["game"]),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, tuple) else None,
)
def test_a_wrong_command_line(arguments: tuple[str, ...], code: int, words: list[str]) -> None:
    check(run("solve", *arguments), code, *words)


def test_an_interruption_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    done("solve", "2048", "--size", "2x2")
    monkeypatch.setattr("afterstate.search.solve._evaluate", interrupt)
    result = run("solve", "2048")
    assert (result.code, result.out, result.error) == (Exit.INTERRUPTED, "", "")


def test_eval_tells_how_far_the_optimum_is(tmp_path: Path, small: Path) -> None:
    folder = tmp_path / "run"
    done("train", "2048", "--size", "2x2", "--games", "500", "--threads", "1", "--quiet", "--run", folder)
    found = done("eval", folder, "--games", "1000", "--json").json
    assert found["optimum"] == OPTIMA["2048", "standard", "2x2"]
    behind = 1 - found["mean"] / found["optimum"]
    word = "below" if behind >= 0 else "above"
    assert (
        f"optimal play has a mean of 66.96; this is {abs(behind):.2%} {word} it" in done("eval", folder, "--games", "1000").out
    )
    assert "optimum" not in done("eval", small, "--games", "2", "--json").json
