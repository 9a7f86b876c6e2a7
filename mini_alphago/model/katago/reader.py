"""KataGo's network files read: `.bin.gz`, `.txt.gz`, and both without gzip, of the versions `description.py` knows.

A file is words between white space, and blocks of floats, whose lengths follow from the words. What stands in a file
decides what it is, not its name. Nothing in it is trusted: it is refused in one sentence, with CheckpointError, before
more memory is taken than its own size explains.
"""

import functools
import os
import re
import zlib
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_type_hints

import numpy as np

from ..checkpoint import CheckpointError
from ..presets import NetworkConfig, katago_file_config
from .description import (
    ACTIVATION_TOKENS,
    BLOCKS,
    GLOBAL_INPUTS,
    NEW_LAYERS,
    OWN_MULTIPLIERS,
    SPATIAL_INPUTS,
    Block,
    BottleneckBlock,
    Description,
    MetadataEncoder,
    Multipliers,
    PolicyHead,
    Trunk,
    ValueHead,
    check_version,
)
from .layers import ACTIVATIONS, Act, Bias, Conv, MatMul, Norm, NormAct, is_name, require

T = TypeVar("T")

FLOATS = b"@BIN@"
"""What a block of floats begins with in a binary file."""

RESERVED_HEADER = 6
RESERVED_TRUNK = 5
"""How many numbers a file has that must be zero, from version NEW_LAYERS on."""

_START = re.compile(rb"\s*[A-Za-z0-9_-]{1,96}\s+[0-9]{1,15}\s")  # name and version
_WORD = re.compile(rb"\s*(\S{1,200})(?!\S)")
_MARK = re.compile(rb"\s{0,100}" + FLOATS)
_SPACE = re.compile(rb"\s*")
_INTEGER = re.compile(r"-?[0-9]{1,15}")
_FRONT = 1 << 12  # bytes in which all is said that comes before the first weights
_CHUNK = 1 << 16  # bytes of a text that are made floats at a time
_DEEPEST = 8  # blocks within blocks

# Weights hardly compress, at most those of a network that was never trained: what unpacks to more is no network.
_UNPACKED_ALWAYS = 1 << 26
_UNPACKED_RATIO = 16


def read_katago(path: str | os.PathLike[str]) -> Description:
    """What a KataGo network file says.

    OSError if there is no such file; CheckpointError if it is damaged, of a kind that is not known here, or no such
    file at all.
    """
    try:
        return parse_katago(Path(path).read_bytes())
    except CheckpointError as error:
        raise CheckpointError(f"{Path(path).name}: {error}") from None


def read_header(path: str | os.PathLike[str]) -> tuple[str, NetworkConfig]:
    """The name of the network in a file and what it is, in a moment: its weights are not looked at.

    As `read_katago`, but what is wrong further behind is not found.
    """
    with Path(path).open("rb") as file:
        packed = file.read(_FRONT)
    data = packed
    if packed[:2] == b"\x1f\x8b":
        try:
            data = zlib.decompressobj(wbits=31).decompress(packed, _FRONT)
        except zlib.error:
            raise CheckpointError("its gzip data is damaged") from None
    return _Parser(data).header()


def parse_katago(data: bytes) -> Description:
    """What the bytes of such a file say; see `read_katago`."""
    return _Parser(_unpack(data) if data[:2] == b"\x1f\x8b" else data).description()


def _unpack(packed: bytes) -> bytes:
    limit = _UNPACKED_ALWAYS + _UNPACKED_RATIO * len(packed)
    stream = zlib.decompressobj(wbits=31)
    try:
        data = stream.decompress(packed, limit)
    except zlib.error:
        raise CheckpointError("its gzip data is damaged") from None
    require(stream.eof or len(data) < limit, f"it unpacks to more than {limit >> 20} MiB: no network does")
    require(stream.eof, "its gzip data ends too early")
    require(not stream.unused_data, "something follows its gzip data")
    return data


@functools.cache
def _layout(kind: type) -> tuple[tuple[str, Any], ...]:
    """Name and type of each field of a dataclass, in the order of the file."""
    hints = get_type_hints(kind)
    return tuple((field.name, hints[field.name]) for field in fields(kind))


