"""Mean scores of optimal play where they are known, as `afterstate solve` computes them."""

from afterstate.games.game import Game

# by game, rules and size; a board and the same board turned are one game, so both have one figure
OPTIMA: dict[tuple[str, str, str], float] = {
    ("2048", "standard", "2x2"): 66.964149457,
    ("2048", "standard", "2x3"): 480.258271776,
    ("2048", "standard", "3x2"): 480.258271776,
    ("2048", "standard", "2x4"): 2641.873035692,
    ("2048", "standard", "4x2"): 2641.873035692,
    ("2048", "standard", "3x3"): 5468.486797410,
}


def optimum(game: Game) -> float | None:
    """The mean score that no player of this game exceeds; None if nobody has computed it here."""
    return OPTIMA.get((game.name, game.rules, str(game.shape)))
