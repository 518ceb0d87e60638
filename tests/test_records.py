"""Episode files: another program reads what we write, we read what it writes, and errors are reported."""

import random
import re
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from afterstate.errors import FileError
from afterstate.games.game import Game, Slide, make
from afterstate.games.results import Results
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.play.episode_line import episode_line
from afterstate.play.episodes import Episode, IllegalActionError, read_episodes
from afterstate.play.evaluation import measure
from commandline import done
from otherprogram import Told, read_line, rules_of, write_line

GAMES = [
    ("threes", "tcg2022", "4x4"),
    ("threes", "tcg2018", "4x4"),
    ("threes", "tcg2018-bonus", "4x4"),
    ("threes", "official", "4x4"),
    ("threes", "tcg2022", "2x3"),
    ("2048", "standard", "4x4"),
    ("2048", "standard", "3x3"),
]
NAMES = [" ".join(row) for row in GAMES]

# two games on a 2x2 board, made by hand; the last board of each is drawn
HAND_2048 = "0131#L12#U[4](3)31#L[8](2)12#R22"  # 8 4 / 4 2
HAND_THREES = "012323#U231[3]#L[3]113#U[3]332[3]#L321#U[3]312"  # 6 3 / 3 1
# nine tiles on a 4x4 board: 1 2 3 1 / 2 3 1 2 / 3 0 0 0 / 0 0 0 0, and 1 is next
NINE = "012123231[3]312423531[3]612723831[3]"


def build(row: tuple[str, str, str]) -> Game:
    return make(row[0], rules=row[1], size=row[2])


def play(game: Game, path: Path, games: int = 40) -> Results:
    """Games of a random network, in a file."""
    patterns = "0123,4567" if game.shape.cells == 16 else "012,345"
    network = Network(game, patterns, symmetry=game.shape.symmetries)
    network.weights[:] = np.random.default_rng(3).uniform(0, 50, network.weights.size)
    return measure(Agent(network), games=games, seed=7, threads=1, save=path).results


def line_of(actions: str) -> str:
    return f"me:you@1000|{actions}|you@1500\n"


def write(folder: Path, *lines: str | bytes) -> Path:
    path = folder / "games.txt"
    path.write_bytes(b"".join(line if isinstance(line, bytes) else line.encode() for line in lines))
    return path


def read_one(folder: Path, actions: str, game: Game) -> Episode:
    (only,) = read_episodes(write(folder, line_of(actions)), game)
    return only


@pytest.fixture(scope="module")
def small_2048() -> Game:
    return make("2048", size="2x2")


@pytest.fixture(scope="module")
def small_threes() -> Game:
    return make("threes", size="2x2")


# --- round trips -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", GAMES, ids=NAMES)
def test_what_we_write_is_what_was_played(row: tuple[str, str, str], tmp_path: Path) -> None:
    """By our reader and by the slow one; all rewards of a line add up to its score."""
    game, path = build(row), tmp_path / "games.txt"
    results = play(game, path)
    records = list(read_episodes(path, game))
    assert [record.score for record in records] == results.scores.tolist()
    assert [len(record) for record in records] == results.moves.tolist()
    assert [record.largest_index for record in records] == results.largest.tolist()
    assert [record.line for record in records] == list(range(1, 41))
    rules = rules_of(row[0], row[1], game.shape.rows, game.shape.columns)
    for record, line in zip(records[:15], path.read_text().splitlines(), strict=False):
        told = read_line(rules, line)
        assert (told.score, told.slides, told.places, told.largest) == (
            record.score, len(record), record.places, record.largest_index,
        )  # fmt: skip
        assert told.rewards == told.score
        assert told.over
        assert record.ended


@pytest.mark.parametrize("row", GAMES, ids=NAMES)
def test_what_another_program_writes(row: tuple[str, str, str], tmp_path: Path) -> None:
    game, generator = build(row), random.Random(5)
    rules = rules_of(row[0], row[1], game.shape.rows, game.shape.columns)
    lines = [write_line(rules, generator, timed=number % 2 == 0) for number in range(12)]
    path = write(tmp_path, "".join(line + "\r\n" for line in lines))
    for record, line in zip(read_episodes(path, game), lines, strict=True):
        told = read_line(rules, line)
        assert (record.score, len(record), record.places, record.largest_index, record.slider_ms, record.placer_ms) == (
            told.score, told.slides, told.places, told.largest, told.slider_ms, told.placer_ms,
        )  # fmt: skip
        assert (record.slider, record.placer, record.winner, record.ended) == ("my player", "the dice", "the dice", True)


