"""Weights that look trained without a training: every layer does something, and nothing is symmetric."""

from typing import TypeVar

import torch
from torch import nn

Net = TypeVar("Net", bound=nn.Module)


def trained_like(network: Net) -> Net:
    """Give a new network weights and running statistics that a trained one could have, and return it."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in network.parameters():
            # Norms and biases move less: fc value heads see one channel, which a norm may well shut behind its relu.
            spread = 0.2 if parameter.ndim == 1 else 0.5 / parameter[0].numel() ** 0.5
            parameter.add_(spread * torch.randn(parameter.shape, generator=generator))
        for module in network.modules():
            if isinstance(module, nn.BatchNorm2d):
                assert module.running_mean is not None
                assert module.running_var is not None
                module.running_mean.normal_(std=0.5, generator=generator)
                module.running_var.uniform_(0.5, 2.0, generator=generator)
    return network


def trained(network: Net) -> Net:
    """`trained_like`, in eval mode."""
    return trained_like(network).eval()
