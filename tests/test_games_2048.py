"""The rules of 2048: the kernels against the slow reference, properties, and boundaries by name."""

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from afterstate.errors import InputError
from afterstate.games.game import Afterstate, Game, Slide, State, make
from afterstate.rng import Random
from positions import SMALL_SIZES, boards, faces, picture, state_of

OVER = "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"


# --- against the reference -------------------------------------------------------------------------------------------


def check_against_reference(game: Game, cells: list[int]) -> None:
    rows, columns = game.shape.rows, game.shape.columns
    state = state_of(game, cells)
    assert faces(game, state) == cells
    found = game.afterstates(state)
    slid = {int(slide): (faces(game, after), after.reward) for slide, after in found.items()}
    assert slid == reference.afterstates(cells, rows, columns)
    assert [game.slide(state, slide) for slide in Slide] == [found.get(slide) for slide in Slide]
    assert game.is_over(state) == reference.is_over(cells, rows, columns)
    positions: list[State | Afterstate] = [state, *found.values()]
    for position in positions:
        tiles = faces(game, position)
        assert game.face(game.largest(position)) == max(tiles)
        check_outcomes(game, position, tiles)


def check_outcomes(game: Game, position: State | Afterstate, cells: list[int]) -> None:
    expected = {tuple(board): chance for board, chance in reference.outcomes(cells)}
    outcomes = game.outcomes(position)
    found = {tuple(faces(game, outcome.state)): outcome.probability for outcome in outcomes}
    assert len(found) == len(outcomes), "an outcome is given twice"
    assert found.keys() == expected.keys()
    assert all(abs(found[board] - float(expected[board])) < 1e-12 for board in expected)
    if outcomes:
        assert abs(math.fsum(found.values()) - 1) < 1e-12


@settings(max_examples=2000)
@given(cells=boards("4x4"))
def test_4x4_boards_equal_the_reference(game: Game, cells: list[int]) -> None:
    check_against_reference(game, cells)


@pytest.mark.parametrize("size", SMALL_SIZES)
@settings(max_examples=400)
@given(data=st.data())
def test_small_boards_equal_the_reference(size: str, data: st.DataObject) -> None:
    check_against_reference(make("2048", size=size), data.draw(boards(size)))


def test_every_2x2_game_equals_the_reference() -> None:
    """All states that any 2x2 game reaches: no tile is above 32, and no game has more slides than `longest`."""
    game = make("2048", size="2x2")
    starts = {tuple(two) for one, _ in reference.outcomes([0] * 4) for two, _ in reference.outcomes(one)}
    seen, new = set(starts), starts
    slides_made = -1
    while new:  # one round for each slide
        slides_made += 1
        following = set()
        for state in new:
            for after, _ in reference.afterstates(list(state), 2, 2).values():
                following |= {tuple(cells) for cells, _ in reference.outcomes(after)}
        seen |= following
        new = following
    for state in sorted(seen):
        check_against_reference(game, list(state))
    assert max(max(state) for state in seen) == 32
    assert slides_made <= game.longest


# --- properties ------------------------------------------------------------------------------------------------------


def mirrored(cells: list[int], columns: int) -> list[int]:
    return [tile for start in range(0, len(cells), columns) for tile in cells[start : start + columns][::-1]]


def flipped(cells: list[int], columns: int) -> list[int]:
    return [tile for start in reversed(range(0, len(cells), columns)) for tile in cells[start : start + columns]]


def transposed(cells: list[int], columns: int) -> list[int]:
    return [tile for column in range(columns) for tile in cells[column::columns]]


MIRROR = {Slide.UP: Slide.UP, Slide.RIGHT: Slide.LEFT, Slide.DOWN: Slide.DOWN, Slide.LEFT: Slide.RIGHT}
FLIP = {Slide.UP: Slide.DOWN, Slide.RIGHT: Slide.RIGHT, Slide.DOWN: Slide.UP, Slide.LEFT: Slide.LEFT}
TRANSPOSE = {Slide.UP: Slide.LEFT, Slide.RIGHT: Slide.DOWN, Slide.DOWN: Slide.RIGHT, Slide.LEFT: Slide.UP}


