"""How fast the rules are: `python benchmarks/rules.py`, or `make bench`.

Random legal moves until both sides pass or three moves per point, positional superko and the eight last positions
kept, beside a tutorial-style board in plain Python and OpenSpiel's C++ Go driven from Python (if it is installed), all
in one run. What the search asks of a position: which moves are legal on the whole board, and a copy. Then what a
newcomer waits for: compiling once, and starting with a warm cache.
"""

import importlib.util
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from rich.console import Console
from rich.table import Table
from tutorial_style import PlainBoard

from mini_alphago.game import Board, state
from mini_alphago.kernel import kernel, parallel_kernel, prange

SIZES = (9, 13, 19)
REPEATS = 5

FIRST_MOVE = """
import time; start = time.perf_counter()
from mini_alphago.game import Board
imported = time.perf_counter()
Board(9).play(2, 3)
played = time.perf_counter()
if {everything}:
    board = Board(9); board.get_legal_moves(); board.score(); board.ownership(); board.pass_alive(1); board.undo()
    board.is_legal(2, 2); board.setup(black=[(1, 1)])
print(imported - start, played - imported, time.perf_counter() - imported)
"""


@kernel
def random_move(games: state.Games, g: int, rng: Any, candidates: Any) -> int:
    """A random legal point, or a pass if there is none. `rng` ([games] uint64) is xorshift; `candidates` is scratch."""
    area = games.info[g].size * games.info[g].size
    count = 0
    for point in range(area):
        if games.color[g, point] == state.EMPTY:
            candidates[g, count] = point
            count += 1
    while count > 0:
        rng[g] ^= rng[g] << np.uint64(13)
        rng[g] ^= rng[g] >> np.uint64(7)
        rng[g] ^= rng[g] << np.uint64(17)
        pick = np.int64(((rng[g] >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))
        point = candidates[g, pick]
        if state.legality(games, g, point, games.info[g].to_move) == state.LEGAL:
            return point
        count -= 1
        candidates[g, pick] = candidates[g, count]
    return area


@kernel
def random_games(games: state.Games, g: int, count: int, limit: int, rng: Any, candidates: Any) -> int:
    """Play that many random games in slot `g`; returns the number of moves."""
    moves = 0
    for _ in range(count):
        state.clear(games, g)
        while games.info[g].passes < 2 and games.info[g].move_count < limit:
            state.play(games, g, random_move(games, g, rng, candidates))
        moves += games.info[g].move_count
    return moves


@parallel_kernel
def random_games_all(games: state.Games, count: int, limit: int, rng: Any, candidates: Any, moves: Any) -> None:
    """`random_games` in every slot at once."""
    for g in prange(len(moves)):
        moves[g] = random_games(games, g, count, limit, rng, candidates)


@kernel
def legality_maps(games: state.Games, times: int, reasons: Any) -> int:
    """Which moves are legal in all games, again and again; returns the number of positions."""
    for _ in range(times):
        for g in range(len(games.info)):
            state.legality_map(games, g, games.info[g].to_move, reasons)
    return times * len(games.info)


@kernel
def copies(games: state.Games, times: int, other: state.Games) -> int:
    """Copy all games to another one, again and again; returns the number of positions."""
    for _ in range(times):
        for g in range(len(games.info)):
            state.copy_game(other, 0, games, g)
    return times * len(games.info)


@kernel
def replay(games: state.Games, moves: Any, times: int) -> int:
    """Play a known game again and again; returns the number of moves."""
    for _ in range(times):
        state.clear(games, 0)
        for i in range(len(moves)):
            state.play(games, 0, moves[i])
    return times * len(moves)


def rate(work: Callable[[], int]) -> float:
    """Median of moves, or whatever `work` counts, per second; it returns their number."""
    work()
    rates = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        moves = work()
        rates.append(moves / (time.perf_counter() - start))
    return statistics.median(rates)


def ours(size: int, threads: int) -> float:
    slots = 8 * threads
    games = state.new_games(slots, size, 3 * size * size)
    games.info["ko_rule"] = state.KO_POSITIONAL
    rng = np.random.default_rng(1).integers(1, 2**63, slots).astype(np.uint64)
    candidates = np.zeros((slots, size * size), np.int16)
    limit, count = 3 * size * size, max(1, 160_000 // (size * size) // slots)
    if threads == 1:
        return rate(lambda: sum(random_games(games, g, count, limit, rng, candidates) for g in range(slots)))
    moves = np.zeros(slots, np.int64)

    def work() -> int:
        random_games_all(games, count, limit, rng, candidates, moves)
        return int(moves.sum())

    return rate(work)


def ours_replaying(moves: list[int], size: int) -> float:
    games = state.new_games(1, size, len(moves))
    games.info["ko_rule"] = state.KO_POSITIONAL
    known = np.array(moves)
    return rate(lambda: replay(games, known, 500))


def position_costs(size: int, count: int = 64) -> tuple[float, float]:
    """µs for the legality of a whole board, and for a copy: positions after 0 to 3 · size moves of random games."""
    area = size * size
    games, other = state.new_games(count, size, area), state.new_games(1, size, area)
    games.info["ko_rule"] = state.KO_POSITIONAL
    rng = np.random.default_rng(1).integers(1, 2**63, count).astype(np.uint64)
    candidates, reasons = np.zeros((count, area), np.int16), np.zeros(area + 1, np.uint8)
    for g in range(count):
        random_games(games, g, 1, 3 * size * g // count, rng, candidates)
    return 1e6 / rate(lambda: legality_maps(games, 200, reasons)), 1e6 / rate(lambda: copies(games, 200, other))


def board_class(size: int) -> float:
    """The Board class, one Python call a move, points in random order."""

    def work() -> int:
        board = Board(size)
        points = [(x, y) for x in range(size) for y in range(size)]
        random.Random(1).shuffle(points)
        for x, y in points:
            board.play(x, y)
        return board.move_count

    return rate(work)


def plain_python(size: int) -> float:
    """A tutorial-style board, choosing as a tutorial does: list the legal moves, take one."""

    def work() -> int:
        board, rng, moves = PlainBoard(size), random.Random(1), 0
        while board.passes < 2 and moves < 50:
            if legal := board.legal_moves():
                board.play(*rng.choice(legal))
            else:
                board.pass_move()
            moves += 1
        return moves

    return rate(work)


def openspiel(size: int) -> tuple[float, float, list[int]]:
    """OpenSpiel, one Python call a move: choosing among `legal_actions`; replaying; and the game replayed."""
    import pyspiel

    game = pyspiel.load_game(f"go(board_size={size},komi=7.5)")

    def choose() -> list[int]:
        position, rng = game.new_initial_state(), random.Random(1)
        while not position.is_terminal() and len(position.history()) < size * size:
            stones = position.legal_actions()
            stones.remove(size * size)
            position.apply_action(rng.choice(stones) if stones else size * size)
        return list(position.history())

    # OpenSpiel counts rows from below; the mirrored game is as good.
    moves = choose()

    def again() -> int:
        for _ in range(20):
            position = game.new_initial_state()
            for move in moves:
                position.apply_action(move)
        return 20 * len(moves)

    return rate(lambda: len(choose())), rate(again), moves


def first_move(cache: str, everything: bool = False) -> tuple[float, float, float]:
    """Seconds to import the package, from there to the first move, and to the end, in a new process."""
    code = FIRST_MOVE.format(everything=everything)
    environment = {**os.environ, "MINI_ALPHAGO_CACHE": cache}
    output = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    imported, played, end = map(float, output.stdout.split())
    return imported, played, end


def main() -> None:
    console = Console()
    threads = numba.config.NUMBA_NUM_THREADS
    columns = ["9×9", "13×13", "19×19"]
    table = Table("thousand moves a second", *columns, title="Rules of Go: speed", title_justify="left")
    rows: dict[str, list[float]] = {}

    def add(name: str, value: float) -> None:
        rows.setdefault(name, []).append(value / 1e3)

    for size in SIZES:
        with console.status(f"measuring {size}×{size}…"):
            add("random moves, 1 thread", ours(size, 1))
            add(f"random moves, {threads} threads", ours(size, threads))
            add("tutorial-style plain Python", plain_python(size))
            add("Board.play from Python", board_class(size))
            if importlib.util.find_spec("pyspiel"):
                choosing, replaying, moves = openspiel(size)
                add("OpenSpiel from Python", choosing)
                add("a known game, 1 thread", ours_replaying(moves, size))
                add("a known game, OpenSpiel from Python", replaying)
    for name, values in rows.items():
        table.add_row(name, *(f"{value:,.1f}" if value < 10 else f"{value:,.0f}" for value in values))
    table.add_section()
    for name in ("tutorial-style plain Python", "OpenSpiel from Python"):
        if name in rows:
            ratios = [a / b for a, b in zip(rows["random moves, 1 thread"], rows[name], strict=True)]
            table.add_row(f"1 thread ÷ {name}", *(f"{ratio:,.0f} ×" for ratio in ratios))
    console.print(table)
    table = Table("µs a position, 1 thread", *columns)
    costs = [position_costs(size) for size in SIZES]
    for i, name in enumerate(("legality of a whole board", "a copy, its history included")):
        table.add_row(name, *(f"{cost[i]:.2f}" for cost in costs))
    console.print(table)
    with tempfile.TemporaryDirectory() as cache, console.status("compiling afresh…"):
        _, _, compiled = first_move(cache, everything=True)
        starts = [first_move(cache) for _ in range(REPEATS)]
    imported, played = (statistics.median(start[i] for start in starts) for i in (0, 1))
    console.print(f"First compile of all the game's kernels: {compiled:.1f} s.")
    console.print(f"With a warm cache: import {imported:.2f} s, from there to the first move {played:.2f} s.")


if __name__ == "__main__":
    main()
