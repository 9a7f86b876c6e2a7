"""What all networks have in common."""

from typing import NamedTuple

from torch import Tensor, nn

from .presets import NetworkConfig


class NetworkOutput(NamedTuple):
    """What a network says of a batch of positions, for the player to move; float32 also from half-precision weights."""

    policy: Tensor  # [B, N² + 1] logits, pass last; OFF_BOARD_LOGIT at points off the board
    value: Tensor  # [B] in [−1, 1]
    score: Tensor | None  # [B] points; None if the network has no such head
    ownership: Tensor | None  # [B, N²] in [−1, 1], 0 off the board; None likewise


class Network(nn.Module):
    """A network that search and training can ask: logits, never the log of a softmax."""

    config: NetworkConfig  # all that `build_network` needs to make its like

    def outputs(self, x: Tensor, mask: Tensor | None = None) -> NetworkOutput:
        """Planes [B, C, N, N] → NetworkOutput.

        mask [B, 1, N, N] is true on the board, None if boards fill the tensor.
        """
        return self.outputs_and_trunk(x, mask)[0]

    def outputs_and_trunk(self, x: Tensor, mask: Tensor | None = None) -> tuple[NetworkOutput, Tensor]:
        """`outputs`, and what all heads look at, [B, channels, N, N]."""
        raise NotImplementedError


def check_planes(x: Tensor, config: NetworkConfig) -> None:
    """ValueError unless such a network takes planes of this shape."""
    # Shapes are known without waiting for the device, and compiling removes the check.
    planes, height, width = x.shape[1:]
    if planes != config.input_planes:
        raise ValueError(f"this network takes {config.input_planes} planes ({config.encoding}), not {planes}")
    check_board(height, width, config)


def check_board(height: int, width: int, config: NetworkConfig) -> None:
    """ValueError unless such a network takes boards of this size."""
    if height != width or (config.board_size is not None and width != config.board_size):
        size = config.board_size or "N"
        raise ValueError(f"this network takes boards of {size}×{size}, not {height}×{width}")
