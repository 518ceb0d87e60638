"""The learning rules by name. A rule is a module and a line here; nothing else lists them.

This file is read for `--help`, so it loads no kernels: the modules are loaded when a rule is used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from afterstate.errors import InputError
from afterstate.units import shorten

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from afterstate.network.network import Network


@dataclass(frozen=True)
class Kind:
    """What a rule's module offers as KIND."""

    make: "Callable[[Network, float, NDArray[np.float32]], Any]"  # the rule that moves a network's weights, at a rate
    numbers: int = 0  # how many it keeps for each weight
    kept_as: str = ""  # what these are called in a checkpoint
    together: float = 1.9  # how far weights move that several threads have changed, see `copies`
    tidy: "Callable[[Network, NDArray[np.float32]], None] | None" = None  # called now and then, when no thread learns
    untidied: "Callable[[Any], Any] | None" = None  # the rule that leaves all of that to `tidy`, so that its numbers add up
    sums: tuple[int, int] | None = None  # which of its numbers add up a weight's errors and their sizes, if any do


@dataclass(frozen=True)
class Rule:
    """A line of the table below."""

    module: str
    rate: float  # the default
    about: str

    @property
    def kind(self) -> Kind:
        """What its module offers; this loads its kernels."""
        kind: Kind = import_module(self.module).KIND
        return kind


RULES = {
    "td": Rule("afterstate.learning.td", 0.1, "one rate for all weights"),
    "tc": Rule("afterstate.learning.tc", 1.0, "temporal coherence, a rate for each weight"),
}


def find_rule(name: str) -> Rule:
    if name not in RULES:
        raise InputError(f"method is {' or '.join(sorted(RULES))}, not {shorten(str(name))!r}")
    return RULES[name]
