"""`RayWorkers`: self-play on the nodes of a Ray cluster, which may come and go while a run goes on.

The learner asks each worker to play for a second or two, again and again, and always names the newest network with it.
Games are on its disk before it does anything else with them, and when it has enough of them it asks nobody: so workers
never run far ahead, and none has to be told to slow down.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from ..game.state import Games
from ..model import Evaluator, Network
from ..training.arrivals import Arrivals, Delivery, next_worker, to_parcel
from ..training.config import TrainingConfig, to_toml
from ..training.folder import RunFolder
from ..training.records import Records, join_records
from ..training.workers import LocalWorkers, Played, Progress
from .connect import cause_of, check_version, reason_of
from .networks import fetch, weights_of
from .posts import Post, find_posts
from .worker import Worker

_SECONDS = 1.0  # that a worker plays before it sends its games
_IN_HAND = 2  # calls that a worker has, so that it never waits for the next one
_AHEAD = 1  # iterations whose games may be here before they are wanted
_BLINK = 0.2  # seconds
_LOOK = 1.0  # seconds between two looks at who is in the cluster
_GIVE_UP = 3  # workers in a row that a post may lose before they have played anything


class Colleague:
    """A worker as the learner sees it."""

    def __init__(self, number: int, post: Post, actor: Any) -> None:
        self.number, self.post, self.actor = number, post, actor
        self.calls: list[Any] = [actor.about.remote()]
        self.device = ""
        self.games = 0
        self.version: int | None = None
        self.rates = (0.0, 0.0)  # positions and evaluations a second
        self.heard = time.monotonic()

    def delivered(self, delivery: Delivery) -> None:
        """Note what it did."""
        if delivery.seconds:  # the first one comes before anything was played
            self.games += delivery.games
            self.version = delivery.version
            self.rates = delivery.positions / delivery.seconds, delivery.evaluations / delivery.seconds

    def row(self) -> dict[str, Any]:
        """See `Workers.rows`."""
        return {
            "worker": self.number, "node": self.post.address, "device": self.device, "games": self.games,
            "positions_per_second": round(self.rates[0], 1), "evals_per_second": round(self.rates[1], 1),
            "version": self.version, "seconds": round(time.monotonic() - self.heard, 1),
        }  # fmt: skip


class RayWorkers:
    """Workers on all nodes of the cluster. say: tells people. learner: the learner's node, and its GPUs there."""

    boards: Games | None = None

    def __init__(
        self,
        ray: Any,
        evaluator: Evaluator,
        config: TrainingConfig,
        folder: RunFolder,
        say: Callable[[str], None],
        learner: tuple[str, float],
    ) -> None:
        self._ray, self._config, self._folder, self._say, self._learner = ray, config, folder, say, learner
        self._evaluator = evaluator
        self._settings = to_toml(config)
        self._changed = threading.Condition()  # guards what follows, which both threads use
        self._arrivals: Arrivals | None = None
        self._colleagues: list[Colleague] = []
        self._error: BaseException | None = None
        self._newest: Records | None = None
        self._made = np.zeros(3)  # games, positions and evaluations that have come so far
        self._iteration, self._simulations, self._version = 0, 0, 0
        self._network: list[Any] = []
        self._saved: dict[str, np.ndarray] = {}
        self._failures: Counter[tuple[str, int]] = Counter()
        self._looked = 0.0
        self._has_posts = True
        self._before = np.zeros(3), time.perf_counter()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._receive, name="receiver", daemon=True)

    # --- for the loop -----------------------------------------------------------------------------------------------

    def play(self, iteration: int, simulations: int, progress: Progress) -> Played:
        """See `Workers`. Others play on while the network learns, at most one iteration ahead."""
        began = time.perf_counter()
        with self._changed:
            self._iteration, self._simulations = iteration, simulations
            if self._arrivals is None:
                wanted = self._config.games_per_iteration
                self._arrivals = Arrivals(self._folder.replay, iteration, wanted)
                self._take_over(iteration)
                self._before = self._made.copy(), began
                self._thread.start()
        arrivals = self._arrivals
        while True:
            with self._changed:
                if self._error is not None:
                    raise self._error
                if arrivals.filling > iteration:
                    break
                self._changed.wait(_BLINK)
                count, newest, self._newest = arrivals.count(iteration), self._newest, None
                speed = sum(one.rates[1] for one in self._colleagues)
            progress(count, speed, newest)
        waited = time.perf_counter() - began
        records = join_records(arrivals.take(iteration), self._config.board_size)
        return Played(records, self._metrics(iteration, records), {"waiting": waited})

    def _take_over(self, iteration: int) -> None:
        """Games of this iteration that have ended here, when the run had no cluster yet, count as arrived."""
        assert self._arrivals is not None
        journal = self._folder.journal(iteration, self._config)
        if self._saved and journal.path.exists():
            local = LocalWorkers(self._evaluator, self._config, self._folder)
            local.restore(self._saved)
            parts, _ = local.apply_journal(journal, self._config.games_per_iteration)
            games = join_records(parts, self._config.board_size)
            self._arrivals.add(Delivery(0, iteration, len(games.id), to_parcel(games), iteration - 1, 0, 0, 0.0))
            self._saved = local.state()

    def _metrics(self, iteration: int, records: Records) -> dict[str, Any]:
        """Speeds since the games of the iteration before were taken, who played, and how old their networks were."""
        with self._changed:
            (made, then), now = self._before, time.perf_counter()
            games, positions, evaluations = ((self._made - made) / (now - then)).tolist()
            self._before = self._made.copy(), now
        rows = [{k: v for k, v in row.items() if k != "seconds"} for row in self.rows()]
        return {
            "games_per_second": games, "positions_per_second": positions, "evals_per_second": evaluations,
            "workers": rows, "staleness": float((iteration - 1 - records.version).mean()),
        }  # fmt: skip

    def update(self, network: Network, version: int) -> None:
        """See `Workers`. The network goes to the object store, and from there once to each node."""
        box = [self._ray.put(weights_of(network))]
        with self._changed:
            self._network, self._version = box, version

    def rows(self) -> list[dict[str, Any]]:
        """See `Workers`."""
        with self._changed:
            return [one.row() for one in self._colleagues]

    def state(self) -> dict[str, np.ndarray]:
        """See `Workers`. Games in play elsewhere are not kept; those that this machine once had in play are."""
        return self._saved

    def restore(self, saved: dict[str, np.ndarray]) -> None:
        """See `Workers`."""
        self._saved = saved

    def close(self) -> None:
        """See `Workers`."""
        self._closing.set()
        if self._thread.ident is not None:
            self._thread.join()
        for one in self._colleagues:
            self._ray.kill(one.actor)
        self._colleagues = []
        if self._arrivals is not None:
            self._arrivals.close()

    # --- the thread that receives -----------------------------------------------------------------------------------

    def _receive(self) -> None:
        try:
            while not self._closing.is_set():
                self._recruit()
                self._ask()
                first = {one.calls[0]: one for one in self._colleagues if one.calls}
                if not first:
                    self._closing.wait(_BLINK)
                    continue
                self._ray.wait(list(first), num_returns=1, timeout=_BLINK)
                for call in self._ray.wait(list(first), num_returns=len(first), timeout=0)[0]:
                    self._take(first[call], call)
        except BaseException as error:
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def _take(self, one: Colleague, call: Any) -> None:
        """What a worker has sent, or the news that it is no more."""
        try:
            found = self._ray.get(call)
        except self._ray.exceptions.RayTaskError as error:  # it lives, and something is wrong
            raise cause_of(error) from None
        except self._ray.exceptions.RayError as error:
            self._lose(one, error)
            return
        with self._changed:
            one.calls.pop(0)
            one.heard = time.monotonic()
            if not isinstance(found, Delivery):
                self._welcome(one, found)
                return
            self._failures.pop(_place(one.post), None)
            assert self._arrivals is not None
            records = self._arrivals.add(found)
            one.delivered(found)
            self._made += found.games, found.positions, found.evaluations
            self._newest = records if records is not None and len(records.id) else self._newest
            self._changed.notify_all()

    def _ask(self) -> None:
        """Let everybody play on, unless there are games enough for some time."""
        with self._changed:
            assert self._arrivals is not None
            if self._arrivals.filling > self._iteration + _AHEAD:
                return
            what = self._network, self._version, self._simulations, _SECONDS
            for one in self._colleagues:
                while len(one.calls) < _IN_HAND:
                    one.calls.append(one.actor.play.remote(*what))

    # --- who is there -----------------------------------------------------------------------------------------------

    def _recruit(self) -> None:
        """Have a worker at every post that the cluster has."""
        if time.monotonic() - self._looked < _LOOK:
            return
        self._looked = time.monotonic()
        manned = {_place(one.post) for one in self._colleagues}
        posts = find_posts(self._ray.nodes(), *self._learner)
        if not posts and self._has_posts:
            self._say("No node of the cluster has cores or GPUs to play with: waiting for one.")
        self._has_posts = bool(posts)
        for post in posts:
            if _place(post) not in manned and self._failures[_place(post)] < _GIVE_UP:
                self._engage(post)
        if posts and not self._colleagues:  # all were given up
            raise ValueError("no worker of the cluster can play: what each of them said is above")

    def _engage(self, post: Post) -> None:
        number = next_worker(self._folder)
        actor = post.engage(self._ray, Worker, self._settings, number, post.cores, fetch)
        with self._changed:
            self._colleagues.append(Colleague(number, post, actor))

    def _welcome(self, one: Colleague, about: dict[str, Any]) -> None:
        check_version(about["version"], f"{about['host']} ({one.post.address})")
        one.device = about["device"]
        note = f": {about['note']}" if about["note"] else ""
        self._say(f"Worker {one.number} plays on {one.post}{note}")

    def _lose(self, one: Colleague, error: Exception) -> None:
        with self._changed:
            self._colleagues.remove(one)
            self._failures[_place(one.post)] += 1
        self._ray.kill(one.actor)  # it may only be out of reach: nobody is to take its place twice
        self._say(f"Worker {one.number} on {one.post.address} is gone after {one.games:,} games: {reason_of(error)}")


def _place(post: Post) -> tuple[str, int]:
    return post.node, post.number
