"""Convolutions with a batch norm behind them: the two can become one, and how large the weights are means nothing."""

import copy
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from .base import Network
from .blocks import GlobalPoolingBlock, PostActivationBlock, ResidualBlock
from .heads import OwnershipHead, PolicyHead, PooledPolicyHead, ScalarHead
from .katago import parts
from .katago.network import KataGoFileNetwork
from .network import KataGoNetwork, PolicyValueNetwork

# (convolution, the batch norm right behind it) by the names of a module's attributes
_PAIRS: dict[type[nn.Module], tuple[tuple[str, str], ...]] = {
    PolicyValueNetwork: (("conv_input", "bn_input"), ("policy_conv", "policy_bn"), ("value_conv", "value_bn")),
    KataGoNetwork: (("initial_conv", "initial_bn"),),
    PostActivationBlock: (("conv1", "bn1"), ("conv2", "bn2")),
    ResidualBlock: (("conv1", "bn2"),),
    GlobalPoolingBlock: (("conv1", "bn2"),),
    PolicyHead: (("conv", "bn"),),
    PooledPolicyHead: (("conv", "bn"),),
    ScalarHead: (("conv", "bn"),),
    OwnershipHead: (("conv1", "bn"),),
    parts.OrdinaryBlock: (("conv1", "bn2"),),
    parts.PooledBias: (("conv", "bn"),),
    parts.ValueHead: (("conv", "bn"),),
}

_PRE_ACTIVATION = (ResidualBlock, GlobalPoolingBlock, parts.OrdinaryBlock, parts.PoolingBlock)


def _pairs(network: Network) -> Iterator[tuple[nn.Module, str, str]]:
    """Modules, and the names that a convolution and the norm right behind it have there."""
    for module in list(network.modules()):
        for kind, pairs in _PAIRS.items():
            if isinstance(module, kind):
                for conv, norm in pairs:
                    if isinstance(getattr(module, conv), nn.Conv2d):
                        yield module, conv, norm


def fold(network: Network) -> Network:
    """A copy in eval mode that computes the same in fewer steps: norms become part of the convolutions before them."""
    folded = copy.deepcopy(network).eval().requires_grad_(False)
    for module, conv, norm in _pairs(folded):
        setattr(module, conv, fuse_conv_bn_eval(getattr(module, conv), getattr(module, norm)))
        setattr(module, norm, nn.Identity().eval())
    return folded


@torch.no_grad()
def restore_sizes(network: Network) -> None:
    """Make weights whose size means nothing as large as a new network's, in place; the answers stay the same.

    Training makes them grow, and the larger they are, the less does a step of the same learning rate turn them.
    """
    for module, conv, norm in _pairs(network):
        _restore([getattr(module, conv).weight], [], [getattr(module, norm)])
    # Only norms read what adds up along a pre-activation tower: it shrinks as a whole.
    if isinstance(network, KataGoNetwork):
        beginning: list[Tensor] = [network.initial_bn.weight, network.initial_bn.bias]
    elif isinstance(network, KataGoFileNetwork) and network.metadata is None:
        beginning = [network.initial_conv.weight, network.global_inputs.weight]
    else:
        return
    blocks = [block for block in network.blocks if isinstance(block, _PRE_ACTIVATION)]
    if len(blocks) == len(network.blocks):
        norms = [*(block.bn1 for block in blocks), network.final_bn]
        _restore([block.conv2.weight for block in blocks], beginning, norms)


def _restore(weights: list[Tensor], others: list[Tensor], norms: Sequence[nn.BatchNorm2d]) -> None:
    """Multiply the weights of convolutions, `others` and what `norms` expect by what makes the former a usual size."""
    # As `conv3x3` makes them: the root mean square is √(2 / inputs). Those that start at zero grow to that as well.
    relative = [weight.square().mean() * (weight[0].numel() / 2) for weight in weights]
    square = torch.stack(relative).mean()
    if not square or not square.isfinite():  # nothing was learned there yet, or it is damaged: whoever asks it will see
        return
    for tensor in (*weights, *others):
        tensor.div_(square.sqrt())
    for norm in norms:
        assert norm.running_mean is not None
        assert norm.running_var is not None
        norm.running_mean.div_(square.sqrt())
        # A norm adds its ε to the variance. What it divides by is to shrink in just that proportion; where it cannot,
        # since only ε is left, the scale makes up for it.
        before = norm.running_var + norm.eps
        norm.running_var.copy_((before / square - norm.eps).clamp(min=0))
        norm.weight.mul_(((norm.running_var + norm.eps) * square / before).sqrt())
