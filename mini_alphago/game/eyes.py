"""Moves that a random player may make: legal, and not into an eye of its own, so that random games come to an end."""

from typing import Any

from ..kernel import kernel
from .state import EMPTY, LEGAL, Games, legality_map


@kernel
def _is_own_eye(games: Games, g: int, point: int) -> bool:
    player, around = games.info[g].to_move, games.neighbors[games.info[g].size, point]
    for k in range(4):
        color = games.color[g, around[k]]
        if color == EMPTY or color == 3 - player:
            return False
    return True


@kernel
def sensible_points(games: Games, g: int, reasons: Any, points: Any) -> int:
    """How many legal points fill no own one-point eye: four neighbours of one's own, or the edge.

    They are written to `points` ([A] int16) in order; `reasons` ([A] uint8) gets the legality of all moves.
    """
    legality_map(games, g, games.info[g].to_move, reasons)
    count = 0
    for point in range(games.info[g].size * games.info[g].size):
        if reasons[point] == LEGAL and not _is_own_eye(games, g, point):
            points[count] = point
            count += 1
    return count
