"""afterstate convert: weight files of other programs, and ours."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from afterstate.cli.common import compiling, console, print_json
from afterstate.cli.options import with_options
from afterstate.errors import FileError
from afterstate.files import is_file
from afterstate.network.interop.reading import Reading


def register(app: typer.Typer) -> None:
    app.command()(with_options(convert, Reading, before="force", text=()))


def convert(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="a model file of any format, or a run folder")],
    made: Annotated[Path, typer.Argument(metavar="DST", help="the file to write: .safetensors, .bin (course) or .w (tdl)")],
    to: Annotated[
        str | None, typer.Option(help="format to write: afterstate, course, demo or tdl  [default: by the name of DST]")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="replace DST if it exists")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
    **reading: Any,
) -> None:
    """Convert a model between our format and those of other programs.

    Reads and writes weights.bin of the course's framework, files of TDL2048-Demo, and .w files of TDL2048+ with stages and
    TC. The format of SRC is found by its content; --network, --game and so on say what it does not. See docs/formats.md.
    """
    told = Reading(**reading)
    if is_file(made) and not force:
        raise FileError(f"{made} exists: choose another name, or give --force to replace it")
    with compiling():
        from afterstate.learning.exchange import convert as run
    done = run(source, made, to=to, reading=told)
    network, size = done.network, done.target.stat().st_size
    again = {name: str(value) for name, value in done.reading.given.items()}
    if as_json:
        print_json(
            {
                "source": str(done.source), "read_as": done.read_as, "target": str(done.target), "written_as": done.written_as,
                "bytes": size, "game": network.game.name, "rules": network.game.rules, "size": str(network.game.shape),
                "patterns": list(network.patterns), "stages": list(network.stages), "weights": int(network.weights.size),
                "coherence": done.coherence, "coherence_dropped": done.dropped, "to_read_it_give": again,
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
    if done.dropped:
        screen.print("left out: E and A of TC, for which this format has no place")
    if again:
        options = " ".join(f"--{name} {shlex.quote(value)}" for name, value in again.items())
        screen.print(f"the file does not say this, so give it when you read it: {options}")
