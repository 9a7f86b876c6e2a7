"""What KataGo's networks see: input features version 7, compiled, straight from the arrays of a batch of games.

Planes, from the view of the player to move; all zero off the board:

    0 the board · 1, 2 own and opponent's stones · 3–5 chains with 1, 2, 3 liberties · 6 forbidden by ko or superko ·
    9–13 the last five moves · 14–16 chains that a ladder captures, now and one and two moves ago · 17 moves that begin
    such a ladder against the opponent · 18, 19 own and opponent's area (none by territory rules)

Global inputs:

    0–4 the last five moves were passes · 5 komi as the player's, / 20 · 6, 7 ko rule · 8 suicide · 9 territory ·
    10, 11 tax · 14 a pass would end the game · 18 what an odd or even komi does to a draw

The rest (7, 8, 20, 21; 12, 13, 15–17) stays zero: it tells of the second stages of KataGo's territory rules, of the
button and of unequal playouts, which do not occur here. What `Games` does not hold follows from what it does: two
passes end the game, and it is by rules with superko of positions alone that passing first is a risk (elsewhere players
agree on dead stones, and KataGo's networks are then not shown the pass).

The global inputs travel as bytes too, at the front of one more plane, the last: `read_numbers` gives them back.
"""

from typing import Any, NamedTuple

import numba
import numpy as np

from ...game import scoring, state
from ...game.state import (
    EMPTY,
    KO,
    KO_POSITIONAL,
    KO_SIMPLE,
    NO_POINT,
    RECENT,
    SCORING_AREA,
    SCORING_TERRITORY,
    SUPERKO,
    Games,
)
from ...intrinsics import copy_row
from ...kernel import index, kernel, parallel_kernel, prange
from ..features import spread
from .areas import full_area, taxed_area
from .ladders import LadderRoom, Stacks, find_ladders, new_ladder_room

PLANES, GLOBALS = 22, 19
_BYTES = GLOBALS + 1  # one for each input, and a second for komi
SMALLEST = 5  # the smallest board with so many points
_KOMI = 5
_HIGH = 128  # what a unit of komi's second byte is worth
TAX_BY_RULES, TAX_NONE, TAX_SEKI, TAX_ALL = -1, 0, 1, 2
_HISTORY = 5


class Room(NamedTuple):
    """Room to work in for R threads, on boards of up to A - 1 points."""

    ladders: LadderRoom
    scratch: scoring.Scratch  # with one more axis in front, [R]
    owner: np.ndarray  # [R, 2, A] int8
    row: np.ndarray  # [R, GLOBALS] float32


def new_room(threads: int, size: int) -> Room:
    """Room for so many threads and boards of up to that size."""
    points = size * size + 1
    scratch = scoring.Scratch(*(np.stack([array] * threads) for array in scoring.new_scratch(points)))
    owner, row = np.zeros((threads, 2, points), np.int8), np.zeros((threads, GLOBALS), np.float32)
    return Room(new_ladder_room(threads, size), scratch, owner, row)


def _decoding() -> np.ndarray:
    """[_BYTES, GLOBALS] float32: what each byte adds to the inputs."""
    table = np.zeros((_BYTES, GLOBALS), np.float32)
    units = {_KOMI: 1 / 40, 7: 0.5, 18: 0.5}  # komi is in half points
    for i in range(GLOBALS):
        table[i, i] = units.get(i, 1.0)
    table[GLOBALS, _KOMI] = _HIGH / 40
    return table


DECODING = _decoding()
"""Bytes · DECODING = global inputs; see `read_numbers`."""


def read_numbers(plane: np.ndarray) -> np.ndarray:
    """The global inputs [B, GLOBALS] float32 in the last planes [B, width, width]."""
    return plane.reshape(len(plane), -1)[:, :_BYTES].astype(np.float32) @ DECODING


@kernel
def _write_numbers(row: Any, plane: Any) -> None:
    """The reverse, for one row and one flat plane."""
    plane[:] = 0
    for i in range(GLOBALS):
        plane[i] = round(2 * row[i]) if i in (7, 18) else round(row[i])
    half_points = round(40 * row[_KOMI])
    plane[_KOMI] = half_points % _HIGH
    plane[GLOBALS] = half_points // _HIGH


@kernel
def _is_repeated_pass(games: Games, g: int, at: int, player: int) -> bool:
    """Whether `player`, by passing as move `at`, passes in a position where it did so before: that ends a game."""
    info = games.info[g]
    if info.ko_rule != KO_SIMPLE:
        return False
    for i in range(info.first_move, at):
        move = games.moves[g, i]
        if move.point == info.size * info.size and move.player == player and games.keys[g, i] == games.keys[g, at]:
            return True
    return False


