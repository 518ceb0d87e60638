"""afterstate play: serve the page and open a browser."""

import socket
import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from afterstate.cli.common import compiling, console, tell_compiling
from afterstate.errors import InputError, ResourceError

PORT = 2048
OTHERS = range(20480, 20500)  # tried if PORT is taken
# ports above 1024 that browsers refuse, since they belong to other services
BLOCKED = {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, *range(6665, 6670), 6679, 6697, 10080}
LOOPBACK = "127.0.0.1"
ENDING = 3  # seconds to finish pending answers when the server stops


def register(app: typer.Typer) -> None:
    app.command()(play)


def play(
    model: Annotated[
        Path | None, typer.Argument(help="a model file, or a run folder  [default: the models of all runs]")
    ] = None,
    port: Annotated[int | None, typer.Option(help=f"port  [default: {PORT}, or one from {OTHERS[0]} on that is free]")] = None,
    host: Annotated[str, typer.Option(help="address to listen on; anyone who can reach it can use the page")] = LOOPBACK,
    runs: Annotated[Path, typer.Option(help="folder with the runs")] = Path("runs"),
    no_browser: Annotated[bool, typer.Option("--no-browser", help="do not open a browser")] = False,
) -> None:
    """Open the page: play, watch, analyse, get coached, train.

    By default only this machine can reach it, at 127.0.0.1. Ctrl-C stops it; a run that was started on the page keeps what it
    has learned.
    """
    if port is not None and not 1 <= port <= 65535:
        raise InputError(f"a port is 1 to 65535, not {port}")
    if port in BLOCKED:
        raise InputError(f"browsers refuse to open port {port}, which belongs to another service; choose another port")
    if model is not None:
        from afterstate.learning.runfolder import find_model
        from afterstate.network.modelfile import read_header

        read_header(find_model(model))  # report a wrong file before anything is opened
    listening = _listen(host, port)
    with compiling():
        import uvicorn

        from afterstate.kernel import on_compile
        from afterstate.web.guard import LOOPBACK as NAMES
        from afterstate.web.library import Library
        from afterstate.web.server import make_app

    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{listening.getsockname()[1]}/"
    app = make_app(Library(runs, [model] if model else []), hosts=(*NAMES, name), any_address=host != LOOPBACK)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=ENDING,
            lifespan="on",
        )
    )
    screen = console()
    screen.print(f"the page is at {address}  (Ctrl-C to stop)")
    if not no_browser:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    try:
        with on_compile(tell_compiling):
            server.run(sockets=[listening])
    except KeyboardInterrupt:
        screen.print("stopped")


def _listen(host: str, port: int | None) -> socket.socket:
    """Open a socket for the server, on the given port or on the first free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    reason = ""
    for number in [port] if port is not None else [PORT, *OTHERS]:
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(
            socket.IPPROTO_TCP, socket.TCP_NODELAY, 1
        )  # else an answer in two parts waits 40 ms for the second
        try:
            listening.bind((host, number))
            listening.listen()  # early requests wait instead of being refused
        except OSError as error:
            listening.close()
            reason = error.strerror or str(error)
            continue
        return listening
    what = f"port {port} of {host}" if port is not None else f"port {PORT} or {OTHERS[0]} to {OTHERS[-1]} of {host}"
    raise ResourceError(f"cannot listen on {what}: {reason}; choose another with --port")
