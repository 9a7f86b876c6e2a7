"""The blocks and heads of KataGo's networks, in PyTorch, made from what a file says of them.

Convolutions that read the same input are one, and a norm stands right behind its convolution, before the pooled bias:
the same function in fewer steps, as in our own `GlobalPoolingBlock`.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..blocks import BoardMask, MaskedBatchNorm2d, clear_off_board, global_pool, normalize, width_scale
from ..heads import OFF_BOARD_LOGIT, full_precision
from . import description as told
from .layers import Activation, Conv, Norm

Layer = TypeVar("Layer", bound=nn.Module)


def _identity(x: Tensor, inplace: bool = False) -> Tensor:
    return x


# All are 0 at 0, so what is clear off the board stays so.
_FUNCTIONS: dict[Activation, Callable[..., Tensor]] = {
    "identity": _identity,
    "relu": F.relu,
    "mish": F.mish,
    "silu": F.silu,
}

_USED_POLICIES = 2  # the ordinary and the optimistic


class OrdinaryBlock(nn.Module):
    """Norm, activation, convolution, twice, and add."""

    def __init__(self, block: told.OrdinaryBlock) -> None:
        super().__init__()
        self.act1, self.act2 = block.pre.act.kind, block.mid.act.kind
        self.bn1 = make_norm(block.pre.norm)
        self.conv1 = make_conv(block.conv1)
        self.bn2 = make_norm(block.mid.norm)
        self.conv2 = make_conv(block.conv2)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """[B, C, H, W] → the same; what stands off the board is neither used nor cleared."""
        out = self.conv1(activate_as(self.bn1, self.act1, x, board))
        return x + self.conv2(activate_as(self.bn2, self.act2, out, board))


class SideBySide(nn.Module):
    """Convolutions of different sizes that read the same input: no known network has any, but a file may."""

    def __init__(self, *convs: Conv) -> None:
        super().__init__()
        self.convs = nn.ModuleList(make_conv(conv) for conv in convs)

    def forward(self, x: Tensor) -> Tensor:
        """[B, C, H, W] → the outputs of all, one behind the other."""
        return torch.cat([conv(x) for conv in self.convs], dim=1)


class PooledBias(nn.Module):
    """A convolution some of whose channels are pooled over the board into a bias on the others."""

    def __init__(self, part: told.PoolingBlock | told.PolicyHead) -> None:
        super().__init__()
        self.act, self.pool_act = part.mid.act.kind, part.pool.act.kind
        self.local = part.local.outputs
        # Padded to one size, two kernels could take far more memory than the file that has them.
        alike = part.local.weights.shape[:2] == part.pooled.weights.shape[:2]
        self.conv = make_conv(part.local, part.pooled) if alike else SideBySide(part.local, part.pooled)
        self.bn = make_norm(part.mid.norm, part.pool.norm)
        scale, _ = part.mid.norm.scale_and_shift()  # the norm comes before the bias here, which it would scale
        self.pool_bias = make_linear(part.pool_bias.weights * scale)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> tuple[Tensor, Tensor]:
        """[B, C, H, W] → the other channels [B, local, H, W], zero off the board, and what was pooled [B, 3·G]."""
        out = normalize(self.bn, self.conv(x), board)
        pooled = global_pool(_FUNCTIONS[self.pool_act](out[:, self.local :]), board)
        if self.pool_act == "identity":  # KataGo's maximum starts from −1, below which no other activation goes
            largest = pooled.shape[1] // 3
            pooled = torch.cat((pooled[:, :-largest], pooled[:, -largest:].clamp(min=-1.0)), dim=1)
        out = _FUNCTIONS[self.act](out[:, : self.local] + self.pool_bias(pooled)[:, :, None, None])
        return clear_off_board(out, board), pooled


class PoolingBlock(nn.Module):
    """An ordinary block whose first convolution hears the whole board."""

    def __init__(self, block: told.PoolingBlock) -> None:
        super().__init__()
        self.act1 = block.pre.act.kind
        self.bn1 = make_norm(block.pre.norm)
        self.pooled = PooledBias(block)
        self.conv2 = make_conv(block.conv2)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """[B, C, H, W] → the same; what stands off the board is neither used nor cleared."""
        return x + self.conv2(self.pooled(activate_as(self.bn1, self.act1, x, board), board)[0])


class BottleneckBlock(nn.Module):
    """Blocks within a block, on fewer channels."""

    def __init__(self, block: told.BottleneckBlock) -> None:
        super().__init__()
        self.act1, self.act2 = block.pre.act.kind, block.post.act.kind
        self.bn1 = make_norm(block.pre.norm)
        self.conv1 = make_conv(block.narrow)
        self.blocks = make_blocks(block.blocks)
        self.bn2 = make_norm(block.post.norm)
        self.conv2 = make_conv(block.widen)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """[B, C, H, W] → the same; what stands off the board is neither used nor cleared."""
        out = self.conv1(activate_as(self.bn1, self.act1, x, board))
        for block in self.blocks:
            out = block(out, board)
        return x + self.conv2(activate_as(self.bn2, self.act2, out, board))


class MetadataEncoder(nn.Module):
    """Three layers that read who is playing."""

    def __init__(self, encoder: told.MetadataEncoder) -> None:
        super().__init__()
        self.act1, self.act2 = encoder.act1.kind, encoder.act2.kind
        self.fc1 = make_linear(encoder.mul1.weights, encoder.bias1.values)
        self.fc2 = make_linear(encoder.mul2.weights, encoder.bias2.values)
        self.fc3 = make_linear(encoder.mul3.weights)

    def forward(self, metadata: Tensor) -> Tensor:
        """[B, 192] → a bias on the trunk's channels, [B, C]."""
        out = _FUNCTIONS[self.act1](self.fc1(metadata))
        bias: Tensor = self.fc3(_FUNCTIONS[self.act2](self.fc2(out)))
        return bias


