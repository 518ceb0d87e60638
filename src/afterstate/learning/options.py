"""Every option of a training run: default, help and allowed values. The command line and `train()` are built from this."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex, TypedDict, Unpack, get_args, get_origin

from afterstate.errors import FileError, InputError
from afterstate.games.points import VERSIONS, find_version
from afterstate.learning.rules import RULES, find_rule
from afterstate.units import check_seed, parse_count, parse_length, parse_rate, parse_time, plain, shorten

if TYPE_CHECKING:
    from pathlib import Path

    from afterstate.network.network import Network

Target = Literal["afterstate", "state"]
Order = Literal["forward", "backward"]
Starts = Literal["fresh", "restart", "carousel"]
Best = Literal["win", "mean"]
MAX_BLOCK = 10_000_000
MAX_HORIZON = 100
MAX_VALUE = 10**9
COUNTS = {"games", "block", "eval_every", "eval_games"}  # written like 100k
TIMES = {"time", "save_every"}  # written like 10m
TEXT = COUNTS | TIMES | {"alpha", "cool_down"}  # may be text; alpha may be written like 1/64
A_FUNCTION = "python"  # the schedule of a run whose rate a Python function gives
# of a cool-down: from which share of it on, which part of the rate before it; half a cosine in ten steps
COOLING = tuple((step / 10, round((1 + math.cos(math.pi * (step + 1) / 11)) / 2, 3)) for step in range(10))
CHOICES = {"target": Target, "order": Order, "starts": Starts, "best": Best}


@dataclass(frozen=True)
class Phase:
    """A part of a run with one learning rule and one rate."""

    start: float  # the game, or the second of training, at which it begins
    by_time: bool
    method: str  # a name of RULES
    alpha: float


def _option(default: Any, text: str, *, free: bool = False) -> Any:
    """A field with its help; `free` options may change when a run is resumed."""
    return field(default=default, metadata={"help": text, "free": free})


class TrainGiven(TypedDict, total=False):
    """The options of `TrainOptions` as keywords, for editors; counts and times may be text such as "100k".

    Numbers may be those of NumPy. What `train()` takes as an object may be one: a network to start from, a function for a
    schedule.
    """

    rules: str | None
    size: str
    network: str | None
    symmetry: SupportsIndex | None
    method: str
    target: Target
    order: Order
    lambda_: SupportsFloat
    horizon: SupportsIndex
    steps: SupportsIndex
    beside: str | None
    stages: str | None
    context: str | None
    starts: Starts
    alpha: SupportsFloat | str | None
    optimistic: SupportsFloat
    schedule: "str | Callable[[int], float] | None"
    cool_down: SupportsIndex | str | None
    games: SupportsIndex | str | None
    time: SupportsFloat | str | None
    threads: SupportsIndex | None
    seed: SupportsIndex
    block: SupportsIndex | str
    best: Best
    eval_every: SupportsIndex | str | None
    eval_games: SupportsIndex | str
    judge: str | None
    snapshots: bool | None
    keep: bool | None
    from_: "str | Path | Network | None"
    save_every: SupportsFloat | str
    tensorboard: bool | None
    recipe: str | None


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """What a training run does. With the same options, seed and one thread, two runs are equal bit for bit."""

    game: str = _option("2048", "the game to learn")
    rules: str | None = _option(None, "rule set of the game")
    size: str = _option("4x4", "board size, rows x columns")
    network: str | None = _option(None, "a preset (4x6, 8x6, ...) or patterns as hex cells, such as 0123,4567 [default: 4x6]")
    symmetry: int | None = _option(
        None, "isomorphisms that share weights: 8, 4 (rotations) or 1 [default: 8, or the preset's own]"
    )
    method: str = _option("td", f"learning rule: {', '.join(f'{name} ({rule.about})' for name, rule in RULES.items())}")
    target: Target = _option("afterstate", "what the network values: the board before or after the new tile")
    order: Order = _option("forward", "learn while playing (forward), or after each game from its end (backward)")
    lambda_: float = _option(0.0, "how much later errors count: from 0, which is TD(0), to 1")
    horizon: int = _option(3, "moves that TD(lambda) waits before it updates, with order forward")
    steps: int = _option(1, "n of n-step TD: rewards in a target, before the value")
    beside: str | None = _option(
        None, "smaller patterns, or a preset, that learn along with the network's and are folded into them for play"
    )
    stages: str | None = _option(
        None, "separate tables once a tile is reached, such as 0,16384; a stage starts from the weights of the one before"
    )
    context: str | None = _option(
        None,
        "what the network sees besides the tiles, joined by +; Threes!: swap, entry, hint, bag [default: the game's own]",
    )
    starts: Starts = _option(
        "fresh", "also start games in the middle of the last one (restart), or where an earlier game entered a stage (carousel)"
    )
    alpha: float | None = _option(
        None,
        "learning rate, such as 0.1 or 1/64; each of the m looked-up weights moves by alpha/m of the error "
        f"[default: {', '.join(f'{rule.rate} for {name}' for name, rule in RULES.items())}]",
    )
    optimistic: float = _option(0.0, "initial value of every position; a high one makes the player explore")
    schedule: str | None = _option(
        None, "later rates and rules, each from a game or a percentage of the run: 50%:0.01,90%:tc or 50k:0.01,90k:tc:0.5"
    )
    cool_down: str | None = _option(
        None,
        "let the rate fall in the last part of the run, such as 30m or 50k games; with the --run of a run that exists, "
        "a new run branches from its last checkpoint (see --into)",
    )
    games: int | None = _option(None, "total games, such as 100k [default: 100k, unless --time is given]", free=True)
    time: float | None = _option(None, "total training time, such as 10m; games under way are finished", free=True)
    threads: int | None = _option(None, "threads [default: all processors]; with 1 a run is exactly reproducible", free=True)
    seed: int = _option(1, "random seed")
    block: int = _option(1000, "games in one block of statistics")
    best: Best = _option(
        "mean", "which network is kept as the best: by mean score, or by win rate where win rates clearly differ (win)"
    )
    eval_every: int | None = _option(
        None, "games between two evaluations with learning off, such as 100k; 0 turns those of a recipe off"
    )
    eval_games: int = _option(1000, "games in each evaluation")
    judge: str | None = _option(
        None, f"also give each evaluation the points of the course's judge: {', '.join(VERSIONS)} (see afterstate judge)"
    )
    snapshots: bool | None = _option(None, "keep the network of each evaluation, in checkpoints/")
    keep: bool | None = _option(
        None,
        "keep what only more training needs when the run is complete, so that it can be resumed with more games or time; "
        "a run that is stopped always keeps it",
        free=True,
    )
    from_: str | None = _option(
        None, "start with the weights of a model, or of a run's best network; its game and network are then the default"
    )
    save_every: float = _option(
        60.0,
        "seconds between checkpoints, or a time such as 10m; longer if writing them takes more than 2 % of the time",
        free=True,
    )
    tensorboard: bool | None = _option(
        None,
        "also write the metrics as TensorBoard's event files, to the run's folder (pip install 'afterstate[tensorboard]')",
        free=True,
    )
    recipe: str | None = _option(None, "a named set of options (see afterstate recipes) or a TOML file; given options win")

    @classmethod
    def read(cls, game: str = "2048", **given: Unpack[TrainGiven]) -> "TrainOptions":
        """Options as people write them: counts and times may be text."""
        return cls(game=game, **normalise(dict(given)))

    def __post_init__(self) -> None:
        for spec in fields(self):
            object.__setattr__(self, spec.name, plain(getattr(self, spec.name)))
        given = {name: getattr(self, name) for name in TEXT if getattr(self, name) is not None}
        for name, value in normalise(given).items():
            object.__setattr__(self, name, value)
        if self.games is None and self.time is None:
            object.__setattr__(self, "games", 100_000)
        defaults = {spec.name: spec.default for spec in fields(self)}
        for name, choice in CHOICES.items():
            allowed = get_args(choice)
            if getattr(self, name) not in (*allowed, defaults[name]):
                raise InputError(f"{name} is {' or '.join(allowed)}, not {getattr(self, name)!r}")
        check_rate(self.rate)
        self._check_target()
        if self.starts == "carousel" and len(self.stage_tiles()) < 2:
            raise InputError("starts carousel needs stages to begin in: give --stages, such as 0,16384")
        check_seed(self.seed)
        if self.judge is not None:
            find_version(self.judge)
        for name in ("judge", "snapshots"):
            if getattr(self, name) and self.eval_every is None:
                raise InputError(f"{name} needs evaluations: say after how many games, such as --eval-every 100k")
        for name, what in (("block", "a block"), ("eval_games", "an evaluation")):
            if getattr(self, name) > MAX_BLOCK:
                raise InputError(f"{what} has at most {MAX_BLOCK} games, not {getattr(self, name)}")
        self.phases()

    def _check_target(self) -> None:
        if not 0 <= self.lambda_ <= 1:
            raise InputError(f"lambda must be 0 to 1, not {self.lambda_}")
        if not 1 <= self.horizon <= MAX_HORIZON:
            raise InputError(f"horizon must be 1 to {MAX_HORIZON}, not {self.horizon}")
        if not 1 <= self.steps <= MAX_HORIZON:
            raise InputError(f"steps must be 1 to {MAX_HORIZON}, not {self.steps}")
        if self.steps > 1 and (self.lambda_ > 0 or self.order == "backward"):
            raise InputError("steps above 1 need lambda 0 and order forward")
        if not 0 <= self.optimistic <= MAX_VALUE:
            raise InputError(f"optimistic must be 0 to {MAX_VALUE}, not {self.optimistic}")
        if self.optimistic > 0 and self.from_ is not None:
            raise InputError("optimistic sets the values that a network starts with, and so does --from: leave out one of them")

    @property
    def rate(self) -> float:
        """The learning rate that the run begins with."""
        return find_rule(self.method).rate if self.alpha is None else self.alpha

    def stage_tiles(self) -> tuple[int, ...]:
        """The tiles that begin the stages; the first stage begins with 0."""
        words = ("0" if self.stages is None else self.stages).replace(" ", "").split(",")
        if not all(word.isascii() and word.isdecimal() and len(word) <= 9 for word in words):
            raise InputError(f"stages are tiles such as 0,16384, not {shorten(str(self.stages))!r}")
        return tuple(int(word) for word in words)

    def phases(self) -> list[Phase]:
        """The learning rules and rates of the run, in order; the first phase begins with the run."""
        found = [Phase(0.0, False, self.method, self.rate)]
        steps = "" if self.schedule in (None, A_FUNCTION) else str(self.schedule)
        for part in steps.replace(" ", "").split(","):
            if part:
                found.append(self._phase(part, found[-1].method))
        if any(later.start <= earlier.start for earlier, later in pairwise(found)):
            raise InputError(f"the steps of schedule {shorten(str(self.schedule))!r} must come in rising order")
        if len({phase.by_time for phase in found[1:]}) > 1:
            raise InputError("a run limited by --time has a schedule in percent or in games, not both")
        return found if self.cool_down is None else self._cool(found)

    def _cool(self, phases: list[Phase]) -> list[Phase]:
        """These phases up to the cool-down, and those of the cool-down."""
        if self.schedule == A_FUNCTION:
            raise InputError("a schedule that is a function gives every rate: leave out cool_down, and let the function fall")
        length, by_time = parse_length(str(self.cool_down), name="cool-down")
        end = self.time if by_time else self.games
        if end is None:
            how = "time, so that it is a time such as 30m" if self.games is None else "games, so that it is games such as 50k"
            raise InputError(f"cool-down {self.cool_down} is the last part of the run, which is limited by its {how}")
        start = end - length
        if start < 0:
            raise InputError(f"cool-down {self.cool_down} is longer than the run")
        last = [phase for phase in phases if phase.by_time != by_time or phase.start <= start][-1]
        starts = [start + share * length for share, _ in COOLING]
        steps = {each if by_time else float(round(each)): part for each, (_, part) in zip(starts, COOLING, strict=True)}
        before = [phase for phase in phases if phase.by_time != by_time or phase.start < start]
        return before + [Phase(each, by_time, last.method, last.alpha * part) for each, part in steps.items()]

    def _phase(self, part: str, method: str) -> Phase:
        """One step of a schedule: 50%:0.01, 50k:tc, 50k:tc:0.5; 90s:0.01 is from a second of training on."""
        where, _, how = part.partition(":")
        name, colon, rate = how.partition(":")
        if name in RULES:
            method = name
            rate = rate if colon else str(RULES[name].rate)
        else:
            rate = how
        try:
            alpha = parse_rate(rate)
        except InputError as error:
            raise InputError(
                f"a schedule is a list of game:alpha, game:rule or game:rule:alpha, such as 50k:0.01 or 75%:tc, "
                f"not {shorten(part)!r}"
            ) from error
        check_rate(alpha)
        if where.endswith("s"):
            return Phase(parse_time(where, name="a step of the schedule"), True, method, alpha)
        if not where.endswith("%"):
            return Phase(parse_count(where, name="a step of the schedule"), False, method, alpha)
        try:
            share = float(where[:-1]) / 100
        except ValueError:
            share = math.nan
        if not 0 < share < 1:
            raise InputError(f"schedule step {where} is not between 0% and 100%")
        if self.games is None and self.time is not None:
            return Phase(self.time * share, True, method, alpha)
        return Phase(max(round((self.games or 0) * share), 1), False, method, alpha)

    def evaluates_at(self, games: int) -> bool:
        """Whether the run is evaluated after this many games."""
        return self.eval_every is not None and games % self.eval_every == 0

    def changed(self, given: dict[str, Any]) -> "TrainOptions":
        """These options with the changes of a resume; refuse a change that contradicts what was learned so far."""
        if given.get("cool_down", self.cool_down) != self.cool_down:
            raise InputError("--cool-down branches from a run into a new one: give it without --resume")
        other = replace(self, **given)
        for field_name in self.contradictions(other):
            if field_name in given:
                before, now = getattr(self, field_name), getattr(other, field_name)
                name = field_name.rstrip("_").replace("_", "-")
                option = "the game" if name == "game" else f"--{name}"  # which is an argument
                raise InputError(
                    f"the run was started with {name} {before}, so it cannot continue with {name} {now}; leave {option} out"
                )
        if self.phases() != other.phases():
            why = "the schedule is in percent of the run" if self.cool_down is None else "the rate falls at the end of the run"
            raise InputError(f"{why}, so its --games or --time cannot change when it is resumed")
        return other

    def contradictions(self, other: "TrainOptions") -> list[str]:
        """The options in which two parts of one run cannot differ, but these do."""
        fixed = [spec.name for spec in fields(self) if not spec.metadata["free"]]
        return [name for name in fixed if getattr(self, name) != getattr(other, name)]


def normalise(given: dict[str, Any]) -> dict[str, Any]:
    """The given options, with counts and times as numbers."""
    values = dict(given)
    for name in COUNTS & set(values):
        values[name] = parse_count(values[name], name=name.replace("_", "-"), least=0 if name == "eval_every" else 1)
    if values.get("eval_every") == 0:
        values["eval_every"] = None
    for name in TIMES & set(values):
        if values[name] is not None:
            values[name] = parse_time(values[name], name=name.replace("_", "-"))
    if values.get("alpha") is not None:
        values["alpha"] = parse_rate(values["alpha"])
    if values.get("cool_down") is not None:
        values["cool_down"] = str(values["cool_down"])
    return values


def read_options(values: dict[str, Any], where: str) -> dict[str, Any]:
    """Options from a table of a TOML file, by their names in `TrainOptions`; an unknown key or a wrong type is an error."""
    known = {spec.name.rstrip("_"): spec.name for spec in fields(TrainOptions)}
    found = {}
    for key, value in values.items():
        if key not in known:
            raise FileError(f"{where} has an unknown key {shorten(key)!r}")
        name = known[key]
        wanted: Any = option_type(name)
        kinds = {float: (int, float)}.get(wanted, (wanted,)) + ((str,) if name in TEXT else ())
        if not isinstance(value, kinds) or isinstance(value, bool) is not (wanted is bool):
            raise FileError(f"{where}: {key} must be of type {wanted.__name__}, not {value!r:.60}")
        found[name] = value
    return found


def check_rate(alpha: float) -> None:
    """Refuse a learning rate that is out of range."""
    if not (math.isfinite(alpha) and 0 < alpha <= 100):
        raise InputError(f"alpha must be above 0 and at most 100, not {alpha}")


def ask_rate(schedule: Callable[[int], float], games: int) -> float:
    """The rate that a function gives for the block after so many games."""
    rate = parse_rate(schedule(games), name=f"what the schedule gives after {games} games")
    check_rate(rate)
    return rate


def option_type(name: str) -> Any:
    """The type of an option without its `| None`, for readers of files."""
    return plain_type({spec.name: spec.type for spec in fields(TrainOptions)}[name])


def plain_type(hint: Any) -> Any:
    """A type without its `| None`; a Literal is text."""
    if get_origin(hint) is not Literal:
        arguments = [argument for argument in get_args(hint) if argument is not type(None)]
        hint = arguments[0] if arguments else hint
    return str if get_origin(hint) is Literal else hint
