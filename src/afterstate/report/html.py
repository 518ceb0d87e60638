"""A run as one HTML page to hand in: no scripts, no other files, light or dark, and it prints well.

SECTIONS lists what the page shows. A section gets a `Paper` and returns its HTML, or None if it has nothing to show.
"""

import base64
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import resources
from importlib.metadata import version
from io import BytesIO
from pathlib import Path

from afterstate.errors import InputError
from afterstate.files import atomic_write, check_ours, is_file
from afterstate.intervals import wilson
from afterstate.learning.blocks import Record, merge, number
from afterstate.learning.plan import Plan, make_plan
from afterstate.learning.runfolder import RunFolder
from afterstate.network.modelfile import read_training
from afterstate.network.network import count_weights
from afterstate.network.svg import draw_patterns
from afterstate.pictures.markup import Markup, join, tag
from afterstate.report.commands import other_commands, train_command
from afterstate.report.curves import Curve, option_name, option_text
from afterstate.report.plot import draw_curves
from afterstate.units import format_bytes, format_count, format_time

MADE = '<meta name="generator" content="Afterstate">'  # tells our own pages from others
MOST_ROWS = 40  # of the table of blocks
FORMATS = (".html", ".htm")


@dataclass(frozen=True)
class Paper:
    """What the sections of a page are about."""

    folder: RunFolder
    curve: Curve
    plan: Plan

    @classmethod
    def of(cls, run: Path) -> "Paper":
        curve = Curve.of(run)
        return cls(RunFolder.open(run), curve, make_plan(curve.options))

    @property
    def name(self) -> str:
        return self.folder.path.resolve().name

    @property
    def latest(self) -> Record:
        """What the figures at the top are from: the last evaluation, or the last block if there is none."""
        return (self.curve.evals or self.curve.blocks)[-1]

    @property
    def latest_words(self) -> str:
        measured = "with learning off" if self.curve.evals else "while learning"
        return f"{self.latest['count']:,} games {measured}, after {self.latest['games']:,} games of training"

    @cached_property
    def kept(self) -> int | None:
        """The game at whose end the best checkpoint was saved."""
        block = read_training(self.folder.best).block if is_file(self.folder.best) else None
        return None if block is None else block.games


def write_report(run: Path, output: Path | None = None) -> Path:
    """Write the page of a run -> where it is. A file that is not a page of ours is left alone."""
    if output is not None and output.suffix.lower() not in FORMATS:
        raise InputError(f"a report is an {FORMATS[0]} file, not {output.name!r}")
    paper = Paper.of(run)
    if output is None:
        output = paper.folder.report / "report.html"
        with suppress(OSError):
            output.parent.mkdir(exist_ok=True)
    check_ours(output, MADE, "a report")
    page = make_page(paper)
    with atomic_write(output) as file:
        file.write(page.encode())
    return output


def make_page(paper: Paper) -> str:
    """The whole page. The same run gives the same page."""
    style = (resources.files("afterstate") / "report" / "page.css").read_text("utf-8")
    head = join(
        tag("meta", charset="utf-8"),
        Markup(MADE),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{paper.name}: a training run"),
        tag("style", Markup(style)),
    )
    shown = [section for make in SECTIONS if (section := make(paper)) is not None]
    foot = tag("footer", f"Made by Afterstate {version('afterstate')}.")
    body = tag("body", *(join(section, Markup("\n")) for section in shown), foot)
    return f'<!doctype html>\n<html lang="en">\n{tag("head", head)}\n{body}\n</html>\n'


# --- pieces ----------------------------------------------------------------------------------------------------------


def _section(title: str, *parts: str) -> Markup:
    return tag("section", tag("h2", title), *parts)


def _row(cells: Sequence[str], style: str | None = None) -> Markup:
    return tag("tr", *(cell if isinstance(cell, Markup) else tag("td", cell) for cell in cells), class_=style)


def _table(heads: Sequence[str], rows: Sequence[Markup], style: str | None = None) -> Markup:
    head = tag("thead", tag("tr", *(tag("th", name) for name in heads)))
    return tag("div", tag("table", head, tag("tbody", *rows), class_=style), class_="wide")


