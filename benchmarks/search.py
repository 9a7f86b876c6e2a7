"""How fast the search is: `python benchmarks/search.py`, or `make bench`.

(a) Trees only, the network replaced by fixed random answers: simulations a second on all threads, and what one costs on
one thread with as many leaves as self-play on a GPU has. (b) Many games with a real network,
as a share of what the evaluator alone does at the same batch, in the same run. (c) One game, deep, likewise. (d) The
tutorial's way, one position a call and the tree in Python. And the memory that a thousand visits take.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from network import make_network
from rich.console import Console
from rich.table import Table
from tutorial_style import PlainBoard, plain_search

from mini_alphago.game import Board
from mini_alphago.mcts import Search, SearchSettings, playing_settings
from mini_alphago.mcts.arrays import node_bytes
from mini_alphago.model import ENCODINGS, Evaluation, Evaluator
from mini_alphago.model.evaluator import trial_planes
from mini_alphago.threads import use_threads

REPEATS, COST_REPEATS = 3, 9


class Fixed:
    """Answers without thinking: the same random numbers every time."""

    encoding = ENCODINGS["katago"]

    def __init__(self, batch: int, size: int) -> None:
        rng = np.random.default_rng(1)
        self._answer = (
            rng.normal(0, 1.5, (batch, size * size + 1)).astype(np.float32),
            rng.uniform(-0.5, 0.5, batch).astype(np.float32),
        )

    def run(self, planes: np.ndarray, sizes: np.ndarray) -> Evaluation:
        """As `Evaluator.run`."""
        policy, value = self._answer
        return Evaluation(policy[: len(planes)], value[: len(planes)], None, None)


def boards(count: int, size: int, seed: int = 1) -> list[Board]:
    """Positions some way into random games."""
    rng = np.random.default_rng(seed)
    result = []
    for _ in range(count):
        board = Board(size, komi=7)
        for point in rng.integers(0, size * size, rng.integers(0, size * 3)):
            board.play(*divmod(int(point), size))
        result.append(board)
    return result


def search_rate(search: Search, positions: list[Board], visits: int) -> tuple[float, float]:
    """Median simulations and network evaluations a second."""

    def once() -> tuple[float, float]:
        for g, board in enumerate(positions):
            search.set_board(board, g)
        before = search.evaluations
        start = time.perf_counter()
        search.run(visits)
        seconds = time.perf_counter() - start
        return len(positions) * visits / seconds, (search.evaluations - before) / seconds

    once()
    runs = [once() for _ in range(REPEATS)]
    return statistics.median(run[0] for run in runs), statistics.median(run[1] for run in runs)


def raw_rate(evaluator: Evaluator, batch: int, size: int) -> float:
    """Evaluations a second without any search."""
    planes = np.resize(trial_planes(evaluator.encoding, size), (batch, evaluator.encoding.planes, size, size))
    sizes = np.full(batch, size)
    return rate(lambda: evaluator.run(planes, sizes), batch)


def rate(work: Callable[[], object], amount: int, seconds: float = 2.0) -> float:
    work()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return amount / statistics.median(times)


def trees_only(console: Console) -> None:
    table = Table("board", "method", "simulations/s (thousands)", title="(a) Trees only: 256 games, 64 simulations",
                  title_justify="left")  # fmt: skip
    for size in (9, 19):
        for method in ("puct", "gumbel"):
            with console.status(f"trees, {size}×{size}, {method}…"):
                settings = SearchSettings(method=method, nodes=80)  # type: ignore[arg-type]
                search = Search(Fixed(256, size), 256, size, settings)  # type: ignore[arg-type]
                speed, _ = search_rate(search, boards(256, size), 64)
            table.add_row(f"{size}×{size}", method, f"{speed / 1e3:,.0f}")
    console.print(table)


def one_thread(console: Console, batch: int = 4096, simulations: int = 32) -> None:
    ways = (("gumbel", 1), ("gumbel", 4), ("puct", 1))  # and leaves of a game at once
    positions, searches, costs = boards(batch, 9), [], []
    for method, leaves in ways:
        settings = SearchSettings(method=method, leaves=leaves, nodes=simulations + 1 + leaves)  # type: ignore[arg-type]
        searches.append(Search(Fixed(batch, 9), batch // leaves, 9, settings))  # type: ignore[arg-type]
    with console.status("one thread…"), use_threads(1):
        for _ in range(1 + COST_REPEATS):
            costs.append([tree_cost(search, positions, simulations) for search in searches])  # in turn
    for (method, leaves), *times in zip(ways, *costs[1:], strict=True):
        console.print(
            f"One thread, 9×9, {batch // leaves:,} games, {leaves} at once, {simulations} simulations, {method}: "
            f"{statistics.median(times):.2f} µs a simulation (the least {min(times):.2f})"
        )


def tree_cost(search: Search, positions: list[Board], simulations: int) -> float:
    """Microseconds that one simulation takes, without the evaluator's share."""
    for g in range(search.games):
        search.set_board(positions[g], g)
    answering, start = search.network_seconds, time.perf_counter()
    search.run(simulations, noise=True)
    seconds = time.perf_counter() - start - (search.network_seconds - answering)
    return 1e6 * seconds / (search.games * simulations)


def with_network(console: Console, device: str, name: str, batch: int) -> float:
    network = make_network(name)
    evaluator = Evaluator(network, device)
    with console.status("many games with a network…"):
        search = Search(evaluator, batch, 9, SearchSettings(nodes=40))
        shares = []
        for _ in range(REPEATS):  # in turn, so that a busy machine is unfair to neither
            raw = raw_rate(evaluator, batch, 9)
            _, evals = search_rate(search, boards(batch, 9), 32)
            shares.append((evals / raw, evals, raw))
    share, evals, raw = sorted(shares)[len(shares) // 2]
    console.print(f"(b) {batch} games, {name}, 9×9: {evals:,.0f} evals/s of {raw:,.0f} raw: {share:.2f}")
    with console.status("one game…"):
        for leaves in (8, 16):
            one = Search(evaluator, 1, 9, playing_settings(1000, leaves))
            raw_one = raw_rate(evaluator, leaves, 9)
            speed, evals_one = search_rate(one, boards(1, 9), 800)
            console.print(
                f"(c) one game, 800 visits, {leaves} leaves a call: {speed:,.0f} visits/s, {evals_one:,.0f} evals/s of "
                f"{raw_one:,.0f} raw: {evals_one / raw_one:.2f}"
            )
    return evals


def tutorial_way(console: Console, name: str, fast: float) -> None:
    network = make_network(name)
    with console.status("the tutorial's way…"):
        speed = rate(lambda: plain_search(network, PlainBoard(9), 20, 22), 20, 6.0)
    console.print(
        f"(d) The tutorial's way, {name}: {speed:,.0f} simulations/s; (b) does {fast / speed:.0f} times that."
    )


def memory(console: Console) -> None:
    search = Search(Fixed(1, 9), 1, 9, SearchSettings(nodes=2000))
    search.set_board(Board(9, komi=7))
    search.run(1000)
    trees = search.trees
    used = trees.node_count[0] * node_bytes(82)
    console.print(f"A thousand visits on 9×9 take {used / 2**20:.1f} MiB.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--network", default="b6c96")
    parser.add_argument("--games", type=int, default=128)
    arguments = parser.parse_args()
    console = Console()
    trees_only(console)
    one_thread(console)
    fast = with_network(console, arguments.device, arguments.network, arguments.games)
    tutorial_way(console, arguments.network, fast)
    memory(console)


if __name__ == "__main__":
    main()
