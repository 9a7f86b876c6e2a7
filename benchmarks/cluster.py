"""What a Ray cluster costs and brings on this machine: `python benchmarks/cluster.py [--preset tiny] [--rounds 3]`.

Positions a second of a preset: of self-play alone, in this process and by one Ray worker with as many cores;
by one worker and by two with one core each; and of whole training runs of either kind, learning included. Everything is
measured in turn, several times, and medians are shown: a busy machine is then unfair to nobody. Beside them stands
what a position costs in milliseconds of all cores together, Ray's own processes included: where others use the machine
too, that says more than the clock.
"""

import argparse
import contextlib
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import ray
from ray.cluster_utils import Cluster
from rich.console import Console
from rich.table import Table

from mini_alphago.cluster.connect import connect
from mini_alphago.cluster.train import train_on_cluster
from mini_alphago.cluster.workers import RayWorkers
from mini_alphago.model import Evaluator, build_network
from mini_alphago.threads import available_cores, set_threads
from mini_alphago.training import TrainingConfig, get_preset, train
from mini_alphago.training.display import Display
from mini_alphago.training.folder import RunFolder
from mini_alphago.training.workers import LocalWorkers, Workers

LOCAL, ONE = "self-play in this process, all cores", "self-play by one worker, all cores"
SINGLE, DOUBLE = "self-play by one worker, one core", "self-play by two workers, one core each"
TRAINING, TRAINING_RAY = "training in this process", "training with one worker, all cores"
ITERATIONS = 3  # of a whole run; what it does in the first is not counted
_TICK = os.sysconf("SC_CLK_TCK")


class Measured(NamedTuple):
    """What was measured."""

    rate: float  # positions a second
    cost: float  # milliseconds of a core for each


def cpu_seconds() -> float:
    """That this process and all that descend from it have used so far (Linux)."""
    times, parents = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):  # it has ended meanwhile
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                parents[int(folder.name)] = int(fields[1])
                times[int(folder.name)] = sum(int(ticks) for ticks in fields[11:15]) / _TICK
    own = {os.getpid()}
    while found := {process for process, parent in parents.items() if parent in own} - own:
        own |= found
    return sum(times.get(process, 0.0) for process in own)


def self_play_rate(make: Callable[[RunFolder], Workers], config: TrainingConfig, expected: int = 0) -> Measured:
    """Self-play once everything is compiled and games are under way, in so many workers elsewhere."""
    with tempfile.TemporaryDirectory() as room, RunFolder(room).open() as folder:
        workers = make(folder)
        workers.update(build_network(config.network.config(config.board_size)), 0)
        iteration = 1
        workers.play(iteration, config.self_play.simulations, lambda *_: None)
        while sum(row["version"] is not None for row in workers.rows() or []) < expected:
            iteration += 1
            workers.play(iteration, config.self_play.simulations, lambda *_: None)
        cpu, began = cpu_seconds(), time.perf_counter()
        played = workers.play(iteration + 1, config.self_play.simulations, lambda *_: None)
        cpu, seconds = cpu_seconds() - cpu, time.perf_counter() - began
        workers.close()
    rate = float(played.metrics["positions_per_second"])
    return Measured(rate, 1000 * cpu / (rate * seconds))


def training_rate(run: Callable[[TrainingConfig, str], object], config: TrainingConfig) -> Measured:
    """New positions of a whole run, learning included; what they cost has the beginning of the run in it."""
    cpu = cpu_seconds()
    with tempfile.TemporaryDirectory() as room:
        run(replace(config, iterations=ITERATIONS, minutes=None), room)
        lines = [json.loads(line) for line in (Path(room) / "metrics.jsonl").read_text().splitlines()]
    made = sum(line["new_positions"] for line in lines[1:])
    rate = float(made / (60 * (lines[-1]["minutes"] - lines[0]["minutes"])))
    return Measured(rate, 1000 * (cpu_seconds() - cpu) / lines[-1]["positions"])


def local(config: TrainingConfig) -> Callable[[RunFolder], Workers]:
    """Workers as a run without Ray has them."""
    network = build_network(config.network.config(config.board_size))
    return lambda folder: LocalWorkers(Evaluator(network, config.device), config, folder)


def on_ray(config: TrainingConfig, address: str | None) -> Callable[[RunFolder], Workers]:
    """Workers on all nodes of a cluster; what they say is left out."""
    evaluator = Evaluator(build_network(config.network.config(config.board_size)), config.device)
    return lambda folder: RayWorkers(connect(address), evaluator, config, folder, lambda _: None, ("", 0.0))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="tiny")
    parser.add_argument("--games", type=int, default=300, help="in an iteration")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    config = get_preset(options.preset)
    config = replace(config, games_per_iteration=options.games, measure=replace(config.measure, every=0))
    cores = set_threads(available_cores())
    found: dict[str, list[Measured]] = {}

    def note(name: str, measured: Measured) -> None:
        found.setdefault(name, []).append(measured)
        print(f"{name}: {measured.rate:,.0f} positions/s, {measured.cost:.2f} ms each", flush=True)

    def with_nodes(counts: list[int], measure: Callable[[str], Measured]) -> Measured:
        """What is measured in a cluster whose nodes have so many cores each; the head has none to give."""
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        for count in counts:
            cluster.add_node(num_cpus=count)
        rate = measure(cluster.address)
        ray.shutdown()
        cluster.shutdown()
        return rate

    def rays(address: str, workers: int = 1) -> Measured:
        return self_play_rate(on_ray(config, address), config, workers)

    def whole(address: str) -> Measured:
        return training_rate(lambda config, run: train_on_cluster(config, run, Display(), address=address), config)

    for _ in range(options.rounds):
        note(LOCAL, self_play_rate(local(config), config))
        note(ONE, with_nodes([cores], rays))
        note(SINGLE, with_nodes([1], rays))
        note(DOUBLE, with_nodes([1, 1], lambda address: rays(address, 2)))
        note(TRAINING, training_rate(train, config))
        note(TRAINING_RAY, with_nodes([cores], whole))
    title = f"preset {options.preset}, {cores} cores, medians of {options.rounds}"
    table = Table("", "positions/s", "ratio", "ms of a core each", "ratio", title=title)
    for name, beside in ((LOCAL, LOCAL), (ONE, LOCAL), (SINGLE, SINGLE), (DOUBLE, SINGLE), (TRAINING, TRAINING),
                         (TRAINING_RAY, TRAINING)):  # fmt: skip
        rate, cost = (statistics.median(values) for values in zip(*found[name], strict=True))
        pairs = list(zip(found[name], found[beside], strict=True))
        faster = statistics.median(one.rate / other.rate for one, other in pairs)
        cheaper = statistics.median(other.cost / one.cost for one, other in pairs)
        table.add_row(name, f"{rate:,.0f}", f"{faster:.2f}", f"{cost:.2f}", f"{cheaper:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
