"""What notebooks show: sound markup, the tiles and figures of the thing itself, and colours that fit light and dark."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import afterstate as af
from afterstate.games.arrays import Positions
from afterstate.games.game import Game
from afterstate.games.results import make_results, summarise
from afterstate.learning.options import TrainOptions
from afterstate.learning.trainer import Run, train
from afterstate.network.network import Network
from afterstate.pictures.boards import short_number
from afterstate.pictures.chart import HEIGHT, WIDTH, Point, draw_chart, ticks
from afterstate.pictures.tiles import EVERY, OWN, Colours, tile_colours
from listeners import StopAt

BOARD = "2 4 8 16 / 0 2 4 131072 / 0 0 2 4 / 0 0 0 2"
CSS = Path(af.__file__).parent / "web" / "page" / "board.css"
SVG = "{http://www.w3.org/2000/svg}"


def shown(thing: Any) -> ElementTree.Element:
    """What a thing shows, parsed; it fails if a tag is not closed, or a text not escaped."""
    markup = thing._repr_html_()
    assert isinstance(markup, str)
    return ElementTree.fromstring(f"<body>{markup}</body>")


def texts(element: ElementTree.Element) -> list[str]:
    return [text.strip() for text in element.itertext() if text.strip()]


def board(element: ElementTree.Element, number: int = 0) -> list[tuple[str, str]]:
    """The tiles of a drawn board, row by row: what is written on each, and its colour; empty cells are ('', ...)."""
    drawn = list(element.iter(f"{SVG}svg"))[number]
    cells: list[tuple[str, str]] = []
    for part in list(drawn)[1:]:
        if part.tag == f"{SVG}rect" and "x" in part.attrib:
            cells.append(("", part.attrib["fill"]))
        elif part.tag == f"{SVG}text":
            cells[-1] = (str(part.text), cells[-1][1])
    return cells


def faces(game: Game, position: Any) -> list[tuple[str, str]]:
    """The same from the rules."""
    return [
        (str(game.face(index)), tile_colours(game.name, index).tile) if index else ("", "#fffaf0")
        for index in game.cells(position)
    ]


# --- colours -------------------------------------------------------------------------------------------------------------


def of_the_page(prefix: str) -> dict[int, dict[str, str]]:
    """The colours of tiles in the page's stylesheet, by index."""
    rules = re.findall(rf'^{re.escape(prefix)}\.tile\[data-tile="(\d+)"\] \{{(.*)\}}$', CSS.read_text(), re.MULTILINE)
    return {int(index): dict(re.findall(r"--(tile|tile-ink): (#\w+);", body)) for index, body in rules}


def as_css(colours: Sequence[Colours]) -> dict[int, dict[str, str]]:
    return {index: {"tile": found.tile, "tile-ink": found.ink} for index, found in enumerate(colours, start=1)}


def test_tiles_have_the_colours_of_the_page() -> None:
    plain, threes = of_the_page(""), of_the_page('[data-game="threes"] ')
    assert plain.pop(0, {}) == {}
    assert as_css(EVERY[:-1]) == plain
    last = re.search(r":where\(.*\) \{ --tile: (\S+); --tile-ink: (\S+); \}", CSS.read_text())
    assert last is not None
    assert last.groups() == EVERY[-1]
    ink = re.search(r'\[data-game="threes"\] \.tile \{ --tile-ink: (\S+); \}', CSS.read_text())
    assert ink is not None
    expected = {index: {"tile-ink": ink[1]} | found for index, found in threes.items()}
    assert {
        index: {"tile": found.tile, "tile-ink": found.ink} for index, found in enumerate(OWN["threes"], start=1)
    } == expected


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("game", "index"), [("2048", 1), ("2048", 9), ("2048", 10), ("2048", 40), ("threes", 1), ("threes", 15)]
)
def test_numbers_on_tiles_can_be_read(game: str, index: int) -> None:
    low, high = sorted(luminance(colour) for colour in tile_colours(game, index))
    assert (high + 0.05) / (low + 0.05) >= 4.5


# --- positions -----------------------------------------------------------------------------------------------------------


def test_a_state_shows_its_board(game: Game) -> None:
    state = game.parse(BOARD)
    drawn = shown(state)
    assert board(drawn) == faces(game, state)
    assert texts(drawn)[0] == BOARD  # for those who cannot see it


def test_an_afterstate_shows_its_reward(game: Game) -> None:
    after = game.slide(game.parse("2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0"), "left")
    assert after is not None
    drawn = shown(after)
    assert board(drawn) == faces(game, after)
    assert texts(drawn)[-1] == "a tile is due · reward 4"


