"""Command lines that make a run, measure it, and show it."""

import shlex
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from afterstate.errors import AfterstateError
from afterstate.learning.options import TrainOptions
from afterstate.learning.plan import make_plan
from afterstate.learning.recipes import load_recipe, recipe_names, with_recipe
from afterstate.report.curves import option_name, option_text

_OF_THE_COURSE = {"tcg2022": "2", "tcg2018": "2018-2", "tcg2018-bonus": "2018-2"}  # rules -> version of the judge


def train_command(options: TrainOptions, run: Path) -> str:
    """The shortest command line that trains with these options, which have every default filled in."""
    recipe = _recipe(options)
    given = _needed(options, recipe)
    words = [] if recipe is not None else [options.game]
    words += [] if recipe is None else ["--recipe", recipe]
    for name, value in given.items():
        words += [f"--{option_name(name)}"] if value is True else [f"--{option_name(name)}", option_text(name, value)]
    return _line("train", *words, "--run", str(run))


def other_commands(options: TrainOptions, run: Path) -> list[tuple[str, str]]:
    """What each command line does, and the command line: measure, judge, plot, and make the page again."""
    folder = str(run)
    judge = ["--game", options.game]
    if options.rules in _OF_THE_COURSE:
        judge = ["--version", _OF_THE_COURSE[str(options.rules)], "--rules", str(options.rules)]
    elif options.rules not in (None, "standard"):
        judge += ["--version", "win", "--rules", str(options.rules)]
    if options.size != "4x4":
        judge += ["--size", options.size]
    return [
        (
            "Measure it: 1000 games with learning off",
            _line("eval", folder, "--seed", "2", "--save", "games.txt"),
        ),
        ("Judge the saved games", _line("judge", "games.txt", *judge)),
        ("Draw its curves", _line("plot", folder)),
        ("Make this page again", _line("report", folder)),
    ]


def _line(*words: str) -> str:
    return shlex.join(["afterstate", *words])


def _recipe(options: TrainOptions) -> str | None:
    """The recipe of the package that a run was started with, as it is today."""
    name = (options.recipe or "").rpartition(" ")[0]
    return name if name in recipe_names() and load_recipe(name).label == options.recipe else None


def _needed(options: TrainOptions, recipe: str | None) -> dict[str, Any]:
    """The options to give, beside a recipe: those without which the run would be another one."""
    base = {} if recipe is None else with_recipe({"recipe": recipe})
    plain = TrainOptions(**({"game": options.game} | base))
    names = [spec.name for spec in fields(options) if spec.name not in {"game", "recipe"}]
    given = {name: getattr(options, name) for name in names if getattr(options, name) != getattr(plain, name)}
    for name in list(given):
        rest = {key: value for key, value in given.items() if key != name}
        if given[name] is not None and _same(options, plain, rest):
            given = rest
    return {name: value for name, value in given.items() if value is not None}


def _same(options: TrainOptions, plain: TrainOptions, given: dict[str, Any]) -> bool:
    """Whether the given options, and the defaults of the game, make the same run."""
    try:
        return make_plan(replace(plain, **given, recipe=options.recipe)).options == options
    except AfterstateError:
        return False
