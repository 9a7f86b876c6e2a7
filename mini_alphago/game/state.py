"""The rules of Go, compiled, on a batch of games held as arrays.

`Games` is the batch. A kernel works on one game of it, `kernel(games, g, ...)`. A point is a flat index `x * size + y`,
and `size * size` means pass; that same index of `color` holds a WALL, which is what every neighbour off the board
points to, so no kernel ever tests for the edge.

Chains are kept up to date move by move: each stone knows the `head` of its chain and the `next` stone in a ring; the
head carries the number of stones and liberties. So legality costs a look at the four neighbours.

Superko costs nothing almost everywhere: a move that repeats a position puts a stone where one of the same colour stood
then, and has been taken off since. `removed` knows those points, and only for them are hashes compared.
"""

from typing import Any

from ..intrinsics import copy_row
from ..kernel import kernel
from .arrays import (
    BLACK,
    EMPTY,
    KO,
    KO_POSITIONAL,
    KO_SIMPLE,
    KO_SITUATIONAL,
    LEGAL,
    MAX_SIZE,
    MIN_SIZE,
    MOVE,
    NEIGHBORS,
    NO_CHAIN,
    NO_POINT,
    OCCUPIED,
    OVER,
    RECENT,
    SCORING_AREA,
    SCORING_TERRITORY,
    SUICIDE,
    SUPERKO,
    WALL,
    WHITE,
    ZOBRIST,
    Games,
    Position,
    new_games,
)
from .legality import is_first_contact, legality, legality_map, position_of

__all__ = [
    "BLACK",
    "EMPTY",
    "KO",
    "KO_POSITIONAL",
    "KO_SIMPLE",
    "KO_SITUATIONAL",
    "LEGAL",
    "MAX_SIZE",
    "MIN_SIZE",
    "MOVE",
    "NEIGHBORS",
    "NO_CHAIN",
    "NO_POINT",
    "OCCUPIED",
    "OVER",
    "RECENT",
    "SCORING_AREA",
    "SCORING_TERRITORY",
    "SUICIDE",
    "SUPERKO",
    "WALL",
    "WHITE",
    "ZOBRIST",
    "Games",
    "Position",
    "clear",
    "copy_game",
    "legality",
    "legality_map",
    "new_games",
    "place",
    "play",
    "remember",
    "set_position",
    "try_play",
]


@kernel
def clear(games: Games, g: int) -> None:
    """Start game `g` anew on an empty board, Black to move; size, rules and komi stay."""
    info = games.info[g]
    info.to_move = BLACK
    info.move_count = 0
    info.black_prisoners = 0
    info.white_prisoners = 0
    _empty_board(games, g)
    remember(games, g)


@kernel
def set_position(games: Games, g: int, stones: Any, to_move: int) -> bool:
    """Put `stones` ([size²] int8) on the board of game `g`, as if the game began here; moves so far stay on record.

    False if some chain has no liberty; the game is then not to be used before another `set_position` or `clear`.
    """
    info = games.info[g]
    info.to_move = to_move
    _empty_board(games, g)
    area = info.size * info.size
    for point in range(area):
        if stones[point] != EMPTY:
            _add_stone(position_of(games, g), point, stones[point])
    remember(games, g)
    for point in range(area):
        if stones[point] != EMPTY and games.points[g, games.points[g, point].head].liberties == 0:
            return False
    return True


@kernel
def copy_game(target: Games, t: int, source: Games, s: int) -> None:
    """Make game `t` of one batch the same as game `s` of another, which fits. `mark` stays: it is scratch."""
    info = source.info[s]
    stamp = target.info[t].stamp
    target.info[t] = info
    target.info[t].stamp = stamp
    area = info.size * info.size
    copy_row(target.color[t], source.color[s], area + 1)
    copy_row(target.points[t], source.points[s], area + 1)
    copy_row(target.removed[t], source.removed[s], area)
    for slot in range(min(RECENT, info.move_count)):
        copy_row(target.recent[t, slot], source.recent[s, slot], area)
    copy_row(target.moves[t], source.moves[s], info.move_count)
    copy_row(target.keys[t], source.keys[s], info.move_count + 1)


@kernel
def _empty_board(games: Games, g: int) -> None:
    info = games.info[g]
    area = info.size * info.size
    info.first_move = info.move_count
    info.ko_point = NO_POINT
    info.passes = 0
    info.hash = 0
    for point in range(area + 1):
        games.color[g, point] = EMPTY
        games.points[g, point].head = NO_CHAIN
        games.removed[g, point] = 0
    games.color[g, area] = WALL
    games.points[g, area].liberties = 0


