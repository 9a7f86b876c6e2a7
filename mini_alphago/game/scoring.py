"""Who owns what: compiled area, territory and pass-alive life on one position.

These kernels look at a plain array of stones (`color`, [A] int8, as in `Games.color`), so that dead stones can be taken
off a copy first. `neighbors` is the table of one board size. Kernels allocate nothing: callers hand in `Scratch`.
"""

from typing import Any, NamedTuple

import numpy as np

from ..kernel import kernel
from .state import BLACK, EMPTY, SCORING_TERRITORY, WALL, WHITE, Games

BLACK_OWNS, WHITE_OWNS = 1, -1


class Scratch(NamedTuple):
    """Room to work in, for boards of up to `points` = A points; one for each thread."""

    stack: np.ndarray  # [A] int16
    label: np.ndarray  # [A] int16: which connected set a point belongs to
    size: np.ndarray  # [A] int16: by label, the points that count for `vital`
    inner: np.ndarray  # [A] int16: by label, points that touch no stone of the player
    alive: np.ndarray  # [A] uint8: by label
    touch: np.ndarray  # [A, A] int16: [region, chain] how many of the region's counted points touch the chain; -1: none


def new_scratch(points: int) -> Scratch:
    """Room for boards of `points` = size² + 1."""
    return Scratch(
        stack=np.zeros(points, np.int16),
        label=np.zeros(points, np.int16),
        size=np.zeros(points, np.int16),
        inner=np.zeros(points, np.int16),
        alive=np.zeros(points, np.uint8),
        touch=np.zeros((points, points), np.int16),
    )


@kernel
def area_ownership(color: Any, neighbors: Any, area: int, owner: Any, stack: Any) -> int:
    """Area ownership into `owner` ([A] int8: BLACK_OWNS, WHITE_OWNS, 0); returns Black's points minus White's.

    A stone owns its point. An empty region belongs to a colour if it touches that colour alone.
    """
    for point in range(area):
        owner[point] = 2  # not seen yet
    balance = 0
    for start in range(area):
        if color[start] == BLACK:
            owner[start] = BLACK_OWNS
        elif color[start] == WHITE:
            owner[start] = WHITE_OWNS
        elif owner[start] == 2:
            _flood_empty(color, neighbors, start, owner, stack)
        balance += owner[start]
    return balance


@kernel
def _flood_empty(color: Any, neighbors: Any, start: int, owner: Any, stack: Any) -> None:
    """Give the empty region around `start` its owner. `stack` ends up holding the region, each point once."""
    owner[start] = 0
    stack[0] = start
    count = 1
    done = 0
    black = white = False
    while done < count:
        point = stack[done]
        done += 1
        for k in range(4):
            q = neighbors[point, k]
            if color[q] == BLACK:
                black = True
            elif color[q] == WHITE:
                white = True
            elif color[q] == EMPTY and owner[q] == 2:
                owner[q] = 0
                stack[count] = q
                count += 1
    if black != white:
        for i in range(count):
            owner[stack[i]] = BLACK_OWNS if black else WHITE_OWNS


@kernel
def score(games: Games, g: int, color: Any, owner: Any, stack: Any) -> float:
    """Black's result by the rules of game `g`, komi included; `color` is its board without the dead stones.

    `owner` ([A] int8) receives the area ownership. By territory, everything that is left on `color` counts as alive,
    and eyes in seki count as territory.
    """
    info = games.info[g]
    area = info.size * info.size
    balance = area_ownership(color, games.neighbors[info.size], area, owner, stack)
    if info.scoring == SCORING_TERRITORY:
        balance = info.black_prisoners - info.white_prisoners
        for point in range(area):
            if color[point] == EMPTY:
                balance += owner[point]
            if color[point] != games.color[g, point]:
                balance += -1 if games.color[g, point] == BLACK else 1
    return balance - info.komi


@kernel
def _label_sets(color: Any, neighbors: Any, area: int, player: int, scratch: Scratch) -> int:
    """Label the connected sets of `player`'s stones and of everything else; return how many there are."""
    label, stack = scratch.label, scratch.stack
    for point in range(area):
        label[point] = -1
    sets = 0
    for start in range(area):
        if label[start] >= 0:
            continue
        inside = color[start] == player
        label[start] = sets
        stack[0] = start
        count = 1
        while count > 0:
            count -= 1
            point = stack[count]
            for k in range(4):
                q = neighbors[point, k]
                if color[q] != WALL and label[q] < 0 and (color[q] == player) == inside:
                    label[q] = sets
                    stack[count] = q
                    count += 1
        sets += 1
    return sets


