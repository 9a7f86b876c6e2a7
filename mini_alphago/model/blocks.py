"""What networks are built of: masks for boards smaller than the tensor, batch norm, global pooling, residual blocks.

Batches may mix board sizes: smaller boards lie in the larger tensor's corner (or anywhere), and a mask tells which
points are on the board. A convolution pads with zeros at the tensor's edge, so points off the board must be zero too
wherever a convolution or a pooling reads; then a board gives the same answer in any tensor. Each module takes `board`,
None for boards that fill the tensor: then no masking work is done at all.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .presets import default_pool_channels

POOL_FEATURES = 3
"""How many numbers `global_pool` makes of each channel."""


class BoardMask(NamedTuple):
    """Which points of each tensor are on the board, and what pooling needs to know of it."""

    off: Tensor  # [B, 1, N, N] bool, points that are not on the board
    area_scale: Tensor  # [B, 1] float32, N² / the board's own area
    width_scale: Tensor  # [B, 1] float32, `width_scale` of the board's own width


def width_scale(width: float) -> float:
    """How board width enters pooling: (b − 14) / 10, about −1 to 1 over usual sizes, as in KataGo's paper."""
    return (width - 14.0) / 10.0


def board_mask(mask: Tensor | None) -> BoardMask | None:
    """The BoardMask of `mask`, [B, 1, N, N] bool or float, true on the board; None for None.

    Boards are taken to be square and not empty; neither is checked, as that would wait for the GPU.
    """
    if mask is None:
        return None
    on = mask.to(torch.bool)
    area = on.sum(dim=(2, 3), dtype=torch.float32)  # [B, 1]
    points = on.shape[2] * on.shape[3]
    return BoardMask(~on, points / area, (area.sqrt() - 14.0) / 10.0)


def clear_off_board(x: Tensor, board: BoardMask | None) -> Tensor:
    """`x` [B, C, N, N] with zeros off the board; `x` itself if boards fill the tensor."""
    # Filled, not multiplied: it keeps a half-precision dtype under autocast, and stops NaN and infinity.
    return x if board is None else x.masked_fill(board.off, 0.0)


def global_pool(x: Tensor, board: BoardMask | None = None) -> Tensor:
    """Mean, mean × width scale, and max of each channel over the board: [B, C, N, N] → [B, 3C].

    Counts points of the board only, whatever stands in `x` off it.
    """
    if board is None:
        mean = x.mean(dim=(2, 3))
        return torch.cat((mean, mean * width_scale(x.shape[3]), x.amax(dim=(2, 3))), dim=1)
    # The mean over the tensor, then scaled: a sum would overflow in float16.
    mean = clear_off_board(x, board).mean(dim=(2, 3)).float() * board.area_scale
    largest = x.masked_fill(board.off, torch.finfo(x.dtype).min).amax(dim=(2, 3))
    return torch.cat((mean.to(x.dtype), (mean * board.width_scale).to(x.dtype), largest), dim=1)


class MaskedBatchNorm2d(nn.BatchNorm2d):
    """Batch norm whose batch statistics, in training, come from points on the board only.

    Without a mask it is `nn.BatchNorm2d`, in state dict, speed and folding. With one, what it gives off the board means
    nothing: the caller clears it.
    """

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """[B, C, N, N] → the same shape and dtype."""
        if board is None or not self.training:
            return super().forward(x)
        on = (~board.off).float()  # [B, 1, N, N]
        full = x.masked_fill(board.off, 0.0).float()
        count = on.sum()
        mean = full.sum(dim=(0, 2, 3), keepdim=True) / count  # [1, C, 1, 1]
        var = ((full - mean).square() * on).sum(dim=(0, 2, 3), keepdim=True) / count
        self._track(mean, var * (count / (count - 1.0)))
        scale = self.weight.view(1, -1, 1, 1) * (var + self.eps).rsqrt()
        return ((full - mean) * scale + self.bias.view(1, -1, 1, 1)).to(x.dtype)

    @torch.no_grad()
    def _track(self, mean: Tensor, unbiased_var: Tensor) -> None:
        assert self.running_mean is not None
        assert self.running_var is not None
        assert self.num_batches_tracked is not None
        assert self.momentum is not None
        self.running_mean.lerp_(mean.flatten().to(self.running_mean.dtype), self.momentum)
        self.running_var.lerp_(unbiased_var.flatten().to(self.running_var.dtype), self.momentum)
        self.num_batches_tracked.add_(1)


