"""A sweep as people see it: a table of its trials, and one plot."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from afterstate.bitboard import Shape
from afterstate.cluster.sweeps.file import Sweep, Trial
from afterstate.cluster.sweeps.folder import Standing, SweepFolder, rank
from afterstate.cluster.sweeps.halving import Job, Outcome
from afterstate.files import atomic_write
from afterstate.network.patterns import parse_patterns
from afterstate.report.curves import fit
from afterstate.report.plot import _STYLE, COLOURS, GREY, _short
from afterstate.report.tables import PatternDrawings
from afterstate.units import format_count, format_time

MOST = 20  # trials in a table
LABEL = 60  # characters of what is varied, in the plot's legend
NAMED = 6  # trials with a colour of their own in the plot
DRAWN = 3  # trials whose patterns are drawn
_PLACES = ("best", "second", "third")
_STATES = {"done": "green", "stopped": "grey50", "failed": "bold red", "training": "yellow", "waiting": "grey50"}


def name_amount(sweep: Sweep, amount: float) -> str:
    """A length of training as text: '2k games' or '1m30s'."""
    return f"{format_count(int(amount))} games" if sweep.by == "games" else format_time(amount)


def sweep_table(folder: SweepFolder, running: Sequence[Job] = (), *, most: int = MOST) -> RenderableType:
    """The trials, the best first: how far each has come, its score, and how far it is ahead of the reference."""
    sweep = folder.sweep
    reference = folder.standings.get(0)
    active = {job.trial.number for job in running}
    table = Table(box=None, padding=(0, 1), title=_title(folder), title_justify="left")
    ahead = [f"ahead of {reference.trial.label}"] if reference and len(reference.trial.label) < 20 else ["ahead"]
    for name in ("", "trial", "state", "after", "score", *(ahead if reference else []), "varied"):
        is_text = name == "varied"
        table.add_column(
            name,
            justify="left" if is_text or name == "state" else "right",
            no_wrap=not is_text,
            overflow="fold" if is_text else "ellipsis",
        )
    ranked = rank(list(folder.standings.values()))
    ranked = [one for one in ranked if one.last or one.trial.number in active] or ranked
    for place, standing in enumerate(ranked[:most], start=1):
        state = standing.ended or ("training" if standing.trial.number in active else "waiting")
        last = standing.last
        table.add_row(
            str(place) if last else "", str(standing.trial.number), Text(state, style=_STATES[state]),
            name_amount(sweep, last.at) if last else "", f"{last.score:,.0f}" if last else "",
            *([_ahead(standing, reference)] if reference else []), Text(standing.error or standing.trial.label),
        )  # fmt: skip
    if len(ranked) > most:
        table.caption = f"and {len(ranked) - most} more"
    return table


def _title(folder: SweepFolder) -> str:
    counts = {why: sum(one.ended == why for one in folder.standings.values()) for why in ("done", "stopped", "failed")}
    told = ", ".join(f"{count} {why}" for why, count in counts.items() if count)
    return f"sweep {folder.sweep.name}: {len(folder.standings)} trials" + (f", {told}" if told else "")


def _ahead(standing: Standing, reference: Standing | None) -> str:
    """How far a trial is ahead, in percent of the reference, with its 95 % interval over pairs of seeds."""
    gap = standing.ahead_of(reference)
    if gap is None or reference is None or standing.last is None:
        return ""
    theirs = {result.at: result.score for result in reference.results}
    base = next(theirs[result.at] for result in reversed(standing.results) if result.at in theirs)
    interval = f" ± {gap[1] / base:.1%}" if math.isfinite(gap[1]) else ""
    return f"{gap[0] / base:+.1%}{interval}"


def plot_sweep(folder: SweepFolder) -> bool:
    """Draw the scores of all trials over games or time, the best ones in colours -> whether there was anything to draw."""
    import matplotlib
    from matplotlib.figure import Figure

    sweep = folder.sweep
    ranked = [one for one in rank(list(folder.standings.values())) if one.last]
    if not ranked:
        return False
    with matplotlib.rc_context(_STYLE):
        named = ranked[:NAMED] + [one for one in ranked[NAMED:] if one.trial.number == 0]
        figure = Figure(figsize=(11.0, 4.6 + 0.24 * len(named)), layout="constrained")
        axes: Any = figure.subplots()
        for standing in ranked:
            if standing not in named:
                _draw(axes, sweep, standing, color=GREY, alpha=0.35, linewidth=0.9)
        for standing, colour in zip(named, [*COLOURS, *COLOURS], strict=False):
            _draw(axes, sweep, standing, color=colour, linewidth=2.0, zorder=3, label=_legend(standing.trial))
        axes.set_title(
            f"{fit(sweep.name, 40)}: {len(ranked)} trials, mean of {len(sweep.seeds)} seed{'s' * (len(sweep.seeds) > 1)}"
        )
        axes.set_xlabel("training games" if sweep.by == "games" else "seconds of training")
        axes.set_ylabel("mean score of the last block")
        axes.set_xscale("log")
        axes.set_xticks(sweep.rungs, [_short(rung) for rung in sweep.rungs])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter(_short)
        legend = figure.legend(loc="outside lower left", ncols=1)
        for text in legend.get_texts():
            text.set_parse_math(False)
        with atomic_write(folder.plot) as file:
            figure.savefig(file, format="png", dpi=150)
    return True


def _legend(trial: Trial) -> str:
    name = "reference" if trial.number == 0 else f"trial {trial.number}"
    return f"{name}: {fit(trial.label, LABEL)}"


def _draw(axes: Any, sweep: Sweep, standing: Standing, **style: Any) -> None:
    """A line through the means, and a dot for each seed."""
    at = [result.at for result in standing.results]
    axes.plot(at, [result.score for result in standing.results], marker="o", markersize=4, **style)
    if len(sweep.seeds) > 1:
        style.pop("label", None)
        for place in range(len(sweep.seeds)):
            axes.plot(at, [result.scores[place] for result in standing.results], ".", markersize=3, **style)


def now_running(folder: SweepFolder, running: Sequence[Job]) -> RenderableType:
    """The trainings under way: games so far, and the mean of the newest block."""
    table = Table.grid(padding=(0, 2))
    for job in running:
        block = folder.progress(job.trial, job.seed)
        done = "starting" if block is None else f"{block['games']:,} games, mean {block['mean']:,.0f}"
        table.add_row(f"trial {job.trial.number}, seed {job.seed}", f"to {name_amount(folder.sweep, job.at)}", done)
    return table


def best_drawn(folder: SweepFolder) -> RenderableType | None:
    """The best trial in words; if networks were varied, the patterns of the best few; None if none has a result."""
    best = [standing for standing in rank(list(folder.standings.values())) if standing.last][:DRAWN]
    if not best:
        return None
    lines = [Text(f"{name}: trial {one.trial.number}, {one.trial.label}") for name, one in zip(_PLACES, best, strict=False)]
    if "network" not in best[0].trial.varied:
        return lines[0]
    parts: list[RenderableType] = []
    for line, standing in zip(lines, best, strict=True):
        options = folder.sweep.run_options(standing.trial, folder.sweep.seeds[0])
        shape = Shape.parse(options.size)
        parts += [line, Text(), PatternDrawings(parse_patterns(str(options.network), shape), shape)]
    return Group(*parts)


def sweep_as_dict(folder: SweepFolder, outcome: Outcome) -> dict[str, Any]:
    """A sweep for JSON, the best trial first."""
    reference = folder.standings.get(0)
    trials = []
    for standing in rank(list(folder.standings.values())):
        ahead = standing.ahead_of(reference)
        interval = None if ahead is None or not math.isfinite(ahead[1]) else ahead[1]
        trials.append(
            {"trial": standing.trial.number, "end": standing.ended, "error": standing.error}
            | {"options": {name.rstrip("_"): value for name, value in standing.trial.varied.items()}}
            | {"ahead": ahead and ahead[0], "ahead_interval": interval}
            | {"results": [asdict(result) | {"score": result.score} for result in standing.results]}
        )
    return {
        "sweep": str(folder.path), "stopped": outcome.stopped, "seconds": outcome.seconds,
        "busy": outcome.busy, "occupied": outcome.occupied,
        "by": folder.sweep.by, "seeds": folder.sweep.seeds, "trials": trials,
    }  # fmt: skip
