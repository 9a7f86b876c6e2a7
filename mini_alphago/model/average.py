"""The mean of several networks of one training: what is chance in the weights of each cancels out."""

import math
from collections.abc import Sequence

import torch

from .base import Network
from .network import build_network
from .norms import restore_sizes


@torch.no_grad()
def average_networks(networks: Sequence[Network], shares: Sequence[float] | None = None) -> Network:
    """A network whose weights are the mean of those of `networks`, in eval mode; these are left as they are.

    There is at least one, and they have a common origin and are not far from each other, or the mean means nothing;
    weights are brought to one size first (see `restore_sizes`). The statistics of batch norms are means too, not those
    of the mean network. shares: how much each counts, positive, of whatever sum. ValueError if they are not of one
    shape.
    """
    for network in networks:
        if network.config != networks[0].config:
            raise ValueError(f"only networks of one shape have a mean, {_difference(networks[0], network)}")
    shares = [1.0] * len(networks) if shares is None else list(shares)
    if len(shares) != len(networks) or not all(0 < share < math.inf for share in shares):
        raise ValueError(f"{len(networks)} networks need as many positive shares, not {shares}")
    mean = build_network(networks[0].config).eval()
    sums = {name: torch.zeros_like(tensor, dtype=torch.float64) for name, tensor in mean.state_dict().items()}
    for network, share in zip(networks, shares, strict=True):
        usual = build_network(network.config).eval()
        usual.load_state_dict(network.state_dict())
        restore_sizes(usual)
        for name, tensor in usual.state_dict().items():
            sums[name] += share / sum(shares) * tensor.double()
    mean.load_state_dict(sums)
    return mean


def _difference(one: Network, other: Network) -> str:
    """How two networks differ in shape, in words."""
    first, second = one.config.to_dict(), other.config.to_dict()
    return "; ".join(f"{name} is {first[name]} and {second[name]}" for name in first if first[name] != second[name])
