"""Which chains a ladder captures: a compiled search by the rules that KataGo's networks were trained with.

Every chain with one or two liberties is asked about, whoever is to move. The attacker keeps the chain in atari at each
move; the defender runs, or takes an attacker in atari. The chain escapes with two liberties on the defender's turn or
three on the attacker's. A ladder that leaves the defender facing a ko counts as failed, superko plays no part, and
nobody may commit suicide.
"""

from typing import Any, NamedTuple

import numpy as np

from ...game import state
from ...game.state import EMPTY, LEGAL, NO_POINT, WALL, Games
from ...intrinsics import copy_row
from ...kernel import index, kernel

_ESCAPED, _CAPTURED, _OPEN = 0, 1, 2
_BUDGET = 25000  # moves in one search; a chain not captured by then counts as escaped


class Stacks(NamedTuple):
    """What a search remembers at each depth, in R threads: boards of up to A - 1 points, D = 3 (A - 1) / 2 moves."""

    color: np.ndarray  # [R, D + 1, A] int8: the board to come back to; the last one is where all searches start
    points: np.ndarray  # [R, D + 1, A] POINT
    ko: np.ndarray  # [R, D + 1] int32
    moves: np.ndarray  # [R, D + 1, A // 2 + 2] int16: what there is to try
    listed: np.ndarray  # [R, D + 1] int32: how many there are
    tried: np.ndarray  # [R, D + 1] int32: how many of them were tried


class LadderRoom(NamedTuple):
    """Room to read ladders in R threads."""

    boards: Games  # [R] games: the boards played on
    stacks: Stacks


