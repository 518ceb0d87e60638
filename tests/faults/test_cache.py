"""Damage to the cache of compiled kernels, and no place for it: the same figures always, at most one line of warning."""

import os
import pickle
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from afterstate import kernel
from commandline import Result, no_traceback, process

pytestmark = pytest.mark.skipif(kernel.DISABLED, reason="compiling is switched off")

# figures, how many kernels were compiled, and the folder
SMALL = """
from afterstate import kernel
from afterstate.bitboard import transpose
from afterstate.rng import draw, mix
compiled = []
with kernel.on_compile(lambda: compiled.append(1)):
    print(mix(kernel.u64(1)), draw(kernel.u64(2)), transpose(kernel.u64(0x123456789)))
print(len(compiled))
print(kernel.CACHE)
"""


def small(cache: Path, before: str = "") -> tuple[str, int, Result]:
    """Run the small program -> its figures, kernels compiled, and the rest."""
    result = process(f"{before}\n{SMALL}", AFTERSTATE_CACHE=str(cache))
    no_traceback(result)
    assert result.code == 0, (result.code, result.err)
    figures, compiled, _ = result.out.splitlines()
    return figures, int(compiled), result


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The small program's cache, which no test changes, and its figures."""
    cache = tmp_path_factory.mktemp("good")
    figures, compiled, _ = small(cache)
    assert compiled >= 3
    return cache, figures


def files_of(cache: Path) -> list[Path]:
    return sorted(cache.glob("kernels-*/*.kernel"))


def rewrite(change: Callable[[bytes], bytes]) -> Callable[[list[Path]], None]:
    """The damage of changing each file."""

    def damage(files: list[Path]) -> None:
        for path in files:
            path.write_bytes(change(path.read_bytes()))

    return damage


class Bomb:
    """A pickle that ends the process when it is loaded."""

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (42,)


def rotate(files: list[Path]) -> None:
    """Each file gets the content of the next: all are whole, and none is what its name says."""
    contents = [path.read_bytes() for path in files]
    for path, content in zip(files, contents[1:] + contents[:1], strict=True):
        path.write_bytes(content)


def block(make: Callable[[Path], object]) -> Callable[[list[Path]], None]:
    """Something else that has the name of each file."""

    def damage(files: list[Path]) -> None:
        for path in files:
            path.unlink()
            make(path)

    return damage


def make_huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 2**40)  # takes no room


