"""How wrong networks are about games of others: `python benchmarks/errors.py shipped runs/mine --games match`.

Positions are drawn from game records (the folders that `mini-alphago match` keeps have some) and shown to each network
without search: the squared error of its value beside the result, and −log p of the move that was played, those of the
other networks less the first one's too, with the standard error of that, a game being one observation. All networks see
the same positions, so this tells two networks apart that hundreds of games do not; it is no strength.
"""

import mini_alphago  # noqa: F401  # before torch, see its __init__

# isort: split
import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mini_alphago.game import Board, stack_boards
from mini_alphago.game.coords import to_flat
from mini_alphago.game.sgf import SgfGame, read_sgf
from mini_alphago.game.state import BLACK
from mini_alphago.model import Evaluator, load_network

_BATCH = 256
_FIRST, _LAST = 2, 50  # moves after which positions are drawn


class Positions(NamedTuple):
    """What networks are asked about."""

    boards: list[Board]
    result: np.ndarray  # [positions] 1, 0 or −1 for the player to move
    move: np.ndarray  # [positions] int64, the flat index of what was played


def winner(game: SgfGame) -> int | None:
    """1 if Black won, −1 if White did, 0 for a draw; None if the record does not say."""
    if game.result in ("0", "Draw"):
        return 0
    return {"B": 1, "W": -1}.get(game.result[:1])


def draw_positions(folders: list[Path], each: int, seed: int) -> Positions:
    """Of every game that says how it ended, so many positions, or none if it was too short."""
    rng = np.random.default_rng(seed)
    boards, result, move = [], [], []
    files = sorted(path for folder in folders for path in folder.rglob("*.sgf"))
    for path in track(files, "games"):
        game = read_sgf(path)
        won, moves = winner(game), game.board().history
        last = min(len(moves), _LAST)
        if won is None or last - _FIRST < each:
            continue
        for at in sorted(rng.choice(np.arange(_FIRST, last), each, replace=False).tolist()):
            board = game.board(at)
            boards.append(board)
            result.append(won if board.current_player == BLACK else -won)
            move.append(to_flat(*moves[at][:2], board.size))
    return Positions(boards, np.array(result, np.float64), np.array(move))


def errors(evaluator: Evaluator, positions: Positions, each: int) -> np.ndarray:
    """[2, games]: the squared error of the value, −log p of the move, means over the positions of a game."""
    found = []
    for start in range(0, len(positions.boards), _BATCH):
        rows = slice(start, start + _BATCH)
        said = evaluator.evaluate(stack_boards(positions.boards[rows]))
        logits = said.policy - said.policy.max(axis=1, keepdims=True)
        chosen = logits[np.arange(len(logits)), positions.move[rows]]
        found.append([(said.value - positions.result[rows]) ** 2, np.log(np.exp(logits).sum(axis=1)) - chosen])
    return np.concatenate(found, axis=1).reshape(2, -1, each).mean(axis=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="+", metavar="MODEL")
    parser.add_argument(
        "--games", nargs="+", type=Path, required=True, metavar="DIR", help="with SGF files, of one size"
    )
    parser.add_argument("--each", type=int, default=6, metavar="N", help="positions of each game")
    parser.add_argument("--device", default="auto")
    arguments = parser.parse_args()
    positions = draw_positions(arguments.games, arguments.each, seed=0)
    if not positions.boards:
        parser.error("no finished games there")
    table = Table("", "value, squared error", "less the first's", "−log p", "less the first's")
    table.title = f"{len(positions.boards):,} positions"
    first = None
    for path in arguments.networks:
        found = errors(Evaluator(load_network(path), arguments.device), positions, arguments.each)
        first = found if first is None else first
        cells = []
        for mine, its in zip(found, first, strict=True):
            more = mine - its
            cells += [f"{mine.mean():.4f}", f"{more.mean():+.4f} ± {more.std() / len(more) ** 0.5:.4f}"]
        table.add_row(path, *cells)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
