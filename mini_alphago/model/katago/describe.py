"""From a network in PyTorch back to what a KataGo file says: for networks that were trained here."""

import re
from dataclasses import replace

import numpy as np
from torch import Tensor, nn

from ..base import Network
from . import description as told
from .description import policy_channels
from .layers import Act, Activation, Bias, Conv, MatMul, Norm, NormAct
from .network import KataGoFileNetwork
from .parts import BottleneckBlock, MetadataEncoder, OrdinaryBlock, PolicyHead, PooledBias, PoolingBlock, ValueHead

_MEAN, _LEAD = 0, 2  # of the score's numbers


def describe(network: Network, name: str | None = None) -> told.Description:
    """What KataGo's files say of this network; ValueError if it is none of KataGo's.

    A network trained here knows one score; KataGo's mean of the score and its lead are both that. What else KataGo
    asks for, the spread of the score and how long the game is open, it never learned.
    """
    if not isinstance(network, KataGoFileNetwork):
        raise ValueError("KataGo reads networks with its own inputs only: train with --network.encoding katago-v7")
    trunk = told.Trunk(
        "trunk",
        network.trunk_sizes,
        _conv("trunk/conv", network.initial_conv),
        _matmul("trunk/globals", network.global_inputs),
        None if network.metadata is None else _metadata(network.metadata),
        tuple(_block(f"block{i}", block) for i, block in enumerate(network.blocks, start=1)),
        _norm("trunk/tip", network.final_bn, network.final_act),
    )
    value = _value(network.value_head)
    if network.config.family == "katago":
        value = _with_one_score(value)
    called = re.sub(r"[^A-Za-z0-9_-]", "-", name or network.name)[:96]
    return told.Description(
        called, network.version, network.multipliers, network.pass_alive_suicide, trunk,
        _policy(network.policy_head, policy_channels(network.version)), value,
    )  # fmt: skip


def _with_one_score(head: told.ValueHead) -> told.ValueHead:
    weights, biases = head.score.weights.copy(), head.score_bias.values.copy()
    weights[:, _MEAN], biases[_MEAN] = weights[:, _LEAD], biases[_LEAD]
    return replace(head, score=MatMul(head.score.name, weights), score_bias=Bias(head.score_bias.name, biases))


def _numbers(parameter: Tensor) -> np.ndarray:
    return parameter.detach().cpu().float().numpy()


def _weights(layer: nn.Conv2d) -> np.ndarray:
    """[ky, kx, in, out]"""
    return np.ascontiguousarray(_numbers(layer.weight).transpose(2, 3, 1, 0))


def _conv(name: str, layer: nn.Conv2d) -> Conv:
    return Conv(name, _weights(layer))


def _matmul(name: str, layer: nn.Linear) -> MatMul:
    return MatMul(name, np.ascontiguousarray(_numbers(layer.weight).T))


def _bias(name: str, layer: nn.Linear) -> Bias:
    return Bias(name, _numbers(layer.bias))


def _scale_and_shift(layer: nn.BatchNorm2d) -> tuple[np.ndarray, np.ndarray]:
    assert layer.running_mean is not None
    assert layer.running_var is not None
    mean, variance = layer.running_mean.cpu().double().numpy(), layer.running_var.cpu().double().numpy()
    scale = _numbers(layer.weight) / np.sqrt(variance + layer.eps)
    return scale.astype(np.float32), (_numbers(layer.bias) - mean * scale).astype(np.float32)


def _norm_of(name: str, scale: np.ndarray | None, shift: np.ndarray, act: Activation) -> NormAct:
    zeros, ones = np.zeros_like(shift), np.ones_like(shift)
    return NormAct(Norm(f"{name}/norm", 1e-20, zeros, ones, scale, shift), Act(f"{name}/act", act))


def _norm(name: str, layer: nn.Module, act: Activation) -> NormAct:
    assert isinstance(layer, nn.BatchNorm2d)
    return _norm_of(name, *_scale_and_shift(layer), act)


