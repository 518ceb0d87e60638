"""Check a game against itself: play from fixed seeds, and compare what its kernels, bounds and text say about the same states.

A game has many parts that must agree: `spawn` draws what `outcomes` lists, `parse` reads what `format` writes, a slide of a
mirrored board is the mirrored slide. `check_game` does not know the rules; it finds parts that contradict each other.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, NoReturn

import numpy as np

from afterstate.bitboard import Shape, format_cells, pack, unpack
from afterstate.errors import AfterstateError, GameError, InputError
from afterstate.games.game import Afterstate, Game, Outcome, Slide, State, announced, downgrade, look
from afterstate.kernel import kernel, u64
from afterstate.rng import Random

GAMES = 6  # half play random slides, half the first legal one of ORDER, which gets further
SLIDES = 300  # at most, in one game
ORDER = (Slide.LEFT, Slide.DOWN, Slide.RIGHT, Slide.UP)
DRAWN_EVERY = 50  # slides between two afterstates whose new tiles are drawn
DRAWS = 3000  # new tiles from each of those
EXPECTED = 10.0  # outcomes expected less often than this in the draws are counted together
SURE = 25.0  # a correct game fails by bad luck with probability e**-25 at most

Position = State | Afterstate


@dataclass(frozen=True)
class GameReport:
    """What was checked and found correct."""

    game: str
    games: int
    states: int
    slides: int  # legal ones
    mirrored: int  # mirrored boards whose slides were compared; 0 if the game is not symmetric
    outcomes: int
    draws: int
    placed: int  # outcomes that `place` also led to
    seen: int  # times that a network looked at a position
    downgraded: int  # states whose large tiles were lowered

    def __str__(self) -> str:
        counts = [(name, value) for name, value in vars(self).items() if name != "game"]
        return f"{self.game} agrees with itself: " + ", ".join(f"{value:,} {name}" for name, value in counts)


def check_game(game: Game, *, games: int = GAMES, seed: int = 1) -> GameReport:
    """Play some games and compare what the game says about the states met; raise GameError at the first contradiction.

    The same seed checks the same states. print(check_game(make("2048"))) shows how much was compared.
    """
    if games < 1:
        raise InputError(f"at least one game must be played to check the rules, not {games}")
    checker = _Checker(game)
    checker.check_facts()
    for number in range(games):
        checker.play(number, seed)
    if not checker.counts["slides"]:
        checker.fail("no first state has a legal slide", game.parse(game.example), "a game that can be played", "none")
    counts = {name: checker.counts[name] for name in GameReport.__dataclass_fields__ if name not in {"game", "games"}}
    return GameReport(game=f"{game.name} ({game.rules}, {game.shape})", games=games, **counts)


# --- symmetries --------------------------------------------------------------------------------------------------------


def _transforms(shape: Shape) -> Iterator[tuple[list[int], dict[Slide, Slide]]]:
    """Every way to turn or mirror a board that changes it: where each cell goes, and what each slide becomes."""
    for flipped, mirrored, turned in np.ndindex(2, 2, 1 + shape.square):
        if not (flipped or mirrored or turned):
            continue
        cells = []
        for row, column in np.ndindex(shape.rows, shape.columns):
            to_row = shape.rows - 1 - row if flipped else row
            to_column = shape.columns - 1 - column if mirrored else column
            cells.append(to_column * shape.columns + to_row if turned else to_row * shape.columns + to_column)
        yield cells, {slide: _turn_slide(slide, bool(flipped), bool(mirrored), bool(turned)) for slide in Slide}


def _turn_slide(slide: Slide, flipped: bool, mirrored: bool, turned: bool) -> Slide:
    if (flipped and slide in {Slide.UP, Slide.DOWN}) or (mirrored and slide in {Slide.LEFT, Slide.RIGHT}):
        slide = Slide((slide + 2) % 4)
    return Slide(3 - slide) if turned else slide  # up and left, right and down change places


def _turn(board: int, cells: Sequence[int], shape: Shape) -> int:
    result = [0] * shape.cells
    for cell, value in zip(cells, unpack(board, shape), strict=True):
        result[cell] = value
    return pack(result, shape)


# --- kernels that Game does not offer one position at a time -----------------------------------------------------------


@kernel
def _look(sight: Any, board: u64, extra: u64) -> Any:
    return look(sight, board, extra)


@kernel
def _announced(game: Any, extra: u64) -> Any:
    return announced(game, extra)


@kernel
def _downgrade(game: Any, board: u64, extra: u64, highest: u64) -> Any:
    return downgrade(game, board, extra, highest)


# --- the checks --------------------------------------------------------------------------------------------------------


class _Checker:
    """One game, and how much of it has been compared so far."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.counts: Counter[str] = Counter()
        self.transforms = list(_transforms(game.shape)) if game.symmetric else []
        self.sights = self._find_sights()

    def fail(self, what: str, position: Position | None, expected: object, found: object) -> NoReturn:
        """Raise an error that says what is wrong, where, and what was expected."""
        where = "" if position is None else f", on {self._text(position)}"
        raise GameError(f"{self.game!r}: {what}{where}: expected {expected}, found {found}")

    def _text(self, position: Position) -> str:
        try:
            return self.game.format(position)
        except Exception:  # `format` itself may be wrong: then show the tiles by index
            return format_cells(unpack(position.board, self.game.shape), self.game.shape)

    def play(self, number: int, seed: int) -> None:
        """Play one game with all checks."""
        game = self.game
        rng = Random(seed, number=number)
        chooser = np.random.default_rng([seed, number])
        state, rewards = game.start(rng), 0
        self._check_first(state)
        for made in range(SLIDES):
            legal = self._check_state(state, rewards)
            if not legal:
                break
            slide = list(legal)[chooser.integers(len(legal))] if number % 2 == 0 else next(s for s in ORDER if s in legal)
            afterstate = legal[slide]
            found = self._check_outcomes(afterstate)
            self._check_mirrored_outcomes(afterstate, found)
            self._check_place(afterstate, found)
            if made % DRAWN_EVERY == 0:
                self._check_draws(afterstate, found, rng)
            rewards += afterstate.reward
            state = game.sample(afterstate, rng)
            self._check_drawn(afterstate, state, found)
            self._check_bounds(state, rewards, made + 1)

    # --- what does not depend on a state -----------------------------------------------------------------------------------

    def check_facts(self) -> None:
        """Check tiles, names and the example."""
        game = self.game
        faces = [game.face(index) for index in range(game.top + 1)]
        if faces[0] != 0 or len(set(faces)) != len(faces):
            self.fail("every tile has a face of its own, and an empty cell has 0", None, "different faces", faces)
        for name, index in (("win", game.win), ("goal", game.goal or 1)):
            if not 1 <= index <= game.top:
                self.fail(f"`{name}` is the index of a tile", None, f"1 to {game.top}", index)
        try:
            example = game.parse(game.example)
        except AfterstateError as error:
            raise GameError(f"{game!r}: `example` cannot be read: {error}") from error
        self._check_state(example, 0)

    def _find_sights(self) -> list[tuple[str, Any, int]]:
        """What networks may see: only tiles, the default context, each feature, and all features."""
        game, found = self.game, []
        for context in dict.fromkeys(("", game.context, *game.features, "+".join(game.features))):
            try:
                found.append((context, *game.sight(context)))
            except InputError as error:
                if context in {"", game.context}:
                    raise GameError(f"{game!r}: a network cannot see {context!r}, its default: {error}") from error
        return found

    # --- one position ------------------------------------------------------------------------------------------------------

    def _check_first(self, state: State) -> None:
        tiles = sum(cell != 0 for cell in self.game.cells(state))
        if tiles != self.game.firsts:
            self.fail("a first state has `firsts` tiles", state, self.game.firsts, tiles)

    def _check_position(self, position: Position) -> None:
        """Check cells, the largest tile, and what networks see."""
        game = self.game
        if position.board & ~(15 * game.shape.mask):
            self.fail("there is a tile outside the board", position, "0 there", f"{position.board:#018x}")
        cells = game.cells(position)
        if [cell != 0 for cell in cells] != [nibble != 0 for nibble in unpack(position.board, game.shape)]:
            self.fail("`cells` is empty where the board is", position, unpack(position.board, game.shape), cells)
        largest = game.largest(position)
        if largest != max(cells):
            self.fail("`largest` is the largest of `cells`", position, max(cells), largest)
        if largest > game.top:
            self.fail("no tile is above `top`", position, f"at most {game.top}", largest)
        for context, sight, sets in self.sights:
            number = int(_look(sight, u64(position.board), u64(position.extra))[1])
            if number >= sets:
                self.fail(f"`look` names a set of tables of context {context!r}", position, f"below {sets}", number)
            self.counts["seen"] += 1

    def _check_state(self, state: State, rewards: int) -> Mapping[Slide, Afterstate]:
        """Check a state -> its legal slides."""
        self._check_position(state)
        self._check_text(state)
        legal = self._check_slides(state, rewards)
        self._check_mirrors(state)
        self._check_downgrade(state, legal)
        self.counts["states"] += 1
        self.counts["slides"] += len(legal)
        return legal

    def _check_text(self, state: State) -> None:
        game, text = self.game, self.game.format(state)
        try:
            again = game.parse(text)
        except AfterstateError as error:
            self.fail("`parse` reads what `format` writes", state, state, error)
        if again != state:
            self.fail("`parse` reads what `format` writes", state, _as_state(state), _as_state(again))
        shown = game.next_tile(state)
        if shown not in (game.next_tiles or {""}):
            self.fail("`next_tile` is one of `next_tiles`", state, list(game.next_tiles) or "nothing", repr(shown))

    def _check_slides(self, state: State, rewards: int) -> Mapping[Slide, Afterstate]:
        """A slide is legal if it changes the board. A game may also end by its own rule: then no slide is legal."""
        game, tried = self.game, self.game.try_slides(state)
        over = not any(legal for _, legal in tried.values())
        for slide, (afterstate, legal) in tried.items():
            name, changed = _name(slide), afterstate.board != state.board
            if legal and not changed:
                self.fail(f"a slide {name} is legal but changes nothing", state, "illegal", "legal")
            if changed and not legal and not over:
                self.fail(f"a slide {name} changes the board but is illegal", state, "legal", "illegal")
            if legal:
                self._check_position(afterstate)
                before, after = game.score(state, rewards), game.score(_as_state(afterstate), rewards + afterstate.reward)
                if after - before != afterstate.reward:
                    self.fail(f"a slide {name} adds its reward to the score", state, afterstate.reward, after - before)
        return {slide: afterstate for slide, (afterstate, legal) in tried.items() if legal}

    def _check_mirrors(self, state: State) -> None:
        """The slides of a mirrored board are the mirrored slides. Only an `extra` of 0 is sure not to depend on direction."""
        if state.extra:
            return
        game, shape, tried = self.game, self.game.shape, self.game.try_slides(state)
        for cells, becomes in self.transforms:
            mirrored = State(_turn(state.board, cells, shape))
            others = game.try_slides(mirrored)
            for slide, (afterstate, legal) in tried.items():
                found, is_legal = others[becomes[slide]]
                extra = found.extra if afterstate.extra else 0
                image = Afterstate(_turn(afterstate.board, cells, shape), extra, afterstate.reward)
                if (found, is_legal) != (image, legal):
                    what = f"a slide {_name(becomes[slide])} is the mirror image of {_name(slide)} on {self._text(state)}"
                    self.fail(what, mirrored, self._tell(image, legal), self._tell(found, is_legal))
            self.counts["mirrored"] += 1

    def _tell(self, afterstate: Afterstate, legal: bool) -> str:
        return f"{'legal' if legal else 'illegal'}, {self._text(afterstate)}, reward {afterstate.reward}"

    def _check_downgrade(self, state: State, legal: Mapping[Slide, Afterstate]) -> None:
        """With its large tiles lowered, a state has the same legal slides, to the same cells."""
        game = self.game
        for highest in range(game.lowest_downgrade, game.largest(state)):
            board, extra = _downgrade(game.tables, u64(state.board), u64(state.extra), u64(highest))
            lower = State(int(board), int(extra))
            found = {slide: _filled(game, after) for slide, after in game.afterstates(lower).items()}
            expected = {slide: _filled(game, after) for slide, after in legal.items()}
            if _filled(game, lower) != _filled(game, state) or found != expected:
                what = f"`downgrade` to {game.face(highest)} keeps what slides do, from {self._text(state)}"
                self.fail(what, lower, _names(expected), _names(found))
            self.counts["downgraded"] += lower != state

    # --- new tiles ---------------------------------------------------------------------------------------------------------

    def _check_outcomes(self, afterstate: Afterstate) -> dict[State, float]:
        """Probabilities add up to 1, and every state is listed once -> the probability of each."""
        every = self.game.outcomes(afterstate)
        found = _by_state(every)
        if len(found) != len(every):
            self.fail("`outcomes` lists every state once", afterstate, len(found), len(every))
        if not every or min(found.values()) <= 0 or abs(sum(found.values()) - 1) > 1e-9:
            self.fail("probabilities of `outcomes` are above 0 and add up to 1", afterstate, 1, sum(found.values()))
        self.counts["outcomes"] += len(every)
        return found

    def _check_mirrored_outcomes(self, afterstate: Afterstate, found: Mapping[State, float]) -> None:
        if not self.transforms or afterstate.extra or any(state.extra for state in found):
            return
        cells, _ = self.transforms[self.counts["outcomes"] % len(self.transforms)]  # only one: all would take too long
        shape = self.game.shape
        mirrored = Afterstate(_turn(afterstate.board, cells, shape), 0, 0)
        expected = {State(_turn(state.board, cells, shape)): chance for state, chance in found.items()}
        others = _by_state(self.game.outcomes(mirrored))
        if others.keys() != expected.keys() or any(abs(others[state] - expected[state]) > 1e-9 for state in expected):
            what = f"outcomes of a mirror image are mirror images, from {self._text(afterstate)}"
            self.fail(what, mirrored, f"{len(expected)} of the same probabilities", f"{len(others)} others")

    def _check_place(self, afterstate: Afterstate, found: Mapping[State, float]) -> None:
        """Placing a tile leads to the outcome with that tile; a cell that is taken is refused."""
        game, before = self.game, self.game.cells(afterstate)
        for state in found:
            changed = [cell for cell, tile in enumerate(game.cells(state)) if tile != before[cell]]
            if len(changed) != 1 or before[changed[0]]:
                continue  # more than one new tile: records cannot say that
            tile = game.cells(state)[changed[0]]
            hint = int(_announced(game.tables, u64(state.extra)))
            placed = self._place(afterstate, changed[0], tile, hint, state)
            if placed != state and (hint or placed.board != state.board or placed not in found):
                self.fail(
                    f"`place` puts a {game.face(tile)} on cell {changed[0]}", afterstate, _as_state(state), _as_state(placed)
                )
            self.counts["placed"] += 1
        taken = next((cell for cell, tile in enumerate(before) if tile), None)
        if taken is not None and self._is_placed(afterstate, taken):
            self.fail("`place` refuses a cell that is taken", afterstate, "an InputError", f"a tile on cell {taken}")

    def _place(self, afterstate: Afterstate, cell: int, tile: int, hint: int, state: State) -> State:
        try:
            return self.game.place(afterstate, cell, tile, hint)
        except InputError as error:
            self.fail(f"`place` puts a {self.game.face(tile)} on cell {cell}", afterstate, self._text(state), error)

    def _is_placed(self, afterstate: Afterstate, cell: int) -> bool:
        try:
            self.game.place(afterstate, cell, 1)
        except InputError:
            return False
        return True

    def _check_drawn(self, afterstate: Afterstate, state: State, found: Mapping[State, float]) -> None:
        if state not in found:
            self.fail("`sample` draws one of `outcomes`", afterstate, f"one of {len(found)} outcomes", self._text(state))

    def _check_draws(self, afterstate: Afterstate, found: Mapping[State, float], rng: Random) -> None:
        """Draw many new tiles: how often each comes must fit its probability (Pearson's chi-square)."""
        drawn: Counter[State] = Counter()
        for _ in range(DRAWS):
            state = self.game.sample(afterstate, rng)
            self._check_drawn(afterstate, state, found)
            drawn[state] += 1
        often = [state for state, chance in found.items() if chance * DRAWS >= EXPECTED]
        pairs = [(drawn[state], found[state] * DRAWS) for state in often]
        rest = DRAWS - sum(expected for _, expected in pairs)
        if rest > EXPECTED:
            pairs.append((DRAWS - sum(count for count, _ in pairs), rest))
        distance = sum((count - expected) ** 2 / expected for count, expected in pairs)
        freedom = max(len(pairs) - 1, 1)
        bound = freedom + 2 * sqrt(freedom * SURE) + 2 * SURE  # Laurent and Massart (2000), lemma 1
        if distance > bound:
            count, expected, state = max(
                ((drawn[state], found[state] * DRAWS, state) for state in often), key=lambda one: abs(one[0] - one[1])
            )
            what = f"`sample` draws by the probabilities of `outcomes` ({DRAWS} draws; {self._text(state)})"
            self.fail(what, afterstate, f"about {expected:.0f} times", f"{count} times")
        self.counts["draws"] += DRAWS

    # --- bounds ------------------------------------------------------------------------------------------------------------

    def _check_bounds(self, state: State, rewards: int, slides: int) -> None:
        game = self.game
        if slides > game.longest:
            self.fail("no game has more slides than `longest`", state, f"at most {game.longest}", slides)
        if (score := game.score(state, rewards)) > game.most:
            self.fail("no score is above `most`", state, f"at most {game.most}", score)


def _as_state(afterstate: Position) -> State:
    """Its words, without its game: shown as words, even if the game's text is wrong."""
    return State(afterstate.board, afterstate.extra)


def _filled(game: Game, position: Position) -> tuple[bool, ...]:
    """Which cells have a tile."""
    return tuple(cell != 0 for cell in game.cells(position))


def _by_state(outcomes: Sequence[Outcome]) -> dict[State, float]:
    return {outcome.state: outcome.probability for outcome in outcomes}


def _name(slide: Slide) -> str:
    return str(slide)


def _names(slides: Mapping[Slide, object]) -> str:
    return ", ".join(map(_name, slides)) or "no slide"