@pytest.mark.parametrize("row", GAMES, ids=NAMES)
def test_a_replay_is_the_game(row: tuple[str, str, str], tmp_path: Path) -> None:
    """Every slide leads to its afterstate, every tile is one of the outcomes, and written again it is the same line."""
    game, path = build(row), tmp_path / "games.txt"
    play(game, path, games=3)
    lines = path.read_text().splitlines()
    for record, line in zip(read_episodes(path, game), lines, strict=True):
        assert len(record.boards) == len(record) + 1
        assert episode_line(record) == line
        for number in (*range(min(len(record), 20)), len(record) - 1):
            after = game.afterstates(record.state(number))[Slide(record.slides[number])]
            assert (after.board, after.reward) == (int(record.after[number]), int(record.rewards[number]))
            if game.hints or game.name == "2048":  # else the file does not say the next tile, and an outcome does
                assert record.state(number + 1) in [outcome.state for outcome in game.outcomes(after)]


def test_the_command_writes_what_we_read(small: Path, tmp_path: Path, game: Game) -> None:
    path = tmp_path / "games.txt"
    found = done("eval", small, "--games", "30", "--save", path, "--json").json
    records = list(read_episodes(path, game))
    assert sum(record.score for record in records) / 30 == pytest.approx(found["mean"])
    assert sum(len(record) for record in records) == found["moves"]


# --- by hand ---------------------------------------------------------------------------------------------------------


def test_2048_by_hand(tmp_path: Path, small_2048: Game) -> None:
    record = read_one(tmp_path, HAND_2048, small_2048)
    assert (record.slider, record.placer, record.winner) == ("me", "you", "you")
    assert (record.line, record.tick, record.tock, record.all_ms) == (1, 1.0, 1.5, 500)
    assert (record.score, len(record), record.places, record.largest_index) == (12, 4, 6, 3)
    assert (record.slider_ms, record.placer_ms, record.ended) == (5, 0, True)
    assert small_2048.format(record.state(-1)) == "8 4 / 4 2"


def test_threes_by_hand(tmp_path: Path, small_threes: Game) -> None:
    record = read_one(tmp_path, HAND_THREES, small_threes)
    assert (record.score, len(record), record.places, record.largest_index, record.ended) == (15, 5, 7, 4, True)
    assert small_threes.format(record.state(-1)) == "6 3 / 3 1 | bag 3 | next 2 | slid U"


def test_the_first_state_is_known_whole(tmp_path: Path) -> None:
    """Its bag and its next tile come out of the first tiles."""
    record = read_one(tmp_path, NINE, make("threes"))
    said = make("threes").format(record.state(0))
    assert said == "1 2 3 1 / 2 3 1 2 / 3 0 0 0 / 0 0 0 0 | bag 23 | next 1"
    assert (len(record), record.places, record.score, record.ended) == (0, 9, 9, False)


def test_a_stored_reward_is_not_trusted(tmp_path: Path, small_2048: Game) -> None:
    lies = HAND_2048.replace("[4]", "[-4000](0)").replace("0131#", "01[9999999999999]31#")
    assert read_one(tmp_path, lies.replace("(0)(3)", "(-3)"), small_2048).score == 12


def test_games_that_stop_early(tmp_path: Path, small_threes: Game) -> None:
    for actions, slides, places in ((HAND_THREES[: -len("#U[3]312")], 4, 6), (HAND_THREES[: -len("312")], 5, 6)):
        record = read_one(tmp_path, actions, small_threes)
        assert (len(record), record.places, record.ended) == (slides, places, False)
        assert len(record.boards) == slides + 1


