"""Several processes learn what one learns from the same batches; and whatever happens to one of them is said."""

import contextlib
import dataclasses
import multiprocessing
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from mini_alphago.model import KataGoNetwork, Network, PolicyValueNetwork
from mini_alphago.training import LearningSettings, Trainer, loop, parallel, train
from mini_alphago.training.display import Display
from mini_alphago.training.parallel import ParallelTrainer, learning_devices, make_trainer
from mini_alphago.training.samples import Batch

from .made_up import random_batch
from .runs import CONFIG, assert_same_run, metrics_of

pytestmark = pytest.mark.usefixtures("plain_torch")
CPU = torch.device("cpu")
SETTINGS = LearningSettings(batch_size=16, processes=2, precision="f32", warmup_steps=4, reply_weight=0.3, ema=0.9)


@pytest.fixture(autouse=True)
def nobody_stays() -> Iterator[None]:
    """Whatever a test did, no process is left of it."""
    yield
    assert not multiprocessing.active_children()


def small_network(seed: int = 1) -> Network:
    torch.manual_seed(seed)
    return KataGoNetwork(2, 16)


def tutorial_network(seed: int = 1) -> Network:
    torch.manual_seed(seed)
    return PolicyValueNetwork(5, 7, 16, 2)


@contextlib.contextmanager
def two_processes(settings: LearningSettings = SETTINGS, timeout: float = 60.0) -> Iterator[ParallelTrainer]:
    trainer = ParallelTrainer(small_network(), 3e-3, settings, [CPU, CPU], timeout)
    with contextlib.closing(trainer):
        yield trainer


def lesson(seed: int, planes: int = 22) -> Batch:
    """Of the positions whose games were counted, or whose replies are known, one part has more than the other."""
    batch, other = random_batch(planes=planes, seed=seed), random_batch(seed=seed + 100)
    counted, replied = torch.ones(16), other.counted
    counted[:6] = 0
    replied[8:] = 0
    return batch._replace(counted=counted, reply=other.policy, replied=replied)


# --- the same as one process ------------------------------------------------------------------------------------------


def assert_close(ours: dict[str, Any], theirs: dict[str, Any], name: str, atol: float = 1e-4) -> None:
    assert ours.keys() == theirs.keys()
    for key, value in ours.items():
        torch.testing.assert_close(value, theirs[key], rtol=1e-4, atol=atol, msg=lambda m, k=key: f"{name} {k}: {m}")


@pytest.mark.parametrize(
    ("network", "settings"),
    [
        (small_network, SETTINGS),
        (small_network, dataclasses.replace(SETTINGS, optimizer="muon")),
        (tutorial_network, dataclasses.replace(SETTINGS, optimizer="sgd", ema=0.0, reply_weight=0.0)),
    ],
    ids=["four heads and replies, adamw", "the same, muon", "tutorial, sgd"],
)
def test_the_same_curve_as_one_process(tmp_path: Path, network: Any, settings: LearningSettings) -> None:
    """Twenty steps, then from another state, then from a file: losses, weights and statistics are the same."""
    alone = make_trainer(network(), 3e-3, dataclasses.replace(settings, processes=1))
    together = make_trainer(network(), 3e-3, settings)
    assert type(alone) is Trainer
    assert isinstance(together, ParallelTrainer)
    planes = alone.network.config.input_planes
    other = Trainer(network(seed=2), 3e-3, settings)
    other.train_step(lesson(50, planes))
    other.save(tmp_path / "net.safetensors")
    with contextlib.closing(together):
        for step in range(26):
            for trainer in (alone, together):
                if step == 20:
                    trainer.restore(other.state())
                if step == 23:
                    trainer.load(tmp_path / "net.safetensors")
                trainer.set_progress(step / 26)
            batch = lesson(step, planes)
            assert_close(alone.train_step(batch), together.train_step(batch), f"step {step}", atol=0.0)
            if step in (19, 22, 25):
                assert_close(alone.state(), together.state(), f"after step {step}")
                ours, theirs = together.weights_everywhere()
                assert ours == theirs, "the two have not taken the same steps"
        together.check_weights()
    assert_close(alone.average.state_dict(), together.average.state_dict(), "average")


LEARN_TOGETHER = dataclasses.replace(
    CONFIG, iterations=2, learning=dataclasses.replace(CONFIG.learning, processes=2, reply_weight=0.2, soft_weight=0.5)
)


class KillAt(Display):
    """Ends the helpers of a run after so many of its training steps."""

    def __init__(self, step: int) -> None:
        self._left = step

    def phase(self, name: str, done: float, total: float, details: str = "") -> None:
        self._left -= name == "training"
        if self._left == 0:
            assert multiprocessing.active_children()
            for child in multiprocessing.active_children():
                child.kill()