class _Parser:
    """Reads one thing after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._last = "its beginning"  # the last word that was read, to tell where a file is wrong
        self._binary: bool | None = None  # unknown before the first block of floats
        self._version = 0
        self._metadata = False
        self._depth = 0
        self._special: dict[Any, Callable[[], Any]] = {
            str: self._word,
            int: self._count,
            Conv: self._conv,
            Norm: self._norm,
            Act: self._act,
            MatMul: self._matmul,
            Bias: self._bias,
            BottleneckBlock: self._bottleneck,
            Trunk: self._trunk,
        }

    def header(self) -> tuple[str, NetworkConfig]:
        """The name, and what kind of network it is."""
        name, _, suicide = self._begin()
        _, blocks, channels, _ = self._trunk_sizes()
        return name, katago_file_config(blocks, channels, suicide)

    def description(self) -> Description:
        """The whole file."""
        name, multipliers, suicide = self._begin()
        trunk, policy, value = self._read(Trunk), self._read(PolicyHead), self._read(ValueHead)
        end = _SPACE.match(self._data, self._at)
        require(end is not None and end.end() == len(self._data), "something follows the network's last weights")
        return Description(name, self._version, multipliers, suicide, trunk, policy, value)

    def _begin(self) -> tuple[str, Multipliers, bool]:
        """All that comes before the trunk: name, multipliers, whether pass-alive life reckons with suicide."""
        require(_START.match(self._data) is not None, "not a KataGo network file")
        name, self._version = self._word(), self._integer()
        check_version(self._version)
        for count, kind in ((SPATIAL_INPUTS, "spatial"), (GLOBAL_INPUTS, "global")):
            have = self._count()
            require(have == count, f"{have} {kind} inputs: networks of this program have {count}")
        multipliers = Multipliers()
        if self._version >= OWN_MULTIPLIERS:
            multipliers = Multipliers(*(self._real() for _ in fields(Multipliers)))
        suicide = False
        if self._version >= NEW_LAYERS:
            self._metadata, suicide = self._flag("a metadata encoder"), self._flag("pass-alive suicide")
            self._reserved(RESERVED_HEADER)
        return name, multipliers, suicide

    def _read(self, kind: type[T]) -> T:
        """The next thing, which must be of this kind."""
        if kind in self._special:
            thing: T = self._special[kind]()
            return thing
        values = {}
        for name, hint in _layout(kind):  # type: ignore[arg-type]  # types are hashable
            if isinstance(hint, UnionType):  # or None: in newer files only
                values[name] = self._read(hint.__args__[0]) if self._version >= NEW_LAYERS else None
            else:
                values[name] = self._read(hint)
        return kind(**values)

    def _trunk_sizes(self) -> tuple[str, int, int, tuple[int, int, int, int]]:
        """Name, blocks, channels, and what else stands before the trunk's first weights."""
        name = self._word()
        count, channels = self._count(), self._count()
        sizes = self._integer(), self._integer(), self._integer(), self._integer()
        if self._version >= NEW_LAYERS:
            norm = self._integer()
            require(norm == 0, f"{name}: norms of kind {norm}, of which only batch norms, 0, are known here")
            self._reserved(RESERVED_TRUNK)
        return name, count, channels, sizes

    def _trunk(self) -> Trunk:
        name, count, channels, sizes = self._trunk_sizes()
        initial, global_inputs = self._conv(), self._matmul()
        require(initial.outputs == channels, f"{name}: {channels} channels, but its first layer has {initial.outputs}")
        metadata = self._read(MetadataEncoder) if self._metadata else None
        blocks, tip = self._blocks(count), self._read(NormAct)
        return Trunk(name, sizes, initial, global_inputs, metadata, blocks, tip)

    def _blocks(self, count: int) -> tuple[Block, ...]:
        self._depth += 1
        require(self._depth <= _DEEPEST, f"more than {_DEEPEST} blocks within each other")
        blocks = []
        for _ in range(count):  # each takes some of the file, so a count beyond it comes to its end
            kind = self._word()
            require(kind in BLOCKS, f"blocks of kind {kind[:60]!r} are not known here")
            blocks.append(self._read(BLOCKS[kind]))
        self._depth -= 1
        return tuple(blocks)

    def _bottleneck(self) -> BottleneckBlock:
        name, count = self._word(), self._count()
        pre, narrow = self._read(NormAct), self._conv()
        return BottleneckBlock(name, pre, narrow, self._blocks(count), self._read(NormAct), self._conv())

    def _conv(self) -> Conv:
        name = self._word()
        shape = tuple(self._count() for _ in range(4))
        dilation = self._integer(), self._integer()
        require(dilation == (1, 1), f"{name}: dilated convolutions are not known here")
        return Conv(name, self._floats(*shape))

    def _norm(self) -> Norm:
        name, channels, epsilon = self._word(), self._count(), self._real()
        has_scale, has_bias = self._flag("a scale"), self._flag("a bias")
        mean, variance = self._floats(channels), self._floats(channels)
        scale = self._floats(channels) if has_scale else None
        return Norm(name, epsilon, mean, variance, scale, self._floats(channels) if has_bias else None)

    def _act(self) -> Act:
        name = self._word()
        if self._version < ACTIVATION_TOKENS:
            return Act(name, "relu")
        kind = self._word()
        require(kind in ACTIVATIONS, f"{name}: activation {kind[:60]!r} is not known here")
        return Act(name, ACTIVATIONS[kind])

    def _matmul(self) -> MatMul:
        return MatMul(self._word(), self._floats(self._count(), self._count()))

    def _bias(self) -> Bias:
        return Bias(self._word(), self._floats(self._count()))

    def _word(self) -> str:
        found = _WORD.match(self._data, self._at)
        if found is None:
            ended = not self._data[self._at :].strip()
            raise CheckpointError(f"it {'ends' if ended else 'makes no sense'} after {self._last}")
        self._at = found.end()
        word = found[1].decode("latin-1")
        require(is_name(word), f"it makes no sense after {self._last}")
        self._last = repr(word[:60])
        return word

    def _integer(self) -> int:
        before, word = self._last, self._word()
        require(_INTEGER.fullmatch(word) is not None, f"{word[:60]!r} after {before} is no whole number")
        return int(word)

    def _count(self) -> int:
        before, number = self._last, self._integer()
        require(number > 0, f"{number} after {before} is no number of anything")
        return number

    def _flag(self, of_what: str) -> bool:
        number = self._integer()
        require(number in (0, 1), f"{number} says neither that there is {of_what} nor that there is none")
        return number == 1

    def _reserved(self, count: int) -> None:
        for _ in range(count):
            before, number = self._last, self._integer()
            require(number == 0, f"{number} after {before}, where only 0 has a meaning here")

    def _real(self) -> float:
        before, word = self._last, self._word()
        try:
            number = float(word)
        except ValueError:
            number = float("nan")
        require(abs(number) < float("inf"), f"{word[:60]!r} after {before} is no number")
        return number

    def _floats(self, *shape: int) -> np.ndarray:
        """The next block of floats, in that shape."""
        count = 1
        for size in shape:
            count *= size
        mark = _MARK.match(self._data, self._at)
        if self._binary is None:
            self._binary = mark is not None
        if not self._binary:
            return self._text_floats(count).reshape(shape)
        if mark is None:
            raise CheckpointError(f"no weights follow {self._last}")
        start = mark.end()
        require(4 * count <= len(self._data) - start, f"it ends within the weights after {self._last}")
        self._at = start + 4 * count
        return np.frombuffer(self._data, "<f4", count, start).astype(np.float32).reshape(shape)

    def _text_floats(self, count: int) -> np.ndarray:
        left = len(self._data) - self._at
        require(2 * count - 1 <= left, f"it ends within the weights after {self._last}")  # a digit and a space each
        values = np.empty(count, np.float32)
        done = 0
        while done < count:
            words = self._text_words(count - done)
            require(bool(words), f"it ends within the weights after {self._last}")
            try:
                with np.errstate(over="ignore"):  # becomes infinite, and is refused as such
                    values[done : done + len(words)] = np.array([float(word) for word in words])
            except ValueError:
                raise CheckpointError(f"among the weights after {self._last} is something that is no number") from None
            done += len(words)
        return values

    def _text_words(self, most: int) -> list[bytes]:
        """Some of the next words, at most that many; none at the end of the file."""
        chunk = self._data[self._at : self._at + _CHUNK]
        if self._at + _CHUNK < len(self._data) and not chunk[-1:].isspace():  # its last word may be cut
            chunk = chunk[: -len(chunk.rsplit(None, 1)[-1])]
            require(bool(chunk), f"it makes no sense after {self._last}")
        words = chunk.split(None, most)
        rest = len(words.pop()) if len(words) > most else 0
        self._at += len(chunk) - rest
        return words