def test_threes_shows_the_next_tile_and_has_its_own_colours() -> None:
    threes = af.make("threes")
    state = threes.parse(threes.example)
    drawn = shown(state)
    assert board(drawn) == faces(threes, state)
    assert texts(drawn)[-1] == "bag 23 · next 1"
    assert ("1", "#065da0") in board(drawn)
    after = threes.slide(state, "down")
    assert after is not None
    assert texts(shown(after))[-1] == f"bag 23 · next 1 · slid D · a tile is due · reward {after.reward}"


def test_an_outcome_shows_its_probability(game: Game) -> None:
    outcome = game.outcomes(af.Afterstate(0, 0, 0, game=game))[0]
    assert board(shown(outcome)) == faces(game, outcome.state)
    assert texts(shown(outcome))[-1] == f"probability {outcome.probability:.4g}"


def test_what_is_no_position_is_left_to_its_text() -> None:
    assert af.State(0x1)._repr_html_() is None  # of no known game
    assert af.Outcome(af.State(0x1), 1.0)._repr_html_() is None
    assert af.State(1, 2**64 - 1, game=af.make("threes"))._repr_html_() is None  # there is no such next tile


def test_a_small_board_has_fewer_cells() -> None:
    small = af.make("2048", size="2x3")
    assert len(board(shown(small.parse("2 4 8 / 0 0 2")))) == 6


def test_many_positions_show_the_first(game: Game) -> None:
    cells = np.zeros((20, 4, 4), np.uint8)
    cells[:, 0, 0] = np.arange(1, 21) % 17 + 1
    positions = game.from_array(cells)
    drawn = shown(positions)
    assert len(list(drawn.iter(f"{SVG}svg"))) == 12
    assert board(drawn, 11) == faces(game, positions[11])
    assert texts(drawn)[-1] == "and 8 more"
    assert "more" not in " ".join(texts(shown(positions[:12])))
    assert texts(shown(Positions(game, positions.boards[:0], positions.extras[:0]))) == ["no positions"]


# --- players -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def network(game: Game) -> Network:
    made = Network(game, "0123,4567,0145")
    made.weights[:] = np.random.default_rng(1).normal(size=made.weights.size).astype(np.float32)
    return made


def test_a_network_draws_its_patterns(network: Network) -> None:
    drawn = shown(network)
    words = " ".join(texts(drawn))
    assert "3 patterns x 8 isomorphisms = 24 look-ups a value" in words
    assert "not trained" in words
    for pattern in network.patterns:
        assert pattern in texts(drawn)
    filled = [part for part in drawn.iter(f"{SVG}rect") if part.attrib["fill"] != "none"]
    assert len(filled) == sum(map(len, network.patterns))


def test_a_network_of_threes_tells_what_it_sees() -> None:
    made = Network(af.make("threes"), "0123", stages=(0, 384))
    words = " ".join(texts(shown(made)))
    assert "tcg2022 rules" in words
    assert "stages begin at the tiles 0, 384" in words
    assert f"it sees: {', '.join(made.context.split('+'))}" in words


def test_a_choice_shows_the_values_beside_the_board(network: Network, game: Game) -> None:
    state = game.parse("2 2 4 8 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0")
    choice = af.Agent(network).choose(state)
    drawn = shown(choice)
    assert board(drawn) == faces(game, state)
    rows = {cells[0].split()[1]: cells for row in drawn.iter("tr") if (cells := texts(row))}
    assert list(rows) == ["up", "right", "down", "left"]
    assert rows["up"][1:] == ["illegal"]
    for slide, value in choice.values.items():
        assert value is None or f"{value:,.1f}" in rows[str(slide)]
    assert [name for name, cells in rows.items() if "best" in cells] == [str(choice.move)]


def test_a_choice_of_a_search_and_of_a_game_that_is_over(network: Network, game: Game) -> None:
    deep = af.Agent(network, depth=2)
    assert "2 slides ahead" in " ".join(texts(shown(deep.choose(game.parse(BOARD)))))
    over = deep.choose(game.parse("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"))
    assert "the game is over" in texts(shown(over))


def test_an_explanation_shows_what_cells_and_patterns_add(network: Network, game: Game) -> None:
    after = game.slide(game.parse(BOARD), "left")
    assert after is not None
    told = network.explain(after)
    assert told.position == after
    drawn = shown(told)
    assert board(drawn, 0) == faces(game, after)
    assert [text for text, _ in board(drawn, 1)] == [short_number(share) for share in told.cells.ravel()]
    assert {colour for _, colour in board(drawn, 1)} == {"#e0701a", "#3b8fd0"}  # random weights have both signs
    for share in told.patterns:
        assert any(texts(row) == [share.pattern, f"{share.value:,.1f}"] for row in drawn.iter("tr"))
    assert f"value {told.value:,.1f}, by cells" in texts(drawn)


