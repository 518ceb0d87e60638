"""What people install: the archive of sources and the wheel are complete, and the wheel works without the sources."""

import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

from commandline import BOARD, NETWORK, PATIENCE

ROOT = Path(__file__).parent.parent
UNPACKED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist", "runs", "site")
PAGE = """
from importlib.resources import files
from pathlib import Path
from fastapi.testclient import TestClient
from afterstate.web.library import Library
from afterstate.web.server import make_app

with TestClient(make_app(Library(Path("runs"), [])), base_url="http://127.0.0.1") as client:
    names = [file.name for file in files("afterstate.web").joinpath("page").iterdir()]
    answers = [client.get("/" if name == "index.html" else f"/{name}") for name in names]
print({answer.status_code for answer in answers}, len(answers))
"""
QUICK_TESTS = ("test_units.py", "test_bitboard.py", "test_docs.py")


def execute(*command: object, cwd: Path) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sources, unpacked, and a wheel that was built from them."""
    folder = tmp_path_factory.mktemp("archives")
    shutil.copytree(ROOT, folder / "checkout", ignore=UNPACKED)
    execute(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, folder / "checkout", cwd=folder)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def programs(archives: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel, and beside it only what others have made."""
    folder = tmp_path_factory.mktemp("empty")
    execute(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    programs = folder / Path(sys.executable).parent.name
    install = ("install", "--no-deps", "--no-index", next(archives.glob("*.whl")))
    execute(sys.executable, "-m", "pip", "--python", programs / "python", *install, cwd=folder)
    place = execute(programs / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip()
    (Path(place) / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")  # its own .pth files are not followed
    return programs


def test_the_archive_of_sources_is_complete(archives: Path) -> None:
    unpacked = next(archives.glob("afterstate-*/"))
    checkout = archives / "checkout"
    missing = [
        path.relative_to(checkout).as_posix()
        for path in checkout.rglob("*")
        if path.is_file() and not (unpacked / path.relative_to(checkout)).is_file() and "egg-info" not in str(path)
    ]
    assert missing == []


def test_the_tests_run_from_the_archive_of_sources(archives: Path, programs: Path) -> None:
    unpacked = next(archives.glob("afterstate-*/"))
    tests = [f"tests/{name}" for name in QUICK_TESTS]
    printed = execute(programs / "python", "-m", "pytest", "-p", "no:cacheprovider", *tests, cwd=unpacked)
    assert " passed" in printed


def test_the_wheel_works_without_the_sources(programs: Path, tmp_path: Path) -> None:
    where = execute(
        programs / "python", "-c", "import afterstate; print(afterstate.__file__, afterstate.__version__)", cwd=tmp_path
    )
    file, version = where.split()
    assert Path(file).is_relative_to(programs.parent)
    assert execute(programs / "afterstate", "--version", cwd=tmp_path) == f"{version}\n"
    assert "train" in execute(programs / "afterstate", "--help", cwd=tmp_path)
    assert "quick" in execute(programs / "afterstate", "recipes", cwd=tmp_path)
    assert "tuples" in execute(programs / "afterstate", "sweep", cwd=tmp_path)
    small = ("--network", NETWORK, "--threads", "1", "--games", "10", "--run", "run", "--quiet")
    execute(programs / "afterstate", "train", "2048", *small, cwd=tmp_path)
    assert '"move": ' in execute(programs / "afterstate", "move", "run", BOARD, "--json", cwd=tmp_path)
    execute(programs / "afterstate", "report", "run", "--output", "run.html", cwd=tmp_path)


def test_the_wheel_has_the_whole_page(programs: Path, tmp_path: Path) -> None:
    files = len(list((ROOT / "src" / "afterstate" / "web" / "page").iterdir()))
    assert execute(programs / "python", "-W", "ignore", "-c", PAGE, cwd=tmp_path).strip() == f"{{200}} {files}"
