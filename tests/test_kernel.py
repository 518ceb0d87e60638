"""Compiled code: bit instructions, choice by type, the ways to run without them, and the cache folder."""

import inspect
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import afterstate
from afterstate.kernel import (
    DISABLED,
    implement,
    kernel,
    on_compile,
    pdep,
    pext,
    popcount,
    portable_pdep,
    portable_pext,
    prefetch,
    prefetch_to_write,
    specialised,
    u64,
)
from afterstate.play.bench import take_turns

ONES = 2**64 - 1
needs_compiler = pytest.mark.skipif(DISABLED, reason="compiling is switched off")

# --- instructions ----------------------------------------------------------------------------------------------------


@kernel
def compiled_pext(x: u64, mask: u64) -> u64:
    return pext(x, mask)


@kernel
def compiled_pdep(x: u64, mask: u64) -> u64:
    return pdep(x, mask)


@kernel
def compiled_popcount(x: u64) -> u64:
    return popcount(x)


def slow_pext(x: int, mask: int) -> int:
    places = [place for place in range(64) if mask >> place & 1]
    return sum((x >> place & 1) << number for number, place in enumerate(places))


def slow_pdep(x: int, mask: int) -> int:
    places = [place for place in range(64) if mask >> place & 1]
    return sum((x >> number & 1) << place for number, place in enumerate(places))


def words_and_masks() -> list[tuple[int, int]]:
    """Thousands of words, with masks that are dense, sparse, made of nibbles (as patterns are), or extreme."""
    source = random.Random(1)

    def word() -> int:
        return source.getrandbits(64)

    pairs = [(word(), mask) for mask in (0, ONES, 1, 1 << 63, ONES - 1, ONES >> 1, 0xFFFF, 0xFFFF << 48)]
    pairs += [(x, word()) for x in (0, ONES, 1, 1 << 63)]
    for _ in range(1000):
        nibbles = sum(15 << 4 * cell for cell in source.sample(range(16), source.randint(1, 8)))
        run = (ONES >> source.randrange(64)) << source.randrange(64) & ONES
        pairs += [(word(), mask) for mask in (word(), word() & word() & word(), word() | word(), nibbles, run)]
    return pairs


WORDS = words_and_masks()


@pytest.mark.parametrize(
    ("function", "slow"),
    [(compiled_pext, slow_pext), (portable_pext, slow_pext), (compiled_pdep, slow_pdep), (portable_pdep, slow_pdep)],
    ids=["pext", "portable_pext", "pdep", "portable_pdep"],
)
def test_gather_and_spread_equal_a_loop_over_the_bits(function: Any, slow: Any) -> None:
    for x, mask in WORDS:
        assert int(function(u64(x), u64(mask))) == slow(x, mask), (hex(x), hex(mask))


@pytest.mark.parametrize(("function", "slow"), [(pext, slow_pext), (pdep, slow_pdep)], ids=["pext", "pdep"])
def test_gather_and_spread_in_plain_python(function: Any, slow: Any) -> None:
    with np.errstate(over="ignore"):
        for x, mask in WORDS[::10]:
            assert int(function(u64(x), u64(mask))) == slow(x, mask), (hex(x), hex(mask))


def test_gather_and_spread_examples() -> None:
    assert pext(u64(0xABCD), u64(0xF0F0)) == 0xAC
    assert pdep(u64(0b10), u64(0x1010)) == 0x1000
    assert compiled_pext(u64(0xABCD), u64(0xF0F0)) == 0xAC
    assert compiled_pdep(u64(0b10), u64(0x1010)) == 0x1000


def test_popcount() -> None:
    for x, mask in WORDS:
        for word in (x, mask):
            assert int(popcount(u64(word))) == int(compiled_popcount(u64(word))) == f"{word:b}".count("1")


@kernel
def sum_with_prefetch(numbers: Any) -> float:
    total = 0.0
    for index in range(len(numbers)):
        prefetch(numbers, u64(index + 8))  # beyond the end at last: a hint may be wrong
        prefetch_to_write(numbers, u64(index + 9))
        total += numbers[index]
    return total


