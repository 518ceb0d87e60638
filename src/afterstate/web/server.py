"""The server: what each address does. It holds no game: a page sends what is needed, so nothing is lost with the server."""

import asyncio
import hashlib
import os
import secrets
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib import resources
from importlib.metadata import version
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from afterstate.errors import AfterstateError, FileError, ModelError, ResourceError
from afterstate.games.game import Game, game_names, make, rule_sets, sizes
from afterstate.kernel import on_compile
from afterstate.web import answers, messages
from afterstate.web.guard import LOOPBACK, Guard
from afterstate.web.library import Library, UnknownError
from afterstate.web.runs import BusyError, Runs, step_back

Result = TypeVar("Result")

QUICK = 4  # threads for what is answered at once
QUEUE = 100  # questions that may wait for a thread; there are never more than one or two for each open page
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
        400: "what was sent cannot be used",
        404: "there is no such thing",
        409: "not now, or not by the rules",
        413: "too large",
        415: "not JSON",
        422: "not what is described here",
        503: "too much to do",
    }.items()
}


class Beginning:
    """How far the server is with what it loads or compiles before anyone asks."""

    def __init__(self) -> None:
        self.state: Literal["starting", "compiling", "ready"] = "starting"

    def warm_up(self, library: Library) -> None:
        try:
            with on_compile(self._compiling):
                answers.warm_up(library)
        finally:
            self.state = "ready"

    def _compiling(self) -> None:
        self.state = "compiling"


class Work:
    """Threads that answer. What takes long has its own, so that a hint never waits behind it."""

    def __init__(self) -> None:
        self.quick = ThreadPoolExecutor(QUICK, thread_name_prefix="quick")
        self.long = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="long", initializer=step_back)
        self.waiting = 0

    async def run(self, pool: ThreadPoolExecutor, work: Callable[..., Result], *arguments: Any) -> Result:
        if self.waiting >= QUEUE:
            raise ResourceError("too many questions at once: ask again in a moment")
        self.waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, work, *arguments)
        finally:
            self.waiting -= 1

    def close(self) -> None:
        self.quick.shutdown(wait=False, cancel_futures=True)
        self.long.shutdown(wait=False, cancel_futures=True)


def make_app(library: Library, *, hosts: tuple[str, ...] = LOOPBACK, any_address: bool = False) -> FastAPI:
    """The server for some models and runs; it answers to the names in `hosts`, and by its number if `any_address`."""
    runs, work, beginning = Runs(library), Work(), Beginning()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        work.long.submit(beginning.warm_up, library)
        yield
        await asyncio.to_thread(runs.close)
        work.close()

    app = FastAPI(
        title="Afterstate", version=version("afterstate"), lifespan=life, docs_url=None, redoc_url=None, responses=PROBLEMS,
        description="Ask a player of 2048, Threes! or a game of your own for a move, let it explain, play, coach and train.",
    )  # fmt: skip
    app.add_middleware(Guard, hosts=hosts, any_address=any_address)
    _add_problems(app)
    _add_page(app)
    _add_games(app, library, work, beginning)
    _add_models(app, library, work)
    _add_runs(app, runs, work)
    return app


def _add_problems(app: FastAPI) -> None:
    """Everything that goes wrong is one sentence."""

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
    """Every file of the page at an address of its own; there is no path to ask for."""
    for file in resources.files("afterstate.web").joinpath("page").iterdir():
        suffix = file.name[file.name.rfind(".") :]
        if suffix in TYPES:
            address = "/" if file.name == "index.html" else f"/{file.name}"
            app.get(address, include_in_schema=False)(_serve(file.read_bytes(), TYPES[suffix]))


def _serve(content: bytes, kind: str) -> Callable[[Request], Response]:
    tag = f'"{hashlib.blake2s(content, digest_size=8).hexdigest()}"'
    headers = {"cache-control": "no-cache", "etag": tag}

    async def serve(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=f"{kind}; charset=utf-8", headers=headers)

    return serve  # type: ignore[return-value]