DAMAGES = {
    "empty": rewrite(lambda _: b""),
    "a short hash": rewrite(lambda content: content[:20]),
    "cut": rewrite(lambda content: content[: len(content) // 2]),
    "longer": rewrite(lambda content: content + b"\0"),
    "garbage": rewrite(lambda content: random.Random(1).randbytes(len(content))),
    "a pickle that runs code": rewrite(lambda content: content[:32] + pickle.dumps(Bomb())),
    "under another's name": rotate,
    "a pipe that nobody writes to": block(os.mkfifo),
    "huge": block(make_huge),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_files_are_compiled_again(damage: Callable[[list[Path]], None], good: tuple[Path, str], tmp_path: Path) -> None:
    cache, figures = good
    copy = Path(shutil.copytree(cache, tmp_path / "cache"))
    damage(files_of(copy))
    found, compiled, result = small(copy)
    assert (found, result.err) == (figures, "")
    assert compiled >= 3
    assert small(copy)[:2] == (figures, 0)  # written anew


# what a damaged file gives in a process that has not loaded it yet; many, so all in one process
RELOAD = """
import random, sys
from pathlib import Path
from afterstate import kernel
from afterstate.bitboard import transpose
from afterstate.rng import draw, mix

number, seed = map(int, sys.argv[1:])
source = random.Random(seed)
kernels = {"mix": (mix, (1,)), "draw": (draw, (2,)), "transpose": (transpose, (0x123456789,))}
whole = {path: path.read_bytes() for path in kernel.CACHE.glob("*.kernel") if path.name.split("-")[0] in kernels}
compiled, damages = [], []
for path, content in whole.items():
    made, arguments = kernels[path.name.split("-")[0]]
    right = made(*map(kernel.u64, arguments))
    places = range(source.randrange(max(len(content) // number, 1)), len(content), max(len(content) // number, 1))
    damages += [(path, made, arguments, right, place, True) for place in places]
    damages += [(path, made, arguments, right, source.randrange(len(content)), False) for _ in range(max(number // 4, 1))]
with kernel.on_compile(lambda: compiled.append(1)):
    for path, made, arguments, right, place, flip in damages:
        content = bytearray(whole[path])
        if flip:
            content[place] ^= 1 << source.randrange(8)
        else:
            del content[place:]
        path.write_bytes(content)
        before = len(compiled)
        assert kernel.kernel(made.py_func)(*map(kernel.u64, arguments)) == right, (path, place, flip)
        assert len(compiled) > before, (path, place, flip)
print(len(damages))
"""


def test_a_flipped_bit_or_a_cut_anywhere(good: tuple[Path, str], tmp_path: Path, long: bool) -> None:
    """Nothing is loaded from such a file, and the figures stay."""
    copy = Path(shutil.copytree(good[0], tmp_path / "cache"))
    damaged = 0
    for seed in range(50 if long else 1):
        result = process(RELOAD, 8, seed, AFTERSTATE_CACHE=str(copy))
        assert (result.code, result.err) == (0, "")
        damaged += int(result.out)
    print(f"damaged kernels compiled again: {damaged}, wrong figures: 0")
    assert damaged >= 24
    assert small(copy)[0] == good[1]


# --- no place for it -------------------------------------------------------------------------------------------------


def warned_once(result: Result) -> None:
    lines = result.err.splitlines()
    assert len(lines) == 1
    assert "compiled kernels cannot be kept" in lines[0]
    assert "AFTERSTATE_CACHE" in lines[0]


def test_no_room_on_the_disk(good: tuple[Path, str], tmp_path: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    found, compiled, result = small(tmp_path, limit)
    assert found == good[1]
    assert compiled >= 3
    warned_once(result)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_command_without_room_for_the_cache(tmp_path: Path) -> None:
    """The warning looks like all others of the command line."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    program = f"import sys; {limit}; from afterstate.__main__ import main; sys.argv[0] = 'afterstate'; main()"
    result = process(program, "perft", "2048", "--depth", "1", AFTERSTATE_CACHE=str(tmp_path))
    assert result.code == 0
    assert result.out
    assert [line for line in result.error.splitlines() if not line.startswith("warning: compiled kernels cannot be kept")] == []
    assert len(result.error.splitlines()) == 1


def test_a_file_where_the_folder_should_be(good: tuple[Path, str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found, _, result = small(tmp_path / "file")
    assert found == good[1]
    warned_once(result)


def test_a_folder_that_others_may_write_to(good: tuple[Path, str], tmp_path: Path) -> None:
    """What is in it may be anybody's, so it is not loaded, whatever its hash says."""
    copy = Path(shutil.copytree(good[0], tmp_path / "cache"))
    (folder,) = copy.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    found, compiled, result = small(copy)
    assert (found, compiled > 0) == (good[1], True)
    warned_once(result)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """A folder that takes no new file, from the superuser neither."""
    folder.chmod(0o500)
    try:
        if os.access(folder, os.W_OK) and subprocess.run(["chattr", "+i", folder], capture_output=True, check=False).returncode:
            pytest.skip("the superuser can write everywhere here")
        yield
    finally:
        if os.geteuid() == 0:
            subprocess.run(["chattr", "-i", folder], capture_output=True, check=False)
        folder.chmod(0o700)


def test_a_read_only_folder(good: tuple[Path, str], tmp_path: Path) -> None:
    """What is there is used; what is not is compiled."""
    copy = Path(shutil.copytree(good[0], tmp_path / "cache"))
    (folder,) = copy.iterdir()
    with read_only(folder):
        found, compiled, result = small(copy)
        assert (found, compiled, result.err) == (good[1], 0, "")
    for name in ("mix", "transpose"):
        next(folder.glob(f"{name}-*")).write_bytes(b"damaged")
    with read_only(folder):
        found, compiled, result = small(copy)
        assert (found, compiled) == (good[1], 2)
        warned_once(result)


def test_a_folder_that_is_deleted_while_it_is_used(good: tuple[Path, str], tmp_path: Path) -> None:
    gone = "import afterstate.rng, shutil; shutil.rmtree(afterstate.rng.mix._cache.folder)"
    figures, compiled, result = small(tmp_path, gone)
    assert (figures, result.err) == (good[1], "")
    assert compiled >= 3
    assert len(files_of(tmp_path)) == len(files_of(good[0]))


# --- code of one's own -----------------------------------------------------------------------------------------------

GAME = """
from typing import Any, NamedTuple
from afterstate.games.game import largest
from afterstate.kernel import implement, u64
from helper import more

class Cells(NamedTuple):
    number: int

@implement(largest, Cells)
def _largest(game: Any, board: u64, extra: u64) -> u64:
    return more(board) + u64(10)
"""
HELPER = """
from afterstate.kernel import kernel, u64

@kernel
def more(x):
    return x + u64(1)
"""
ASK = """
from afterstate.games.game import _largest as ask
compiled = []
with kernel.on_compile(lambda: compiled.append(1)):
    print(ask(Cells(1), kernel.u64(5), kernel.u64(0)), len(compiled))
"""
IMPORTED = f"from afterstate import kernel\nfrom game_of_mine import Cells\n{ASK}"
STOCK = """
import afterstate as af
game = af.make("2048", size="2x2")
print(game.largest(game.parse("2 4 / 0 0")))
"""


def own(code: str, tmp_path: Path) -> str:
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    result = process(code, AFTERSTATE_CACHE=str(tmp_path / "cache"), PYTHONPATH=paths, PYTHONDONTWRITEBYTECODE="1")
    assert (result.code, result.err) == (0, "")
    return result.out.strip()


def test_a_game_from_a_module_is_kept_apart(tmp_path: Path) -> None:
    """It is compiled once, and again if its file or one with a kernel that it calls changes. 2048 never meets it."""
    module, helper = tmp_path / "game_of_mine.py", tmp_path / "helper.py"
    module.write_text(GAME)
    helper.write_text(HELPER)
    assert own(IMPORTED, tmp_path).split()[0] == "16"
    assert own(IMPORTED, tmp_path) == "16 0"
    helper.write_text(HELPER.replace("u64(1)", "u64(2)"))
    assert own(IMPORTED, tmp_path).split()[0] == "17"
    module.write_text(GAME.replace("u64(10)", "u64(20)"))
    assert own(IMPORTED, tmp_path).split()[0] == "27"
    first = own(STOCK, tmp_path)
    module.unlink()
    helper.unlink()
    assert own(STOCK, tmp_path) == first


def test_a_game_at_a_prompt_is_not_kept(tmp_path: Path) -> None:
    """Two of one name, as in two notebooks, do not meet."""
    (tmp_path / "helper.py").write_text(HELPER)
    prompt = f"from afterstate import kernel\n{GAME}\n{ASK}"
    assert own(prompt, tmp_path).split()[0] == "16"
    assert own(prompt.replace("u64(10)", "u64(30)"), tmp_path).split()[0] == "36"
    assert not list((tmp_path / "cache").glob("kernels-*/_largest-*"))


# --- Numba -----------------------------------------------------------------------------------------------------------

LESS = """
from numba.core.registry import cpu_target
for name in {names}:
    delattr(next(kind for kind in cpu_target.options.__mro__ if name in vars(kind)), name)
"""


@pytest.mark.parametrize("names", [("_nrt",), ("forceinline",), ("_nrt", "forceinline")], ids=" ".join)
def test_a_numba_without_its_private_options(names: tuple[str, ...], good: tuple[Path, str], tmp_path: Path) -> None:
    """It works, says so once, and what it compiles is kept apart from what others compile."""
    shutil.copytree(good[0], tmp_path, dirs_exist_ok=True)
    figures, compiled, result = small(tmp_path, LESS.format(names=names))
    assert figures == good[1]
    assert compiled >= 3
    (line,) = result.err.splitlines()
    assert line.endswith(f"does not have {' and '.join(names)}: kernels work, but slower")
    assert len(list(tmp_path.glob("kernels-*"))) == 2
