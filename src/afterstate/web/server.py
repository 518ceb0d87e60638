"""The server and its addresses. It keeps no games: a page sends all that is needed, so nothing is lost if the server stops."""

import asyncio
import hashlib
import inspect
import os
import re
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from importlib import resources
from importlib.metadata import version
from typing import Any, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from afterstate.errors import AfterstateError, FileError, ModelError, ResourceError
from afterstate.kernel import on_compile
from afterstate.web import answers, messages
from afterstate.web.about import State, about
from afterstate.web.access import Access
from afterstate.web.guard import LOOPBACK, Guard
from afterstate.web.library import Library, UnknownError
from afterstate.web.runs import BusyError, Runs, step_back

Result = TypeVar("Result")

QUICK = 4  # threads for quick answers
QUEUE = 100  # most questions that wait for a thread; an open page has one or two at most
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
KINDS: list[tuple[type[AfterstateError], int]] = [
    (UnknownError, 404),
    (BusyError, 409),
    (answers.IllegalError, 409),
    (ModelError, 409),
    (FileError, 400),
    (ResourceError, 503),
    (AfterstateError, 400),
]
PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": messages.Problem, "description": text}
    for code, text in {
        400: "the input is wrong",
        401: "the token is missing or wrong",
        404: "not found",
        409: "not possible now, or against the rules",
        413: "too large",
        415: "not JSON",
        422: "the request does not match this description",
        503: "too busy, or too little memory",
    }.items()
}


class Beginning:
    """State of the server while it loads and compiles what the first questions need."""

    def __init__(self) -> None:
        self.state: State = "starting"

    def warm_up(self, library: Library) -> None:
        try:
            with on_compile(self._compiling):
                answers.warm_up(library)
        finally:
            self.state = "ready"

    def _compiling(self) -> None:
        self.state = "compiling"

    def now(self) -> State:
        return self.state


class Work:
    """Threads that answer. Long work has its own, so that a hint never waits for it."""

    def __init__(self) -> None:
        self.quick = ThreadPoolExecutor(QUICK, thread_name_prefix="quick")
        self.long = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="long", initializer=step_back)
        self.waiting = 0

    async def run(self, pool: ThreadPoolExecutor, work: Callable[..., Result], *arguments: Any) -> Result:
        if self.waiting >= QUEUE:
            raise ResourceError("too many requests at once: try again in a moment")
        self.waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, work, *arguments)
        finally:
            self.waiting -= 1

    def close(self) -> None:
        self.quick.shutdown(wait=False, cancel_futures=True)
        self.long.shutdown(wait=False, cancel_futures=True)


def make_app(
    library: Library, *, hosts: tuple[str, ...] = LOOPBACK, any_address: bool = False, access: Access | None = None
) -> FastAPI:
    """Make the server. It answers to the names in `hosts`, to any IP address if `any_address`, and to whom `access` lets in."""
    runs, work, beginning = Runs(library), Work(), Beginning()
    access = access or Access()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        work.long.submit(beginning.warm_up, library)
        yield
        await asyncio.to_thread(runs.close)
        work.close()

    app = FastAPI(
        title="Afterstate", version=version("afterstate"), lifespan=life, docs_url=None, redoc_url=None, responses=PROBLEMS,
        description="Ask a player of 2048, Threes! or your own game for a move, let it explain, play, coach and train.",
    )  # fmt: skip
    app.add_middleware(Guard, hosts=hosts, any_address=any_address, access=access)
    _add_problems(app)
    _add_page(app)
    _add_userscript(app, access)
    _add_routes(app, library, runs, work, beginning)
    return app


def _add_problems(app: FastAPI) -> None:
    """Answer every error with one sentence."""

    @app.exception_handler(AfterstateError)
    async def ours(request: Request, error: AfterstateError) -> JSONResponse:
        status = next(status for kind, status in KINDS if isinstance(error, kind))
        return JSONResponse({"error": str(error)}, status)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return JSONResponse({"error": f"{where}: {first['msg']}" if where else str(first["msg"])}, 422)

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": str(error.detail)}, error.status_code, dict(error.headers or {}))


