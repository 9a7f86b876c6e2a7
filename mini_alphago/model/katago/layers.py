"""The layers of a KataGo network file, as NumPy arrays; see `description.py`, which puts them together."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..checkpoint import CheckpointError

Activation = Literal["identity", "relu", "mish", "silu"]
ACTIVATIONS: dict[str, Activation] = {
    "ACTIVATION_IDENTITY": "identity",
    "ACTIVATION_RELU": "relu",
    "ACTIVATION_MISH": "mish",
    "ACTIVATION_SILU": "silu",
}
"""By their names in files."""

_LONGEST_NAME = 200


def require(ok: bool, reason: str) -> None:
    """CheckpointError with that reason if it is not so."""
    if not ok:
        raise CheckpointError(reason)


def fit(name: str, *meetings: tuple[int, int]) -> None:
    """Refuse layers whose channels, given in pairs, are not as many on both sides."""
    for have, want in meetings:
        require(have == want, f"{name}: a layer of {have} channels meets one of {want}")


def _check_weights(name: str, *arrays: np.ndarray | None, ndim: int = 1) -> None:
    require(is_name(name), f"{name[:40]!r} is no name for a layer")
    for array in arrays:
        if array is not None:
            require(array.ndim == ndim and array.size > 0 and array.dtype == np.float32, f"{name}: not float32 weights")
            require(bool(np.isfinite(array).all()), f"{name}: some of its weights are not finite numbers")


def is_name(name: str) -> bool:
    """Whether a layer may be called that: files have one word for it."""
    return 0 < len(name) <= _LONGEST_NAME and name.isascii() and name.isprintable() and " " not in name


@dataclass(frozen=True, eq=False)
class Conv:
    """A convolution without bias that keeps the board's size."""

    name: str
    weights: np.ndarray  # [ky, kx, in, out] float32, ky and kx odd

    def __post_init__(self) -> None:
        _check_weights(self.name, self.weights, ndim=4)
        height, width = self.weights.shape[:2]
        require(height % 2 == 1 and width % 2 == 1, f"{self.name}: a kernel of {height}×{width} has no middle")

    @property
    def inputs(self) -> int:
        """Channels it reads."""
        return self.weights.shape[2]

    @property
    def outputs(self) -> int:
        """Channels it gives."""
        return self.weights.shape[3]


@dataclass(frozen=True, eq=False)
class Norm:
    """A batch norm with fixed statistics; no scale is 1, no bias is 0."""

    name: str
    epsilon: float
    mean: np.ndarray  # [C] float32, as all that follow
    variance: np.ndarray
    scale: np.ndarray | None
    bias: np.ndarray | None

    def __post_init__(self) -> None:
        _check_weights(self.name, self.mean, self.variance, self.scale, self.bias)
        for array in (self.variance, self.scale, self.bias):
            if array is not None:
                fit(self.name, (len(array), self.channels))
        folded = np.stack(self.scale_and_shift())
        require(bool(np.isfinite(folded).all()), f"{self.name}: its variance and epsilon make no finite scale")

    @property
    def channels(self) -> int:
        """Channels it reads and gives."""
        return len(self.mean)

    def scale_and_shift(self) -> tuple[np.ndarray, np.ndarray]:
        """All it does: x · scale + shift, each [C] float32."""
        with np.errstate(all="ignore"):  # what is not finite is refused when a Norm is made
            spread = np.sqrt(self.variance + np.float32(self.epsilon))
            scale = (np.float32(1) if self.scale is None else self.scale) / spread
            shift = (np.float32(0) if self.bias is None else self.bias) - scale * self.mean
        return scale, shift


@dataclass(frozen=True)
class Act:
    """A function of each number alone."""

    name: str
    kind: Activation

    def __post_init__(self) -> None:
        require(is_name(self.name), f"{self.name[:40]!r} is no name for a layer")
        require(self.kind in ACTIVATIONS.values(), f"{self.name}: {self.kind!r} is no activation that is known here")


@dataclass(frozen=True, eq=False)
class MatMul:
    """A linear layer without bias."""

    name: str
    weights: np.ndarray  # [in, out] float32

    def __post_init__(self) -> None:
        _check_weights(self.name, self.weights, ndim=2)

    @property
    def inputs(self) -> int:
        """Numbers it reads."""
        return self.weights.shape[0]

    @property
    def outputs(self) -> int:
        """Numbers it gives."""
        return self.weights.shape[1]


@dataclass(frozen=True, eq=False)
class Bias:
    """Numbers to add."""

    name: str
    values: np.ndarray  # [C] float32

    def __post_init__(self) -> None:
        _check_weights(self.name, self.values)


@dataclass(frozen=True)
class NormAct:
    """A norm and the activation that always follows it."""

    norm: Norm
    act: Act

    @property
    def channels(self) -> int:
        """Channels it reads and gives."""
        return self.norm.channels
