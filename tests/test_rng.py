"""The random generator, against the same formulas in plain Python integers."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterstate.games.game import Game
from afterstate.kernel import u64
from afterstate.rng import Purpose, Random, below, chance, draw, mix, stream

GOLDEN = 0x9E3779B97F4A7C15
ONES = 2**64 - 1

words = st.integers(0, ONES)


def expected_mix(x: int) -> int:
    """SplitMix64's finaliser (Steele, Lea and Flood 2014, variant 13 of Stafford)."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % 2**64
    return x ^ (x >> 31)


def expected_stream(seed: int, purpose: int, number: int) -> int:
    inner = expected_mix((seed + GOLDEN) % 2**64)
    middle = expected_mix((inner + purpose) % 2**64)
    return expected_mix(middle ^ (number * GOLDEN % 2**64))


def expected_bits(state: int, count: int) -> list[int]:
    return [expected_mix((state + step * GOLDEN) % 2**64) for step in range(1, count + 1)]


def bits(seed: int, count: int) -> list[int]:
    """The first 64-bit draws of a stream, by the kernels."""
    rng = u64(stream(u64(seed), u64(Purpose.BENCH), u64(0)))
    result = []
    for _ in range(count):
        rng, drawn = (u64(word) for word in draw(rng))
        result.append(int(drawn))
    return result


@given(x=words)
def test_mix(x: int) -> None:
    assert mix(u64(x)) == expected_mix(x)


def test_draws_are_splitmix64() -> None:
    """The first three numbers of SplitMix64 from 1234567, as published with its C source."""
    rng = u64(1234567)
    drawn = []
    for _ in range(3):
        rng, word = (u64(x) for x in draw(rng))
        drawn.append(int(word))
    assert drawn == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@given(seed=words, purpose=st.sampled_from(Purpose), number=words)
def test_stream(seed: int, purpose: Purpose, number: int) -> None:
    assert stream(u64(seed), u64(purpose), u64(number)) == expected_stream(seed, purpose, number)


@given(state=words)
def test_draw(state: int) -> None:
    after, drawn = draw(u64(state))
    assert after == (state + GOLDEN) % 2**64
    assert drawn == expected_mix(int(after))


@given(drawn=words, n=st.integers(1, 2**32 - 1))
def test_below(drawn: int, n: int) -> None:
    number = int(below(u64(drawn), u64(n)))
    assert number == (drawn >> 32) * n // 2**32
    assert number < n


@given(drawn=words, threshold=st.integers(0, 2**32))
def test_chance(drawn: int, threshold: int) -> None:
    assert bool(chance(u64(drawn), u64(threshold))) == (drawn % 2**32 < threshold)


def test_below_and_chance_reach_both_ends() -> None:
    assert below(u64(0), u64(16)) == 0
    assert below(u64(ONES), u64(16)) == 15
    assert not chance(u64(0), u64(0))
    assert chance(u64(2**32 - 1), u64(2**32))
    assert chance(u64(0xFFFFFFFF00000000), u64(1))  # the high half is not looked at


@pytest.mark.parametrize("n", [2, 3, 7, 13, 16, 100])
def test_below_is_uniform(n: int) -> None:
    """Chi-square with n-1 degrees of freedom: its mean is n-1, its variance 2(n-1)."""
    count = 50_000
    seen = [0] * n
    for drawn in bits(5, count):
        seen[int(below(u64(drawn), u64(n)))] += 1
    chi_square = sum((found - count / n) ** 2 for found in seen) / (count / n)
    assert chi_square < (n - 1) + 5 * (2 * (n - 1)) ** 0.5 + 10


def test_chance_and_below_are_independent() -> None:
    """They use different halves of one draw: a 4 is as likely in every cell."""
    count, n, share = 50_000, 16, 0.1
    drawn = bits(6, count)
    seen = [0] * n
    for word in drawn:
        if chance(u64(word), u64(round(share * 2**32))):
            seen[int(below(u64(word), u64(n)))] += 1
    expected = count * share / n
    sigma = (expected * (1 - share / n)) ** 0.5
    assert all(abs(found - expected) < 5 * sigma for found in seen)


def test_bits_are_fair() -> None:
    count = 20_000
    drawn = bits(7, count)
    for place in range(64):
        ones = sum(word >> place & 1 for word in drawn)
        assert abs(ones - count / 2) < 5 * (count / 4) ** 0.5


def test_streams_are_distinct() -> None:
    seeds = [*range(50), 2**32, 2**63, ONES]
    names = list(product(seeds, Purpose, range(50)))
    states = {int(stream(u64(seed), u64(purpose), u64(number))) for seed, purpose, number in names}
    assert len(states) == len(names)


def test_neighbouring_streams_share_no_draws() -> None:
    """Streams of one generator are stretches of one long cycle: they must lie far apart."""
    drawn = [set(expected_bits(int(Random(1, Purpose.TRAIN, number).state), 200)) for number in range(50)]
    assert len(set.union(*drawn)) == 50 * 200


def test_random_is_the_stream_of_its_arguments() -> None:
    assert int(Random(7).state) == expected_stream(7, Purpose.EVAL, 0)
    assert int(Random(7, Purpose.TRAIN, 3).state) == expected_stream(7, Purpose.TRAIN, 3)


def test_random_is_reproducible(game: Game) -> None:
    def play(rng: Random) -> list[str]:
        return [game.format(game.start(rng)) for _ in range(20)]

    first = play(Random(7))
    assert play(Random(7)) == first
    assert play(Random(8)) != first
    assert play(Random(7, Purpose.TRAIN)) != first
    assert play(Random(7, number=1)) != first
    assert len(set(first)) > 10


def test_random_goes_on_as_the_kernels_do(game: Game) -> None:
    """A start draws twice; every state of the generator is the last one plus a constant, whatever its highest bit."""
    rng = Random(7)
    expected = int(rng.state)
    for _ in range(50):
        game.start(rng)
        expected = (expected + 2 * GOLDEN) % 2**64
        assert int(rng.state) == expected
        assert repr(rng) == f"Random(state=0x{expected:016x})"


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1, 2**63, ONES])
def test_random_takes_every_64_bit_seed(seed: int) -> None:
    assert int(Random(seed).state) == expected_stream(seed, Purpose.EVAL, 0)
