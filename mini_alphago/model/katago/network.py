"""What a KataGo network computes, in PyTorch, and what its numbers mean.

Convolutions that read the same input are one, and a norm stands right behind its convolution, before the pooled bias:
the same function in fewer steps, as in our own `GlobalPoolingBlock`.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..blocks import BoardMask, MaskedBatchNorm2d, board_mask, clear_off_board, global_pool, normalize, width_scale
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


class RawOutput(NamedTuple):
    """What a network says of a batch of positions before it is read, for the player to move."""

    policy: Tensor  # [B, 1 or 2, H·W + 1] logits, ordinary and optimistic, pass last; OFF_BOARD_LOGIT off the board
    value: Tensor  # [B, 3] logits: win, loss, no result
    score: Tensor  # [B, 4 or 6] score mean, its deviation, lead, time left, and from version 9 on two errors
    ownership: Tensor  # [B, H·W], 0 off the board


class Values(NamedTuple):
    """What those numbers mean, for the player to move; float64."""

    win: Tensor  # [B] probabilities, as the next two
    loss: Tensor
    no_result: Tensor
    score_mean: Tensor  # [B] points the game ends with, in self-play
    score_mean_square: Tensor  # [B] of the same
    lead: Tensor  # [B] points that komi would have to change by for an even game
    variance_time: Tensor  # [B] how long the game is open; −1 if the network does not say
    winloss_error: Tensor  # [B] how far the search will move off in the next turns; −1 likewise
    score_error: Tensor  # [B] the same in points
    ownership: Tensor  # [B, H·W] in [−1, 1], 1 where the point will be the player's; 0 off the board


class OrdinaryBlock(nn.Module):
    """Norm, activation, convolution, twice, and add."""

    def __init__(self, block: told.OrdinaryBlock) -> None:
        super().__init__()
        self.act1, self.act2 = block.pre.act.kind, block.mid.act.kind
        self.bn1 = _norm(block.pre.norm)
        self.conv1 = _conv(block.conv1)
        self.bn2 = _norm(block.mid.norm)
        self.conv2 = _conv(block.conv2)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """[B, C, H, W] → the same; what stands off the board is neither used nor cleared."""
        out = self.conv1(_activate(self.bn1, self.act1, x, board))
        return x + self.conv2(_activate(self.bn2, self.act2, out, board))


class SideBySide(nn.Module):
    """Convolutions of different sizes that read the same input: no known network has any, but a file may."""

    def __init__(self, *convs: Conv) -> None:
        super().__init__()
        self.convs = nn.ModuleList(_conv(conv) for conv in convs)

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
        self.conv = _conv(part.local, part.pooled) if alike else SideBySide(part.local, part.pooled)
        self.bn = _norm(part.mid.norm, part.pool.norm)
        scale, _ = part.mid.norm.scale_and_shift()  # the norm comes before the bias here, which it would scale
        self.pool_bias = _linear(part.pool_bias.weights * scale)

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
        self.bn1 = _norm(block.pre.norm)
        self.pooled = PooledBias(block)
        self.conv2 = _conv(block.conv2)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """[B, C, H, W] → the same; what stands off the board is neither used nor cleared."""
        return x + self.conv2(self.pooled(_activate(self.bn1, self.act1, x, board), board)[0])


class BottleneckBlock(nn.Module):
    """Blocks within a block, on fewer channels."""

    def __init__(self, block: told.BottleneckBlock) -> None:
        super().__init__()
        self.act1, self.act2 = block.pre.act.kind, block.post.act.kind
        self.bn1 = _norm(block.pre.norm)
        self.conv1 = _conv(block.narrow)
        self.blocks = _blocks(block.blocks)
        self.bn2 = _norm(block.post.norm)
        self.conv2 = _conv(block.widen)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """[B, C, H, W] → the same; what stands off the board is neither used nor cleared."""
        out = self.conv1(_activate(self.bn1, self.act1, x, board))
        for block in self.blocks:
            out = block(out, board)
        return x + self.conv2(_activate(self.bn2, self.act2, out, board))


class MetadataEncoder(nn.Module):
    """Three layers that read who is playing."""

    def __init__(self, encoder: told.MetadataEncoder) -> None:
        super().__init__()
        self.act1, self.act2 = encoder.act1.kind, encoder.act2.kind
        self.fc1 = _linear(encoder.mul1.weights, encoder.bias1.values)
        self.fc2 = _linear(encoder.mul2.weights, encoder.bias2.values)
        self.fc3 = _linear(encoder.mul3.weights)

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
        self.points = _conv(Conv(head.points.name, head.points.weights[..., :_USED_POLICIES]))
        layers = head.pass_layers
        self.pass_act: Activation = "identity" if layers is None else layers.act.kind
        self.pass_hidden: nn.Module = nn.Identity()
        if layers is not None:
            self.pass_hidden = _linear(head.passing.weights, layers.bias.values)
        last = head.passing if layers is None else layers.mul2
        self.passing = _linear(last.weights[:, :_USED_POLICIES])

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
        self.conv = _conv(head.conv)
        self.bn = _norm(head.norm.norm)
        self.fc1 = _linear(head.mul2.weights, head.bias2.values)
        weights = np.concatenate((head.value.weights, head.score.weights), axis=1)
        self.fc2 = _linear(weights, np.concatenate((head.value_bias.values, head.score_bias.values)))
        self.ownership = _conv(head.ownership)

    def forward(self, x: Tensor, board: BoardMask | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """[B, C, H, W] → value [B, 3], score [B, 4 or 6], ownership [B, H·W]."""
        out = _activate(self.bn, self.act1, self.conv(x), board)
        answers = full_precision(self.fc2(_FUNCTIONS[self.act2](self.fc1(value_pool(out, board)))))
        owner = full_precision(clear_off_board(self.ownership(out), board)).flatten(1)
        return answers[:, :3], answers[:, 3:], owner


class KataGoFileNetwork(nn.Module):
    """The network that a KataGo file describes, in float32 on the CPU, in eval mode."""

    def __init__(self, network: told.Description) -> None:
        super().__init__()
        trunk = network.trunk
        self.name, self.version, self.multipliers = network.name, network.version, network.multipliers
        self.pass_alive_suicide = network.pass_alive_suicide
        self.initial_conv = _conv(trunk.initial)
        self.global_inputs = _linear(trunk.globals.weights)
        self.metadata = None if trunk.metadata is None else MetadataEncoder(trunk.metadata)
        self.blocks = _blocks(trunk.blocks)
        self.final_act = trunk.tip.act.kind
        self.final_bn = _norm(trunk.tip.norm)
        self.policy_head = PolicyHead(network.policy)
        self.value_head = ValueHead(network.value)
        self.eval()

    def forward(
        self, spatial: Tensor, global_inputs: Tensor, mask: Tensor | None = None, metadata: Tensor | None = None
    ) -> RawOutput:
        """Inputs [B, 22, H, W] and [B, 19] → RawOutput.

        mask [B, 1, H, W] is true on the board, None if boards fill the tensor. metadata [B, 192] is for networks that
        read it, and only for them.
        """
        height, width = spatial.shape[2:]
        if mask is None and height != width:  # pooling without a mask takes boards for squares
            mask = torch.ones_like(spatial[:, :1], dtype=torch.bool)
        if (metadata is None) != (self.metadata is None):
            raise ValueError(f"{self.name} {'takes no metadata' if metadata is not None else 'needs metadata'}")
        board = board_mask(mask)
        bias = self.global_inputs(global_inputs)
        if self.metadata is not None:
            bias = bias + self.metadata(metadata)
        x = self.initial_conv(clear_off_board(spatial, board)) + bias[:, :, None, None]
        for block in self.blocks:
            x = block(x, board)
        x = _activate(self.final_bn, self.final_act, x, board)
        return RawOutput(self.policy_head(x, board), *self.value_head(x, board))

    def values(self, raw: RawOutput, can_be_void: Tensor | bool) -> Values:
        """`read_values` of this network's own answers."""
        return read_values(raw, self.version, self.multipliers, can_be_void)


