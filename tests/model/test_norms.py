"""Weights before a batch norm, made as large as a new network's."""

import pytest
import torch

from mini_alphago.model import (
    KataGoNetwork,
    NetworkConfig,
    build_network,
    katago_config,
    load_network,
    tutorial_config,
)
from mini_alphago.model.base import Network
from mini_alphago.model.checkpoint import SHIPPED
from mini_alphago.model.norms import restore_sizes

from .weights import trained

CONFIGS = [
    katago_config(4, 12),
    katago_config(3, 12, heads="fc", board_size=9),
    tutorial_config(3, 12, board_size=9, input_planes=22),
    katago_config(4, 12, encoding="katago-v7"),
]


def grown(config: NetworkConfig) -> Network:
    """A network whose convolutions have become larger, each by another factor, as long training makes them."""
    network = trained(build_network(config))
    with torch.no_grad():
        for i, module in enumerate(m for m in network.modules() if isinstance(m, torch.nn.Conv2d)):
            module.weight.mul_(2 + i % 5)
    return network


@pytest.mark.parametrize("config", CONFIGS, ids=["pooled", "fc", "tutorial", "katago-v7"])
@pytest.mark.parametrize("training", [False, True])
def test_no_answer_changes(config: NetworkConfig, training: bool) -> None:
    network = grown(config).double().train(training)
    if not training:  # what hardly ever varies counts too: there the ε of norms is all that they divide by
        for norm in (m for m in network.modules() if isinstance(m, torch.nn.BatchNorm2d)):
            assert norm.running_var is not None
            norm.running_var[:1], norm.running_var[1:2] = 1e-4, 0.0
    shape = (16, config.input_planes, 9, 9)
    planes = torch.randint(0, 2, shape, generator=torch.Generator().manual_seed(3)).double()
    before = network.outputs(planes)
    restore_sizes(network)
    convs = [m for m in network.modules() if isinstance(m, torch.nn.Conv2d) and m.kernel_size == (3, 3)]
    assert all(0.3 < size(conv) * (conv.weight[0].numel() / 2) ** 0.5 < 3 for conv in convs)
    for now, then in zip(network.outputs(planes), before, strict=True):
        if then is not None:
            torch.testing.assert_close(now, then, rtol=1e-3 if training else 1e-8, atol=1e-3 if training else 1e-8)


def test_the_shipped_network_is_as_small_as_a_new_one() -> None:
    network = load_network(SHIPPED)
    assert isinstance(network, KataGoNetwork)
    planes = torch.randint(0, 2, (16, 22, 9, 9), generator=torch.Generator().manual_seed(3)).float()
    before = network.outputs(planes)
    restore_sizes(network)
    torch.testing.assert_close(network.outputs(planes).policy, before.policy, rtol=1e-3, atol=1e-3)
    new = build_network(network.config)
    assert isinstance(new, KataGoNetwork)
    for block, its in zip(network.blocks, new.blocks, strict=True):
        assert size(block.conv1) == pytest.approx(size(its.conv1), rel=0.05)
        assert 0.5 < size(block.conv2) / size(its.conv1) < 2.0
    after = network.initial_bn.weight.clone()
    restore_sizes(network)
    torch.testing.assert_close(network.initial_bn.weight, after)  # once is enough


def size(layer: object) -> float:
    assert isinstance(layer, torch.nn.Conv2d)
    return float(layer.weight.detach().square().mean().sqrt())
