"""Options that commands share: made from the fields of a dataclass (name, type and help), and --cluster."""

import inspect
from collections.abc import Callable, Collection, Iterator
from dataclasses import MISSING, fields
from typing import Annotated, Any, Literal, get_origin

import typer
from typer.core import TyperCommand

from afterstate.cluster.address import LOCAL, is_address
from afterstate.learning.options import plain_type


def with_options(
    command: Callable[..., None], options: type, *, before: str, text: Collection[str], skip: Collection[str] = ()
) -> Callable[..., None]:
    """Give a command that takes **options one parameter for each field, placed before its parameter `before`.

    The help is in the field's metadata. Fields in `text` are written like 100k or 10m; the dataclass parses them.
    """
    own = [one for one in inspect.signature(command).parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    more = [_parameter(spec, spec.name in text) for spec in fields(options) if spec.name not in skip]
    at = [one.name for one in own].index(before)
    parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*own[:at], *more, *own[at:])]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _parameter(spec: Any, is_text: bool) -> inspect.Parameter:
    kind: Any = bool
    default: Any = False
    text = str(spec.metadata["help"])
    if spec.type is not bool:
        kind = (str if is_text or get_origin(spec.type) is Literal else plain_type(spec.type)) | None
        default = None
        if spec.default not in (None, MISSING):
            text += f"  [default: {spec.default}]"
    info = typer.Option(f"--{spec.name.rstrip('_').replace('_', '-')}", help=text, show_default=False)
    return inspect.Parameter(spec.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="[ADDRESS]",
        help="run on a Ray cluster: HOST:PORT of its head, or auto; without an address Ray is started on this machine",
    ),
]


class ClusterCommand(TyperCommand):
    """A command with the option `Cluster`, whose address may be left out: app.command(cls=ClusterCommand)."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(_with_address(args)))


def _with_address(words: list[str]) -> Iterator[str]:
    """Write --cluster without an address as --cluster=local. The word after it is an address only if it looks like one."""
    for number, word in enumerate(words):
        alone = word == "--cluster" and not any(map(is_address, words[number + 1 : number + 2]))
        yield f"{word}={LOCAL}" if alone else word
