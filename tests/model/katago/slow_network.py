"""What a KataGo network computes, formula by formula in float64, for one board without anything around it."""

import math

import numpy as np

from mini_alphago.model.katago.description import (
    Block,
    BottleneckBlock,
    Description,
    Multipliers,
    OrdinaryBlock,
    PolicyHead,
    ValueHead,
)
from mini_alphago.model.katago.layers import Act, Activation, Conv, MatMul, NormAct


def convolve(x: np.ndarray, conv: Conv) -> np.ndarray:
    """[C, H, W] → [out, H, W]."""
    height, width = conv.weights.shape[:2]
    rows, columns = x.shape[1:]
    around = np.pad(x, ((0, 0), (height // 2, height // 2), (width // 2, width // 2)))
    out = np.zeros((conv.outputs, rows, columns))
    for dy in range(height):
        for dx in range(width):
            part = around[:, dy : dy + rows, dx : dx + columns]
            out += np.einsum("iyx,io->oyx", part, conv.weights[dy, dx].astype(np.float64))
    return out


def function(x: np.ndarray, kind: Activation) -> np.ndarray:
    if kind == "relu":
        return np.where(x > 0, x, 0.0)
    if kind == "mish":
        return x * np.tanh(np.log1p(np.exp(x)))
    return x / (1.0 + np.exp(-x)) if kind == "silu" else x


def norm_act(x: np.ndarray, layer: NormAct) -> np.ndarray:
    norm = layer.norm
    out = (x - norm.mean[:, None, None]) / np.sqrt(norm.variance.astype(np.float64) + norm.epsilon)[:, None, None]
    if norm.scale is not None:
        out = out * norm.scale[:, None, None]
    if norm.bias is not None:
        out = out + norm.bias[:, None, None]
    return function(out, layer.act.kind)


def pool(x: np.ndarray) -> np.ndarray:
    area = x.shape[1] * x.shape[2]
    mean = x.sum(axis=(1, 2)) / area
    largest = np.maximum(x.max(axis=(1, 2)), -1.0)
    return np.concatenate((mean, mean * (math.sqrt(area) - 14) * 0.1, largest))


def value_pool(x: np.ndarray) -> np.ndarray:
    area = x.shape[1] * x.shape[2]
    mean, m = x.sum(axis=(1, 2)) / area, math.sqrt(area) - 14
    return np.concatenate((mean, mean * m * 0.1, mean * (m * m * 0.01 - 0.1)))


def times(x: np.ndarray, layer: MatMul) -> np.ndarray:
    return np.array([sum(x[i] * float(layer.weights[i, o]) for i in range(len(x))) for o in range(layer.outputs)])


def residual(x: np.ndarray, block: Block) -> np.ndarray:
    h = norm_act(x, block.pre)
    if isinstance(block, OrdinaryBlock):
        return convolve(norm_act(convolve(h, block.conv1), block.mid), block.conv2)
    if isinstance(block, BottleneckBlock):
        h = convolve(h, block.narrow)
        for inner in block.blocks:
            h = h + residual(h, inner)
        return convolve(norm_act(h, block.post), block.widen)
    g = pool(norm_act(convolve(h, block.pooled), block.pool))
    local = convolve(h, block.local) + times(g, block.pool_bias)[:, None, None]
    return convolve(norm_act(local, block.mid), block.conv2)


def act(x: np.ndarray, layer: Act) -> np.ndarray:
    return function(x, layer.kind)


def policy(t: np.ndarray, head: PolicyHead) -> np.ndarray:
    """[K, H · W + 1]."""
    g = pool(norm_act(convolve(t, head.pooled), head.pool))
    local = convolve(t, head.local) + times(g, head.pool_bias)[:, None, None]
    points = convolve(norm_act(local, head.mid), head.points)
    passing = times(g, head.passing)
    if head.pass_layers is not None:
        layers = head.pass_layers
        passing = times(act(passing + layers.bias.values, layers.act), layers.mul2)
    return np.concatenate((points.reshape(len(points), -1), passing[:, None]), axis=1)


def value(t: np.ndarray, head: ValueHead) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    v = norm_act(convolve(t, head.conv), head.norm)
    k = act(times(value_pool(v), head.mul2) + head.bias2.values, head.act2)
    result = times(k, head.value) + head.value_bias.values
    score = times(k, head.score) + head.score_bias.values
    return result, score, convolve(v, head.ownership).ravel()


def slow_outputs(
    network: Description, spatial: np.ndarray, global_inputs: np.ndarray, metadata: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """[22, H, W], [19], [192] → policy [K, H · W + 1], value [3], score [4 or 6], ownership [H · W]."""
    trunk = network.trunk
    x = convolve(spatial, trunk.initial) + times(global_inputs, trunk.globals)[:, None, None]
    if trunk.metadata is not None:
        assert metadata is not None
        encoder = trunk.metadata
        hidden = act(times(metadata, encoder.mul1) + encoder.bias1.values, encoder.act1)
        hidden = act(times(hidden, encoder.mul2) + encoder.bias2.values, encoder.act2)
        x = x + times(hidden, encoder.mul3)[:, None, None]
    for block in trunk.blocks:
        x = x + residual(x, block)
    t = norm_act(x, trunk.tip)
    return policy(t, network.policy), *value(t, network.value)


def softplus(x: float) -> float:
    return x if x > 40 else math.log(1 + math.exp(x))


def slow_values(
    value: np.ndarray, score: np.ndarray, version: int, by: Multipliers, can_be_void: bool
) -> dict[str, float]:
    """What [3] and [4 or 6] raw numbers mean."""
    chances = [math.exp(x - max(value)) for x in value]
    if not can_be_void:
        chances[2] = 0.0
    win, loss, void = (chance / sum(chances) for chance in chances)
    mean, stdev = score[0] * by.score_mean, softplus(score[1]) * by.score_stdev
    time, e_value, e_score = -1.0, -1.0, -1.0
    if version >= 9:
        time = softplus(score[3]) * by.variance_time
        e_value, e_score = softplus(score[4]), 10 * softplus(score[5])
    if version >= 10:
        e_value, e_score = math.sqrt(e_value * by.value_error), math.sqrt(softplus(score[5]) * by.score_error)
    if version >= 14:
        e_value = softplus(score[4] / 2) * math.sqrt(by.value_error)
        e_score = softplus(score[5] / 2) * math.sqrt(by.score_error)
    return {
        "win": win,
        "loss": loss,
        "no_result": void,
        "score_mean": mean * (1 - void),
        "score_mean_square": (mean**2 + stdev**2) * (1 - void),
        "lead": score[2] * by.lead * (1 - void),
        "variance_time": time,
        "winloss_error": e_value,
        "score_error": e_score,
    }
