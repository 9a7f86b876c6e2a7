"""Finished games as arrays: what self-play hands over, what lies on disk, and what training reads.

A position is never stored, only the move made in it and what the search said of it: features are computed by playing
the moves again, so they cannot know anything that came later, and a position on 9×9 takes about 170 bytes.
"""

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from ..game import Board, get_rules
from ..game.sgf import rules_text
from ..kernel import parallel_kernel, prange

PASSES, LIMIT, SETTLED, RESIGNED = 1, 2, 3, 4
ENDINGS = {PASSES: "passes", LIMIT: "limit", SETTLED: "settled", RESIGNED: "resigned"}
POLICY_UNIT = 65535  # a probability of 1
SURPRISE_UNITS = 32  # in a nat
_UNIT = np.float32(POLICY_UNIT)
_CHECK = "check"  # the name of the check sum in a file


class Records(NamedTuple):
    """G games of M moves in all, on boards of one size; A = size² + 1."""

    id: np.ndarray  # [G] int64: unique in a run
    version: np.ndarray  # [G] int32: the iteration whose network made the last move
    first: np.ndarray  # [G] int64: where its moves begin
    length: np.ndarray  # [G] int32: how many there are
    komi: np.ndarray  # [G] float32
    score: np.ndarray  # [G] float32: Black's points, komi included; ±1 if the loser resigned
    ending: np.ndarray  # [G] uint8: PASSES, LIMIT, SETTLED, RESIGNED
    doubted: np.ndarray  # [G] uint8: who would have resigned where resignation was off: 0, BLACK or WHITE
    ownership: np.ndarray  # [G, size²] int8: 1 Black's, -1 White's; zeros if somebody resigned
    move: np.ndarray  # [M] int16: flat index
    policy: np.ndarray  # [M, A] uint16: what the search proposed, in units of POLICY_UNIT
    value: np.ndarray  # [M] float32: what it thought of the position, for the player to move
    full: np.ndarray  # [M] uint8: 0 after a fast search, which is not learned from; else 1 + surprise, see `to_full`

    @property
    def size(self) -> int:
        """Points on a side of the board."""
        return round(self.ownership.shape[1] ** 0.5)

    @property
    def samples(self) -> int:
        """How many positions can be learned from."""
        return int(np.count_nonzero(self.full))


@parallel_kernel
def to_units(policy: Any, out: Any) -> None:
    """Probabilities [rows, A] float32 as `Records` keep them, into `out` [rows, A] uint16."""
    for row in prange(len(policy)):
        for i in range(policy.shape[1]):
            out[row, i] = np.rint(policy[row, i] * _UNIT)


def to_full(full: np.ndarray, surprise: np.ndarray) -> np.ndarray:
    """[rows] uint8: `full` of `Records` for searches that were full or not and found so much surprise, in nats."""
    units = np.rint(SURPRISE_UNITS * np.nan_to_num(surprise))
    return np.where(full, 1 + np.clip(units, 0, 254), 0).astype(np.uint8)


def no_records(size: int) -> Records:
    """No games at all."""
    area = size * size
    return Records(
        id=np.zeros(0, np.int64),
        version=np.zeros(0, np.int32),
        first=np.zeros(0, np.int64),
        length=np.zeros(0, np.int32),
        komi=np.zeros(0, np.float32),
        score=np.zeros(0, np.float32),
        ending=np.zeros(0, np.uint8),
        doubted=np.zeros(0, np.uint8),
        ownership=np.zeros((0, area), np.int8),
        move=np.zeros(0, np.int16),
        policy=np.zeros((0, area + 1), np.uint16),
        value=np.zeros(0, np.float32),
        full=np.zeros(0, np.uint8),
    )


def join_records(parts: Sequence[Records], size: int) -> Records:
    """All games of these, in this order."""
    if not parts:
        return no_records(size)
    if len(parts) == 1:
        return parts[0]
    offsets = np.cumsum([0, *(len(part.move) for part in parts[:-1])])
    shifted = [part._replace(first=part.first + offset) for part, offset in zip(parts, offsets, strict=True)]
    return Records(*(np.concatenate(arrays) for arrays in zip(*shifted, strict=True)))


def newest_games(records: Records, count: int) -> Records:
    """The last `count` games of these."""
    first = len(records.id) - min(count, len(records.id))
    start = int(records.first[first]) if first < len(records.id) else len(records.move)
    kept = {name: getattr(records, name)[start:] for name in ("move", "policy", "value", "full")}
    games = {name: array[first:] for name, array in records._asdict().items() if name not in kept}
    return Records(**{**games, **kept, "first": games["first"] - start})


