"""examples/tour.ipynb: executed with a real kernel, as a reader would."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

TOUR = Path(__file__).parent.parent / "examples" / "tour.ipynb"


@pytest.fixture(scope="module")
def tour() -> Any:
    return nbformat.read(TOUR, 4)  # type: ignore[no-untyped-call]


@pytest.fixture(scope="module")
def executed(tour: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("tour")
    copy = deepcopy(tour)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(folder / name.lower()))
        resources = {"metadata": {"path": str(folder)}}
        NotebookClient(copy, timeout=300, startup_timeout=180, kernel_name="python3", resources=resources).execute()
    return copy


def code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def html_of(notebook: Any, source: str) -> str:
    """What the cell that ends with this line shows."""
    cell = next(cell for cell in code(notebook) if cell.source.splitlines()[-1] == source)
    return "".join(output.data["text/html"] for output in cell.outputs if output.output_type == "execute_result")


def test_the_notebook_is_stored_without_results(tour: Any) -> None:
    nbformat.validate(tour)
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code(tour))
    assert set(tour.metadata) == {"kernelspec", "language_info"}


def test_links_of_the_notebook_lead_somewhere(tour: Any) -> None:
    links = [link for cell in tour.cells if cell.cell_type == "markdown" for link in re.findall(r"\]\(([^)]+)\)", cell.source)]
    assert links
    assert [link for link in links if not (TOUR.parent / link).is_file()] == []


def test_the_tour_shows_every_step(executed: Any) -> None:
    assert 'role="img"' in html_of(executed, "state")
    assert "a tile is due · reward 12" in html_of(executed, "after")
    curve = html_of(executed, "run")
    assert "4k" in curve
    assert curve.count("<circle") == 4
    assert "32 look-ups a value" in html_of(executed, "run.network")
    assert "best" in html_of(executed, "choice")
    assert "by cells" in html_of(executed, "run.network.explain(game.slide(state, choice.move))")
    assert "mean score, 95 % interval" in html_of(executed, "af.evaluate(agent, games=500, seed=2)")
    assert "2 slides ahead" in html_of(executed, "deeper.choose(state)")


def test_the_tour_writes_nothing_to_standard_error(executed: Any) -> None:
    streams = [output for cell in code(executed) for output in cell.outputs if output.output_type == "stream"]
    assert {stream.name for stream in streams} == {"stdout"}
    printed = "".join(stream.text for stream in streams)
    assert "depth 1: mean" in printed
    assert "depth 2: mean" in printed
