"""afterstate info: what is in a model, a run or a network."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterstate.cli.common import compiling, console, print_json
from afterstate.cli.models import strength_line
from afterstate.errors import FileError, InputError
from afterstate.units import format_bytes, format_count, format_time

if TYPE_CHECKING:
    from afterstate.bitboard import Shape


def register(app: typer.Typer) -> None:
    app.command()(info)


def info(
    what: Annotated[
        str | None, typer.Argument(help="a model file, a run folder, a model of the package by name, or a network such as 8x6")
    ] = None,
    size: Annotated[str, typer.Option(help="board size, for a network given by its patterns")] = "4x4",
    isomorphs: Annotated[
        bool,
        typer.Option("--isomorphs", help="list and draw all isomorphs, and print them as patterns with tables of their own"),
    ] = False,
    svg: Annotated[Path | None, typer.Option(help="draw the patterns to an .svg file; with --isomorphs, these too")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Describe a model, a run or a network.

    Draws the patterns. Without an argument it lists the network presets.

    The isomorphs of a pattern share its table. --isomorphs prints them as a list for train --network, to compare with tables of
    their own.
    """
    with compiling():
        from afterstate.files import is_file, is_folder
        from afterstate.learning.runfolder import find_model
        from afterstate.network.interop.reading import split_reading
        from afterstate.network.modelfile import load_model
        from afterstate.network.shipped import find_shipped, shipped_at

    if what is None:
        if isomorphs or svg is not None:
            raise InputError("say what to draw: a network such as 8x6, a model or a run")
        _list_presets(as_json=as_json)
        return
    if not is_file(split_reading(what)[0]) and not is_folder(Path(what)) and find_shipped(what) is None:
        _network(what, size, isomorphs=isomorphs, svg=svg, as_json=as_json)
        return
    with compiling():
        path = find_model(what)
        network = load_model(path)
    shipped = shipped_at(path)
    run = Path(what) if shipped is None and Path(what).is_dir() else None
    facts_of_model: dict[str, Any] = {
        "model": str(path),
        "game": network.game.name,
        "rules": network.game.rules,
        "size": str(network.game.shape),
        "target": network.target,
        "patterns": list(network.patterns),
        "symmetry": network.symmetry,
        "stages": list(network.stages),
        "context": network.context,
        "lookups": network.lookups,
        "weights": int(network.weights.size),
        "training": network.training.as_dict(),
    }
    if run is not None:
        facts_of_model["run"] = _run_facts(run)
    if shipped is not None:
        facts_of_model |= {"name": shipped.name, "bytes": shipped.bytes, "card": shipped.read_card().as_dict()}
    drawing = Drawing(network.patterns, network.game.shape, network.symmetry if isomorphs else None)
    if svg is not None:
        drawing.save(svg)
    if as_json:
        print_json(facts_of_model | drawing.facts())
    else:
        _show_model(facts_of_model)
        drawing.show()


def _list_presets(*, as_json: bool) -> None:
    from afterstate.network.patterns import PRESETS
    from afterstate.report.tables import facts

    if as_json:
        print_json({name: preset.names for name, preset in PRESETS.items()})
    else:
        console().print(facts([(name, f"{preset.patterns}\n{preset.origin}") for name, preset in PRESETS.items()]))


@dataclass(frozen=True)
class Drawing:
    """The patterns to draw; with a number of isomorphisms, the isomorphs of each."""

    patterns: Sequence[str]
    shape: "Shape"
    symmetry: int | None

    def facts(self) -> dict[str, Any]:
        """For JSON: nothing, unless isomorphs were asked for."""
        from afterstate.network.patterns import own_tables, places_of

        if self.symmetry is None:
            return {}
        places = {pattern: places_of(pattern, self.shape, self.symmetry) for pattern in self.patterns}
        own = own_tables(self.patterns, self.shape, self.symmetry)
        return {"symmetry": self.symmetry, "isomorphs": places, "own_tables": own}

    def show(self) -> None:
        """Draw to the terminal, and end with the list for `train --network`."""
        from afterstate.network.network import count_weights
        from afterstate.network.patterns import own_tables, places_of
        from afterstate.report.tables import PatternDrawings

        screen = console()
        if self.symmetry is None:
            screen.print()
            screen.print(PatternDrawings(self.patterns, self.shape))
            return
        for pattern in self.patterns:
            places = places_of(pattern, self.shape, self.symmetry)
            times = self.symmetry // len(places)
            note = f", each looked up {times} times" if times > 1 else ""
            screen.print(f"\n{pattern}: {len(places)} {'place' if len(places) == 1 else 'places'}{note}\n")
            screen.print(PatternDrawings(list(places), self.shape, across=4))
        own = own_tables(self.patterns, self.shape, self.symmetry)
        screen.print(f"With a table for each: {len(own)} tables, {_weights(count_weights(own))} weights\n")
        screen.print(f"--network {','.join(own)} --symmetry 1", soft_wrap=True)

    def save(self, path: Path) -> None:
        """Draw to an SVG file."""
        from afterstate.files import atomic_write, check_ours
        from afterstate.network.svg import MADE, svg_file

        if path.suffix.lower() != ".svg":
            raise InputError(f"patterns are drawn to an .svg file, not {path.name!r}")
        check_ours(path, MADE, "a drawing")
        with atomic_write(path) as file:
            file.write(svg_file(self.patterns, self.shape, symmetry=self.symmetry or 1).encode())


