"""Training on a cluster, from the machine where the command was given: its learner is engaged, watched and replaced.

The learner is an actor on this very machine, since the run's folder is here. If it dies, the next one takes the run up
from that folder.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..training.config import TrainingConfig, to_toml
from ..training.display import Display
from ..training.loop import Stopped, Summary
from .connect import cause_of, connect, reason_of
from .learner import Learner
from .posts import place, share_for_learner

_PATIENCE = 20  # seconds until it is said that the learner does not answer
_GIVE_UP = 3  # learners in a row that finish no iteration


def train_on_cluster(
    config: TrainingConfig,
    run: str,
    display: Display | None = None,
    init: str | None = None,
    stop: threading.Event | None = None,
    began: Callable[[], None] | None = None,
    address: str | None = None,
) -> Summary:
    """`train` on the Ray cluster at `address`, or the one that is here; see there and `connect`.

    ValueError if learners die one after the other.
    """
    ray, display = connect(address), display or Display()
    watch = _Watch(ray, run, display, stop or threading.Event(), began)
    failures = 0
    with display:
        while True:
            learner = _engage(ray, config.learning.processes)
            here = str(Path(run).resolve()), str(Path(init).resolve()) if init and Path(init).exists() else init
            try:
                return watch.until_done(learner, learner.actor.run.remote(to_toml(config), *here, learner.gpus))
            except ray.exceptions.RayActorError as error:
                failures = 0 if watch.iterations else failures + 1
                if failures == _GIVE_UP:
                    raise ValueError(f"the learner died {failures} times in a row: {reason_of(error)}") from None
                display.say(f"The learner is gone ({reason_of(error)}); another one goes on from {run}.")


class _Engaged:
    """A learner in the cluster, and how many GPUs it has."""

    def __init__(self, actor: Any, gpus: float) -> None:
        self.actor, self.gpus = actor, gpus


def _engage(ray: Any, processes: int) -> _Engaged:
    node = ray.get_runtime_context().get_node_id()
    gpus = share_for_learner(ray.nodes(), node, processes)
    actor = place(ray, Learner, node, 0, gpus, max_concurrency=4).remote()
    return _Engaged(actor, gpus)


class _Watch:
    """Shows what a learner has to show, and lets it stop when somebody asks for it here."""

    def __init__(
        self, ray: Any, run: str, display: Display, stop: threading.Event, began: Callable[[], None] | None
    ) -> None:
        self._ray, self._run, self._display, self._stop, self._began = ray, run, display, stop, began
        self.iterations = 0  # that the present learner has finished

    def until_done(self, learner: _Engaged, done: Any) -> Summary:
        """What the run came to. Errors are those of `train`, and RayActorError if the learner died."""
        self.iterations = 0
        stopping = False
        while not self._ray.wait([done], timeout=0)[0]:
            self._show(self._shown(learner))
            if self._stop.is_set() and not stopping:
                stopping = True
                learner.actor.stop.remote()
        try:
            summary: Summary = self._ray.get(done)
        except self._ray.exceptions.RayTaskError as error:
            raise cause_of(error) from None
        finally:
            self._show(self._shown(learner))
            self._ray.kill(learner.actor)  # and with it all that it has engaged
        return summary

    def _shown(self, learner: _Engaged) -> list[tuple[str, tuple[Any, ...]]]:
        """What the learner has to show. Stopped if it has not even begun, and somebody asks for it."""
        asked, waited = learner.actor.shown.remote(), 0
        while not self._ray.wait([asked], timeout=1.0)[0]:
            waited += 1
            if waited == _PATIENCE:
                self._display.say("The learner does not answer: it may be waiting for its place in the cluster.")
            if self._stop.is_set() and waited > _PATIENCE:
                self._ray.kill(learner.actor)
                raise Stopped
        calls: list[tuple[str, tuple[Any, ...]]] = self._ray.get(asked)
        return calls

    def _show(self, calls: list[tuple[str, tuple[Any, ...]]]) -> None:
        for name, arguments in calls:
            if name == "began":
                if self._began is not None:
                    self._began()
                    self._began = None
            elif name == "start":  # by the name that the person here has given it
                self._display.start(arguments[0], self._run, *arguments[2:])
            else:
                self.iterations += name == "iteration"
                getattr(self._display, name)(*arguments)
