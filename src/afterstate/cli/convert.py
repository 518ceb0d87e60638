"""afterstate convert: weight files of other programs, and ours."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from afterstate.cli.common import compiling, console, print_json, progress_bar
from afterstate.cli.options import with_options
from afterstate.errors import FileError, InputError
from afterstate.files import is_file
from afterstate.network.interop.reading import Reading
from afterstate.units import parse_bytes


def register(app: typer.Typer) -> None:
    app.command()(with_options(convert, Reading, before="force", text=()))


def convert(
    source: Annotated[
        Path, typer.Argument(metavar="SRC", help="a model file of any format, a run folder, or a name (see afterstate models)")
    ],
    made: Annotated[Path, typer.Argument(metavar="DST", help="the file to write: .safetensors, .afs, .bin or .w")],
    to: Annotated[
        str | None,
        typer.Option(help="format to write: afterstate, compact, course, demo, tdl  [default: by the name of DST]"),
    ] = None,
    compact: Annotated[bool, typer.Option("--compact", help="write a small file to share, like --to compact")] = False,
    step: Annotated[
        float | None,
        typer.Option(help="points that the weights of a compact model are rounded to  [default: 1/20 of a usual weight]"),
    ] = None,
    most: Annotated[
        str | None,
        typer.Option("--size-limit", help="largest compact file, such as 60M: the step grows until it fits"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="replace DST if it exists")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    **reading: Any,
) -> None:
    """Convert a model between our format and those of other programs.

    Reads and writes weights.bin of the course's framework, files of TDL2048-Demo, and .w files of TDL2048+ with stages and
    TC. The format of SRC is found by its content; --network, --game and so on say what it does not. A compact model (.afs) is
    small enough to share: its weights are rounded, and those that are rounded to 0 are left out. See docs/formats.md.
    """
    told = Reading(**reading)
    limit = None if most is None else parse_bytes(most.removesuffix("B"), name="size-limit")
    if compact and to not in (None, "compact"):
        raise InputError(f"--compact writes a compact model, and --to {to} another: give one of them")
    if is_file(made) and not force:
        raise FileError(f"{made} exists: choose another name, or give --force to replace it")
    with compiling():
        from afterstate.learning.exchange import convert as run
    with progress_bar("packing tables", 1) as bar:
        done = run(
            source, made, to="compact" if compact else to, reading=told, step=step, size=limit,
            on_table=lambda count, total: bar(count, f"packing tables, {count} of {total}"),
        )  # fmt: skip
    network, size = done.network, done.target.stat().st_size
    again = {name: str(value) for name, value in done.reading.given.items()}
    if as_json:
        print_json(
            {
                "source": str(done.source), "read_as": done.read_as, "target": str(done.target), "written_as": done.written_as,
                "bytes": size, "game": network.game.name, "rules": network.game.rules, "size": str(network.game.shape),
                "patterns": list(network.patterns), "stages": list(network.stages), "weights": int(network.weights.size),
                "coherence": done.coherence, "coherence_dropped": done.dropped, "to_read_it_give": again,
                "step": done.step,
            }
        )  # fmt: skip
        return
    screen = console()
    screen.print(f"{done.source}: a {done.read_as}")
    screen.print(
        f"{len(network.patterns)} patterns for {network.game.name} ({network.game.rules}, {network.game.shape}), "
        f"{network.weights.size:,} weights{', with E and A of TC' if done.coherence else ''}"
    )
    screen.print(f"wrote {done.target}: a {done.written_as}, {size:,} bytes")
    if done.step is not None:
        screen.print(f"weights are rounded to {done.step:.3g} points; those that are rounded to 0 are left out")
    if done.dropped:
        screen.print("left out: E and A of TC, for which this format has no place")
    if again:
        options = " ".join(f"--{name} {shlex.quote(value)}" for name, value in again.items())
        screen.print(f"the file does not say this, so give it when you read it: {options}")
