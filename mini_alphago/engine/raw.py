"""`kata-raw-nn`: what the network says without any search."""

import math
from typing import Any

import numpy as np

from ..game import BLACK, WHITE, Board
from .gtp import Gtp, command
from .status import legal_policy


@command("kata-raw-nn")
def _raw_nn(gtp: Gtp, arguments: list[str]) -> str:
    board, size = gtp.engine.board, gtp.engine.board.size
    answer = gtp.engine.evaluator.evaluate(board.games)
    white = -1 if board.current_player == BLACK else 1
    winrate = (1 + white * float(answer.value[0])) / 2
    lead = 0.0 if answer.score is None else white * float(answer.score[0])
    policy = legal_policy(board, answer.policy[0])
    owner = np.zeros(size * size) if answer.ownership is None else white * answer.ownership[0]
    numbers = {
        "whiteWin": winrate, "whiteLoss": 1 - winrate, "noResult": 0.0, "whiteLead": lead, "whiteScoreSelfplay": lead,
        "whiteScoreSelfplaySq": 0.0, "varTimeLeft": -1.0, "shorttermWinlossError": -1.0, "shorttermScoreError": -1.0,
    }  # fmt: skip
    numbers |= _katago_numbers(gtp.engine.evaluator, board)
    digits = {"whiteWin": 6, "whiteLoss": 6, "noResult": 6}
    lines = ["symmetry 0", *(f"{name} {number:.{digits.get(name, 3)}f}" for name, number in numbers.items()), "policy"]
    lines += _rows(policy[:-1], size, 6)
    lines += [f"policyPass {policy[-1]:.6f}", "whiteOwnership", *_rows(owner, size, 7)]
    return "\n".join(lines)


def _katago_numbers(evaluator: Any, board: Board) -> dict[str, float]:
    """What only KataGo's own networks say; nothing for others."""
    explain = getattr(getattr(evaluator, "network", None), "explain", None)
    if explain is None:
        return {}
    import torch

    planes = np.empty((1, evaluator.encoding.planes, board.size, board.size), np.float32)
    evaluator.encoding.encode(board.games, planes)
    with torch.inference_mode():
        values = explain(torch.from_numpy(planes))
    win, loss, sign = (values.win, values.loss, 1) if board.current_player == WHITE else (values.loss, values.win, -1)
    return {
        "whiteWin": float(win), "whiteLoss": float(loss), "noResult": float(values.no_result),
        "whiteLead": sign * float(values.lead), "whiteScoreSelfplay": sign * float(values.score_mean),
        "whiteScoreSelfplaySq": float(values.score_mean_square), "varTimeLeft": float(values.variance_time),
        "shorttermWinlossError": float(values.winloss_error), "shorttermScoreError": float(values.score_error),
    }  # fmt: skip


def _rows(numbers: np.ndarray, size: int, digits: int) -> list[str]:
    def text(number: float) -> str:
        return "NAN" if math.isnan(number) else f"{number:.{digits}f}"

    return [" ".join(map(text, row)) for row in numbers.reshape(size, size).tolist()]
