"""The server for tests: inside this process, or in its own process at a port."""

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from afterstate.games.game import make
from afterstate.network.modelfile import save_model
from afterstate.web.library import Library
from afterstate.web.server import make_app
from commandline import PATIENCE, PROGRAM, read_json
from searching import random_network

HERE = "http://127.0.0.1"
BOARD = "2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2"
OVER = "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"
TOKEN = "the-token-of-the-tests"
BEARER = {"authorization": f"Bearer {TOKEN}"}  # for programs; `browsing.Visit` has the cookie


def make_models(folder: Path) -> list[Path]:
    """A model for each game, of random weights."""
    models = []
    for game, rules in (("2048", "standard"), ("threes", "tcg2022")):
        path = folder / f"{game}.safetensors"
        save_model(random_network(make(game, rules=rules), "0123,4567"), path)
        models.append(path)
    return models


@contextmanager
def client(runs: Path, *models: Path) -> Iterator[TestClient]:
    """The server in this process."""
    with TestClient(make_app(Library(runs, models)), base_url=HERE) as opened:
        yield opened


def ask(opened: TestClient, path: str, status: int = 200, /, **body: Any) -> Any:
    """Post a question; the answer must have this status, and be JSON that other programs read."""
    answer = opened.post(path, json=body)
    assert answer.status_code == status, answer.text
    return read_json(answer.text)


class Served:
    """`afterstate play` in its own process, with TOKEN; `files` is how many files it may open."""

    def __init__(
        self,
        runs: Path,
        *arguments: object,
        cwd: Path | None = None,
        games: Path | None = None,
        token: str | None = TOKEN,
        files: int | None = None,
    ) -> None:
        command = [*PROGRAM, "play", *map(str, arguments), "--no-browser", "--runs", str(runs)]
        environment = os.environ | ({} if games is None else {"AFTERSTATE_GAMES": str(games)})
        environment |= {} if token is None else {"AFTERSTATE_TOKEN": token}
        if files is not None:
            command = ["sh", "-c", f'ulimit -n {files} && exec "$@"', "sh", *command]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=cwd, bufsize=1, env=environment
        )  # fmt: skip
        self.lines: list[str] = []
        self.address = self._find_address()
        self._reader = threading.Thread(target=self._read_on, daemon=True)
        self._reader.start()

    def _find_address(self) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            if found := re.search(r"http://\S+/", line):
                return found[0].rstrip("/")
        raise AssertionError(f"the server has ended: {''.join(self.lines)}")

    def _read_on(self) -> None:
        assert self.process.stdout is not None
        self.lines.extend(self.process.stdout)

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def end(self, number: int) -> int:
        """Send a signal, if it has not ended yet, and wait -> exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@contextmanager
def served(runs: Path, *arguments: object, **options: Any) -> Iterator[Served]:
    """A server while the test uses it, with the options of `Served`."""
    server = Served(runs, *arguments, **options)
    try:
        yield server
    finally:
        server.end(signal.SIGKILL)
