"""`live.json`: what a run does at this moment, for whoever watches its folder. Nothing reads it back into the run."""

import contextlib
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..files import write_atomically
from ..game.coords import from_flat, to_gtp
from ..game.state import BLACK, WHITE, Games

_EVERY = 2.0  # seconds
_GAMES = 12


class Live:
    """Writes the file, every two seconds at most; most calls only look at the clock."""

    def __init__(self, folder: Path, games: Games | None) -> None:
        """`games`: those of self-play, of which the first few are shown; None if all are played elsewhere."""
        self._path, self._games = folder / "live.json", games
        self._written = -_EVERY

    def phase(
        self,
        name: str,
        done: float,
        total: float,
        speed: float | None = None,
        workers: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Work goes on, `done` of `total`; speed: evaluations a second; workers: those elsewhere that are there now.

        Each worker is an object with worker, node, device, games, positions_per_second, evals_per_second, version (of
        its network, or None) and seconds (since it was heard of). Without workers the file does not mention them.
        """
        now = time.monotonic()
        if now - self._written >= _EVERY:
            self._written = now
            content = {"phase": name, "done": done, "total": total, "speed": speed, "games": self._boards()}
            self._write(content if workers is None else {**content, "workers": list(workers)})

    def end(self) -> None:
        """The run is not running any more."""
        self._write({"phase": "ended", "done": 0, "total": 0, "speed": None, "games": self._boards()})

    def _boards(self) -> list[dict[str, Any]]:
        games, shown = self._games, []
        if games is None:
            return []
        for g in range(min(_GAMES, len(games.info))):
            info = games.info[g]
            size, count = int(info["size"]), int(info["move_count"])
            color = games.color[g, : size * size].reshape(size, size)
            last = int(games.moves[g, count - 1]["point"]) if count else None
            shown.append(
                {
                    "board": ((color == BLACK).astype(np.int8) - (color == WHITE)).tolist(),
                    "moveNumber": count,
                    "lastMove": None if last is None else to_gtp(*from_flat(last, size), size),
                }
            )
        return shown

    def _write(self, content: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # a full disk is for those to say who lose something by it
            write_atomically(self._path, json.dumps(content).encode(), durable=False)