def _pooled(name: str, part: PooledBias) -> tuple[Conv, Conv, NormAct, MatMul, NormAct]:
    """Local and pooled convolution, the pooled norm, the bias, and the norm behind it."""
    if not isinstance(part.conv, nn.Conv2d):
        raise ValueError(f"{name}: kernels of two sizes side by side can be read, but not written")
    scale, shift = _scale_and_shift(part.bn)
    weights, local = _weights(part.conv), part.local
    return (
        # The norm comes before the bias here, behind it there: its scale goes into the convolution.
        Conv(f"{name}/local", weights[..., :local] * scale[:local]),
        Conv(f"{name}/pooled", np.ascontiguousarray(weights[..., local:])),
        _norm_of(f"{name}/pool", scale[local:], shift[local:], part.pool_act),
        _matmul(f"{name}/bias", part.pool_bias),
        _norm_of(f"{name}/mid", None, shift[:local], part.act),
    )


def _block(name: str, block: nn.Module) -> told.Block:
    if isinstance(block, OrdinaryBlock):
        return told.OrdinaryBlock(
            name, _norm(f"{name}/pre", block.bn1, block.act1), _conv(f"{name}/conv1", block.conv1),
            _norm(f"{name}/mid", block.bn2, block.act2), _conv(f"{name}/conv2", block.conv2),
        )  # fmt: skip
    if isinstance(block, PoolingBlock):
        pre = _norm(f"{name}/pre", block.bn1, block.act1)
        return told.PoolingBlock(name, pre, *_pooled(name, block.pooled), _conv(f"{name}/conv2", block.conv2))
    assert isinstance(block, BottleneckBlock)
    return told.BottleneckBlock(
        name, _norm(f"{name}/pre", block.bn1, block.act1), _conv(f"{name}/narrow", block.conv1),
        tuple(_block(f"{name}/{i}", inner) for i, inner in enumerate(block.blocks, start=1)),
        _norm(f"{name}/post", block.bn2, block.act2), _conv(f"{name}/widen", block.conv2),
    )  # fmt: skip


def _metadata(part: MetadataEncoder) -> told.MetadataEncoder:
    return told.MetadataEncoder(
        "metadata", told.METADATA_INPUTS,
        _matmul("metadata/1", part.fc1), _bias("metadata/1/bias", part.fc1), Act("metadata/1/act", part.act1),
        _matmul("metadata/2", part.fc2), _bias("metadata/2/bias", part.fc2), Act("metadata/2/act", part.act2),
        _matmul("metadata/3", part.fc3),
    )  # fmt: skip


def _policy(head: PolicyHead, logits: int) -> told.PolicyHead:
    """With as many logits as the version has; those that are not used here are 0."""

    def padded(weights: np.ndarray) -> np.ndarray:
        missing = [(0, 0)] * (weights.ndim - 1) + [(0, logits - weights.shape[-1])]
        return np.pad(weights, missing)

    points = Conv("policy/points", padded(_weights(head.points)))
    last = MatMul("policy/pass", padded(_matmul("policy/pass", head.passing).weights))
    passing, layers = last, None
    if isinstance(head.pass_hidden, nn.Linear):
        passing = _matmul("policy/pass/hidden", head.pass_hidden)
        act = Act("policy/pass/act", head.pass_act)
        layers = told.PassLayers(_bias("policy/pass/bias", head.pass_hidden), act, last)
    return told.PolicyHead("policy", *_pooled("policy", head.pooled), points, passing, layers)


def _value(head: ValueHead) -> told.ValueHead:
    last, biases = _matmul("value", head.fc2).weights, _numbers(head.fc2.bias)
    return told.ValueHead(
        "value", _conv("value/conv", head.conv), _norm("value/first", head.bn, head.act1),
        _matmul("value/hidden", head.fc1), _bias("value/hidden/bias", head.fc1), Act("value/hidden/act", head.act2),
        MatMul("value/outcome", last[:, :3].copy()), Bias("value/outcome/bias", biases[:3].copy()),
        MatMul("value/score", last[:, 3:].copy()), Bias("value/score/bias", biases[3:].copy()),
        _conv("value/ownership", head.ownership),
    )  # fmt: skip
