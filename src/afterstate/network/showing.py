"""What notebooks show of networks, and of what they think of a position."""

from typing import TYPE_CHECKING

from afterstate.games.showing import beside, board_of
from afterstate.network.svg import draw_patterns
from afterstate.pictures.boards import draw_shares
from afterstate.pictures.markup import Markup
from afterstate.pictures.panel import SIGNS, bar, captioned, line, panel, stack, table
from afterstate.units import format_bytes, format_count, format_time

if TYPE_CHECKING:
    from afterstate.network.network import Explanation, Network

MOST = 12  # patterns of an explanation, the largest shares first


def show_network(network: "Network") -> Markup:
    """Its patterns, drawn, and its figures."""
    game, training = network.game, network.training
    rules = "" if game.rules == "standard" else f", {game.rules} rules"
    looks = f"{len(network.patterns)} patterns x {network.symmetry} isomorphisms = {network.lookups} look-ups a value"
    size = f"{network.weights.size:,} weights ({format_bytes(network.weights.nbytes)})"
    facts = [line(f"{game.title} {game.shape}{rules} · {looks} · {size} · values {network.target}s")]
    if len(network.stages) > 1:
        facts.append(line(f"stages begin at the tiles {', '.join(map(str, network.stages))}", soft=True))
    if network.context:
        facts.append(line(f"besides the tiles it sees: {', '.join(network.context.split('+'))}", soft=True))
    trained = f"trained for {format_count(training.games)} games in {format_time(training.seconds)}"
    facts.append(line(trained if training.games else "not trained", soft=True))
    return stack(*facts, draw_patterns(network.patterns, game.shape))


def show_explanation(told: "Explanation") -> Markup:
    """The position, what each of its cells adds to the value, and what each pattern adds."""
    columns = told.cells.shape[1]
    heat = draw_shares(told.cells.ravel().tolist(), columns, title="what each cell adds to the value")
    parts = [captioned(heat, f"value {told.value:,.1f}, by cells")]
    if told.position is not None and told.position.game is not None:
        parts.insert(0, captioned(board_of(told.position), beside(told.position)))
    shares = sorted(told.patterns, key=lambda share: -abs(share.value))
    longest = max((abs(share.value) for share in shares), default=0.0) or 1.0
    rows = [
        [share.pattern, f"{share.value:,.1f}", bar(abs(share.value) / longest, colour=SIGNS[share.value < 0])]
        for share in shares[:MOST]
    ]
    if len(shares) > MOST:
        rest = sum(share.value for share in shares[MOST:])
        rows.append([f"{len(shares) - MOST} more", f"{rest:,.1f}", ""])
    return panel(*parts, stack(table(rows, heads=("pattern", "adds", ""), sides="lrl")))
