"""Every option of a training run: default, meaning, and what it may be. The command line and `train()` are made from this."""

import math
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, Literal, get_args, get_origin

from afterstate.errors import InputError
from afterstate.units import check_seed, parse_count, parse_time

Method = Literal["tc", "td"]
Target = Literal["afterstate", "state"]
Order = Literal["forward", "backward"]
MAX_BLOCK = 10_000_000
MAX_HORIZON = 100
MAX_VALUE = 10**9
COUNTS = {"games", "block", "eval_every", "eval_games"}


def _option(default: Any, text: str, *, free: bool = False) -> Any:
    """A field with its help; `free` options may change when a run is resumed."""
    return field(default=default, metadata={"help": text, "free": free})


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
    method: Method = _option("td", "learning rule: td (one rate for all), tc (temporal coherence, a rate for each weight)")
    target: Target = _option("afterstate", "what the network values: the board before or after the new tile")
    order: Order = _option("forward", "learn while playing (forward), or after each game from its end (backward)")
    lambda_: float = _option(0.0, "how much of the later errors counts: 0 for TD(0), up to 1")
    horizon: int = _option(3, "moves that TD(lambda) waits for, when it learns forward")
    steps: int = _option(1, "rewards in a target before a value follows: n-step TD")
    alpha: float | None = _option(
        None, "learning rate; each of the m looked-up weights moves by alpha/m of the error [default: 0.1 for td, 1.0 for tc]"
    )
    optimistic: float = _option(0.0, "value that every position starts with; high hopes make a player try everything")
    schedule: str | None = _option(None, "later learning rates, as game:alpha or percent:alpha, such as 50%:0.01,75%:0.001")
    games: int | None = _option(None, "games in all, such as 100k [default: 100k, unless --time is given]", free=True)
    time: float | None = _option(None, "training time in all, such as 10m; the run ends with the game under way", free=True)
    threads: int | None = _option(None, "threads [default: all processors]; with 1 a run is exact", free=True)
    seed: int = _option(1, "seed of all chance")
    block: int = _option(1000, "games in one block of statistics")
    eval_every: int | None = _option(None, "play --eval-games games with learning off every so many games, such as 100k")
    eval_games: int = _option(1000, "games of each such evaluation")

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in (*COUNTS, "time") if getattr(self, name) is not None}
        for name, value in normalise(given).items():
            object.__setattr__(self, name, value)
        if self.games is None and self.time is None:
            object.__setattr__(self, "games", 100_000)
        for name in ("method", "target", "order"):
            allowed = get_args({"method": Method, "target": Target, "order": Order}[name])
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} is {' or '.join(allowed)}, not {getattr(self, name)!r}")
        if self.alpha is None:
            object.__setattr__(self, "alpha", {"td": 0.1, "tc": 1.0}[self.method])
        assert self.alpha is not None
        check_rate(self.alpha)
        self._check_target()
        check_seed(self.seed)
        if self.block > MAX_BLOCK:
            raise InputError(f"a block has at most {MAX_BLOCK} games, not {self.block}")
        self.rates()

    def _check_target(self) -> None:
        if not 0 <= self.lambda_ <= 1:
            raise InputError(f"lambda must be 0 to 1, not {self.lambda_}")
        if not 1 <= self.horizon <= MAX_HORIZON:
            raise InputError(f"horizon must be 1 to {MAX_HORIZON}, not {self.horizon}")
        if not 1 <= self.steps <= MAX_HORIZON:
            raise InputError(f"steps must be 1 to {MAX_HORIZON}, not {self.steps}")
        if self.steps > 1 and (self.lambda_ > 0 or self.order == "backward"):
            raise InputError("steps above 1 go with lambda 0 and order forward")
        if not 0 <= self.optimistic <= MAX_VALUE:
            raise InputError(f"an optimistic value is 0 to {MAX_VALUE}, not {self.optimistic}")

    def rates(self) -> list[tuple[int, float]]:
        """Learning rates as (first game, alpha), in order; the first is for game 0."""
        assert self.alpha is not None
        steps = [(0, self.alpha)]
        for part in (self.schedule or "").replace(" ", "").split(","):
            if not part:
                continue
            where, colon, rate = part.partition(":")
            try:
                alpha = float(rate)
            except ValueError:
                alpha = math.nan
            if not colon or math.isnan(alpha):
                raise InputError(f"a schedule is a list of game:alpha such as 50k:0.01 or 75%:0.001, not {part!r}")
            check_rate(alpha)
            steps.append((self._game_number(where), alpha))
        if any(later[0] <= earlier[0] for earlier, later in pairwise(steps)):
            raise InputError(f"the steps of schedule {self.schedule!r} do not come one after the other")
        return steps

    def _game_number(self, text: str) -> int:
        if not text.endswith("%"):
            return parse_count(text, name="a step of the schedule")
        if self.games is None:
            raise InputError(f"schedule step {text} is a part of --games, which is not given")
        try:
            part = float(text[:-1])
        except ValueError:
            part = math.nan
        if not 0 < part < 100:
            raise InputError(f"schedule step {text} is not between 0% and 100%")
        return max(round(self.games * part / 100), 1)

    def changed(self, given: dict[str, Any]) -> "TrainOptions":
        """These options with those of a resume; one that contradicts what was learned so far is refused."""
        other = replace(self, **given)
        for spec in fields(self):
            before, now = getattr(self, spec.name), getattr(other, spec.name)
            if before != now and spec.name in given and not spec.metadata["free"]:
                name = spec.name.rstrip("_").replace("_", "-")
                raise InputError(
                    f"the run was started with {name} {before}, so it cannot go on with {name} {now}; leave --{name} out"
                )
        if self.rates() != other.rates():
            raise InputError("the schedule is in percent of --games, so --games cannot change when the run goes on")
        return other


def normalise(given: dict[str, Any]) -> dict[str, Any]:
    """Options as they were written, with counts and times as numbers."""
    values = dict(given)
    for name in COUNTS & set(values):
        values[name] = parse_count(values[name], name=name.replace("_", "-"))
    if values.get("time") is not None:
        values["time"] = parse_time(values["time"])
    return values


def check_rate(alpha: float) -> None:
    """Refuse a learning rate that cannot learn."""
    if not (math.isfinite(alpha) and 0 < alpha <= 100):
        raise InputError(f"alpha must be above 0 and at most 100, not {alpha}")


def option_type(name: str) -> Any:
    """The type of an option without its `| None`, for readers of files."""
    hint = {spec.name: spec.type for spec in fields(TrainOptions)}[name]
    arguments = [argument for argument in get_args(hint) if argument is not type(None)]
    if get_origin(hint) is Literal:
        return str
    return arguments[0] if arguments else hint
