"""The rules of Go, compiled, on a batch of games held as arrays.

`Games` is the batch. A kernel works on one game of it, `kernel(games, g, ...)`. A point is a flat index `x * size + y`,
and `size * size` means pass; that same index of `color` holds a WALL, which is what every neighbour off the board
points to, so no kernel ever tests for the edge.

Chains are kept up to date move by move: each stone knows the `head` of its chain and the `next` stone in a ring; the
head carries the number of stones and liberties and the hash of its stones. So legality, superko included, costs a look
at the four neighbours.
"""

from typing import Any, NamedTuple

import numpy as np

from ..kernel import kernel

EMPTY, BLACK, WHITE, WALL = 0, 1, 2, 3
MIN_SIZE, MAX_SIZE = 2, 19
RECENT = 8  # positions kept before the current one
NO_POINT = -1
NO_CHAIN = 65535  # points are unsigned in the tables: Numba then leaves out its test for negative indices

KO_SIMPLE, KO_POSITIONAL, KO_SITUATIONAL = 0, 1, 2
SCORING_AREA, SCORING_TERRITORY = 0, 1
LEGAL, OCCUPIED, KO, SUPERKO, SUICIDE, OVER = 0, 1, 2, 3, 4, 5

_FILTER_BITS = 4096  # a power of two; at 300 positions about 7 % of the misses still scan the list of keys

INFO = np.dtype(
    [
        ("size", np.int32),
        ("ko_rule", np.int32),
        ("scoring", np.int32),
        ("suicide", np.int32),  # 1: a chain of two or more may take its own last liberty
        ("komi", np.float32),  # what White gets in all, handicap compensation included
        ("to_move", np.int32),
        ("ko_point", np.int32),  # where `to_move` may not retake now, or NO_POINT
        ("passes", np.int32),  # in a row, just now
        ("move_count", np.int32),
        ("first_move", np.int32),  # move_count at the last free setup: superko and `recent` remember nothing older
        ("black_prisoners", np.int32),  # white stones that Black has taken
        ("white_prisoners", np.int32),
        ("stamp", np.int32),  # last value written to `mark`
        ("hash", np.int64),
    ],
    align=True,
)
POINT = np.dtype(
    [
        ("head", np.uint16),  # the chain's name: the index of one of its stones; NO_CHAIN on empty points and walls
        ("next", np.uint16),  # the next stone of the chain's ring
        ("stones", np.int16),  # at the head only, like the two below
        ("liberties", np.int16),
        ("hash", np.int64),
    ],
    align=True,
)
MOVE = np.dtype([("point", np.int16), ("player", np.int16)])


class Games(NamedTuple):
    """A batch of games. A = (largest size)² + 1, M = the most moves a game can hold."""

    info: np.ndarray  # [games] INFO
    color: np.ndarray  # [games, A] int8: EMPTY, BLACK, WHITE; WALL at index size²
    points: np.ndarray  # [games, A] POINT: the chains
    moves: np.ndarray  # [games, M] MOVE
    keys: np.ndarray  # [games, M + 1] int64: what superko compares, one for each position since `first_move`
    key_filter: np.ndarray  # [games, 64] int64: a Bloom filter over `keys`
    recent: np.ndarray  # [games, RECENT, A] int8: `color` before move n is in slot n % RECENT
    mark: np.ndarray  # [games, A] int32: scratch, valid where equal to the stamp at hand
    neighbors: np.ndarray  # [MAX_SIZE + 1, MAX_SIZE², 4] uint16, one table for every batch
    zobrist: np.ndarray  # [3, MAX_SIZE² + 1] int64, likewise; [player, MAX_SIZE²] says who is to move


class Position(NamedTuple):
    """One game's row of what the chain functions work on: views, which cost nothing without reference counts."""

    info: np.ndarray  # [1] INFO
    color: np.ndarray  # [A] int8
    points: np.ndarray  # [A] POINT
    mark: np.ndarray  # [A] int32
    neighbors: np.ndarray  # [MAX_SIZE², 4] uint16
    zobrist: np.ndarray  # [3, MAX_SIZE² + 1] int64


def _neighbor_table() -> np.ndarray:
    table = np.zeros((MAX_SIZE + 1, MAX_SIZE * MAX_SIZE, 4), np.uint16)
    for size in range(MIN_SIZE, MAX_SIZE + 1):
        for point in range(size * size):
            x, y = divmod(point, size)
            for k, (i, j) in enumerate(((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))):
                table[size, point, k] = i * size + j if 0 <= i < size and 0 <= j < size else size * size
    return table


NEIGHBORS = _neighbor_table()
ZOBRIST = np.random.default_rng(0x60).integers(-(2**63), 2**63, (3, MAX_SIZE * MAX_SIZE + 1), np.int64)
NEIGHBORS.flags.writeable = ZOBRIST.flags.writeable = False