@kernel
def may_live(color: Any, neighbors: Any, area: int, player: int, suicide: int, scratch: Scratch) -> bool:
    """Whether there are two regions that could be eyes: each of their points touches a stone of `player`.

    If not, nothing of `player`'s is pass-alive; cheap, and in the middle of a game mostly the end of the matter. As to
    `suicide`, see `pass_alive`.
    """
    label, stack = scratch.label, scratch.stack
    for point in range(area):
        label[point] = -1
    eyes = 0
    for start in range(area):
        if label[start] >= 0 or color[start] == player:
            continue
        label[start] = 0
        stack[0] = start
        count = 1
        lonely = 0
        while count > 0:
            count -= 1
            point = stack[count]
            touches = not suicide and color[point] != EMPTY
            for k in range(4):
                q = neighbors[point, k]
                if color[q] == player:
                    touches = True
                elif color[q] != WALL and label[q] < 0:
                    label[q] = 0
                    stack[count] = q
                    count += 1
            lonely += not touches
        eyes += lonely == 0
    return eyes >= 2


@kernel
def _measure_regions(color: Any, neighbors: Any, area: int, player: int, suicide: int, scratch: Scratch) -> None:
    """Fill `size`, `inner` and `touch` for every region of points that are not `player`'s."""
    for point in range(area):
        if color[point] == player:
            continue
        region = scratch.label[point]
        counts = suicide or color[point] == EMPTY
        scratch.size[region] += counts
        lonely = True
        for k in range(4):
            q = neighbors[point, k]
            if color[q] != player:
                continue
            lonely = False
            chain = scratch.label[q]
            if scratch.touch[region, chain] < 0:
                scratch.touch[region, chain] = 0
            repeated = False
            for earlier in range(k):
                other = neighbors[point, earlier]
                repeated |= color[other] == player and scratch.label[other] == chain
            if counts and not repeated:
                scratch.touch[region, chain] += 1
        scratch.inner[region] += lonely


@kernel
def pass_alive(color: Any, neighbors: Any, area: int, player: int, suicide: int, scratch: Scratch, owner: Any) -> int:
    """Benson's algorithm: mark in `owner` ([A] int8) what is `player`'s even if `player` only ever passes.

    1: stones that cannot be captured. 2: points of regions that those stones enclose and in which the opponent can
    never live (at most one point that touches none of them). 0: the rest. Returns how many are not 0.
    With `suicide` allowed the opponent may fill a region and vanish, so that its stones count as its points do.
    """
    sets = _label_sets(color, neighbors, area, player, scratch)
    alive, touch = scratch.alive, scratch.touch
    for i in range(sets):
        scratch.size[i] = scratch.inner[i] = 0
        alive[i] = 1
        for j in range(sets):
            touch[i, j] = -1
    _measure_regions(color, neighbors, area, player, suicide, scratch)
    _kill_weak_chains(sets, scratch)
    count = 0
    for point in range(area):
        s = scratch.label[point]
        owner[point] = 0
        if alive[s] and color[point] == player:
            owner[point] = 1
        elif alive[s] and scratch.inner[s] <= 1:
            owner[point] = 2
        count += owner[point] != 0
    return count


@kernel
def _kill_weak_chains(sets: int, scratch: Scratch) -> None:
    """Until nothing changes: a chain with fewer than two vital regions dies, and every region it touches with it."""
    alive, touch = scratch.alive, scratch.touch
    changed = True
    while changed:
        changed = False
        for chain in range(sets):
            vital = touched = 0
            for region in range(sets):
                touched += touch[region, chain] >= 0
                vital += alive[region] and touch[region, chain] == scratch.size[region]
            if alive[chain] and touched > 0 and vital < 2:  # the label of a region touches nothing here
                changed = True
                alive[chain] = 0
                for region in range(sets):
                    if touch[region, chain] >= 0:
                        alive[region] = 0
