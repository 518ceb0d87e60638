"""The options of a search, which several commands take."""

from typing import Annotated, Any

import typer

Depth = Annotated[int | None, typer.Option(help="slides to look ahead, 1 to 8  [default: 1, or as deep as the time allows]")]
MoveTime = Annotated[str | None, typer.Option(help="time for each move, such as 10ms: deeper and deeper until it is over")]
Exact = Annotated[bool, typer.Option("--exact", help="leave nothing out (up to depth 5)")]
Cutoff = Annotated[float | None, typer.Option(help="do not look into what is less probable than this, such as 0.01")]
Rare = Annotated[
    float | None,
    typer.Option(help="below the first, leave out new tiles less likely than this share of the likeliest, such as 0.5"),
]
Calm = Annotated[int | None, typer.Option(help="look one slide less ahead on boards with this many empty cells; 0 for none")]
Width = Annotated[int | None, typer.Option(help="below the first, look into so many slides only, the best ones; 0 for all")]
Table = Annotated[str | None, typer.Option(help="memory of the transposition table, such as 64M; 0 for none")]
Downgrade = Annotated[
    int | None,
    typer.Option(
        help="from this tile on take tiles above a gap for smaller ones; 0 for never  "
        "[default: from the largest that 1 % of the training's games reached]"
    ),
]


def search_options(**given: Any) -> dict[str, Any]:
    """What an Agent is made with: the options that were given."""
    return {name: value for name, value in given.items() if value is not None}