def test_empty_lines_and_other_ends_of_lines(tmp_path: Path, small_2048: Game) -> None:
    one = line_of(HAND_2048)
    for text in (one.rstrip("\n"), one + "\n\n", one.replace("\n", "\r\n") + "\r\n", "\n" + one):
        assert [record.score for record in read_episodes(write(tmp_path, text), small_2048)] == [12]
    numbers = [record.line for record in read_episodes(write(tmp_path, one, "\n", one), small_2048)]
    assert numbers == [1, 3]


# --- what is wrong ---------------------------------------------------------------------------------------------------

ILLEGAL_THREES = [
    (HAND_THREES.replace("#U[3]312", "#L"), r"action 11 \(#L\): a slide left moves nothing, on 6 1 / 3 2 \| bag 23 \| next 1"),
    ("012023", r"action 2 \(023\): a tile 2 cannot enter cell 0, on 1 0 / 0 0 \| bag 3 \| next 2"),
    ("012423", r"action 2 \(423\): a tile 2 cannot enter cell 4, on"),
    ("012133", r"action 2 \(133\): a tile 3 cannot come now, on .* next 2"),
    ("012143", r"action 2 \(143\): a tile 6 cannot come now"),
    ("012103", r"action 2 \(103\): a tile 0 cannot come now"),
    ("0121Z3", r"action 2 \(1Z3\): a tile \d+ cannot come now"),
    ("011113", r"action 1 \(011\): a tile 1 cannot be announced, on 0 0 / 0 0"),
    ("012122", r"action 2 \(122\): a tile 2 cannot be announced"),
    ("014113", r"action 1 \(014\): a bonus tile cannot be announced"),
    ("010113", r"action 1 \(010\): a tile 0 cannot be announced"),
    (HAND_THREES + "#U", r"action 13 \(#U\): the game is over, on 6 3 / 3 1"),
    (HAND_THREES + "223", r"action 13 \(223\): the game is over"),
    ("012", r"line 1: the game stops after 1 of 2 first tiles: 1 0 / 0 0"),
    ("", r"line 1: the game stops after 0 of 2 first tiles"),
    ("012#U", r"action 2 \(#U\): a new tile must come first, 2 of them before the first slide"),
    ("012323#U#L", r"action 4 \(#L\): a new tile must come first"),
    ("012323#U231231", r"action 5 \(231\): a slide must come first, on 1 2 / 3 0"),
]


@pytest.mark.parametrize(("actions", "message"), ILLEGAL_THREES, ids=[row[0][-12:] or "nothing" for row in ILLEGAL_THREES])
def test_illegal_actions(actions: str, message: str, tmp_path: Path, small_threes: Game) -> None:
    path = write(tmp_path, line_of(HAND_THREES), line_of(actions))
    records = read_episodes(path, small_threes)
    assert next(records).score == 15
    with pytest.raises(IllegalActionError, match=re.escape(str(path)) + ".*" + message.replace("line 1", "line 2")) as error:
        next(records)
    assert "line 2" in str(error.value)


@pytest.mark.parametrize(
    ("rules", "actions", "message"),
    [
        ("tcg2022", NINE + "#DF12", r"action 11 \(F12\): a tile 1 cannot enter cell F, on 0 0 0 0 / .* next 1 \| slid D"),
        ("tcg2018", "011121314151617181", r"action 2 \(11\): a tile 1 cannot come now"),
        ("tcg2018-bonus", "011121314151617181", r"action 5 \(41\): a tile 1 cannot come now"),
    ],
)
def test_illegal_actions_on_the_whole_board(rules: str, actions: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(IllegalActionError, match=message):
        read_one(tmp_path, actions, make("threes", rules=rules))


def test_a_tile_enters_a_line_that_moved(tmp_path: Path) -> None:
    """In the official game; elsewhere it may enter any line with room."""
    rows = NINE.replace("612723831[3]", "612923A31[3]")  # 1 2 3 1 / 2 3 1 0 / 0 2 3 0
    assert read_one(tmp_path, rows + "#L" + "F12", make("threes")).moves == "L"
    with pytest.raises(IllegalActionError, match="cannot enter cell F"):
        read_one(tmp_path, rows + "#L" + "F12", make("threes", rules="official"))


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ("01 31", "action 2 cannot be read: ' 31', after 2 0 / 0 0"),
        ("0131#X", "action 3 cannot be read: '#X', after 2 0 / 0 2"),
        ("0131#", "action 3 cannot be read: '#'"),
        ("0131#l", "action 3 cannot be read: '#l'"),
        ("0131#L1", "action 4 cannot be read: '1'"),
        ("0131#L[4", "action 3 cannot be read"),
        ("0131#L[]12", "action 3 cannot be read"),
        ("0131#L[-]12", "action 3 cannot be read"),
        ("0131#L[4.5]12", "action 3 cannot be read"),
        ("0131#L(4s)12", "action 3 cannot be read"),
        ("0131#L(4)(4)12", "action 4 cannot be read"),
        ("0131#L[12345678901234]12", "action 3 cannot be read"),
        ("0131#L(12345678901234)12", "action 3 cannot be read"),
        ("0131#L1b", "action 4 cannot be read"),
        ("0131#L|12", "action 4 cannot be read"),
        ("01\x0031", "action 2 cannot be read"),
    ],
)
def test_actions_that_cannot_be_read(actions: str, message: str, tmp_path: Path, small_2048: Game) -> None:
    with pytest.raises(FileError, match=re.escape(message)) as error:
        read_one(tmp_path, actions, small_2048)
    assert not isinstance(error.value, IllegalActionError)


