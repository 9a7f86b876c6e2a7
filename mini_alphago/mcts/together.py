"""Several searches that share one network: while it works for one of them, the trees of the others do."""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from ..model import Evaluation
from .search import Search, answers_of


def run_together(searches: Sequence[Search], visits: Sequence[np.ndarray], noise: Sequence[np.ndarray]) -> None:
    """`run` for several searches with one `Evaluator`: while the network works for one, the trees of another do.

    visits and noise: as `run` takes them, for each search. What each search does is the same as alone.
    """
    if len(searches) == 1 or not hasattr(searches[0].evaluator, "submit"):
        for search, v, n in zip(searches, visits, noise, strict=True):
            search.run(v, n)
        return
    asking = [search.searching(v, n) for search, v, n in zip(searches, visits, noise, strict=True)]
    waiting: deque[tuple[int, Callable[[], Evaluation]]] = deque()

    def submit(lane: int, rows: np.ndarray) -> None:
        search = searches[lane]
        waiting.append((lane, search.evaluator.submit(*search.question(rows), lane)))  # type: ignore[attr-defined]

    try:
        for lane, search in enumerate(searches):
            search.use_lane(lane)
            with contextlib.suppress(StopIteration):
                submit(lane, next(asking[lane]))
        while waiting:
            lane, collect = waiting.popleft()
            started = time.perf_counter()
            answers = answers_of(collect())
            searches[lane].network_seconds += time.perf_counter() - started
            with contextlib.suppress(StopIteration):
                submit(lane, asking[lane].send(answers))
    finally:
        for each in asking:
            each.close()
