"""Positions with answers that were written down: KataGo's own, and those of the slow formulas for our small network."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from mini_alphago.game import BLACK, Board, get_rules, state
from mini_alphago.game.coords import from_gtp
from tests.conftest import NO_DATA

from . import small
from .real import DATA, REAL

_KATAGO = DATA / "katago-b6c96-raw-outputs.json"


class Case(NamedTuple):
    """A position and what a network says of it."""

    network: Path
    position: dict[str, Any]
    near: float  # KataGo's answers are rounded: how far off these may be, beside those

    @property
    def wanted(self) -> dict[str, Any]:
        """By the names of `kata-raw-nn`."""
        return self.position["katago"]


def _cases(network: Path, answers: Path, near: float) -> list[Case]:
    positions = json.loads(answers.read_text()) if answers.exists() and network.exists() else []
    return [Case(network, position, near) for position in positions]


KATAGO_CASES = _cases(REAL, _KATAGO, near=1.0)
SMALL_CASES = _cases(small.SMALL, small.ANSWERS, near=0.02)

_MISSING = pytest.param(None, id="katago", marks=pytest.mark.skip(f"{NO_DATA}: KataGo's network and its answers"))
EVERY_CASE = [
    *([pytest.param(case, id=f"katago-{i}") for i, case in enumerate(KATAGO_CASES)] or [_MISSING]),
    *(pytest.param(case, id=f"small-{i}") for i, case in enumerate(SMALL_CASES)),
]


def replay(position: dict[str, Any]) -> Board:
    board = Board(position["size"], position["komi"], get_rules(position["rules"]))
    for color, move in position["moves"]:
        assert board.current_player == (Board.BLACK if color == "b" else Board.WHITE)
        x, y = from_gtp(move, board.size)
        if x < 0:
            board.pass_move()
        else:
            assert board.play(x, y)
    return board


def chances(board: Board, logits: np.ndarray) -> np.ndarray:
    """Probabilities [size² + 1] of all moves, 0 of illegal ones, from logits of a tensor that may be larger."""
    width = int((len(logits) - 1) ** 0.5)
    points = logits[:-1].reshape(width, width)[: board.size, : board.size].reshape(-1)
    own = np.append(points, logits[-1]).astype(np.float64)
    weights = np.where(illegal(board), 0.0, np.exp(own - own.max()))
    return weights / weights.sum()


def illegal(board: Board) -> np.ndarray:
    """[size² + 1] bool."""
    reasons = np.empty(board.size**2 + 1, np.uint8)
    state.legality_map(board.games, 0, board.current_player, reasons)
    return reasons != state.LEGAL


def white(board: Board) -> int:
    """By what an answer for the player to move becomes White's."""
    return -1 if board.current_player == BLACK else 1


def assert_policy(case: Case, board: Board, logits: np.ndarray) -> None:
    """Logits [width² + 1] are what was written down."""
    wanted = np.array([p for row in case.wanted["policy"] for p in row] + [case.wanted["policyPass"]], float)
    assert np.array_equal(np.isnan(wanted), illegal(board))
    np.testing.assert_allclose(chances(board, logits), np.nan_to_num(wanted), atol=2e-4 * case.near)


def assert_number(case: Case, name: str, number: float, near: float) -> None:
    """A number, White's, is what was written down under that name."""
    assert number == pytest.approx(case.wanted[name], abs=near * case.near), name


def assert_ownership(case: Case, board: Board, ownership: np.ndarray) -> None:
    """Ownership [width²], of the player to move, is what was written down."""
    width = int(len(ownership) ** 0.5)
    own = white(board) * ownership.reshape(width, width)[: board.size, : board.size]
    np.testing.assert_allclose(own, np.array(case.wanted["whiteOwnership"]), atol=2e-3 * case.near)
