"""Whatever a program sends, valid or not: the server never fails, and answers as described."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from afterstate.web.library import Library
from afterstate.web.server import make_app
from serving import BEARER, make_models, served

CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]
SHORT = {"games": "1", "network": "0123"}  # a run that a test may start
DESCRIBED = make_app(Library(Path("none"))).openapi()["paths"]
OPERATIONS = [
    (path, method, mode)
    for path, kinds in DESCRIBED.items()
    for method, operation in kinds.items()
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE or "requestBody" in operation or "parameters" in operation  # else nothing can be wrong
]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    model = make_models(tmp_path_factory.mktemp("models"))[0]
    with served(tmp_path_factory.mktemp("runs"), model) as server:
        yield schemathesis.openapi.from_url(f"{server.address}/openapi.json", headers=BEARER)


def test_everything_is_described() -> None:
    assert len({(path, method) for path, method, _ in OPERATIONS}) == 16


@pytest.mark.parametrize(("path", "method", "mode"), OPERATIONS)
def test_no_request_breaks_the_server(described: Any, path: str, method: str, mode: GenerationMode) -> None:
    @given(case=described[path][method].as_strategy(generation_mode=mode))
    @settings(max_examples=20)
    def check(case: Any) -> None:
        if path == "/api/runs" and isinstance(case.body, dict):
            case.body = {key: value for key, value in case.body.items() if key not in {"time", "recipe"}} | SHORT
        case.call_and_validate(checks=CHECKS, headers=BEARER)

    check()
