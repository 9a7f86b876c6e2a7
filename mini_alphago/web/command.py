"""`mini-alphago play`: from the command line to a page in the browser, and back by Ctrl-C."""

import asyncio
import contextlib
import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn

from ..model import SHIPPED
from .server import create_app
from .settings import LOADING, LOOPBACK, SEARCHING, ServerSettings

PORT = 8123
_TRIES = 50  # ports
_LARGEST_FRAME = 4_000_000  # bytes; beyond it the connection ends, between it and the longest message it goes on
PARENT = "MINI_ALPHAGO_PARENT"  # the process to end with, if set; see `training.page`


def play(
    model: str | None,
    run: str | None,
    visits: int,
    host: str,
    port: int | None,
    browser: bool,
    device: str,
    precision: str,
) -> None:
    """Serve until Ctrl-C. ValueError or OSError, in one sentence, if it cannot be."""
    if not 1 <= visits <= 100_000:
        raise ValueError(f"visits is {visits}: it is 1 to 100000")
    if model is not None and model != SHIPPED and not Path(model).exists():
        raise ValueError(f"{model}: there is no such network")
    if run is not None and not (Path(run) / "config.toml").exists():
        raise ValueError(f"{run}: there is no training run here; mini-alphago train --run {run} begins one")
    listening = _listen(host, port)
    local = _is_loopback(listening)
    parent = int(os.environ.get(PARENT, "0"))
    settings = ServerSettings(
        model, run, visits, device, precision,
        token=None if local else secrets.token_urlsafe(24),
        hosts=LOOPBACK | {host.lower()} if local else None,
        lazy=parent > 0,
    )  # fmt: skip
    _serve(settings, listening, _address(host, listening, settings.token), browser, parent)


def _serve(settings: ServerSettings, listening: socket.socket, address: str, browser: bool, parent: int) -> None:
    failures: list[Exception] = []

    def failed(error: Exception) -> None:
        failures.append(error)
        server.should_exit = True

    server = _Server(server_config(settings, failed), address, browser, bool(settings.token), parent)
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listening])
    if failures:
        raise failures[0]
    print("\nThe board is closed.")
    sys.stdout.flush()
    if any(thread.name in (LOADING, SEARCHING) for thread in threading.enumerate()):
        os._exit(0)  # in the middle of compiling or loading, which nothing can interrupt and nobody waits for


def server_config(settings: ServerSettings, on_failure: Callable[[Exception], None]) -> uvicorn.Config:
    """What uvicorn is to serve, and within which bounds; `on_failure`: see `create_app`."""
    return uvicorn.Config(
        create_app(settings, on_failure), log_level="warning", server_header=False, timeout_graceful_shutdown=2,
        limit_concurrency=1000, ws_max_size=_LARGEST_FRAME, ws_max_queue=8, ws_per_message_deflate=False,
    )  # fmt: skip


class _Server(uvicorn.Server):
    """Says where it is once it listens, and ends with its parent."""

    def __init__(self, config: uvicorn.Config, address: str, browser: bool, guarded: bool, parent: int) -> None:
        super().__init__(config)
        self._address, self._browser, self._guarded, self._parent = address, browser, guarded, parent

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's."""
        await super().startup(sockets)
        print(f"The board is at {self._address} (Ctrl-C ends it)", flush=True)
        if self._guarded:
            print("Other machines can reach it; whoever has this address, token and all, can use it.", flush=True)
        if self._browser:
            threading.Thread(target=webbrowser.open, args=(self._address,), daemon=True).start()
        if self._parent:
            self._watching = asyncio.create_task(self._watch_parent())

    async def _watch_parent(self) -> None:
        while os.getppid() == self._parent:
            await asyncio.sleep(1.0)
        self.should_exit = True


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket on the port, or, if none was asked for and the usual one is taken, on the next that is free."""
    first = PORT if port is None else port
    if not 0 <= first <= 65535:
        raise ValueError(f"port is {first}: it is 0 to 65535")
    try:
        family, _, _, _, _ = socket.getaddrinfo(host, first, type=socket.SOCK_STREAM)[0]
    except OSError:
        raise ValueError(f"there is no host {host!r} to listen on") from None
    for number in range(first, first + (1 if port is not None else _TRIES)):
        listening = socket.socket(family, socket.SOCK_STREAM)
        if os.name != "nt":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, number))
            listening.listen(128)
            if number != first:
                print(f"Port {first} is taken, so it is {number}.")
            return listening
        except OSError as error:
            listening.close()
            reason = error.strerror
    what = f"port {first}" if port is not None else f"ports {first} to {first + _TRIES - 1}"
    raise ValueError(f"cannot listen on {what} of {host} ({reason}): choose another with --port")


def _is_loopback(listening: socket.socket) -> bool:
    name = str(listening.getsockname()[0])
    return name.startswith("127.") or name == "::1"


def _address(host: str, listening: socket.socket, token: str | None) -> str:
    """Where a person goes."""
    bound, port = listening.getsockname()[:2]
    name = host
    if bound in ("0.0.0.0", "::"):
        name = _own_address()
    if ":" in name:
        name = f"[{name}]"
    address = f"http://{name}:{port}/"
    assert urlsplit(address).port == port
    return f"{address}?token={token}" if token else address


def _own_address() -> str:
    """The address of this machine in its network, as far as it can be told without asking anybody."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address for documentation; nothing is sent
            return str(probe.getsockname()[0])
        except OSError:
            return "localhost"
