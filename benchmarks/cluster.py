"""What a Ray cluster costs and brings on this machine: `python benchmarks/cluster.py [--games 100] [--rounds 3]`.

Positions a second of the preset `laptop`: of self-play alone, in this process and by one Ray worker with as many cores;
by one worker and by two with one core each; and of whole training runs of either kind, learning included. Everything is
measured in turn, several times, and medians are shown: a busy machine is then unfair to nobody.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

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
ITERATIONS = 4  # of a whole run; what it does in the first is not counted


def self_play_rate(make: Callable[[RunFolder], Workers], config: TrainingConfig) -> float:
    """Positions a second, once everything is compiled and games are under way."""
    with tempfile.TemporaryDirectory() as room, RunFolder(room).open() as folder:
        workers = make(folder)
        workers.update(build_network(config.network.config(config.board_size)), 0)
        workers.play(1, config.self_play.simulations, lambda *_: None)
        played = workers.play(2, config.self_play.simulations, lambda *_: None)
        workers.close()
    return float(played.metrics["positions_per_second"])


def training_rate(run: Callable[[TrainingConfig, str], object], config: TrainingConfig) -> float:
    """New positions a second of a whole run, learning included."""
    with tempfile.TemporaryDirectory() as room:
        run(replace(config, iterations=ITERATIONS, minutes=None), room)
        lines = [json.loads(line) for line in (Path(room) / "metrics.jsonl").read_text().splitlines()]
    made = sum(line["new_positions"] for line in lines[1:])
    return float(made / (60 * (lines[-1]["minutes"] - lines[0]["minutes"])))


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
    parser.add_argument("--games", type=int, default=100, help="in an iteration")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    config = get_preset("laptop")
    config = replace(config, games_per_iteration=options.games, measure=replace(config.measure, every=0))
    cores = set_threads(available_cores())
    found: dict[str, list[float]] = {}

    def note(name: str, rate: float) -> None:
        found.setdefault(name, []).append(rate)
        print(f"{name}: {rate:,.0f} positions/s", flush=True)

    def with_nodes(counts: list[int], measure: Callable[[str], float]) -> float:
        """What is measured in a cluster whose nodes have so many cores each; the head has none to give."""
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        for count in counts:
            cluster.add_node(num_cpus=count)
        rate = measure(cluster.address)
        ray.shutdown()
        cluster.shutdown()
        return rate

    def rays(address: str) -> float:
        return self_play_rate(on_ray(config, address), config)

    def whole(address: str) -> float:
        return training_rate(lambda config, run: train_on_cluster(config, run, Display(), address=address), config)

    for _ in range(options.rounds):
        note(LOCAL, self_play_rate(local(config), config))
        note(ONE, with_nodes([cores], rays))
        note(SINGLE, with_nodes([1], rays))
        note(DOUBLE, with_nodes([1, 1], rays))
        note(TRAINING, training_rate(train, config))
        note(TRAINING_RAY, with_nodes([cores], whole))
    table = Table("", "positions/s", "ratio", title=f"preset laptop, {cores} cores, medians of {options.rounds}")
    for name, beside in ((LOCAL, LOCAL), (ONE, LOCAL), (SINGLE, SINGLE), (DOUBLE, SINGLE), (TRAINING, TRAINING),
                         (TRAINING_RAY, TRAINING)):  # fmt: skip
        rate = statistics.median(found[name])
        ratio = statistics.median(a / b for a, b in zip(found[name], found[beside], strict=True))
        table.add_row(name, f"{rate:,.0f}", f"{ratio:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
