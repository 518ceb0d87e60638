"""`check_game`: our games pass, and every kind of check reports a game that is broken in one place."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import afterstate as af
from afterstate.bitboard import Shape
from afterstate.games.check import DRAWS
from afterstate.games.game import Game, make
from afterstate.games.threes import ThreesGame
from afterstate.games.twenty48 import Twenty48Game
from test_players import EXAMPLES, with_games

Position = af.State | af.Afterstate
Tried = dict[af.Slide, tuple[af.Afterstate, bool]]


@pytest.mark.parametrize(
    ("name", "rules", "size"),
    [
        ("2048", "standard", "4x4"),
        ("2048", "standard", "3x3"),
        ("2048", "standard", "2x3"),
        ("threes", "tcg2022", "4x4"),
        ("threes", "tcg2018", "4x4"),
        ("threes", "tcg2018-bonus", "4x4"),
        ("threes", "official", "4x4"),
        ("threes", "official", "3x2"),
    ],
)
def test_our_games_agree_with_themselves(name: str, rules: str, size: str) -> None:
    game = make(name, rules=rules, size=size)
    report = af.check_game(game)
    assert report == af.check_game(game), "the same seed checks the same states"
    assert report.games == 6
    assert report.states > 50
    assert report.slides > report.states
    assert report.outcomes == report.placed > report.states
    assert report.draws >= 6 * DRAWS
    assert report.downgraded > 0
    assert (report.mirrored > 0) == game.symmetric
    assert str(report).startswith(f"{name} ({rules}, {size}) agrees with itself: 6 games, {report.states:,} states, ")


def test_another_seed_checks_other_states() -> None:
    game = make("2048", size="2x3")
    assert af.check_game(game, seed=2, games=2) != af.check_game(game, seed=3, games=2)
    with pytest.raises(af.InputError, match="at least one game"):
        af.check_game(game, games=0)


def test_every_mirror_image_is_compared() -> None:
    for size, images in (("2x2", 7), ("2x3", 3)):
        report = af.check_game(make("2048", size=size), games=1)
        assert report.mirrored == images * report.states


# --- an own game ---------------------------------------------------------------------------------------------------------

GUIDE = EXAMPLES.parent / "docs" / "adding-a-game.md"
CHECK = "import afterstate as af; print(af.check_game(af.make('drift')))"


def test_the_example_of_an_own_game_agrees_with_itself() -> None:
    done = with_games(EXAMPLES / "drift.py", code=CHECK)
    assert done.returncode == 0, done.stderr
    shown = re.search(r"^# (drift \(standard, 4x4\) agrees .+) \.\.\.$", GUIDE.read_text(), re.MULTILINE)
    assert shown is not None
    assert done.stdout.startswith(shown[1])


def test_a_wrong_kernel_of_an_own_game_is_found(tmp_path: Path) -> None:
    """A new tile that always takes the first empty cell, though `outcomes` says any."""
    text = (EXAMPLES / "drift.py").read_text()
    right = "_1 << below(bits, popcount(empty))"
    assert text.count(right) == 1
    (tmp_path / "drift.py").write_text(text.replace(right, "_1 << below(bits, _1)"))
    done = with_games(tmp_path / "drift.py", code=CHECK)
    assert done.returncode != 0
    assert "GameError: make('drift', rules='standard', size='4x4'): `sample` draws by the probabilities" in done.stderr
    assert f"found {DRAWS} times" in done.stderr


HALVE = """

@implement(downgrade, Drift)
def _halve(game: Any, board: u64, extra: u64, highest: u64) -> tuple[u64, u64]:
    twos = (board >> _1) & u64(0x1111111111111111)  # every 4 becomes a 2: tiles that differed may merge then
    return (board & ~(twos << _1)) | twos, extra


