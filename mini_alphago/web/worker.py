"""The thread that owns the search: everybody's positions in one pool, and short questions to the network in between."""

import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from ..engine.pool import Pool
from .settings import SEARCHING

Result = TypeVar("Result")
_BANKS = 12
_NAP = 30.0  # seconds after which an idle thread looks whether there is memory to give back


class Worker:
    """One thread; `pool` is to be touched by what it runs, and by nobody else."""

    def __init__(self) -> None:
        self.pool = Pool(_BANKS)
        self._posted: deque[Callable[[], None]] = deque()
        self._calls: deque[Callable[[], None]] = deque()
        self._something = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name=SEARCHING, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, seconds: float) -> bool:
        """End after the step at hand; False if it has not ended by then."""
        with self._something:
            self._stopped = True
            self._something.notify()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def post(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Let the thread do this before its next step, in the order in which it is asked. It must not take long."""
        self._put(self._posted, lambda: _guarded(function, *arguments))

    def call(self, function: Callable[..., Result], *arguments: Any) -> "Future[Result]":
        """Let the thread do this; one such call between two steps, so that nobody waits for everybody's calls."""
        future: Future[Result] = Future()

        def run() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function(*arguments))
                except BaseException as error:
                    future.set_exception(error)

        self._put(self._calls, run)
        return future

    def _put(self, queue: deque[Callable[[], None]], function: Callable[[], None]) -> None:
        with self._something:
            queue.append(function)
            self._something.notify()

    def _run(self) -> None:
        while not self._stopped:
            with self._something:
                if self.pool.is_idle() and not (self._posted or self._calls or self._stopped):
                    self._something.wait(_NAP)
            while self._posted and not self._stopped:
                self._posted.popleft()()
            if self._calls and not self._stopped:
                self._calls.popleft()()
            _guarded(self.pool.step)
            self.pool.tidy()


def _guarded(function: Callable[..., Any], *arguments: Any) -> None:
    """A fault in one client's work must not end everybody's."""
    try:
        function(*arguments)
    except Exception as error:
        print(f"mini-alphago: {type(error).__name__}: {error}", file=sys.stderr)
