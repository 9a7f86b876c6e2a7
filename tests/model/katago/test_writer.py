"""Networks written as KataGo's files: always the same bytes, and only what the reader gives back unchanged."""

import gzip
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mini_alphago.model import CheckpointError
from mini_alphago.model.katago.layers import Act, Bias
from mini_alphago.model.katago.reader import parse_katago, read_katago
from mini_alphago.model.katago.writer import encode_katago, write_katago

from .made_up import KINDS, VERSIONS, made_up

NAMES = ("net.bin.gz", "net.txt.gz", "net.bin", "net.txt")


def assert_same(one: Any, other: Any) -> None:
    """Both are the same description, bit for bit."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one.view(np.uint32), other.view(np.uint32))
    elif is_dataclass(one):
        for field in fields(one):
            assert_same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    else:
        assert one == other


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_comes_back_as_it_was(version: int, name: str, tmp_path: Path) -> None:
    network = made_up(version, metadata=version >= 15)
    write_katago(tmp_path / name, network)
    assert_same(read_katago(tmp_path / name), network)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("binary", [False, True])
def test_every_kind_of_block_in_every_version(kind: str, binary: bool) -> None:
    for version in VERSIONS:
        network = made_up(version, (kind, kind), seed=version)
        assert_same(parse_katago(encode_katago(network, binary)), network)


def test_text_keeps_every_bit_of_difficult_numbers() -> None:
    network = made_up()
    random = np.random.default_rng(3)
    bits = random.integers(0, 2**32, 20_000, dtype=np.uint32)
    numbers = np.concatenate((bits.view(np.float32), np.array([0.0, -0.0, 1e-45, 3.4028235e38, 16777217], np.float32)))
    numbers = numbers[np.isfinite(numbers)]
    value = network.value
    wide = replace(
        value,
        mul2=replace(value.mul2, weights=np.resize(value.mul2.weights, (9, len(numbers)))),
        bias2=Bias("v2/b", numbers),
        value=replace(value.value, weights=np.resize(value.value.weights, (len(numbers), 3))),
        score=replace(value.score, weights=np.resize(value.score.weights, (len(numbers), 4))),
    )
    again = parse_katago(encode_katago(replace(network, value=wide), binary=False))
    np.testing.assert_array_equal(again.value.bias2.values.view(np.uint32), numbers.view(np.uint32))


@pytest.mark.parametrize("name", ["net.bin.gz", "net.txt.gz"])
def test_written_twice_is_the_same_to_the_byte(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_katago(tmp_path / name, made_up(16))
    first = (tmp_path / name).read_bytes()
    monkeypatch.setattr("time.time", lambda: 2e9)  # a gzip header may hold the time
    (tmp_path / "other").mkdir()
    write_katago(tmp_path / "other" / f"elsewhere-{name}", made_up(16))
    assert (tmp_path / "other" / f"elsewhere-{name}").read_bytes() == first
    assert first[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"  # no name, no time


def test_the_layout_of_the_first_lines() -> None:
    lines = encode_katago(made_up(15, ("ordinary",)), binary=False).decode().split("\n")
    header = ["made-up-15", "15", "22", "19", "21.0", "22.0", "23.0", "24.0", "41.0", "0.3", "150.0"]
    assert lines[:19] == [*header, "0", "1", *["0"] * 6]
    assert lines[19:32] == ["trunk", "1", "4", "5", "3", "1", "2", *["0"] * 6]
    assert lines[32:39] == ["conv1", "3", "3", "22", "4", "1", "1"]
    assert len(lines[39].split()) == 3 * 3 * 22 * 4
    assert lines[40:43] == ["ginputw", "19", "4"]
    assert lines[44:51] == ["ordinary_block", "block0", "block0/pre", "4", "1e-20", "0", "0"]
    assert lines[53:56] == ["block0/pre/act", "ACTIVATION_MISH", "block0/c1"]


def test_binary_blocks_are_little_endian_after_their_mark() -> None:
    network = made_up()
    data = encode_katago(network)
    weights = network.trunk.initial.weights
    assert data.startswith(b"made-up-8\n8\n22\n19\ntrunk\n3\n4\n5\n3\n1\n2\nconv1\n3\n3\n22\n4\n1\n1\n@BIN@")
    start = data.index(b"@BIN@") + 5
    assert data[start : start + weights.nbytes] == weights.astype("<f4").tobytes()
    assert data[start + weights.nbytes :].startswith(b"\nginputw\n19\n4\n@BIN@")
    assert data.endswith(network.value.ownership.weights.astype("<f4").tobytes() + b"\n")


def test_what_a_version_cannot_say_is_refused() -> None:
    network = made_up(10)
    mish = replace(network.value, act2=Act("v2/act", "mish"))
    with pytest.raises(CheckpointError, match="version 10 has no activation but relu"):
        encode_katago(replace(network, value=mish))
    with pytest.raises(CheckpointError, match="version 12 cannot say"):
        replace(made_up(13), version=12)
    with pytest.raises(CheckpointError, match="version 14 cannot say"):
        replace(made_up(15), version=14)
    with pytest.raises(CheckpointError, match="pass layers of another version"):
        replace(made_up(14), version=15)
    with pytest.raises(CheckpointError, match="2 channels meets one of 4"):
        replace(made_up(15), version=16)
    with pytest.raises(CheckpointError, match="4 channels meets one of 6"):
        replace(made_up(8), version=9)


def test_names_that_are_not_one_word_are_refused() -> None:
    network = made_up()
    for name in ("two words", "", "Zürich", "a\nb", "x" * 97):
        with pytest.raises(CheckpointError, match="is no name for a network"):
            replace(network, name=name)
        if len(name) < 97:
            with pytest.raises(CheckpointError, match="is no name for a layer"):
                encode_katago(replace(network, value=replace(network.value, name=name)))


def test_other_ends_of_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"net\.onnx: a KataGo network is called"):
        write_katago(tmp_path / "net.onnx", made_up())
    assert not list(tmp_path.iterdir())


def test_compressed_files_hold_what_plain_ones_hold(tmp_path: Path) -> None:
    for name in NAMES:
        write_katago(tmp_path / name, made_up(14))
    assert gzip.decompress((tmp_path / "net.bin.gz").read_bytes()) == (tmp_path / "net.bin").read_bytes()
    assert gzip.decompress((tmp_path / "net.txt.gz").read_bytes()) == (tmp_path / "net.txt").read_bytes()
