"""The result of one game of a batch: the compiled counting of `scoring.py`, with dead chains off and room to work in.

Points are flat indices, as everywhere below `Board`.
"""

from collections.abc import Iterable

import numpy as np

from . import scoring, state


def chain(games: state.Games, g: int, point: int) -> list[int]:
    """All stones of the chain on `point`; none if it is empty."""
    points = games.points[g]
    if points[point]["head"] == state.NO_CHAIN:
        return []
    ring = [point]
    while (following := int(points[ring[-1]]["next"])) != point:
        ring.append(following)
    return ring


def score(games: state.Games, g: int, dead: Iterable[int]) -> float:
    """Black's points minus White's by the rules of the game, komi included, once the `dead` chains are off."""
    color, owner, stack = _without(games, g, dead)
    return float(scoring.score(games, g, color, owner, stack))


def ownership(games: state.Games, g: int, dead: Iterable[int]) -> np.ndarray:
    """Who owns each point by area once the `dead` chains are off: int8 `[size²]`, 1 Black, -1 White, 0 nobody."""
    size = int(games.info[g]["size"])
    color, owner, stack = _without(games, g, dead)
    scoring.area_ownership(color, games.neighbors[size], size**2, owner, stack)
    return owner[: size**2]


def pass_alive(games: state.Games, g: int, player: int) -> np.ndarray:
    """What `player` keeps even by only passing: int8 `[size²]`, 1 for its stones, 2 for its regions, else 0."""
    size, suicide = int(games.info[g]["size"]), int(games.info[g]["suicide"])
    owner, scratch = np.empty(size**2 + 1, np.int8), scoring.new_scratch(size**2 + 1)
    scoring.pass_alive(games.color[g], games.neighbors[size], size**2, player, suicide, scratch, owner)
    return owner[:-1]


def _without(games: state.Games, g: int, dead: Iterable[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The stones without the dead chains, `[A]` int8, and two arrays for the counting to work in."""
    color = games.color[g].copy()
    for point in dead:
        stones = chain(games, g, point)
        if not stones:
            raise ValueError(f"{divmod(point, int(games.info[g]['size']))} is called dead, but there is no stone")
        color[stones] = state.EMPTY
    return color, np.empty_like(color), np.empty(len(color), np.int16)
