"""Perft: every line of play counted by the kernels, against the reference and against figures that are written down.

Two programs that agree on these figures agree on the rules. A row is (afterstates, states, reward, ended).
"""

import pytest

import reference
from afterstate.errors import InputError
from afterstate.games.game import Game, make
from afterstate.games.perft import MAX_DEPTH, perft

Table = list[reference.Row]

# one line for each depth, from 1 on
CORNERS: Table = [(4, 112, 0, 0), (424, 11536, 1024, 0), (43232, 1124032, 99776, 0)]
FIGURES: dict[tuple[str, str], Table] = {
    ("4x4", "0 0 0 0 / 0 2 2 0 / 0 0 0 0 / 0 0 0 0"): [(4, 116, 8, 0), (436, 12104, 736, 0)],
    ("4x4", "2 4 8 16 / 4 8 16 32 / 2 2 4 4 / 0 0 0 2"): [(3, 26, 24, 0), (91, 804, 680, 0)],
    # no slide; one merge; no slide, though all nibbles of `board` but one are 15
    ("4x4", "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"): [(0, 0, 0, 0), (0, 0, 0, 0)],
    ("4x4", "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 8 8"): [(2, 4, 32, 1), (8, 28, 88, 3), (92, 632, 1304, 4)],
    (
        "4x4",
        "32768 65536 32768 65536 / 65536 32768 65536 32768 / 32768 65536 32768 65536 / 65536 32768 65536 2",
    ): [(0, 0, 0, 0), (0, 0, 0, 0)],
    # the first slide makes a 65536; all three large tiles
    ("4x4", "32768 32768 16384 16384 / 8192 4096 2048 1024 / 2 4 8 16 / 32 64 128 256"): [
        (2, 8, 196608, 0),
        (20, 40, 0, 36),
        (8, 16, 48, 14),
    ],
    ("4x4", "65536 32768 32768 8 / 65536 2 4 8 / 131072 16 16 0 / 0 4 2 2"): [
        (4, 36, 393320, 0),
        (144, 1528, 18351920, 0),
    ],
    ("2x2", "2 0 / 0 2"): [(4, 16, 0, 0), (56, 208, 192, 8), (576, 1792, 2432, 112), (4512, 12160, 19328, 1984)],
    ("2x2", "4 2 / 2 0"): [(2, 4, 0, 0), (12, 32, 80, 4), (76, 184, 416, 48)],
    ("2x3", "2 0 0 / 0 0 2"): [(4, 32, 0, 0), (112, 840, 336, 0), (2684, 17712, 8688, 0)],
    ("3x2", "2 0 / 0 0 / 0 2"): [(4, 32, 0, 0), (112, 840, 336, 0), (2684, 17712, 8688, 0)],
    ("3x3", "2 0 0 / 0 0 0 / 0 0 2"): [(4, 56, 0, 0), (200, 2672, 544, 0), (9520, 117088, 25664, 0)],
    ("3x3", "128 64 32 / 4 8 16 / 2 2 4"): [(2, 4, 8, 0), (14, 28, 112, 7), (46, 116, 608, 14)],
    ("2x4", "2 0 0 2 / 4 0 0 4"): [(2, 24, 24, 0), (66, 684, 96, 0)],
    ("4x3", "2 0 2 / 0 4 0 / 0 4 0 / 2 0 2"): [(4, 68, 48, 0), (232, 3840, 1472, 0)],
}
TWO_CORNERS = "2 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"


def by_kernel(game: Game, board: str, depth: int) -> Table:
    table = perft(game, game.parse(board), depth)
    assert [row.depth for row in table] == list(range(1, depth + 1))
    return [(row.afterstates, row.states, row.reward, row.ended) for row in table]


def by_reference(size: str, board: str, depth: int) -> Table:
    rows, columns = (int(side) for side in size.split("x"))
    return reference.perft([int(word) for word in board.replace("/", " ").split()], rows, columns, depth)


@pytest.mark.parametrize(("position", "expected"), FIGURES.items(), ids=[" ".join(position) for position in FIGURES])
def test_figures(position: tuple[str, str], expected: Table) -> None:
    size, board = position
    assert by_reference(size, board, len(expected)) == expected
    for depth in range(1, len(expected) + 1):
        assert by_kernel(make("2048", size=size), board, depth) == expected[:depth]


def test_two_corners_to_depth_3(game: Game) -> None:
    assert by_reference("4x4", TWO_CORNERS, 2) == CORNERS[:2]
    assert by_kernel(game, TWO_CORNERS, 3) == CORNERS


def test_progress_counts_the_branches(game: Game) -> None:
    calls: list[tuple[int, int]] = []
    perft(game, game.parse(TWO_CORNERS), 1, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(number, 112) for number in range(1, 113)]


@pytest.mark.parametrize("depth", [0, -1, MAX_DEPTH + 1, 99])
def test_bad_depth(game: Game, depth: int) -> None:
    with pytest.raises(InputError, match=f"1 to {MAX_DEPTH}, not {depth}"):
        perft(game, game.parse(TWO_CORNERS), depth)