@pytest.mark.parametrize("size", ["4x4", "2x3", "3x3"])
@settings(max_examples=300)
@given(data=st.data())
def test_symmetry_commutes_with_a_slide(size: str, data: st.DataObject) -> None:
    cells = data.draw(boards(size))
    game = make("2048", size=size)
    turned_game = make("2048", size="x".join(reversed(size.split("x"))))
    columns = game.shape.columns
    plain = game.afterstates(state_of(game, cells))
    for other, symmetry, slide_to in (
        (game, mirrored, MIRROR),
        (game, flipped, FLIP),
        (turned_game, transposed, TRANSPOSE),
    ):
        expected = {slide_to[s]: (symmetry(faces(game, a), columns), a.reward) for s, a in plain.items()}
        after = other.afterstates(state_of(other, symmetry(cells, columns)))
        assert {s: (faces(other, a), a.reward) for s, a in after.items()} == expected


@settings(max_examples=300)
@given(cells=boards("4x4"))
def test_slide_conserves_the_tile_sum_and_legal_means_changed(game: Game, cells: list[int]) -> None:
    state = state_of(game, cells)
    for after in game.afterstates(state).values():
        assert (after.board, after.extra) != (state.board, state.extra)
        assert sum(faces(game, after)) == sum(cells)
        assert after.reward >= 0
        assert cells.count(0) <= faces(game, after).count(0)


@settings(max_examples=300)
@given(cells=boards("4x4"))
def test_opposite_slides_have_the_same_reward(game: Game, cells: list[int]) -> None:
    after = game.afterstates(state_of(game, cells))
    for one, other in ((Slide.LEFT, Slide.RIGHT), (Slide.UP, Slide.DOWN)):
        rewards = {after[slide].reward for slide in (one, other) if slide in after}
        assert len(rewards) <= 1
        if rewards and rewards != {0}:
            assert one in after
            assert other in after


@given(cells=boards("4x4").filter(lambda cells: 0 in cells), seed=st.integers(0, 2**64 - 1))
def test_sample_is_one_of_the_outcomes(game: Game, cells: list[int], seed: int) -> None:
    state, rng = state_of(game, cells), Random(seed)
    possible = {outcome.state for outcome in game.outcomes(state)}
    for _ in range(5):
        assert game.sample(state, rng) in possible


@pytest.mark.parametrize("size", ["4x4", *SMALL_SIZES])
@given(seed=st.integers(0, 2**64 - 1))
def test_start_has_two_tiles(size: str, seed: int) -> None:
    game = make("2048", size=size)
    cells = faces(game, game.start(Random(seed)))
    tiles = [tile for tile in cells if tile != 0]
    assert len(tiles) == 2
    assert set(tiles) <= {2, 4}


# --- chances ---------------------------------------------------------------------------------------------------------


def assert_share(count: int, draws: int, share: float, what: str) -> None:
    """`count` of `draws` is within five standard deviations of `share`."""
    sigma = math.sqrt(draws * share * (1 - share))
    assert abs(count - draws * share) < 5 * sigma, f"{what}: {count} of {draws}, not about {draws * share:.0f}"


@pytest.mark.parametrize(
    "board",
    [
        "0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0",
        "2 0 4 8 / 2 16 0 4 / 0 2 32 0 / 8 4 2 0",
        "65536 0 2 32768 / 2 4 2 4 / 4 2 4 2 / 2 4 0 0",
    ],
)
def test_sample_frequencies(game: Game, board: str) -> None:
    draws = 20_000
    state, rng = game.parse(board), Random(11)
    before = faces(game, state)
    new: Counter[tuple[int, int]] = Counter()
    for _ in range(draws):
        after = faces(game, game.sample(state, rng))
        new[next((cell, tile) for cell, tile in enumerate(after) if tile != before[cell])] += 1
    empty = [cell for cell, tile in enumerate(before) if tile == 0]
    assert_share(sum(new[cell, 4] for cell in empty), draws, 0.1, "tiles that are 4")
    for cell in empty:
        assert_share(new[cell, 2] + new[cell, 4], draws, 1 / len(empty), f"tiles in cell {cell}")
        assert_share(new[cell, 4], draws, 0.1 / len(empty), f"4 in cell {cell}")
    assert sum(new[cell, tile] for cell in empty for tile in (2, 4)) == draws