def _network(what: str, size: str, *, isomorphs: bool, svg: Path | None, as_json: bool) -> None:
    """Draw a network given by name or patterns."""
    from afterstate.bitboard import Shape
    from afterstate.network.network import count_weights
    from afterstate.network.patterns import default_symmetry, parse_patterns

    shape = Shape.parse(size)
    try:
        patterns = parse_patterns(what, shape)
    except InputError as error:
        raise FileError(f"there is no model or run {what}, and it is not a network either: {error}") from error
    drawing = Drawing(patterns, shape, default_symmetry(what, shape) if isomorphs else None)
    if svg is not None:
        drawing.save(svg)
    weights = count_weights(patterns)
    if as_json:
        print_json({"network": what, "patterns": patterns, "weights": weights} | drawing.facts())
        return
    from afterstate.report.tables import facts

    console().print(facts([("network", what), ("weights", _weights(weights))]))
    drawing.show()


def _run_facts(run: Path) -> dict[str, Any]:
    from afterstate.learning.runfolder import RunFolder
    from afterstate.network.modelfile import read_training

    folder = RunFolder.open(run)
    metrics = folder.read_metrics()
    found: dict[str, Any] = {"folder": str(run), "blocks": sum(record["kind"] == "block" for record in metrics)}
    for name, path in folder.checkpoints:
        if path.exists():
            training = read_training(path)
            found[name] = {"games": training.games} | ({} if training.block is None else asdict(training.block))
    return found


def _weights(count: int) -> str:
    return f"{count:,} ({format_bytes(4 * count)})"


def _card_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The card of a model of the package."""
    card = found["card"]
    rows = [("card", f"{found['name']}, {found['bytes'] / 1e6:.1f} MB: {card['about']}")]
    rows.append(("made", f"{format_count(card['games'])} games, {card['hours']:g} hours, seed {card['seed']}"))
    rows += [("", command) for command in card["made"]]
    for row in card["strength"]:
        rows += [("strength", strength_line(row)), ("", row["command"])]
    return rows


def _show_model(found: dict[str, Any]) -> None:
    from afterstate.report.tables import facts

    training = found["training"]
    rows = [
        ("model", found["model"]),
        ("game", f"{found['game']} {found['size']}, rules {found['rules']}"),
        ("network", f"{len(found['patterns'])} patterns x {found['symmetry']} isomorphisms = {found['lookups']} look-ups"),
        ("weights", _weights(found["weights"])),
        ("values", f"{found['target']}s"),
    ]
    if found["context"]:
        rows.append(("sees", "tiles, " + ", ".join(found["context"].split("+"))))
    if len(found["stages"]) > 1:
        rows.append(("stages", "from " + ", ".join(str(face) for face in found["stages"])))
    if training["games"]:
        options = training["options"]
        told = ("recipe", "method", "lambda", "order", "alpha", "schedule", "beside", "seed", "threads")
        how = ", ".join(f"{key} {options[key]}" for key in told if key in options)
        rows.append(("trained", f"{format_count(training['games'])} games in {format_time(training['seconds'])}: {how}"))
    if "card" in found:
        rows += _card_rows(found)
    if "run" in found:
        run = found["run"]
        rows.append(("run", f"{run['folder']}, {run['blocks']} blocks"))
        for name in ("last", "best"):
            if name in run:
                text = f"game {run[name]['games']:,}"
                if "win_rate" in run[name]:
                    text += f", win rate {run[name]['win_rate']:.1%}, mean {run[name]['mean']:,.0f}"
                rows.append((name, text))
    console().print(facts(rows))
