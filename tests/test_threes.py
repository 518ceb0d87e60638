"""The rules of Threes!: every rule set against the slow reference, properties, and boundaries by name."""

import math
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_learning
import reference_threes as slow
from afterstate.errors import InputError
from afterstate.games.game import Afterstate, Game, Slide, State, make
from afterstate.games.perft import perft
from afterstate.rng import Random
from positions import faces, picture

RULES = ["tcg2022", "tcg2018", "tcg2018-bonus", "official"]
SIZES = [(4, 4), (2, 3), (3, 2), (3, 3), (2, 2), (4, 3)]
TILES = [0, 0, 1, 2, 3, 6, 12, 24, 48, 96, 192, 384, 768, 1536, 3072, 6144]


def pair(rules: str, rows: int = 4, columns: int = 4) -> tuple[Game, slow.Game]:
    return make("threes", rules=rules, size=f"{rows}x{columns}"), slow.Game(rules, rows, columns)


def with_bag(referee: slow.Game, cells: list[int], hint: str) -> slow.Position | None:
    """A position with these tiles, this next tile and a bag that fits; None if there is none."""
    bag = referee.rules.bag
    for ones in range(bag.count(1) + 1):
        for twos in range(bag.count(2) + 1):
            for threes in range(bag.count(3) + 1):
                left = (1,) * ones + (2,) * twos + (3,) * threes
                total = sum(cells) + sum(left) + (int(hint) if hint.isdecimal() else 0)
                full = hint.isdecimal() and left.count(int(hint)) == bag.count(1)
                whole = 6 if referee.rules.bonus and max(cells) >= 48 else sum(bag)
                if total % whole == 0 and left != tuple(sorted(bag)) and not full:
                    given = 210 if referee.rules.counted else 0
                    return slow.Position(tuple(cells), left, hint, given=given, bonuses=int(given > 0))
    return None


def check(game: Game, referee: slow.Game, position: slow.Position) -> State:
    """A state, its slides and all that may follow are what the reference says."""
    text = referee.text(position)
    state = game.parse(text)
    assert game.format(state) == text
    found = game.afterstates(state)
    expected = referee.afterstates(position)
    assert {int(slide): (tuple(faces(game, after)), after.reward) for slide, after in found.items()} == {
        slide: (after.cells, reward) for slide, (after, reward) in expected.items()
    }
    assert game.is_over(state) == (not expected)
    assert game.score(state, 0) == referee.score(position)
    for slide, after in found.items():
        outcomes = game.outcomes(after)
        chances = {game.format(outcome.state): outcome.probability for outcome in outcomes}
        assert len(chances) == len(outcomes), "an outcome is given twice"
        wanted = {referee.text(outcome): float(chance) for outcome, chance in referee.outcomes(expected[int(slide)][0])}
        assert chances == pytest.approx(wanted, abs=1e-9)
        assert math.fsum(chances.values()) == pytest.approx(1, abs=1e-12)
    return state


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize(("rows", "columns"), SIZES)
@settings(max_examples=60)
@given(data=st.data())
def test_any_position_equals_the_reference(rules: str, rows: int, columns: int, data: st.DataObject) -> None:
    game, referee = pair(rules, rows, columns)
    top = data.draw(st.sampled_from([4, 8, 16]))
    few = data.draw(st.lists(st.sampled_from(TILES[:top]), min_size=1, max_size=4).map(lambda tiles: [0, 1, *tiles]))
    palette = data.draw(st.sampled_from([TILES[:top], few, few[1:]]))
    cells = data.draw(st.lists(st.sampled_from(palette), min_size=rows * columns, max_size=rows * columns))
    hints = ["1", "2", "3", *(["+"] if referee.rules.bonus and max(cells) >= 48 else [])] if referee.rules.shown else [""]
    position = with_bag(referee, cells, data.draw(st.sampled_from(hints)))
    if position is not None:
        check(game, referee, position)


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (2, 3)])
def test_games_are_those_of_the_reference(rules: str, rows: int, columns: int) -> None:
    """The same seed draws the same tiles, by the definition of how tiles are drawn."""
    game, referee = pair(rules, rows, columns)
    for number in range(6):
        rng, generator = Random(3, number=number), reference_learning.Generator(3, 2, number)
        state, position = game.start(rng), referee.first(generator)
        for move in range(400):
            assert game.format(state) == referee.text(position)
            if move % 20 == 0:
                check(game, referee, position)
            slid = referee.afterstates(position)
            if not slid:
                break
            slide = max(slid, key=lambda each: (slid[each][1], -((each + move) % 4)))
            after = game.slide(state, Slide(slide))
            assert after is not None
            state = game.sample(after, rng)
            position = referee.place(generator, slid[slide][0], list(slid[slide][0].entry))
        assert game.is_over(state)


