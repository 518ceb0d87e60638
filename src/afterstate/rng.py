"""The random generator of the kernels: one 64-bit word of state, passed in and returned.

Game number i of a run has its own stream, made from (seed, purpose, i). So threads, pauses and resumes do not change what a
game draws, and a seed and a game's number are enough to replay it.
"""

from enum import IntEnum

import numpy as np

from afterstate.errors import InputError
from afterstate.kernel import kernel, u64

_GOLDEN = u64(0x9E3779B97F4A7C15)
_M1 = u64(0xBF58476D1CE4E5B9)
_M2 = u64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = u64(30), u64(27), u64(31), u64(32)
_LOW32 = u64(0xFFFFFFFF)


class Purpose(IntEnum):
    """What a stream is for: training and evaluation with the same seed never see the same games."""

    TRAIN = 1
    EVAL = 2
    BENCH = 3
    PLAY = 4  # games that people play


@kernel
def mix(x: u64) -> u64:
    """Scramble 64 bits, one to one (the finaliser of SplitMix64)."""
    x = (x ^ (x >> _S30)) * _M1
    x = (x ^ (x >> _S27)) * _M2
    return x ^ (x >> _S31)


@kernel
def stream(seed: u64, purpose: u64, number: u64) -> u64:
    """The generator's first state for one game."""
    return mix(mix(mix(seed + _GOLDEN) + purpose) ^ (number * _GOLDEN))


@kernel
def draw(rng: u64) -> tuple[u64, u64]:
    """The next state of the generator, and 64 random bits."""
    rng = rng + _GOLDEN
    return rng, mix(rng)


@kernel
def below(bits: u64, n: u64) -> u64:
    """A number 0 .. n-1 from the high 32 of 64 random bits; for n up to 1000 the bias is at most one part in four million."""
    return ((bits >> _S32) * n) >> _S32


@kernel
def chance(bits: u64, threshold: u64) -> np.bool:
    """True with probability threshold / 2**32, from the low 32 of 64 random bits."""
    return (bits & _LOW32) < threshold


class Random:
    """The same generator for Python: it holds the state that kernels pass around."""

    def __init__(self, seed: int, purpose: Purpose = Purpose.EVAL, number: int = 0) -> None:
        if not 0 <= seed < 2**64 or not 0 <= number < 2**64:
            raise InputError(f"a seed and a game's number must be 0 to 2**64 - 1, not {seed} and {number}")
        self.state = u64(stream(u64(seed), u64(purpose), u64(number)))

    def __repr__(self) -> str:
        return f"Random(state={np.uint64(self.state):#018x})"
