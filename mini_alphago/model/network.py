"""The two families of networks: the tutorial's `PolicyValueNetwork` and the architecture document's `KataGoNetwork`.

Training and search call `network.outputs(x, mask)`, the same for both. `forward` gives what the two documents promise.
KataGo's own, with its inputs and its exact architecture, is in `katago/network.py`.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .base import Network, NetworkOutput, check_board, check_planes
from .blocks import (
    BoardMask,
    GlobalPoolingBlock,
    MaskedBatchNorm2d,
    PostActivationBlock,
    ResidualBlock,
    activate,
    board_mask,
    clear_off_board,
    conv1x1,
    conv3x3,
)
from .heads import (
    OwnershipHead,
    PolicyHead,
    PooledPolicyHead,
    ScoreHead,
    ValueHead,
    full_precision,
    move_logits,
    small_,
)
from .presets import Heads, NetworkConfig, katago_config, tutorial_config


class PolicyValueNetwork(Network):
    """The tutorial's dual-head network, for one board size: post-activation blocks, linear layers over all points.

    Its state dict has the tutorial's names, less the convolutions' biases, which the batch norms make idle. A state
    dict that has them loads all the same, and gives the same answers.
    """

    def __init__(
        self, board_size: int = 9, input_channels: int = 7, num_filters: int = 64, num_blocks: int = 4
    ) -> None:
        super().__init__()
        self.config = tutorial_config(num_blocks, num_filters, board_size=board_size, input_planes=input_channels)
        self.board_size = board_size
        points = board_size * board_size
        self.conv_input = conv3x3(input_channels, num_filters)
        self.bn_input = MaskedBatchNorm2d(num_filters)
        self.residual_blocks = nn.ModuleList(PostActivationBlock(num_filters) for _ in range(num_blocks))
        self.policy_conv = conv1x1(num_filters, 2)
        self.policy_bn = MaskedBatchNorm2d(2)
        self.policy_fc = nn.Linear(2 * points, points + 1)
        self.value_conv = conv1x1(num_filters, 1)
        self.value_bn = MaskedBatchNorm2d(1)
        self.value_fc1 = nn.Linear(points, self.config.value_hidden)
        self.value_fc2 = nn.Linear(self.config.value_hidden, 1)
        small_(self.policy_fc)
        small_(self.value_fc2)
        self.register_load_state_dict_pre_hook(_absorb_conv_biases)  # type: ignore[no-untyped-call]

    def outputs_and_trunk(self, x: Tensor, mask: Tensor | None = None) -> tuple[NetworkOutput, Tensor]:
        """See Network; N is the network's board size, and there is neither score nor ownership.

        Linear layers know each point by its place, so a smaller board, unlike in a network with pooled heads, is a game
        of its own to this network.
        """
        check_planes(x, self.config)
        board = board_mask(mask)
        x = activate(self.bn_input, self.conv_input(clear_off_board(x, board)), board)
        for block in self.residual_blocks:
            x = block(x, board)
        return self._answers(x, board), x

    def _answers(self, x: Tensor, board: BoardMask | None) -> NetworkOutput:
        policy: Tensor = self.policy_fc(activate(self.policy_bn, self.policy_conv(x), board).flatten(1))
        value: Tensor = self.value_fc1(activate(self.value_bn, self.value_conv(x), board).flatten(1))
        value = full_precision(self.value_fc2(F.relu(value, inplace=True)))
        points = self.board_size * self.board_size
        logits = move_logits(policy[:, :points], policy[:, points:], board)
        return NetworkOutput(logits, torch.tanh(value).squeeze(1), None, None)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Planes [B, C, N, N] → (log-probabilities of moves [B, N² + 1], pass last; value [B, 1] in [−1, 1])."""
        out = self.outputs(x, mask)
        return F.log_softmax(out.policy, dim=1), out.value.unsqueeze(1)


def _absorb_conv_biases(module: nn.Module, state_dict: dict[str, Any], prefix: str, *_: object) -> None:
    """Moves the convolutions' biases of a state dict, as the tutorial writes it, into the batch norms behind them."""
    # norm(y + bias) with running mean m is norm(y) with running mean m − bias.
    for key in [key for key in state_dict if key.startswith(prefix) and key.endswith(".bias")]:
        mean_key = prefix + key[len(prefix) : -len("bias")].replace("conv", "bn") + "running_mean"
        if "conv" in key[len(prefix) :] and mean_key in state_dict:
            state_dict[mean_key] = state_dict[mean_key] - state_dict.pop(key)


def create_network(board_size: int = 9) -> PolicyValueNetwork:
    """The tutorial's network: 7 planes, 4 blocks of 64 filters."""
    return PolicyValueNetwork(board_size=board_size, input_channels=7, num_filters=64, num_blocks=4)


