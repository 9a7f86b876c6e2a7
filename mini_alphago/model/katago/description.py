"""What a KataGo network file says, as NumPy arrays: the fields of every class stand in the order of the file.

Descriptions check themselves. One that exists is of a version that is known here, its numbers are finite, and its
layers fit together; what would not be so raises CheckpointError. A field that may be None is in files from version
`NEW_LAYERS` on only.
"""

import re
from dataclasses import astuple, dataclass
from typing import Union

from .layers import Act, Bias, Conv, MatMul, NormAct, fit, require

OLDEST, NEWEST = 8, 16
"""The versions that are read and written here."""

ACTIVATION_TOKENS = 11
"""From this version on a file says what its activations are; before, all are relu."""

OWN_MULTIPLIERS = 13
"""From this version on a file says what its outputs are multiplied by."""

NEW_LAYERS = 15
"""From this version on a file has reserved numbers, a hidden layer before the pass logits, and maybe metadata."""

SPATIAL_INPUTS = 22
GLOBAL_INPUTS = 19
METADATA_INPUTS = 192

_MODEL_NAME = re.compile(r"[A-Za-z0-9_-]{1,96}")


def check_version(version: int) -> None:
    """CheckpointError for a version that is not known here."""
    require(OLDEST <= version <= NEWEST, f"model version {version}: this program reads {OLDEST} to {NEWEST}")


def policy_channels(version: int) -> int:
    """How many logits each move has: the ordinary, from 12 on the optimistic, from 16 on two that are not used."""
    return 1 if version < 12 else 2 if version < 16 else 4


def score_channels(version: int) -> int:
    """How many numbers the value head says of scores and errors."""
    return 4 if version < 9 else 6


@dataclass(frozen=True)
class OrdinaryBlock:
    """Two convolutions, each after a norm and an activation."""

    name: str
    pre: NormAct
    conv1: Conv
    mid: NormAct
    conv2: Conv

    def __post_init__(self) -> None:
        fit(self.name, (self.pre.channels, self.conv1.inputs), (self.conv1.outputs, self.mid.channels))
        fit(self.name, (self.mid.channels, self.conv2.inputs), (self.conv2.outputs, self.pre.channels))


@dataclass(frozen=True)
class PoolingBlock:
    """An ordinary block some of whose channels are pooled over the board into a bias on the others."""

    name: str
    pre: NormAct
    local: Conv
    pooled: Conv
    pool: NormAct
    pool_bias: MatMul
    mid: NormAct
    conv2: Conv

    def __post_init__(self) -> None:
        fit(self.name, (self.pre.channels, self.local.inputs), (self.pre.channels, self.pooled.inputs))
        _check_pooling(self.name, self.local, self.pooled, self.pool, self.pool_bias, self.mid)
        fit(self.name, (self.mid.channels, self.conv2.inputs), (self.conv2.outputs, self.pre.channels))


@dataclass(frozen=True)
class BottleneckBlock:
    """Blocks within a block, on fewer channels."""

    name: str
    pre: NormAct
    narrow: Conv
    blocks: "tuple[Block, ...]"
    post: NormAct
    widen: Conv

    def __post_init__(self) -> None:
        fit(self.name, (self.pre.channels, self.narrow.inputs), (self.narrow.outputs, self.post.channels))
        fit(self.name, *((block.pre.channels, self.narrow.outputs) for block in self.blocks))
        fit(self.name, (self.post.channels, self.widen.inputs), (self.widen.outputs, self.pre.channels))


Block = Union[OrdinaryBlock, PoolingBlock, BottleneckBlock]  # noqa: UP007  one of its members names it
BLOCKS: dict[str, type[Block]] = {
    "ordinary_block": OrdinaryBlock,
    "gpool_block": PoolingBlock,
    "nested_bottleneck_block": BottleneckBlock,
}
"""By their names in files."""


def _check_pooling(name: str, local: Conv, pooled: Conv, pool: NormAct, bias: MatMul, mid: NormAct) -> None:
    fit(name, (pooled.outputs, pool.channels), (3 * pool.channels, bias.inputs), (bias.outputs, local.outputs))
    fit(name, (local.outputs, mid.channels))


@dataclass(frozen=True)
class MetadataEncoder:
    """Three layers that read who is playing."""

    name: str
    inputs: int  # METADATA_INPUTS
    mul1: MatMul
    bias1: Bias
    act1: Act
    mul2: MatMul
    bias2: Bias
    act2: Act
    mul3: MatMul

    def __post_init__(self) -> None:
        fit(self.name, (self.inputs, METADATA_INPUTS), (self.inputs, self.mul1.inputs))
        fit(self.name, (self.mul1.outputs, len(self.bias1.values)), (self.mul1.outputs, self.mul2.inputs))
        fit(self.name, (self.mul2.outputs, len(self.bias2.values)), (self.mul2.outputs, self.mul3.inputs))


