"""Muon: the matrices of a network's tower take steps that turn all directions alike; all else learns with AdamW.

The gradient of a convolution, as a matrix of outputs × (inputs · 9), has a few large singular values, and what is rare
in the data moves the rest only. Muon (Jordan et al., 2024) takes the mean gradient's nearest orthogonal matrix for its
step. Scaled as Liu et al. (2025) do, a step is about as long as one of AdamW at the same learning rate.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

MOMENTUM = 0.95
_QUINTIC = 3.4445, -4.7750, 2.0315  # takes singular values between 0 and 1 to near 1 in five rounds
_ROUNDS = 5
_LENGTH = 0.2  # root mean square of a step, in learning rates, as that of AdamW is found to be


def orthogonalized(matrices: Tensor) -> Tensor:
    """[n, rows, columns], rows at most columns → about the nearest matrices with orthogonal rows of length 1.

    Singular values come out between 0.7 and 1.2, which is good enough for a step; those far below the others do not.
    """
    a, b, c = _QUINTIC
    x = matrices / (matrices.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_ROUNDS):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return x


class Muon(torch.optim.AdamW):
    """AdamW, but the parameters of groups with `turned=True`, matrices or convolutions, learn as described above.

    Such a group may say `bf16=True`: its matrices are multiplied in bfloat16, which is enough, and fast where there are
    units for it.
    """

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """One step. The gradients of the matrices are None afterwards. No closures: gradients are to be there."""
        assert closure is None
        for group in self.param_groups:
            weights = [p for p in group["params"] if p.grad is not None]
            if group.get("turned") and weights:
                _turn(weights, self.state, group)
                for weight in weights:
                    weight.grad = None  # so that AdamW leaves it alone
        return super().step()


def _turn(weights: Sequence[Tensor], state: dict[Tensor, Any], group: dict[str, Any]) -> None:
    """A step of weights that all have gradients."""
    rate = group["lr"]
    alike: dict[torch.Size, list[tuple[Tensor, Tensor]]] = defaultdict(list)
    for weight in weights:
        assert weight.grad is not None
        if weight not in state:  # "step" is never counted: AdamW wants to find one when a state is loaded
            state[weight] = {"step": torch.zeros((), device=weight.device), "mean": torch.zeros_like(weight)}
        mean = state[weight]["mean"].lerp_(weight.grad, 1 - MOMENTUM)
        ahead = weight.grad.lerp(mean, MOMENTUM).flatten(1)  # as Nesterov: about where the mean will be
        alike[ahead.shape].append((weight, ahead))
    for (rows, columns), pairs in alike.items():
        stacked = torch.stack([ahead for _, ahead in pairs])
        if group.get("bf16"):
            stacked = stacked.bfloat16()
        steps = orthogonalized(stacked if rows <= columns else stacked.mT)
        steps = (steps if rows <= columns else steps.mT).float() * (rate * _LENGTH * max(rows, columns) ** 0.5)
        for (weight, _), step in zip(pairs, steps, strict=True):
            weight.mul_(1 - rate * group["weight_decay"]).sub_(step.view_as(weight))
