"""What all connections share: the networks, the thread that searches, the run that is watched."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from ..engine.pool import Task
from ..engine.status import dead_stones
from ..game import Board
from ..mcts.levels import LEVELS
from ..version import __version__
from .models import Models
from .run import Run, Snapshot
from .settings import RULES, ServerSettings
from .worker import Worker

_PATIENCE = 4.0  # seconds of getting ready before it is worth a word
_LOOK_EVERY = 1.0  # seconds between looks at the run


class Service:
    """Made once for a server. ValueError or OSError, in one sentence, if a network or a run is not there."""

    def __init__(self, settings: ServerSettings) -> None:
        self.visits = settings.visits
        self.models = Models(settings.model, settings.run, settings.device, settings.precision)
        self.run = Run(settings.run) if settings.run is not None else None
        self.worker = Worker()
        self.watchers: dict[object, Callable[[Snapshot], None]] = {}  # who wants to know about the run, and how
        self._ready = settings.lazy
        self._problem: str | None = None
        self._began = time.monotonic()
        self._looking = threading.Lock()
        self.worker.start()
        if not settings.lazy:
            self.worker.call(self._get_ready)

    def _get_ready(self) -> None:
        """Load the network and search once, which compiles what is not compiled yet."""
        try:
            models = self.models.all()
            if models:
                evaluator = self.models.evaluator(models[0])
                size = max(models[0].sizes, default=evaluator.config.board_size or 9)
                board = Board(size)
                self.worker.pool.add(Task(board=board.copy(), visits=16, evaluator=evaluator))
                while not self.worker.pool.is_idle():
                    self.worker.pool.step()
                dead_stones(board, evaluator)
        except Exception as error:
            self._problem = f"The network does not work: {' '.join(str(error).split())}"
            print(f"mini-alphago: {self._problem}", file=sys.stderr)
        self._ready = True

    def info(self) -> dict[str, Any]:
        """The answer of `/api/info`."""
        models = self.models.all()
        return {
            "version": __version__,
            "ready": self._ready,
            "trained": bool(models and models[0].trained),
            "message": self._message(bool(models), bool(models and models[0].trained)),
            "models": [model.view() for model in models],
            "levels": [{"id": level.id, "name": level.name, "about": level.about} for level in LEVELS],
            "rules": [{"id": id, "name": name} for id, name in RULES.items()],
            "run": None if self.run is None else {"name": self.run.name},
        }

    def _message(self, any_model: bool, trained: bool) -> str | None:
        seconds = time.monotonic() - self._began
        if not self._ready and seconds > _PATIENCE:
            return f"Compiling for this machine, once: {seconds:.0f} seconds so far, at most about a minute."
        if self._problem is not None:
            return self._problem
        if trained:
            return None
        if self.run is not None:
            return "The run has no trained network yet: the first is there after its first iteration."
        return (
            "There is only an untrained network here, which plays nearly at random. Train one: `mini-alphago train` "
            "takes an hour on a laptop. Then play it: `mini-alphago play --model runs/laptop`."
        )

    # --- the run ----------------------------------------------------------------------------------------------------

    async def watch(self) -> None:
        """Tell everybody who watches what is new in the run, for ever."""
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            if self.watchers:
                await asyncio.to_thread(self.look)

    def look(self) -> None:
        """Tell them now. For any thread."""
        if self.run is not None:
            with self._looking:
                now = self.run.look()
                for tell in list(self.watchers.values()):
                    tell(now)
