"""Statistics in the format of the course's framework.

    1000	avg = 7483, max = 26464, ops = 3349200
        64	100%	(0.6%)
        128	99.4%	(7.5%)

The first number counts the games so far. `ops` are actions a second, slides and new tiles together. The framework times its two
players separately and adds both speeds as (slides|tiles). Here that follows only if a file of games has a time for each: in a
training both share one clock.
"""

from afterstate.games.results import Summary
from afterstate.play.judge import Pace


def format_block(games: int, summary: Summary, speed: Pace | None = None) -> str:
    """Format a block of statistics; ends with a newline."""
    ops = f"{2 * summary.moves_per_s if speed is None else speed.everyone:.0f}"
    if speed is not None and speed.apart:
        ops += f" ({speed.slider:.0f}|{speed.placer:.0f})"
    lines = [f"{games}\tavg = {summary.mean:.0f}, max = {summary.maximum}, ops = {ops}"]
    lines += [f"\t{rate.tile}\t{_percent(rate.reached)}\t({_percent(rate.ended)})" for rate in summary.tiles if rate.ended > 0]
    return "\n".join(lines) + "\n"


def _percent(rate: float) -> str:
    return f"{100 * rate:.4g}%"
