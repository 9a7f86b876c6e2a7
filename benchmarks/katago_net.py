"""How fast a network of KataGo's is here: `python benchmarks/katago_net.py net.bin.gz`, or `make bench`.

On 9×9 and 19×19: visits a second in one game over GTP, the engine playing as it does by default; the network alone,
evaluations a second in a batch of 64 and one by one; and what encoding costs, ladders included, on positions of games
that the network's own policy plays, as a share of a visit. All are measured in turn, and medians are shown. Without an
argument it is the small network of the tests: its figures are for comparing versions, not networks.
"""

import argparse
import statistics
from pathlib import Path

import numpy as np
from engine import game_rate, raw
from network import median_seconds
from rich.console import Console
from rich.table import Table

from mini_alphago.engine.status import legal_policy
from mini_alphago.game import Board, stack_boards
from mini_alphago.game.state import Games
from mini_alphago.model import Evaluator, load_checkpoint
from mini_alphago.threads import use_threads

SIZES = (9, 19)
REPEATS = 3
BATCH = 64
POSITIONS = 16
LENGTH = 0.7  # of a game, as a share of the board's points
SMALL = Path(__file__).parents[1] / "tests" / "model" / "katago" / "small.bin.gz"


def real_positions(evaluator: Evaluator, size: int) -> Games:
    """Games by the network's policy, each some moves further than the one before."""
    rng = np.random.default_rng(1)
    boards = [Board(size, komi=7) for _ in range(POSITIONS)]
    ends = np.linspace(0, LENGTH * size * size, POSITIONS).astype(int)
    for move in range(ends[-1]):
        going = [board for board, end in zip(boards, ends, strict=True) if move < end]
        answers = evaluator.evaluate(stack_boards(going))
        for board, logits in zip(going, answers.policy, strict=True):
            odds = np.nan_to_num(legal_policy(board, logits)[:-1])
            if odds.sum() > 0:  # else there is nothing but passing, and it stays as it is
                board.play(*divmod(int(rng.choice(len(odds), p=odds / odds.sum())), size))
    return stack_boards(boards)


def encoding_seconds(evaluator: Evaluator, games: Games) -> float:
    """Of one position, by one thread, as in a search of one game."""
    size = int(games.info["size"][0])
    planes = np.empty((len(games.info), evaluator.encoding.planes, size, size), np.int8)
    with use_threads(1):
        return median_seconds(lambda: evaluator.encoding.encode(games, planes), 0.5) / len(games.info)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network", nargs="?", default=str(SMALL), help="a .bin.gz or .txt.gz of KataGo's")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", default="auto")
    arguments = parser.parse_args()
    console = Console()
    network, checkpoint = load_checkpoint(arguments.network)
    evaluator = Evaluator(network, arguments.device, arguments.precision)
    how = f"{evaluator.engine} {evaluator.precision} on {evaluator.device.type}, {evaluator.threads} threads"
    title = f"{checkpoint.notes.get('name', arguments.network)}, {checkpoint.config.size}, {how}"
    table = Table(
        "board", "visits/s", f"evals/s by {BATCH}", "evals/s alone", "visits / evals", "encoding µs", "of a visit",
        title=title, title_justify="left",
    )  # fmt: skip
    for size in SIZES:
        with console.status(f"playing and measuring on {size}×{size}…"):
            games = real_positions(evaluator, size)
            runs = [
                (
                    game_rate(evaluator, size),
                    raw(evaluator, BATCH, size),
                    raw(evaluator, 1, size),
                    encoding_seconds(evaluator, games),
                )
                for _ in range(REPEATS)  # in turn, so that a busy machine is unfair to none
            ]
        visits, together, alone, encoding = (statistics.median(column) for column in zip(*runs, strict=True))
        share = statistics.median(run[3] * run[0] for run in runs)
        table.add_row(
            f"{size}×{size}", f"{visits:,.0f}", f"{together:,.0f}", f"{alone:,.0f}", f"{visits / together:.2f}",
            f"{1e6 * encoding:,.0f}", f"{100 * share:.1f} %",
        )  # fmt: skip
    console.print(table)
    if Path(arguments.network) == SMALL:
        console.print("This is the small network of the tests; give the path of another: see docs/katago.md.")


if __name__ == "__main__":
    main()