# rules, size -> a position, and (afterstates, states, reward, ended) for each depth from 1 on
FIGURES: dict[tuple[str, int, int], tuple[str, list[tuple[int, int, int, int]]]] = {
    ("tcg2022", 4, 4): (
        "1 0 0 2 / 0 0 0 0 / 0 0 0 0 / 0 0 0 3 | bag 23 | next 1",
        [(4, 32, 0, 0), (128, 512, 12, 0), (2047, 24549, 666, 0)],
    ),
    ("tcg2018", 4, 4): (
        "1 0 0 2 / 0 0 0 0 / 0 0 0 0 / 0 0 0 3 | bag -",
        [(4, 48, 0, 0), (192, 1536, 18, 0), (6139, 24539, 1947, 0)],
    ),
    ("tcg2018-bonus", 4, 4): (
        "48 6 0 0 / 0 3 3 0 / 0 1 2 0 / 0 0 0 3 | bag 123 | next + | given 40+1",
        [(4, 64, 0, 0), (256, 3048, 312, 0)],
    ),
    ("official", 4, 4): (
        "96 6 0 0 / 0 3 3 0 / 0 1 2 0 / 0 0 0 3 | bag 123 | next +",
        [(4, 88, 0, 0), (352, 4284, 432, 0)],
    ),
    ("tcg2022", 2, 3): (
        "1 0 2 / 0 0 3 | bag 23 | next 1",
        [(3, 12, 0, 0), (40, 80, 42, 0), (268, 1548, 537, 0), (4833, 17892, 11610, 300)],
    ),
}


def test_a_bonus_tile_to_come_counts_if_nothing_else_is_said() -> None:
    game = make("threes", rules="tcg2018-bonus")
    for text in ("48 2 3 6 / 1 2 3 6 / 0 0 0 0 / 0 0 0 0 | next +", "48 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 | next +"):
        state = game.parse(text)
        assert game.parse(game.format(state)) == state
        assert game.format(state).endswith("+1")


def position_of(text: str) -> slow.Position:
    board, *parts = text.split(" | ")
    said = dict(part.split() for part in parts)
    bag = tuple(int(tile) for tile in said["bag"] if tile != "-")
    ordinary, bonuses = (int(n) for n in said.get("given", "0+0").split("+"))
    cells = tuple(int(word) for word in board.replace("/", " ").split())
    return slow.Position(cells, bag, said.get("next", ""), said.get("slid", ""), (), ordinary + bonuses, bonuses)


@pytest.mark.parametrize("case", FIGURES, ids=str)
def test_perft(case: tuple[str, int, int]) -> None:
    game, referee = pair(*case)
    text, expected = FIGURES[case]
    found = perft(game, game.parse(text), len(expected))
    assert [(row.afterstates, row.states, row.reward, row.ended) for row in found] == expected
    assert referee.perft(position_of(text), 2) == expected[:2]


# --- properties --------------------------------------------------------------------------------------------------------


def play(game: Game, seed: int) -> list[State]:
    """The states of one game of some slides or other."""
    rng = Random(seed)
    states = [game.start(rng)]
    while slid := game.afterstates(states[-1]):
        choices = list(slid.values())
        states.append(game.sample(choices[len(states) * (seed + 1) % len(choices)], rng))
    return states


@pytest.mark.parametrize("rules", RULES)
def test_every_state_of_a_game_can_be_written_and_read(rules: str) -> None:
    game = make("threes", rules=rules)
    for seed in range(20):
        for state in play(game, seed):
            assert game.parse(game.format(state)) == state


def test_a_bag_of_three_gives_each_tile_once() -> None:
    game = make("threes", rules="tcg2022")
    states = play(game, 1)
    hints = [state.extra >> 9 & 7 for state in states]
    assert sorted(game.cells(states[0])) == [0] * 7 + [1] * 3 + [2] * 3 + [3] * 3
    for start in range(0, len(hints) - 3, 3):
        assert sorted(hints[start : start + 3]) == [1, 2, 3]


