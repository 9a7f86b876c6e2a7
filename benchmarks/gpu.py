"""How fast training is on one GPU: `python benchmarks/gpu.py` (needs CUDA, and takes about four minutes).

For each network, in one run: what it does alone, batch after batch of the size that self-play asks, one by one and two
at once; self-play with Gumbel and with PUCT, as a share of the latter, where its time goes, and how busy the GPU is
meanwhile; training steps, with their batches made and on the GPU alone.
"""

import argparse
import itertools
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from network import make_network
from numba import get_num_threads
from rich.console import Console
from rich.table import Table

from mini_alphago.model import Evaluator, Network, load_network
from mini_alphago.model.inference import CudaGraphBackend
from mini_alphago.threads import set_threads
from mini_alphago.training import SelfPlay, SelfPlaySettings, Trainer
from mini_alphago.training.config import LearningSettings
from mini_alphago.training.samples import SampleMaker, usable

CASES = (("b6c96", 9, 4096), ("b10c128", 9, 4096), ("b6c96", 19, 1024))  # network, board, leaves of each group


@contextmanager
def watched_gpu() -> Iterator[list[float]]:
    """How busy the GPU was in this block, in percent, several times a second; empty if nobody can say."""
    seen: list[float] = []
    try:
        watch = subprocess.Popen(
            ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", "250"],
            stdout=subprocess.PIPE,
            text=True,
        )
    except OSError:
        yield seen
        return
    try:
        yield seen
    finally:
        watch.terminate()
        out, _ = watch.communicate()
        seen += [float(line) for line in out.split() if line.replace(".", "").isdigit()]


