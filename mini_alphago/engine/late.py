"""An evaluator that is still being made: a client need not wait for it before it says hello."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..game.state import Games
from ..model import Evaluation

if TYPE_CHECKING:
    from ..model import Evaluator


class LateEvaluator:
    """Stands for an `Evaluator` that a thread makes; whoever asks it anything waits until it is there."""

    def __init__(self, make: "Callable[[], Evaluator]") -> None:
        self._make = make
        self._made: Evaluator | None = None
        self._error: BaseException | None = None
        # No daemon: a program that ended while PyTorch is being loaded would crash.
        self._thread = threading.Thread(target=self._run)

    def start(self) -> None:
        """Let the thread begin, if it has not yet; else it does when somebody asks."""
        if self._thread.ident is None:
            self._thread.start()

    def _run(self) -> None:
        try:
            self._made = self._make()
        except BaseException as error:
            self._error = error

    def get(self) -> "Evaluator":
        """The evaluator itself; what went wrong in making it is raised here."""
        self.start()
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
