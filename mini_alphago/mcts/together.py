"""Several searches that share one network: while it works for one of them, the trees of the others do."""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence

import numpy as np

from .arrays import Answers
from .search import Search


class Turns:
    """Searches that take turns, each with one question on its way to the network; what each finds is as if alone.

    The order of the turns is that of the questions, whatever time an answer takes.
    """

    def __init__(self, searches: Sequence[Search]) -> None:
        self._searches = searches
        self._asking: dict[int, Generator[np.ndarray, Answers, None]] = {}  # by lane: searches under way
        self._waiting: deque[tuple[int, Callable[[], Answers]]] = deque()

    def begin(self, lane: int, visits: np.ndarray, noise: np.ndarray) -> None:
        """Let that search, which is not under way, begin as `Search.run` would."""
        self._searches[lane].use_lane(lane)
        self._asking[lane] = self._searches[lane].searching(visits, noise)
        self._go_on(lane, None)

    def __contains__(self, lane: int) -> bool:
        """Whether that search is under way."""
        return lane in self._asking

    def finish(self, lane: int) -> None:
        """Return when that search is through, or never began; the others go on meanwhile."""
        while lane in self._asking:
            turn, collect = self._waiting.popleft()
            started = time.perf_counter()
            try:
                answers = collect()
            except BaseException:
                self.rest()
                raise
            self._searches[turn].network_seconds += time.perf_counter() - started
            self._go_on(turn, answers)

    def rest(self) -> None:
        """Give up all searches that are under way; their trees are empty then."""
        for asking in self._asking.values():
            asking.close()
        self._asking.clear()
        while self._waiting:
            _, collect = self._waiting.popleft()
            with contextlib.suppress(FloatingPointError, RuntimeError):  # nobody wants the answer
                collect()  # until then the device may still read and write the memory of that lane

    def _go_on(self, lane: int, answers: Answers | None) -> None:
        try:
            rows = self._asking[lane].send(answers)  # type: ignore[arg-type]
            started = time.perf_counter()
            collect = self._searches[lane].submit(rows, lane)
            # Where no device works beside the CPU, this is when the answers are made.
            self._searches[lane].network_seconds += time.perf_counter() - started
            self._waiting.append((lane, collect))
        except StopIteration:
            del self._asking[lane]
        except BaseException:
            self.rest()
            raise
