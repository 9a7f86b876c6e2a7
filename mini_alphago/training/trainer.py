"""`Trainer`: a network learns from positions, what the search said of them, and how their games ended."""

import copy
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..files import write_atomically
from ..model import (
    Checkpoint,
    Network,
    NetworkOutput,
    PolicyHead,
    PooledPolicyHead,
    get_encoding,
    load_checkpoint,
    save_checkpoint,
)
from ..model.evaluator import cpu_has_bf16
from .config import LearningSettings
from .graphed import GraphedStep
from .muon import Muon
from .samples import Batch

TUTORIAL = LearningSettings(
    batch_size=32, optimizer="adamw", warmup_steps=0, weight_decay=0.0, clip=0.0, ema=0.0, value_weight=1.0,
    search_value=0.0, precision="f32",
)  # fmt: skip
"""What the tutorial does: Adam, and the sum of both losses."""
_FLAT_UNTIL = 0.5  # of the run the learning rate stays where it is; then it falls


def count_known(known: Tensor) -> Tensor:
    """How many positions, [B] of 0 and 1, a mean is over; at least 1."""
    return known.sum().clamp(min=1)


def losses(
    out: NetworkOutput,
    batch: Batch,
    settings: LearningSettings,
    extra: dict[str, Tensor] | None = None,
    count: Callable[[Tensor], Tensor] = count_known,
) -> dict[str, Tensor]:
    """What there is to minimise, means over the batch; `total_loss` is their weighted sum.

    policy_loss: KL divergence from the target, as in the tutorial: cross-entropy less the target's own entropy, which
    is no matter to the gradient, so that a perfect policy has 0. value_loss: squared error. score_loss: Huber loss of
    the error in board sizes. ownership_loss: squared error, mean over points. These two count only where the game was
    counted. reply_loss, soft_loss: as policy_loss, for the opponent's answer, where it is known, and for the target to
    the power ¼, if the logits of such heads are in `extra`, as "reply" and "soft".
    count: over how many positions a mean is, of what `counted` and `replied` say.
    """
    log_policy = F.log_softmax(out.policy, dim=1)
    policy_loss = _divergence(batch.policy, log_policy).mean()
    value_loss = F.mse_loss(out.value, batch.value)
    parts = {
        "policy_loss": policy_loss,
        "value_loss": value_loss,
        "policy_entropy": -(log_policy.exp() * log_policy).sum(dim=1).mean(),
        "target_entropy": _entropy(batch.policy).mean(),
    }
    total = policy_loss + settings.value_weight * value_loss
    if out.score is not None and batch.score is not None and out.ownership is not None and batch.ownership is not None:
        counted = torch.ones_like(batch.score) if batch.counted is None else batch.counted
        share = counted / count(counted)
        size = batch.planes.shape[-1]
        parts["score_loss"] = (share * F.huber_loss(out.score / size, batch.score / size, reduction="none")).sum()
        parts["ownership_loss"] = (share * (out.ownership - batch.ownership).square().mean(dim=1)).sum()
        total = total + settings.score_weight * parts["score_loss"]
        total = total + settings.ownership_weight * parts["ownership_loss"]
    extra = extra or {}
    if "reply" in extra and batch.reply is not None and batch.replied is not None:
        divergence = _divergence(batch.reply, F.log_softmax(extra["reply"], dim=1))
        parts["reply_loss"] = (divergence * batch.replied).sum() / count(batch.replied)
        total = total + settings.reply_weight * parts["reply_loss"]
    if "soft" in extra:
        parts["soft_loss"] = _divergence(_soften(batch.policy), F.log_softmax(extra["soft"], dim=1)).mean()
        total = total + settings.soft_weight * parts["soft_loss"]
    return {"total_loss": total, **parts}


def _entropy(policy: Tensor) -> Tensor:
    """[B] of policies [B, A]."""
    return -torch.xlogy(policy, policy).sum(dim=1)


