"""From the options of a run to the network that it trains."""

from dataclasses import replace

from afterstate.errors import FileError
from afterstate.games.game import Game, make
from afterstate.learning.options import TrainOptions
from afterstate.learning.runfolder import RunFolder
from afterstate.network.fold import find_host
from afterstate.network.network import Network, check_memory, check_stages, count_weights
from afterstate.network.patterns import default_network, default_symmetry, parse_patterns


def game_of(options: TrainOptions) -> Game:
    return make(options.game, rules=options.rules, size=options.size)


def resolve(options: TrainOptions) -> TrainOptions:
    """The same options with every default that depends on others filled in."""
    game = game_of(options)
    name = default_network(game.shape) if options.network is None else options.network
    symmetry = options.symmetry if options.symmetry is not None else default_symmetry(name, game.shape)
    block = options.block if options.games is None else min(options.block, options.games)
    context = game.context if options.context is None else options.context
    game.sight(context)
    best = game.best if options.best is None else options.best
    return replace(options, rules=game.rules, network=name, symmetry=symmetry, block=block, context=context, best=best)


def new_network(options: TrainOptions) -> Network:
    """A fresh network as resolved options say, if there is room for it, for what its rule keeps, and for folding it."""
    assert options.network is not None
    assert options.symmetry is not None
    game = game_of(options)
    stages = options.stage_tiles()
    check_stages(stages, game)
    patterns = all_patterns(options)
    folded = patterns[: -len(small_patterns(options))] if options.beside is not None else ()
    assert options.context is not None
    sets = len(stages) * game.sight(options.context)[1]
    weights = options.numbers_a_weight * count_weights(patterns, sets) + count_weights(folded, sets)
    check_memory(4 * weights)
    return Network(game, patterns, symmetry=options.symmetry, values=options.target, stages=stages, context=options.context)


def all_patterns(options: TrainOptions) -> tuple[str, ...]:
    """The patterns that learn: the network's, and the smaller ones beside them."""
    assert options.network is not None
    assert options.symmetry is not None
    shape = game_of(options).shape
    large = parse_patterns(options.network, shape)
    small = small_patterns(options)
    for pattern in small:
        find_host(pattern, large, shape, options.symmetry)
    return large + small


def small_patterns(options: TrainOptions) -> tuple[str, ...]:
    return parse_patterns(options.beside, game_of(options).shape) if options.beside is not None else ()


def check_same(network: Network, options: TrainOptions, folder: RunFolder) -> None:
    """Refuse a checkpoint that is not what the run's config says."""
    pairs = {
        "network": (all_patterns(options), network.patterns),
        "stages": (options.stage_tiles(), network.stages),
        "context": (options.context, network.context),
        "symmetry": (options.symmetry, network.symmetry),
        "target": (options.target, network.values),
    }
    for key, (said, found) in pairs.items():
        if said != found:
            raise FileError(f"{folder.config} says {key} {said}, but {folder.last} holds {found}: set it back to go on")
