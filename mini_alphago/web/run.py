"""A training run, watched from outside: what is new in its folder, for everybody who wants to know."""

import json
import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..training.folder import RunFolder
from ..training.loop import run_summary
from ..training.report import Metrics, number, workers_of
from .models import model_id

_FRESH = 15.0  # seconds since the last sign of life within which a run surely runs
_MOST_LIVE_BYTES = 1_000_000
Json = dict[str, Any]


@dataclass
class Snapshot:
    """All there is to say about a run now."""

    name: str
    running: bool = False
    summary: str = ""
    metrics: list[Metrics] = field(default_factory=list)  # without their workers: those of many iterations are much
    workers: list[Json] | None = None  # of the last iteration; None if the run has none elsewhere
    begun: int = 0  # how often `metrics` has begun anew
    checkpoints: list[Json] = field(default_factory=list)
    elo: list[Json] = field(default_factory=list)
    live: Json | None = None


class Watcher:
    """What one client was told already."""

    def __init__(self) -> None:
        self._told: Json = {}
        self._begun, self._lines = -1, 0

    def news(self, now: Snapshot) -> Json | None:
        """The message that says what this client does not know yet; None if there is nothing."""
        reset = now.begun != self._begun
        start = 0 if reset else self._lines
        facts = {
            "name": now.name, "running": now.running, "summary": now.summary, "checkpoints": now.checkpoints,
            "elo": now.elo, "live": now.live, "workers": now.workers,
        }  # fmt: skip
        if not reset and start == len(now.metrics) and facts == self._told:
            return None
        self._told, self._begun, self._lines = facts, now.begun, len(now.metrics)
        return {"type": "run", **facts, "metrics": now.metrics[start:], "reset": reset}


class Run:
    """The folder of a run, read again when something in it has changed. For one thread at a time."""

    def __init__(self, path: str) -> None:
        self.folder = RunFolder(path)
        self.name = Path(path).resolve().name
        self._snapshot = Snapshot(self.name)
        self._seen: dict[Path, tuple[int, int] | None] = {}

    def look(self) -> Snapshot:
        """The run as it is now; what cannot be read stays as it was."""
        now, folder = self._snapshot, self.folder
        if self._changed(folder.path / "config.toml"):
            try:
                now.summary = run_summary(folder.read_config())
            except (ValueError, OSError):
                now.summary = ""
        measured = self._changed(folder.metrics_path)
        if measured:
            self._read_metrics()
        if self._changed(folder.checkpoints) or measured:
            minutes = {line["iteration"]: number(line, "minutes") for line in now.metrics}
            now.checkpoints = [
                {"iteration": i, "minutes": 0 if i == 0 else minutes.get(i), "model": model_id(i)}
                for i in folder.iterations()
            ]
        self._read_live()
        return now

    def _changed(self, path: Path) -> bool:
        try:
            stat = path.stat()
            mark = (stat.st_mtime_ns, stat.st_size)
        except OSError:
            mark = None
        if path in self._seen and self._seen[path] == mark:
            return False
        self._seen[path] = mark
        return True

    def _read_metrics(self) -> None:
        now = self._snapshot
        try:
            lines = [_finite(line) for line in self.folder.read_metrics()]
        except (ValueError, OSError):
            return
        now.workers = workers_of(lines[-1]) if lines else None
        for line in lines:
            line.pop("workers", None)
        if lines[: len(now.metrics)] != now.metrics:
            now.begun += 1
        now.metrics = lines
        now.elo = []
        for line in lines:
            elo, error = number(line, "elo"), number(line, "elo_error")
            if elo is not None:
                spread = {"low": elo - (error or 0), "high": elo + (error or 0)}
                now.elo.append(
                    {"iteration": line["iteration"], "minutes": number(line, "minutes"), "elo": elo, **spread}
                )

    def _read_live(self) -> None:
        path, now = self.folder.path / "live.json", self._snapshot
        if self._changed(path):
            try:
                live = json.loads(path.read_bytes()[:_MOST_LIVE_BYTES])
                now.live = _finite(live) if isinstance(live, dict) else None
            except (ValueError, OSError):
                now.live = None
        if now.live is None or now.live.get("phase") == "ended":
            now.running = now.live is None and self.folder.in_use()
            return
        try:
            age = time.time() - path.stat().st_mtime
        except OSError:
            age = math.inf
        now.running = age < _FRESH or self.folder.in_use()


def _finite(value: Any) -> Any:
    """The same without NaN and infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
