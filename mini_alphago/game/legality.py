"""Which moves are legal, compiled: a look at the four neighbours, and for the whole board many points at a time."""

from typing import Any

import numpy as np

from ..kernel import inlined_kernel, kernel
from .arrays import (
    EMPTY,
    KO,
    KO_SIMPLE,
    KO_SITUATIONAL,
    LEGAL,
    MAX_SIZE,
    NO_POINT,
    OCCUPIED,
    SUICIDE,
    SUPERKO,
    WALL,
    Games,
    Position,
)

_EMPTY = np.int8(EMPTY)
_LEGAL, _OCCUPIED, _OPEN, _UNKNOWN = np.uint8(LEGAL), np.uint8(OCCUPIED), np.uint8(1), np.uint8(255)


@kernel
def position_of(games: Games, g: int) -> Position:
    """The rows of game `g`."""
    return Position(
        games.info[g : g + 1],
        games.color[g],
        games.points[g],
        games.keys[g],
        games.removed[g],
        games.mark[g],
        games.neighbors[games.info[g].size],
        games.zobrist,
    )


@kernel
def _repeats(position: Position, point: int, player: int) -> bool:
    """Whether a stone of `player` on `point`, which is not suicide, makes a position that was there before."""
    info, color, points = position.info[0], position.color, position.points
    around = position.neighbors[point]
    key = info.hash ^ position.zobrist[player, point]
    for k in range(4):
        head = points[around[k]].head
        if color[around[k]] == 3 - player and points[head].liberties == 1 and is_first_contact(points, around, k, head):
            key ^= _chain_hash(position, head)
    return _was_there(position, key, player)


@kernel
def _was_there(position: Position, key: int, player: int) -> bool:
    """Whether superko knows the position of this hash, after a move of `player`."""
    info = position.info[0]
    if info.ko_rule == KO_SITUATIONAL:
        key ^= position.zobrist[3 - player, MAX_SIZE * MAX_SIZE]
    found = 0
    for i in range(info.first_move, info.move_count + 1):  # to the end: so it looks at several at a time
        found |= position.keys[i] == key
    return found != 0


@kernel
def _chain_hash(position: Position, head: int) -> Any:
    key = np.int64(0)
    stone = head
    for _ in range(position.points[head].stones):
        key ^= position.zobrist[position.color[head], stone]
        stone = position.points[stone].next
    return key


@kernel
def is_first_contact(points: Any, around: Any, k: int, head: int) -> bool:
    """Whether neighbour `k` of the four `around` a point is the first of them that belongs to chain `head`."""
    for earlier in range(k):
        if points[around[earlier]].head == head:
            return False
    return True


@kernel
def legality(games: Games, g: int, point: int, player: int) -> int:
    """LEGAL, or why `player` may not put a stone on `point` now. Passing (`size²`) is not asked for here."""
    return _legality(position_of(games, g), point, player)


@kernel
def _legality(position: Position, point: int, player: int) -> int:
    info, color, points = position.info[0], position.color, position.points
    if color[point] != EMPTY:
        return OCCUPIED
    if point == info.ko_point and player == info.to_move:
        return KO
    around = position.neighbors[point]
    stays = connects = False
    for k in range(4):
        q = around[k]
        if color[q] == EMPTY:
            stays = True
        elif color[q] == player:
            connects = True
            stays |= points[points[q].head].liberties > 1
        elif color[q] != WALL:
            stays |= points[points[q].head].liberties == 1  # captured
    if stays:
        watched = info.ko_rule != KO_SIMPLE and position.removed[point] & player
        return SUPERKO if watched and _repeats(position, point, player) else LEGAL
    if info.suicide and connects:  # a lone stone is never let commit suicide: it would change nothing
        return SUPERKO if info.ko_rule != KO_SIMPLE and _suicide_repeats(position, point, player) else LEGAL
    return SUICIDE


@kernel
def _suicide_repeats(position: Position, point: int, player: int) -> bool:
    color, points = position.color, position.points
    around = position.neighbors[point]
    key = position.info[0].hash
    for k in range(4):
        head = points[around[k]].head
        if color[around[k]] == player and is_first_contact(points, around, k, head):
            key ^= _chain_hash(position, head)
    return _was_there(position, key, player)


@kernel
def legality_map(games: Games, g: int, player: int, reasons: Any) -> None:
    """Write the `legality` of every move of `player`, the pass included, to `reasons` ([A] uint8)."""
    position = position_of(games, g)
    info = position.info[0]
    area = info.size * info.size
    _mark_open(position.color, info.size, reasons)
    watched = np.uint8(player if info.ko_rule != KO_SIMPLE else 0)
    for point in range(area):
        simple = (reasons[point] == _OPEN) & (position.removed[point] & watched == 0)
        free = position.color[point] == _EMPTY
        reasons[point] = (_LEGAL if simple else _UNKNOWN) if free else _OCCUPIED
    for point in range(area):
        if reasons[point] == _UNKNOWN:
            reasons[point] = _legality(position, point, player)
    if info.ko_point != NO_POINT and player == info.to_move:
        reasons[info.ko_point] = KO
    reasons[area] = LEGAL


@inlined_kernel
def _mark_open(color: Any, size: int, marks: Any) -> None:
    """Write 1 (_OPEN) where a point has an empty neighbour, else 0: loops over bytes, many points at a time.

    Shifted rows are slices, of which Numba knows that no index is negative.
    """
    area = size * size
    second, third, inner = color[1:area], color[2:area], marks[1:area]
    for p in range(area - 2):
        inner[p] = (color[p] == _EMPTY) | (third[p] == _EMPTY)
    for first in range(0, area, size):  # at its ends a row has one neighbour, whatever lies beyond them in memory
        marks[first] = second[first] == _EMPTY
        inner[first + size - 2] = color[first + size - 2] == _EMPTY
    next_row, later = color[size:area], marks[size:area]
    for p in range(area - size):
        later[p] |= color[p] == _EMPTY
    for p in range(area - size):
        marks[p] |= next_row[p] == _EMPTY
