"""How fast a match is: `python benchmarks/match.py`, or `make bench`.

Two different networks of one size meet in many games at once on 9×9. Printed: network evaluations a second, as a share
of what the evaluator alone does at the same batch in the same run; moves a second; and from these how long a match of
400 whole games would take. The networks are untrained and would play to the move limit, so the games are cut short.
"""

import argparse
import time

from network import make_network
from rich.console import Console
from search import raw_rate

from mini_alphago.arena import SearchPlayer, play_match, random_openings
from mini_alphago.model import Evaluator

WHOLE = 90  # moves of a game between trained networks, as seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--network", default="b6c96")
    parser.add_argument("--games", type=int, default=32)
    parser.add_argument("--visits", type=int, default=100)
    parser.add_argument("--moves", type=int, default=12, help="of each game, those of the opening not counted")
    arguments = parser.parse_args()
    evaluators = [Evaluator(make_network(arguments.network), arguments.device) for _ in range(2)]
    players = [
        SearchPlayer(name, evaluator, arguments.visits, 9, arguments.games, seed=1)
        for name, evaluator in zip("ab", evaluators, strict=True)
    ]
    openings = random_openings(arguments.games // 2, 9, 7, 2, seed=1)
    console = Console()
    with console.status("playing…"):
        play_match(*players, openings, move_limit=3)  # compiles
        before = sum(player._search.evaluations for player in players)
        raw = raw_rate(evaluators[0], arguments.games, 9)
        start = time.perf_counter()
        result = play_match(*players, openings, move_limit=2 + arguments.moves)
        seconds = time.perf_counter() - start
        raw = (raw + raw_rate(evaluators[0], arguments.games, 9)) / 2  # around it: a busy machine is unfair to neither
    evals = (sum(player._search.evaluations for player in players) - before) / seconds
    moves = sum(sum(game.turns) for game in result.games) / seconds
    setting = f"{len(result.games)} games at once, {arguments.network}, {arguments.visits} visits, 9×9"
    console.print(f"{setting}: {evals:,.0f} evals/s of {raw:,.0f} raw: {evals / raw:.2f}; {moves:.1f} moves/s.")
    minutes = 400 * WHOLE / moves / 60
    console.print(f"At {WHOLE} moves a game that is {moves / WHOLE:.3f} games/s, and {minutes:.0f} minutes for 400.")


if __name__ == "__main__":
    main()
