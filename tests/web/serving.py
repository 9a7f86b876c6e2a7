"""A real server on a free port, and clients that talk to it."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import uvicorn
from websockets.sync.client import connect

from mini_alphago.web.command import server_config
from mini_alphago.web.settings import ServerSettings

GAME = {"boardXSize": 5, "boardYSize": 5, "komi": 0.5, "rules": "chinese", "moves": []}


def game(*vertices: str, **changes: Any) -> dict[str, Any]:
    """A game in which Black and White have played these in turn."""
    return {**GAME, "moves": [["BW"[i % 2], vertex] for i, vertex in enumerate(vertices)], **changes}


class Server:
    """Where it is, and its insides."""

    def __init__(self, port: int, app: Any) -> None:
        self.port, self.app = port, app

    @property
    def service(self) -> Any:
        return self.app.state.service.result()

    @property
    def tasks(self) -> list[Any]:
        """What is searched, or waits for it."""
        return self.service.worker.call(lambda: self.service.worker.pool.tasks).result(30)


@contextlib.contextmanager
def serving(settings: ServerSettings) -> Iterator[Server]:
    listening = socket.create_server(("127.0.0.1", 0))
    config = server_config(settings, lambda error: None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield Server(listening.getsockname()[1], config.app)
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


class Client:
    """A page, or a program, that asks one thing after the other."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self._number = 0

    def send(self, **message: Any) -> None:
        self.socket.send(json.dumps(message))

    def receive(self, timeout: float = 60) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.socket.recv(timeout=timeout))
        return answer

    def ask_all(self, type: str, **fields: Any) -> list[dict[str, Any]]:
        """All answers to a request, up to the last."""
        self._number += 1
        id = f"r{self._number}"
        self.send(id=id, type=type, **fields)
        answers = []
        while not answers or not is_last(type, answers[-1]):
            answers.append(self.receive())
            assert answers[-1]["id"] == id
        return answers

    def ask(self, type: str, **fields: Any) -> dict[str, Any]:
        """The last answer."""
        return self.ask_all(type, **fields)[-1]


def is_last(asked: str, answer: dict[str, Any]) -> bool:
    if answer["type"] == "analysis":
        return asked == "analyze" and bool(answer["done"])
    return answer["type"] != "progress"


@contextlib.contextmanager
def client(server: Server, path: str = "/ws", **options: Any) -> Iterator[Client]:
    with connect(f"ws://127.0.0.1:{server.port}{path}", max_size=None, **options) as socket:
        yield Client(socket)


def wait_for(condition: Any, seconds: float = 30) -> None:
    """Until it is true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
