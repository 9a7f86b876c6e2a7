"""Positions, searches and scores as the page reads them: all for Black, boards as rows from the top."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.analysis import mean_of
from ..engine.pool import Found
from ..engine.review import Mistake, Position
from ..engine.status import legal_policy
from ..game import BLACK, WHITE, Board
from ..game.coords import to_gtp
from ..mcts import RootMove
from ..mcts.branches import Branch, branches

Json = dict[str, Any]
_LETTERS = {BLACK: "B", WHITE: "W"}
_VARIATION = 12  # moves of a line


def letter(player: int) -> str:
    """B or W."""
    return _LETTERS[player]


def vertex(point: tuple[int, int], size: int) -> str:
    """D4, or pass."""
    return to_gtp(*point, size)


def result_text(score: float) -> str:
    """B+3.5, W+0.5, or 0 for a draw."""
    return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"


def position_view(board: Board) -> Json:
    """What the board looks like, and what may be played there."""
    size, last = board.size, board.history[-1:]
    stones = board.board
    illegal = {}
    legal = set(board.get_legal_moves())
    for x, y in zip(*np.nonzero(stones == 0), strict=True):
        if (x, y) not in legal:
            illegal[vertex((x, y), size)] = board.why_illegal(int(x), int(y)) or ""
    return {
        "board": np.where(stones == BLACK, 1, np.where(stones == WHITE, -1, 0)).tolist(),
        "toMove": letter(board.current_player),
        "moveNumber": board.move_count,
        "captures": {"B": board.prisoners[BLACK], "W": board.prisoners[WHITE]},
        "lastMove": vertex(last[0][:2], size) if last else None,
        "illegal": illegal,
        "over": board.is_game_over(),
        "result": result_text(board.score()) if board.is_game_over() else None,
    }


# --- a search ---------------------------------------------------------------------------------------------------------


def values_view(moves: Sequence[RootMove], player: int) -> Json:
    """Winrate and score of a position in which `player` has these moves."""
    value, score, _ = mean_of(list(moves))
    sign = 1 if player == BLACK else -1
    return {"winrate": round((1 + sign * value) / 2, 5), "score": round(sign * score, 3)}


def network_view(found: Found) -> Json:
    """What the network says of the position before any search; it stays the same while the search goes on."""
    board = found.task.board
    evaluation = found.evaluation()
    policy, owner = legal_policy(board, evaluation.policy[0]), evaluation.ownership
    sign = 1 if board.current_player == BLACK else -1
    return {
        "policy": _rows(policy[:-1], board.size, 5),
        "policyPass": round(float(policy[-1]), 5),
        "ownership": None if owner is None else _rows(sign * owner[0].astype(np.float64), board.size, 2),
    }


def search_view(found: Found, done: bool) -> Json:
    """What a search knows now."""
    board = found.task.board
    size, player = board.size, board.current_player
    sign = 1 if player == BLACK else -1
    seen = [move for move in found.moves() if move.visits]
    return {
        "visits": found.visits,
        **values_view(seen, player),
        "done": done,
        "moves": [_move_view(move, size, sign) for move in seen],
        "tree": [_branch_view(branch, size) for branch in branches(found.search, found.slot)],
    }


def _move_view(move: RootMove, size: int, sign: int) -> Json:
    return {
        "move": vertex(move.move, size), "visits": move.visits, "winrate": round((1 + sign * move.value) / 2, 5),
        "score": round(sign * move.score, 3), "prior": round(move.prior, 5),
        "pv": [vertex(point, size) for point in move.variation[:_VARIATION]],
    }  # fmt: skip


def _branch_view(branch: Branch, size: int) -> Json:
    return {
        "move": vertex(branch.move, size), "player": letter(branch.player), "prior": round(branch.prior, 5),
        "visits": branch.visits, "q": round(branch.value, 4),
        "children": [_branch_view(child, size) for child in branch.children],
    }  # fmt: skip


def _rows(numbers: np.ndarray, size: int, digits: int) -> list[list[float | None]]:
    rows = np.round(numbers, digits).reshape(size, size).tolist()
    return [[None if number != number else number for number in row] for row in rows]  # NaN is not JSON


# --- the end ----------------------------------------------------------------------------------------------------------


def flipped(board: Board, dead: Sequence[tuple[int, int]], point: tuple[int, int] | None) -> list[tuple[int, int]]:
    """All stones of the chains that are dead, after the chain on `point` has changed sides between dead and alive."""
    stones: set[tuple[int, int]] = set()
    for stone in dead:
        if stone not in stones:
            stones |= board.get_group(*stone)[0]
    if point is not None:
        stones ^= board.get_group(*point)[0]
    return sorted(stones)


def score_view(board: Board, dead: Sequence[tuple[int, int]]) -> Json:
    """The score by the rules of the board."""
    owner = board.ownership(dead)
    score = board.score(dead)
    komi = float(board.games.info[0]["komi"])  # with what White gets for handicap stones
    if board.rules.scoring == "area":
        black = float((owner == 1).sum())
    else:
        gone = np.zeros(owner.shape, bool)
        for stone in dead:
            gone[stone] = True
        territory = (owner == 1) & ((board.board == 0) | gone)
        prisoners = board.prisoners[BLACK] + int((gone & (board.board == WHITE)).sum())
        black = float(territory.sum() + prisoners)
    return {
        "dead": [vertex(point, board.size) for point in dead],
        "ownership": owner.tolist(),
        "score": score,
        "text": result_text(score),
        "black": black,
        "white": black - score,
        "komi": komi,
    }


def review_view(positions: Sequence[Position], mistakes: Sequence[Mistake], size: int) -> Json:
    """A game reviewed."""
    return {
        "positions": [{"winrate": round(p.winrate, 5), "score": round(p.score, 3)} for p in positions],
        "mistakes": [
            {
                "number": m.number, "player": letter(m.player), "played": vertex(m.played, size),
                "better": vertex(m.better, size), "winrateLost": round(m.winrate_lost, 4),
                "pointsLost": round(m.points_lost, 2),
                "pv": [vertex(point, size) for point in positions[m.number - 1].moves[0].variation[:_VARIATION]],
            }
            for m in mistakes
        ],
    }  # fmt: skip


def handicap_view(points: Sequence[tuple[int, int]], size: int) -> list[list[str]]:
    """Handicap stones as `initialStones` has them."""
    return [["B", vertex(point, size)] for point in points]
