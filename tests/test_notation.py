"""Games and boards as text: what is written, read and refused, and the games that names make."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterstate.errors import InputError
from afterstate.games.game import Game, Slide, State, make
from positions import SMALL_SIZES, boards, picture, state_of

# --- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["4x4", *SMALL_SIZES])
@given(data=st.data())
def test_format_and_parse_are_exact(size: str, data: st.DataObject) -> None:
    cells = data.draw(boards(size))
    game = make("2048", size=size)
    state = state_of(game, cells)
    text = game.format(state)
    assert game.parse(text) == state
    assert text.replace("/", "").split() == [str(tile) for tile in cells]
    assert text.count(" / ") == game.shape.rows - 1


def test_format_of_an_afterstate(game: Game) -> None:
    after = game.slide(game.parse("65536 65536 2 2 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"), Slide.RIGHT)
    assert picture(game, after) == "0 0 131072 4 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"


@pytest.mark.parametrize(
    "text",
    [
        "2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2",
        "2 4 8 16/0 2 4 8/0 0 2 4/0 0 0 2",
        "2 4 8 16 0 2 4 8 0 0 2 4 0 0 0 2",
        "2,4,8,16,0,2,4,8,0,0,2,4,0,0,0,2",
        "2, 4, 8, 16 / 0, 2, 4, 8 / 0, 0, 2, 4 / 0, 0, 0, 2",
        "2 4 8 16 / . 2 4 8 / . . 2 4 / . . . 2",
        "2 4 8 16 / _ 2 4 8 / _ . 2 4 / _ _ 0 2",
        "  2 4 8 16\n  . 2 4 8\n  . . 2 4\n  . . . 2\n",
        "2\t4\t8\t16\r\n0\t2\t4\t8\r\n0\t0\t2\t4\r\n0\t0\t0\t2",
    ],
)
def test_accepted_notations(game: Game, text: str) -> None:
    assert game.parse(text) == State(0x1000210032104321)


def test_accepted_notation_of_a_small_board() -> None:
    assert make("2048", size="2x2").parse("2 4 / 0 2") == State(0x100021)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "16 cells, but 0 were given"),
        ("   ", "16 cells, but 0 were given"),
        ("abc", "16 cells, but 1 were given: 'abc'"),
        ("2 " * 15, "16 cells, but 15 were given"),
        ("2 " * 17, "16 cells, but 17 were given"),
        ("0 " * 15 + "3", "cell 16 of the board is 3, .*0, 2, 4, 8, ... 131072"),
        ("0 " * 15 + "1", "cell 16 of the board is 1, "),
        ("0 " * 15 + "-2", "cell 16 of the board is '-2', not a tile"),
        ("0 " * 15 + "+2", "cell 16 of the board is '\\+2', not a tile"),
        ("0 " * 15 + "2.0", "cell 16 of the board is '2.0', not a tile"),
        ("0 " * 15 + "abc", "cell 16 of the board is 'abc', not a tile"),
        ("0 0 6 " + "0 " * 13, "cell 3 of the board is 6, "),
        ("262144 " + "0 " * 15, "cell 1 of the board is 262144, "),
        ("99999999999999999999 " + "0 " * 15, "cell 1 of the board is '9+', not a tile"),
        ("0 " * 15 + "٢", "cell 16 of the board is '٢', not a tile"),
        ("0 " * 15 + "²", "cell 16 of the board is '²', not a tile"),
    ],
)
def test_refused_boards(game: Game, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        game.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "2 " * 500_000,
        "a" * 1_000_000,
        "9" * 1_000_000 + " 0" * 15,
        ("9" * 62_500 + " ") * 16,
        "3" + " 0" * 15 + " " * 1_000_000,
        "\U000e0001" * 1_000_000,  # one character, ten when it is written for a message
    ],
    ids=["many cells", "letters", "one long cell", "long cells", "many blanks", "unprintable"],
)
def test_refusal_of_a_million_characters_is_short(game: Game, text: str) -> None:
    with pytest.raises(InputError) as refused:
        game.parse(text)
    assert len(str(refused.value)) < 2000


# --- make ------------------------------------------------------------------------------------------------------------


def test_make_gives_the_same_game_again(game: Game) -> None:
    assert make("2048") is game
    assert make("2048", rules="standard", size="4X4") is game
    assert make("2048", size="3x3") is not game


@pytest.mark.parametrize("size", ["4x4", *SMALL_SIZES])
def test_repr_makes_the_game(size: str) -> None:
    game = make("2048", size=size)
    assert repr(game) == f"make('2048', rules='standard', size='{size}')"
    assert (game.name, game.rules, str(game.shape)) == ("2048", "standard", size)
    assert game.win <= game.shape.cells + 1, "no game reaches the tile that counts as a win"


def test_win_is_the_2048_tile(game: Game) -> None:
    assert game.face(game.win) == 2048


def test_unknown_game() -> None:
    with pytest.raises(InputError, match=r"'2049'.*there are: 2048"):
        make("2049")


@pytest.mark.parametrize("rules", ["", "fancy"])
def test_unknown_rules(rules: str) -> None:
    with pytest.raises(InputError, match=f"2048 .*'{rules}'.*it has: standard"):
        make("2048", rules=rules)


@pytest.mark.parametrize("size", ["5x5", "1x4", "4x1", "4", "axb", "", "4x4x4", "-4x4", "0x0"])
def test_bad_size(size: str) -> None:
    with pytest.raises(InputError, match="board") as refused:
        make("2048", size=size)
    assert size in str(refused.value)
