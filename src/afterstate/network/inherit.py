"""Begin with what another network knows: tables that both have are copied.

A later stage whose weight is 0 asks the stage before, and a pattern that is new adds 0. So with more stages or more patterns
than before, every position is worth what it was.
"""

from itertools import product

import numpy as np

from afterstate.errors import InputError
from afterstate.network.network import Network


def check_heir(network: Network, source: Network) -> None:
    """Refuse a network that has no place for all that the source knows."""
    if (network.game.name, network.game.shape) != (source.game.name, source.game.shape):
        raise InputError(f"the model to start from is for {source.game!r}, not for {network.game!r}")
    if network.symmetry != source.symmetry:
        raise InputError(
            f"the model to start from has symmetry {source.symmetry}, and its weights mean nothing with symmetry "
            f"{network.symmetry}; leave out --symmetry"
        )
    for pattern, layout in zip(source.patterns, source.layout, strict=True):
        if layout not in network.layout:
            raise InputError(f"the model to start from has the pattern {pattern}, but the network to train does not; add it")
    if source.contexts > 1 and network.context != source.context:
        raise InputError(
            f"the model to start from sees {source.context!r} besides the tiles, the network to train {network.context!r}; "
            "leave out --context"
        )


def inherit(network: Network, source: Network) -> None:
    """Copy every table of the source, see `check_heir`. A source that sees the tiles alone gives each context the same."""
    done = 0  # stages of the source that earlier stages have
    for stage, first in enumerate(network.stages):
        origin = sum(face <= first for face in source.stages)
        for context, (number, layout), older in product(range(network.contexts), enumerate(source.layout), range(done, origin)):
            known = source.table(number, older, min(context, source.contexts - 1))
            np.copyto(network.table(network.layout.index(layout), stage, context), known, where=known != 0)
        done = origin