def mix_policies(policy: Tensor, optimism: Tensor | float = 0.0) -> Tensor:
    """Logits [B, H·W + 1] of RawOutput.policy: the ordinary ones at optimism 0, the optimistic at 1; [B] or a number.

    A network that has no optimistic ones gives its only ones. KataGo asks networks that read metadata at 0.
    """
    if policy.shape[1] == 1:
        return policy[:, 0]
    share = optimism.unsqueeze(1) if isinstance(optimism, Tensor) else optimism
    return policy[:, 0] + (policy[:, 1] - policy[:, 0]) * share


def read_values(raw: RawOutput, version: int, multipliers: told.Multipliers, can_be_void: Tensor | bool) -> Values:
    """What a network's answers mean by KataGo's formulas, which changed with its versions.

    can_be_void, [B] bool or one for all: whether a game can end without a result, that is under a simple ko rule or
    territory scoring.
    """
    void = torch.as_tensor(can_be_void, device=raw.value.device).reshape(-1, 1)
    impossible = torch.cat((torch.zeros_like(void), torch.zeros_like(void), ~void), dim=1)
    outcome = raw.value.double().masked_fill(impossible, -torch.inf).softmax(dim=1)
    score = raw.score.double()
    win, loss, no_result = outcome.unbind(dim=1)
    counted = 1.0 - no_result
    mean = score[:, 0] * multipliers.score_mean
    deviation = _softplus(score[:, 1]) * multipliers.score_stdev
    none = torch.full_like(mean, -1.0)
    errors = none, none
    if version >= 9:
        errors = _errors(score[:, 4], score[:, 5], version, multipliers)
    return Values(
        win,
        loss,
        no_result,
        score_mean=mean * counted,
        score_mean_square=(mean.square() + deviation.square()) * counted,
        lead=score[:, 2] * multipliers.lead * counted,
        variance_time=none if version < 9 else _softplus(score[:, 3]) * multipliers.variance_time,
        winloss_error=errors[0],
        score_error=errors[1],
        ownership=torch.tanh(raw.ownership.double()),
    )