def to_bytes(records: Records) -> bytes:
    """The records as a safetensors file."""
    arrays = {name: np.ascontiguousarray(array) for name, array in records._asdict().items()}
    arrays[_CHECK] = _checksum(records)
    return save_arrays(arrays, {"format": "mini-alphago games", "version": "1"})


def from_bytes(data: bytes) -> Records:
    """The records that `to_bytes` wrote. ValueError, in one sentence, if it is anything else."""
    try:
        arrays = load_arrays(data)
        check = arrays.pop(_CHECK, np.zeros(0, np.uint32))
        records = Records(**arrays)
        _check(records)
        if not np.array_equal(check, _checksum(records)):
            raise ValueError("the check sum is wrong")
        return records
    except (SafetensorError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"not a whole file of games ({str(error)[:80]})") from None


def _checksum(records: Records) -> np.ndarray:
    """[1] uint32: CRC of all arrays; the format of the file has none of its own."""
    check = 0
    for array in records:
        check = zlib.crc32(np.ascontiguousarray(array).data, check)
    return np.array([check], np.uint32)


def _check(records: Records) -> None:
    """ValueError unless shapes, types and indices fit together: kernels trust them."""
    model = no_records(records.size)
    games, moves = len(records.id), len(records.move)
    for name, array in records._asdict().items():
        like = getattr(model, name)
        rows = moves if name in ("move", "policy", "value", "full") else games
        if array.dtype != like.dtype or array.shape != (rows, *like.shape[1:]):
            raise ValueError(f"{name} has the wrong shape or type")
    if games and (
        records.first.min() < 0 or records.length.min() < 0 or (records.first > moves - records.length).any()
    ):
        raise ValueError("games lie outside the moves")
    if moves and (records.move.min() < 0 or records.move.max() > records.size**2):
        raise ValueError("moves lie outside the board")


def record_board(records: Records, g: int, rules: Any, moves: int | None = None) -> Board:
    """The board of game `g` after so many moves, by default all."""
    size = records.size
    board = Board(size, komi=float(records.komi[g]), rules=rules)
    first = int(records.first[g])
    for move in records.move[first : first + (int(records.length[g]) if moves is None else moves)].tolist():
        if move == size * size:
            board.pass_move()
        elif not board.play(*divmod(move, size)):
            raise ValueError(f"game {int(records.id[g])} has an illegal move")
    return board


def result_text(records: Records, g: int) -> str:
    """The result as SGF writes it."""
    score = float(records.score[g])
    if score == 0:
        return "0"
    winner = "B" if score > 0 else "W"
    return f"{winner}+R" if records.ending[g] == RESIGNED else f"{winner}+{abs(score):g}"


def sgf_text(records: Records, g: int, rules: Any) -> str:
    """Game `g` as SGF. Written directly: a GPU makes hundreds of games a second, and a tree for each is too slow."""
    size, first, length = records.size, int(records.first[g]), int(records.length[g])
    letters = [chr(ord("a") + y) + chr(ord("a") + x) for x in range(size) for y in range(size)] + [""]
    moves = records.move[first : first + length].tolist()
    played = "".join(f";{'BW'[i % 2]}[{letters[move]}]" for i, move in enumerate(moves))
    name, known = f"iteration {int(records.version[g])}", rules_text(get_rules(rules))
    head = f"(;FF[4]GM[1]CA[UTF-8]AP[mini-alphago]SZ[{size}]KM[{float(records.komi[g]):g}]RU[{known}]"
    return f"{head}GN[game {int(records.id[g])}]PB[{name}]PW[{name}]RE[{result_text(records, g)}]{played})"


def game_metrics(records: Records) -> dict[str, Any]:
    """What there is to say about games as a whole, for `metrics.jsonl`."""
    doubted = records.doubted > 0
    lost = np.where(records.doubted == 1, records.score < 0, records.score > 0)
    return {
        "new_games": len(records.id),
        "new_positions": records.samples,
        "game_length": float(records.length.mean()),
        "black_win_rate": float((records.score > 0).mean()),
        "draw_rate": float((records.score == 0).mean()),
        "ended": {name: int((records.ending == code).sum()) for code, name in ENDINGS.items()},
        "false_resign_rate": float(1 - lost[doubted].mean()) if doubted.any() else None,
    }
