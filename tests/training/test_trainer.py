"""What a training step does, against formulas and against the tutorial's steps in plain PyTorch; to disk and back."""

import copy
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from mini_alphago.model import (
    CheckpointError,
    KataGoNetwork,
    PolicyValueNetwork,
    load_checkpoint,
    load_network,
)
from mini_alphago.training import LearningSettings, Trainer
from mini_alphago.training.trainer import check_finite

from .made_up import PLAIN, random_batch

pytestmark = pytest.mark.usefixtures("one_thread")
SIZE = 5


def settings(**changes: object) -> LearningSettings:
    return LearningSettings(**{**PLAIN.__dict__, **changes})  # type: ignore[arg-type]


def small_network(seed: int = 1) -> KataGoNetwork:
    torch.manual_seed(seed)
    return KataGoNetwork(2, 16)


def tutorial_network(seed: int = 1) -> PolicyValueNetwork:
    torch.manual_seed(seed)
    return PolicyValueNetwork(SIZE, 7, 16, 2)


def weights(network: torch.nn.Module) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}


def assert_same_bits(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> None:
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        assert torch.equal(tensor, theirs[name]), name


# --- steps ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", ["adamw", "muon", "sgd"])
def test_one_step_lowers_the_loss(optimizer: str) -> None:
    trainer, batch = Trainer(small_network(), 1e-3, settings(optimizer=optimizer)), random_batch()
    first = trainer.train_step(batch)["total_loss"]
    assert trainer.train_step(batch)["total_loss"] < first
    assert trainer.steps == 2


def test_it_overfits_sixteen_positions() -> None:
    trainer, batch = Trainer(small_network(), 3e-3, settings(score_weight=0.1)), random_batch()
    for _ in range(300):
        found = trainer.train_step(batch)
    assert found["policy_loss"] < 0.02
    assert found["value_loss"] < 0.02
    assert found["ownership_loss"] < 0.05


def test_bytes_and_floats_of_the_same_planes_are_the_same_lesson() -> None:
    """Planes as bytes are scaled by the encoding: komi is written in half points."""
    batch = random_batch()
    bytes_ = batch.planes.to(torch.int8)
    bytes_[:, 20] = 14
    planes = bytes_.float()
    planes[:, 20] = 14 / 30
    one, other = Trainer(small_network(), settings=PLAIN), Trainer(small_network(), settings=PLAIN)
    loss = one.train_step(batch._replace(planes=bytes_))["total_loss"]
    assert loss == pytest.approx(other.train_step(batch._replace(planes=planes))["total_loss"], rel=1e-5)


@pytest.mark.parametrize(("share", "falling"), [(0.1, [0.0055, 0.001, 0.001]), (0.0, [0.005, 0.0, 0.0])])
def test_the_learning_rate_warms_up_stays_and_falls(share: float, falling: list[float]) -> None:
    trainer = Trainer(small_network(), 0.01, settings(warmup_steps=3, final_rate=share))

    def rate(steps: int, progress: float) -> float:
        trainer.steps = steps
        trainer.set_progress(progress)
        rates = {group["lr"] for group in trainer.optimizer.param_groups}
        assert len(rates) == 1
        return float(rates.pop())

    assert [rate(steps, 0.0) for steps in range(5)] == pytest.approx([0.0025, 0.005, 0.0075, 0.01, 0.01])
    assert [rate(100, progress) for progress in (0.1, 0.5)] == [0.01, 0.01]
    assert [rate(100, progress) for progress in (0.75, 1.0, 1.3)] == pytest.approx(falling)


def test_gradients_are_clipped_to_the_norm() -> None:
    """SGD without momentum's past moves by rate · gradient, Nesterov adding 0.9 of it: the step shows the norm."""

    def moved(clip: float) -> float:
        network = small_network()
        before = [p.detach().clone() for p in network.parameters()]
        Trainer(network, 1.0, settings(optimizer="sgd", clip=clip)).train_step(random_batch())
        pairs = zip(network.parameters(), before, strict=True)
        return math.sqrt(sum(float((p.detach() - b).square().sum()) for p, b in pairs)) / 1.9

    free = moved(0.0)
    assert free > 0.2
    assert moved(0.1) == pytest.approx(0.1, rel=1e-3)
    assert moved(2 * free) == pytest.approx(free, rel=1e-5)


def test_weight_decay_spares_norms_and_biases() -> None:
    trainer = Trainer(small_network(), settings=settings(weight_decay=0.5))
    decayed, spared = trainer.optimizer.param_groups
    assert decayed["weight_decay"] == 0.5
    assert spared["weight_decay"] == 0
    assert all(p.ndim > 1 for p in decayed["params"])
    assert all(p.ndim == 1 for p in spared["params"])
    assert len(decayed["params"]) + len(spared["params"]) == len(list(trainer.network.parameters()))


def test_averaged_weights_follow_the_formula() -> None:
    trainer = Trainer(small_network(), 1e-2, settings(ema=0.25))
    expected = weights(trainer.network)
    for step in range(1, 5):
        trainer.train_step(random_batch(seed=step))
        keep = min(0.25, (1 + step) / (10 + step))  # 2/11 at first
        for name, now in trainer.network.state_dict().items():
            expected[name] = keep * expected[name] + (1 - keep) * now if now.is_floating_point() else now.clone()
    for name, mean in trainer.average.state_dict().items():
        torch.testing.assert_close(mean, expected[name], rtol=1e-5, atol=1e-6)
    assert not trainer.average.training
    assert not any(p.requires_grad for p in trainer.average.parameters())


def test_without_an_average_it_is_the_network() -> None:
    trainer = Trainer(small_network(), settings=PLAIN)
    assert trainer.average is trainer.network


def test_a_loss_that_is_not_finite_is_an_error() -> None:
    trainer, batch = Trainer(small_network(), settings=PLAIN), random_batch()
    check_finite(trainer.train_step(batch))
    bad = trainer.train_step(batch._replace(value=torch.full_like(batch.value, math.inf)))
    with pytest.raises(FloatingPointError, match=r"diverged: total_loss, value_loss .* smaller learning rate"):
        check_finite(bad)


def test_a_weight_that_is_not_finite_is_an_error() -> None:
    """Before any loss shows it: the step that breaks the network is the last of an iteration now and then."""
    trainer = Trainer(small_network(), settings=PLAIN)
    trainer.check_weights()
    next(trainer.network.parameters()).data[0] = math.inf
    with pytest.raises(FloatingPointError, match="diverged: a weight is not finite"):
        trainer.check_weights()


# --- the tutorial's trainer -----------------------------------------------------------------------------------------


def tutorial_step(network: PolicyValueNetwork, optimizer: torch.optim.Optimizer, batch: tuple[Tensor, ...]) -> float:
    """Word for word what the tutorial's `train_step` does."""
    features, target_policy, target_value = batch
    network.train()
    optimizer.zero_grad()
    pred_policy, pred_value = network(features)
    policy_loss = F.kl_div(pred_policy, target_policy, reduction="batchmean")
    value_loss = F.mse_loss(pred_value.squeeze(), target_value)
    total_loss = policy_loss + value_loss
    total_loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return float(total_loss.detach())


def test_steps_are_the_tutorials() -> None:
    """The tutorial's triple of tensors, its loss, and Adam: the same losses and weights, step by step."""
    network = tutorial_network()
    plain = copy.deepcopy(network)
    trainer, adam = Trainer(network), torch.optim.Adam(plain.parameters(), lr=0.001)
    for step in range(5):
        full = random_batch(8, planes=7, seed=step)
        triple = (full.planes, full.policy, full.value)
        found = trainer.train_step(triple)
        assert found["total_loss"] == pytest.approx(tutorial_step(plain, adam, triple), rel=1e-4)
        assert {"total_loss", "policy_loss", "value_loss"} <= found.keys()
        assert found["total_loss"] == pytest.approx(found["policy_loss"] + found["value_loss"], rel=1e-5)
    for name, tensor in network.state_dict().items():
        torch.testing.assert_close(tensor, plain.state_dict()[name], rtol=1e-3, atol=1e-4, msg=name)


def dictionaries(rows: int) -> list[dict[str, object]]:
    batch = random_batch(rows, planes=7)
    return [
        {
            "features": batch.planes[i].numpy(),
            "policy": batch.policy[i].numpy().astype(np.float64),
            "player": 1 + i % 2,
            "value": float(batch.value[i]),
        }
        for i in range(rows)
    ]


def test_an_epoch_goes_through_all_data_once() -> None:
    """In batches of 32 in random order: the mean of the losses that the tutorial finds on the same batches."""
    data = dictionaries(70)
    network = tutorial_network()
    plain = copy.deepcopy(network)
    trainer, adam = Trainer(network), torch.optim.Adam(plain.parameters(), lr=0.001)
    torch.manual_seed(5)
    mean = trainer.train_epoch(data)
    torch.manual_seed(5)
    order = torch.randperm(70)
    batch = random_batch(70, planes=7)
    expected = [
        tutorial_step(plain, adam, (batch.planes[rows], batch.policy[rows], batch.value[rows]))
        for rows in torch.split(order, 32)
    ]
    assert trainer.steps == len(expected) == 3
    assert mean == pytest.approx(np.mean(expected), rel=1e-4)


def test_epochs_learn() -> None:
    trainer, data = Trainer(tutorial_network()), dictionaries(33)  # one is left over, too few for a batch norm
    found = [trainer.train_epoch(data, batch_size=16) for _ in range(40)]
    assert trainer.steps == 80
    assert found[-1] < 0.7 * found[0]


def test_an_epoch_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to learn from"):
        Trainer(tutorial_network()).train_epoch([])


# --- to disk and back -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", ["adamw", "muon", "sgd"])
def test_it_goes_on_from_its_state_bit_by_bit(optimizer: str) -> None:
    chosen = settings(optimizer=optimizer, ema=0.9, clip=1.0, weight_decay=0.01, warmup_steps=4)

    def steps(trainer: Trainer, numbers: range) -> list[float]:
        found = []
        for seed in numbers:
            trainer.set_progress(seed / 6)
            found.append(trainer.train_step(random_batch(seed=seed))["total_loss"])
        return found

    straight = Trainer(small_network(), 1e-2, chosen)
    steps(straight, range(3))
    state = straight.state()
    rest = steps(straight, range(3, 6))
    other = Trainer(small_network(seed=9), 1e-2, chosen)
    other.restore(state)
    assert other.steps == 3
    assert steps(other, range(3, 6)) == rest
    assert_same_bits(other.state(), straight.state())
    assert_same_bits(weights(other.average), weights(straight.average))


def test_a_state_does_not_change_with_the_trainer() -> None:
    trainer = Trainer(small_network(), settings=PLAIN)
    trainer.train_step(random_batch())
    state = trainer.state()
    kept = copy.deepcopy(state)
    trainer.train_step(random_batch())
    assert_same_bits(state, kept)


@pytest.mark.parametrize("name", ["net.pt", "net.safetensors"])
def test_save_and_load(tmp_path: Path, name: str) -> None:
    trainer = Trainer(tutorial_network())
    trainer.train_step(random_batch(planes=7))
    trainer.save(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    other = Trainer(tutorial_network(seed=2))
    other.load(tmp_path / name)
    assert_same_bits(weights(other.network), weights(trainer.network))
    assert_same_bits(weights(load_network(tmp_path / name)), weights(trainer.network))
    if name == "net.pt":  # as the tutorial reads it
        tutorial_network().load_state_dict(torch.load(tmp_path / name))


def test_what_is_saved_is_the_average(tmp_path: Path) -> None:
    trainer = Trainer(small_network(), 1e-2, settings(ema=0.9))
    for seed in range(3):
        trainer.train_step(random_batch(seed=seed))
    trainer.save(tmp_path / "net.safetensors")
    assert_same_bits(weights(load_checkpoint(tmp_path / "net.safetensors")[0]), weights(trainer.average))
    other = Trainer(small_network(seed=2), 1e-2, settings(ema=0.9))
    other.load(tmp_path / "net.safetensors")
    assert_same_bits(weights(other.network), weights(trainer.average))
    assert_same_bits(weights(other.average), weights(trainer.average))


@pytest.mark.parametrize("name", ["net.pt", "net.safetensors"])
def test_weights_of_another_shape_are_refused(tmp_path: Path, name: str) -> None:
    Trainer(PolicyValueNetwork(SIZE, 7, 8, 1)).save(tmp_path / name)
    trainer = Trainer(tutorial_network())
    before = weights(trainer.network)
    with pytest.raises(ValueError, match="another shape: b1c8"):
        trainer.load(tmp_path / name)
    assert_same_bits(weights(trainer.network), before)


def test_files_that_are_no_networks_are_refused(tmp_path: Path) -> None:
    (tmp_path / "net.pt").write_bytes(b"nonsense")
    with pytest.raises(CheckpointError, match="not a file of weights"):
        Trainer(tutorial_network()).load(tmp_path / "net.pt")
    with pytest.raises(ValueError, match=r"holds the tutorial's network only; name it \.safetensors"):
        Trainer(small_network()).save(tmp_path / "other.pt")
    assert not (tmp_path / "other.pt").exists()
