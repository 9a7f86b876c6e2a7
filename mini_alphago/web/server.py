"""The server: the page's files, what it is told about the server, and the WebSockets.

Everything heavy is imported in a thread after the server has begun to answer: the page is there at once.
"""

import asyncio
import contextlib
import hmac
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from .outbox import Outbox, SlowClient
from .settings import LOADING, LONGEST_MESSAGE, ServerSettings

if TYPE_CHECKING:
    from .service import Service

STATIC = Path(__file__).parent / "static"
_COOKIE = "mini-alphago-token"
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_REFUSED, _TOO_SLOW = 1008, 1013  # why a WebSocket is closed
_FOREVER, _EACH_TIME = "public, max-age=31536000, immutable", "no-cache"


def create_app(settings: ServerSettings, on_failure: Callable[[Exception], None] | None = None) -> Starlette:
    """The application. `on_failure` is told if a network or a run cannot be loaded; nothing can be asked then."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.service = _load(settings, on_failure or _nothing)
        watching = asyncio.create_task(_watch(app.state.service))
        try:
            yield
        finally:
            watching.cancel()
            if app.state.service.done() and not app.state.service.exception():
                await asyncio.to_thread(app.state.service.result().worker.stop, 5.0)

    routes = [
        Route("/api/info", _info),
        WebSocketRoute("/ws", _page),
        WebSocketRoute("/analysis", _analysis),
        Mount("/", _Files()),
    ]
    app = Starlette(routes=routes, lifespan=lifespan, middleware=[Middleware(_Guard, settings=settings)])
    app.state.settings = settings
    return app


def _nothing(error: Exception) -> None:
    """Nobody wants to know."""


def _load(settings: ServerSettings, on_failure: Callable[[Exception], None]) -> "asyncio.Future[Service]":
    """The service, made in a thread that nobody waits for at the end."""
    loop = asyncio.get_running_loop()
    loaded: asyncio.Future[Service] = loop.create_future()
    loaded.add_done_callback(lambda future: future.exception())  # whoever asks is told; nobody need ask

    def make() -> None:
        def settle() -> None:
            if error is None:
                loaded.set_result(service)
            else:
                loaded.set_exception(error)
                on_failure(error)

        error = None
        try:
            from .service import Service

            service = Service(settings)
        except Exception as problem:
            error = problem
        with contextlib.suppress(RuntimeError):  # the server has ended meanwhile
            loop.call_soon_threadsafe(settle)

    threading.Thread(target=make, name=LOADING, daemon=True).start()
    return loaded


async def _watch(loaded: "asyncio.Future[Service]") -> None:
    """Tell those who watch the run about it."""
    await (await asyncio.shield(loaded)).watch()


async def _service(connection: HTTPConnection) -> "Service":
    """The service, once it is loaded."""
    loaded: asyncio.Future[Service] = connection.app.state.service
    return await asyncio.shield(loaded)


# --- who may ask ------------------------------------------------------------------------------------------------------


class _Guard:
    """Refuses what comes from elsewhere, and puts the headers on everything else."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        refusal = self._refusal(connection)
        if refusal is None:
            await self._app(scope, receive, self._with_headers(connection, send))
        elif scope["type"] == "http":
            await JSONResponse({"message": refusal}, 403, headers=_HEADERS)(scope, receive, send)
        else:
            await WebSocket(scope, receive, send).close(_REFUSED, refusal)

    def _refusal(self, connection: HTTPConnection) -> str | None:
        """Why this is not answered; None if it is."""
        host, origin = connection.headers.get("host", ""), connection.headers.get("origin")
        if self._settings.hosts is not None and _name(host) not in self._settings.hosts:
            return "the server does not know itself by this name"
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return "pages of other sites may not ask here"
        path = connection.url.path
        if self._settings.token and (path.startswith("/api/") or path in ("/ws", "/analysis")):
            given = connection.query_params.get("token") or connection.cookies.get(_COOKIE) or ""
            if not self._is_token(given):
                return "this server wants the token of the address that it printed when it started"
        return None

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), (self._settings.token or "").encode())

    def _with_headers(self, connection: HTTPConnection, send: Send) -> Send:
        token = connection.query_params.get("token", "")
        keep = bool(self._settings.token) and connection.url.path == "/" and self._is_token(token)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = dict(_HEADERS)
                if keep:  # so that a reload without the token in the address goes on working
                    added["Set-Cookie"] = f"{_COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/"
                pairs = [(name.lower().encode(), value.encode()) for name, value in added.items()]
                message["headers"] = [*message["headers"], *pairs]
            await send(message)

        return send_with_headers


def _name(host: str) -> str:
    """The name in a Host header, without port and brackets."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


# --- what is asked by HTTP --------------------------------------------------------------------------------------------


async def _info(request: Request) -> Response:
    service = await _service(request)
    return JSONResponse(await asyncio.to_thread(service.info), headers={"Cache-Control": "no-store"})


class _Files:
    """The page as it was built; a word instead if it was not."""

    def __init__(self) -> None:
        self._files = StaticFiles(directory=STATIC, html=True, check_dir=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await WebSocket(scope, receive, send).close(_REFUSED, "there is nothing here")
            return
        if not (STATIC / "index.html").exists():
            text = "The page was not built: `make web` does it. The WebSockets /ws and /analysis work.\n"
            await PlainTextResponse(text, 503)(scope, receive, send)
            return
        # Vite puts a hash of the content into the names of what lies in assets/.
        keep = _FOREVER if "/assets/" in scope["path"] else _EACH_TIME

        async def send_with_age(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (200, 304):
                message["headers"] = [*message["headers"], (b"cache-control", keep.encode())]
            await send(message)

        await self._files(scope, receive, send_with_age)


# --- WebSockets -------------------------------------------------------------------------------------------------------


async def _page(socket: WebSocket) -> None:
    """The page's own protocol."""
    await socket.accept()
    service = await _service(socket)
    from .session import Session

    outbox = Outbox()
    await _talk(socket, outbox, Session(service, outbox))


async def _analysis(socket: WebSocket) -> None:
    """The JSON protocol of the analysis engine."""
    await socket.accept()
    service = await _service(socket)
    from .kata import KataSession

    outbox = Outbox()
    await _talk(socket, outbox, KataSession(service, outbox))


class _Talks(Protocol):
    """What answers a client."""

    def handle(self, text: str) -> None:
        """Answer a message, or begin to."""

    def refuse(self, message: str) -> None:
        """Say what is wrong with what is no message."""

    def close(self) -> None:
        """The client is gone."""


async def _talk(socket: WebSocket, outbox: Outbox, session: _Talks) -> None:
    """Handle one message after the other and send what there is to send, until the client goes or does not read."""

    async def listen() -> None:
        while True:
            await outbox.room()
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            if text is None:
                session.refuse("a message is text, not bytes")
            elif len(text) > LONGEST_MESSAGE:
                session.refuse(f"a message has at most {LONGEST_MESSAGE} characters")
            else:
                await asyncio.to_thread(session.handle, text)

    tasks = [asyncio.create_task(listen()), asyncio.create_task(outbox.send_all(socket.send_text))]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if any(isinstance(task.exception(), SlowClient) for task in done):
            with contextlib.suppress(Exception):
                await asyncio.wait_for(socket.close(_TOO_SLOW, "the client does not read"), 1.0)
    finally:
        session.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