def normalize(norm: nn.Module, x: Tensor, board: BoardMask | None) -> Tensor:
    """`norm(x)`, zero off the board."""
    # In eval the mask changes nothing in the norm itself; so a norm folded into its convolution may be an nn.Identity.
    out: Tensor = norm(x, board) if board is not None and norm.training else norm(x)
    return clear_off_board(out, board)


def activate(norm: nn.Module, x: Tensor, board: BoardMask | None) -> Tensor:
    """relu(norm(x)), zero off the board; may overwrite what `norm` returns, so that must not be in use elsewhere."""
    return F.relu(normalize(norm, x, board), inplace=True)


def conv3x3(in_channels: int, out_channels: int) -> nn.Conv2d:
    """A 3×3 convolution that keeps the board's size; no bias, since a batch norm follows it sooner or later."""
    conv = nn.Conv2d(in_channels, out_channels, 3, padding=1, bias=False)
    nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
    return conv


def conv1x1(in_channels: int, out_channels: int, bias: bool = False) -> nn.Conv2d:
    """A 1×1 convolution; no bias unless no batch norm follows."""
    conv = nn.Conv2d(in_channels, out_channels, 1, bias=bias)
    nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
    if conv.bias is not None:
        nn.init.zeros_(conv.bias)
    return conv


class PostActivationBlock(nn.Module):
    """The tutorial's residual block: conv, norm, relu, conv, norm, add, relu. It starts as the identity."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = conv3x3(channels, channels)
        self.bn1 = MaskedBatchNorm2d(channels)
        self.conv2 = conv3x3(channels, channels)
        self.bn2 = MaskedBatchNorm2d(channels)
        nn.init.zeros_(self.bn2.weight)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """[B, C, N, N], zero off the board → the same."""
        out = activate(self.bn1, self.conv1(x), board)
        out = normalize(self.bn2, self.conv2(out), board)
        return F.relu(out + x, inplace=True)


class ResidualBlock(nn.Module):
    """The pre-activation residual block: norm, relu, conv, norm, relu, conv, add. It starts as the identity."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.bn1 = MaskedBatchNorm2d(channels)
        self.conv1 = conv3x3(channels, channels)
        self.bn2 = MaskedBatchNorm2d(channels)
        self.conv2 = conv3x3(channels, channels)
        nn.init.zeros_(self.conv2.weight)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """[B, C, N, N] → the same; what stands off the board is neither used nor cleared."""
        out = self.conv1(activate(self.bn1, x, board))
        out = self.conv2(activate(self.bn2, out, board))
        return x + out


class GlobalPoolingBlock(nn.Module):
    """A pre-activation residual block that hears the whole board: some channels are pooled into a bias on the others.

    As in KataGo's paper, `pool_channels` (by default about a quarter) of the first convolution's outputs are pooled
    instead of going on, so the block costs less than a ResidualBlock. Unlike there, the norm stands before the bias,
    where it folds into that convolution. The block starts as the identity.
    """

    def __init__(self, channels: int, pool_channels: int | None = None) -> None:
        super().__init__()
        pooled = default_pool_channels(channels) if pool_channels is None else pool_channels
        local = channels - pooled
        self.local = local
        self.bn1 = MaskedBatchNorm2d(channels)
        self.conv1 = conv3x3(channels, channels)
        self.bn2 = MaskedBatchNorm2d(channels)
        self.pool_bias = nn.Linear(POOL_FEATURES * pooled, local)
        self.conv2 = conv3x3(local, channels)
        nn.init.zeros_(self.pool_bias.bias)
        nn.init.zeros_(self.conv2.weight)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """[B, C, N, N] → the same; what stands off the board is neither used nor cleared."""
        out = normalize(self.bn2, self.conv1(activate(self.bn1, x, board)), board)
        return x + self.conv2(pooled_bias(out, self.local, self.pool_bias, board)[0])


def pooled_bias(x: Tensor, local: int, linear: nn.Module, board: BoardMask | None) -> tuple[Tensor, Tensor]:
    """Pool the relu of all but the first `local` channels, add its linear image to every point of those, relu.

    Returns the local channels [B, local, N, N], zero off the board, and what was pooled [B, 3 × (C − local)].
    """
    features = global_pool(F.relu(x[:, local:]), board)
    out = F.relu(x[:, :local] + linear(features)[:, :, None, None], inplace=True)
    return clear_off_board(out, board), features