class KataGoNetwork(Network):
    """The architecture document's network: pre-activation blocks, some of which pool globally, and four heads.

    heads: `pooled` for all board sizes, `fc` for `board_size` only.
    pooling_blocks: which blocks pool, counted from 1; None for about every third, () for none.
    pool_channels, head_channels, value_hidden: see NetworkConfig; None for what suits the size.
    """

    def __init__(
        self,
        num_blocks: int = 18,
        channels: int = 384,
        *,
        board_size: int = 19,
        input_planes: int = 22,
        heads: Heads = "pooled",
        pooling_blocks: Sequence[int] | None = None,
        pool_channels: int | None = None,
        head_channels: int | None = None,
        value_hidden: int | None = None,
    ) -> None:
        super().__init__()
        self.config = config = katago_config(
            num_blocks,
            channels,
            board_size=board_size,
            input_planes=input_planes,
            heads=heads,
            pooling_blocks=pooling_blocks,
            pool_channels=pool_channels,
            head_channels=head_channels,
            value_hidden=value_hidden,
        )
        self.initial_conv = conv3x3(input_planes, channels)
        self.initial_bn = MaskedBatchNorm2d(channels)
        self.blocks = nn.ModuleList(
            GlobalPoolingBlock(channels, config.pool_channels)
            if i in config.pooling_blocks
            else ResidualBlock(channels)
            for i in range(1, num_blocks + 1)
        )
        # The document has no such norm; but a pre-activation tower adds up unnormalized, and every head reads the sum.
        self.final_bn = MaskedBatchNorm2d(channels)
        head, hidden = config.head_channels, config.value_hidden
        scalar_channels = head if heads == "pooled" else 1
        self.policy_head: nn.Module
        if config.board_size is None:
            self.policy_head = PooledPolicyHead(channels, head)
        else:
            self.policy_head = PolicyHead(channels, config.board_size)
        self.value_head = ValueHead(channels, config.board_size, scalar_channels, hidden)
        self.score_head = ScoreHead(channels, config.board_size, scalar_channels, hidden)
        self.ownership_head = OwnershipHead(channels, head)

    def outputs_and_trunk(self, x: Tensor, mask: Tensor | None = None) -> tuple[NetworkOutput, Tensor]:
        """See Network.

        With pooled heads a board gives the same answers alone and masked in a larger tensor, in training too if all
        boards of the batch are the same.
        """
        check_planes(x, self.config)
        board = board_mask(mask)
        x = activate(self.initial_bn, self.initial_conv(clear_off_board(x, board)), board)
        for block in self.blocks:
            x = block(x, board)
        x = activate(self.final_bn, x, board)
        answers = NetworkOutput(
            policy=self.policy_head(x, board),
            value=self.value_head(x, board).squeeze(1),
            score=self.score_head(x, board).squeeze(1),
            ownership=self.ownership_head(x, board),
        )
        return answers, x

    def forward(self, x: Tensor, mask: Tensor | None = None) -> dict[str, Tensor]:
        """Planes [B, C, N, N] → what the document names, for the player to move.

        `policy` [B, N² + 1] probabilities, pass last; `value` [B, 1] in [−1, 1]; `score` [B, 1] points; `ownership`
        [B, N²] in [−1, 1].
        """
        out = self.outputs(x, mask)
        assert out.score is not None
        assert out.ownership is not None
        return {
            "policy": F.softmax(out.policy, dim=1),
            "value": out.value.unsqueeze(1),
            "score": out.score.unsqueeze(1),
            "ownership": out.ownership,
        }


def build_network(config: NetworkConfig) -> Network:
    """A new, untrained network of this shape; its `config` equals the one given."""
    if config.encoding.startswith("katago-v7"):
        from .katago.fresh import build_katago  # which imports from here

        return build_katago(config)
    if config.family == "tutorial":
        assert config.board_size is not None
        return PolicyValueNetwork(config.board_size, config.input_planes, config.channels, config.blocks)
    return KataGoNetwork(
        config.blocks,
        config.channels,
        board_size=config.board_size or 19,
        input_planes=config.input_planes,
        heads=config.heads,
        pooling_blocks=config.pooling_blocks,
        pool_channels=config.pool_channels,
        head_channels=config.head_channels,
        value_hidden=config.value_hidden,
    )


def count_parameters(network: nn.Module) -> int:
    """How many numbers training changes (so not the batch norms' running statistics)."""
    return sum(parameter.numel() for parameter in network.parameters())


def count_flops(network: Network, board_size: int) -> int:
    """Floating-point operations for one position: twice the multiply-adds of convolutions and linear layers.

    Read off the layers' shapes, so a network on the `meta` device will do, and no size needs memory:
    `with torch.device("meta"): count_flops(build_network(config), 19)`. ValueError if fc heads fit another board size.
    """
    check_board(board_size, board_size, network.config)
    points = board_size * board_size
    multiply_adds = 0
    for layer in network.modules():  # each is used once for a position, and convolutions keep the board's size
        if isinstance(layer, nn.Conv2d):
            multiply_adds += layer.weight.numel() * points
        elif isinstance(layer, nn.Linear):
            multiply_adds += layer.weight.numel()
    return 2 * multiply_adds
