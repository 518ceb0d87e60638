"""afterstate models: list the models that come with the package."""

from typing import Annotated, Any

import typer

from afterstate.cli.common import compiling, console, print_json
from afterstate.units import format_count


def register(app: typer.Typer) -> None:
    app.command()(models)


def models(as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False) -> None:
    """List the models that come with the package: how strong they are, and how large.

    Wherever a command takes a model, its name will do: afterstate eval 2048. A file or a run of the same name comes first; in a
    folder that holds one, use another folder or give the path that is listed here.
    """
    with compiling():
        from afterstate.network.modelfile import read_header
        from afterstate.network.shipped import shipped_models
        from afterstate.report.tables import facts

    found: list[dict[str, Any]] = []
    rows: list[tuple[str, str]] = []
    for model in shipped_models():
        header, card = read_header(model.path), model.read_card()
        what = {"name": model.name, "game": header["game"], "rules": header["rules"], "size": header["size"]}
        found.append(what | {"bytes": model.bytes, "path": str(model.path), "card": card.as_dict()})
        about = f"{header['game']} ({header['rules']}, {header['size']}), {model.bytes / 1e6:.1f} MB: {card.about}"
        rows.append((model.name, "\n".join([about, *map(strength_line, card.as_dict()["strength"]), ""])))
    if as_json:
        print_json(found)
    elif not rows:
        console().print("no models come with this version; train one: afterstate train --recipe quick")
    else:
        console().print(facts(rows))


def strength_line(row: dict[str, Any]) -> str:
    """How strong a model is in one way to play, by a row of its card."""
    tiles = "".join(f", {tile} in {share:.1%}" for tile, share in row["reached"].items())
    speed = "" if row["ms"] is None else f", {row['ms']:.3g} ms a move"
    return f"{row['how']}: {row['mean']:,.0f} ± {row['interval']:,.0f} ({format_count(row['games'])} games){tiles}{speed}"
