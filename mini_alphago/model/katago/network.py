"""What a KataGo network computes, and what its numbers mean."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from ..base import Network, NetworkOutput, check_planes
from ..blocks import BoardMask, board_mask, clear_off_board
from ..presets import NetworkConfig, katago_file_config
from . import description as told
from .features import DECODING, PLANES
from .metadata import profile_row, with_area
from .parts import MetadataEncoder, PolicyHead, ValueHead, activate_as, make_blocks, make_conv, make_linear, make_norm


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


OPTIMISM = 0.2
"""The share of the optimistic policy, where there is one, in the policy that is searched: KataGo's at the root."""

PROFILE = "rank_9d"
"""Who plays, to networks that want to know."""


class KataGoFileNetwork(Network):
    """A network of exactly KataGo's architecture, in float32 on the CPU, in eval mode.

    To training and search it is like any other: its planes are those of `katago-v7`, the last of which holds the global
    inputs. `forward` and `values` are KataGo's own view of it.
    """

    decoding: Tensor
    profile: Tensor

    def __init__(self, network: told.Description, config: NetworkConfig | None = None) -> None:
        """config: what to build its like from; None for a file, which is its own only description."""
        super().__init__()
        trunk = network.trunk
        self.config = config or katago_file_config(len(trunk.blocks), trunk.channels, network.pass_alive_suicide)
        self.name, self.version, self.multipliers = network.name, network.version, network.multipliers
        self.trunk_sizes, self.pass_alive_suicide = trunk.sizes, network.pass_alive_suicide
        self.initial_conv = make_conv(trunk.initial)
        self.global_inputs = make_linear(trunk.globals.weights)
        self.metadata = None if trunk.metadata is None else MetadataEncoder(trunk.metadata)
        self.blocks = make_blocks(trunk.blocks)
        self.final_act = trunk.tip.act.kind
        self.final_bn = make_norm(trunk.tip.norm)
        self.policy_head = PolicyHead(network.policy)
        self.value_head = ValueHead(network.value)
        self.register_buffer("decoding", torch.from_numpy(DECODING.copy()), persistent=False)
        self.register_buffer("profile", torch.from_numpy(profile_row(PROFILE)), persistent=False)
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
        return self._answers(self._trunk(spatial, global_inputs, metadata, board), board)

    def outputs_and_trunk(self, x: Tensor, mask: Tensor | None = None) -> tuple[NetworkOutput, Tensor]:
        """See Network. The value is win − loss, the score is the lead."""
        check_planes(x, self.config)
        board = board_mask(mask)
        numbers, metadata = self._inputs(x, mask)
        trunk = self._trunk(x[:, :PLANES], numbers, metadata, board)
        raw = self._answers(trunk, board)
        can_be_void = _can_be_void(numbers)
        none = raw.value[:, 2].masked_fill(~can_be_void, -1e4)
        win, loss, no_result = torch.stack((raw.value[:, 0], raw.value[:, 1], none), dim=1).softmax(dim=1).unbind(1)
        optimism = OPTIMISM if self.metadata is None else 0.0
        lead = raw.score[:, 2] * self.multipliers.lead * (1.0 - no_result)
        return NetworkOutput(mix_policies(raw.policy, optimism), win - loss, lead, torch.tanh(raw.ownership)), trunk

    def explain(self, x: Tensor, mask: Tensor | None = None) -> Values:
        """All that the network knows of planes [B, 23, N, N]; mask as for `outputs`."""
        numbers, metadata = self._inputs(x, mask)
        return self.values(self(x[:, :PLANES], numbers, mask, metadata), _can_be_void(numbers))

    def _inputs(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Global inputs [B, 19] and, for networks that read it, metadata [B, 192]."""
        numbers = x[:, PLANES].flatten(1)[:, : len(self.decoding)] @ self.decoding
        return numbers, None if self.metadata is None else with_area(self.profile, x, mask)

    def _trunk(self, spatial: Tensor, numbers: Tensor, metadata: Tensor | None, board: BoardMask | None) -> Tensor:
        bias = self.global_inputs(numbers)
        if self.metadata is not None:
            bias = bias + self.metadata(metadata)
        x = self.initial_conv(clear_off_board(spatial, board)) + bias[:, :, None, None]
        for block in self.blocks:
            x = block(x, board)
        return activate_as(self.final_bn, self.final_act, x, board)

    def _answers(self, x: Tensor, board: BoardMask | None) -> RawOutput:
        return RawOutput(self.policy_head(x, board), *self.value_head(x, board))

    def values(self, raw: RawOutput, can_be_void: Tensor | bool) -> Values:
        """`read_values` of this network's own answers."""
        return read_values(raw, self.version, self.multipliers, can_be_void)


def _can_be_void(numbers: Tensor) -> Tensor:
    """[B] bool: whether a game can end without a result, under a simple ko rule or territory scoring."""
    return (numbers[:, 6] == 0) | (numbers[:, 9] != 0)


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
