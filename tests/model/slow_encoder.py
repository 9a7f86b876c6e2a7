"""The three encodings once more, slowly and readably, from nothing but a Board and the boards before it."""

import numpy as np

from mini_alphago.game import Board


def past_boards(board: Board) -> list[Board]:
    """The board now, one ply ago, and so on back to the start of the game."""
    boards = [board.copy()]
    while True:
        earlier = boards[-1].copy()
        if not earlier.undo():
            return boards
        boards.append(earlier)


def tutorial(board: Board) -> np.ndarray:
    planes = np.zeros((7, board.size, board.size), np.float32)
    me = board.current_player
    planes[0] = board.board == me
    planes[1] = board.board == 3 - me
    planes[2] = board.board == Board.EMPTY
    for plane, (x, y, _) in zip((3, 4), reversed(board.history), strict=False):
        if x >= 0:
            planes[plane, x, y] = 1
    for x, y in board.get_legal_moves()[:-1]:
        planes[5, x, y] = 1
    planes[6] = me == Board.BLACK
    return planes


def alphazero(board: Board) -> np.ndarray:
    planes = np.zeros((17, board.size, board.size), np.float32)
    me = board.current_player
    for plies, past in enumerate(past_boards(board)[:8]):
        planes[2 * plies] = past.board == me
        planes[2 * plies + 1] = past.board == 3 - me
    planes[16] = me == Board.BLACK
    return planes


def katago(board: Board) -> np.ndarray:
    planes = np.zeros((22, board.size, board.size), np.float32)
    me = board.current_player
    planes[0] = board.board == me
    planes[1] = board.board == 3 - me
    planes[2] = board.board == Board.EMPTY
    for plies, past in enumerate(past_boards(board)[1:9], start=1):
        planes[2 + plies] = 1.0 * (past.board == me) - 1.0 * (past.board == 3 - me)
    for x in range(board.size):
        for y in range(board.size):
            planes[11, x, y] = board.why_illegal(x, y) in ("ko", "superko")
            if board.board[x, y]:
                planes[11 + min(6, len(board.get_group(x, y)[1])), x, y] = 1
    planes[18] = board.rules.scoring == "area"
    planes[19] = board.rules.scoring == "territory"
    planes[20] = (board.komi + board.rules.compensation_for(board.handicap)) / 15
    planes[21] = me == Board.BLACK
    return planes


ENCODERS = {"tutorial": tutorial, "alphazero": alphazero, "katago": katago}
