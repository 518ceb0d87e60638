"""Recipes: named, versioned sets of training options, each a TOML file. A user's own file works the same way.

about = "what it is"            version = 1            takes = "3 minutes"            expect = "mean 100,000"
[train]
game = "2048"
games = "100k"

A recipe that repeats a report also has the report's figures, see `figures`.
"""

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from afterstate.errors import FileError, InputError
from afterstate.files import parse_toml, reading
from afterstate.learning.figures import Report, check_report, read_report
from afterstate.learning.options import TrainOptions, read_options
from afterstate.units import shorten

LONGEST = 100_000  # bytes of a recipe
_ABOUT = ("about", "version", "takes", "expect")


@dataclass(frozen=True)
class Recipe:
    """A set of training options, and what to expect of it."""

    name: str
    version: int
    about: str
    takes: str
    expect: str
    options: dict[str, Any]  # of TrainOptions
    report: Report | None  # what a report says that it reached this way
    text: str  # the file as it is

    @property
    def label(self) -> str:
        """How a run names the recipe of its options."""
        return f"{self.name} {self.version}"


def _folder() -> Any:
    return resources.files("afterstate") / "recipes"


def recipe_names() -> list[str]:
    """The recipes that come with the package."""
    return sorted(file.name.removesuffix(".toml") for file in _folder().iterdir() if file.name.endswith(".toml"))


def load_recipe(name: str) -> Recipe:
    """Load a recipe of the package by its name, or a TOML file."""
    if name in recipe_names():
        return _parse(name, (_folder() / f"{name}.toml").read_text("utf-8"), f"recipe {name}")
    path = Path(name)
    if path.suffix != ".toml":
        raise InputError(
            f"no recipe is called {shorten(name)!r}; there are: {', '.join(recipe_names())}; or give a file that ends in .toml"
        )
    with reading(f"the recipe {shorten(name)}"):
        with open(path, "rb") as file:
            raw = file.read(LONGEST + 1)
        if len(raw) > LONGEST:
            raise FileError(f"{shorten(name)} is not a recipe: it is longer than {LONGEST} bytes")
        return _parse(path.stem, raw.decode("utf-8"), name)


def _parse(name: str, text: str, where: str) -> Recipe:
    try:
        table = parse_toml(text.encode())
    except ValueError as error:
        raise FileError(f"{where} is not TOML: {error}") from error
    unknown = [key for key in table if key not in (*_ABOUT, "train", "report")]
    if unknown:
        raise FileError(f"{where} has an unknown key {shorten(unknown[0])!r}; training options belong under [train]")
    options = table.get("train", {})
    version = table.get("version", 1)
    if not isinstance(options, dict) or not options:
        raise FileError(f"{where} has no [train] with options in it")
    if not isinstance(version, int) or isinstance(version, bool):
        raise FileError(f"{where}: version must be a whole number, not {version!r:.60}")
    for key in ("about", "takes", "expect"):
        if not isinstance(table.get(key, ""), str):
            raise FileError(f"{where}: {key} must be text, not {table[key]!r:.60}")
    found = read_options(options, where)
    if "recipe" in found:
        raise FileError(f"{where}: a recipe cannot name another one")
    try:
        resolved = TrainOptions(**found)
    except InputError as error:
        raise FileError(f"{where}: {error}") from error
    report = read_report(table["report"], where) if "report" in table else None
    if report is not None:
        check_report(report, resolved, where)
    return Recipe(name, version, table.get("about", ""), table.get("takes", ""), table.get("expect", ""), found, report, text)


def with_recipe(given: dict[str, Any]) -> dict[str, Any]:
    """The given options, which override those of the recipe they name."""
    name = given.get("recipe")
    if name is None:
        return given
    recipe = load_recipe(name)
    game = recipe.options.get("game", TrainOptions.game)
    if given.get("game", game) != game:
        raise InputError(f"recipe {recipe.name} is for {game}, not for {given['game']}")
    base = dict(recipe.options)
    if not {"games", "time"}.isdisjoint(given):  # a given limit replaces the recipe's
        base.pop("games", None)
        base.pop("time", None)
    return base | given | {"recipe": recipe.label}