@pytest.mark.parametrize("rules", ["tcg2018-bonus", "official"])
def test_a_bag_of_twelve_gives_each_tile_four_times(rules: str) -> None:
    game = make("threes", rules=rules)
    for seed in range(3):
        states = play(game, seed)
        drawn = Counter(game.cells(states[0]))
        drawn.update(state.extra >> 9 & 7 for state in states[:3])  # nine, and the next three
        assert [drawn[tile] for tile in (1, 2, 3)] == [4, 4, 4]


def test_bonus_tiles_come_once_in_21() -> None:
    """Official rules: of many draws with a 48 on the board; the range is five standard deviations."""
    game = make("threes", rules="official")
    after = game.slide(game.parse("48 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 | next 1 | bag 11122223333"), Slide.DOWN)
    assert after is not None
    rng = Random(1)
    drawn = sum(game.sample(after, rng).extra >> 9 & 7 == 4 for _ in range(20_000))
    assert abs(drawn - 20_000 / 21) < 5 * math.sqrt(20_000 * 20 / 441)


def test_counted_bonus_tiles_never_exceed_one_in_21() -> None:
    game = make("threes", rules="tcg2018-bonus")
    for counts, allowed in (("given 19+0", False), ("given 20+0", True), ("given 39+1", False), ("given 40+1", True)):
        state = game.parse(f"48 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 | next 1 | bag 11122223333 | {counts}")
        after = game.slide(state, Slide.DOWN)
        assert after is not None
        assert any(outcome.state.extra >> 9 & 7 == 4 for outcome in game.outcomes(after)) is allowed, counts


def test_where_a_tile_enters() -> None:
    """A slide to the left: under the course's rules any room at the right wall, officially only lines that moved."""
    board = "0 3 0 0 / 1 0 0 0 / 0 0 0 0 / 2 3 0 0 | next 3"
    for rules, cells in (("tcg2022", {3, 7, 11, 15}), ("official", {3})):
        game = make("threes", rules=rules)
        after = game.slide(game.parse(board), Slide.LEFT)
        assert picture(game, after).startswith("3 0 0 0 / 1 0 0 0 / 0 0 0 0 / 2 3 0 0 |")
        assert after is not None
        entered = {
            cell for o in game.outcomes(after) for cell in range(16) if game.cells(o.state)[cell] > game.cells(after)[cell]
        }
        assert entered == cells


def test_the_largest_tiles() -> None:
    """Two 6144 do not merge in the course; officially they make a 12288, which ends the game."""
    board = "6144 6144 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 | next 3"
    course, official = make("threes", rules="tcg2022"), make("threes", rules="official")
    assert course.slide(course.parse(board), Slide.LEFT) is None
    after = official.slide(official.parse(board), Slide.LEFT)
    assert after is not None
    assert picture(official, after).startswith("12288 0 0 0 /")
    assert after.reward == 3**13 - 2 * 3**12
    assert all(official.is_over(outcome.state) for outcome in official.outcomes(after))
    with pytest.raises(InputError, match="not a tile of Threes! under the rules tcg2022"):
        course.parse("12288 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 | next 3")


@pytest.mark.parametrize("rules", RULES)
def test_swapping_ones_and_twos_changes_nothing_else(rules: str) -> None:
    game = make("threes", rules=rules)
    swap = str.maketrans("12", "21")

    def swapped(state: State) -> State:
        board, *parts = game.format(state).split(" | ")
        cells = " / ".join(
            " ".join(w.translate(swap) if w in {"1", "2"} else w for w in row.split()) for row in board.split("/")
        )
        said = dict(part.split() for part in parts)
        if "bag" in said:
            said["bag"] = "".join(sorted(said["bag"].translate(swap)))
        if "next" in said:
            said["next"] = said["next"].translate(swap)
        return game.parse(" | ".join([cells, *(f"{key} {value}" for key, value in said.items())]))

    for state in play(game, 2):
        one, other = game.afterstates(state), game.afterstates(swapped(state))
        assert {slide: after.reward for slide, after in one.items()} == {s: after.reward for s, after in other.items()}
        for slide in one:
            here = {swapped(o.state): o.probability for o in game.outcomes(one[slide])}
            assert {o.state: o.probability for o in game.outcomes(other[slide])} == pytest.approx(here)


# --- tiles from outside ------------------------------------------------------------------------------------------------


