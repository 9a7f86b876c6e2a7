"""Network sizes by name (`b6c96`: 6 blocks of 96 channels), and the config from which a network can be rebuilt."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

from ..game.state import MAX_SIZE, MIN_SIZE
from .encodings import ENCODINGS

Family = Literal["tutorial", "katago", "katago-file"]
Heads = Literal["fc", "pooled"]

NAMED_SIZES = ("b4c64", "b6c96", "b10c128", "b18c384", "b40c256", "b60c320")
"""The sizes that `mini-alphago models` lists; any other `b{blocks}c{channels}` works too."""

ENCODING_PLANES = {name: encoding.planes for name, encoding in ENCODINGS.items()}

MAX_BLOCKS = 200
MIN_CHANNELS, MAX_CHANNELS = 4, 2048


def parse_size(name: str) -> tuple[int, int]:
    """(blocks, channels) of a size such as `b6c96`; ValueError unless it is one, within 1..200 and 4..2048."""
    match = re.fullmatch(r"b(\d{1,9})c(\d{1,9})", name, re.ASCII) if isinstance(name, str) else None
    if match is None:
        raise ValueError(f"network size {name!r} is not of the form b6c96 (6 blocks of 96 channels)")
    blocks, channels = int(match[1]), int(match[2])
    _check_size(blocks, channels)
    return blocks, channels


def _check_int(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"a network cannot have {name} {value!r}: it is a whole number from {low} to {high}")


def _check_size(blocks: object, channels: object) -> None:
    _check_int("blocks", blocks, 1, MAX_BLOCKS)
    _check_int("channels", channels, MIN_CHANNELS, MAX_CHANNELS)


def default_pooling_blocks(blocks: int) -> tuple[int, ...]:
    """Which blocks, counted from 1, pool globally: about every third, spread evenly, and not the first of several."""
    # A pooling block hears the whole board only about what earlier blocks found, so the first one would be early; the
    # blocks after it need room to use what it says, so they divide the tower into equal parts: (3, 5) of 6 blocks, as
    # KataGo's b6c96 has them, (3,) of 4, (3, 6, 8) of 10.
    count = max(1, blocks // 3)
    return tuple(1 + blocks * j // (count + 1) for j in range(1, count + 1))


def default_pool_channels(channels: int) -> int:
    """How many of a pooling block's channels are pooled: a quarter, in steps of 16 (32 of 96 and of 128)."""
    return min(channels // 2, 16 * -(-channels // 64))


def default_head_channels(channels: int) -> int:
    """How many channels a pooled head looks at: 32, in wide networks 64, never more than the trunk has."""
    return min(channels, 32 if channels <= 128 else 64)


@dataclass(frozen=True)
class NetworkConfig:
    """Everything that fixes a network's shape: `build_network` makes one whose state dict has the same keys and shapes.

    family: `tutorial` (post-activation, policy and value) or `katago` (pre-activation, pooling, four heads);
        `katago-file` is a network that only its KataGo file describes, whose like cannot be built.
    heads: `fc`, linear layers over all points, for one board size; `pooled`, any size with the same weights.
    board_size: the one size that `fc` heads fit, None for `pooled` heads.
    encoding: what the planes mean, one of ENCODINGS, or `custom` if only the caller knows.
    pooling_blocks: the blocks, counted from 1, that pool globally; katago only.
    pool_channels: how many channels each of them pools; 0 exactly if there are none.
    head_channels: channels of the 1×1 convolutions of pooled heads and of ownership; 0 in the tutorial's network.
    value_hidden: width of the hidden layer of the value and score heads.
    """

    family: Family
    blocks: int
    channels: int
    heads: Heads
    board_size: int | None
    encoding: str
    input_planes: int
    pooling_blocks: tuple[int, ...] = ()
    pool_channels: int = 0
    head_channels: int = 0
    value_hidden: int = 64

    def __post_init__(self) -> None:
        """ValueError, in one sentence, unless the fields describe a network that can be built."""
        _check_size(self.blocks, self.channels)
        _check_choice("family", self.family, get_args(Family))
        _check_choice("heads", self.heads, get_args(Heads))
        _check_choice("encoding", self.encoding, (*ENCODING_PLANES, "custom"))
        _check_int("input planes", self.input_planes, 1, 1024)
        if self.input_planes != ENCODING_PLANES.get(self.encoding, self.input_planes):
            raise ValueError(
                f"the {self.encoding} encoding has {ENCODING_PLANES[self.encoding]} planes, not {self.input_planes}"
            )
        if self.heads == "fc":
            _check_int("a board size of", self.board_size, MIN_SIZE, MAX_SIZE)
        elif self.board_size is not None:
            raise ValueError(f"pooled heads fit every board, so board_size is None, not {self.board_size!r}")
        _check_int("value hidden units", self.value_hidden, 1, 4096)
        if not isinstance(self.pooling_blocks, list | tuple):
            raise ValueError(f"pooling_blocks is {self.pooling_blocks!r}: it lists blocks, such as (3, 5)")
        # JSON gives lists; a frozen config must be hashable.
        object.__setattr__(self, "pooling_blocks", tuple(self.pooling_blocks))
        if self.family == "tutorial":
            self._check_tutorial()
        else:
            self._check_katago()

    def _check_tutorial(self) -> None:
        if self.heads != "fc" or self.pooling_blocks or self.pool_channels or self.head_channels:
            raise ValueError("the tutorial's network has fc heads and no pooling")

    def _check_katago(self) -> None:
        _check_int("head channels", self.head_channels, 1, MAX_CHANNELS)
        for block in self.pooling_blocks:
            _check_int("a pooling block", block, 1, self.blocks)
        if list(self.pooling_blocks) != sorted(set(self.pooling_blocks)):
            raise ValueError(f"pooling blocks {self.pooling_blocks} are not in rising order")
        low, high = (1, self.channels - 1) if self.pooling_blocks else (0, 0)
        _check_int("pool channels", self.pool_channels, low, high)

    @property
    def size(self) -> str:
        """The size's name, such as `b6c96`."""
        return f"b{self.blocks}c{self.channels}"

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON can hold them; `from_dict` reads them back."""
        return {**asdict(self), "pooling_blocks": list(self.pooling_blocks)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "NetworkConfig":
        """The config that `to_dict` wrote; ValueError for fields that are unknown, missing, or make no network."""
        unknown = sorted(set(values) - {field.name for field in fields(cls)})
        if unknown:
            raise ValueError(f"a network config has no field {', '.join(map(str, unknown))}")
        try:
            return cls(**values)
        except TypeError as error:
            raise ValueError(f"not a network config: {error}") from None


def _check_choice(name: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(f"a network's {name} cannot be {value!r}: it is one of {', '.join(allowed)}")


def encoding_of(planes: int) -> str:
    """The encoding of our own that has this many planes, or `custom`."""
    own = ("tutorial", "alphazero", "katago")
    return next((name for name in own if ENCODING_PLANES[name] == planes), "custom")


def tutorial_config(
    blocks: int = 4, channels: int = 64, *, board_size: int = 9, input_planes: int = ENCODING_PLANES["tutorial"]
) -> NetworkConfig:
    """The tutorial's network of this size."""
    return NetworkConfig(
        family="tutorial",
        blocks=blocks,
        channels=channels,
        heads="fc",
        board_size=board_size,
        encoding=encoding_of(input_planes),
        input_planes=input_planes,
    )


def katago_config(
    blocks: int,
    channels: int,
    *,
    board_size: int = 19,
    input_planes: int = ENCODING_PLANES["katago"],
    heads: Heads = "pooled",
    pooling_blocks: Sequence[int] | None = None,
    pool_channels: int | None = None,
    head_channels: int | None = None,
    value_hidden: int | None = None,
    encoding: str | None = None,
) -> NetworkConfig:
    """The KataGo-style network of this size; None takes the default for the size, `pooling_blocks=()` is no pooling.

    board_size counts for `fc` heads only. encoding: None for the one that has so many planes. ValueError if there is
    no such network.
    """
    if encoding is not None:
        input_planes = ENCODING_PLANES[encoding]
    _check_size(blocks, channels)
    pooling = default_pooling_blocks(blocks) if pooling_blocks is None else tuple(pooling_blocks)
    if pool_channels is None:
        pool_channels = default_pool_channels(channels) if pooling else 0
    if head_channels is None:
        head_channels = default_head_channels(channels) if heads == "pooled" else 32
    if value_hidden is None:
        value_hidden = 2 * head_channels if heads == "pooled" else 256
    return NetworkConfig(
        family="katago",
        blocks=blocks,
        channels=channels,
        heads=heads,
        board_size=board_size if heads == "fc" else None,
        encoding=encoding or encoding_of(input_planes),
        input_planes=input_planes,
        pooling_blocks=pooling,
        pool_channels=pool_channels,
        head_channels=head_channels,
        value_hidden=value_hidden,
    )


def katago_file_config(blocks: int, channels: int, pass_alive_suicide: bool) -> NetworkConfig:
    """What is to be said of a network from a KataGo file; its like cannot be built."""
    encoding = "katago-v7-suicide" if pass_alive_suicide else "katago-v7"
    return replace(katago_config(blocks, channels, pooling_blocks=(), encoding=encoding), family="katago-file")