def test_start_frequencies(game: Game) -> None:
    draws = 20_000
    rng = Random(12)
    cells: Counter[int] = Counter()
    fours = 0
    for _ in range(draws):
        tiles = [(cell, tile) for cell, tile in enumerate(faces(game, game.start(rng))) if tile]
        cells.update(cell for cell, _ in tiles)
        fours += sum(tile == 4 for _, tile in tiles)
    assert_share(fours, 2 * draws, 0.1, "tiles that are 4")
    for cell in range(16):
        assert_share(cells[cell], draws, 2 / 16, f"starts with a tile in cell {cell}")


# --- boundaries by name ----------------------------------------------------------------------------------------------

LINES = {
    "nothing to move": ("2 4 8 16", "2 4 8 16", 0),
    "move to the wall": ("0 0 0 2", "2 0 0 0", 0),
    "move over a gap": ("2 0 0 4", "2 4 0 0", 0),
    "merge over a gap": ("2 0 0 2", "4 0 0 0", 4),
    "two pairs": ("2 2 2 2", "4 4 0 0", 8),
    "merge once per slide": ("4 2 2 0", "4 4 0 0", 4),
    "merge once per slide, behind": ("2 2 4 0", "4 4 0 0", 4),
    "merge once per slide, full line": ("8 4 2 2", "8 4 4 0", 4),
    "nearest the wall first": ("2 2 2 0", "4 2 0 0", 4),
    "nearest the wall first, gap": ("2 0 2 2", "4 2 0 0", 4),
    "no merge past another tile": ("2 4 2 0", "2 4 2 0", 0),
    "pair in the middle": ("4 2 2 4", "4 4 4 0", 4),
    "two different pairs": ("4 4 2 2", "8 4 0 0", 12),
    "two 32768 make 65536": ("32768 32768 0 0", "65536 0 0 0", 65536),
    "four 32768": ("32768 32768 32768 32768", "65536 65536 0 0", 131072),
    "two 65536 make 131072": ("65536 0 65536 2", "131072 2 0 0", 131072),
    "32768 and 65536 do not merge": ("32768 65536 32768 65536", "32768 65536 32768 65536", 0),
    "65536 and 131072 do not merge": ("0 131072 65536 0", "131072 65536 0 0", 0),
    "65536 beside small tiles": ("65536 2 2 4", "65536 4 4 0", 4),
    "new 65536 waits for the next slide": ("65536 32768 32768 0", "65536 65536 0 0", 65536),
}


@pytest.mark.parametrize(("line", "expected", "reward"), LINES.values(), ids=LINES)
def test_line_in_all_four_directions(game: Game, line: str, expected: str, reward: int) -> None:
    """The line lies against each wall in turn, tile 1 nearest to the wall that it slides to."""
    before, after = ([int(word) for word in text.split()] for text in (line, expected))
    assert reference.slide_line(before) == (after, reward)
    for slide, places in (
        (Slide.LEFT, [4, 5, 6, 7]),
        (Slide.RIGHT, [7, 6, 5, 4]),
        (Slide.UP, [2, 6, 10, 14]),
        (Slide.DOWN, [14, 10, 6, 2]),
    ):
        board, wanted = [0] * 16, [0] * 16
        for place, tile, moved in zip(places, before, after, strict=True):
            board[place], wanted[place] = tile, moved
        found = game.slide(state_of(game, board), slide)
        if before == after:
            assert found is None
        else:
            assert found is not None
            assert (faces(game, found), found.reward) == (wanted, reward)