def _add_games(app: FastAPI, library: Library, work: Work, beginning: Beginning) -> None:
    router = APIRouter(tags=["Games"])

    @router.get("/api/about", summary="Games, rule sets, sizes and limits")
    async def about() -> messages.About:
        games = await work.run(work.quick, lambda: [_about_game(name) for name in game_names()])
        return messages.About(version=version("afterstate"), state=beginning.state, games=games)

    @router.post("/api/new", summary="A first state")
    async def new(request: messages.NewGame) -> messages.Playing:
        seed = secrets.randbelow(10**9) if request.seed is None else request.seed
        return await work.run(work.quick, answers.begin, request, seed, "")

    @router.post("/api/replay", summary="A game again, from its seed and its moves")
    async def replay(request: messages.Replay) -> messages.Playing:
        return await work.run(work.quick, answers.begin, request, request.seed, request.moves)

    @router.post("/api/slide", summary="One slide, and the new tile")
    async def slide(request: messages.SlideRequest) -> messages.Slid:
        return await work.run(work.quick, answers.slide, request)

    @router.post("/api/watch", summary="Some moves by a model")
    async def watch(request: messages.Watch) -> messages.Watched:
        return await work.run(work.long, answers.watch, library, request)

    app.include_router(router)


def _add_models(app: FastAPI, library: Library, work: Work) -> None:
    router = APIRouter(tags=["Questions to a model"])

    @router.get("/api/models", summary="The models that can be asked")
    async def models() -> messages.Models:
        return await work.run(work.quick, library.models)

    @router.post("/api/move", summary="Here is my board, what now?")
    async def move(request: messages.Ask) -> messages.Answer:
        return await work.run(work.quick, answers.move, library, request)

    @router.post("/api/analyse", summary="The four values, and how it may go on")
    async def analyse(request: messages.Ask) -> messages.Analysis:
        return await work.run(work.quick, answers.analyse, library, request)

    @router.post("/api/explain", summary="Why a slide has its value: each pattern's and each cell's share")
    async def explain(request: messages.Why) -> messages.Explained:
        return await work.run(work.quick, answers.explain, library, request)

    @router.post("/api/coach", summary="Look back on a game: regret, luck, the worst moves")
    async def coach(request: messages.Coaching) -> messages.Coached:
        return await work.run(work.long, answers.coach, library, request)

    app.include_router(router)


def _add_runs(app: FastAPI, runs: Runs, work: Work) -> None:
    router = APIRouter(tags=["Training"])

    @router.get("/api/runs", summary="Training runs and recipes")
    async def all_runs() -> messages.Runs:
        return await work.run(work.quick, runs.all)

    @router.post("/api/runs", status_code=201, summary="Start a training run")
    async def start(request: messages.Start) -> messages.Run:
        return await work.run(work.quick, runs.start, request)

    @router.get("/api/runs/{run}", summary="What a run has measured")
    async def records(run: messages.Id, after: Annotated[int, Query(ge=0, le=10**9)] = 0) -> messages.RunRecords:
        return await work.run(work.quick, runs.records, run, after)

    @router.post("/api/runs/{run}/stop", summary="Stop a run; it keeps all it has learned")
    async def stop(run: messages.Id) -> messages.Run:
        return await work.run(work.quick, runs.stop, run)

    @router.post("/api/runs/{run}/resume", summary="Go on with a run")
    async def resume(run: messages.Id, request: messages.Resume) -> messages.Run:
        return await work.run(work.quick, runs.resume, run, request)

    app.include_router(router)


def _about_game(name: str) -> messages.AboutGame:
    """What a game says of itself, under all its rules and on all its boards."""
    every = {rules: [make(name, rules=rules, size=size) for size in sizes(name, rules)] for rules in rule_sets(name)}
    most = max((game for games in every.values() for game in games), key=lambda game: game.top)
    return messages.AboutGame(
        game=name,
        title=most.title,
        rules=[_about_rules(rules, games) for rules, games in every.items()],
        faces=[most.face(index) for index in range(most.top + 1)],
    )


def _about_rules(rules: str, games: list[Game]) -> messages.RuleSet:
    """One rule set, from its game on each board size."""
    game = games[-1]
    return messages.RuleSet(
        name=rules, note=game.note, hints=game.hints,
        sizes=[
            messages.BoardSize(
                size=str(one.shape), firsts=one.firsts, goal=one.face(one.goal) or None, example=one.example,
            )
            for one in games
        ],
        next=[messages.NextTile(text=text, words=words) for text, words in game.next_tiles.items()],
    )  # fmt: skip
