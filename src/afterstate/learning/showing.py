"""What notebooks show of a run."""

from typing import TYPE_CHECKING

from afterstate.learning.blocks import merge
from afterstate.pictures.chart import Point, draw_chart
from afterstate.pictures.markup import Markup
from afterstate.pictures.panel import cards, line, stack
from afterstate.units import format_count, format_time

if TYPE_CHECKING:
    from afterstate.learning.run import Run


def show_run(run: "Run") -> Markup:
    """Its figures, and its learning curve."""
    figures = [(format_count(run.games), "games"), (format_time(run.seconds), "of training")]
    metrics = run.metrics
    blocks, evals = ([record for record in metrics if record["kind"] == kind] for kind in ("block", "eval"))
    if not blocks:
        return stack(cards(figures), line("no block is finished yet", soft=True))
    last = (evals or blocks)[-1]
    how = f"{last['count']:,} games {'with learning off' if evals else 'while learning'}"
    interval = "" if last["interval"] is None else f" ± {last['interval']:,.0f}"
    figures.append((f"{last['mean']:,.0f}{interval}", f"mean score, the last {how}"))
    figures.append((f"{last['win_rate']:.1%}", f"reach {last['win_tile']}"))
    points, dots = (
        [Point(record["games"], record["mean"], record["interval"] or 0.0) for record in found]
        for found in (merge(blocks), evals)
    )
    words = "mean score over games of training, with its 95 % interval" + ("; dots: with learning off" if evals else "")
    where = str(run.folder) if run.keeper.writes else "not kept in a folder"
    state = ", stopped before its end" if run.stopped else ""
    return stack(
        cards(figures), draw_chart(points, dots, title=words), line(words, soft=True), line(f"{where}{state}", soft=True)
    )