def test_a_long_line_of_brackets_is_refused_at_once(tmp_path: Path, game: Game) -> None:
    for text in ("[" * 1_000_000, "01" + "(" * 1_000_000, "@" * 1_000_000, ":" * 1_000_000):
        with pytest.raises(FileError, match=r"action [12] cannot be read"):
            read_one(tmp_path, text, game)
        with pytest.raises(FileError, match="a game is written"):
            list(read_episodes(write(tmp_path, text + "\n"), game))


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "there is no game in"),
        (b"\n \n\r\n", "there is no game in"),
        (PNG, "line 1: a game is written SLIDER:PLACER@TICK"),
        (b"1000\tavg = 5\n", "line 1: a game is written SLIDER:PLACER@TICK"),
        (b"|" + HAND_2048.encode() + b"|\n", "line 1: a game is written"),
        (b"me:you@x|0131|you@5\n", "line 1: a game is written"),
        (b"me@5|0131|you@5\n", "line 1: a game is written"),
        (line_of(HAND_2048).encode() + b"me:you@1000|0131#L\n", "line 2: a game is written"),
        (line_of(HAND_2048).encode() + b"me:you@1000|0131#L", "is cut off in the middle of line 2"),
        (line_of(HAND_2048).encode() + b"me:you@1000|0131|yo", "is cut off in the middle of line 2"),
        (line_of(HAND_2048).encode() + b"me:you@1000|0131|you@15", "is cut off in the middle of line 2"),
        (line_of(HAND_2048).encode() + b"me:yo", "line 2: a game is written"),
    ],
)
def test_files_that_cannot_be_read(text: bytes, message: str, tmp_path: Path, small_2048: Game) -> None:
    path = write(tmp_path, text)
    with pytest.raises(FileError, match=re.escape(message)) as error:
        list(read_episodes(path, small_2048))
    assert str(path) in str(error.value)


def test_files_that_are_not_there(tmp_path: Path, game: Game) -> None:
    with pytest.raises(FileError, match=r"cannot read .*nosuch.*: No such file"):
        list(read_episodes(tmp_path / "nosuch", game))
    with pytest.raises(FileError, match=r"cannot read .*: Is a directory"):
        list(read_episodes(tmp_path, game))
    with pytest.raises(FileError, match="cannot read"):
        list(read_episodes(tmp_path / ("x" * 300), game))