@kernel
def _is_third_time(games: Games, g: int, count: int) -> bool:
    """Whether the situation after `count` moves, the last a stone, is there for the third time since a pass."""
    info = games.info[g]
    if info.ko_rule != KO_SIMPLE:
        return False
    times = 1
    for i in range(count - 1, info.first_move - 1, -1):
        times += (
            games.keys[g, i] == games.keys[g, count] and games.moves[g, i].player != games.moves[g, count - 1].player
        )
        if i > info.first_move and games.moves[g, i - 1].point == info.size * info.size:
            break
    return times >= 3


@kernel
def _has_ended(games: Games, g: int, count: int) -> bool:
    """Whether the game was over after `count` moves, by two passes or a repetition."""
    info, moves = games.info[g], games.moves[g]
    last, area = count - 1, info.size * info.size
    if last < info.first_move:
        return False
    if moves[last].point != area:
        return _is_third_time(games, g, count)
    if last > info.first_move and moves[last - 1].point == area:
        return True
    return _is_repeated_pass(games, g, last, moves[last].player)


@kernel
def _encode_history(games: Games, g: int, out: Any, row: Any) -> int:
    """Planes 9 to 13 and inputs 0 to 4 and 14; returns how many moves are shown."""
    info, moves = games.info[g], games.moves[g]
    area = info.size * info.size
    repeated = _is_repeated_pass(games, g, info.move_count, info.to_move)
    ends = info.passes >= 1 or repeated
    limit = 1 if _has_ended(games, g, info.move_count) else _HISTORY
    if info.scoring == SCORING_AREA and info.ko_rule != KO_POSITIONAL and info.passes == 1 and not repeated:
        limit = 0  # the players may yet go on and agree on dead stones: nothing is said of the pass
        ends = False
    row[14] = ends
    shown = 0
    while shown < limit:
        at = info.move_count - 1 - shown
        if at < info.first_move or moves[at].player != (3 - info.to_move if shown % 2 == 0 else info.to_move):
            break
        if moves[at].point == area:
            row[shown] = 1
        else:
            out[9 + shown, moves[at].point] = 1
        shown += 1
        if _has_ended(games, g, at + 1):  # what was before the game ended and went on is not shown
            break
    return shown


@kernel
def _encode_rules(games: Games, g: int, tax: int, row: Any) -> None:
    """Inputs 5 to 11 and 18."""
    info = games.info[g]
    area = info.size * info.size
    komi = np.round(2 * np.float64(info.komi)) / 2  # to half points, as KataGo allows no other
    if info.scoring == SCORING_TERRITORY:  # the stones each player has put down make up for an area score
        komi += info.white_prisoners - info.black_prisoners
        for point in range(area):
            if games.color[g, point] != EMPTY:
                komi += 3 - 2 * games.color[g, point]
    if info.to_move == state.BLACK:
        komi = -komi
    komi = min(max(komi, -(area + 20.0)), area + 20.0)
    row[5] = komi / 20
    row[6] = info.ko_rule != KO_SIMPLE
    row[7] = 0.0 if info.ko_rule == KO_SIMPLE else (0.5 if info.ko_rule == KO_POSITIONAL else -0.5)
    row[8] = info.suicide
    row[9] = info.scoring == SCORING_TERRITORY
    row[10] = tax != TAX_NONE
    row[11] = tax == TAX_ALL
    if info.scoring == SCORING_AREA:
        phase = komi - area % 2
        phase -= 2 * np.floor(phase / 2)
        row[18] = phase if phase < 0.5 else (1 - phase if phase < 1.5 else phase - 2)


@kernel
def _ko_before(games: Games, g: int, count: int) -> int:
    """Where the ko point was after `count` moves, one at least since the beginning: found from the stones around it."""
    info = games.info[g]
    last = count - 1
    area, neighbors = info.size * info.size, games.neighbors[info.size]
    move = games.moves[g, last]
    if move.point == area or games.moves[g, count].player == move.player:  # a ko binds nobody out of turn
        return NO_POINT
    before, after = games.recent[g, last % RECENT], games.recent[g, count % RECENT]
    liberties = 0
    for k in range(4):
        q = neighbors[move.point, k]
        if q < area:
            liberties += after[q] == EMPTY
            if after[q] == move.player:
                return NO_POINT
    if after[move.point] != move.player or liberties != 1:
        return NO_POINT
    taken = NO_POINT
    for point in range(area):
        if before[point] != EMPTY and after[point] == EMPTY:
            if taken != NO_POINT:
                return NO_POINT
            taken = point
    return taken


@kernel
def _encode_ladders(games: Games, g: int, shown: int, room: LadderRoom, r: int, out: Any) -> None:
    """Planes 14 to 17, given how many moves of history are shown."""
    info, boards = games.info[g], room.boards
    area, opponent = info.size * info.size, index(3 - info.to_move)
    board = boards.info[r]
    board.size = info.size
    for back in range(3):
        if back > shown:
            for i in range(area):
                out[14 + back, i] = out[13 + back, i]
            continue
        count = info.move_count - back
        if back > 0:
            state.set_position(boards, r, games.recent[g, count % RECENT], info.to_move)
            board.ko_point = _ko_before(games, g, count) if count > info.first_move else NO_POINT
        else:
            copy_row(boards.color[r], games.color[g], area + 1)
            copy_row(boards.points[r], games.points[g], area + 1)
            board.ko_point = info.ko_point
        # of the past, where the moves are does not matter: they are written to a plane that is filled later
        find_ladders(room, r, opponent, out[14 + back], out[17] if back == 0 else out[18])


