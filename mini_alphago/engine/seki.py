"""Seki: stones that live, though neither they nor the enemies beside them have what it takes to live alone.

Worked out from shape, on the board without its dead stones. An empty region is *territory* if one colour alone touches
it, and *locked* if both do and a stone in it, of either colour, takes nothing and is in atari. A *group* is chains that
touch the same territory; it lives alone if it has two regions of it, or one that is large enough to be divided. Groups
that do not are in seki with each other when they share a locked region and there is nowhere else to play beside them.
"""

from typing import NamedTuple

import numpy as np

from ..game import BLACK, EMPTY, WHITE, Board

Point = tuple[int, int]

SURE = 0.6  # mean ownership of points at which they belong to somebody
_DIVISIBLE = 4  # points of territory that make two eyes


class Chain(NamedTuple):
    """Connected stones."""

    color: int
    stones: set[Point]
    liberties: set[Point]


class _Region(NamedTuple):
    """Connected empty points."""

    points: set[Point]
    chains: list[int]  # that touch it
    colors: set[int]  # of those


def chains_of(board: Board) -> list[Chain]:
    """All chains, in board order of their first stones."""
    chains: list[Chain] = []
    seen: set[Point] = set()
    for x, y in np.argwhere(board.board != EMPTY).tolist():
        if (x, y) not in seen:
            chains.append(Chain(int(board.board[x, y]), *board.get_group(x, y)))
            seen |= chains[-1].stones
    return chains


def seki_stones(board: Board, dead: list[Point], owner: np.ndarray | None = None) -> set[Point]:
    """The stones in seki, whole chains, if those of `dead` are dead.

    owner: [size, size] float, who is expected to own each point, 1 Black to -1 White; None: nothing is known of it.
    What somebody is sure to own is not locked.
    """
    board = board.copy()
    board.remove_group(dead)
    chains = chains_of(board)
    regions = _regions(board, chains)
    groups = _groups(chains, regions)
    locked = [region for region in regions if len(region.colors) == 2 and _is_locked(board, region, owner)]
    stuck = _cannot_live_alone(regions, groups)
    for region in regions:
        if len(region.colors) == 2 and region not in locked:
            stuck -= {groups[chain] for chain in region.chains}
    found: set[int] = set()
    for region in locked:
        touching = [chain for chain in region.chains if groups[chain] in stuck]
        if len({chains[chain].color for chain in touching}) == 2:
            found |= {groups[chain] for chain in touching}
    return {point for chain, group in zip(chains, groups, strict=True) if group in found for point in chain.stones}


def _regions(board: Board, chains: list[Chain]) -> list[_Region]:
    regions = []
    left = {(x, y) for x, y in np.argwhere(board.board == EMPTY).tolist()}
    while left:
        points: set[Point] = set()
        border = {left.pop()}
        while border:
            points |= border
            border = {q for p in border for q in board.get_neighbors(*p) if q in left}
            left -= border
        touching = [i for i, chain in enumerate(chains) if chain.liberties & points]
        regions.append(_Region(points, touching, {chains[i].color for i in touching}))
    return regions


def _is_locked(board: Board, region: _Region, owner: np.ndarray | None) -> bool:
    if owner is not None and abs(np.mean([owner[point] for point in region.points])) >= SURE:
        return False
    for player in (BLACK, WHITE):
        for point in region.points:
            after = board.copy()
            after.current_player = player
            if after.play(*point) and (after.prisoners != board.prisoners or after.count_liberties(*point) > 1):
                return False
    return True


def _groups(chains: list[Chain], regions: list[_Region]) -> list[int]:
    """For each chain the number of its group."""
    groups = list(range(len(chains)))
    for region in regions:
        if len(region.colors) == 1:
            joined = {groups[chain] for chain in region.chains}
            groups = [min(joined) if group in joined else group for group in groups]
    return groups


def _cannot_live_alone(regions: list[_Region], groups: list[int]) -> set[int]:
    """The numbers of groups that have less than two eyes of their own."""
    eyes = dict.fromkeys(groups, 0)
    for region in regions:
        if len(region.colors) == 1:
            eyes[groups[region.chains[0]]] += 2 if len(region.points) >= _DIVISIBLE else 1
    return {group for group, count in eyes.items() if count < 2}
