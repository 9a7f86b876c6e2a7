"""How strong the levels are: `python benchmarks/levels.py` (half an hour on two cores; GNU Go if it is installed).

Neighbours among the levels of the shipped network, random moves and GNU Go meet on paired random openings on 9×9; one
table of Elo ratings for all of them, relative to GNU Go's highest level, or to random moves without it.
"""

import argparse
import statistics

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from mini_alphago.arena import PlayerMaker, elo_ratings, gnugo_player, play_match, random_openings
from mini_alphago.mcts.levels import LEVELS

STRONGEST = "gnugo:10"


def pairs(gnugo: bool) -> list[tuple[str, str]]:
    """Who meets whom: each level the next, and GNU Go those that are nearest to it."""
    names = [f"shipped,level={level.id}" for level in LEVELS]
    chosen = list(zip(["random", *names], names, strict=False))
    if gnugo:
        near = [(name, level) for name in names[1:4] for level in ("gnugo:1", STRONGEST)]
        chosen += [("gnugo:1", STRONGEST), *near]
    return chosen


def has_gnugo() -> bool:
    try:
        gnugo_player().close()
    except ValueError:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=40, help="of each pair")
    parser.add_argument("--visits", type=int, default=400, help="of the level that has all it can get")
    parser.add_argument("--device", default="auto")
    arguments = parser.parse_args()
    maker = PlayerMaker(9, arguments.games, arguments.visits, 1, arguments.device, 60.0)
    openings = random_openings(arguments.games // 2, 9, 7, 2, seed=1)
    chosen = pairs(has_gnugo())
    console = Console()
    results, times = [], dict[str, list[float]]()
    with Progress(console=console) as progress:
        bar = progress.add_task("", total=len(chosen) * arguments.games)
        for i, (one, other) in enumerate(chosen):
            progress.update(bar, description=f"{one} – {other}")
            first, second = maker.make(one), maker.make(other)

            def show(done: int, total: int, before: int = i * arguments.games) -> None:
                progress.update(bar, completed=before + done)

            found = play_match(first, second, openings, show)
            results.append((one, other, found.wins, found.losses, found.draws))
            console.print(f"{one} – {other}: {found.wins} won, {found.draws} drawn, {found.losses} lost")
            for name, side in ((one, 0), (other, 1)):
                times.setdefault(name, []).extend(game.seconds[side] / max(1, game.turns[side]) for game in found.games)
            first.close()
            second.close()
    anchor = STRONGEST if any(STRONGEST in row for row in results) else "random"
    table = Table("player", f"Elo ({anchor} = 0)", "± (95 %)", "seconds a move, many games at once")
    ratings = elo_ratings(results, anchor)
    for name, rating in sorted(ratings.items(), key=lambda item: item[1].elo):
        table.add_row(name, f"{rating.elo:+.0f}", f"{rating.error:.0f}", f"{statistics.mean(times[name]):.3f}")
    console.print(table)


if __name__ == "__main__":
    main()
