"""A small network in KataGo's format that everyone has, and what the slow formulas say of some positions.

`small.bin.gz` (b2c16) was trained here for five minutes on 5×5 at many komis, and exported: `mini-alphago train
--preset tiny --network.encoding katago-v7 --network.size b2c16 --self-play.komi 4 --self-play.komi-spread 8`.

`python -m tests.model.katago.small` writes `small.json` anew, in the layout of KataGo's own answers: positions of games
by the network's policy, answered by `slow_encoder` and `slow_network`.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from mini_alphago.game import BLACK, Board
from mini_alphago.game.coords import from_gtp, to_gtp
from mini_alphago.model.katago.description import Description
from mini_alphago.model.katago.reader import read_katago

from . import slow_encoder
from .slow_network import slow_outputs, slow_values

SMALL = Path(__file__).with_name("small.bin.gz")
ANSWERS = Path(__file__).with_name("small.json")
DIGITS = 7

# size, rules, komi, moves to draw after those that are given
GAMES = [
    (9, "tromp-taylor", 7.5, 0, ""),
    (9, "tromp-taylor", 7.5, 0, "E6 E5 D5 G7 D4 C3"),  # a ladder
    (9, "chinese", 7, 0, "D5 F6 E6 F4 E4 G5 F5 E5"),  # a ko
    (9, "aga", 7, 0, "D5 F6 E6 F4 E4 G5 F5 E5 pass"),  # a pass that is not shown
    (5, "cgos", 0.5, 9, ""),
    (5, "cgos", -3.5, 16, "C3"),
    (5, "japanese", 6.5, 14, "C3 C4"),
    (6, "new-zealand", 4, 24, ""),
    (7, "aga", 9.5, 20, "D4"),
    (7, "japanese", 9, 30, ""),
    (9, "chinese", 7.5, 34, "E5"),
]


def slow_answer(network: Description, board: Board, rules: str) -> dict[str, Any]:
    """What `kata-raw-nn` should print of a board under those rules, by name."""
    policy, value, score, ownership = slow_outputs(network, *slow_encoder.encode(board, rules))
    can_be_void = board.rules.ko == "simple" or board.rules.scoring == "territory"
    values = slow_values(value, score, network.version, network.multipliers, can_be_void)
    legal = [to_gtp(x, y, board.size) for x, y in board.get_legal_moves()]
    names = [to_gtp(x, y, board.size) for x in range(board.size) for y in range(board.size)] + ["pass"]
    weights = [math.exp(logit) if name in legal else None for name, logit in zip(names, policy[0], strict=True)]
    total = sum(weight for weight in weights if weight is not None)
    chances = [None if weight is None else round(weight / total, DIGITS) for weight in weights]
    sign = -1 if board.current_player == BLACK else 1
    win, loss = (values["loss"], values["win"]) if sign < 0 else (values["win"], values["loss"])
    numbers = {
        "whiteWin": win, "whiteLoss": loss, "noResult": values["no_result"], "whiteLead": sign * values["lead"],
        "whiteScoreSelfplay": sign * values["score_mean"], "whiteScoreSelfplaySq": values["score_mean_square"],
        "varTimeLeft": values["variance_time"], "shorttermWinlossError": values["winloss_error"],
        "shorttermScoreError": values["score_error"],
    }  # fmt: skip
    size, owner = board.size, np.round(sign * np.tanh(ownership), DIGITS)
    return {name: round(float(number), DIGITS) for name, number in numbers.items()} | {
        "policy": [chances[size * x : size * x + size] for x in range(size)],
        "policyPass": chances[-1],
        "whiteOwnership": owner.reshape(size, size).tolist(),
    }


def play(board: Board, moves: str) -> Board:
    """The same board, after these moves."""
    for move in moves.split():
        x, y = from_gtp(move, board.size)
        if x < 0:
            board.pass_move()
        else:
            assert board.play(x, y), move
    return board


def main() -> None:
    """Write the answers."""
    network, random, written = read_katago(SMALL), np.random.default_rng(1), []
    for size, rules, komi, count, moves in GAMES:
        board = Board(size, komi, rules)
        play(board, moves)
        for _ in range(count):
            answer = slow_answer(network, board, rules)
            chances = np.array([*np.ravel(answer["policy"]), answer["policyPass"] / 10], float)  # games, not passes
            chances = np.sqrt(np.nan_to_num(chances))
            point = int(random.choice(len(chances), p=chances / chances.sum()))
            play(board, "pass" if point == size * size else to_gtp(*divmod(point, size), size))
        played = [["b" if player == BLACK else "w", to_gtp(x, y, size)] for x, y, player in board.history]
        position = {"size": size, "rules": rules, "komi": komi, "moves": played}
        written.append({**position, "katago": slow_answer(network, board, rules)})
    ANSWERS.write_text("[\n" + ",\n".join(json.dumps(position) for position in written) + "\n]\n")


if __name__ == "__main__":
    main()