class PolicyHead(nn.Module):
    """Logits of moves."""

    def __init__(self, head: told.PolicyHead) -> None:
        super().__init__()
        self.pooled = PooledBias(head)
        self.points = make_conv(Conv(head.points.name, head.points.weights[..., :_USED_POLICIES]))
        layers = head.pass_layers
        self.pass_act: Activation = "identity" if layers is None else layers.act.kind
        self.pass_hidden: nn.Module = nn.Identity()
        if layers is not None:
            self.pass_hidden = make_linear(head.passing.weights, layers.bias.values)
        last = head.passing if layers is None else layers.mul2
        self.passing = make_linear(last.weights[:, :_USED_POLICIES])

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """[B, C, H, W] → [B, 1 or 2, H·W + 1], pass last."""
        local, pooled = self.pooled(x, board)
        points = full_precision(self.points(local)).flatten(2)
        if board is not None:
            points = points.masked_fill(board.off.flatten(2), OFF_BOARD_LOGIT)
        passing = self.passing(_FUNCTIONS[self.pass_act](self.pass_hidden(pooled)))
        return torch.cat((points, full_precision(passing).unsqueeze(2)), dim=2)


class ValueHead(nn.Module):
    """Who wins, by how much, and whose each point will be."""

    def __init__(self, head: told.ValueHead) -> None:
        super().__init__()
        self.act1, self.act2 = head.norm.act.kind, head.act2.kind
        self.conv = make_conv(head.conv)
        self.bn = make_norm(head.norm.norm)
        self.fc1 = make_linear(head.mul2.weights, head.bias2.values)
        weights = np.concatenate((head.value.weights, head.score.weights), axis=1)
        self.fc2 = make_linear(weights, np.concatenate((head.value_bias.values, head.score_bias.values)))
        self.ownership = make_conv(head.ownership)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """[B, C, H, W] → value [B, 3], score [B, 4 or 6], ownership [B, H·W]."""
        out = activate_as(self.bn, self.act1, self.conv(x), board)
        answers = full_precision(self.fc2(_FUNCTIONS[self.act2](self.fc1(value_pool(out, board)))))
        owner = full_precision(clear_off_board(self.ownership(out), board)).flatten(1)
        return answers[:, :3], answers[:, 3:], owner


def value_pool(x: Tensor, board: BoardMask | None = None) -> Tensor:
    """Mean, mean × width scale, mean × (width scale² − 0.1) of each channel: [B, C, H, W] → [B, 3C].

    Off the board `x` must be zero.
    """
    mean = x.mean(dim=(2, 3))
    if board is None:
        wide = width_scale(x.shape[3])
        return torch.cat((mean, mean * wide, mean * (wide * wide - 0.1)), dim=1)
    mean = mean.float() * board.area_scale
    scale = board.width_scale
    return torch.cat((mean, mean * scale, mean * (scale.square() - 0.1)), dim=1).to(x.dtype)


def activate_as(norm: nn.Module, kind: Activation, x: Tensor, board: BoardMask | None) -> Tensor:
    """The activation of norm(x), zero off the board; may overwrite what `norm` returns."""
    return _FUNCTIONS[kind](normalize(norm, x, board), inplace=True)


def make_blocks(blocks: tuple[told.Block, ...]) -> nn.ModuleList:
    """The blocks that are told of, in order."""
    return nn.ModuleList(_block(block) for block in blocks)


def _block(block: told.Block) -> nn.Module:
    if isinstance(block, told.OrdinaryBlock):
        return OrdinaryBlock(block)
    return PoolingBlock(block) if isinstance(block, told.PoolingBlock) else BottleneckBlock(block)


def make_conv(*convs: Conv) -> nn.Conv2d:
    """One convolution that gives the outputs of all of them; they read the same input, with kernels of one size."""
    weights = np.concatenate([conv.weights for conv in convs], axis=3).transpose(3, 2, 0, 1)  # [out, in, ky, kx]
    outputs, inputs, height, width = weights.shape
    layer: nn.Conv2d = nn.utils.skip_init(  # type: ignore[no-untyped-call]
        nn.Conv2d, inputs, outputs, (height, width), padding=(height // 2, width // 2), bias=False
    )
    return _with(layer, weight=weights)


def make_linear(weights: np.ndarray, bias: np.ndarray | None = None) -> nn.Linear:
    """A linear layer from weights [in, out]."""
    layer: nn.Linear = nn.utils.skip_init(  # type: ignore[no-untyped-call]
        nn.Linear, *weights.shape, bias=bias is not None
    )
    return _with(layer, weight=weights.T) if bias is None else _with(layer, weight=weights.T, bias=bias)


def make_norm(*norms: Norm) -> MaskedBatchNorm2d:
    """One norm for the channels of all of them."""
    scales, shifts = zip(*(norm.scale_and_shift() for norm in norms), strict=True)
    scale = np.concatenate(scales)
    # Its statistics are in its scale, as KataGo's own files have it. Its epsilon is for training: there a channel
    # may be the same everywhere.
    layer = MaskedBatchNorm2d(len(scale))
    return _with(layer, weight=scale * np.float32((1 + layer.eps) ** 0.5), bias=np.concatenate(shifts))


def _with(layer: Layer, **values: np.ndarray) -> Layer:
    """The layer, with these weights."""
    with torch.no_grad():
        for name, value in values.items():
            getattr(layer, name).copy_(torch.from_numpy(np.ascontiguousarray(value)))
    return layer