@kernel
def _encode_area(games: Games, g: int, tax: int, suicide: int, room: Room, r: int, out: Any) -> None:
    """Planes 18 and 19."""
    info = games.info[g]
    area = info.size * info.size
    if info.scoring == SCORING_TERRITORY:
        out[18:20, :area] = 0
        return
    rooms = room.scratch
    scratch = scoring.Scratch(
        rooms.stack[r], rooms.label[r], rooms.size[r], rooms.inner[r], rooms.alive[r], rooms.touch[r]
    )
    owner, other = room.owner[r, 0], room.owner[r, 1]
    full_area(games.color[g], games.neighbors[info.size], area, suicide, scratch, other, owner)
    if tax != TAX_NONE:
        taxed_area(games, g, owner, scratch, other)
        owner = other
    for i in range(area):
        out[18, i] = owner[i] == info.to_move
        out[19, i] = owner[i] == 3 - info.to_move


@kernel
def encode_game(games: Games, g: int, tax: int, suicide: int, reasons: Any, room: Room, r: int, out: Any) -> None:
    """Write the planes of game `g` and its global inputs to `out` ([23, width²] int8).

    tax: TAX_NONE, TAX_SEKI or TAX_ALL, or TAX_BY_RULES: seki by territory, none by area. suicide: 1 if pass-alive life
    reckons with suicide even where it is illegal. reasons: the `legality_map` of the player to move.
    """
    info, color, points = games.info[g], games.color[g], games.points[g]
    area = info.size * info.size
    if tax == TAX_BY_RULES:
        tax = TAX_SEKI if info.scoring == SCORING_TERRITORY else TAX_NONE
    row = room.row[r]
    row[:] = 0
    out[:, :area] = 0
    for i in range(area):
        out[0, i] = 1
        out[6, i] = reasons[i] == KO or reasons[i] == SUPERKO
        if color[i] != EMPTY:
            out[1 if color[i] == info.to_move else 2, i] = 1
            liberties = points[points[i].head].liberties
            if liberties <= 3:
                out[2 + liberties, i] = 1
    _encode_rules(games, g, tax, row)
    shown = _encode_history(games, g, out, row)
    _encode_ladders(games, g, shown, room.ladders, r, out)
    _encode_area(games, g, tax, max(suicide, info.suicide), room, r, out)
    if area < out.shape[1]:
        for plane in range(PLANES):
            spread(out[plane], info.size)
    _write_numbers(row, out[PLANES])


@kernel
def _encode_share(
    games: Games, tax: int, suicide: int, wanted: Any, reasons: Any, room: Room, r: int, planes: Any
) -> None:
    for i in range(r, len(wanted), len(room.owner)):
        g = wanted[i]
        state.legality_map(games, g, games.info[g].to_move, reasons[g])
        encode_game(games, g, tax, suicide, reasons[g], room, r, planes[g])


@parallel_kernel
def _encode_all(
    games: Games,
    tax: int,
    suicide: int,
    wanted: Any,
    reasons: Any,
    boards: Games,
    stacks: Stacks,
    scratch: scoring.Scratch,
    owner: Any,
    row: Any,
    planes: Any,
) -> None:
    for r in prange(len(owner)):  # a tuple within a tuple does not pass through prange: the room is put together here
        room = Room(LadderRoom(boards, stacks), scratch, owner, row)
        _encode_share(games, tax, suicide, wanted, reasons, room, index(r), planes)


class FeaturesV7:
    """KataGo's input features version 7 of whole batches; keeps the room to work in. Not for two threads at once."""

    def __init__(self, tax: int = TAX_BY_RULES, pass_alive_suicide: bool = False) -> None:
        """How `encode_game` takes `tax` and `suicide`; the second stands in a network's file."""
        self.tax, self.pass_alive_suicide = tax, pass_alive_suicide
        self._room: Room | None = None

    def write(self, states: Games, wanted: np.ndarray, reasons: np.ndarray, out: np.ndarray) -> None:
        """`encode_game` for every game of `wanted` ([W] int64); its legality map goes to `reasons` ([games, A] uint8).

        out: [games, 23, width²] int8. Works in as many threads as Numba may use now.
        """
        room = self._get_room(int(states.info["size"].max()))
        _encode_all(
            states, self.tax, int(self.pass_alive_suicide), wanted, reasons,
            *room.ladders, room.scratch, room.owner, room.row, out,
        )  # fmt: skip

    def _get_room(self, size: int) -> Room:
        threads = numba.get_num_threads()
        if self._room is None or len(self._room.owner) < threads or self._room.owner.shape[2] <= size * size:
            self._room = new_room(threads, size)
        return self._room