def test_an_explanation_of_many_patterns_puts_the_small_ones_together(game: Game) -> None:
    made = Network(game, ",".join(f"{cell:x}{(cell + 1) % 16:x}" for cell in range(15)), symmetry=1)
    made.weights[:] = 1.0
    drawn = shown(made.explain(af.Afterstate(0, 0, 0, game=game)))
    assert any(texts(row) == ["3 more", "3.0"] for row in drawn.iter("tr"))


# --- results -------------------------------------------------------------------------------------------------------------


def test_a_summary_shows_its_figures(game: Game) -> None:
    results = make_results(4)
    results.scores[:], results.largest[:], results.moves[:] = [1000, 2000, 3000, 30000], [7, 8, 8, 11], 100
    summary = summarise(game, results, 2.0)
    words = texts(shown(summary))
    assert f"9,000.0 ± {summary.interval:,.1f}" in words
    assert "30,000" in words
    assert [texts(row) for row in shown(summary).iter("tr")][1:] == [
        ["128", "100.0%", "25.0%"],
        ["256", "75.0%", "50.0%"],
        ["512", "25.0%", "0.0%"],
        ["1024", "25.0%", "0.0%"],
        ["2048", "25.0%", "25.0%"],
    ]
    assert "±" not in " ".join(texts(shown(summarise(game, results.part(0, 1), 1.0))))
    assert "games end as soon as 512 is on the board" in texts(shown(summarise(game, results, 2.0, until=512)))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    options = TrainOptions(network="0123,4567", games=400, block=100, threads=1, seed=3, eval_every=200, eval_games=20)
    return train(options, run=tmp_path_factory.mktemp("runs") / "a <b> & c")


def test_a_run_shows_its_curve(run: Run) -> None:
    drawn = shown(run)
    words = texts(drawn)
    assert words[:2] == ["400", "games"]
    assert f"{run.metrics[-1]['mean']:,.0f} ± {run.metrics[-1]['interval']:,.0f}" in words
    assert words[-1] == str(run.folder)
    curve = [path for path in drawn.iter(f"{SVG}path") if path.attrib.get("fill") == "none"]
    assert len(curve) == 1
    assert curve[0].attrib["d"].count("L") == 3  # four blocks
    assert len(list(drawn.iter(f"{SVG}circle"))) == 2  # two evaluations


def test_a_run_without_a_block_has_no_curve_yet(tmp_path: Path) -> None:
    stop = StopAt(1)
    options = TrainOptions(network="0123,4567", games=1_000_000, block=1_000_000, threads=1)
    done = train(options, run=tmp_path / "run", listener=stop, stop=stop.stop)
    assert texts(shown(done))[-1] == "no block is finished yet"


# --- charts --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [0.03, 1, 7, 99.5, 870, 5000, 123456.7])
def test_ticks_are_few_and_round(end: float) -> None:
    found = ticks(end)
    assert 2 <= len(found) <= 6
    assert found[0] == 0
    assert end / 2 < found[-1] <= end * (1 + 1e-6)
    assert f"{found[1]:.0e}"[0] in "125"
    assert np.allclose(np.diff(found), found[1])


def test_ticks_of_a_few_hundred() -> None:
    assert ticks(870) == [0, 200, 400, 600, 800]


def test_a_curve_stays_inside_its_picture() -> None:
    drawn = ElementTree.fromstring(draw_chart([Point(10, 5, 8), Point(400, 90, 10)], [Point(200, 40, 3)], title="a < b"))
    for path in drawn.iter(f"{SVG}path"):
        numbers = [float(number) for number in re.findall(r"[\d.]+", path.attrib["d"].replace("H", " "))]
        assert all(0 <= number <= max(WIDTH, HEIGHT) for number in numbers)
    assert ElementTree.fromstring(draw_chart([], title="nothing yet")) is not None


@pytest.mark.parametrize(("value", "text"), [(0, "0.0"), (-3.21, "-3.2"), (48.4, "48"), (1204, "1,204"), (12345, "12.3k")])
def test_short_numbers(value: float, text: str) -> None:
    assert short_number(value) == text


def test_words_have_the_colour_of_the_notebook(run: Run, network: Network, game: Game) -> None:
    """Only what stands on a tile or on a filled cell has a colour of its own."""
    state = game.parse(BOARD)
    inks = {colours.ink for colours in EVERY} | {"currentColor", "#FFFFFF"}  # white on the cells of a pattern
    for thing in (run, network, state, af.Agent(network).choose(state), game.from_array([state])):
        drawn = shown(thing)
        assert {text.attrib["fill"] for text in drawn.iter(f"{SVG}text")} <= inks
        styles = " ".join(part.attrib.get("style", "") for part in drawn.iter())
        assert not re.search(r"(^|[;\s])color:", styles)
