"""How fast training is on one GPU: `python benchmarks/gpu.py` (needs CUDA, and takes some minutes).

For each network, in one run: what it does alone, batch after batch of the size that self-play asks, one by one and two
at once; self-play with Gumbel and with PUCT, as a share of that, where its time goes, how busy the GPU is meanwhile;
training steps, with their batches made and on the GPU alone. Ways of self-play take turns, a few seconds each time, and
the network alone with them: the machine may be another's too, and is not equally fast all the time.
"""

import mini_alphago  # noqa: F401  # before torch, see its __init__

# isort: split
import argparse
import itertools
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from network import make_network
from rich.console import Console
from rich.table import Table

from mini_alphago.model import Evaluator, Network, load_network
from mini_alphago.model.inference import CudaGraphBackend
from mini_alphago.threads import set_threads
from mini_alphago.training import SelfPlay, SelfPlaySettings, Trainer
from mini_alphago.training.choice import usable
from mini_alphago.training.config import LearningSettings
from mini_alphago.training.samples import SampleMaker

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


class Way:
    """A way of self-play, and what came of each of its turns."""

    def __init__(self, evaluator: Evaluator, size: int, rows: int, groups: int, threads: int, method: str, leaves: int):
        games = groups * rows // leaves
        settings = SelfPlaySettings(games=games, groups=groups, method=method, leaves=leaves, fpu_reduction=0.2)
        self.play = SelfPlay(evaluator, size, settings, staggered=True)
        self.threads = threads
        self.name = f"{method}, {groups} × {rows // leaves} games"
        self.name += f", {leaves} leaves" * (leaves > 1) + f", {threads} threads"
        self.turns: list[dict[str, float]] = []
        self._warm_up(moves=3)
        self.play.rest()

    def _warm_up(self, moves: int) -> None:
        """So many moves in every game, outside the clock."""
        set_threads(self.threads)
        for _ in range(moves * len(self.play.searches)):
            self.play.apply(self.play.think())

    def take_turn(self, seconds: float) -> None:
        """Play for a while, and keep how fast it was."""
        self._warm_up(moves=1)
        play = self.play
        evals, waited, positions, games, applying = play.evaluations, play.network_seconds, 0, 0, 0.0
        steps = 0
        with watched_gpu() as busy:
            start = time.perf_counter()
            # Whole rounds of the groups: what others have done of their moves is counted as evaluations already.
            while time.perf_counter() - start < seconds or steps % len(play.searches):
                steps += 1
                step = play.think()
                thought = time.perf_counter()
                games += len(play.apply(step).id)
                applying += time.perf_counter() - thought
                positions += len(step.move)
            took = time.perf_counter() - start
        play.rest()  # the lanes are for others now
        self.turns.append({
            "evals": (play.evaluations - evals) / took, "positions": positions / took, "games": games / took,
            "waiting": (play.network_seconds - waited) / took, "applying": applying / took,
            "busy": statistics.mean(busy or [float("nan")]),
        })  # fmt: skip

    def middle(self, of: str, beside: list[float] | None = None) -> float:
        """The median over all turns; as a share of what was measured beside each of them."""
        return statistics.median(
            turn[of] / other for turn, other in zip(self.turns, beside or [1.0] * len(self.turns), strict=True)
        )

    def row(self, one: list[float], two: list[float]) -> list[str]:
        """For the table; one, two: evaluations a second of the network alone, in each turn."""
        shares = (self.middle("evals", one), self.middle("evals", two))
        return [
            self.name,
            f"{self.middle('evals'):,.0f}", f"{shares[0]:.2f}", f"{shares[1]:.2f}",
            f"{self.middle('positions'):,.0f}", f"{self.middle('games'):,.0f}",
            f"{1 - self.middle('waiting') - self.middle('applying'):.0%}",
            f"{self.middle('waiting'):.0%}", f"{self.middle('applying'):.0%}", f"{self.middle('busy'):.0f} %",
        ]  # fmt: skip


def training(network: Network, play: SelfPlay, size: int, batch_size: int) -> str:
    """How fast training steps on the games in play are."""
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
    return f"{statistics.median(rates):,.0f} samples/s, batch {batch_size}; {alone:,.0f} on the GPU alone"


def case(console: Console, name: str, size: int, rows: int, arguments: argparse.Namespace) -> None:
    network = load_network(arguments.network) if arguments.network else make_network(name)
    name = f"b{network.config.blocks}c{network.config.channels}"
    began = time.perf_counter()
    evaluator = Evaluator(network, "cuda", compiled=True)
    methods = [*(("gumbel", leaves) for leaves in arguments.leaves), ("puct", 1)]
    ways = [
        Way(evaluator, size, rows, groups, threads, *method)
        for groups, threads, method in itertools.product(arguments.groups, arguments.threads, methods)
    ]
    console.print(f"{name} on {size}×{size}, {evaluator.precision}: ready after {time.perf_counter() - began:.0f} s")
    one, two = [], []
    for turn in range(arguments.turns):
        one.append(raw_rate(evaluator, rows, size, 1))
        two.append(raw_rate(evaluator, rows, size, 2))
        for way in ways[:: 1 if turn % 2 else -1]:
            way.take_turn(arguments.seconds)
    spread = ", ".join(f"{rate:,.0f}" for rate in two)
    console.print(
        f"network alone, batch {rows}: {statistics.median(one):,.0f} evals/s one by one, "
        f"{statistics.median(two):,.0f} two at once ({spread})"
    )
    table = Table(
        "32 simulations", "evals/s", "of one by one", "of two at once", "positions/s", "games/s",
        "trees", "waiting", "games", "GPU busy", title=f"self-play, medians of {arguments.turns}", title_justify="left",
    )  # fmt: skip
    for way in ways:
        table.add_row(*way.row(one, two))
    console.print(table)
    rate = training(make_network(name).cuda(), ways[0].play, size, 2048 if size < 13 else 512)
    console.print(f"training: {rate}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="*", type=int, default=[0, 1, 2], help="which of the three")
    parser.add_argument("--groups", nargs="+", type=int, default=[3], metavar="N", help="of games, which take turns")
    parser.add_argument("--leaves", nargs="+", type=int, default=[1], metavar="N", help="of a game at once, in Gumbel")
    parser.add_argument("--network", default="", metavar="PATH", help="a trained one in place of random weights")
    parser.add_argument("--threads", nargs="+", type=int, metavar="N", help="of the trees; all cores")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each turn of self-play")
    parser.add_argument("--turns", type=int, default=5, help="of each way")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("there is no CUDA device here")
    if arguments.turns < 1:
        parser.error(f"--turns is {arguments.turns}: it is 1 or more")
    console = Console(width=140)
    cores = set_threads()
    arguments.threads = arguments.threads or [cores]
    console.print(f"{torch.cuda.get_device_name()}, {cores} cores")
    for i in arguments.cases:
        case(console, *CASES[i], arguments)


if __name__ == "__main__":
    main()
