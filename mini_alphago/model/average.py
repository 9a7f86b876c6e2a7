"""The mean of several networks of one training: what is chance in the weights of each cancels out."""

from collections.abc import Sequence

import torch

from .base import Network
from .network import build_network
from .norms import restore_sizes


@torch.no_grad()
def average_networks(networks: Sequence[Network], shares: Sequence[float] | None = None) -> Network:
    """A network whose weights are the mean of those of `networks`, in eval mode; these are left as they are.

    There is at least one, and they have a common origin, or the mean means nothing; their weights are brought to one
    size first (see `restore_sizes`). shares: how much each counts, positive, of whatever sum. ValueError if they are
    not of one shape.
    """
    if any(network.config != networks[0].config for network in networks):
        sizes = ", ".join(network.config.size for network in networks)
        raise ValueError(f"only networks of one shape have a mean, not {sizes}")
    shares = [1.0] * len(networks) if shares is None else list(shares)
    if len(shares) != len(networks) or min(shares) <= 0:
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
