"""afterstate play: serve the page and open a browser."""

import secrets
import socket
import threading
import webbrowser
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterstate.cli.common import MODEL, compiling, console, tell_compiling
from afterstate.errors import InputError, ResourceError
from afterstate.files import is_folder

if TYPE_CHECKING:
    from afterstate.web.access import Access

PORT = 2048
OTHERS = range(20480, 20500)  # tried if PORT is taken
# ports above 1024 that browsers refuse, since they belong to other services
BLOCKED = {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, *range(6665, 6670), 6679, 6697, 10080}
LOOPBACK = "127.0.0.1"
ENDING = 3  # seconds to finish pending answers when the server stops


def register(app: typer.Typer) -> None:
    app.command()(play)


def play(
    model: Annotated[Path | None, typer.Argument(help=f"{MODEL}  [default: the models of all runs and of the package]")] = None,
    port: Annotated[int | None, typer.Option(help=f"port  [default: {PORT}, or one from {OTHERS[0]} on that is free]")] = None,
    host: Annotated[str, typer.Option(help="address to listen on; whoever reaches it needs the token")] = LOOPBACK,
    token: Annotated[
        str | None, typer.Option(envvar="AFTERSTATE_TOKEN", help="the token of the link  [default: a new one at each start]")
    ] = None,
    no_token: Annotated[bool, typer.Option("--no-token", help="let every user of this machine in, without a token")] = False,
    allow_origin: Annotated[
        str | None, typer.Option(help="a foreign site whose pages may ask for moves, such as https://example.org")
    ] = None,
    runs: Annotated[Path, typer.Option(help="folder with the runs")] = Path("runs"),
    no_browser: Annotated[bool, typer.Option("--no-browser", help="do not open a browser")] = False,
) -> None:
    """Open the page: play, watch, analyse, get coached, train.

    By default only this machine can reach it, at 127.0.0.1, and only with the token of the link that is printed. Ctrl-C stops
    it; a run that was started on the page keeps what it has learned.
    """
    if port is not None and not 1 <= port <= 65535:
        raise InputError(f"a port is 1 to 65535, not {port}")
    if port in BLOCKED:
        raise InputError(f"browsers refuse to open port {port}, which belongs to another service; choose another port")
    access = _access(host, token, no_token=no_token, origin=allow_origin)
    if model is not None:
        from afterstate.learning.runfolder import find_model
        from afterstate.network.modelfile import read_header

        path = find_model(model)
        read_header(path)  # report a wrong file before anything is opened
        model = model if is_folder(model) and path.is_relative_to(model) else path
    listening = _listen(host, port)
    with compiling():
        import uvicorn

        from afterstate.kernel import on_compile
        from afterstate.network.shipped import shipped_models
        from afterstate.web.connections import configure
        from afterstate.web.guard import LOOPBACK as NAMES
        from afterstate.web.library import Library
        from afterstate.web.server import make_app

    names = (*NAMES, _as_name(host))
    library = Library(runs, [model] if model else [], shipped=[shipped.path for shipped in shipped_models()])
    app = make_app(library, hosts=names, any_address=host != LOOPBACK, access=access)
    server = uvicorn.Server(configure(app, ending=ENDING))
    address = f"http://{_as_name(_reachable(host))}:{listening.getsockname()[1]}/"
    _tell(access, address, runs, exposed=not _is_here(host))
    if not no_browser:
        threading.Timer(0.5, webbrowser.open, [access.link_once(address)]).start()
    try:
        with on_compile(tell_compiling):
            server.run(sockets=[listening])
    except KeyboardInterrupt:
        console().print("stopped")


def _access(host: str, token: str | None, *, no_token: bool, origin: str | None) -> "Access":
    """Who may come in, as the options say."""
    from afterstate.web.access import Access, check_origin, check_token

    if no_token:
        if token is not None:
            raise InputError("--no-token contradicts --token (or AFTERSTATE_TOKEN): leave one of them out")
        if not _is_here(host):
            raise InputError(f"--no-token is for this machine only: at {host}, everybody on the network could use the page")
    else:
        token = secrets.token_urlsafe(16) if token is None else check_token(token)
    return Access(token, origin=None if origin is None else check_origin(origin))


def _tell(access: "Access", address: str, runs: Path, *, exposed: bool) -> None:
    """Print the link, and what it opens."""
    screen = console()
    screen.print(f"the page is at {access.link(address)}  (Ctrl-C to stop)", soft_wrap=True)  # a link must not be broken
    if exposed:
        screen.print(
            "other machines can reach it: whoever has this link can play, ask your models, and start, stop and change the "
            f"training runs in {runs}; nothing is encrypted, so others on the way can read the link"
        )
    if access.origin is not None:
        screen.print(f"pages of {access.origin} may ask for moves; the script for them is at {address}afterstate.user.js")


def _is_here(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _as_name(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _reachable(host: str) -> str:
    """An address that a link can name: 0.0.0.0 and :: mean every address of this machine, so one of them is taken."""
    if host not in {"0.0.0.0", "::"}:
        return host
    family, elsewhere = (socket.AF_INET, "192.0.2.1") if host == "0.0.0.0" else (socket.AF_INET6, "2001:db8::1")
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))  # sends nothing; the system only chooses the address that it would send from
            return str(probe.getsockname()[0])
    except OSError:
        return LOOPBACK if family == socket.AF_INET else "::1"


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
