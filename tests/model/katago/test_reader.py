"""KataGo's files read: a real one, and damaged, hostile and newer ones, which are refused in one sentence."""

import gzip
import pickle
import re
import struct
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mini_alphago.model import CheckpointError
from mini_alphago.model.katago.description import OrdinaryBlock, PoolingBlock
from mini_alphago.model.katago.layers import Bias, Conv, MatMul, Norm
from mini_alphago.model.katago.reader import parse_katago, read_katago
from mini_alphago.model.katago.writer import encode_katago

from .made_up import made_up
from .real import REAL, needs_real_network

TEXT = encode_katago(made_up(16, metadata=True), binary=False)
WORDS = TEXT.split()
BINARY = encode_katago(made_up(16, metadata=True))
OLD = encode_katago(made_up(8))


def refusal(data: bytes) -> str:
    """Why the bytes are refused, which is one sentence."""
    with pytest.raises(CheckpointError) as caught:
        parse_katago(data)
    reason = str(caught.value)
    assert "\n" not in reason
    assert len(reason) < 250
    return reason


def with_word(after: str, distance: int, word: bytes) -> bytes:
    """The text file with another word that far behind the (first) word `after`."""
    words = list(WORDS)
    words[words.index(after.encode()) + distance] = word
    return b"\n".join(words)


@needs_real_network
def test_a_real_network_is_what_it_is_known_to_be() -> None:
    network = read_katago(REAL)
    trunk = network.trunk
    assert (network.name, network.version) == ("g170-b6c96-s175395328-d26788732", 8)
    assert (trunk.channels, trunk.sizes) == (96, (96, 64, 32, 32))
    kinds = [OrdinaryBlock, OrdinaryBlock, PoolingBlock, OrdinaryBlock, PoolingBlock, OrdinaryBlock]
    assert [type(block) for block in trunk.blocks] == kinds
    assert trunk.initial.weights.shape == (5, 5, 22, 96)
    pooling = trunk.blocks[2]
    assert isinstance(pooling, PoolingBlock)
    shapes = [conv.weights.shape for conv in (pooling.local, pooling.pooled, pooling.conv2)]
    assert shapes == [(3, 3, 96, 64), (3, 3, 96, 32), (3, 3, 64, 96)]
    value = network.value
    assert [x.weights.shape for x in (value.mul2, value.value, value.score)] == [(96, 64), (64, 3), (64, 4)]
    assert [x.weights.shape for x in (network.policy.local, network.policy.points)] == [(1, 1, 96, 32), (1, 1, 32, 1)]
    assert _parameters(network) == 1_027_911


@needs_real_network
def test_a_real_network_is_written_as_its_authors_wrote_it() -> None:
    assert encode_katago(read_katago(REAL)) == gzip.decompress(REAL.read_bytes())


def _parameters(part: object) -> int:
    """Numbers that were trained."""
    if isinstance(part, Conv | MatMul):
        return part.weights.size
    if isinstance(part, Bias):
        return part.values.size
    if isinstance(part, Norm):
        return sum(array.size for array in (part.scale, part.bias) if array is not None)
    parts = part if isinstance(part, tuple) else vars(part).values() if hasattr(part, "__dict__") else ()
    return sum(_parameters(inner) for inner in parts)


def test_a_file_is_what_it_holds_and_not_what_it_is_called(tmp_path: Path) -> None:
    for name in ("net.gz", "net.bin", "net.txt.gz", "net"):
        (tmp_path / name).write_bytes(gzip.compress(BINARY))
        assert read_katago(tmp_path / name).version == 16
        (tmp_path / name).write_bytes(TEXT)
        assert read_katago(tmp_path / name).version == 16


def test_any_white_space_will_do() -> None:
    spaced = b"\r\n \t" + b" \r\n\t".join(WORDS)
    assert encode_katago(parse_katago(spaced)) == BINARY
    assert encode_katago(parse_katago(OLD.replace(b"\n@BIN@", b" \t\r\n @BIN@") + b"\n\n")) == OLD


def test_long_text_is_read_across_chunks() -> None:
    for gap in range(90, 130):  # words and gaps of the first layer come to lie across the ends of chunks
        assert encode_katago(parse_katago(TEXT.replace(b" ", b" " * gap))) == BINARY


def test_the_file_is_named_and_a_missing_one_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "bad.bin.gz").write_bytes(b"nothing")
    with pytest.raises(CheckpointError, match=r"^bad\.bin\.gz: not a KataGo network file$"):
        read_katago(tmp_path / "bad.bin.gz")
    with pytest.raises(FileNotFoundError):
        read_katago(tmp_path / "none.bin.gz")


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"{}", b"hello world", pickle.dumps({"a": 1}), bytes(1000), b"x 8"],
)
def test_other_files_are_refused(data: bytes) -> None:
    assert refusal(data) == "not a KataGo network file"


