"""Where the seconds of an iteration go."""

import time


class Clock:
    """Where the seconds of an iteration went."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._parts: dict[str, float] = {}

    def add(self, part: str, seconds: float) -> None:
        """So many of them went there."""
        self._parts[part] = self._parts.get(part, 0.0) + seconds

    def total(self) -> float:
        """Since it was made."""
        return time.perf_counter() - self._began

    def parts(self) -> dict[str, float]:
        """All of them, those that nobody has accounted for as `other`."""
        return {**self._parts, "other": max(0.0, self.total() - sum(self._parts.values()))}
