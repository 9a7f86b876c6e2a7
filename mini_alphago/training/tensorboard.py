"""The metrics of a run as TensorBoard events, for those who keep their curves there: `tensorboard --logdir runs`."""

import os
import warnings
from typing import Any

from .nodes import node_rates
from .report import Metrics, number, workers_of

# The name of each curve, and the key of the metrics that it shows.
CURVES = {
    "loss/total": "total_loss",
    "loss/policy": "policy_loss",
    "loss/value": "value_loss",
    "loss/score": "score_loss",
    "loss/ownership": "ownership_loss",
    "loss/reply": "reply_loss",
    "loss/soft": "soft_loss",
    "loss/policy_entropy": "policy_entropy",
    "loss/target_entropy": "target_entropy",
    "loss/learning_rate": "learning_rate",
    "speed/games_per_second": "games_per_second",
    "speed/positions_per_second": "positions_per_second",
    "speed/evals_per_second": "evals_per_second",
    "speed/samples_per_second": "samples_per_second",
    "game/games": "games",
    "game/positions": "positions",
    "game/window": "window",
    "game/length": "game_length",
    "game/black_win_rate": "black_win_rate",
    "game/draw_rate": "draw_rate",
    "game/false_resign_rate": "false_resign_rate",
    "elo/elo": "elo",
    "elo/error": "elo_error",
    "workers/staleness": "staleness",
    "time/minutes": "minutes",
    "time/seconds": "seconds",
}


class Events:
    """Writes metrics into `folder`, one point per iteration and curve.

    `purge_step` is the first iteration that will be written: what an earlier session left from there on is hidden. The
    folder is made at the first `write`, which is also when TensorBoard is imported (2 s). Without TensorBoard nothing
    is written, and one warning says so.
    """

    def __init__(self, folder: str | os.PathLike[str], purge_step: int | None = None) -> None:
        self._folder = os.fspath(folder)
        self._purge_step = purge_step
        self._writer: Any = None
        self._missing = False

    def write(self, metrics: Metrics) -> None:
        """Write what numbers there are in an iteration's metrics, and flush them; the step is the iteration."""
        step = number(metrics, "iteration")
        if step is None or not self._open():
            return
        curves = {name: number(metrics, key) for name, key in CURVES.items()}
        for group, key in (("time", "time"), ("game/ended", "ended")):
            parts = metrics.get(key)
            if isinstance(parts, dict):
                curves |= {f"{group}/{name}": number(parts, name) for name in parts}
        if (workers := workers_of(metrics)) is not None:
            rates = node_rates(metrics).items()
            curves |= {"workers/count": len(workers)}
            curves |= {f"workers/positions_per_second/{node}": rate for node, rate in rates}
        for name, value in curves.items():
            if value is not None:
                self._writer.add_scalar(name, value, int(step))
        self._writer.flush()

    def close(self) -> None:
        """Finish the file. May be called twice; a later `write` begins another file."""
        if self._writer is not None:
            self._writer.close()
            self._writer, self._purge_step = None, None

    def _open(self) -> bool:
        if self._writer is None and not self._missing:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError:
                self._missing = True
                warnings.warn("no TensorBoard events: `pip install tensorboard` to have them", stacklevel=3)
            else:
                writer: Any = SummaryWriter
                self._writer = writer(self._folder, purge_step=self._purge_step)
        return self._writer is not None
