"""New networks of KataGo's architecture, to be trained here and written for KataGo."""

import torch

from ..heads import FINAL_STD
from ..presets import NetworkConfig
from .description import (
    GLOBAL_INPUTS,
    SPATIAL_INPUTS,
    Block,
    Description,
    Multipliers,
    OrdinaryBlock,
    PolicyHead,
    PoolingBlock,
    Trunk,
    ValueHead,
    policy_channels,
    score_channels,
)
from .layers import Act, Bias, Conv, MatMul, Norm, NormAct
from .network import KataGoFileNetwork

VERSION = 8
"""Of the files they are written to: the oldest, which all of KataGo's programs read."""

_NO_RESULT = -12.0  # its logit: games here always end with a result, so training would leave it as it happens to be


def build_katago(config: NetworkConfig) -> KataGoFileNetwork:
    """A new network with the inputs, blocks and heads of KataGo; its blocks start as the identity."""
    if config.family == "katago-file":
        raise ValueError("a network from a KataGo file can be had from that file only")
    policy, value = _policy(config), _value(config)
    return KataGoFileNetwork(
        Description("mini-alphago", VERSION, Multipliers(), False, _trunk(config), policy, value), config
    )


def _conv(name: str, inputs: int, outputs: int, size: int = 3, std: float | None = None) -> Conv:
    """He's spread for relu, unless another is given."""
    spread = (2 / (size * size * inputs)) ** 0.5 if std is None else std
    return Conv(name, (torch.randn(size, size, inputs, outputs) * spread).numpy())


def _matmul(name: str, inputs: int, outputs: int, std: float | None = None) -> MatMul:
    return MatMul(name, (torch.randn(inputs, outputs) * (inputs**-0.5 if std is None else std)).numpy())


def _bias(name: str, channels: int) -> Bias:
    return Bias(name, torch.zeros(channels).numpy())


def _norm(name: str, channels: int) -> NormAct:
    zeros, ones = torch.zeros(channels).numpy(), torch.ones(channels).numpy()
    return NormAct(Norm(f"{name}/norm", 1e-20, zeros, ones, ones, zeros), Act(f"{name}/act", "relu"))


def _block(config: NetworkConfig, number: int) -> Block:
    name, channels = f"block{number}", config.channels
    pre = _norm(f"{name}/pre", channels)
    if number not in config.pooling_blocks:
        first, last = _conv(f"{name}/conv1", channels, channels), _conv(f"{name}/conv2", channels, channels, std=0.0)
        return OrdinaryBlock(name, pre, first, _norm(f"{name}/mid", channels), last)
    pooled = config.pool_channels
    local = channels - pooled
    return PoolingBlock(
        name,
        pre,
        _conv(f"{name}/local", channels, local),
        _conv(f"{name}/pooled", channels, pooled),
        _norm(f"{name}/pool", pooled),
        _matmul(f"{name}/bias", 3 * pooled, local),
        _norm(f"{name}/mid", local),
        _conv(f"{name}/conv2", local, channels, std=0.0),
    )


def _trunk(config: NetworkConfig) -> Trunk:
    channels, pooled = config.channels, config.pool_channels
    return Trunk(
        "trunk",
        (channels, channels - pooled, pooled, pooled),
        _conv("trunk/conv", SPATIAL_INPUTS, channels),
        _matmul("trunk/globals", GLOBAL_INPUTS, channels, std=0.0),  # rules that it never meets shall not matter
        None,
        tuple(_block(config, number) for number in range(1, config.blocks + 1)),
        _norm("trunk/tip", channels),
    )


def _policy(config: NetworkConfig) -> PolicyHead:
    channels, head, logits = config.channels, config.head_channels, policy_channels(VERSION)
    return PolicyHead(
        "policy",
        _conv("policy/local", channels, head, 1),
        _conv("policy/pooled", channels, head, 1),
        _norm("policy/pool", head),
        _matmul("policy/bias", 3 * head, head),
        _norm("policy/mid", head),
        _conv("policy/points", head, logits, 1, FINAL_STD),
        _matmul("policy/pass", 3 * head, logits, FINAL_STD),
        None,
    )


def _value(config: NetworkConfig) -> ValueHead:
    head, hidden, scores = config.head_channels, config.value_hidden, score_channels(VERSION)
    outcome = _matmul("value/outcome", hidden, 3, FINAL_STD)
    outcome.weights[:, 2] = 0.0
    return ValueHead(
        "value",
        _conv("value/conv", config.channels, head, 1),
        _norm("value/first", head),
        _matmul("value/hidden", 3 * head, hidden),
        _bias("value/hidden/bias", hidden),
        Act("value/hidden/act", "relu"),
        outcome,
        Bias("value/outcome/bias", torch.tensor([0.0, 0.0, _NO_RESULT]).numpy()),
        _matmul("value/score", hidden, scores, FINAL_STD),
        _bias("value/score/bias", scores),
        _conv("value/ownership", head, 1, 1, FINAL_STD),
    )
