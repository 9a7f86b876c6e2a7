"""Where the games of a run come from: `Workers`, and `LocalWorkers`, which plays them in this very process."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..game.state import Games
from ..model import Evaluator, Network
from .arrivals import Arrivals
from .config import TrainingConfig
from .folder import Journal, RunFolder
from .records import Records, join_records
from .report import Metrics
from .self_play import SelfPlay

# Told how many games there are, evaluations a second, and the newest games; may raise, to stop.
Progress = Callable[[int, float, Records | None], None]


class Played(NamedTuple):
    """The games of an iteration, and how they were made."""

    records: Records
    metrics: Metrics  # speeds, and whatever else there is to say
    seconds: dict[str, float]  # where the time went
    earlier: float = 0.0  # seconds that went into these games before the run was interrupted


class Workers(Protocol):
    """Whoever plays the games of a run."""

    boards: Games | None
    """Games that are being played, to look at; None if they are elsewhere."""

    def play(self, iteration: int, simulations: int, progress: Progress) -> Played:
        """The games of an iteration: those that are on disk for it already, and new ones until there are enough.

        Once a game is finished and here, no crash loses it. Called for one iteration after the other.
        """

    def update(self, network: Network, version: int) -> None:
        """From now on play with this network, that of iteration `version`."""

    def rows(self) -> list[dict[str, Any]] | None:
        """Who plays, for people to look at; None if nobody does but this process."""

    def state(self) -> dict[str, np.ndarray]:
        """Everything needed to go on with the games in play."""

    def restore(self, saved: dict[str, np.ndarray]) -> None:
        """Go on from what `state` gave, here or in another kind of workers; called before anything is played."""

    def close(self) -> None:
        """Nobody plays any more."""


class LocalWorkers:
    """Self-play in this process, taking turns with the learning. Every step is in a journal before it is made."""

    def __init__(self, evaluator: Evaluator, config: TrainingConfig, folder: RunFolder) -> None:
        self.config, self.folder = config, folder
        self.self_play = SelfPlay(evaluator, config.board_size, config.self_play, config.seed, staggered=True)
        self.boards: Games | None = self.self_play.roots

    def play(self, iteration: int, simulations: int, progress: Progress) -> Played:
        """See `Workers`. What the journal has of the games already is only applied."""
        play, wanted, size = self.self_play, self.config.games_per_iteration, self.config.board_size
        play.simulations = simulations
        parts = Arrivals(self.folder.replay, iteration, wanted).take(iteration)  # from when the run had a cluster
        done = sum(len(part.id) for part in parts)
        journal = self.folder.journal(iteration, self.config)
        kept, earlier = self.apply_journal(journal, wanted - done)
        parts += kept
        done = sum(len(part.id) for part in parts)
        before, network, began, made = play.evaluations, play.network_seconds, time.perf_counter(), 0
        known, last = done, began
        try:
            while done < wanted:
                speed = (play.evaluations - before) / (time.perf_counter() - began)
                progress(done, speed, parts[-1] if parts else None)
                step = play.think()
                now = time.perf_counter()
                journal.append(play.steps, step, now - last)
                last = now
                parts.append(play.apply(step))
                done += len(parts[-1].id)
                made += int(np.count_nonzero(step.full))
        finally:
            journal.close()
            play.rest()  # the next network is another
        seconds, waited = time.perf_counter() - began, play.network_seconds - network
        speeds = {
            "positions_per_second": made / seconds, "evals_per_second": (play.evaluations - before) / seconds,
            "games_per_second": (done - known) / seconds,
        }  # fmt: skip
        times = {"network": waited, "tree": seconds - waited}
        return Played(join_records(parts, size), speeds, times, earlier)

    def apply_journal(self, journal: Journal, wanted: int) -> tuple[list[Records], float]:
        """Go through the steps of a journal, until so many games have ended: these, and the seconds it took to play."""
        parts: list[Records] = []
        taken = 0.0
        for number, step, seconds in journal.read():
            if number == self.self_play.steps and sum(len(part.id) for part in parts) < wanted:
                parts.append(self.self_play.apply(step))
                taken += seconds
        return parts, taken

    def update(self, network: Network, version: int) -> None:
        """See `Workers`. The evaluator has the network already."""
        self.self_play.version = version

    def rows(self) -> list[dict[str, Any]] | None:
        """See `Workers`."""
        return None

    def state(self) -> dict[str, np.ndarray]:
        """See `Workers`."""
        return self.self_play.state()

    def restore(self, saved: dict[str, np.ndarray]) -> None:
        """See `Workers`."""
        if saved:
            self.self_play.restore(saved)

    def close(self) -> None:
        """See `Workers`."""
