"""The learner of a run as an actor of the cluster: the same training loop, with workers elsewhere."""

import threading
import time
from collections import deque
from typing import Any

from ..training.config import from_toml
from ..training.display import Display
from ..training.loop import Summary, train
from .connect import connect
from .workers import RayWorkers

_OFTEN = 0.2  # seconds between two looks at what is going on


class FarDisplay(Display):
    """Keeps what is to be shown until somebody comes for it: method and arguments."""

    def __init__(self) -> None:
        self._calls: deque[tuple[str, tuple[Any, ...]]] = deque(maxlen=10_000)
        self._shown: dict[str, float] = {}

    def began(self) -> None:
        """The folder is there, and the run is shown."""
        self._note("began")

    def take(self) -> list[tuple[str, tuple[Any, ...]]]:
        """What there is, each once."""
        return [self._calls.popleft() for _ in range(len(self._calls))]

    def _note(self, name: str, *arguments: Any) -> None:
        self._calls.append((name, arguments))

    def _note_rarely(self, name: str, *arguments: Any) -> None:
        if time.monotonic() - self._shown.get(name, 0.0) > _OFTEN:
            self._shown[name] = time.monotonic()
            self._note(name, *arguments)

    def start(self, *arguments: Any) -> None:
        """See `Display`."""
        self._note("start", *arguments)

    def phase(self, name: str, done: float, total: float, details: str = "") -> None:
        """See `Display`."""
        self._note_rarely("phase", name, done, total, details)

    def iteration(self, metrics: dict[str, Any]) -> None:
        """See `Display`."""
        self._note("iteration", metrics)

    def game(self, board_text: str, caption: str) -> None:
        """See `Display`."""
        self._note_rarely("game", board_text, caption)

    def say(self, text: str) -> None:
        """See `Display`."""
        self._note("say", text)


class Learner:
    """The training of one run, on the machine that has its folder. One thread runs it, others ask and stop it."""

    def __init__(self) -> None:
        self._display = FarDisplay()
        self._stop = threading.Event()

    def run(self, settings: str, run: str, init: str | None, gpus: float) -> Summary:
        """Train until the end. Errors are those of `train`."""
        ray, config, display = connect(), from_toml(settings), self._display
        node = ray.get_runtime_context().get_node_id()
        training = train(
            config, run, display, init, self._stop, lambda _: config, display.began,
            lambda evaluator, config, folder: RayWorkers(ray, evaluator, config, folder, display.say, (node, gpus)),
        )  # fmt: skip
        return training.summary()

    def shown(self) -> list[tuple[str, tuple[Any, ...]]]:
        """What it has to show since this was asked last; waits a little."""
        time.sleep(_OFTEN)
        return self._display.take()

    def stop(self) -> None:
        """Stop soon; nothing is lost."""
        self._stop.set()