@pytest.mark.parametrize("row", GAMES[:2], ids=NAMES[:2])
def test_a_line_without_end(row: tuple[str, str, str], tmp_path: Path) -> None:
    """A billion characters, of which no more are read than a game can have."""
    path = write(tmp_path, line_of(NINE if row[1] == "tcg2022" else "01"), "me:you@1000|")
    with open(path, "r+b") as file:
        file.truncate(10**9)
    tracemalloc.start()
    records = read_episodes(path, build(row))
    with pytest.raises(FileError, match=r"line 2: this line has \d+ characters or more" if row[1] == "tcg2022" else "line 1"):
        list(records)
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("written", "read", "words"),
    [
        (("2048", "standard"), ("threes", "tcg2022"), "read it with --game 2048 --rules standard"),
        (("2048", "standard"), ("threes", "tcg2018"), "read it with --game 2048 --rules standard"),
        (("threes", "tcg2022"), ("2048", "standard"), "--game threes --rules tcg2022 or --game threes --rules official"),
        (("threes", "tcg2018"), ("2048", "standard"), "--game threes --rules tcg2018 or"),
        (("threes", "tcg2018"), ("threes", "tcg2022"), "read it with --rules tcg2018 or --rules tcg2018-bonus"),
        (("threes", "tcg2022"), ("threes", "tcg2018"), "read it with --rules tcg2022 or --rules official"),
    ],
)
def test_a_game_of_other_rules(written: tuple[str, str], read: tuple[str, str], words: str, tmp_path: Path) -> None:
    line = write_line(rules_of(*written, 4, 4), random.Random(1))
    game = make(read[0], rules=read[1])
    with pytest.raises(FileError, match=words) as error:
        list(read_episodes(write(tmp_path, line + "\n"), game))
    assert f"not a game of {game.name} under the rules {game.rules}" in str(error.value)
    assert not isinstance(error.value, IllegalActionError)


def test_bonus_tiles_are_not_for_everyone(tmp_path: Path) -> None:
    """Games of the official rules have tiles that tcg2022 does not know."""
    generator = random.Random(2)
    lines = [write_line(rules_of("threes", "official", 4, 4), generator) + "\n" for _ in range(20)]
    with pytest.raises(IllegalActionError, match=r"cannot come now|cannot be announced"):
        list(read_episodes(write(tmp_path, *lines), make("threes")))


def spoil(actions: str, generator: random.Random) -> str:
    """Change, leave out, repeat or swap a character or two."""
    at = generator.randrange(len(actions))
    letter = generator.choice("#URDL0123456789ABCDEFG[]()-")
    return generator.choice(
        [
            actions[:at] + letter + actions[at + 1 :],
            actions[:at] + actions[at + 1 :],
            actions[:at] + actions[at : at + 3] + actions[at:],
            actions[:at] + actions[at : at + 2][::-1] + actions[at + 2 :],
            actions[:at],
        ]
    )


@pytest.mark.parametrize("row", GAMES, ids=NAMES)
def test_spoiled_games_are_judged_as_by_the_slow_reader(row: tuple[str, str, str], tmp_path: Path) -> None:
    game, generator = build(row), random.Random(8)
    rules = rules_of(row[0], row[1], game.shape.rows, game.shape.columns)
    _, head, actions, tail = re.split(r"^([^|]*\|)([^|]*)", write_line(rules, generator))
    refused = 0
    for _ in range(120):
        line = head + spoil(actions[:400], generator) + tail
        try:
            told: Told | None = read_line(rules, line)
            assert told is None or told.places >= rules.firsts
        except (AssertionError, KeyError, ValueError, IndexError):
            told = None
        path = write(tmp_path, line + "\n")
        if told is None:
            refused += 1
            with pytest.raises(FileError):
                list(read_episodes(path, game))
        else:
            (record,) = read_episodes(path, game)
            assert (record.score, len(record), record.places, record.ended) == (
                told.score, told.slides, told.places, told.over,
            )  # fmt: skip
    assert 40 < refused < 120


# --- many games ------------------------------------------------------------------------------------------------------


def test_many_games_take_no_memory(tmp_path: Path) -> None:
    """One at a time: the memory is that of one game, not of the file."""
    game, path = make("2048", size="3x3"), tmp_path / "games.txt"
    results = play(game, path)
    path.write_bytes(path.read_bytes() * 300)
    assert path.stat().st_size > 2e6
    records = read_episodes(path, game)
    assert isinstance(records, Iterator)
    tracemalloc.start()
    score = sum(record.score for record in records)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert score == 300 * int(results.scores.sum())
    assert peak < 0.5e6


def test_reading_can_stop_anywhere(tmp_path: Path, small_2048: Game) -> None:
    records = read_episodes(write(tmp_path, line_of(HAND_2048), "nonsense\n"), small_2048)
    assert next(records).score == 12
    del records