def _figures(heads: Sequence[str], rows: Sequence[Sequence[str]], *, best: int | None = None) -> Markup:
    """A table of numbers, without columns that have nothing in them; the row `best` stands out."""
    full = [at for at in range(len(heads)) if any(row[at] for row in rows)]
    told = [_row([row[at] for at in full], "best" if number == best else None) for number, row in enumerate(rows)]
    return _table([heads[at] for at in full], told, "figures")


def _score(record: Record) -> str:
    places = 0 if record["mean"] >= 10_000 else 1
    interval = "" if record["interval"] is None else f" ± {record['interval']:,.{places}f}"
    return f"{record['mean']:,.{places}f}{interval}"


def _percent(rate: float) -> str:
    return f"{rate:.1%}".replace("%", " %")


def _optional(record: Record, name: str, form: str = ",.0f") -> str:
    value = number(record, name)
    return "" if value is None else format(value, form)


def _time(record: Record) -> str:
    seconds = number(record, "training_seconds")
    return "" if seconds is None else format_time(seconds)


# --- sections --------------------------------------------------------------------------------------------------------


def _summary(paper: Paper) -> Markup:
    """What was trained, and how far it came."""
    options, game, latest = paper.curve.options, paper.plan.game, paper.latest
    rules = "" if game.rules == "standard" else f", {game.rules} rules"
    rule = " then ".join(paper.plan.rules)
    network = options.network if len(str(options.network)) <= 30 else f"of {len(paper.plan.large)} patterns"
    what = f"{game.title} {game.shape}{rules} · network {network} · {rule} · seed {options.seed}"
    largest = max((int(tile) for tile, rate in latest["reached"].items() if rate > 0), default=0)
    last = paper.curve.blocks[-1]
    cards = [
        (_score(latest), "mean score"),
        (_percent(latest["win_rate"]), f"of games reach {latest['win_tile']}"),
        (_optional(latest, "judge", ".1f"), "points from the judge"),
        (str(largest), "largest tile"),
        (format_count(last["games"]), "games of training"),
        (_time(last), "of training"),
    ]
    drawn = [tag("div", tag("b", figure), tag("span", words), class_="card") for figure, words in cards if figure]
    return tag(
        "header",
        tag("h1", paper.name),
        tag("p", what, class_="soft"),
        tag("div", *drawn, class_="cards"),
        tag("p", f"Score, rates and largest tile: {paper.latest_words}. Intervals (±) are 95 %.", class_="soft"),
    )


def picture(svg: bytes, words: str) -> Markup:
    """A picture inside the page, with words for those who cannot see it."""
    source = "data:image/svg+xml;base64," + base64.b64encode(svg).decode()
    return tag("figure", tag("img", src=source, alt=words))


def _curves(paper: Paper) -> Markup:
    file = BytesIO()
    draw_curves([paper.curve], file, "svg", on_page=True)
    words = f"Mean score and tile rates over {paper.curve.blocks[-1]['games']:,} training games"
    return _section("Learning curves", picture(file.getvalue(), words))


def _evaluations(paper: Paper) -> Markup | None:
    """What was measured on the way with learning off."""
    if not paper.curve.evals:
        return None
    rows = []
    for record in paper.curve.evals:
        games = record["count"]
        low, high = wilson(round(record["win_rate"] * games), games)
        win = f"{_percent(record['win_rate'])} ({100 * low:.1f} to {100 * high:.1f})"
        figures = (f"{record['games']:,}", f"{games:,}", _score(record), _optional(record, "median"), _optional(record, "max"))
        rows.append((*figures, win, _optional(record, "judge", ".1f"), _time(record)))
    heads = ("after games", "games played", "mean score", "median", "highest", f"{paper.curve.win_tile} reached")
    text = "Games with learning off, at stops during the training."
    return _section("Evaluations", tag("p", text), _figures((*heads, "judge's points", "training"), rows))


def _tiles(paper: Paper) -> Markup:
    """How often each tile was reached."""
    latest = paper.latest
    ended = latest.get("ended")
    rows = []
    for tile, rate in sorted(latest["reached"].items(), key=lambda pair: int(pair[0])):
        low, high = wilson(round(rate * latest["count"]), latest["count"])
        last = number(ended, tile) if isinstance(ended, dict) else None
        bar = tag("td", tag("i", style=f"width: {100 * min(max(rate, 0.0), 1.0):.1f}%"), class_="bar")
        rows.append([tile, _percent(rate), f"{100 * low:.1f} to {100 * high:.1f}", "" if last is None else _percent(last), bar])
    heads = ["tile", "reached", "95 % interval", "largest at the end", ""]
    win = next((at for at, row in enumerate(rows) if row[0] == str(latest["win_tile"])), None)
    words = paper.latest_words[0].upper() + paper.latest_words[1:]
    return _section("Tiles", tag("p", f"{words}."), _figures(heads, rows, best=win))