def test_game_goes_on_above_32768(game: Game) -> None:
    """Slide left until all is one tile: 4 x 32768 and 65536 end as 131072 and 65536."""
    state = game.parse("32768 32768 0 0 / 32768 32768 0 0 / 0 0 0 0 / 65536 0 0 0")
    left = game.slide(state, Slide.LEFT)
    assert picture(game, left) == "65536 0 0 0 / 65536 0 0 0 / 0 0 0 0 / 65536 0 0 0"
    assert left is not None
    assert left.reward == 2 * 65536
    assert game.face(game.largest(left)) == 65536
    up = game.slide(State(left.board, left.extra), Slide.UP)
    assert picture(game, up) == "131072 0 0 0 / 65536 0 0 0 / 0 0 0 0 / 0 0 0 0"
    assert up is not None
    assert up.reward == 131072
    assert game.face(game.largest(up)) == 131072
    new = game.sample(up, Random(1))
    assert sorted(faces(game, new))[-2:] == [65536, 131072]
    assert sum(faces(game, new)) - 3 * 65536 in {2, 4}


def test_encoding_of_tiles_above_32768(game: Game) -> None:
    """A cell's exponent is the sum of its nibbles in `board` and `extra`."""
    state = game.parse("2 32768 65536 131072 / 0 0 0 0 / 0 0 0 0 / 0 0 0 4")
    assert state == State(0x200000000000FFF1, 0x0000000000002100)
    assert game.cells(state) == [1, 15, 16, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]


@pytest.mark.parametrize(
    "board",
    [
        OVER,
        "131072 65536 32768 16384 / 1024 2048 4096 8192 / 512 256 128 64 / 4 8 16 32",
        "32768 65536 32768 65536 / 65536 32768 65536 32768 / 32768 65536 32768 65536 / 65536 131072 65536 131072",
    ],
)
def test_full_board_without_a_legal_slide(game: Game, board: str) -> None:
    state = game.parse(board)
    assert game.is_over(state)
    assert game.afterstates(state) == {}
    assert [game.slide(state, slide) for slide in Slide] == [None] * 4
    assert game.outcomes(state) == []


def test_full_board_with_one_merge_goes_on(game: Game) -> None:
    state = game.parse("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 8 8")
    after = game.afterstates(state)
    assert not game.is_over(state)
    assert set(after) == {Slide.LEFT, Slide.RIGHT}
    assert picture(game, after[Slide.LEFT]) == "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 16 0"
    assert picture(game, after[Slide.RIGHT]) == "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 0 4 2 16"


def test_one_empty_cell(game: Game) -> None:
    """Two slides move into the corner's cell; the new tile has one place."""
    state = game.parse("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 0")
    assert set(game.afterstates(state)) == {Slide.RIGHT, Slide.DOWN}
    found = {game.format(outcome.state): outcome.probability for outcome in game.outcomes(state)}
    assert found == pytest.approx(
        {
            "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2": 0.9,
            "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 4": 0.1,
        }
    )
    rng = Random(3)
    assert {game.format(game.sample(state, rng)) for _ in range(200)} == set(found)


def test_empty_board(game: Game) -> None:
    empty = State(0)
    assert game.afterstates(empty) == {}
    assert game.is_over(empty)
    assert game.largest(empty) == 0
    assert len(game.outcomes(empty)) == 32


@pytest.mark.parametrize("size", ["4x4", *SMALL_SIZES])
def test_largest_tile_of_every_size(size: str) -> None:
    """2**(cells+1) can be written, twice that cannot: the 2x2 board goes to 32."""
    game = make("2048", size=size)
    largest = 2 ** (game.shape.cells + 1)
    rest = " 0" * (game.shape.cells - 1)
    assert game.face(game.largest(game.parse(f"{largest}{rest}"))) == largest
    with pytest.raises(InputError, match=f"cell 1 .* {2 * largest}.*{size}"):
        game.parse(f"{2 * largest}{rest}")
