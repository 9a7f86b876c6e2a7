"""What waits to be sent to a client: bounded, and with newer reports in place of older ones."""

import asyncio
import contextlib
import itertools
import json
from collections.abc import Awaitable, Callable, Hashable
from typing import Any

_MANY_MESSAGES = 32  # waiting, and the client is not listened to until there are fewer
_MOST_MESSAGES = 512  # waiting, and the client is gone
_PATIENCE = 20.0  # seconds in which a client takes one message


class SlowClient(Exception):
    """A client that does not read what it asked for."""


class Outbox:
    """Messages of any thread to one client, whose connection lives in the event loop that makes this."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._messages: dict[Hashable, dict[str, Any]] = {}
        self._numbers = itertools.count()
        self._something, self._room = asyncio.Event(), asyncio.Event()
        self._room.set()
        self._closed = False

    def put(self, message: dict[str, Any], replaces: Hashable = None) -> None:
        """Send this; `replaces` names what it is about, and an older message about the same is not sent any more."""
        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it the connection
            self._loop.call_soon_threadsafe(self._put, message, replaces)

    def _put(self, message: dict[str, Any], replaces: Hashable) -> None:
        if not self._closed:
            self._messages[("number", next(self._numbers)) if replaces is None else replaces] = message
            self._something.set()
            if len(self._messages) >= _MANY_MESSAGES:
                self._room.clear()

    async def room(self) -> None:
        """Wait until it makes sense to let the client ask for more."""
        await self._room.wait()

    async def send_all(self, send: Callable[[str], Awaitable[None]]) -> None:
        """Send whatever comes, for ever. SlowClient if too much waits, or one message for too long."""
        try:
            while True:
                await self._something.wait()
                self._something.clear()
                while self._messages:
                    if len(self._messages) > _MOST_MESSAGES:
                        raise SlowClient
                    message = self._messages.pop(next(iter(self._messages)))
                    if len(self._messages) < _MANY_MESSAGES:
                        self._room.set()
                    await asyncio.wait_for(send(json.dumps(message)), _PATIENCE)
        except TimeoutError:
            raise SlowClient from None
        finally:
            self._closed = True
            self._messages.clear()
