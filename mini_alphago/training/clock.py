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

    def add_earlier(self, seconds: float) -> None:
        """So many went by before it was made, in a process that was interrupted, for what is kept of its work."""
        if seconds:
            self._began -= seconds
            self.add("before the interruption", seconds)

    def total(self) -> float:
        """Since it was made, and what was added to that."""
        return time.perf_counter() - self._began

    def parts(self) -> dict[str, float]:
        """All of them, those that nobody has accounted for as `other`."""
        return {**self._parts, "other": max(0.0, self.total() - sum(self._parts.values()))}