@pytest.mark.parametrize("data", [BINARY, OLD], ids=["version 16", "version 8"])
def test_binary_files_cut_anywhere_are_refused(data: bytes) -> None:
    ends = {place for m in re.finditer(rb"\n|@BIN@", data) for place in (m.start(), m.start() + 1, m.end() + 1)}
    for end in {*ends, *range(0, len(data), 501)}:
        if end < len(data) - 1:  # the last newline says nothing
            refusal(data[:end])
    parse_katago(data[:-1])


def test_text_cut_between_any_two_words_is_refused() -> None:
    gaps = [m.start() for m in re.finditer(rb"\s+(?=\S)", TEXT)]
    for end in gaps[:: max(1, len(gaps) // 500)] + gaps[-50:]:
        refusal(TEXT[:end])


def test_what_follows_the_network_is_refused() -> None:
    assert refusal(BINARY + b"more") == "something follows the network's last weights"
    assert refusal(TEXT + b"0\n") == "something follows the network's last weights"
    assert refusal(gzip.compress(BINARY) + b"more") == "something follows its gzip data"


def test_damaged_gzip_is_refused() -> None:
    packed = gzip.compress(BINARY)
    assert refusal(packed[:-20]) == "its gzip data ends too early"
    assert refusal(packed[:-4]) == "its gzip data ends too early"
    assert refusal(packed[:-8] + bytes(8)) == "its gzip data is damaged"  # the checksum
    assert refusal(packed[:30] + bytes(50) + packed[80:]) == "its gzip data is damaged"
    assert refusal(packed[:2]) == "its gzip data ends too early"


def test_a_small_file_that_unpacks_to_a_large_one_is_refused() -> None:
    packer = zlib.compressobj(9, wbits=31)
    megabyte = b" " * (1 << 20)
    bomb = b"".join(packer.compress(megabyte) for _ in range(80)) + packer.flush()
    assert len(bomb) < 1 << 20
    assert "it unpacks to more than" in refusal(bomb)


@pytest.mark.parametrize("data", [TEXT, BINARY], ids=["text", "binary"])
@pytest.mark.parametrize("giant", [10**5, 10**9, 10**14])
def test_giant_sizes_take_no_memory(data: bytes, giant: int) -> None:
    changed = data.replace(b"conv1\n3\n3\n22\n4\n", b"conv1\n3\n3\n22\n%d\n" % giant)
    assert changed != data
    tracemalloc.start()
    assert refusal(changed) == "it ends within the weights after '1'"
    assert tracemalloc.get_traced_memory()[1] < 20 * len(data)
    tracemalloc.stop()
    many = data.replace(b"trunk\n3\n4\n", b"trunk\n%d\n4\n" % giant)
    assert refusal(many) == "blocks of kind 'trunk/tip' are not known here"


@pytest.mark.parametrize("number", [b"0", b"-3", b"3.0", b"0x3", b"1" * 40, b"three", "３".encode(), b"1_0"])
def test_sizes_that_are_none_are_refused(number: bytes) -> None:
    for name in ("conv1", "ginputw", "block0/pre", "v2/b"):
        refusal(with_word(name, 1, number))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_refused(bad: float) -> None:
    for name in (b"conv1", b"ginputw", b"block0/pre", b"v2/b"):  # every kind of layer that has weights
        start = BINARY.index(b"@BIN@", BINARY.index(b"\n" + name + b"\n")) + 5
        damaged = BINARY[:start] + struct.pack("<f", bad) + BINARY[start + 4 :]
        assert refusal(damaged) == f"{name.decode()}: some of its weights are not finite numbers"


@pytest.mark.parametrize("word", [b"nan", b"inf", b"-Infinity", b"1e39", b"1e999"])
def test_text_that_is_not_finite_is_refused(word: bytes) -> None:
    assert refusal(with_word("conv1", 7, word)) == "conv1: some of its weights are not finite numbers"


@pytest.mark.parametrize("word", [b"x", b"1,5", b"@BIN@", b"0x1p3", b"--1", b"1" * 100 + b"z"])
def test_text_that_is_no_number_is_refused(word: bytes) -> None:
    assert refusal(with_word("conv1", 8, word)) == "among the weights after '1' is something that is no number"


@pytest.mark.parametrize(
    ("after", "distance", "word", "reason"),
    [
        ("made-up-16", 1, b"7", "model version 7: this program reads 8 to 16"),
        ("made-up-16", 1, b"17", "model version 17: this program reads 8 to 16"),
        ("made-up-16", 0, b"x" * 97, "not a KataGo network file"),
        ("made-up-16", 2, b"21", "21 spatial inputs: networks of this program have 22"),
        ("made-up-16", 3, b"20", "20 global inputs: networks of this program have 19"),
        ("made-up-16", 4, b"0", "its output multipliers are not all positive numbers"),
        ("made-up-16", 5, b"-1", "its output multipliers are not all positive numbers"),
        ("made-up-16", 6, b"nan", "'nan' after '22.0' is no number"),
        ("made-up-16", 11, b"2", "2 says neither that there is a metadata encoder nor that there is none"),
        ("made-up-16", 12, b"2", "2 says neither that there is pass-alive suicide nor that there is none"),
        ("made-up-16", 13, b"1", "1 after '1', where only 0 has a meaning here"),
        ("made-up-16", 18, b"-1", "-1 after '0', where only 0 has a meaning here"),
        ("trunk", 2, b"5", "trunk: 5 channels, but its first layer has 4"),
        ("trunk", 7, b"1", "trunk: norms of kind 1, of which only batch norms, 0, are known here"),
        ("trunk", 8, b"1", "1 after '0', where only 0 has a meaning here"),
        ("trunk", 12, b"9", "9 after '0', where only 0 has a meaning here"),
        ("conv1", 5, b"2", "conv1: dilated convolutions are not known here"),
        ("conv1", 6, b"0", "conv1: dilated convolutions are not known here"),
        ("meta", 1, b"191", "meta: a layer of 191 channels meets one of 192"),
        (
            "block0",
            -1,
            b"transformer_attention_block",
            "blocks of kind 'transformer_attention_block' are not known here",
        ),
        ("block0", -1, b"transformer_ffn_block", "blocks of kind 'transformer_ffn_block' are not known here"),
        ("meta/a1", 1, b"ACTIVATION_GELU", "meta/a1: activation 'ACTIVATION_GELU' is not known here"),
        ("block0/pre", 3, b"2", "2 says neither that there is a scale nor that there is none"),
        ("block0/pre", 2, b"-1e9", "block0/pre: its variance and epsilon make no finite scale"),
        ("block0/pre", 2, b"e", "'e' after '4' is no number"),
    ],
)
def test_what_is_not_known_is_refused_by_name(after: str, distance: int, word: bytes, reason: str) -> None:
    assert refusal(with_word(after, distance, word)) == reason


def test_kernels_without_a_middle_are_refused() -> None:
    changed = TEXT.replace(b"conv1\n3\n3\n22\n4\n", b"conv1\n2\n3\n22\n6\n").replace(b"trunk\n3\n4\n", b"trunk\n3\n6\n")
    assert refusal(changed) == "conv1: a kernel of 2×3 has no middle"


def test_layers_that_do_not_fit_are_refused() -> None:
    changed = TEXT.replace(b"meta/m2\n3\n2\n", b"meta/m2\n2\n3\n")
    assert changed != TEXT
    assert refusal(changed) == "meta: a layer of 3 channels meets one of 2"


def test_blocks_within_blocks_without_end_are_refused() -> None:
    head = TEXT[: TEXT.index(b"ordinary_block")]
    deeper = b"nested_bottleneck_block\nb\n1\nn\n1\n1\n0\n0\n0\n1\na\nACTIVATION_RELU\nc\n1\n1\n1\n1\n1\n1\n1\n"
    assert refusal(head + deeper * 100_000) == "more than 8 blocks within each other"


def test_a_text_block_within_a_binary_file_is_refused() -> None:
    start = BINARY.index(b"@BIN@", BINARY.index(b"\nv2/b\n"))
    assert refusal(BINARY[:start] + b"0 0 0 0 0" + BINARY[start + 25 :]) == "no weights follow '5'"
    assert refusal(BINARY[:start] + b" " * 200 + BINARY[start:]) == "no weights follow '5'"


def parsed_or_refused(data: bytes) -> None:
    """Whatever the bytes are, they make a sound description or one sentence."""
    reason = ""
    try:
        again = encode_katago(parse_katago(data))
        assert encode_katago(parse_katago(again)) == again
    except CheckpointError as error:
        reason = str(error)
    assert "\n" not in reason


HOSTILE = st.sampled_from(
    [b"", b"0", b"1", b"-1", b"2", b"7", b"999999999", b"1e400", b"nan", b"@BIN@", b"ordinary_block", b"\0", b"x" * 300]
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, len(WORDS) - 1), HOSTILE | st.binary(max_size=12)), min_size=1, max_size=3))
def test_hostile_words(changes: list[tuple[int, bytes]]) -> None:
    words = list(WORDS)
    for place, word in changes:
        words[place] = word
    parsed_or_refused(b"\n".join(words))


SYNTAX = [m.start() for m in re.finditer(rb"[\x21-\x7e]+\n", OLD)]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sampled_from(SYNTAX) | st.integers(0, len(OLD) - 1), st.binary(max_size=8), st.integers(0, 8))
def test_hostile_bytes(place: int, inserted: bytes, removed: int) -> None:
    parsed_or_refused(OLD[:place] + inserted + OLD[place + removed :])


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.binary(min_size=1, max_size=8))
def test_hostile_gzip(place: int, changed: bytes) -> None:
    packed = gzip.compress(OLD, mtime=0)
    place %= len(packed)
    parsed_or_refused(packed[:place] + changed + packed[place + len(changed) :])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.binary(max_size=400))
def test_any_bytes_after_a_good_header(junk: bytes) -> None:
    parsed_or_refused(b"net\n8\n22\n19\ntrunk\n" + junk)
    parsed_or_refused(BINARY[:120] + junk)
    parsed_or_refused(junk)