def _errors(value: Tensor, score: Tensor, version: int, by: told.Multipliers) -> tuple[Tensor, Tensor]:
    if version < 10:
        return _softplus(value), 10.0 * _softplus(score)
    if version < 14:
        return (_softplus(value) * by.value_error).sqrt(), (_softplus(score) * by.score_error).sqrt()
    return _softplus(value / 2) * by.value_error**0.5, _softplus(score / 2) * by.score_error**0.5


def _softplus(x: Tensor) -> Tensor:
    return F.softplus(x, threshold=40.0)


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


def _activate(norm: nn.Module, kind: Activation, x: Tensor, board: BoardMask | None) -> Tensor:
    """The activation of norm(x), zero off the board; may overwrite what `norm` returns."""
    return _FUNCTIONS[kind](normalize(norm, x, board), inplace=True)


def _blocks(blocks: tuple[told.Block, ...]) -> nn.ModuleList:
    return nn.ModuleList(_block(block) for block in blocks)


def _block(block: told.Block) -> nn.Module:
    if isinstance(block, told.OrdinaryBlock):
        return OrdinaryBlock(block)
    return PoolingBlock(block) if isinstance(block, told.PoolingBlock) else BottleneckBlock(block)


def _conv(*convs: Conv) -> nn.Conv2d:
    """One convolution that gives the outputs of all of them; they read the same input, with kernels of one size."""
    weights = np.concatenate([conv.weights for conv in convs], axis=3).transpose(3, 2, 0, 1)  # [out, in, ky, kx]
    outputs, inputs, height, width = weights.shape
    layer: nn.Conv2d = nn.utils.skip_init(  # type: ignore[no-untyped-call]
        nn.Conv2d, inputs, outputs, (height, width), padding=(height // 2, width // 2), bias=False
    )
    return _with(layer, weight=weights)


def _linear(weights: np.ndarray, bias: np.ndarray | None = None) -> nn.Linear:
    layer: nn.Linear = nn.utils.skip_init(  # type: ignore[no-untyped-call]
        nn.Linear, *weights.shape, bias=bias is not None
    )
    return _with(layer, weight=weights.T) if bias is None else _with(layer, weight=weights.T, bias=bias)


def _norm(*norms: Norm) -> MaskedBatchNorm2d:
    """One norm for the channels of all of them."""
    scales, shifts = zip(*(norm.scale_and_shift() for norm in norms), strict=True)
    scale = np.concatenate(scales)
    # Its statistics are in its scale, as KataGo's own files have it; 1e-20 is the epsilon they have then.
    return _with(MaskedBatchNorm2d(len(scale), eps=1e-20), weight=scale, bias=np.concatenate(shifts))


def _with(layer: Layer, **values: np.ndarray) -> Layer:
    """The layer, with these weights."""
    with torch.no_grad():
        for name, value in values.items():
            getattr(layer, name).copy_(torch.from_numpy(np.ascontiguousarray(value)))
    return layer
