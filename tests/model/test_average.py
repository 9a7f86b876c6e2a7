"""The mean of several networks."""

import pytest
import torch

from mini_alphago.model import KataGoNetwork, build_network, tutorial_config
from mini_alphago.model.average import average_networks
from mini_alphago.model.base import Network

from .weights import trained


def networks(count: int) -> list[Network]:
    """Networks with a common origin."""
    found = []
    for i in range(count):
        torch.manual_seed(1)
        network = trained(KataGoNetwork(3, 16))
        with torch.no_grad():
            torch.manual_seed(2 + i)
            for parameter in network.parameters():
                parameter.add_(0.02 * torch.randn_like(parameter))
        found.append(network)
    return found


def answers(network: Network) -> torch.Tensor:
    planes = torch.randint(0, 2, (8, 22, 9, 9), generator=torch.Generator().manual_seed(3)).float()
    with torch.inference_mode():
        return torch.cat([part.flatten() for part in network.outputs(planes) if part is not None])


def test_the_mean_of_one_network_is_itself() -> None:
    (network,) = networks(1)
    torch.testing.assert_close(answers(average_networks([network] * 3)), answers(network), rtol=1e-4, atol=1e-4)


def test_it_is_the_mean_of_their_weights_by_shares() -> None:
    one, other = networks(2)
    before = {name: tensor.clone() for name, tensor in one.state_dict().items()}
    mean = average_networks([one, other], [3, 1])
    for name in ("value_head.fc2.weight", "value_head.fc2.bias", "policy_head.bn.weight"):  # of no other size
        expected = 0.75 * one.state_dict()[name] + 0.25 * other.state_dict()[name]
        torch.testing.assert_close(mean.state_dict()[name], expected)
    assert all(torch.equal(tensor, before[name]) for name, tensor in one.state_dict().items())
    assert not mean.training


def test_the_size_of_weights_before_a_norm_does_not_count() -> None:
    """One network, as it is and as another training might have left it: the mean answers the same."""
    (network,) = networks(1)
    (large,) = networks(1)
    with torch.no_grad():
        for block in large.blocks:  # type: ignore[union-attr]
            block.conv1.weight.mul_(9)  # type: ignore[union-attr]
            block.bn2.running_mean.mul_(9)  # type: ignore[union-attr]
            block.bn2.running_var.mul_(81)  # type: ignore[union-attr]
    torch.testing.assert_close(answers(average_networks([network, large])), answers(network), rtol=1e-3, atol=1e-3)


def test_what_has_no_mean_is_refused() -> None:
    network = build_network(tutorial_config(1, 8, board_size=5))
    with pytest.raises(ValueError, match=r"only networks of one shape have a mean, .*blocks is 1 and 3"):
        average_networks([network, *networks(1)])
    for shares in ([1.0], [1.0, 0.0], [1.0, -1.0], [1.0, float("nan")]):
        with pytest.raises(ValueError, match="2 networks need as many positive shares"):
            average_networks(networks(2), shares)
