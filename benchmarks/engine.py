"""How fast the engine is for its clients: `python benchmarks/engine.py`, or `make bench`.

(a) One game over GTP: visits a second, as a share of what the evaluator alone does at a good batch size. (b) Queries to
the analysis engine with 1, 8 and 64 of them in flight, likewise. (c) How long a client waits for the answer when it
stops an analysis. (d) How long until the first command is answered, and what is imported for that. Real lines through
real loops; for (c) and (d) real processes. What is compared is measured in turn, and medians are shown.
"""

import argparse
import functools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from network import make_network
from rich.console import Console
from rich.table import Table
from search import rate

from mini_alphago.engine import AnalysisEngine, Engine, EngineSettings, Gtp
from mini_alphago.model import Evaluator, save_checkpoint
from mini_alphago.model.evaluator import trial_planes

SIZES = (9, 19)
REPEATS = 3
STOPS = 20
GOOD_BATCHES = (8, 16, 64)  # the best of them is what the evaluator can do
VISITS = {9: 800, 19: 400}
QUERY_VISITS = {9: 64, 19: 32}


def raw(evaluator: Evaluator, batch: int, size: int) -> float:
    """Evaluations a second without any search."""
    planes = np.resize(trial_planes(evaluator.encoding, size), (batch, evaluator.encoding.planes, size, size))
    sizes = np.full(batch, size)
    return rate(lambda: evaluator.run(planes, sizes), batch, 0.7)


class Loop:
    """An engine's loop in a thread, and the client's ends of its pipes."""

    def __init__(self, run: Callable[[BinaryIO, Any], object]) -> None:
        (source, to), (back, out) = os.pipe(), os.pipe()
        self.to, self.back = os.fdopen(to, "wb"), os.fdopen(back, "rb")
        ends = os.fdopen(source, "rb"), os.fdopen(out, "w")
        self._thread = threading.Thread(target=run, args=ends, daemon=True)
        self._thread.start()

    def send(self, line: str) -> None:
        """One line from the client."""
        self.to.write(line.encode() + b"\n")
        self.to.flush()

    def close(self) -> None:
        """End the input, and wait for the loop to end."""
        self.to.close()
        self._thread.join()


def answer(pipe: Any) -> str:
    """The next answer of a GTP engine, without the blank line that ends it."""
    lines = []
    while line := pipe.readline().decode().rstrip("\n"):
        lines.append(line)
    return "\n".join(lines)


# --- (a) and (b): speed -----------------------------------------------------------------------------------------------


def game_rate(evaluator: Evaluator, size: int, moves: int = 4) -> float:
    """Visits a second in a game over GTP; what a move finds in the tree already does not count."""
    engine = Engine(evaluator, EngineSettings(visits=VISITS[size]), size)
    loop = Loop(lambda source, out: Gtp(engine, out).run(source))
    made, seconds = 0, 0.0
    for move in range(moves + 1):
        before = engine.search().root_visits()
        start = time.perf_counter()
        loop.send(f"reg_genmove {'bw'[move % 2]}")
        vertex = answer(loop.back).removeprefix("= ")
        if move:  # the first one is for getting ready
            seconds += time.perf_counter() - start
            made += engine.search().root_visits() - before
        loop.send(f"play {'bw'[move % 2]} {vertex}")
        answer(loop.back)
    loop.close()
    return made / seconds


def query_rate(evaluator: Evaluator, size: int, in_flight: int) -> tuple[float, float]:
    """Queries and visits a second, so many queries being under way all the time."""
    loop = Loop(lambda source, out: AnalysisEngine(evaluator, out).run(source))
    visits = QUERY_VISITS[size]
    count = max(8, in_flight)
    columns = "ABCDEFGHJKLMNOPQRST"[:size]
    points = [f"{column}{row}" for column in columns for row in range(1, size + 1)]

    def ask(number: int) -> None:
        moves = [["BW"[i % 2], points[(number + 7 * i) % len(points)]] for i in range(6)]
        loop.send(json.dumps({"id": str(number), "moves": moves, "rules": "chinese", "komi": 7, "maxVisits": visits,
                              "boardXSize": size, "boardYSize": size}))  # fmt: skip

    for number in range(in_flight):
        ask(number)
    for number in range(in_flight):  # the first ones are for getting ready
        loop.back.readline()
        ask(in_flight + number)
    start = time.perf_counter()
    for number in range(count):
        assert b"rootInfo" in loop.back.readline()
        ask(2 * in_flight + number)
    seconds = time.perf_counter() - start
    loop.send('{"id": "end", "action": "terminate_all"}')
    while b'"end"' not in loop.back.readline():
        pass
    loop.close()
    return count / seconds, count * (visits + 1) / seconds


