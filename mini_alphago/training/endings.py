"""Compiled parts of self-play that are about the game alone: when it is over, how it is scored, random beginnings."""

from typing import Any

import numpy as np

from ..game.eyes import sensible_points
from ..game.scoring import BLACK_OWNS, WHITE_OWNS, Scratch, area_ownership, may_live, new_scratch, pass_alive
from ..game.state import BLACK, WHITE, Games, clear, play
from ..kernel import index, kernel, parallel_kernel, prange
from .records import LIMIT, PASSES, SETTLED


@kernel
def _alive_points(
    color: Any, neighbors: Any, area: int, player: int, suicide: int, scratch: Scratch, owner: Any
) -> int:
    """`pass_alive`, but for the scratch, which it leaves in any state; most boards need no more than a glance."""
    if may_live(color, neighbors, area, player, suicide, scratch):
        return pass_alive(color, neighbors, area, player, suicide, scratch, owner)
    for point in range(area):
        owner[point] = 0
    return 0


@kernel
def _settled(games: Games, g: int, scratch: Scratch, owner: Any, other: Any) -> bool:
    """Whether every point is pass-alive for someone; `owner` ([A] int8) then says whose each is."""
    info, color = games.info[g], games.color[g]
    area, neighbors = info.size * info.size, games.neighbors[info.size]
    black = _alive_points(color, neighbors, area, BLACK, info.suicide, scratch, owner)
    if black == 0 and info.move_count < area:  # the second look is needed only late, or where the first found something
        return False
    white = _alive_points(color, neighbors, area, WHITE, info.suicide, scratch, other)
    if black + white < area:
        return False
    for point in range(area):
        owner[point] = BLACK_OWNS if owner[point] != 0 else WHITE_OWNS
    return True


@kernel
def end_of_game(games: Games, g: int, limit: int, settle: bool, scratch: Scratch, owner: Any, other: Any) -> int:
    """How game `g` has ended: PASSES, LIMIT, SETTLED; 0 if it goes on. If it ended, `owner` says whose each point is.

    A settled game is owned as pass-alive life says, dead stones taken off; any other as it stands.
    """
    info = games.info[g]
    area = info.size * info.size
    if info.passes < 2 and settle and 2 * info.move_count > area and _settled(games, g, scratch, owner, other):
        return SETTLED
    if info.passes >= 2 or info.move_count >= limit:
        area_ownership(games.color[g], games.neighbors[info.size], area, owner, scratch.stack)
        return PASSES if info.passes >= 2 else LIMIT
    return 0


@kernel
def _find_ends_of_one(
    games: Games, limit: int, settle: bool, rooms: Scratch, other: Any, room: int, ending: Any, ownership: Any
) -> None:
    """`end_of_game` for every game whose number, by the number of rooms, leaves `room`."""
    scratch = Scratch(
        rooms.stack[room], rooms.label[room], rooms.size[room], rooms.inner[room], rooms.alive[room], rooms.touch[room]
    )
    for g in range(room, len(ending), len(other)):
        ending[g] = end_of_game(games, g, limit, settle, scratch, ownership[g], other[room])


@parallel_kernel
def find_ends(games: Games, limit: int, settle: bool, rooms: Scratch, other: Any, ending: Any, ownership: Any) -> None:
    """`end_of_game` for all games: `ending` [games] uint8 and, of the ended ones, `ownership` [games, A] int8.

    rooms: `Scratch` with one more axis in front, and `other` [rooms, A] int8: room to work for so many threads.
    """
    for room in prange(len(other)):
        _find_ends_of_one(games, limit, settle, rooms, other, index(room), ending, ownership)


def new_rooms(count: int, points: int) -> tuple[Scratch, np.ndarray]:
    """Room for `find_ends` in so many threads."""
    one = new_scratch(points)
    return Scratch(*(np.stack([array] * count) for array in one)), np.zeros((count, points), np.int8)


@kernel
def play_random(games: Games, g: int, draws: Any, reasons: Any, points: Any) -> None:
    """A random legal move that fills no own eye for each of `draws` ([n] float64 in [0, 1)), while there are any.

    reasons, points: [A] uint8 and int16, room to work.
    """
    for draw in draws:
        count = sensible_points(games, g, reasons, points)
        if count == 0:
            return
        play(games, g, index(points[int(draw * count)]))


@kernel
def replay_moves(games: Games, g: int, moves: Any) -> None:
    """Start game `g` anew and make these moves, which are legal."""
    clear(games, g)
    for move in moves:
        play(games, g, move)