def new_games(count: int, size: int, max_moves: int) -> Games:
    """An empty batch for boards up to `size`; rules are zero until written to `info`, and each game needs `clear`."""
    points = size * size + 1
    games = Games(
        info=np.zeros(count, INFO),
        color=np.zeros((count, points), np.int8),
        points=np.zeros((count, points), POINT),
        moves=np.zeros((count, max_moves), MOVE),
        keys=np.zeros((count, max_moves + 1), np.int64),
        key_filter=np.zeros((count, _FILTER_BITS // 64), np.int64),
        recent=np.zeros((count, RECENT, points), np.int8),
        mark=np.zeros((count, points), np.int32),
        neighbors=NEIGHBORS,
        zobrist=ZOBRIST,
    )
    games.info["size"] = size
    return games


@kernel
def _position(games: Games, g: int) -> Position:
    neighbors = games.neighbors[games.info[g].size]
    return Position(games.info[g : g + 1], games.color[g], games.points[g], games.mark[g], neighbors, games.zobrist)


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
            _add_stone(_position(games, g), point, stones[point])
    remember(games, g)
    for point in range(area):
        if stones[point] != EMPTY and games.points[g, games.points[g, point].head].liberties == 0:
            return False
    return True


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
    games.color[g, area] = WALL
    for word in range(games.key_filter.shape[1]):
        games.key_filter[g, word] = 0


@kernel
def remember(games: Games, g: int) -> None:
    """Enter the position on the board into what superko forbids."""
    info = games.info[g]
    key = info.hash
    if info.ko_rule == KO_SITUATIONAL:
        key ^= games.zobrist[info.to_move, MAX_SIZE * MAX_SIZE]
    games.keys[g, info.move_count] = key
    bit = key & (_FILTER_BITS - 1)
    games.key_filter[g, bit >> 6] |= np.int64(1) << (bit & 63)


@kernel
def _seen(games: Games, g: int, key: int) -> bool:
    bit = key & (_FILTER_BITS - 1)
    if (games.key_filter[g, bit >> 6] >> (bit & 63)) & 1 == 0:
        return False
    for i in range(games.info[g].first_move, games.info[g].move_count + 1):
        if games.keys[g, i] == key:
            return True
    return False


@kernel
def _is_first_contact(points: Any, around: Any, k: int, head: int) -> bool:
    """Whether neighbour `k` of the four `around` a point is the first of them that belongs to chain `head`."""
    for earlier in range(k):
        if points[around[earlier]].head == head:
            return False
    return True


@kernel
def legality(games: Games, g: int, point: int, player: int) -> int:
    """LEGAL, or why `player` may not put a stone on `point` now. Passing (`size²`) is not asked for here."""
    info, color, points = games.info[g], games.color[g], games.points[g]
    if color[point] != EMPTY:
        return OCCUPIED
    if point == info.ko_point and player == info.to_move:
        return KO
    around = games.neighbors[info.size, point]
    captured_hash = np.int64(0)
    own_hash = np.int64(0)
    breathes = captures = connects = False
    for k in range(4):
        q = around[k]
        if color[q] == EMPTY:
            breathes = True
        elif color[q] != WALL:
            head = points[q].head
            if color[q] == player:
                connects = True
                if points[head].liberties > 1:
                    breathes = True
                elif _is_first_contact(points, around, k, head):
                    own_hash ^= points[head].hash
            elif points[head].liberties == 1:
                captures = True
                if _is_first_contact(points, around, k, head):
                    captured_hash ^= points[head].hash
    key = info.hash
    if breathes or captures:
        key ^= games.zobrist[player, point] ^ captured_hash
    elif info.suicide and connects:
        key ^= own_hash  # a lone stone is never let commit suicide: it would change nothing
    else:
        return SUICIDE
    if info.ko_rule == KO_SIMPLE:
        return LEGAL
    if info.ko_rule == KO_SITUATIONAL:
        key ^= games.zobrist[3 - player, MAX_SIZE * MAX_SIZE]
    return SUPERKO if _seen(games, g, key) else LEGAL


@kernel
def legal_moves(games: Games, g: int, player: int, legal: Any) -> int:
    """Write 1 to `legal` ([A] uint8) where `player` may move, 0 elsewhere, pass included; return their number."""
    area = games.info[g].size * games.info[g].size
    count = 1
    for point in range(area):
        legal[point] = games.color[g, point] == EMPTY and legality(games, g, point, player) == LEGAL
        count += legal[point]
    legal[area] = 1
    return count


@kernel
def play(games: Games, g: int, point: int) -> None:
    """Make a move for the player to move; `size²` passes. Not checked: that it is legal, that `moves` has room."""
    info = games.info[g]
    area = info.size * info.size
    player = info.to_move
    slot = info.move_count % RECENT
    for i in range(area):
        games.recent[g, slot, i] = games.color[g, i]
    games.moves[g, info.move_count].point = point
    games.moves[g, info.move_count].player = player
    info.ko_point = NO_POINT
    if point == area:
        info.passes += 1
    else:
        info.passes = 0
        _place(games, g, point, player)
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
def _place(games: Games, g: int, point: int, player: int) -> None:
    position = _position(games, g)
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
            if _is_first_contact(points, neighbors[point], k, head):
                points[head].liberties -= 1
        elif color[q] == EMPTY:
            liberties += 1
    points[point].head = point
    points[point].next = point
    points[point].stones = 1
    points[point].liberties = liberties
    points[point].hash = position.zobrist[player, point]
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
                gained += _is_first_contact(points, neighbors[q], 4, big)  # no stone of `big` there: a new liberty
        stone = points[stone].next
    for _ in range(count):
        points[stone].head = big
        stone = points[stone].next
    points[big].next, points[small].next = points[small].next, points[big].next
    points[big].liberties += gained
    points[big].stones += count
    points[big].hash ^= points[small].hash


@kernel
def _remove_chain(position: Position, head: int) -> None:
    """Take a chain off the board; each of its points becomes a liberty of the chains around."""
    color, points, neighbors = position.color, position.points, position.neighbors
    position.info[0].hash ^= points[head].hash
    count = points[head].stones
    stone = head
    for _ in range(count):
        color[stone] = EMPTY
        points[stone].head = NO_CHAIN
        stone = points[stone].next
    for _ in range(count):
        for k in range(4):
            neighbor = points[neighbors[stone, k]].head
            if neighbor != NO_CHAIN and _is_first_contact(points, neighbors[stone], k, neighbor):
                points[neighbor].liberties += 1
        stone = points[stone].next