def _blocks(paper: Paper) -> Markup:
    """The statistics of training, in at most MOST_ROWS rows."""
    every = paper.curve.blocks
    blocks = merge(every, MOST_ROWS)
    rows = []
    for block in blocks:
        figures = (f"{block['games']:,}", _score(block), _optional(block, "max"), _percent(block["win_rate"]))
        rows.append((*figures, _optional(block, "mean_error", ",.1f"), _optional(block, "alpha", "g"), _time(block)))
    words = f"{len(every):,} blocks of {every[0]['count']:,} games while learning."
    if len(blocks) < len(every):
        words += f" Each row has the games of {-(-len(every) // MOST_ROWS):,} blocks."
    best = None
    if paper.kept is not None:
        best = next((at for at, block in enumerate(blocks) if block["games"] >= paper.kept), None)
        words += f" The network that is kept to play with, the best checkpoint, is from game {paper.kept:,}."
    heads = ("games so far", "mean score", "highest", f"{paper.curve.win_tile} reached", "mean error", "alpha", "training")
    return _section("Training", tag("p", words), _figures(heads, rows, best=best))


def _network(paper: Paper) -> Markup:
    """The patterns, with all their isomorphs."""
    plan = paper.plan
    sets = len(plan.stages) * plan.game.sight(plan.context)[1]
    weights = count_weights(plan.large, sets)
    look_ups = len(plan.large) * plan.symmetry
    facts = [
        f"{len(plan.large)} patterns x {plan.symmetry} isomorphisms = {look_ups} look-ups a value;",
        f"{weights:,} weights ({format_bytes(4 * weights)}) in {sets * len(plan.large)} tables.",
        f"The network values {plan.options.target}s.",
    ]
    if len(plan.stages) > 1:
        facts.append(f"Stages begin at the tiles {', '.join(str(face) for face in plan.stages)}.")
    if plan.context:
        facts.append(f"Besides the tiles it sees: {', '.join(plan.context.split('+'))}.")
    parts = [tag("p", " ".join(facts))]
    if plan.symmetry > 1:
        words = "Each row is a pattern (dark) and its isomorphs, which share its table. The numbers are the order of the cells."
        parts.append(tag("p", words, class_="soft"))
    parts.append(tag("figure", draw_patterns(plan.large, plan.game.shape, symmetry=plan.symmetry)))
    if plan.small:
        words = "Smaller patterns learn along with these, and are folded into them for play:"
        parts += [tag("p", words), tag("figure", draw_patterns(plan.small, plan.game.shape, symmetry=plan.symmetry))]
    return _section("Network", *parts)


def _settings(paper: Paper) -> Markup:
    """Every option of the run, and what it means."""
    rows = []
    for spec in fields(paper.curve.options):
        value = getattr(paper.curve.options, spec.name)
        if value is not None and value != "":
            name, text = option_name(spec.name), option_text(spec.name, value)
            cells = (tag("td", name, class_="option"), tag("td", text, class_="value"), spec.metadata["help"])
            rows.append(_row(cells))
    return _section("Settings", _table(("option", "value", "meaning"), rows))


def _commands(paper: Paper) -> Markup:
    """How to make all this again."""
    options, run = paper.curve.options, paper.folder.path
    exact = "One thread: the result will be the same, bit for bit." if options.threads == 1 else ""
    exact = exact or "With several threads the result will be alike, but not the same; --threads 1 repeats a run exactly."
    lines = [(f"Train. {exact}", train_command(options, run)), *other_commands(options, run)]
    return _section("Make it again", *(join(tag("p", words), tag("pre", line)) for words, line in lines))


SECTIONS: tuple[Callable[[Paper], Markup | None], ...] = (
    _summary,
    _curves,
    _evaluations,
    _tiles,
    _blocks,
    _network,
    _settings,
    _commands,
)