def test_place_follows_the_rules() -> None:
    game = make("threes", rules="tcg2022")
    after = game.slide(game.parse("0 3 0 0 / 1 0 0 0 / 0 0 0 0 / 2 3 0 0 | next 3"), Slide.LEFT)
    assert after is not None
    assert game.format(game.place(after, 7, 3, 1)) == "3 0 0 0 / 1 0 0 3 / 0 0 0 0 / 2 3 0 0 | bag 23 | next 1 | slid L"
    for cell, tile, hint, message in (
        (0, 3, 1, "enter cell 0"),
        (5, 3, 1, "enter cell 5"),
        (3, 2, 1, "a tile 2 cannot come now"),
        (3, 0, 1, "cannot come now"),
        (3, 4, 1, "a tile 6 cannot come now"),
        (3, 3, 4, "be followed by 6"),
    ):
        with pytest.raises(InputError, match=message):
            game.place(after, cell, tile, hint)


@pytest.mark.parametrize("rules", RULES)
def test_what_is_sampled_can_be_placed(rules: str) -> None:
    """Every new tile of a game, put by hand, gives the same states."""
    game = make("threes", rules=rules)
    for seed in range(5):
        states = play(game, seed)
        for before, state in pairwise(states):
            last = (state.extra >> 12 & 7) - 1
            after = game.slide(before, Slide(last))
            assert after is not None
            cells = [
                (cell, new)
                for cell, (old, new) in enumerate(zip(game.cells(after), game.cells(state), strict=True))
                if old != new
            ]
            [(cell, tile)] = cells
            assert game.place(after, cell, tile, state.extra >> 9 & 7) == state


# --- text --------------------------------------------------------------------------------------------------------------

EMPTY = "0 0 0 0 / 0 0 0 0 / 0 0 0 0 / "


@pytest.mark.parametrize(
    ("rules", "text", "message"),
    [
        ("tcg2022", EMPTY + "1 2 3 0", "give the next tile"),
        ("tcg2022", EMPTY + "1 2 3 0 | next 4", "give the next tile"),
        ("tcg2022", EMPTY + "1 2 3 0 | next +", "give the next tile"),
        ("tcg2022", EMPTY + "1 2 3 0 | next 1 | next 2", "each at most once"),
        ("tcg2022", EMPTY + "1 2 3 0 | next 1 | hint 2", "each at most once and with one word, not 'hint 2'"),
        ("tcg2022", EMPTY + "1 2 3 0 | next 1 | bag", "with one word, not 'bag'"),
        ("tcg2022", EMPTY + "1 2 3 0 | next 1 | bag 13", "bag 13 does not fit this board and its next tile"),
        ("tcg2022", EMPTY + "1 2 3 0 | next 1 | bag 2233", "bag 2233 does not fit"),
        ("tcg2022", EMPTY + "1 2 3 0 | next 1 | bag 4", "a bag is written like 13"),
        ("tcg2022", EMPTY + "1 1 1 1 | next 3", "no bag fits"),
        ("tcg2022", EMPTY + "1 0 0 0 | next 2", None),
        ("tcg2022", EMPTY + "3 0 0 0 | next 1", None),
        ("tcg2022", EMPTY + "1 2 3 0 | next 1 | slid X", "slid is U, R, D or L"),
        ("tcg2022", EMPTY + "1 2 3 0 | next 1 | given 5+0", "each at most once and with one word"),
        ("tcg2022", EMPTY + "1 2 4 0 | next 1", "cell 15 of the board is 4, which is not a tile of Threes!"),
        ("tcg2018", EMPTY + "1 2 3 0 | next 1", "write bag, slid"),
        ("tcg2018-bonus", EMPTY + "1 2 3 0 | next 1 | given 5", "given is written like 57"),
        ("tcg2018-bonus", EMPTY + "1 2 3 0 | next 1 | given 5+1", "at most one in 21"),
        ("official", EMPTY + "1 2 3 0", "one of 1, 2, 3, \\+"),
    ],
)
def test_what_cannot_be(rules: str, text: str, message: str | None) -> None:
    game = make("threes", rules=rules)
    if message is None:
        assert game.format(game.parse(text)).startswith(text.partition("|")[0].strip())
        return
    with pytest.raises(InputError, match=message):
        game.parse(text)


def test_rule_sets_have_names() -> None:
    with pytest.raises(InputError, match="threes has no rule set 'tcg2030'; it has: tcg2022, tcg2018, tcg2018-bonus, official"):
        make("threes", rules="tcg2030")
    assert make("threes").rules == "tcg2022"


def test_an_afterstate_says_that_a_tile_is_due() -> None:
    game = make("threes")
    after = game.slide(game.parse(EMPTY + "1 2 3 0 | next 1"), Slide.RIGHT)
    assert isinstance(after, Afterstate)
    assert game.format(after) == EMPTY + "0 1 2 3 | bag 23 | next 1 | slid R | a tile is due"