DriftGame.lowest_downgrade = 1
"""


def test_a_wrong_downgrade_is_found(tmp_path: Path) -> None:
    text = (EXAMPLES / "drift.py").read_text()
    names = "import Afterstate, Game, State, largest"
    assert text.count(names) == 1
    (tmp_path / "drift.py").write_text(text.replace(names, f"{names}, downgrade") + HALVE)
    done = with_games(tmp_path / "drift.py", code=CHECK)
    assert done.returncode != 0
    assert re.search(r"`downgrade` to \d+ keeps what slides do, from .+, on .+: expected .+, found .+", done.stderr), (
        done.stderr
    )


# --- broken games, one for each kind of check ----------------------------------------------------------------------------


def broken(**parts: Any) -> Game:
    """2048 on a 2x3 board with some methods or attributes replaced."""
    methods = {name: part for name, part in parts.items() if callable(part)}
    game: Game = type("Broken", (Twenty48Game,), methods)(Shape(2, 3))
    for name, part in parts.items():
        if not callable(part):
            setattr(game, name, part)
    return game


def broken_threes(**parts: Any) -> Game:
    game: Game = type("Broken", (ThreesGame,), parts)("tcg2022", Shape(2, 3))
    return game


def tried(game: Any, state: af.State) -> Tried:
    """The slides by the rules."""
    return Twenty48Game.try_slides(game, state)


def all_legal(self: Any, state: af.State) -> Tried:
    return {slide: (after, True) for slide, (after, _) in tried(self, state).items()}


def none_legal(self: Any, state: af.State) -> Tried:
    return {slide: (after, False) for slide, (after, _) in tried(self, state).items()}


def never_up(self: Any, state: af.State) -> Tried:
    return {slide: (after, legal and slide != af.Slide.UP) for slide, (after, legal) in tried(self, state).items()}


def more_for_left(self: Any, state: af.State) -> Tried:
    after, legal = tried(self, state)[af.Slide.LEFT]
    return tried(self, state) | {af.Slide.LEFT: (replace(after, reward=after.reward + 2), legal)}


def over_the_edge(self: Any, state: af.State) -> Tried:
    return {
        slide: (replace(after, board=after.board | 1 << 60 if legal else after.board), legal)
        for slide, (after, legal) in tried(self, state).items()
    }


def one_outcome_less(self: Any, afterstate: af.Afterstate) -> list[af.Outcome]:
    return Twenty48Game.outcomes(self, afterstate)[1:]


def outcomes_twice(self: Any, afterstate: af.Afterstate) -> list[af.Outcome]:
    return [af.Outcome(one.state, one.probability / 2) for one in Twenty48Game.outcomes(self, afterstate) * 2]


def first_cell_preferred(self: Any, afterstate: af.Afterstate) -> list[af.Outcome]:
    every = Twenty48Game.outcomes(self, afterstate)
    chances = sorted((one.probability for one in every), reverse=True)
    return [af.Outcome(one.state, chance) for one, chance in zip(every, chances, strict=True)]


def no_new_tile(self: Any, afterstate: af.Afterstate, rng: af.Random) -> af.State:
    return af.State(afterstate.board)


def seldom_fours(self: Any, afterstate: af.Afterstate, rng: af.Random) -> af.State:
    states = [Twenty48Game.sample(self, afterstate, rng) for _ in range(2)]
    return min(states, key=lambda state: sum(self.cells(state)))


def never_placed(self: Any, position: Position, cell: int, tile: int, hint: int = 0) -> af.State:
    raise af.InputError("not here")


def placed_elsewhere(self: Any, position: Position, cell: int, tile: int, hint: int = 0) -> af.State:
    other = next((other for other, face in enumerate(self.cells(position)) if other != cell and not face), cell)
    return Twenty48Game.place(self, position, other, tile, hint)


def placed_anywhere(self: Any, position: Position, cell: int, tile: int, hint: int = 0) -> af.State:
    return af.State(position.board | tile << self.shape.shift(cell))


def written_backwards(self: Any, position: Position) -> str:
    return Twenty48Game.format(self, position)[::-1]


def unreadable(self: Any, position: Position) -> str:
    return "unreadable " + Twenty48Game.format(self, position)


def cells_backwards(self: Any, position: Position) -> list[int]:
    return Twenty48Game.cells(self, position)[::-1]


def one_too_many(self: Any, position: Position) -> int:
    return Twenty48Game.largest(self, position) + 1


def only_three_tiles(self: Any, index: int) -> int:
    return min(index, 3)


def doubled(self: Any, state: af.State, rewards: int) -> int:
    return 2 * rewards


def always_seven(self: Any, position: Position) -> str:
    return "7"


def one_context_less(self: Any, context: str) -> tuple[Any, int]:
    sight, count = ThreesGame.sight(self, context)
    return sight, count - ("hint" in context)


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (broken(try_slides=all_legal), "is legal but changes nothing, on .+: expected illegal, found legal"),
        (broken(try_slides=never_up), "a slide up changes the board but is illegal, on .+: expected legal, found illegal"),
        (broken(try_slides=none_legal), "no first state has a legal slide"),
        (broken(try_slides=more_for_left), "is the mirror image of .+, on .+: expected .+ reward 0, found .+ reward 2"),
        (broken(try_slides=over_the_edge), "there is a tile outside the board, on .+ found 0x1"),
        (broken(outcomes=one_outcome_less), "are above 0 and add up to 1, on .+: expected 1, found 0"),
        (broken(outcomes=outcomes_twice), "lists every state once, on .+: expected 8, found 16"),
        (broken(outcomes=first_cell_preferred), "outcomes of a mirror image are mirror images"),
        (broken(sample=no_new_tile), "`sample` draws one of `outcomes`, on .+: expected one of 8 outcomes, found 0 "),
        (broken(sample=seldom_fours), rf"\({DRAWS} draws; .+\), on .+: expected about \d+ times, found \d+ times"),
        (broken(place=never_placed), "`place` puts a 2 on cell ., on .+: expected 2.+, found not here"),
        (broken(place=placed_elsewhere), "`place` puts a 2 on cell .*, on .+: expected State.+, found State"),
        (
            broken(place=placed_anywhere),
            "`place` refuses a cell that is taken, on .+: expected an InputError, found a tile",
        ),
        (broken(format=written_backwards), "`parse` reads what `format` writes, on .+: expected State.+, found State"),
        (broken(format=unreadable), "`parse` reads what `format` writes, on unreadable 2 .+, found a 2x3 board has 6 cells"),
        (broken(example="2 2"), "`example` cannot be read: a 2x3 board has 6 cells"),
        (broken(cells=cells_backwards), "`cells` is empty where the board is, on "),
        (broken(largest=one_too_many), "`largest` is the largest of `cells`, on .+: expected 1, found 2"),
        (broken(top=1, win=1), "no tile is above `top`, on .+: expected at most 1, found 2"),
        (broken(face=only_three_tiles), r"face of its own.+ found \[0, 1, 2, 3, 3"),
        (broken(win=8), "`win` is the index of a tile: expected 1 to 7, found 8"),
        (broken(goal=8), "`goal` is the index of a tile: expected 1 to 7, found 8"),
        (broken(firsts=1), "has `firsts` tiles, on .+: expected 1, found 2"),
        (broken(longest=3), "no game has more slides than `longest`, on .+: expected at most 3, found 4"),
        (broken(most=11), "no score is above `most`, on .+: expected at most 11, found "),
        (broken(score=doubled), "adds its reward to the score, on .+: expected 4, found 8"),
        (broken(context="moon"), "a network cannot see 'moon', its default"),
        (
            broken_threes(sight=one_context_less),
            r"a set of tables of context '.*hint.*', on .+: expected below \d, found",
        ),
        (broken(next_tile=always_seven), "is one of `next_tiles`, on .+: expected nothing, found '7'"),
        (broken(next_tiles={"2": "a two"}), r"is one of `next_tiles`, on .+: expected \['2'\], found ''"),
    ],
    ids=lambda value: "" if isinstance(value, Game) else value[:40],
)
def test_a_broken_game_is_told_what_is_wrong(game: Game, message: str) -> None:
    with pytest.raises(af.GameError, match=message) as caught:
        af.check_game(game)
    assert str(caught.value).startswith(f"{game!r}: ")
