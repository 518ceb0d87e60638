"""The arena: whole games against a counterpart that knows the rules by itself, in both roles."""

import random
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from afterstate.cli.main import Exit
from afterstate.errors import InputError
from afterstate.games.game import Game, make
from afterstate.network.modelfile import save_model
from afterstate.network.network import Network
from afterstate.play.agent import Agent
from afterstate.play.arena import LONGEST, MATCHES, Arena
from commandline import PATIENCE, PROGRAM, check, run
from otherprogram import DIGITS, KINDS, Rules2048, RulesThrees, rules_of
from reference_threes import LETTERS, Position

GAMES = [("2048", "standard"), ("threes", "tcg2022"), ("threes", "tcg2018-bonus"), ("threes", "official")]


class Table:
    """A game as the counterpart sees it, by rules that share no code with the package."""

    def __init__(self, rules: Rules2048 | RulesThrees, generator: random.Random) -> None:
        self.rules, self.generator = rules, generator
        self.state = Position((0,) * 16)
        self.due = rules.firsts
        self.slides = 0

    @property
    def over(self) -> bool:
        return self.due == 0 and not self.rules.slides(self.state)

    def take(self, action: str) -> None:
        """The other's action; what the rules forbid is an AssertionError."""
        if action.startswith("#"):
            assert self.due == 0
            self.state, _ = self.rules.slides(self.state)[LETTERS.index(action[1])]
            self.slides, self.due = self.slides + 1, 1
            return
        parts = re.fullmatch(r"([0-9A-F])([0-9A-Z])(?:\+([1-4]))?", action)
        assert parts is not None, action
        assert bool(parts[3]) == self.rules.hinted
        cell, hint = int(parts[1], 16), KINDS[int(parts[3]) - 1] if parts[3] else ""
        assert self.due > 0
        assert self.state.cells[cell] == 0
        assert not self.slides or cell in self.state.entry
        (tile,) = {tile for tile in self.rules.tiles(self.state) if self.rules.index(tile) == int(parts[2], 36)}
        assert hint in self.rules.hints(self.rules.put(self.state, cell, tile, ""))
        self.state, self.due = self.rules.put(self.state, cell, tile, hint), self.due - 1

    def make(self) -> str:
        """An action of our own, at random."""
        if self.due == 0:
            way = self.generator.choice(sorted(self.rules.slides(self.state)))
            action = f"#{LETTERS[way]}"
        else:
            cells = self.state.entry or [cell for cell, tile in enumerate(self.state.cells) if tile == 0]
            cell, tile = self.generator.choice(cells), self.generator.choice(self.rules.tiles(self.state))
            hint = self.generator.choice(self.rules.hints(self.rules.put(self.state, cell, tile, "")))
            action = DIGITS[cell] + DIGITS[self.rules.index(tile)] + (f"+{KINDS.index(hint) + 1}" if hint else "")
        self.take(action)
        return action


def models(folder: Path) -> dict[tuple[str, str], Path]:
    found = {}
    for name, rules in GAMES:
        network = Network(make(name, rules=rules), "0123,4567", context="")
        generator = random.Random(8)
        network.weights[:] = [generator.random() for _ in range(network.weights.size)]
        found[name, rules] = folder / f"{name}-{rules}.safetensors"
        save_model(network, found[name, rules])
    return found


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    return models(tmp_path_factory.mktemp("models"))


def whole_game(name: str, ours: set[str], say: Callable[[str], None], ask: Callable[[str], str], table: Table) -> None:
    """Play a match: whoever is in `ours` ("slider", "placer") is the program, the counterpart plays the others."""
    players = {role: names[role in ours] for role, names in {"slider": ("other", "us"), "placer": ("dice", "random")}.items()}
    assert ask(f"{name} open {players['slider']}:{players['placer']}") == f"{name} open accept"
    while not table.over:
        if ("placer" if table.due else "slider") in ours:
            answer, action = ask(f"{name} ?").split()
            assert answer == name
            table.take(action)
        else:
            say(f"{name} {table.make()}")
    say(f"{name} close score={sum(table.state.cells)}")
    assert table.slides > 20


# --- as a program --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", GAMES[:2], ids="-".join)
def test_whole_games_with_a_program(kind: tuple[str, str], every: dict[tuple[str, str], Path]) -> None:
    """It slides, it places, it does both; then the arena sends it away."""
    pipe = subprocess.PIPE
    command = [*PROGRAM, "arena", str(every[kind]), "--slider", "us", "--account", "me", "--threads", "1"]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, bufsize=1) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        lines, answers = program.stdin, program.stdout

        def ask(line: str) -> str:
            lines.write(line + "\n")
            return answers.readline().strip()

        assert ask("@ login") == "@ login me us(slider) random(placer)"
        for number, ours in enumerate([{"slider"}, {"placer"}, {"slider", "placer"}]):
            table = Table(rules_of(*kind, 4, 4), random.Random(number))
            whole_game(f"#{number}", ours, lambda line: print(line, file=lines), ask, table)
        lines.write("@ exit\n")
        rest, errors = program.communicate(timeout=PATIENCE)
    assert (program.returncode, rest) == (0, "")
    assert [line for line in errors.splitlines() if "compiling" not in line] == []


