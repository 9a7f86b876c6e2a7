"""Small KataGo networks that nobody trained: every layer does something, and no two channel counts are the same."""

import itertools

import numpy as np

from mini_alphago.model.katago.description import (
    Block,
    BottleneckBlock,
    Description,
    MetadataEncoder,
    Multipliers,
    OrdinaryBlock,
    PassLayers,
    PolicyHead,
    PoolingBlock,
    Trunk,
    ValueHead,
    policy_channels,
    score_channels,
)
from mini_alphago.model.katago.layers import Act, Activation, Bias, Conv, MatMul, Norm, NormAct

VERSIONS = range(8, 17)
KINDS = ("ordinary", "pooling", "bottleneck")


class _Maker:
    def __init__(self, seed: int, activations: tuple[Activation, ...]) -> None:
        self.random = np.random.default_rng(seed)
        self.activations = itertools.cycle(activations)
        self.norms = itertools.count()

    def floats(self, *shape: int, spread: float = 1.0) -> np.ndarray:
        return self.random.normal(0.0, spread, shape).astype(np.float32)

    def conv(self, name: str, inputs: int, outputs: int, height: int = 3, width: int = 3) -> Conv:
        spread = (height * width * inputs) ** -0.5
        return Conv(name, self.floats(height, width, inputs, outputs, spread=spread))

    def matmul(self, name: str, inputs: int, outputs: int) -> MatMul:
        return MatMul(name, self.floats(inputs, outputs, spread=inputs**-0.5))

    def bias(self, name: str, channels: int) -> Bias:
        return Bias(name, self.floats(channels, spread=0.3))

    def act(self, name: str) -> Act:
        return Act(name, next(self.activations))

    def norm(self, name: str, channels: int) -> NormAct:
        """With and without scale and bias, in turn."""
        number = next(self.norms)
        variance = self.random.uniform(0.5, 2.0, channels).astype(np.float32)
        scale = self.floats(channels) if number % 2 else None
        bias = self.floats(channels, spread=0.3) if number % 3 else None
        epsilon = (1e-20, 0.001)[number % 2]
        return NormAct(Norm(name, epsilon, self.floats(channels), variance, scale, bias), self.act(f"{name}/act"))

    def block(self, kind: str, name: str, channels: int) -> Block:
        pre = self.norm(f"{name}/pre", channels)
        if kind == "ordinary":
            conv1, mid = self.conv(f"{name}/c1", channels, 5), self.norm(f"{name}/mid", 5)
            return OrdinaryBlock(name, pre, conv1, mid, self.conv(f"{name}/c2", 5, channels, 1, 3))
        if kind == "pooling":
            size = 3 if channels > 2 else 1  # in a bottleneck kernels of different sizes
            local, pooled = self.conv(f"{name}/cr", channels, 3), self.conv(f"{name}/cg", channels, 2, size, size)
            pool, bias = self.norm(f"{name}/g", 2), self.matmul(f"{name}/gmul", 6, 3)
            mid = self.norm(f"{name}/mid", 3)
            return PoolingBlock(name, pre, local, pooled, pool, bias, mid, self.conv(f"{name}/c2", 3, channels))
        narrow = self.conv(f"{name}/in", channels, 2, 1, 1)
        inner = tuple(self.block(kind, f"{name}/{i}", 2) for i, kind in enumerate(("pooling", "ordinary")))
        return BottleneckBlock(
            name, pre, narrow, inner, self.norm(f"{name}/post", 2), self.conv(f"{name}/out", 2, channels, 1, 1)
        )

    def metadata(self, channels: int) -> MetadataEncoder:
        return MetadataEncoder(
            "meta",
            192,
            self.matmul("meta/m1", 192, 3),
            self.bias("meta/b1", 3),
            self.act("meta/a1"),
            self.matmul("meta/m2", 3, 2),
            self.bias("meta/b2", 2),
            self.act("meta/a2"),
            self.matmul("meta/m3", 2, channels),
        )

    def policy(self, version: int, channels: int) -> PolicyHead:
        logits = policy_channels(version)
        new = version >= 15
        return PolicyHead(
            "policyhead",
            self.conv("p1", channels, 3, 1, 1),
            self.conv("g1", channels, 2, 1, 1),
            self.norm("g1/norm", 2),
            self.matmul("g1/mul", 6, 3),
            self.norm("p1/norm", 3),
            self.conv("p2", 3, logits, 1, 1),
            self.matmul("pass", 6, 3 if new else logits),
            PassLayers(self.bias("pass/b", 3), self.act("pass/act"), self.matmul("pass2", 3, logits)) if new else None,
        )

    def value(self, version: int, channels: int) -> ValueHead:
        scores = score_channels(version)
        return ValueHead(
            "valuehead",
            self.conv("v1", channels, 3, 1, 1),
            self.norm("v1/norm", 3),
            self.matmul("v2", 9, 5),
            self.bias("v2/b", 5),
            self.act("v2/act"),
            self.matmul("v3", 5, 3),
            self.bias("v3/b", 3),
            self.matmul("sv3", 5, scores),
            self.bias("sv3/b", scores),
            self.conv("vownership", 3, 1, 1, 1),
        )


def made_up(
    version: int = 8,
    kinds: tuple[str, ...] = KINDS,
    *,
    metadata: bool = False,
    activations: tuple[Activation, ...] | None = None,
    seed: int = 1,
) -> Description:
    """A network of that version whose blocks are of those kinds; its activations go round, from version 11 on all four.

    Its weights take a few kilobytes.
    """
    maker = _Maker(seed, activations or (("mish", "relu", "silu", "identity") if version >= 11 else ("relu",)))
    channels = 4
    trunk = Trunk(
        "trunk",
        (5, 3, 1, 2),
        maker.conv("conv1", 22, channels),
        maker.matmul("ginputw", 19, channels),
        maker.metadata(channels) if metadata else None,
        tuple(maker.block(kind, f"block{i}", channels) for i, kind in enumerate(kinds)),
        maker.norm("trunk/tip", channels),
    )
    multipliers = Multipliers(21.0, 22.0, 23.0, 24.0, 41.0, 0.3, 150.0) if version >= 13 else Multipliers()
    policy, value = maker.policy(version, channels), maker.value(version, channels)
    return Description(f"made-up-{version}", version, multipliers, version >= 15, trunk, policy, value)
