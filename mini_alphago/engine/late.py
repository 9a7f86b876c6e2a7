"""An evaluator that is still being made: a client need not wait for it before it says hello."""

import threading
from collections.abc import Callable
from typing import Any

from ..game.state import Games
from ..model import Evaluation, Evaluator


class LateEvaluator:
    """Stands for an `Evaluator` that a thread is making; whoever asks it anything waits until it is there."""

    def __init__(self, make: Callable[[], Evaluator]) -> None:
        self._made: Evaluator | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(make,), daemon=True)
        self._thread.start()

    def _run(self, make: Callable[[], Evaluator]) -> None:
        try:
            self._made = make()
        except BaseException as error:
            self._error = error

    def get(self) -> Evaluator:
        """The evaluator itself; what went wrong in making it is raised here."""
        self._thread.join()
        if self._made is None:
            raise self._error or RuntimeError("no evaluator was made")
        return self._made

    def evaluate(self, states: Games) -> Evaluation:
        """As `Evaluator.evaluate`."""
        return self.get().evaluate(states)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.get(), name)
