"""Our own encodings of a position as planes, compiled, straight from the arrays of a batch of games.

All are from the view of the player to move:

    tutorial (7)    own stones, opponent's, empty points, last move, the one before, legal moves, Black to move
    alphazero (17)  own and opponent's stones now and 1…7 plies ago, Black to move
    katago (22)     0–2 own, opponent's, empty · 3–10 the position 1…8 plies ago (own 1, opponent −1) · 11 forbidden by
                    ko or superko · 12–17 chains with 1…5, 6 or more liberties · 18 area, 19 territory rules ·
                    20 komi / 15 · 21 Black to move

Planes are written as int8, a quarter of the memory to move to a device; plane p means `value * scale[p]`. Only komi
needs a scale: it is written in half points. Boards smaller than the tensor lie in its upper left corner.
"""

from typing import Any

import numpy as np

from ..game import state
from ..game.state import BLACK, EMPTY, KO, LEGAL, RECENT, SCORING_AREA, SUPERKO, Games
from ..kernel import index, kernel, parallel_kernel, prange

APART, NONE, TUTORIAL, ALPHAZERO, KATAGO = -2, -1, 0, 1, 2  # APART: none of these; see encodings.py
_MAX_LIBERTIES = 6
_KO, _SUPERKO = np.uint8(KO), np.uint8(SUPERKO)
_KOMI_LIMIT = 127  # half points that fit into a byte


@kernel
def _where(stones: Any, color: Any, area: int, plane: Any) -> None:
    wanted = np.int8(color)  # bytes compared with bytes: many at a time
    for i in range(area):
        plane[i] = stones[i] == wanted


@kernel
def _fill(plane: Any, area: int, value: int) -> None:
    for i in range(area):
        plane[i] = value


@kernel
def _mark_move(games: Games, g: int, back: int, area: int, plane: Any) -> None:
    """A 1 where the move was made that lies `back` moves before the position, if it was not a pass."""
    _fill(plane, area, 0)
    index = games.info[g].move_count - back
    if index >= games.info[g].first_move and games.moves[g, index].point < area:
        plane[games.moves[g, index].point] = 1


@kernel
def _encode_tutorial(games: Games, g: int, area: int, reasons: Any, out: Any) -> None:
    player = games.info[g].to_move
    _where(games.color[g], player, area, out[0])
    _where(games.color[g], 3 - player, area, out[1])
    _where(games.color[g], EMPTY, area, out[2])
    _mark_move(games, g, 1, area, out[3])
    _mark_move(games, g, 2, area, out[4])
    _where(reasons, LEGAL, area, out[5])
    _fill(out[6], area, player == BLACK)


@kernel
def _encode_alphazero(games: Games, g: int, area: int, out: Any) -> None:
    info = games.info[g]
    player = info.to_move
    _where(games.color[g], player, area, out[0])
    _where(games.color[g], 3 - player, area, out[1])
    for back in range(1, 8):
        if back <= info.move_count - info.first_move:
            stones = games.recent[g, (info.move_count - back) % RECENT]
            _where(stones, player, area, out[2 * back])
            _where(stones, 3 - player, area, out[2 * back + 1])
        else:
            _fill(out[2 * back], area, 0)
            _fill(out[2 * back + 1], area, 0)
    _fill(out[16], area, player == BLACK)


@kernel
def _encode_katago(games: Games, g: int, area: int, reasons: Any, out: Any) -> None:
    info, color, points = games.info[g], games.color[g], games.points[g]
    player, opponent = np.int8(info.to_move), np.int8(3 - info.to_move)
    _where(color, player, area, out[0])
    _where(color, opponent, area, out[1])
    _where(color, EMPTY, area, out[2])
    for back in range(1, RECENT + 1):
        if back <= info.move_count - info.first_move:
            stones, plane = games.recent[g, (info.move_count - back) % RECENT], out[2 + back]
            for i in range(area):
                plane[i] = np.int8(stones[i] == player) - np.int8(stones[i] == opponent)
        else:
            _fill(out[2 + back], area, 0)
    _encode_liberties(color, points, area, out)
    for i in range(area):
        out[11, i] = (reasons[i] == _KO) | (reasons[i] == _SUPERKO)
    _fill(out[18], area, info.scoring == SCORING_AREA)
    _fill(out[19], area, info.scoring != SCORING_AREA)
    _fill(out[20], area, min(max(round(2 * info.komi), -_KOMI_LIMIT), _KOMI_LIMIT))
    _fill(out[21], area, player == BLACK)


@kernel
def _encode_liberties(color: Any, points: Any, area: int, out: Any) -> None:
    """Planes 12 to 17: chains with 1…5, 6 or more liberties. Plane 11 is written over."""
    liberties = out[11]
    for i in range(area):
        head = points[i].head if color[i] != EMPTY else np.uint16(area)
        liberties[i] = min(points[head].liberties, _MAX_LIBERTIES)
    for count in range(1, _MAX_LIBERTIES + 1):
        _where(liberties, count, area, out[11 + count])


@kernel
def spread(plane: Any, size: int) -> None:
    """Move a board's rows from the front of a larger square plane to where they belong, zeros around them."""
    width = int(np.sqrt(len(plane)))
    for x in range(width - 1, -1, -1):
        for y in range(width - 1, -1, -1):
            plane[x * width + y] = plane[x * size + y] if x < size and y < size else 0


@kernel
def encode_game(games: Games, g: int, kind: int, reasons: Any, out: Any) -> None:
    """Write the planes of game `g` to `out` ([planes, width²] int8), given its `legality_map`."""
    size = games.info[g].size
    area = size * size
    if kind == TUTORIAL:
        _encode_tutorial(games, g, area, reasons, out)
    elif kind == ALPHAZERO:
        _encode_alphazero(games, g, area, out)
    else:
        _encode_katago(games, g, area, reasons, out)
    if area < out.shape[1]:
        for plane in range(out.shape[0]):
            spread(out[plane], size)


@parallel_kernel
def encode_batch(games: Games, kind: int, wanted: Any, reasons: Any, out: Any) -> None:
    """For every game of `wanted` its legality map into `reasons` ([games, A] uint8), its planes into `out`."""
    for i in prange(len(wanted)):
        g = index(wanted[i])
        state.legality_map(games, g, games.info[g].to_move, reasons[g])
        encode_game(games, g, kind, reasons[g], out[g])
