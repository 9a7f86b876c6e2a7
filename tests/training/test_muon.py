"""Muon against PyTorch's own, which knows matrices only, and what it leaves to AdamW."""

import pytest
import torch
from torch import nn

from mini_alphago.model import KataGoNetwork, NetworkConfig, build_network, katago_config, tutorial_config
from mini_alphago.training.config import LearningSettings
from mini_alphago.training.muon import Muon, orthogonalized
from mini_alphago.training.trainer import Trainer

from .made_up import random_batch

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("shape", [(12, 40), (16, 64), (5, 300)])
def test_all_directions_come_out_alike(shape: tuple[int, int]) -> None:
    torch.manual_seed(1)
    spread = torch.logspace(0, -2, shape[0])[:, None]  # the gradient of a layer: a few directions hold most of it
    found = torch.linalg.svdvals(orthogonalized(spread * torch.randn(3, *shape)))
    assert 0.6 < float(found.min()) < float(found.max()) < 1.3


@pytest.mark.parametrize("shape", [(8, 4, 3, 3), (8, 1, 3, 3), (64, 2, 3, 3)])
@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_a_convolution_goes_where_pytorch_takes_its_matrix(shape: tuple[int, ...], decay: float) -> None:
    torch.manual_seed(2)
    weight = nn.Parameter(torch.randn(shape))
    matrix = nn.Parameter(weight.detach().flatten(1).clone())
    before = matrix.detach().clone()
    ours = Muon([{"params": [weight], "turned": True, "weight_decay": decay}], lr=0.03)
    theirs = torch.optim.Muon([matrix], lr=0.03, weight_decay=decay, adjust_lr_fn="match_rms_adamw")
    for _ in range(4):
        weight.grad = torch.randn(shape)
        matrix.grad = weight.grad.flatten(1).clone()
        ours.step()
        theirs.step()
    moved, wrong = (matrix - before).norm(), (weight.flatten(1) - matrix).norm()
    assert wrong < 0.02 * moved, "PyTorch computes in bfloat16, so not to the last bit"


def test_what_is_no_matrix_of_the_tower_learns_as_with_adamw() -> None:
    batch, networks = random_batch(), []
    for optimizer in ("adamw", "muon"):
        torch.manual_seed(3)
        network = KataGoNetwork(2, 16)
        for block in network.blocks:
            nn.init.normal_(block.conv2.weight)  # which begins as zero, and lets no gradient through
        trainer = Trainer(network, 1e-3, LearningSettings(optimizer=optimizer, ema=0.0, precision="f32"))
        trainer.train_step(batch)
        networks.append(dict(network.named_parameters()))
    adamw, muon = networks
    same = {name for name in adamw if torch.equal(adamw[name], muon[name])}
    turned = {name for name in adamw if name.startswith("blocks.") and adamw[name].ndim > 1}
    assert same == set(adamw) - turned


@pytest.mark.parametrize(
    "config", [tutorial_config(1, 8, board_size=5), katago_config(2, 16), katago_config(2, 16, encoding="katago-v7")]
)
def test_the_towers_of_all_networks_are_turned(config: NetworkConfig) -> None:
    network = build_network(config)
    optimizer = Trainer(network, 1e-3, LearningSettings(optimizer="muon")).optimizer
    (group,) = [group for group in optimizer.param_groups if group.get("turned")]
    turned = {id(weight) for weight in group["params"]}
    convolutions = [m for m in network.modules() if isinstance(m, nn.Conv2d) and m.kernel_size == (3, 3)]
    assert {id(m.weight) for m in convolutions if m.in_channels == m.out_channels} <= turned
    assert id(convolutions[0].weight) not in turned, "what reads the planes is not of the tower"


def test_a_gradient_that_is_missing_moves_nothing() -> None:
    weight, other = nn.Parameter(torch.randn(4, 4)), nn.Parameter(torch.randn(4, 4))
    optimizer = Muon([{"params": [weight, other], "turned": True}], lr=0.1)
    before = other.detach().clone()
    weight.grad = torch.randn(4, 4)
    optimizer.step()
    assert torch.equal(other, before)
