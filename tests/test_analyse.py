"""Questions as lines of JSON: the same answers as `move`, many at once, and no line that ends the program."""

import io
import json
import random
import signal
import subprocess
from pathlib import Path
from typing import IO, Any

import pytest

from afterstate.engine.record import Record
from afterstate.games.game import Game, make
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.play.analyst import LONGEST, Analyst
from afterstate.play.episode_line import episode_line
from afterstate.rng import Purpose, Random
from commandline import BOARD, OVER, PATIENCE, PROGRAM, check, done, read_json, run


@pytest.fixture(scope="module")
def network(game: Game) -> Network:
    """Weights that make no two slides equal."""
    network = Network(game, "0123,0145")
    generator = random.Random(3)
    network.weights[:] = [generator.random() * 10 for _ in range(network.weights.size)]
    return network


def ask(network: Network, *lines: Any, threads: int = 2, **search: Any) -> list[dict[str, Any]]:
    """The answers to some questions: objects, or lines as they are."""
    raw = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    written: list[str] = []
    Analyst(network, written.append, threads=threads, search=search).serve(io.BytesIO(raw))
    return [read_json(text) for text in written]


def ask_one(network: Network, **question: Any) -> dict[str, Any]:
    (found,) = ask(network, {"id": 1, **question})
    return found


@pytest.fixture(scope="module")
def played(network: Network) -> Record:
    rng = Random(5, Purpose.PLAY)
    return Agent(network).play_on(network.game.start(rng), rng, moves=10_000)


# --- answers -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("search", [{}, {"depth": 2}, {"depth": 3, "exact": True}, {"depth": 4, "cutoff": 0.05}])
def test_an_answer_is_that_of_an_agent(network: Network, search: dict[str, Any]) -> None:
    state = network.game.parse(BOARD)
    choice = Agent(network, **search).choose(state)
    assert choice.move is not None
    found = ask_one(network, board=BOARD, **search)
    assert found["values"] == {str(slide): value for slide, value in choice.values.items()}
    assert (found["id"], found["move"], found["board"]) == (1, str(choice.move), BOARD)
    assert found["depth"] == search.get("depth", 1)
    assert found["line"][0]["move"] == str(choice.move)
    assert found["line"][0]["value"] == choice.values[choice.move]
    if choice.search is None:
        assert found["search"] is None
    else:
        assert found["search"]["nodes"] == choice.search.nodes


def test_an_answer_has_what_was_asked_for(network: Network) -> None:
    bare = ask_one(network, board=BOARD, include=[])
    assert set(bare) == {"id", "board", "move", "values", "depth", "ms"}
    full = ask_one(network, board=BOARD, include=["line", "after", "search"], length=7)
    assert len(full["line"]) == 7
    slid = network.game.afterstates(network.game.parse(BOARD))
    assert full["after"] == {
        str(slide): {"board": network.game.format(after), "reward": after.reward} for slide, after in slid.items()
    }


def test_a_line_can_be_played(network: Network) -> None:
    """Each board of a line follows from the one before by its slide and one new tile."""
    game, state = network.game, network.game.parse(BOARD)
    for step in ask_one(network, board=BOARD, length=20)["line"]:
        slid = {str(slide): after for slide, after in game.afterstates(state).items()}[step["move"]]
        states = [outcome.state for outcome in game.outcomes(slid)]
        state = game.parse(step["board"])
        assert state in states


def test_a_game_so_far(network: Network, played: Record) -> None:
    """By seed and moves or as an episode, at its end or at any turn."""
    count = len(played)
    by_moves = ask_one(network, seed=5, moves=played.moves)
    assert (by_moves["turn"], by_moves["move"]) == (count, None)
    assert by_moves["board"] == network.game.format(played.state(-1))
    turns = [count, 0, 7]
    for question in ({"seed": 5, "moves": played.moves}, {"episode": episode_line(played)}):
        found = ask(network, {"id": "g", "turns": turns, **question})
        assert {(one["turn"], one["board"]) for one in found} == {
            (turn, network.game.format(played.state(turn))) for turn in turns
        }
        assert {one["id"] for one in found} == {"g"}


def test_a_game_that_is_over(network: Network) -> None:
    found = ask_one(network, board=OVER, depth=2)
    assert (found["move"], found["line"]) == (None, [])
    assert set(found["values"].values()) == {None}


def test_threes_too() -> None:
    game = make("threes", rules="official")
    network = Network(game, "0123", context="hint")
    found = ask_one(network, board=game.example, depth=2)
    assert found["board"] == game.format(game.parse(game.example))
    assert all("next" in step["board"] for step in found["line"])