def test_wrong_options_are_refused(every: dict[tuple[str, str], Path]) -> None:
    model = every["2048", "standard"]
    check(run("arena", model, "--slider", "a b"), Exit.INPUT, "a b")
    check(run("arena", model, "--seed", "-1"), Exit.INPUT, "seed")
    check(run("arena", model, "--depth", "0"), Exit.INPUT, "depth")


# --- in one process ------------------------------------------------------------------------------------------------------


class Seat:
    """An arena with what it noted."""

    def __init__(self, game: Game, *, seed: int = 1) -> None:
        self.notes: list[str] = []
        agent = Agent(Network(game, "0123", context=""))
        self.arena = Arena(agent, self.notes.append, account="me", slider="us", placer="random", seed=seed)

    def ask(self, line: str) -> str:
        answer = self.arena.answer(line)
        assert answer is not None, self.notes
        return answer

    def say(self, line: str) -> None:
        assert self.arena.answer(line) is None


@pytest.fixture
def seat(game: Game) -> Seat:
    return Seat(game)


@pytest.mark.parametrize("kind", GAMES[2:], ids="-".join)
def test_whole_games_by_other_rules(kind: tuple[str, str]) -> None:
    seat = Seat(make(kind[0], rules=kind[1]))
    for number, ours in enumerate([{"slider"}, {"placer"}]):
        whole_game(f"#{number}", ours, seat.say, seat.ask, Table(rules_of(*kind, 4, 4), random.Random(number)))
    assert seat.notes == []
    assert seat.arena.matches == {}


def firsts(seat: Seat, name: str) -> Iterator[str]:
    seat.ask(f"{name} open us:random")
    for _ in range(20):
        yield seat.ask(f"{name} ?").split()[1]


def test_a_seed_is_a_game(game: Game) -> None:
    one, same, other = Seat(game), Seat(game), Seat(game, seed=2)
    game_one = list(firsts(one, "#1"))
    assert game_one == list(firsts(same, "#x"))
    assert game_one != list(firsts(other, "#1"))
    assert game_one != list(firsts(one, "#2"))


def test_matches_at_the_same_time(seat: Seat, game: Game) -> None:
    tables = {f"#{number}": Table(rules_of("2048", "standard", 4, 4), random.Random(number)) for number in range(3)}
    for name in tables:
        assert seat.ask(f"{name} open us:dice") == f"{name} open accept"
    for turn in range(60):
        for name, table in tables.items():
            if table.due or (turn + int(name[1])) % 2:
                if table.due:
                    seat.say(f"{name} {table.make()}")
            else:
                table.take(seat.ask(f"{name} ?").split()[1])
    assert all(table.slides > 10 for table in tables.values())
    assert len({table.state.cells for table in tables.values()}) == 3


def test_what_is_not_for_us_is_rejected(seat: Seat) -> None:
    assert seat.ask("#1 open them:dice") == "#1 open reject"
    assert seat.ask("#1 open random:us") == "#1 open reject"
    assert seat.ask("#1 open") == "#1 open reject"
    assert seat.ask("#1 open us:dice") == "#1 open accept"
    assert seat.ask("#1 open us:dice") == "#1 open reject"
    for number in range(MATCHES - 1):
        assert seat.ask(f"#a{number} open us:dice").endswith("accept")
    assert seat.ask("#b open us:dice") == "#b open reject"
    seat.say("#1 close flag")
    assert seat.ask("#b open us:dice") == "#b open accept"


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        (["#L"], "a new tile must come first"),
        (["?"], "not our turn"),
        (["01", "01"], "cannot enter cell 0"),
        (["03"], "cannot come now"),
        (["00"], "no new tile"),
        (["GG"], "an action is"),
        (["01", "11", "#X"], "a slide is #U"),
        (["01", "11", "#U"], "illegal on 2 2 0 0"),
        (["01", "11", "21"], "a slide must come first"),
        (["\N{SNOWMAN}"], "an action is"),
    ],
)
def test_what_the_rules_forbid_ends_our_part(lines: list[str], word: str, seat: Seat) -> None:
    """We say why on standard error, leave the match, and go on with others."""
    seat.ask("#1 open us:dice")
    for line in lines:
        seat.say(f"#1 {line}")
    (note,) = seat.notes
    assert note.startswith("#1: ")
    assert word in note
    seat.say("#1 ?")
    assert "no such match" in seat.notes[-1]
    assert seat.ask("#2 open us:dice") == "#2 open accept"


def test_lines_that_are_no_lines(seat: Seat) -> None:
    for line in ("", "  ", "hello", "#1", "@", "@ dance", "#1 ?", "x" * 2 * LONGEST, "@ status fine", "@ error who are you"):
        seat.say(line)
    assert len(seat.notes) == 8
    seat.say("@ exit")
    assert seat.arena.over


def test_a_game_that_is_over_asks_for_nothing(game: Game) -> None:
    seat = Seat(game)
    table = Table(rules_of("2048", "standard", 4, 4), random.Random(1))
    seat.ask("#1 open us:dice")
    while not table.over:
        if table.due:
            seat.say(f"#1 {table.make()}")
        else:
            table.take(seat.ask("#1 ?").split()[1])
    seat.say("#1 ?")
    assert "the game is over" in seat.notes[0]


def test_names_that_cannot_be_sent(game: Game) -> None:
    agent = Agent(Network(game, "01"))
    for name in ("", "a b", "a:b", "a(b)", "x" * 200):
        with pytest.raises(InputError, match="a name has"):
            Arena(agent, print, account="me", slider=name, placer="random")
