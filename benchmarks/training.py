"""How fast it learns: `python benchmarks/training.py`, or `make bench`.

For each network on 9×9, in one run: what the evaluator alone does; self-play, as a share of that; training steps; and
the tutorial's way to make the same positions with the same network and simulations. Then where the time of the whole
loop goes.
"""

import mini_alphago  # noqa: F401  # before torch, see its __init__

# isort: split
import argparse
import statistics
import tempfile
import time
from dataclasses import replace

import numpy as np
import torch
from network import make_network
from rich.console import Console
from rich.table import Table
from search import raw_rate
from tutorial_style import PlainBoard, plain_search

from mini_alphago.model import Evaluator
from mini_alphago.training import SelfPlay, SelfPlaySettings, Trainer, get_preset, train
from mini_alphago.training.choice import usable
from mini_alphago.training.config import LearningSettings
from mini_alphago.training.samples import SampleMaker

SIZE = 9
ROUNDS = 3  # everything is measured in turn, so many times: a busy machine is then unfair to nobody
STEPS = 2  # moves in every game, each round


def self_play_rate(play: SelfPlay) -> tuple[float, float]:
    """Positions and network evaluations a second over a few moves in every game."""
    before, start = play.evaluations, time.perf_counter()
    for _ in range(STEPS):
        play.apply(play.think())
    seconds = time.perf_counter() - start
    return STEPS * play.settings.games / seconds, (play.evaluations - before) / seconds


def training_rate(trainer: Trainer, play: SelfPlay, batch_size: int) -> float:
    """Samples a second, from stored games to changed weights."""
    maker = SampleMaker(play.searches[0]._encoding, SIZE, play.settings.rules, batch_size, play.limit)  # type: ignore[arg-type]
    records = play.records(np.arange(play.settings.games))  # games half played will do
    game, at = usable(records)
    rng = np.random.default_rng(0)
    times = []
    for _ in range(4):
        start = time.perf_counter()
        rows = rng.integers(0, len(game), batch_size)
        trainer.train_step(maker.make(records, game[rows], at[rows], rng.integers(0, 8, batch_size)))
        times.append(time.perf_counter() - start)
    return batch_size / statistics.median(times[1:])


def tutorial_rate(network: torch.nn.Module, simulations: int) -> float:
    """Positions a second of the tutorial's self-play: one position a network call, the tree in Python."""
    start = time.perf_counter()
    for _ in range(2):
        plain_search(network, PlainBoard(SIZE), simulations, 22)
    return 2 / (time.perf_counter() - start)


def parts(console: Console, name: str, games: int, simulations: int, device: str) -> None:
    network = make_network(name)
    evaluator = Evaluator(network, device)
    settings = SelfPlaySettings(games=games, simulations=simulations, considered=8)
    play = SelfPlay(evaluator, SIZE, settings, staggered=True)
    trainer = Trainer(make_network(name).to(evaluator.device), 1e-3, LearningSettings())
    rows = []
    with console.status(f"{name}…"):
        self_play_rate(play)
        for _ in range(ROUNDS):
            raw = raw_rate(evaluator, games, SIZE)
            positions, evals = self_play_rate(play)
            rows.append((raw, evals, evals / raw, positions, training_rate(trainer, play, 256), tutorial_rate(network, simulations)))  # noqa: E501  # fmt: skip
    raw, evals, share, positions, samples, plain = (statistics.median(column) for column in zip(*rows, strict=True))
    times = statistics.median(row[3] / row[5] for row in rows)
    table = Table("", "", title=f"{name}, {games} games at once, {simulations} simulations, 9×9", title_justify="left")
    table.add_row("network alone", f"{raw:,.0f} evals/s")
    table.add_row("self-play", f"{positions:,.1f} positions/s, {evals:,.0f} evals/s: {share:.2f} of the network alone")
    table.add_row("the tutorial's way", f"{plain:,.2f} positions/s; self-play does {times:.0f} times that")
    table.add_row("training", f"{samples:,.0f} samples/s, batch 256")
    console.print(table)


def whole_loop(console: Console, iterations: int, games: int, device: str) -> None:
    preset = get_preset("laptop")
    config = replace(
        preset,
        minutes=None,
        iterations=iterations,
        games_per_iteration=games,
        device=device,
        measure=replace(preset.measure, every=0),
    )
    with console.status("the whole loop…"), tempfile.TemporaryDirectory() as folder:
        history = train(config, f"{folder}/run").history[1:]  # the first one compiles
    spent = {part: sum(line["time"][part] for line in history) for part in history[0]["time"]}
    total = sum(spent.values())
    shares = ", ".join(f"{part} {100 * seconds / total:.1f} %" for part, seconds in spent.items())
    console.print(f"The loop, {config.network.size}, {games} games an iteration: {shares}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--networks", nargs="*", default=["b4c64", "b6c96"])
    parser.add_argument("--games", type=int, default=128)
    parser.add_argument("--simulations", type=int, default=16)
    parser.add_argument("--iterations", type=int, default=2, help="of the whole loop; 0: leave it out")
    arguments = parser.parse_args()
    console = Console()
    for name in arguments.networks:
        parts(console, name, arguments.games, arguments.simulations, arguments.device)
    if arguments.iterations:
        whole_loop(console, arguments.iterations + 1, 60, arguments.device)


if __name__ == "__main__":
    main()