def test_the_options_of_the_command_are_for_questions_without(network: Network) -> None:
    questions = [{"id": 0, "board": BOARD}, {"id": 1, "board": BOARD, "depth": 1}]
    questions += [{"id": 2, "board": BOARD, "move_time": "2ms"}, {"id": 3, "board": BOARD, "move_time": 0.002}]
    found = {one["id"]: one for one in ask(network, *questions, depth=2)}
    assert [found[0]["depth"], found[1]["depth"]] == [2, 1]
    assert found[2]["search"]["moves"] == found[3]["search"]["moves"] == 1


@pytest.mark.parametrize("threads", [1, 4])
def test_many_at_once_are_all_answered(network: Network, played: Record, threads: int) -> None:
    """More questions than can wait, from several threads: each has its own answer, the same as alone."""
    turns = list(range(0, len(played), 3))
    questions: list[dict[str, Any]] = [
        {"id": turn, "board": network.game.format(played.state(turn)), "depth": 1 + turn % 4} for turn in turns
    ]
    found = {one.pop("id"): one for one in ask(network, *questions, threads=threads)}
    assert sorted(found) == turns
    for question in questions[::10]:
        alone = Agent(network, depth=question["depth"]).choose(network.game.parse(question["board"]))
        assert found[question["id"]]["values"] == {str(slide): value for slide, value in alone.values.items()}


# --- wrong questions -----------------------------------------------------------------------------------------------------

WRONG: list[tuple[Any, Any, str]] = [
    (b"hello", None, "not JSON"),
    (b'{"id": 1', None, "not JSON"),
    (b"[" * 100_000, None, "not JSON"),
    (b"\xff\xfe\x00", None, "not JSON"),
    (b"[]", None, "JSON object"),
    (b"17", None, "JSON object"),
    ({"board": BOARD}, None, "needs an id"),
    ({"id": None, "board": BOARD}, None, "needs an id"),
    ({"id": 1.5, "board": BOARD}, None, "needs an id"),
    ({"id": [1], "board": BOARD}, None, "needs an id"),
    ({"id": "x" * 300, "board": BOARD}, None, "needs an id"),
    ({"id": 1}, 1, "give a board"),
    ({"id": 1, "board": BOARD, "seed": 1, "moves": ""}, 1, "give a board"),
    ({"id": 1, "seed": 1}, 1, "give a board"),
    ({"id": 1, "board": "2 2"}, 1, "16 cells"),
    ({"id": 1, "board": 5}, 1, "board is a text"),
    ({"id": 1, "board": BOARD, "turns": [0]}, 1, "those of a game"),
    ({"id": 1, "board": BOARD, "depth": 99}, 1, "depth must be"),
    ({"id": 1, "board": BOARD, "depth": True}, 1, "depth is a whole number"),
    ({"id": 1, "board": BOARD, "depth": 10**40}, 1, "depth must be"),
    ({"id": 1, "board": BOARD, "move_time": "fast"}, 1, "move time"),
    ({"id": 1, "board": BOARD, "move_time": -1}, 1, "move time"),
    (b'{"id": 1, "board": "' + BOARD.encode() + b'", "move_time": NaN}', 1, "move_time is seconds"),
    (b'{"id": 1, "board": "' + BOARD.encode() + b'", "move_time": Infinity}', 1, "move time"),
    (b'{"id": 1, "board": "' + BOARD.encode() + b'", "cutoff": NaN}', 1, "cutoff is a number"),
    ({"id": 1, "board": BOARD, "cutoff": 2}, 1, "cutoff"),
    ({"id": 1, "board": BOARD, "downgrade": 3}, 1, "downgrade"),
    ({"id": 1, "board": BOARD, "include": ["magic"]}, 1, "may include"),
    ({"id": 1, "board": BOARD, "include": [[]]}, 1, "may include"),
    ({"id": 1, "board": BOARD, "length": 0}, 1, "1 to 100 slides"),
    ({"id": 1, "board": BOARD, "depht": 3}, 1, "'depht'"),
    ({"id": 1, "seed": -1, "moves": ""}, 1, "seed"),
    ({"id": 1, "seed": 2**80, "moves": ""}, 1, "seed"),
    ({"id": 1, "seed": 1, "moves": "UX"}, 1, "letters"),
    ({"id": 1, "seed": 1, "moves": "\ud800"}, 1, "letters"),
    ({"id": 1, "seed": 1, "moves": "U" * 500}, 1, "moves nothing"),
    ({"id": 1, "seed": 1, "moves": "", "turns": [1]}, 1, "turns 0 to 0"),
    ({"id": 1, "seed": 1, "moves": "", "turns": [0, 0]}, 1, "1 positions"),
    ({"id": 1, "seed": 1, "moves": "", "turns": ["0"]}, 1, "turns 0 to 0"),
    ({"id": "e", "episode": "no game"}, "e", "a game is written"),
    ({"id": "e", "episode": "a:b@1|0101#X|c@2"}, "e", "action"),
    (b'{"id": 1, "board": "' + b"2" * LONGEST + b'"}', None, "at most"),
]