def _divergence(target: Tensor, log_policy: Tensor) -> Tensor:
    """[B]: KL divergences of policies, as logarithms, from their targets, both [B, A]."""
    return -(target * log_policy).sum(dim=1) - _entropy(target)


def _soften(policy: Tensor) -> Tensor:
    """Policies [B, A] to the power ¼: what is said of moves that are not the best counts too."""
    powers = policy.sqrt().sqrt()
    return powers / powers.sum(dim=1, keepdim=True)


class Trainer:
    """Trains a network, in place, on the device where it is.

    settings: everything else about learning; without them it learns as in the tutorial.
    """

    def __init__(
        self, network: Network, learning_rate: float = 0.001, settings: LearningSettings | None = None
    ) -> None:
        self.network = network
        self.settings = settings or TUTORIAL
        self.learning_rate = learning_rate
        self.device = next(network.parameters()).device
        if self.device.type == "cuda":
            network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.steps = 0
        self.extra_heads = _extra_heads(network, self.settings).to(self.device)
        self._bf16 = self._wants_bf16()
        self.optimizer = self._make_optimizer()
        self.average: Network = copy.deepcopy(network).eval().requires_grad_(False) if self.settings.ema else network
        states = zip(self.average.state_dict().values(), network.state_dict().values(), strict=True)
        self._averaged = [(mean, now) for mean, now in states if mean is not now]
        self._scale = None
        if network.config.encoding != "custom":
            scale = get_encoding(network.config.encoding).scale
            self._scale = torch.from_numpy(scale).view(1, -1, 1, 1).to(self.device)
        capturable = self.device.type == "cuda" and self.settings.optimizer != "sgd"
        self._graphed = GraphedStep(self._compute, self.device) if capturable else None

    def _wants_bf16(self) -> bool:
        if self.settings.precision != "auto":
            return self.settings.precision == "bf16"
        if self.device.type == "cuda":  # cards before Ampere only pretend to have it
            return torch.cuda.get_device_capability(self.device)[0] >= 8
        return self.device.type == "cpu" and cpu_has_bf16()

    def _parameters(self) -> list[nn.Parameter]:
        return [*self.network.parameters(), *self.extra_heads.parameters()]

    def _make_optimizer(self) -> torch.optim.Optimizer:
        decayed = [p for p in self._parameters() if p.ndim > 1]
        others = [p for p in self._parameters() if p.ndim <= 1]
        groups: list[dict[str, Any]] = [
            {"params": decayed, "weight_decay": self.settings.weight_decay}, {"params": others, "weight_decay": 0.0}
        ]  # fmt: skip
        if self.settings.optimizer == "sgd":
            return torch.optim.SGD(groups, lr=self.learning_rate, momentum=0.9, nesterov=True)
        kind = torch.optim.AdamW
        if self.settings.optimizer == "muon":
            kind, tower = Muon, {id(p) for p in _tower(self.network)}
            turned = [p for p in decayed if id(p) in tower]
            groups[0]["params"] = [p for p in decayed if id(p) not in tower]
            decay, bf16 = self.settings.weight_decay, self._bf16 and self.device.type == "cuda"
            groups.append({"params": turned, "weight_decay": decay, "turned": True, "bf16": bf16})
        if self.device.type != "cuda":
            return kind(groups, lr=self.learning_rate)
        rate = torch.tensor(self.learning_rate, device=self.device)  # a captured step reads it there
        return kind(groups, lr=rate, fused=True, capturable=True)

    # --- learning ---------------------------------------------------------------------------------------------------

    def set_progress(self, progress: float) -> None:
        """Set the learning rate for this place in the run, 0 its beginning, 1 its end."""
        warmup = min(1.0, (self.steps + 1) / (self.settings.warmup_steps + 1))
        late = max(0.0, min(1.0, progress) - _FLAT_UNTIL) / (1 - _FLAT_UNTIL)
        for group in self.optimizer.param_groups:
            rate = self.learning_rate * warmup * (1 - (1 - self.settings.final_rate) * late)
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    @property
    def current_rate(self) -> float:
        """The learning rate of the last step."""
        return float(self.optimizer.param_groups[0]["lr"])

    def train_step(self, batch: Batch | Sequence[Tensor]) -> dict[str, float]:
        """One step on a `Batch`, or on the tutorial's (features, target_policy, target_value); returns the losses."""
        return {name: float(loss) for name, loss in self.step(batch).items()}

    def step(self, batch: Batch | Sequence[Tensor]) -> dict[str, Tensor]:
        """`train_step` that leaves the losses on the device, so that nobody waits for them.

        FloatingPointError is raised by whoever reads a loss that is not finite: see `check_finite`.
        """
        batch = batch if isinstance(batch, Batch) else Batch(*batch)
        if batch.planes.dtype == torch.int8 and self._scale is None:
            raise ValueError("a network with a custom encoding learns from float planes only")
        parts = self._graphed(batch) if self._graphed else self._compute(batch.to(self.device))
        self.steps += 1
        self._update_average()
        return parts

    def _compute(self, batch: Batch) -> dict[str, Tensor]:
        """All of a step that happens on the device."""
        planes = batch.planes
        if planes.dtype == torch.int8 and self._scale is not None:
            planes = planes.float() * self._scale
        self.network.train()
        self.optimizer.zero_grad(set_to_none=True)
        # No cache of rounded weights: a captured step must round them each time.
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._bf16, cache_enabled=False):
            out, trunk = self.network.outputs_and_trunk(planes.contiguous(memory_format=torch.channels_last))
            extra = {name: head(trunk) for name, head in self.extra_heads.items()}
        parts = losses(out, batch, self.settings, extra, self._count)
        parts["total_loss"].backward()  # type: ignore[no-untyped-call]
        found = self._gather({name: part.detach() for name, part in parts.items()})
        if self.settings.clip:
            nn.utils.clip_grad_norm_(self._parameters(), self.settings.clip)
        self.optimizer.step()
        return found

    # Where several processes share a batch, these two see to it that all of it counts: see group.py.

    def _count(self, known: Tensor) -> Tensor:
        return count_known(known)

    def _gather(self, parts: dict[str, Tensor]) -> dict[str, Tensor]:
        """The losses of the whole batch; gradients are in place, and become those of the whole batch."""
        return parts

    @torch.no_grad()
    def _update_average(self) -> None:
        if not self._averaged:
            return
        # Early on the average is to forget the random start quickly.
        keep = min(self.settings.ema, (1 + self.steps) / (10 + self.steps))
        numbers = [pair for pair in self._averaged if pair[0].is_floating_point()]
        torch._foreach_lerp_([mean for mean, _ in numbers], [now for _, now in numbers], 1 - keep)
        for mean, now in self._averaged:
            if not mean.is_floating_point():
                mean.copy_(now)

    def train_epoch(self, data: Sequence[dict[str, Any]], batch_size: int = 32) -> float:
        """Once through `data` in random order, as `generate_training_data` gives it; returns the mean total loss."""
        if not data:
            raise ValueError("there is nothing to learn from: data is empty")
        features = torch.from_numpy(np.stack([d["features"] for d in data]).astype(np.float32))
        policy = torch.from_numpy(np.stack([d["policy"] for d in data]).astype(np.float32))
        value = torch.tensor([float(d["value"]) for d in data])
        found = []
        for rows in torch.split(torch.randperm(len(data)), batch_size):
            if len(rows) > 1 or len(data) == 1:  # batch norm cannot learn from a single position
                found.append(self.train_step(Batch(features[rows], policy[rows], value[rows]))["total_loss"])
        return float(np.mean(found))

    def check_weights(self) -> None:
        """FloatingPointError if some weight is not a finite number: the last step's damage shows in no loss yet."""
        if not all(bool(torch.isfinite(tensor).all()) for tensor in self.network.state_dict().values()):
            check_finite({"a weight": float("nan")})

    def close(self) -> None:
        """No more steps are taken: end what was started for them."""

    # --- to disk and back -------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], checkpoint: Checkpoint | None = None) -> None:
        """Write the network (its averaged weights, if there are any), atomically.

        A checkpoint; or, if the name ends in `.pt`, weights alone, as the tutorial has them: for its network only.
        """
        if Path(path).suffix not in (".pt", ".pth"):
            save_checkpoint(path, self.average, checkpoint)
            return
        if self.network.config.family != "tutorial":
            raise ValueError(f"{path}: a .pt file holds the tutorial's network only; name it .safetensors")
        data = io.BytesIO()
        torch.save(self.average.state_dict(), data)
        write_atomically(path, data.getvalue())

    def load(self, path: str | os.PathLike[str]) -> None:
        """Take the weights of a file that `save` wrote, for a network of the same shape. CheckpointError if not."""
        network, checkpoint = load_checkpoint(path)
        if checkpoint.config != self.network.config:
            raise ValueError(f"{path} has a network of another shape: {checkpoint.config.size}")
        self.network.load_state_dict(network.state_dict())
        if self.average is not self.network:
            self.average.load_state_dict(network.state_dict())

    def state(self) -> dict[str, Tensor]:
        """Everything needed to go on exactly: weights, averaged weights, the optimizer's memory, steps."""
        tensors = {f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}
        if self.average is not self.network:
            tensors |= {f"average.{name}": tensor for name, tensor in self.average.state_dict().items()}
        for head, module in self.extra_heads.items():
            tensors |= {f"{head}.{name}": tensor for name, tensor in module.state_dict().items()}
        for i, memory in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{i}.{name}": value for name, value in memory.items() if value is not None}
        tensors["steps"] = torch.tensor(self.steps)
        return {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Go on from what `state` gave."""

        def part(prefix: str) -> dict[str, Tensor]:
            return {name[len(prefix) :]: value for name, value in tensors.items() if name.startswith(prefix)}

        self.network.load_state_dict(part("network."))
        if self.average is not self.network:
            self.average.load_state_dict(part("average."))
        for head, module in self.extra_heads.items():
            module.load_state_dict(part(f"{head}."))
        memory: dict[int, dict[str, Tensor]] = {}
        for name, value in part("optimizer.").items():
            i, _, field = name.partition(".")
            memory.setdefault(int(i), {})[field] = value
        self.optimizer.load_state_dict({"state": memory, "param_groups": self.optimizer.state_dict()["param_groups"]})
        for parameter, values in self.optimizer.state.items():
            for field, value in values.items():
                if value.shape == parameter.shape:  # in the weights' own layout, as the fused optimizer wants it
                    values[field] = torch.empty_like(parameter, requires_grad=False).copy_(value)
        self.steps = int(tensors["steps"])
        if self._graphed:
            self._graphed = GraphedStep(self._compute, self.device)  # the optimizer's memory lies elsewhere now


def _tower(network: Network) -> list[nn.Parameter]:
    """The parameters of its residual blocks."""
    names = ("blocks", "residual_blocks")
    return [p for name, module in network.named_children() if name in names for p in module.parameters()]


def _extra_heads(network: Network, settings: LearningSettings) -> nn.ModuleDict:
    """Policy heads like the network's own that are there for learning only, by name; see `losses`."""
    config, weights = network.config, {"reply": settings.reply_weight, "soft": settings.soft_weight}

    def head() -> nn.Module:
        if config.board_size is None:
            return PooledPolicyHead(config.channels, config.head_channels)
        return PolicyHead(config.channels, config.board_size)

    return nn.ModuleDict({name: head() for name, weight in weights.items() if weight})


def check_finite(losses: dict[str, float]) -> None:
    """FloatingPointError if some loss is not a finite number."""
    bad = [name for name, value in losses.items() if not np.isfinite(value)]
    if bad:
        raise FloatingPointError(
            f"training has diverged: {', '.join(bad)} is not finite; a smaller learning rate may help"
        )
