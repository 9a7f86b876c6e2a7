"""Game clocks: what a client says about time, and how long to think about a move."""

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from ..game import BLACK, WHITE

LAG = 1.0  # seconds of delay that must not lose a game
_LEAST = 0.02  # seconds; even a clock at its end gets a move
_STRETCH = 3.0  # an undecided move may take so many times its share

Kind = Literal["none", "absolute", "byoyomi", "canadian", "fischer"]


@dataclass(frozen=True)
class TimeSystem:
    """A way to count time.

    main: seconds at the start. period: seconds of a byo-yomi period, of a Canadian block, or added for each move
    (Fischer). periods: how many byo-yomi periods. stones: moves in a Canadian block. limit: the most that a Fischer
    clock holds.
    """

    kind: Kind = "none"
    main: float = 0.0
    period: float = 0.0
    periods: int = 0
    stones: int = 0
    limit: float = math.inf

    def __post_init__(self) -> None:
        for value in (self.main, self.period, self.periods, self.stones, self.limit):
            if not value >= 0:
                raise ValueError(f"{value} is no time: it is 0 or more")


class Budget(NamedTuple):
    """How long to think about one move, in seconds."""

    base: float  # ordinarily
    most: float  # while it is undecided


@dataclass(frozen=True)
class _Side:
    """One player's clock."""

    left: float  # of the main time, or of the period at hand
    overtime: bool = False
    count: int = 0  # periods left, or moves left in the block, while in overtime


class Clock:
    """Both players' time. Without `time_left` from the client it counts by itself what `spent` reports."""

    def __init__(self) -> None:
        self.system = TimeSystem()
        self._sides: dict[int, _Side] = {}

    def start(self, system: TimeSystem) -> None:
        """Begin anew under this system."""
        self.system = system
        self._sides = {player: self._overtime_if_empty(_Side(system.main)) for player in (BLACK, WHITE)}

    def time_left(self, player: int, seconds: float, count: int) -> None:
        """What the client says: so much is left; `count` is 0 in main time, else periods or moves left."""
        if not seconds >= 0 or not count >= 0:
            raise ValueError("time and stones left are 0 or more")
        overtime = count > 0 and self.system.kind in ("byoyomi", "canadian")
        self._sides[player] = _Side(min(seconds, 1e9), overtime, count)

    def spent(self, player: int, seconds: float) -> None:
        """A move took so long."""
        system, side = self.system, self._sides.get(player)
        if side is None or system.kind == "none":
            return
        left = side.left - seconds
        if system.kind == "fischer":
            self._sides[player] = _Side(min(max(0.0, left) + system.period, system.limit))
        elif side.overtime and system.kind == "byoyomi":
            used = max(0, math.ceil(seconds / system.period) - 1) if system.period else 0
            self._sides[player] = replace(side, left=system.period, count=max(1, side.count - used))
        elif side.overtime:
            count = side.count - 1
            begun = _Side(max(0.0, left), True, count)
            self._sides[player] = begun if count > 0 else _Side(system.period, True, system.stones)
        else:
            self._sides[player] = self._overtime_if_empty(_Side(max(0.0, left)))

    def _overtime_if_empty(self, side: _Side) -> _Side:
        system = self.system
        if side.left > 0 or system.kind not in ("byoyomi", "canadian"):
            return side
        return _Side(system.period, True, system.periods if system.kind == "byoyomi" else system.stones)

    def budget(self, player: int, moves_left: int) -> Budget | None:
        """How long to think now, if so many moves of one's own are still to come; None: as long as one likes.

        Whatever the clock says, even if every move takes a second longer than measured, time does not run out.
        """
        system, side = self.system, self._sides.get(player)
        if side is None or system.kind == "none":
            return None
        usable = max(0.0, side.left - LAG)
        if side.overtime and system.kind == "byoyomi":
            return _bounded(usable, usable, usable)
        if side.overtime:
            share = max(0.0, side.left - LAG * max(1, side.count)) / max(1, side.count)
            return _bounded(share, share if side.count <= 1 else 2 * share, usable)
        # Delays will cost time, too: what they may take until the end of the game is not there to think with.
        moves = max(1, moves_left)
        delay = max(0.0, LAG - system.period) if system.kind == "fischer" else LAG
        spare = max(0.0, usable - delay * moves)
        if system.kind == "fischer":
            share = spare / moves + 0.9 * max(0.0, system.period - LAG)
            return _bounded(min(share, usable / 2), _STRETCH * share, usable / 2)
        after = 0.0
        if system.kind == "byoyomi" and system.periods > 0:
            after = max(0.0, system.period - LAG)
        elif system.kind == "canadian" and system.stones > 0:
            after = max(0.0, system.period - LAG * system.stones) / system.stones
        if after:  # the main time need not last: a move may take at least what overtime would give it
            base = max(usable / moves, 0.7 * after)
            return _bounded(base, _STRETCH * base, usable + after)
        return _bounded(spare / moves, min(_STRETCH * spare / moves, spare / 3), usable)


def _bounded(base: float, most: float, bound: float) -> Budget:
    """At least a moment, and never beyond `bound`."""
    base = max(_LEAST, min(base, bound))
    return Budget(base, max(base, min(most, bound)))


def moves_left(size: int, move_count: int) -> int:
    """How many moves of one's own a game on this board may still have."""
    area = size * size
    return math.ceil(max(0.35 * area, (0.85 * area - move_count) / 2))  # long games happen, and need their time as well


# --- what clients send ------------------------------------------------------------------------------------------------


def gtp_settings(arguments: list[str]) -> TimeSystem:
    """`time_settings main byo_yomi_time byo_yomi_stones`: Canadian; byo time without stones is no limit at all."""
    main, period, stones = _numbers(arguments, 3)
    if period > 0 and stones == 0:
        return TimeSystem()
    if period == 0:
        return TimeSystem("absolute", main)
    return TimeSystem("canadian", main, period, stones=int(stones))


def named_settings(arguments: list[str]) -> TimeSystem:
    """`kgs-time_settings` and `kata-time_settings`: none, absolute, byoyomi, canadian, fischer, fischer-capped."""
    kind, rest = (arguments[0].lower() if arguments else ""), arguments[1:]
    if kind == "none":
        return TimeSystem()
    if kind == "absolute":
        return TimeSystem("absolute", _numbers(rest, 1)[0])
    if kind == "byoyomi":
        main, period, count = _numbers(rest, 3)
        return TimeSystem("byoyomi", main, period, periods=int(count))
    if kind == "canadian":
        main, period, count = _numbers(rest, 3)
        return TimeSystem("canadian", main, period, stones=int(count))
    if kind == "fischer":
        main, period = _numbers(rest, 2)
        return TimeSystem("fischer", main, period)
    if kind == "fischer-capped":
        main, period, limit = _numbers(rest, 3)
        return TimeSystem("fischer", main, period, limit=limit)
    raise ValueError("time systems are none, absolute, byoyomi, canadian, fischer, fischer-capped")


def _numbers(arguments: list[str], count: int) -> list[float]:
    if len(arguments) < count:
        raise ValueError(f"{count} numbers are needed")
    try:
        values = [float(text) for text in arguments[:count]]
    except ValueError:
        raise ValueError("times are numbers of seconds") from None
    if not all(0 <= value < 1e9 for value in values):
        raise ValueError("times are 0 or more seconds")
    return values