def test_a_wrong_question_is_answered_and_the_next_one_too(network: Network) -> None:
    for wrong, id_, word in WRONG:
        found = ask(network, wrong, b"", {"id": "after", "board": BOARD}, threads=1)
        assert len(found) == 2, wrong
        (error,) = [one for one in found if "error" in one]
        assert error["id"] == id_
        assert word in error["error"], error
        assert "\n" not in error["error"]


def test_anything_at_all_is_answered(network: Network, long: bool) -> None:
    """Questions with changes here and there: each line has its answers, whatever it says."""
    generator = random.Random(6)
    good = [
        json.dumps({"id": 1, "board": BOARD, "depth": 2, "include": ["line"]}),
        json.dumps({"id": 2, "seed": 1, "moves": "U"}),
    ]
    lines = []
    for _ in range(100_000 if long else 1000):
        text = bytearray(generator.choice(good).encode())
        for _ in range(generator.randrange(1, 4)):
            at = generator.randrange(len(text))
            text[at : at + generator.randrange(3)] = bytes([generator.choice(b'0123456789"{}[],:-.eE \\/tfn\xff\x00')])
        lines.append(bytes(text))
    found = ask(network, *lines)
    assert len(found) == len(lines)
    assert {"error" in one for one in found} == {True, False}


# --- as a program --------------------------------------------------------------------------------------------------------


def start(*arguments: object) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    return subprocess.Popen([*PROGRAM, "analyse", *map(str, arguments)], stdin=pipe, stdout=pipe, stderr=pipe)


def wait_until_ready(program: "subprocess.Popen[bytes]") -> None:
    assert program.stderr is not None
    while b"ready" not in (line := program.stderr.readline()):
        assert line, "it ended before it was ready"


def streams(program: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes]]:
    assert program.stdin is not None
    assert program.stdout is not None
    return program.stdin, program.stdout


def test_the_command_answers_while_it_is_asked(small: Path) -> None:
    """An answer comes before the next question; the end of the input is the end."""
    with start(small, "--threads", "2") as program:
        questions, answers = streams(program)
        for id_ in range(3):
            questions.write(json.dumps({"id": id_, "board": BOARD}).encode() + b"\n")
            questions.flush()
            found = read_json(answers.readline().decode())
        assert found["values"] == done("move", small, BOARD, "--json").json["values"]
        rest, errors = program.communicate(timeout=PATIENCE)
    assert (program.returncode, rest) == (0, b"")
    assert b"Traceback" not in errors


def test_ctrl_c_ends_it_cleanly(small: Path) -> None:
    """In the middle of searches that would take an hour."""
    with start(small, "--threads", "2") as program:
        questions, answers = streams(program)
        wait_until_ready(program)
        for _ in range(4):
            questions.write(json.dumps({"id": 1, "board": BOARD, "depth": 8, "cutoff": 0}).encode() + b"\n")
        questions.write(b"no question\n")
        questions.flush()
        assert b"not JSON" in answers.readline()  # so all that came before has been read
        program.send_signal(signal.SIGINT)
        _, errors = program.communicate(timeout=PATIENCE)
    assert program.returncode == 130
    assert b"Traceback" not in errors


def test_nobody_reads_the_answers(small: Path) -> None:
    with start(small, "--threads", "1") as program:
        questions, answers = streams(program)
        wait_until_ready(program)
        answers.close()
        for _ in range(2):
            questions.write(json.dumps({"id": 1, "board": BOARD}).encode() + b"\n")
            questions.flush()
        questions.close()
        assert program.stderr is not None
        assert b"Traceback" not in program.stderr.read()
    assert program.returncode == 141


def test_wrong_options_are_refused(small: Path) -> None:
    check(run("analyse", small, "--depth", "99"), 3, "depth")
    check(run("analyse", small, "--threads", "0"), 3, "threads")
    check(run("analyse", small / "no"), 4, "there is no model or run")
