"""How right values are: `python benchmarks/values.py` (some minutes on two cores).

A network plays itself on 9×9, a Gumbel search for each move. What the network alone, the mean over all visits, and the
search itself said of each position, for the player to move, is compared with how the game ended: by how much it was
too bright on average (all players together win as much as they lose, so that should be 0), and its squared error.
"""

import argparse

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from mini_alphago.game.state import BLACK
from mini_alphago.model import Evaluator, load_network
from mini_alphago.training import SelfPlay, SelfPlaySettings

NAMES = ("the network", "the mean over all visits", "the search")
PARTS = ((0, 12), (12, 24), (24, 40), (40, 60), (0, 60))  # moves


def said(play: SelfPlay, value: np.ndarray) -> np.ndarray:
    """[games, 6]: game, move, the player's sign, and what `NAMES` say of the positions just searched."""
    trees, info = play.searches[0].trees, play.roots.info
    rows = np.zeros((len(value), 6))
    for g in range(len(value)):
        root = trees.nodes[g, 0]
        edges = trees.edges[g, root["first_edge"] : root["first_edge"] + root["seen"]]
        mean = (root["value"] + edges["value_sum"].sum()) / (1 + edges["visits"].sum())
        sign = 1 if info["to_move"][g] == BLACK else -1
        rows[g] = play._id[g], info["move_count"][g], sign, root["value"], mean, value[g]
    return rows[play._id >= 0]


def play_out(play: SelfPlay, games: int) -> tuple[np.ndarray, np.ndarray]:
    """What was said of every position ([positions, 6]), and Black's result in each ([positions])."""
    rows, result = [], np.zeros(games)
    with Progress() as progress:
        bar = progress.add_task("games", total=games)
        while play.playing:
            step = play.think()
            rows.append(said(play, step.value))
            finished = play.apply(step)
            result[finished.id] = np.sign(finished.score)
            progress.advance(bar, len(finished.id))
    everything = np.concatenate(rows)
    return everything, result[everything[:, 0].astype(int)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="shipped")
    parser.add_argument("--games", type=int, default=96)
    parser.add_argument("--simulations", type=int, default=64)
    parser.add_argument("--device", default="auto")
    arguments = parser.parse_args()
    settings = SelfPlaySettings(
        games=arguments.games, simulations=arguments.simulations, random_openings=0.5, sampled_moves=(0, 4),
        resign_below=-0.97, resign_played_out=0.0,
    )  # fmt: skip
    evaluator = Evaluator(load_network(arguments.model), arguments.device)
    rows, black = play_out(SelfPlay(evaluator, 9, settings, seed=5, games_wanted=arguments.games), arguments.games)
    result = black * rows[:, 2]
    table = Table("moves", "positions", "result", *NAMES, title="too bright by, squared error")
    for low, high in PARTS:
        chosen = (rows[:, 1] >= low) & (rows[:, 1] < high)
        error = rows[chosen, 3:] - result[chosen, None]
        cells = [f"{bias:+.3f}, {square:.3f}" for bias, square in zip(error.mean(0), (error**2).mean(0), strict=True)]
        table.add_row(f"{low} to {high}", str(chosen.sum()), f"{result[chosen].mean():+.3f}", *cells)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