def test_prefetch_changes_nothing() -> None:
    numbers = np.arange(100, dtype=np.float32)
    assert sum_with_prefetch(numbers) == 4950
    assert numbers.tolist() == list(range(100))


def test_threads_that_wait_for_each_other() -> None:
    """Each sees what the other wrote, in turn, and both come to the end."""
    word, times = np.zeros(1, np.uint64), np.zeros((2, 3), np.int64)
    other = threading.Thread(target=take_turns, args=(word, u64(1), u64(50), times[1]))
    other.start()
    take_turns(word, u64(0), u64(50), times[0])
    other.join(60)
    assert not other.is_alive()
    assert word[0] == 2 * 3 * 50
    assert np.all(np.diff(times) > 0)


# --- choice by type --------------------------------------------------------------------------------------------------


class Square(NamedTuple):
    side: int


class Box(NamedTuple):
    width: int
    height: int


class Circle(NamedTuple):
    radius: int


@specialised
def area(figure: Any, scale: int) -> int:
    """How large a figure is."""


@specialised
def fence(figure: Any) -> int:
    """How long the way around it is."""


@implement(area, Square)
def _(figure: Any, scale: int) -> int:
    return int(scale * figure.side * figure.side)


@implement(area, Box)
def _(figure: Any, scale: int) -> int:
    return int(scale * figure.width * figure.height)


@implement(fence, Square)
def _(figure: Any) -> int:
    return int(4 * figure.side)


@kernel
def compiled_area(figure: Any, scale: int) -> int:
    return area(figure, scale)


@kernel
def compiled_cost(figure: Any) -> int:
    """One specialised function beside another, as in a game's kernels."""
    return 10 * area(figure, 1) + fence(figure)


@pytest.mark.parametrize("function", [area, compiled_area], ids=["plain", "compiled"])
def test_body_is_chosen_by_the_class_of_the_first_argument(function: Any) -> None:
    assert function(Square(3), 10) == 90
    assert function(Box(2, 5), 10) == 100
    assert function(Square(4), 1) == 16


def test_two_specialised_functions_keep_apart() -> None:
    assert fence(Square(3)) == 12
    assert compiled_cost(Square(3)) == 102


def test_specialised_keeps_name_and_docstring() -> None:
    assert area.__name__ == "area"
    assert area.__doc__ == "How large a figure is."
    assert list(inspect.signature(area).parameters) == ["figure", "scale"]


@specialised
def corners(figure: Any) -> int:
    """How many corners it has."""
    raise NotImplementedError


@implement(corners, object)
def _most_have_four(figure: Any) -> int:
    return 4


@implement(corners, Circle)
def _round(figure: Any) -> int:
    return 0


@kernel
def compiled_corners(figure: Any) -> int:
    return corners(figure)


@needs_compiler
def test_a_body_for_object_serves_every_class_without_its_own() -> None:
    for figure, count in ((Square(2), 4), (Circle(1), 0)):
        assert corners(figure) == compiled_corners(figure) == count


def test_class_without_a_body_is_refused_in_plain_python() -> None:
    with pytest.raises(TypeError, match="area has no body for Circle"):
        area(Circle(1), 1)


@needs_compiler
def test_class_without_a_body_is_refused_by_the_compiler() -> None:
    with pytest.raises(numba.errors.TypingError, match="area"):
        compiled_area(Circle(1), 1)


@needs_compiler
def test_on_compile_is_called_for_new_code_only() -> None:
    calls: list[str] = []

    def triple(x: int) -> int:
        return 3 * x

    fresh = numba.njit(triple)
    with on_compile(lambda: calls.append("compiled")):
        assert fresh(2) == 6
        assert calls
        calls.clear()
        assert fresh(3) == 9
    assert not calls
    fresh(2.5)  # compiled again, for another type, with nobody listening
    assert not calls


# --- other ways to run -----------------------------------------------------------------------------------------------