@dataclass(frozen=True)
class Trunk:
    """All that heads look at."""

    name: str
    sizes: tuple[int, int, int, int]  # middle, regular, unused, pooled channels; nothing depends on them
    initial: Conv
    globals: MatMul
    metadata: MetadataEncoder | None
    blocks: tuple[Block, ...]
    tip: NormAct

    def __post_init__(self) -> None:
        require(all(0 <= size < 2**31 for size in self.sizes), f"{self.name}: its sizes {self.sizes} are none")
        require(len(self.blocks) > 0, f"{self.name}: it has no blocks")
        fit(self.name, (self.initial.inputs, SPATIAL_INPUTS), (self.globals.inputs, GLOBAL_INPUTS))
        fit(self.name, (self.globals.outputs, self.channels), (self.tip.channels, self.channels))
        fit(self.name, *((block.pre.channels, self.channels) for block in self.blocks))
        if self.metadata is not None:
            fit(self.name, (self.metadata.mul3.outputs, self.channels))

    @property
    def channels(self) -> int:
        """Channels it gives."""
        return self.initial.outputs


@dataclass(frozen=True)
class PassLayers:
    """What follows the first layer of the pass logits."""

    bias: Bias
    act: Act
    mul2: MatMul


@dataclass(frozen=True)
class PolicyHead:
    """Logits of moves."""

    name: str
    local: Conv
    pooled: Conv
    pool: NormAct
    pool_bias: MatMul
    mid: NormAct
    points: Conv
    passing: MatMul
    pass_layers: PassLayers | None

    def __post_init__(self) -> None:
        _check_pooling(self.name, self.local, self.pooled, self.pool, self.pool_bias, self.mid)
        fit(self.name, (self.mid.channels, self.points.inputs), (self.passing.inputs, self.pool_bias.inputs))
        if self.pass_layers is not None:
            fit(self.name, (self.passing.outputs, len(self.pass_layers.bias.values)))
            fit(self.name, (self.passing.outputs, self.pass_layers.mul2.inputs))

    @property
    def channels(self) -> tuple[int, int]:
        """How many logits a point and pass have."""
        return self.points.outputs, (self.passing if self.pass_layers is None else self.pass_layers.mul2).outputs


@dataclass(frozen=True)
class ValueHead:
    """Who wins, by how much, and whose each point will be."""

    name: str
    conv: Conv
    norm: NormAct
    mul2: MatMul
    bias2: Bias
    act2: Act
    value: MatMul
    value_bias: Bias
    score: MatMul
    score_bias: Bias
    ownership: Conv

    def __post_init__(self) -> None:
        fit(self.name, (self.conv.outputs, self.norm.channels), (3 * self.norm.channels, self.mul2.inputs))
        fit(self.name, (self.mul2.outputs, len(self.bias2.values)), (self.mul2.outputs, self.value.inputs))
        fit(self.name, (self.mul2.outputs, self.score.inputs), (self.value.outputs, len(self.value_bias.values)))
        fit(self.name, (self.score.outputs, len(self.score_bias.values)), (self.value.outputs, 3))
        fit(self.name, (self.norm.channels, self.ownership.inputs), (self.ownership.outputs, 1))


@dataclass(frozen=True)
class Multipliers:
    """What raw outputs are multiplied by; all positive."""

    td_score: float = 20.0
    score_mean: float = 20.0
    score_stdev: float = 20.0
    lead: float = 20.0
    variance_time: float = 40.0
    value_error: float = 0.25
    score_error: float = 30.0

    def __post_init__(self) -> None:
        require(
            all(0.0 < value < 1e30 for value in astuple(self)), "its output multipliers are not all positive numbers"
        )


@dataclass(frozen=True)
class Description:
    """A whole network."""

    name: str
    version: int
    multipliers: Multipliers
    pass_alive_suicide: bool  # an input feature takes multi-stone suicide for legal, whatever the rules say
    trunk: Trunk
    policy: PolicyHead
    value: ValueHead

    def __post_init__(self) -> None:
        check_version(self.version)
        require(_MODEL_NAME.fullmatch(self.name) is not None, f"{self.name[:100]!r} is no name for a network")
        told = self.multipliers == Multipliers() or self.version >= OWN_MULTIPLIERS
        new = self.version >= NEW_LAYERS
        plain = not self.pass_alive_suicide and self.trunk.metadata is None
        require(told and (new or plain), f"version {self.version} cannot say what this network needs")
        require((self.policy.pass_layers is not None) == new, f"{self.policy.name}: pass layers of another version")
        wide = policy_channels(self.version)
        fit(self.policy.name, *((have, wide) for have in self.policy.channels))
        fit(self.value.name, (self.value.score.outputs, score_channels(self.version)))
        for conv in (self.policy.local, self.policy.pooled, self.value.conv):
            fit(conv.name, (conv.inputs, self.trunk.channels))
