"""What comes back when a network is asked; a search needs to know this of it, and not PyTorch."""

from typing import NamedTuple

import numpy as np


class Evaluation(NamedTuple):
    """What a network says of a batch of positions, for the player to move in each. W is the width of the tensor."""

    policy: np.ndarray  # [B, W² + 1] float32 logits, the pass last
    value: np.ndarray  # [B] float32 in [-1, 1]
    score: np.ndarray | None  # [B] float32 points; None if the network does not say
    ownership: np.ndarray | None  # [B, W²] float32 in [-1, 1]; None likewise