def test_a_run_whose_helper_is_killed_goes_on(tmp_path: Path) -> None:
    """One sentence, and what is there stays; taken up, it ends as a run to which nothing happened, bit for bit."""
    straight, killed = tmp_path / "straight", tmp_path / "killed"
    train(LEARN_TOGETHER, str(straight))
    steps = metrics_of(straight)[0]["steps"]
    with pytest.raises(ChildProcessError, match=r"^learning process 1 \(cpu\) was ended by SIGKILL$"):
        train(LEARN_TOGETHER, str(killed), KillAt(steps + 2))
    assert len(metrics_of(killed)) == 1
    assert not multiprocessing.active_children()
    assert train(None, str(killed)).iteration == 2
    assert_same_run(straight, killed)
    alone = dataclasses.replace(LEARN_TOGETHER.learning, processes=1)
    once = dataclasses.replace(LEARN_TOGETHER, learning=alone)
    train(dataclasses.replace(once, iterations=1), str(tmp_path / "alone"))
    # The games of the first iteration are the same, as all are the network's that has learned nothing.
    first, expected = metrics_of(straight)[0], metrics_of(tmp_path / "alone")[0]
    assert first["steps"] == expected["steps"] > 5
    found = [name for name in expected if name.endswith("_loss")]
    assert len(found) == 7
    assert {name: first[name] for name in found} == pytest.approx({name: expected[name] for name in found}, rel=1e-4)


# --- what can go wrong ------------------------------------------------------------------------------------------------


def test_a_failure_of_a_helper_is_told() -> None:
    with two_processes() as trainer:
        trainer.train_step(lesson(0))
        trainer._tell("dance")
        with pytest.raises(ChildProcessError, match=r"^learning process 1 \(cpu\) failed: .* no helper .* dance$"):
            trainer.train_step(lesson(1))


def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A helper that does nothing any more, though it is there."""
    monkeypatch.setattr(parallel, "_GRACE", 0.5)
    with two_processes(timeout=3.0) as trainer:
        trainer.train_step(lesson(0))
        (helper,) = multiprocessing.active_children()
        assert helper.pid
        os.kill(helper.pid, signal.SIGSTOP)
        with pytest.raises(ChildProcessError, match=r"have lost each other: .*imed out") as caught:
            trainer.train_step(lesson(1))
        assert "\n" not in str(caught.value)


def test_what_a_trainer_refuses_and_notices() -> None:
    with two_processes() as trainer:
        odd = Batch(*(None if field is None else field[:15] for field in lesson(0)))  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="2 processes cannot share a batch of 15 evenly"):
            trainer.step(odd)
        with pytest.raises(ValueError, match="close that trainer first"):
            make_trainer(small_network(), 3e-3, SETTINGS)
        trainer.train_step(lesson(0))  # nothing happened to it
        trainer.check_weights()
        next(trainer.network.parameters()).data += 0.1
        with pytest.raises(ChildProcessError, match=r"^learning process 1 \(cpu\) has other weights"):
            trainer.check_weights()
    with pytest.raises(ValueError, match="was closed"):
        trainer.step(lesson(1))
    Trainer(trainer.network, 3e-3, SETTINGS).train_step(lesson(1))  # the network is as any other again


WORK = """
import torch
from tests.training.test_parallel import lesson, two_processes
torch.set_num_threads(1)
with two_processes() as trainer:
    while True:
        trainer.train_step(lesson(0))
        print("a step", flush=True)
"""


def test_helpers_end_with_a_training_process_that_is_killed() -> None:
    """They have its output, too; so it ends when the last of them has."""
    root = Path(__file__).parents[2]
    process = subprocess.Popen([sys.executable, "-c", WORK], cwd=root, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "a step\n"
    process.kill()
    process.communicate(timeout=60)


# --- what is refused --------------------------------------------------------------------------------------------------


def gpus(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)


def test_which_devices_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus(3, monkeypatch)

    def chosen(device: str, processes: int) -> list[str]:
        settings = LearningSettings(batch_size=12, processes=processes)
        return [str(found) for found in learning_devices(torch.device(device), settings)]

    assert chosen("cpu", 0) == chosen("cpu", 1) == ["cpu"]
    assert chosen("cpu", 3) == ["cpu"] * 3
    assert chosen("mps", 0) == ["mps"]
    assert chosen("cuda", 1) == ["cuda:0"]
    assert chosen("cuda", 0) == ["cuda:0", "cuda:1", "cuda:2"]
    assert chosen("cuda:1", 2) == ["cuda:1", "cuda:0"]


@pytest.mark.parametrize(
    ("device", "batch_size", "processes", "said"),
    [
        ("cuda", 256, 4, "processes is 4: there are only 3 GPUs here"),
        ("cuda", 256, 0, "batch_size is 256: 3 processes cannot share it evenly"),
        ("mps", 256, 2, "processes is 2: several learn together on NVIDIA GPUs or on the CPU, not on mps"),
    ],
)
def test_what_the_machine_cannot_do(
    device: str, batch_size: int, processes: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus(3, monkeypatch)
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        learning_devices(torch.device(device), LearningSettings(batch_size=batch_size, processes=processes))


def test_a_run_that_cannot_be_shared_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus(3, monkeypatch)
    monkeypatch.setattr(loop, "pick_device", lambda _: torch.device("cuda"))
    learning = dataclasses.replace(CONFIG.learning, processes=0)
    with pytest.raises(ValueError, match="batch_size is 32: 3 processes cannot share it evenly"):
        train(dataclasses.replace(CONFIG, learning=learning), str(tmp_path / "run"))
    assert not list(tmp_path.iterdir())
