"""Training on a real Ray cluster on this machine: workers, nodes and the learner die in the middle, and it learns."""

import dataclasses
import json
import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mini_alphago.cluster.train import train_on_cluster
from mini_alphago.cluster.workers import RayWorkers
from mini_alphago.model import Evaluator, build_network, save_checkpoint
from mini_alphago.training.arrivals import Arrivals, workers_of
from mini_alphago.training.display import Display
from mini_alphago.training.folder import RunFolder, to_arrays
from mini_alphago.training.loop import Summary
from mini_alphago.training.records import Records, from_bytes, join_records
from mini_alphago.training.self_play import UNSIGNED
from mini_alphago.training.workers import LocalWorkers

from ..training.runs import CONFIG, StopAt, train_until
from ..training.strength import LEARNER, assert_it_has_learned
from .clusters import kill, wait_for

LONGER = dataclasses.replace(LEARNER, iterations=10)


class Notes(Display):
    """Keeps what was said."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.finished: list[dict[str, Any]] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def iteration(self, metrics: dict[str, Any]) -> None:
        self.finished.append(metrics)


def on_disk(run: Path) -> Records:
    """All games of the run's finished iterations."""
    parts = [from_bytes(path.read_bytes()) for path in sorted((run / "replay").glob("*.games"))]
    return join_records(parts, 5)


def arrived(run: Path, room: Path) -> list[int]:
    """The ids of all games that are on the learner's disk, those that wait for their iteration too."""
    copied = room / "copied"
    shutil.copytree(run / "replay", copied)  # reading cuts off a torn end, and somebody may be writing
    waiting = Arrivals(copied, min(int(path.stem) for path in copied.glob("*.arrived")), LEARNER.games_per_iteration)
    parts = [part for i in range(1, waiting.filling + 1) for part in waiting.take(i)]
    return [int(i) for part in [on_disk(run), *parts] for i in part.id]


def test_nodes_workers_and_the_learner_die_and_it_learns(tmp_path: Path, two_nodes: Any) -> None:
    notes, run = Notes(), tmp_path / "run"
    done: list[Summary] = []

    def go() -> None:
        done.append(train_on_cluster(LONGER, str(run), notes, address=two_nodes.address))

    training = threading.Thread(target=go)
    training.start()
    wait_for(lambda: len(notes.finished) >= 1)
    kill("ray::Worker")  # its node gets another one
    wait_for(lambda: any("is gone" in line for line in notes.said))
    wait_for(lambda: len(notes.finished) >= 2)
    two_nodes.remove_node(next(iter(two_nodes.worker_nodes)), allow_graceful=False)
    two_nodes.add_node(num_cpus=1)
    wait_for(lambda: len(notes.finished) >= 3)
    wait_for(lambda: list((run / "replay").glob("*.arrived")))
    known = arrived(run, tmp_path)
    kill("ray::Learner")
    wait_for(lambda: any("learner is gone" in line for line in notes.said))
    training.join(400)
    assert not training.is_alive()

    games = on_disk(run)
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [line["iteration"] for line in lines] == list(range(1, 11))
    assert len(games.id) == len(np.unique(games.id)) == lines[-1]["games"] == done[0].games
    assert sum(line["new_games"] for line in lines) == len(games.id)
    assert set(known) <= set(games.id.tolist()), "what had reached the learner's disk before it died"
    assert games.samples == lines[-1]["positions"]
    assert len(workers_of(games)) >= 4, "two at first, one after the kill, one on the new node"
    assert all(0 <= line["staleness"] <= 4 for line in lines)
    assert {row["node"] for row in lines[-1]["workers"]}
    assert_it_has_learned(run, 10)


def test_what_goes_wrong_in_a_worker_stops_the_run_with_the_cause(tmp_path: Path, two_nodes: Any) -> None:
    network = build_network(LEARNER.network.config(5))
    with torch.no_grad():
        next(network.parameters()).fill_(1e30)  # finite, but what it computes is not
    save_checkpoint(tmp_path / "broken.safetensors", network)
    with pytest.raises(FloatingPointError, match="not finite"):
        train_on_cluster(
            LEARNER, str(tmp_path / "run"), init=str(tmp_path / "broken.safetensors"), address=two_nodes.address
        )


def test_games_that_ended_before_there_was_a_cluster_count_as_arrived(tmp_path: Path, plain_torch: None) -> None:
    stop = StopAt(phase="self-play", call=40)  # in the second iteration
    train_until(CONFIG, tmp_path, stop)
    folder = RunFolder(tmp_path)
    saved = folder.load_state()
    assert saved is not None
    iteration = saved[1]["iteration"] + 1
    evaluator = Evaluator(build_network(CONFIG.network.config(5)), "cpu")

    def taken_over() -> list[int]:
        workers = RayWorkers(None, evaluator, CONFIG, folder, print, ("", 0.0))
        workers.restore(to_arrays(saved[0], "play.", UNSIGNED))
        workers._arrivals = Arrivals(folder.replay, iteration, 10**9)
        workers._take_over(iteration)
        workers._arrivals.close()
        return [int(i) for part in workers._arrivals.take(iteration) for i in part.id]

    local = LocalWorkers(evaluator, CONFIG, folder)
    local.restore(to_arrays(saved[0], "play.", UNSIGNED))
    parts, _ = local.apply_journal(folder.journal(iteration, CONFIG), CONFIG.games_per_iteration)
    wanted = [int(i) for part in parts for i in part.id]
    assert wanted
    assert taken_over() == wanted
    assert taken_over() == wanted, "once, however often the learner begins again"
