"""KataGo's network files written: the same network gives the same bytes, always."""

import gzip
import io
import os
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

import numpy as np

from ...files import write_atomically
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
    Trunk,
)
from .layers import ACTIVATIONS, Act, Bias, Conv, MatMul, Norm, is_name, require
from .reader import FLOATS, RESERVED_HEADER, RESERVED_TRUNK

_KIND_WORDS = {kind: word for word, kind in BLOCKS.items()}
_ACTIVATION_WORDS = {kind: word for word, kind in ACTIVATIONS.items()}


def write_katago(path: str | os.PathLike[str], network: Description) -> None:
    """Write a network as `path` says by its end: `.bin.gz`, `.txt.gz`, `.bin` or `.txt`.

    ValueError for another end; CheckpointError if the network's version has no words for it.
    """
    name = Path(path).name
    if not name.endswith((".bin.gz", ".txt.gz", ".bin", ".txt")):
        raise ValueError(f"{name}: a KataGo network is called .bin.gz, .txt.gz, .bin or .txt")
    data = encode_katago(network, binary=name.endswith((".bin", ".bin.gz")))
    write_atomically(path, _pack(data) if name.endswith(".gz") else data)


def encode_katago(network: Description, binary: bool = True) -> bytes:
    """The bytes of such a file, without gzip."""
    return _Writer(network.version, binary).description(network)


def _pack(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:  # says neither when nor where
        file.write(data)
    return buffer.getvalue()


class _Writer:
    """Writes one thing after the other, each word on a line of its own."""

    def __init__(self, version: int, binary: bool) -> None:
        self._version = version
        self._binary = binary
        self._out = io.BytesIO()

    def description(self, network: Description) -> bytes:
        """The whole file."""
        self._lines(network.name, network.version, SPATIAL_INPUTS, GLOBAL_INPUTS)
        if self._version >= OWN_MULTIPLIERS:
            self._lines(*astuple(network.multipliers))
        if self._version >= NEW_LAYERS:
            self._lines(network.trunk.metadata is not None, network.pass_alive_suicide, *[0] * RESERVED_HEADER)
        for part in (network.trunk, network.policy, network.value):
            self._write(part)
        return self._out.getvalue()

    def _write(self, thing: Any) -> None:
        match thing:
            case None:
                pass
            case str() | int() | float():
                self._lines(thing)
            case Conv():
                self._lines(thing.name, *thing.weights.shape, 1, 1)
                self._floats(thing.weights)
            case Norm():
                self._norm(thing)
            case Act():
                self._act(thing)
            case MatMul():
                self._lines(thing.name, *thing.weights.shape)
                self._floats(thing.weights)
            case Bias():
                self._lines(thing.name, len(thing.values))
                self._floats(thing.values)
            case Trunk():
                self._trunk(thing)
            case BottleneckBlock():
                self._lines(thing.name, len(thing.blocks))
                self._parts(thing.pre, thing.narrow)
                self._blocks(thing.blocks)
                self._parts(thing.post, thing.widen)
            case _:  # its fields stand in the order of the file
                self._parts(*(getattr(thing, field.name) for field in fields(thing)))

    def _parts(self, *things: Any) -> None:
        for thing in things:
            self._write(thing)

    def _trunk(self, trunk: Trunk) -> None:
        self._lines(trunk.name, len(trunk.blocks), trunk.channels, *trunk.sizes)
        if self._version >= NEW_LAYERS:
            self._lines(0, *[0] * RESERVED_TRUNK)  # the first: batch norms
        self._parts(trunk.initial, trunk.globals, trunk.metadata)
        self._blocks(trunk.blocks)
        self._write(trunk.tip)

    def _blocks(self, blocks: Sequence[Block]) -> None:
        for block in blocks:
            self._lines(_KIND_WORDS[type(block)])
            self._write(block)

    def _norm(self, norm: Norm) -> None:
        self._lines(norm.name, norm.channels, norm.epsilon, norm.scale is not None, norm.bias is not None)
        for array in (norm.mean, norm.variance, norm.scale, norm.bias):
            if array is not None:
                self._floats(array)

    def _act(self, act: Act) -> None:
        self._lines(act.name)
        if self._version >= ACTIVATION_TOKENS:
            self._lines(_ACTIVATION_WORDS[act.kind])
        else:
            require(act.kind == "relu", f"{act.name}: version {self._version} has no activation but relu")

    def _lines(self, *words: str | int | float) -> None:
        for word in words:
            line = str(int(word)) if isinstance(word, bool) else str(word)
            require(is_name(line), f"{line[:40]!r} is no name for a layer")
            self._out.write(line.encode("ascii") + b"\n")

    def _floats(self, array: np.ndarray) -> None:
        if self._binary:
            self._out.write(FLOATS + array.astype("<f4").tobytes())
        else:  # nine digits tell every float32 from its neighbours
            self._out.write(" ".join(format(value, ".9g") for value in array.ravel().tolist()).encode("ascii"))
        self._out.write(b"\n")