def speed(console: Console, evaluator: Evaluator, name: str, size: int) -> None:
    table = Table("what", "visits/s", "raw evals/s", "share", "queries/s", title_justify="left",
                  title=f"(a) A game over GTP, and (b) analysis, {name}, {size}×{size}")  # fmt: skip
    with console.status(f"games and queries, {size}×{size}…"):
        batch = max(GOOD_BATCHES, key=lambda batch: raw(evaluator, batch, size))
        measures: dict[str, Callable[[], tuple[float, float]]] = {
            f"genmove, {VISITS[size]} visits": lambda: (0.0, game_rate(evaluator, size))
        }
        for flight in (1, 8, 64):
            what = f"{flight} queries in flight, {QUERY_VISITS[size]} visits"
            measures[what] = functools.partial(query_rate, evaluator, size, flight)
        for what, measure in measures.items():
            runs = []
            for _ in range(REPEATS):  # in turn, so that a busy machine is unfair to neither
                before, (queries, visits), after = raw(evaluator, batch, size), measure(), raw(evaluator, batch, size)
                both = (before + after) / 2
                runs.append((visits / both, visits, both, queries))
            share, visits, both, queries = sorted(runs)[len(runs) // 2]
            table.add_row(what, f"{visits:,.0f}", f"{both:,.0f}", f"{share:.2f}", f"{queries:,.1f}" if queries else "")
    console.print(table)


# --- (c) and (d): waiting ---------------------------------------------------------------------------------------------


def start(verb: str, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "mini_alphago", verb, *options]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def tell(process: subprocess.Popen[bytes], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(line.encode() + b"\n")
    process.stdin.flush()


def finish(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    process.wait()


def stop_seconds(model: Path, device: str, size: int) -> list[float]:
    """From a line sent during kata-analyze until that analysis has ended."""
    process = start("gtp", "--model", str(model), "--device", device)
    tell(process, f"boardsize {size}")
    answer(process.stdout)
    times = []
    for number in range(STOPS + 1):
        tell(process, "kata-analyze b 20 ownership true")
        process.stdout.readline()  # type: ignore[union-attr]
        process.stdout.readline()  # type: ignore[union-attr]  # its first report
        time.sleep(0.05 + 0.013 * number)  # somewhere between two reports
        began = time.perf_counter()
        tell(process, "stop")
        answer(process.stdout)
        times.append(time.perf_counter() - began)
        answer(process.stdout)  # of `stop` itself
    finish(process)
    return times[1:]


def terminate_seconds(model: Path, device: str, size: int) -> list[float]:
    """From `terminate` until it is answered, with 16 other positions being searched."""
    process = start("analysis", "--model", str(model), "--device", device)
    query = {"moves": [], "rules": "chinese", "komi": 7, "maxVisits": 10**7, "boardXSize": size, "boardYSize": size}
    for number in range(15):
        tell(process, json.dumps({**query, "id": f"other{number}"}))
    times = []
    for number in range(STOPS + 1):
        tell(process, json.dumps({**query, "id": f"{number}", "reportDuringSearchEvery": 0.1}))
        process.stdout.readline()  # type: ignore[union-attr]  # a report: it is being searched
        time.sleep(0.02 + 0.013 * number)
        began = time.perf_counter()
        tell(process, json.dumps({"id": "end", "action": "terminate", "terminateId": f"{number}"}))
        while b'"terminate"' not in process.stdout.readline():  # type: ignore[union-attr]
            pass
        times.append(time.perf_counter() - began)
    process.kill()
    process.wait()
    return times[1:]


def waiting(console: Console, model: Path, device: str) -> None:
    table = Table("board", "what", "median ms", "worst ms", title=f"(c) An analysis is stopped, {STOPS} times",
                  title_justify="left")  # fmt: skip
    for size in SIZES:
        for what, measure in (("stop, over GTP", stop_seconds), ("terminate, of 16 queries", terminate_seconds)):
            with console.status(f"stopping, {size}×{size}…"):
                times = [1e3 * seconds for seconds in measure(model, device, size)]
            table.add_row(f"{size}×{size}", what, f"{statistics.median(times):.0f}", f"{max(times):.0f}")
    console.print(table)


def first_answer(model: Path) -> float:
    began = time.perf_counter()
    process = start("gtp", "--model", str(model))
    tell(process, "name")
    answer(process.stdout)
    seconds = time.perf_counter() - began
    finish(process)
    return seconds


def start_up(console: Console, model: Path) -> None:
    with console.status("starting…"):
        first_answer(model)  # compiles
        times = [first_answer(model) for _ in range(REPEATS)]
        script = "import mini_alphago.cli, mini_alphago.engine\nfrom mini_alphago.game import Board\nBoard(9)"
        command = [sys.executable, "-X", "importtime", "-c", script]
        report = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    own = [(int(m[1]), m[2]) for m in re.finditer(r"\| +(\d+) \| +(\S+)", report)]
    seconds = {name: micro / 1e6 for micro, name in own}
    console.print(f"(d) The first GTP command is answered after {statistics.median(times):.2f} s; of that, imports:")
    for name in ("tyro", "numpy", "numba", "scipy.linalg", "mini_alphago.engine", "torch"):
        if name in seconds:
            console.print(f"  {name:20} {seconds[name]:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--network", default="b6c96")
    parser.add_argument("--only", default="abcd", help="which parts, as in `--only cd`")
    arguments = parser.parse_args()
    console = Console()
    network = make_network(arguments.network)
    if {"a", "b"} & set(arguments.only):
        for size in SIZES:
            speed(console, Evaluator(network, arguments.device), arguments.network, size)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.safetensors"
        save_checkpoint(model, network)
        if "c" in arguments.only:
            waiting(console, model, arguments.device)
        if "d" in arguments.only:
            start_up(console, model)


if __name__ == "__main__":
    main()
