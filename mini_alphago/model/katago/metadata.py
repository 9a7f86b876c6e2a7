"""What networks that imitate people are told of the players: 192 numbers."""

import math
from datetime import date

import numpy as np
import torch
from torch import Tensor

from .description import METADATA_INPUTS

_RANKS = [*(f"{dan}d" for dan in range(9, 0, -1)), *(f"{kyu}k" for kyu in range(1, 26))]
_AREA = 86
_BYO_YOMI, _KGS = 79, 153


def profile_row(profile: str) -> np.ndarray:
    """[192] float32 of KataGo's profile `rank_5k` or the like: two people of that rank, on KGS, in March 2020.

    The board's area is still missing: see `with_area`. ValueError for another profile.
    """
    rank = profile.removeprefix("rank_")
    if rank not in _RANKS or not profile.startswith("rank_"):
        raise ValueError(f"{profile!r} is no profile: it is rank_9d … rank_1d, rank_1k … rank_25k")
    row = np.zeros(METADATA_INPUTS, np.float32)
    row[0:2] = 1  # both are people
    steps = _RANKS.index(rank) + 1
    row[6 : 6 + steps] = row[40 : 40 + steps] = 1
    row[74] = 0.5  # whether it is rated is not known
    row[_BYO_YOMI] = 1
    row[82] = 0.4 * (math.log(1200 + 60) - 6.5)  # seconds of main time
    row[83] = 0.3 * (math.log(30 + 1) - 3)  # of a period
    row[84] = 0.5 * (math.log(5 + 2) - 1.5)  # periods
    row[85] = 0.25 * (math.log(0 + 2) - 1.5)  # stones in a period
    days = (date(2020, 3, 1) - date(1970, 1, 1)).days
    for i in range(32):
        angle = 2 * math.pi * days / (7 * 80000 ** (i / 31))
        row[87 + 2 * i : 89 + 2 * i] = math.cos(angle), math.sin(angle)
    row[_KGS] = 1
    return row


def with_area(row: Tensor, x: Tensor, mask: Tensor | None) -> Tensor:
    """That row for each of the boards in planes `x`, [B, 192]; mask as for `Network.outputs`."""
    whole = torch.ones_like(x[:, :1]) if mask is None else mask
    area = whole.float().sum(dim=(1, 2, 3))
    there = (torch.arange(METADATA_INPUTS, device=row.device) == _AREA).to(row.dtype)
    # Added, not written to so many copies: a model traced from this would take their number for fixed.
    return row + (0.5 * torch.log(area / 361)).to(row.dtype).unsqueeze(1) * there