def raw_rate(evaluator: Evaluator, batch: int, size: int, lanes: int) -> float:
    """Evaluations a second of the network alone, copies in and out included.

    lanes: so many questions are on their way at the same time, as those of so many groups of games.
    """
    backend = evaluator._backend
    assert isinstance(backend, CudaGraphBackend)
    graphs = [backend._graph((batch, evaluator.encoding.planes, size, size), lane) for lane in range(lanes)]
    rates = []
    for _ in range(5):
        torch.cuda.synchronize()
        start, rounds = time.perf_counter(), max(10, 200_000 // batch)
        for i in range(rounds):
            backend._launch(graphs[i % lanes])
        torch.cuda.synchronize()
        rates.append(rounds * batch / (time.perf_counter() - start))
    return statistics.median(rates)


def self_play(table: Table, play: SelfPlay, way: str, raw: float, seconds: float) -> None:
    """Play for a while, and say how fast it was."""
    name = "Gumbel" if play.settings.method == "gumbel" else "PUCT"
    for _ in range(3 * len(play.searches)):
        play.apply(play.think())
    evals, waited, positions, games = play.evaluations, play.network_seconds, 0, 0
    with watched_gpu() as busy:
        start = time.perf_counter()
        applying = 0.0
        while time.perf_counter() - start < seconds:
            step = play.think()
            thought = time.perf_counter()
            games += len(play.apply(step).id)
            applying += time.perf_counter() - thought
            positions += len(step.move)
        took = time.perf_counter() - start
    rate = (play.evaluations - evals) / took
    table.add_row(f"self-play, {name}", f"{rate:,.0f} evals/s: {rate / raw:.2f} of the network alone")
    table.add_row("", f"{positions / took:,.0f} positions/s, {games / took:,.0f} games/s; {way}")
    waiting = (play.network_seconds - waited) / took
    shares = f"trees {1 - waiting - applying / took:.0%}, waiting for the network {waiting:.0%}"
    used = f"; GPU busy {statistics.mean(busy):.0f} %" if busy else ""
    table.add_row("", f"{shares}, games {applying / took:.0%}{used}")


def training(table: Table, network: Network, play: SelfPlay, size: int, batch_size: int) -> None:
    """Training steps on the games in play."""
    trainer = Trainer(network, 1e-3, LearningSettings(batch_size=batch_size))
    encoding = play.searches[0]._encoding
    assert encoding is not None
    maker = SampleMaker(encoding, size, play.settings.rules, batch_size, play.limit, pinned=True)
    records = play.records(np.arange(play.settings.games))
    game, at = usable(records)
    rng = np.random.default_rng(0)

    def make() -> None:
        rows = rng.integers(0, len(game), batch_size)
        trainer.step(maker.make(records, game[rows], at[rows], rng.integers(0, 8, batch_size)))

    for _ in range(20):
        make()
    rates = []
    for _ in range(3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(40):
            make()
        torch.cuda.synchronize()
        rates.append(40 * batch_size / (time.perf_counter() - start))
    assert trainer._graphed is not None
    assert trainer._graphed._captured is not None
    start = time.perf_counter()
    for _ in range(40):
        trainer._graphed._captured.graph.replay()
    torch.cuda.synchronize()
    alone = 40 * batch_size / (time.perf_counter() - start)
    text = f"{statistics.median(rates):,.0f} samples/s, batch {batch_size}; {alone:,.0f} on the GPU alone"
    table.add_row("training", text)


class Inline:
    """In place of the thread that launches: the one that asks does it itself."""

    def submit(self, work: Callable[..., None], *values: Any) -> Future[None]:
        """Do it now."""
        done: Future[None] = Future()
        work(*values)
        done.set_result(None)
        return done


def case(console: Console, name: str, size: int, group: int, arguments: argparse.Namespace) -> None:
    network = load_network(arguments.network) if arguments.network else make_network(name)
    name = f"b{network.config.blocks}c{network.config.channels}"
    began = time.perf_counter()
    evaluator = Evaluator(network, "cuda", compiled=True)
    one, raw = raw_rate(evaluator, group, size, 1), raw_rate(evaluator, group, size, 2)
    title = f"{name} on {size}×{size}, 32 simulations, {evaluator.precision}"
    table = Table("", "", title=title, title_justify="left")
    table.add_row("network alone", f"{raw:,.0f} evals/s, batch {group}, two at once; {one:,.0f} one by one")
    table.add_row("", f"ready after {time.perf_counter() - began:.0f} s")
    thread = evaluator._backend._launcher  # type: ignore[attr-defined]
    methods = [*(("gumbel", leaves) for leaves in arguments.leaves), ("puct", 1)]
    ways = itertools.product(arguments.launch, arguments.groups, arguments.threads or [None], methods)
    for launch, groups, threads, (method, leaves) in ways:
        evaluator._backend._launcher = thread if launch == "thread" else Inline()  # type: ignore[attr-defined]
        set_threads(threads)
        settings = SelfPlaySettings(
            games=groups * group // leaves, groups=groups, method=method, leaves=leaves, fpu_reduction=0.2
        )
        play = SelfPlay(evaluator, size, settings, staggered=True)
        way = f"{groups} × {group // leaves} games, {leaves} leaves, {get_num_threads()} threads, launch {launch}"
        self_play(table, play, way, raw, arguments.seconds)
    training(table, make_network(name).cuda(), play, size, 2048 if size < 13 else 512)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="*", type=int, default=[0, 1, 2], help="which of the three")
    parser.add_argument("--groups", nargs="+", type=int, default=[2], metavar="N", help="of games, which take turns")
    parser.add_argument("--leaves", nargs="+", type=int, default=[4], metavar="N", help="of a game at once, in Gumbel")
    parser.add_argument(
        "--launch",
        nargs="+",
        choices=["thread", "inline"],
        default=["thread"],
        help="by a thread of its own, or by the one that asks",
    )
    parser.add_argument("--network", default="", metavar="PATH", help="a trained one in place of random weights")
    parser.add_argument(
        "--threads", nargs="+", type=int, metavar="N", help="of the trees, one after the other; all cores"
    )
    parser.add_argument("--seconds", type=float, default=12.0, help="of each self-play")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("there is no CUDA device here")
    console = Console(width=110)
    console.print(f"{torch.cuda.get_device_name()}, {set_threads()} cores")
    for i in arguments.cases:
        case(console, *CASES[i], arguments)


if __name__ == "__main__":
    main()
