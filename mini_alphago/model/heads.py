"""What a network says: policy, value, score and ownership, each read off the trunk by its own small head.

Heads come in two kinds. `fc` heads, as in the architecture document, end in linear layers over all points and fit one
board size. Pooled heads pool globally instead and fit every size. Ownership needs neither: it looks at points alone.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .blocks import (
    POOL_FEATURES,
    BoardMask,
    MaskedBatchNorm2d,
    activate,
    conv1x1,
    global_pool,
    normalize,
    pooled_bias,
)

OFF_BOARD_LOGIT = -1e4
"""Logit of points off the board: its softmax is exactly 0, and unlike −∞ it may be multiplied by a target of 0."""

SCORE_SCALE = 20.0
"""Points per unit of the score head's last layer, so that ordinary scores need only ordinary weights."""

FINAL_STD = 0.003
"""Spread of the last layers' first weights: small enough to start near uniform and near zero, not so small that
gradients stop there."""


def full_precision(x: Tensor) -> Tensor:
    """`x` in at least float32: an answer is few numbers, and their readers need not know about half precision."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def small_(layer: nn.Linear | nn.Conv2d) -> None:
    """Starts a last layer near zero."""
    nn.init.normal_(layer.weight, std=FINAL_STD)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


def move_logits(points: Tensor, passing: Tensor, board: BoardMask | None) -> Tensor:
    """Logits of all moves [B, N² + 1], pass last, from those of points [B, N²] and of passing [B, 1]."""
    points = full_precision(points)
    if board is not None:
        points = points.masked_fill(board.off.flatten(1), OFF_BOARD_LOGIT)
    return torch.cat((points, full_precision(passing)), dim=1)


class PolicyHead(nn.Module):
    """Policy logits by one linear layer over all points, for one board size."""

    def __init__(self, in_channels: int, board_size: int = 19) -> None:
        super().__init__()
        points = board_size * board_size
        self.points = points
        self.conv = conv1x1(in_channels, 2)
        self.bn = MaskedBatchNorm2d(2)
        self.fc = nn.Linear(2 * points, points + 1)
        small_(self.fc)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """[B, C, N, N] → logits [B, N² + 1], pass last."""
        logits: Tensor = self.fc(activate(self.bn, self.conv(x), board).flatten(1))
        return move_logits(logits[:, : self.points], logits[:, self.points :], board)


class PooledPolicyHead(nn.Module):
    """Policy logits of each point from what stands there and what was pooled, of pass from what was pooled."""

    def __init__(self, in_channels: int, head_channels: int = 32) -> None:
        super().__init__()
        self.local = head_channels
        pooled = POOL_FEATURES * head_channels
        self.conv = conv1x1(in_channels, 2 * head_channels)
        self.bn = MaskedBatchNorm2d(2 * head_channels)
        self.pool_bias = nn.Linear(pooled, head_channels)
        # No bias: the same number on all points would only say again what the pass bias says.
        self.points = conv1x1(head_channels, 1)
        self.passing = nn.Linear(pooled, 1)
        nn.init.zeros_(self.pool_bias.bias)
        small_(self.points)
        small_(self.passing)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """[B, C, N, N] → logits [B, N² + 1], pass last."""
        out = normalize(self.bn, self.conv(x), board)
        local, pooled = pooled_bias(out, self.local, self.pool_bias, board)
        return move_logits(self.points(local).flatten(1), self.passing(pooled), board)


class ScalarHead(nn.Module):
    """One number for the whole board; `board_size` None pools, a size makes a linear layer over all points of it."""

    def __init__(self, in_channels: int, board_size: int | None, head_channels: int, hidden: int) -> None:
        super().__init__()
        self.pooled = board_size is None
        features = POOL_FEATURES if board_size is None else board_size * board_size
        self.conv = conv1x1(in_channels, head_channels)
        self.bn = MaskedBatchNorm2d(head_channels)
        self.fc1 = nn.Linear(features * head_channels, hidden)
        self.fc2 = nn.Linear(hidden, 1)
        small_(self.fc2)

    def raw(self, x: Tensor, board: BoardMask | None) -> Tensor:
        """[B, C, N, N] → any number [B, 1]."""
        out = activate(self.bn, self.conv(x), board)
        features = global_pool(out, board) if self.pooled else out.flatten(1)
        return full_precision(self.fc2(F.relu(self.fc1(features), inplace=True)))


class ValueHead(ScalarHead):
    """Who will win, for the player to move."""

    def __init__(
        self, in_channels: int, board_size: int | None = 19, head_channels: int = 1, hidden: int = 256
    ) -> None:
        super().__init__(in_channels, board_size, head_channels, hidden)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """[B, C, N, N] → value in [−1, 1], [B, 1]."""
        return torch.tanh(self.raw(x, board))


class ScoreHead(ScalarHead):
    """By how many points, for the player to move."""

    def __init__(
        self, in_channels: int, board_size: int | None = 19, head_channels: int = 1, hidden: int = 256
    ) -> None:
        super().__init__(in_channels, board_size, head_channels, hidden)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """[B, C, N, N] → points [B, 1]."""
        return self.raw(x, board) * SCORE_SCALE


class OwnershipHead(nn.Module):
    """Whose each point will be in the end, for the player to move; any board size."""

    def __init__(self, in_channels: int, head_channels: int = 32) -> None:
        super().__init__()
        self.conv1 = conv1x1(in_channels, head_channels)
        self.bn = MaskedBatchNorm2d(head_channels)
        self.conv2 = conv1x1(head_channels, 1, bias=True)
        small_(self.conv2)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """[B, C, N, N] → ownership in [−1, 1], [B, N²], 0 off the board."""
        out: Tensor = self.conv2(activate(self.bn, self.conv1(x), board))
        owner = torch.tanh(full_precision(out)).flatten(1)
        return owner if board is None else owner.masked_fill(board.off.flatten(1), 0.0)
