"""Turn the options of a run into a plan that leaves nothing open, and make the network that learns."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from afterstate.errors import FileError, InputError, ModelError
from afterstate.files import reading
from afterstate.games.game import Game, make
from afterstate.games.points import check_rules
from afterstate.learning.backups import Backup, make_backup
from afterstate.learning.options import A_FUNCTION, Phase, TrainOptions, read_options
from afterstate.learning.rules import RULES
from afterstate.learning.runfolder import RunFolder
from afterstate.memory import check_memory
from afterstate.network.fold import find_host
from afterstate.network.modelfile import ModelFile
from afterstate.network.network import Network, check_stages, count_weights
from afterstate.network.patterns import default_network, default_symmetry, parse_patterns
from afterstate.network.plainfile import check_name


@dataclass(frozen=True)
class Objects:
    """What only Python can give a run: objects, where options are text."""

    game: Game | None = None  # the game to learn; None for the one that the options name
    origin: Network | None = None  # the network to start from
    schedule: Callable[[int], float] | None = None  # games played before a block -> the learning rate of that block


NOTHING = Objects()


@dataclass(frozen=True)
class Plan:
    """A run with nothing left open."""

    options: TrainOptions  # with every default filled in, as config.toml keeps them
    game: Game
    large: tuple[str, ...]  # the patterns to play with
    small: tuple[str, ...]  # those that learn along with them, and are folded into them for play
    symmetry: int
    stages: tuple[int, ...]
    context: str
    phases: tuple[Phase, ...]
    objects: Objects = NOTHING

    @property
    def patterns(self) -> tuple[str, ...]:
        """All patterns that learn."""
        return self.large + self.small

    @cached_property
    def rules(self) -> tuple[str, ...]:
        """The learning rules of the run, by name."""
        return tuple(dict.fromkeys(phase.method for phase in self.phases))

    @property
    def numbers(self) -> int:
        """How many numbers the run keeps for each weight: the weight itself, and what its rules keep."""
        return 1 + sum(RULES[name].kind.numbers for name in self.rules)

    @property
    def kept(self) -> list[str]:
        """What checkpoints call the numbers that only learning needs."""
        kinds = [RULES[name].kind for name in self.rules]
        return [kind.kept_as for kind in kinds if kind.numbers]

    def explain_rate(self, lookups: int) -> str:
        """What the first rate means for one of so many looked-up weights, for people."""
        first = self.phases[0]
        most = "at most " if RULES[first.method].kind.numbers else ""
        share = f"{most}{first.alpha / lookups:.4g} of the error"
        return f"alpha {first.alpha:g}: each of the {lookups} weights of a board moves by {share}"

    def make_backup(self) -> Backup:
        """Make the backup of the run. One for each thread."""
        given = self.options
        return make_backup(
            backward=given.order == "backward", decay=given.lambda_, horizon=given.horizon, steps=given.steps,
            longest=self.game.longest,
        )  # fmt: skip


def game_of(options: TrainOptions) -> Game:
    return make(options.game, rules=options.rules, size=options.size)


def check_objects(options: TrainOptions, objects: Objects, *, has_folder: bool) -> None:
    """Refuse a run that lacks an object which its options speak of, or has one that its folder cannot keep."""
    if options.schedule == A_FUNCTION and objects.schedule is None:
        raise InputError(
            "the schedule of this run is a function of a Python program: train it there, with schedule= and that function"
        )
    if options.snapshots and not has_folder:
        raise InputError("snapshots are kept in the folder of a run: leave out snapshots or run=False")
    if options.tensorboard and not has_folder:
        raise InputError("TensorBoard's event file is in the folder of a run: leave out tensorboard or run=False")
    if objects.game is None:
        return
    if has_folder:
        check_name(objects.game)
    named = options.game, options.rules or objects.game.rules, options.size
    if named != (objects.game.name, objects.game.rules, str(objects.game.shape)):
        raise InputError(f"{objects.game!r} is not the game of the run, which is {' '.join(named)}")


def make_plan(options: TrainOptions, objects: Objects = NOTHING) -> Plan:
    """Fill in every default that depends on other options, and refuse what cannot work."""
    game = objects.game or game_of(options)
    name = default_network(game.shape) if options.network is None else options.network
    symmetry = default_symmetry(name, game.shape) if options.symmetry is None else options.symmetry
    block = options.block if options.games is None else min(options.block, options.games)
    context = game.context if options.context is None else options.context
    game.sight(context)
    if options.judge is not None:
        check_rules(options.judge, game)
    stages = options.stage_tiles()
    check_stages(stages, game)
    resolved = replace(
        options, rules=game.rules, network=name, symmetry=symmetry, alpha=options.rate, block=block, context=context
    )
    large = parse_patterns(name, game.shape)
    small = () if options.beside is None else parse_patterns(options.beside, game.shape)
    for pattern in small:
        find_host(pattern, large, game.shape, symmetry)
    return Plan(resolved, game, large, small, symmetry, stages, context, tuple(resolved.phases()), objects)


def count_bytes(plan: Plan, *, keeps_best: bool = False) -> int:
    """The memory of a run: for its network, what its rules keep, folding it, and in memory the best one beside it."""
    sets = len(plan.stages) * plan.game.sight(plan.context)[1]
    folded = count_weights(plan.large, sets)
    return 4 * (plan.numbers * count_weights(plan.patterns, sets) + folded * (bool(plan.small) + keeps_best))


def new_network(plan: Plan, *, keeps_best: bool = False) -> Network:
    """A fresh network, if there is memory for all that the run needs."""
    check_memory(count_bytes(plan, keeps_best=keeps_best))
    return Network(
        plan.game, plan.patterns, symmetry=plan.symmetry, target=plan.options.target, stages=plan.stages, context=plan.context
    )


def check_same(file: ModelFile, plan: Plan, folder: RunFolder) -> None:
    """Refuse a checkpoint that is not of the run that config.toml describes. What a resume may change may differ."""
    network = file.describe(plan.game)
    pairs: dict[str, tuple[Any, Any]] = {
        "network": (plan.patterns, network.patterns),
        "stages": (plan.stages, network.stages),
        "context": (plan.context, network.context),
        "symmetry": (plan.symmetry, network.symmetry),
        "target": (plan.options.target, network.target),
    }
    if not file.training.options:
        raise ModelError(f"{file.path} is not a checkpoint: it does not say which options its run had")
    with reading(file.path, ModelError):
        stored = TrainOptions(**read_options(dict(file.training.options), str(file.path)))
        before = make_plan(replace(stored, games=plan.options.games, time=plan.options.time), plan.objects).options
        pairs["schedule"] = plan.phases, tuple(stored.phases())
    for name in before.contradictions(plan.options):
        pairs[name.rstrip("_")] = getattr(plan.options, name), getattr(before, name)
    for key, (said, found) in pairs.items():
        if said != found:
            raise FileError(f"{folder.config} says {key} {said}, but {folder.last} holds {found}: set it back to resume")
