"""What a network is told of its errors, worked out by hand.

Two positions on a board of 2×2 with five moves; each number below can be checked with a pencil.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from mini_alphago.model import NetworkOutput
from mini_alphago.training.samples import Batch
from mini_alphago.training.trainer import losses

from .made_up import PLAIN, random_batch

pytestmark = pytest.mark.usefixtures("one_thread")


def by_hand(counted: Tensor | None = None) -> tuple[NetworkOutput, Batch]:
    out = NetworkOutput(
        policy=torch.log(torch.tensor([[0.5, 0.25, 0.25, 1e-9, 1e-9], [0.2, 0.2, 0.2, 0.2, 0.2]])),
        value=torch.tensor([0.5, -1.0]),
        score=torch.tensor([3.0, -6.0]),
        ownership=torch.tensor([[1.0, 1.0, 0.0, 0.0], [0.5, 0.5, 0.5, 0.5]]),
    )
    batch = Batch(
        planes=torch.zeros(2, 22, 2, 2),
        policy=torch.tensor([[1.0, 0.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0, 0.0]]),
        value=torch.tensor([1.0, 1.0]),
        score=torch.tensor([2.0, 2.0]),
        ownership=torch.tensor([[1.0, 1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]]),
        counted=counted,
    )
    return out, batch


def test_policy_loss_is_the_divergence_from_the_target() -> None:
    found = losses(*by_hand(), PLAIN)
    # Cross-entropies log 2 and log 5, less the target's entropies 0 and log 2.
    assert found["policy_loss"].item() == pytest.approx((math.log(2) + math.log(5) - math.log(2)) / 2, rel=1e-5)
    assert found["target_entropy"].item() == pytest.approx(math.log(2) / 2)
    # 0.5 log 2 + 2 · 0.25 log 4 of the first, log 5 of the second.
    assert found["policy_entropy"].item() == pytest.approx((1.5 * math.log(2) + math.log(5)) / 2, rel=1e-5)


def test_policy_loss_is_zero_for_a_perfect_policy() -> None:
    batch = random_batch(8)
    out = NetworkOutput(torch.log(batch.policy) + 3.0, batch.value, None, None)  # logits are free up to a constant
    found = losses(out, batch, PLAIN)
    assert found["policy_loss"].item() == pytest.approx(0, abs=1e-6)
    assert found["value_loss"].item() == 0
    assert found["policy_entropy"].item() == pytest.approx(found["target_entropy"].item(), rel=1e-5)


def test_value_loss_is_the_squared_error() -> None:
    assert losses(*by_hand(), PLAIN)["value_loss"].item() == pytest.approx((0.25 + 4) / 2)


def test_score_loss_is_huber_in_board_sizes() -> None:
    # Errors of 1 and -8 points are 0.5 and -4 boards of 2: 0.5² / 2, and 4 - 0.5 on the straight part.
    assert losses(*by_hand(), PLAIN)["score_loss"].item() == pytest.approx((0.125 + 3.5) / 2)


def test_ownership_loss_is_the_squared_error_of_each_point() -> None:
    first, second = (0 + 0 + 1 + 1) / 4, (0.25 + 0.25 + 2.25 + 2.25) / 4
    assert losses(*by_hand(), PLAIN)["ownership_loss"].item() == pytest.approx((first + second) / 2)


@pytest.mark.parametrize(("counted", "row"), [([1.0, 0.0], 0), ([0.0, 1.0], 1)])
def test_score_and_ownership_count_only_where_the_game_was_counted(counted: list[float], row: int) -> None:
    found = losses(*by_hand(torch.tensor(counted)), PLAIN)
    assert found["score_loss"].item() == pytest.approx([0.125, 3.5][row])
    assert found["ownership_loss"].item() == pytest.approx([0.5, 1.25][row])
    everything = losses(*by_hand(), PLAIN)
    assert found["policy_loss"].item() == everything["policy_loss"].item()
    assert found["value_loss"].item() == everything["value_loss"].item()


def test_a_batch_of_resigned_games_has_no_score_loss() -> None:
    found = losses(*by_hand(torch.zeros(2)), PLAIN)
    assert found["score_loss"].item() == 0
    assert found["ownership_loss"].item() == 0


def test_the_total_is_the_weighted_sum() -> None:
    found = losses(*by_hand(), replace(PLAIN, value_weight=2.0, score_weight=0.3, ownership_weight=0.7))
    parts = [found[f"{name}_loss"].item() for name in ("policy", "value", "score", "ownership")]
    assert found["total_loss"].item() == pytest.approx(np.dot(parts, [1, 2.0, 0.3, 0.7]))


def test_without_those_heads_there_are_no_such_losses() -> None:
    out, batch = by_hand()
    found = losses(out._replace(score=None, ownership=None), batch, PLAIN)
    assert "score_loss" not in found
    assert found["total_loss"].item() == pytest.approx(found["policy_loss"].item() + found["value_loss"].item())