def run(code: str, **environment: str) -> str:
    """What a new Python process prints, with warnings as errors."""
    ours = ("AFTERSTATE_", "NUMBA_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    command = [sys.executable, "-W", "error", "-c", code]
    result = subprocess.run(command, env={**inherited, **environment}, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def play() -> str:
    """Some moves of a game, one position a line; runs here and in other processes."""
    from afterstate.games.game import make
    from afterstate.rng import Random

    game, rng = make("2048"), Random(7)
    state = game.start(rng)
    lines = [game.format(state)]
    for number in range(40):
        legal = list(game.afterstates(state).values())
        chosen = legal[number % len(legal)]
        state = game.sample(chosen, rng)
        lines.append(f"{game.format(state)} reward {chosen.reward} of {len(legal)}")
    return "\n".join(lines)


def test_the_game_that_the_processes_play_has_merges() -> None:
    positions = play().splitlines()
    assert len(set(positions)) == 41
    assert any("reward 8" in position for position in positions)


@pytest.mark.parametrize("switch", ["NUMBA_DISABLE_JIT", "AFTERSTATE_PORTABLE"])
def test_game_is_the_same_without_compiler_or_instructions(switch: str) -> None:
    report = "from afterstate.kernel import BIT_GATHER; print(BIT_GATHER)"
    printed = run(f"{inspect.getsource(play)}\nprint(play())\n{report}", **{switch: "1"})
    assert printed == f"{play()}\nFalse"


# --- the cache folder ------------------------------------------------------------------------------------------------

USE_A_KERNEL = """
from afterstate import kernel
from afterstate.rng import mix
compiled = []
with kernel.on_compile(lambda: compiled.append(1)):
    assert mix(kernel.u64(1)) == 0x5692161D100B05E5
print(kernel.CACHE)
print(len(compiled))
"""
PRINT_CACHE = "from afterstate import kernel; print(kernel.__file__); print(kernel.CACHE)"


def test_chosen_cache_folder_is_used_and_tidied(tmp_path: Path) -> None:
    """The second run compiles nothing; a folder that was unused for 40 days goes, one for 20 days stays."""
    for days in (20, 40):
        folder = tmp_path / f"kernels-{days}days"
        folder.mkdir()
        then = time.time() - days * 86400
        os.utime(folder, (then, then))
    first = run(USE_A_KERNEL, AFTERSTATE_CACHE=str(tmp_path)).splitlines()
    cache = Path(first[0])
    assert cache.parent == tmp_path
    assert list(cache.glob("mix-*.kernel"))
    assert int(first[1]) > 0
    assert {folder.name for folder in tmp_path.iterdir()} == {cache.name, "kernels-20days"}
    assert run(USE_A_KERNEL, AFTERSTATE_CACHE=str(tmp_path)).splitlines() == [str(cache), "0"]


def test_cache_folder_is_named_after_the_kernel_sources(tmp_path: Path) -> None:
    """The same sources elsewhere have the same name; one changed constant in a kernel has another."""
    package = Path(afterstate.__file__).parent
    names = []
    for place in ("one", "two", "changed"):
        copy = tmp_path / place / "afterstate"
        if place == "one":
            shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copytree(tmp_path / "one" / "afterstate", copy)
        if place == "changed":
            source = copy / "bitboard.py"
            source.write_text(source.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
        file, cache = run(
            PRINT_CACHE, PYTHONPATH=str(tmp_path / place), AFTERSTATE_CACHE=str(tmp_path), PYTHONDONTWRITEBYTECODE="1"
        ).splitlines()
        assert Path(file) == copy / "kernel.py"
        names.append(Path(cache).name)
    one, two, changed = names
    assert one == two
    assert changed != one


def test_no_place_for_a_cache() -> None:
    assert run(USE_A_KERNEL, AFTERSTATE_CACHE="/dev/null/x").splitlines()[0] == "None"


def test_cache_folder_with_a_dead_link(tmp_path: Path) -> None:
    """As when another process removes an old folder between the listing and the look at its age."""
    (tmp_path / "kernels-gone").symlink_to(tmp_path / "nowhere")
    assert Path(run("from afterstate import kernel; print(kernel.CACHE)", AFTERSTATE_CACHE=str(tmp_path))).is_dir()
