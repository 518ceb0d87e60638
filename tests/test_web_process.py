"""`afterstate play` as a process: start, end, and what it refuses."""

import json
import os
import signal
import socket
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from afterstate.cli.main import Exit
from afterstate.learning.runfolder import RunFolder
from commandline import LONG, NETWORK, PATIENCE, check, run
from serving import BEARER, Served, served


def fetch(address: str, body: dict[str, Any] | None = None) -> Any:
    """Ask a server at a port."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"content-type": "application/json", **BEARER})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.loads(answer.read()) if address.rpartition("/")[2] else answer.read()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_and_a_run_keeps_what_it_learned(tmp_path: Path, number: int) -> None:
    with served(tmp_path / "runs") as server:
        assert b"Afterstate" in fetch(f"{server.address}/")
        body = {"games": "10M", "network": NETWORK, "name": "cut"}
        begun = fetch(f"{server.address}/api/runs", body)
        while fetch(f"{server.address}/api/runs/{begun['id']}")["run"]["games"] < 100:
            time.sleep(0.05)
        code = server.end(number)
        assert "Traceback" not in "".join(server.lines)
    assert code == (Exit.DONE if number == signal.SIGINT else -signal.SIGTERM)
    assert RunFolder(tmp_path / "runs" / "cut").last.is_file()


def test_it_binds_to_loopback_only(tmp_path: Path) -> None:
    with served(tmp_path / "runs") as server:
        table = Path("/proc/net/tcp").read_text() if os.path.exists("/proc/net/tcp") else ""
        at = [line.split()[1] for line in table.splitlines()[1:] if line.split()[3] == "0A"]
        port = f"{server.port:04X}"
        assert [address for address in at if address.endswith(f":{port}")] == [f"0100007F:{port}"]


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        check(run("play", "--port", port, "--no-browser", "--runs", tmp_path), Exit.RESOURCE, f"port {port}", "--port")


def test_two_servers_find_two_ports(tmp_path: Path) -> None:
    with served(tmp_path / "runs") as one, served(tmp_path / "runs") as other:
        assert one.port != other.port
        assert fetch(f"{one.address}/api/models") == fetch(f"{other.address}/api/models")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("none",), Exit.FILE, "there is no model or run none"),
        ((LONG,), Exit.FILE, "there is no model or run"),
        (("--port", "0"), Exit.INPUT, "a port is 1 to 65535"),
        (("--port", "70000"), Exit.INPUT, "70000"),
        (("--port", "2049"), Exit.INPUT, "browsers refuse to open port 2049"),
        (("--host", "203.0.113.1"), Exit.RESOURCE, "203.0.113.1"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...], code: int, words: str) -> None:
    check(run("play", *arguments, "--no-browser"), code, words)


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    file = tmp_path / "x.safetensors"
    file.write_bytes(b"nonsense")
    check(run("play", file, "--no-browser"), Exit.MODEL, "not a model file")


def test_a_model_by_its_file_and_by_its_run(original: Path, tmp_path: Path) -> None:
    for given in (original, original / "checkpoints" / "best.safetensors"):
        server = Served(tmp_path / "none", given)
        try:
            models = fetch(f"{server.address}/api/models")
        finally:
            server.end(signal.SIGKILL)
        assert [(model["game"], model["id"]) for model in models["models"]] == [("2048", models["default"])]