def new_ladder_room(threads: int, size: int) -> LadderRoom:
    """Room for so many threads and boards of up to that size."""
    points = size * size + 1
    shape = (threads, 3 * size * size // 2 + 1)
    boards = state.new_games(threads, size, 1)
    stacks = Stacks(
        color=np.empty((*shape, points), np.int8),
        points=np.empty((*shape, points), boards.points.dtype),
        ko=np.empty(shape, np.int32),
        moves=np.empty((*shape, points // 2 + 2), np.int16),
        listed=np.empty(shape, np.int32),
        tried=np.empty(shape, np.int32),
    )
    return LadderRoom(boards, stacks)


@kernel
def _save(room: LadderRoom, r: int, slot: int) -> None:
    boards, stacks = room.boards, room.stacks
    area = boards.info[r].size * boards.info[r].size
    copy_row(stacks.color[r, slot], boards.color[r], area)
    copy_row(stacks.points[r, slot], boards.points[r], area)
    stacks.ko[r, slot] = boards.info[r].ko_point


@kernel
def _restore(room: LadderRoom, r: int, slot: int) -> None:
    boards, stacks = room.boards, room.stacks
    area = boards.info[r].size * boards.info[r].size
    copy_row(boards.color[r], stacks.color[r, slot], area)
    copy_row(boards.points[r], stacks.points[r, slot], area)
    boards.info[r].ko_point = stacks.ko[r, slot]


@kernel
def _move(boards: Games, r: int, point: int, player: int) -> bool:
    """Play there if it is legal; False, and nothing changed, if not."""
    info = boards.info[r]
    info.to_move = player
    if state.legality(boards, r, point, player) != LEGAL:
        return False
    info.ko_point = NO_POINT
    state.place(boards, r, point, player)
    return True


@kernel
def _liberties(boards: Games, r: int, stone: int) -> tuple[int, int]:
    """Two liberties of a chain, in the order found; the second is NO_POINT if there is but one."""
    color, points, neighbors = boards.color[r], boards.points[r], boards.neighbors[boards.info[r].size]
    first = NO_POINT
    head = index(points[stone].head)
    at = head
    for _ in range(points[head].stones):
        for k in range(4):
            q = index(neighbors[at, k])
            if color[q] == EMPTY and q != first:
                if first != NO_POINT:
                    return first, q
                first = q
        at = index(points[at].next)
    return first, NO_POINT


@kernel
def _captures(room: LadderRoom, r: int, depth: int, stone: int, own: int) -> int:
    """List at `depth` where the chain can take attackers that touch it, but for `own`; return how many there are."""
    boards = room.boards
    info, color, points, mark = boards.info[r], boards.color[r], boards.points[r], boards.mark[r]
    neighbors = boards.neighbors[info.size]
    attacker = 3 - color[stone]
    info.stamp += 1
    mark[own] = info.stamp  # marked are points on the list, and heads of attacking chains that were looked at
    count = 0
    at = index(points[stone].head)
    for _ in range(points[at].stones):
        for k in range(4):
            q = neighbors[at, k]
            head = points[q].head
            if color[q] == attacker and mark[head] != info.stamp:
                mark[head] = info.stamp
                if points[head].liberties == 1:
                    point = _liberties(boards, r, index(head))[0]
                    if mark[point] != info.stamp:
                        mark[point] = info.stamp
                        room.stacks.moves[r, depth, count] = point
                        count += 1
        at = index(points[at].next)
    return count


@kernel
def _look_as_defender(room: LadderRoom, r: int, depth: int, stone: int) -> int:
    """Whether the chain has escaped or is lost on its owner's turn; if it is open, list what to try at `depth`."""
    boards = room.boards
    color, points, neighbors = boards.color[r], boards.points[r], boards.neighbors[boards.info[r].size]
    if points[points[stone].head].liberties >= 2 or boards.info[r].ko_point != NO_POINT:
        return _ESCAPED
    own = _liberties(boards, r, stone)[0]
    others = _captures(room, r, depth, stone, own)
    room.stacks.moves[r, depth, others] = own
    room.stacks.listed[r, depth] = others + 1
    empty = taken = freed = joined = most = 0  # what a stone on the liberty would gain
    for k in range(4):
        q = neighbors[own, k]
        if color[q] == EMPTY:
            empty += 1
        elif color[q] != WALL:
            chain = points[points[q].head]
            if color[q] == color[stone]:
                joined += chain.liberties - 1
                most = max(most, chain.liberties - 1)
            elif chain.liberties == 1:
                taken += 1
                freed += chain.stones
    if taken + max(most, empty) >= 3:
        return _ESCAPED
    if others == 0 and empty + freed + joined <= 1:
        return _CAPTURED
    return _OPEN


@kernel
def _is_ko_capture(boards: Games, r: int, point: int, attacker: int) -> bool:
    """Whether a stone of `attacker` on the empty `point`, all defenders around, would take just one stone."""
    color, points, around = boards.color[r], boards.points[r], boards.neighbors[boards.info[r].size, point]
    prey = 0
    for k in range(4):
        q = around[k]
        if color[q] == WALL:
            continue
        if color[q] != 3 - attacker:
            return False
        chain = points[points[q].head]
        if chain.liberties == 1:
            if chain.stones != 1:
                return False
            prey += 1
    return prey == 1


@kernel
def _stays_short(boards: Games, r: int, point: int, defender: int) -> bool:
    """Whether a stone of `defender` on `point`, among its own stones, makes a chain of two liberties or fewer."""
    info, color, points, mark = boards.info[r], boards.color[r], boards.points[r], boards.mark[r]
    neighbors = boards.neighbors[info.size]
    info.stamp += 1
    mark[point] = info.stamp
    liberties = 0
    for k in range(4):
        start = neighbors[point, k]
        if color[start] != defender:
            continue
        at = start
        for _ in range(points[points[start].head].stones):
            for j in range(4):
                q = neighbors[at, j]
                if color[q] == EMPTY and mark[q] != info.stamp:
                    mark[q] = info.stamp
                    liberties += 1
            at = points[at].next
    return liberties <= 2


@kernel
def _is_double_ko(room: LadderRoom, r: int, depth: int, stone: int, a: int, b: int) -> bool:
    """Whether both liberties are kos that the defender cannot win: the attacker always has the other one."""
    boards = room.boards
    defender = boards.color[r, stone]
    if not _is_ko_capture(boards, r, a, 3 - defender) or not _is_ko_capture(boards, r, b, 3 - defender):
        return False
    if not _stays_short(boards, r, a, defender) or not _stays_short(boards, r, b, defender):
        return False
    return _captures(room, r, depth, stone, index(boards.info[r].size * boards.info[r].size)) == 0


@kernel
def _room_at(boards: Games, r: int, point: int, defender: int) -> tuple[int, int]:
    """Empty neighbours of a liberty, and how much the defender would gain by playing there: what to block first."""
    color, points, around = boards.color[r], boards.points[r], boards.neighbors[boards.info[r].size, point]
    empty = gain = 0
    for k in range(4):
        q = around[k]
        if color[q] == EMPTY:
            empty += 1
        elif color[q] == defender and points[points[q].head].liberties > 1:
            gain += 2 * points[points[q].head].liberties - 3
    return empty, 2 * empty + gain


@kernel
def _look_as_attacker(room: LadderRoom, r: int, depth: int, stone: int) -> int:
    """Whether the chain is lost or has escaped on the attacker's turn; if it is open, list what to try at `depth`."""
    boards = room.boards
    liberties = boards.points[r, boards.points[r, stone].head].liberties
    if liberties != 2:
        return _CAPTURED if liberties < 2 else _ESCAPED
    a, b = _liberties(boards, r, stone)
    if _is_double_ko(room, r, depth, stone, a, b):
        return _CAPTURED
    empty_a, gain_a = _room_at(boards, r, a, boards.color[r, stone])
    empty_b, gain_b = _room_at(boards, r, b, boards.color[r, stone])
    adjacent = False
    for k in range(4):
        adjacent |= boards.neighbors[boards.info[r].size, a, k] == b
    if not adjacent and empty_a >= 3 and empty_b >= 3:
        return _ESCAPED
    if gain_b > gain_a:
        a, b, empty_a, empty_b = b, a, empty_b, empty_a
    if not adjacent and empty_b >= 3:  # where three points are open, the chain must not get
        a, b, empty_a, empty_b = b, a, empty_b, empty_a
    room.stacks.moves[r, depth, 0] = a
    room.stacks.moves[r, depth, 1] = b
    room.stacks.listed[r, depth] = 1 if not adjacent and empty_a >= 3 else 2
    return _OPEN


@kernel
def _look(room: LadderRoom, r: int, depth: int, stone: int) -> int:
    boards = room.boards
    if depth >= boards.info[r].size * boards.info[r].size * 3 // 2:
        return _CAPTURED
    defends = depth % 2 == 0
    verdict = _look_as_defender(room, r, depth, stone) if defends else _look_as_attacker(room, r, depth, stone)
    if verdict == _OPEN:
        room.stacks.tried[r, depth] = 0
        if room.stacks.listed[r, depth] > 1:
            _save(room, r, depth)
    return verdict


@kernel
def _try_next(room: LadderRoom, r: int, depth: int, player: int) -> bool:
    """Play the next legal move listed at `depth`; False if there is none left."""
    while room.stacks.tried[r, depth] < room.stacks.listed[r, depth]:
        n = room.stacks.tried[r, depth]
        room.stacks.tried[r, depth] = n + 1
        if n > 0:
            _restore(room, r, depth)
        if _move(room.boards, r, index(room.stacks.moves[r, depth, n]), player):
            return True
    return False


@kernel
def _is_captured(room: LadderRoom, r: int, stone: int) -> bool:
    """Whether the chain in atari on `stone` is lost, its owner to move; leaves the board in disorder."""
    boards = room.boards
    boards.info[r].ko_point = NO_POINT  # any ko may be taken at first
    defender = index(boards.color[r, stone])
    depth = played = 0
    verdict = _look(room, r, depth, stone)
    while depth > 0 or verdict == _OPEN:
        defends = depth % 2 == 0
        if verdict == _OPEN:
            if _try_next(room, r, depth, defender if defends else 3 - defender):
                played += 1
                if played >= _BUDGET:
                    return False
                depth += 1
                verdict = _look(room, r, depth, stone)
            else:
                verdict = _CAPTURED if defends else _ESCAPED
        else:
            depth -= 1
            if verdict != (_ESCAPED if depth % 2 == 0 else _CAPTURED):
                verdict = _OPEN  # not what the player at this depth wants: the next move there
    return verdict == _CAPTURED


@kernel
def _is_laddered(room: LadderRoom, r: int, start: int, stone: int, working: Any) -> bool:
    """Whether a ladder captures the chain on `stone`; of two liberties, marks in `working` where the attack succeeds.

    start: the slot of `room` with the board, which is on it before and after.
    """
    boards = room.boards
    liberties = boards.points[r, boards.points[r, stone].head].liberties
    if liberties == 1:
        found = _is_captured(room, r, stone)
        _restore(room, r, start)
        return found
    found = False
    attacker = index(3 - boards.color[r, stone])
    a, b = _liberties(boards, r, stone)
    for point in (a, b):
        if _move(boards, r, point, attacker):
            if _is_captured(room, r, stone):
                found = True
                working[point] = 1
            _restore(room, r, start)
    return found


@kernel
def find_ladders(room: LadderRoom, r: int, victim: int, laddered: Any, working: Any) -> None:
    """Mark the stones of every chain that a ladder captures on board `r` of the room, and the moves that begin one.

    laddered: [area] int8, 1 on those stones of either colour, else 0. working: the same for the moves that capture a
    chain of the colour `victim` with two liberties.
    """
    boards = room.boards
    color, points = boards.color[r], boards.points[r]
    area = boards.info[r].size * boards.info[r].size
    start = index(room.stacks.ko.shape[1] - 1)
    _save(room, r, start)
    laddered[:area] = 0
    for player in (3 - victim, victim):  # the victim last: other chains leave nothing in `working` that way
        working[:area] = 0
        for stone in range(area):
            if color[stone] == player and points[stone].head == stone and points[stone].liberties <= 2:
                at = index(stone)
                if _is_laddered(room, r, start, at, working):
                    for _ in range(points[stone].stones):
                        laddered[at] = 1
                        at = index(points[at].next)
