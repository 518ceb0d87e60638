"""afterstate recipes: list the recipes, which are sets of training options."""

from typing import Annotated

import typer

from afterstate.cli.common import console, print_json


def register(app: typer.Typer) -> None:
    app.command()(recipes)


def recipes(
    name: Annotated[str | None, typer.Argument(help="print this recipe, as a start for your own")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """List the training recipes, with how long each takes and what to expect.

    Use one with: afterstate train --recipe NAME. Options on the command line override those of the recipe.

    Your own file works the same way: afterstate recipes quick > mine.toml, change it, then --recipe mine.toml.
    """
    from afterstate.learning.recipes import load_recipe, recipe_names

    found = [load_recipe(each) for each in (recipe_names() if name is None else [name])]
    if as_json:
        listed = [
            {"name": recipe.name, "version": recipe.version, "about": recipe.about, "takes": recipe.takes}
            | {"expect": recipe.expect, "train": {key.rstrip("_"): value for key, value in recipe.options.items()}}
            for recipe in found
        ]
        print_json(listed if name is None else listed[0])
    elif name is not None:
        print(found[0].text, end="")
    else:
        from afterstate.report.tables import facts

        rows = [(recipe.name, f"{recipe.about}\n{recipe.takes}; {recipe.expect}\n") for recipe in found]
        console().print(facts(rows))
