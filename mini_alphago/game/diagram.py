"""Boards as text: what `str(board)` writes and `Board.from_diagram` reads."""

import re
from typing import TYPE_CHECKING

import numpy as np

from .coords import GTP_COLUMNS, star_points
from .state import BLACK, EMPTY, MAX_SIZE, MIN_SIZE, WHITE

if TYPE_CHECKING:
    from .board import Board

SYMBOLS = {EMPTY: ".", BLACK: "X", WHITE: "O"}
_MEANING = {".": EMPTY, "+": EMPTY, "X": BLACK, "#": BLACK, "B": BLACK, "O": WHITE, "W": WHITE}
_NAMES = {BLACK: "Black", WHITE: "White"}


def draw(board: "Board") -> str:
    """The board with coordinates, the last stone in parentheses, and a line that says how the game stands."""
    size = board.size
    stars = set(star_points(size))
    last = board.history[-1][:2] if board.move_count else (-1, -1)
    header = "   " + " ".join(GTP_COLUMNS[:size])
    lines = [header]
    for x in range(size):
        cells = [
            "+" if (x, y) in stars and not board.board[x, y] else SYMBOLS[int(board.board[x, y])] for y in range(size)
        ]
        row = f" {' '.join(cells)} "
        if last[0] == x:
            left = 2 * last[1]
            row = f"{row[:left]}({row[left + 1]}){row[left + 3 :]}"
        lines.append(f"{size - x:2}{row}{size - x}")
    player, taken = board.current_player, board.prisoners
    turn = f"{_NAMES[player]} ({SYMBOLS[player]}) to play{', game over' if board.is_game_over() else ''}"
    lines += [
        header,
        f"{turn}, move {board.move_count + 1}, komi {board.komi:g}, captured by X {taken[BLACK]}, by O {taken[WHITE]}",
    ]
    return "\n".join(lines)


def parse(text: str) -> tuple[np.ndarray, int]:
    """Stones, int8 `[size, size]`, and the player to move (Black unless a line says "White … to play").

    Rows are the lines made of board symbols once row numbers, spaces and parentheses are gone. Header lines of column
    letters and everything else are skipped; ValueError if the rows do not make a square.
    """
    rows = []
    for line in text.splitlines():
        spaced = line.replace("(", " ").replace(")", " ")
        cells = re.sub(r"^\s*\d+\s|\s\d+\s*$|\s", "", spaced).upper()
        if cells and all(cell in _MEANING for cell in cells) and not _is_header(line):
            rows.append([_MEANING[cell] for cell in cells])
    size = len(rows)
    if not MIN_SIZE <= size <= MAX_SIZE or any(len(row) != size for row in rows):
        widths = sorted({len(row) for row in rows})
        raise ValueError(
            f"the diagram has {size} rows of {' or '.join(map(str, widths)) or 'no'} points: "
            f"it must be a square of {MIN_SIZE}×{MIN_SIZE} to {MAX_SIZE}×{MAX_SIZE}, drawn with . X O"
        )
    player = WHITE if re.search(r"^\s*white\b.*\bto play", text, re.IGNORECASE | re.MULTILINE) else BLACK
    return np.array(rows, np.int8), player


def _is_header(line: str) -> bool:
    letters = line.split()
    return letters == list(GTP_COLUMNS[: len(letters)])