@kernel
def remember(games: Games, g: int) -> None:
    """Enter the position on the board into what superko forbids."""
    info = games.info[g]
    key = info.hash
    if info.ko_rule == KO_SITUATIONAL:
        key ^= games.zobrist[info.to_move, MAX_SIZE * MAX_SIZE]
    games.keys[g, info.move_count] = key


@kernel
def play(games: Games, g: int, point: int) -> None:
    """Make a move for the player to move; `size²` passes. Not checked: that it is legal, that `moves` has room."""
    info = games.info[g]
    area = info.size * info.size
    player = info.to_move
    slot = info.move_count % RECENT
    copy_row(games.recent[g, slot], games.color[g], area)
    games.moves[g, info.move_count].point = point
    games.moves[g, info.move_count].player = player
    info.ko_point = NO_POINT
    if point == area:
        info.passes += 1
    else:
        info.passes = 0
        place(games, g, point, player)
    info.to_move = 3 - player
    info.move_count += 1
    remember(games, g)


@kernel
def try_play(games: Games, g: int, point: int) -> int:
    """`play` if the move is legal, and say so; else change nothing and return the reason."""
    info = games.info[g]
    if info.passes >= 2:
        return OVER
    reason = LEGAL if point == info.size * info.size else legality(games, g, point, info.to_move)
    if reason == LEGAL:
        play(games, g, point)
    return reason


@kernel
def place(games: Games, g: int, point: int, player: int) -> None:
    """The stones after a legal move, captures and a new ko point included; the rest of the game stays. See `play`."""
    position = position_of(games, g)
    info, color, points, neighbors = position.info[0], position.color, position.points, position.neighbors
    _add_stone(position, point, player)
    captured = 0
    captured_point = NO_POINT
    for k in range(4):
        q = neighbors[point, k]
        if color[q] == 3 - player and points[points[q].head].liberties == 0:
            captured += points[points[q].head].stones
            captured_point = q
            _remove_chain(position, points[q].head)
    head = points[point].head
    if points[head].liberties == 0:
        captured = -points[head].stones
        _remove_chain(position, head)
    elif captured == 1 and points[head].stones == 1 and points[head].liberties == 1:
        info.ko_point = captured_point
    if (captured > 0) == (player == BLACK):
        info.black_prisoners += abs(captured)
    else:
        info.white_prisoners += abs(captured)


@kernel
def _add_stone(position: Position, point: int, player: int) -> None:
    """A stone on an empty point, joined to its friends; chains left without liberties stay where they are."""
    info, color, points, neighbors = position.info[0], position.color, position.points, position.neighbors
    liberties = 0
    for k in range(4):
        q = neighbors[point, k]
        head = points[q].head
        if head != NO_CHAIN:
            if is_first_contact(points, neighbors[point], k, head):
                points[head].liberties -= 1
        elif color[q] == EMPTY:
            liberties += 1
    points[point].head = point
    points[point].next = point
    points[point].stones = 1
    points[point].liberties = liberties
    color[point] = player
    info.hash ^= position.zobrist[player, point]
    for k in range(4):
        q = neighbors[point, k]
        if color[q] == player and points[q].head != points[point].head:
            _merge(position, points[q].head, points[point].head)


@kernel
def _merge(position: Position, one: int, other: int) -> None:
    """Join two chains of one colour that touch; the larger gives its name."""
    color, points, mark, neighbors = position.color, position.points, position.mark, position.neighbors
    position.info[0].stamp += 1
    stamp = position.info[0].stamp
    big, small = (one, other) if points[one].stones >= points[other].stones else (other, one)
    count = points[small].stones
    gained = 0
    stone = small
    for _ in range(count):
        for k in range(4):
            q = neighbors[stone, k]
            if color[q] == EMPTY and mark[q] != stamp:
                mark[q] = stamp
                gained += is_first_contact(points, neighbors[q], 4, big)  # no stone of `big` there: a new liberty
        stone = points[stone].next
    for _ in range(count):
        points[stone].head = big
        stone = points[stone].next
    points[big].next, points[small].next = points[small].next, points[big].next
    points[big].liberties += gained
    points[big].stones += count


@kernel
def _remove_chain(position: Position, head: int) -> None:
    """Take a chain off the board; each of its points becomes a liberty of the chains around."""
    color, points, neighbors = position.color, position.points, position.neighbors
    player = color[head]
    count = points[head].stones
    stone = head
    for _ in range(count):
        position.info[0].hash ^= position.zobrist[player, stone]
        position.removed[stone] |= player
        color[stone] = EMPTY
        points[stone].head = NO_CHAIN
        stone = points[stone].next
    for _ in range(count):
        for k in range(4):
            neighbor = points[neighbors[stone, k]].head
            if neighbor != NO_CHAIN and is_first_contact(points, neighbors[stone], k, neighbor):
                points[neighbor].liberties += 1
        stone = points[stone].next
