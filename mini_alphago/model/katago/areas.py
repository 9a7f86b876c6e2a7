"""Whose each point is, as KataGo's networks are told under area rules: compiled, on one position.

Stones that cannot be captured and what they enclose belong to their colour, dead stones included; then every empty
region that touches one colour, and last each stone its own point.
"""

from typing import Any

from ...game.scoring import Scratch, pass_alive
from ...game.state import BLACK, EMPTY, WALL, WHITE, Games
from ...kernel import kernel


@kernel
def _claim(
    color: Any, neighbors: Any, area: int, player: int, suicide: int, scratch: Scratch, life: Any, owner: Any
) -> None:
    """Write to `owner` what is `player`'s: for good, even over the other's claim; or, if nobody's yet, enclosed."""
    pass_alive(color, neighbors, area, player, suicide, scratch, life)
    label, good, intruders = scratch.label, scratch.alive, scratch.size
    stones = 0
    for point in range(area):
        intruders[label[point]] = 0
    for point in range(area):
        stones += color[point] == player
        intruders[label[point]] += color[point] == 3 - player
    if stones == 0:
        return
    for point in range(area):
        s = label[point]
        if color[point] == player:
            claims = good[s] != 0
        else:
            for_good = good[s] != 0 and (scratch.inner[s] <= 1 or intruders[s] == 0)
            claims = for_good or (intruders[s] == 0 and owner[point] == EMPTY)
        if claims:
            owner[point] = player


@kernel
def full_area(color: Any, neighbors: Any, area: int, suicide: int, scratch: Scratch, life: Any, owner: Any) -> None:
    """The area of both colours into `owner` ([A] int8): EMPTY, BLACK or WHITE. `color` is as in `Games`.

    life: [A] int8, room to work.
    """
    for point in range(area):
        owner[point] = EMPTY
    _claim(color, neighbors, area, BLACK, suicide, scratch, life, owner)
    _claim(color, neighbors, area, WHITE, suicide, scratch, life, owner)
    for point in range(area):
        if owner[point] == EMPTY:
            owner[point] = color[point]


@kernel
def _gather(games: Games, g: int, start: int, full: Any, scratch: Scratch) -> tuple[int, bool]:
    """The points connected with `start` that have its owner, into `stack`: how many, and whether they are in seki.

    They are if one of the owner's stones is in atari, or if they touch an empty point that is nobody's.
    """
    color, points, neighbors = games.color[g], games.points[g], games.neighbors[games.info[g].size]
    stack, label, owner = scratch.stack, scratch.label, full[start]
    label[start] = 1
    stack[0] = start
    count = 1
    done = 0
    seki = False
    while done < count:
        point = stack[done]
        done += 1
        seki |= color[point] == owner and points[points[point].head].liberties == 1
        for k in range(4):
            q = neighbors[point, k]
            if color[q] == WALL:
                continue
            seki |= color[q] == EMPTY and full[q] == EMPTY
            if full[q] == owner and label[q] == 0:
                label[q] = 1
                stack[count] = q
                count += 1
    return count, seki


@kernel
def taxed_area(games: Games, g: int, full: Any, scratch: Scratch, owner: Any) -> None:
    """The area where eyes in seki do not count, into `owner` ([A] int8), given the `full_area`.

    What is in seki keeps its stones and loses everything else.
    """
    area = games.info[g].size * games.info[g].size
    for point in range(area):
        scratch.label[point] = 0
        owner[point] = EMPTY
    for start in range(area):
        if full[start] == EMPTY or scratch.label[start] != 0:
            continue
        count, seki = _gather(games, g, start, full, scratch)
        for i in range(count):
            point = scratch.stack[i]
            if not seki or games.color[g, point] == full[point]:
                owner[point] = full[point]