def _add_page(app: FastAPI) -> None:
    """Give every file of the page its own address; a request cannot name a path."""
    for file in resources.files("afterstate.web").joinpath("page").iterdir():
        suffix = file.name[file.name.rfind(".") :]
        if suffix in TYPES:
            address = "/" if file.name == "index.html" else f"/{file.name}"
            app.get(address, include_in_schema=False)(_serve(file.read_bytes(), TYPES[suffix]))


def _add_userscript(app: FastAPI, access: Access) -> None:
    """The script that lets a model play on the page of `--allow-origin`: made for that site, this server and its key."""
    text = resources.files("afterstate.web").joinpath("userscript.js").read_text(encoding="utf-8")

    @app.get("/afterstate.user.js", include_in_schema=False)
    async def userscript(request: Request) -> Response:
        if access.origin is None:
            raise UnknownError("the script is made for one site: start the server with --allow-origin https://SITE")
        filled = {"SITE": access.origin, "SERVER": f"http://{request.headers['host']}", "KEY": access.key or ""}
        content = re.sub(r"@@(\w+)@@", lambda found: filled[found[1]], text)
        return Response(content, media_type="text/javascript; charset=utf-8", headers={"cache-control": "no-store"})


def _serve(content: bytes, kind: str) -> Callable[[Request], Response]:
    tag = f'"{hashlib.blake2s(content, digest_size=8).hexdigest()}"'
    headers = {"cache-control": "no-cache", "etag": tag}

    async def serve(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=f"{kind}; charset=utf-8", headers=headers)

    return serve  # type: ignore[return-value]


def _answering(work: Work, pool: ThreadPoolExecutor, answer: Callable[..., Any], *known: Any) -> Callable[..., Any]:
    """Make an endpoint that runs `answer` in a thread. `known` are its first arguments; a request gives the others."""
    described = inspect.signature(answer, eval_str=True)
    parameters = list(described.parameters.values())[len(known) :]

    async def endpoint(**given: Any) -> Any:
        return await work.run(pool, partial(answer, *known, **given))

    endpoint.__name__ = answer.__name__
    endpoint.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters],
        return_annotation=described.return_annotation,
    )
    return endpoint


def _add_routes(app: FastAPI, library: Library, runs: Runs, work: Work, beginning: Beginning) -> None:
    """Add all addresses of the API. Each has a message, an answer, and a line here."""

    def add(tag: str, method: str, path: str, summary: str, answer: Callable[..., Any], **more: Any) -> None:
        app.add_api_route(f"/api/{path}", answer, methods=[method], tags=[tag], summary=summary, **more)

    def quick(answer: Callable[..., Any], *known: Any) -> Callable[..., Any]:
        return _answering(work, work.quick, answer, *known)

    def long(answer: Callable[..., Any], *known: Any) -> Callable[..., Any]:
        return _answering(work, work.long, answer, *known)

    games, models, training = "Games", "Questions to a model", "Training"
    add(games, "GET", "about", "Games, rule sets, sizes and limits", quick(about, beginning.now))
    add(games, "POST", "new", "A first state", quick(answers.new))
    add(games, "POST", "replay", "Replay a game from its seed and its moves", quick(answers.replay))
    add(games, "POST", "slide", "One slide, and the new tile", quick(answers.slide))
    add(games, "POST", "watch", "Some moves by a model", long(answers.watch, library))
    add(models, "GET", "models", "The models that can be asked", quick(library.models))
    add(models, "POST", "move", "Here is my board, what now?", quick(answers.move, library))
    add(models, "GET", "move", "The same for a shell or a bookmark", quick(answers.move_by_address, library))
    add(models, "POST", "analyse", "The four values, and how the game could continue", quick(answers.analyse, library))
    why = "Why a slide has its value: each pattern's and each cell's share"
    add(models, "POST", "explain", why, quick(answers.explain, library))
    add(models, "POST", "coach", "Review a game: regret, luck, the worst moves", long(answers.coach, library))
    add(training, "GET", "runs", "Training runs and recipes", quick(runs.all))
    add(training, "POST", "runs", "Start a training run", quick(runs.start), status_code=201)
    add(training, "GET", "runs/{run}", "What a run has measured", quick(runs.records))
    add(training, "POST", "runs/{run}/stop", "Stop a run; it keeps all it has learned", quick(runs.stop))
    add(training, "POST", "runs/{run}/resume", "Resume a run", quick(runs.resume))
