"""KataGo's files wherever a network is asked for: what they are is said at once, and bad ones are refused by name."""

import gzip
import importlib.util
from pathlib import Path

import pytest
import torch

from mini_alphago.model import (
    Checkpoint,
    CheckpointError,
    load_checkpoint,
    load_network,
    read_description,
    save_checkpoint,
)
from mini_alphago.model.checkpoint import UNKNOWN
from mini_alphago.model.katago.network import KataGoFileNetwork
from mini_alphago.model.katago.writer import encode_katago, write_katago

from .made_up import VERSIONS, made_up
from .real import REAL, needs_real_network
from .small import SMALL

KATRAIN = importlib.util.find_spec("katrain")


@pytest.mark.skipif(
    KATRAIN is None or KATRAIN.origin is None,
    reason="KaTrain is not installed (pip install --no-deps -c constraints.txt katrain pysgf chardet)",
)
def test_a_real_transformer_is_refused() -> None:
    """The network that comes with KaTrain has attention blocks and other norms, though its version is a known one."""
    assert KATRAIN is not None
    path = Path(str(KATRAIN.origin)).parent / "models" / "b10c384h6nbttflrs.bin.gz"
    for read in (read_description, load_network):
        with pytest.raises(CheckpointError, match=r"^b10c384h6nbttflrs.bin.gz: trunk: norms of kind 1, of which"):
            read(path)


@pytest.mark.parametrize("end", ["bin.gz", "txt.gz", "bin", "txt"])
@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_file_says_at_once_is_what_is_in_it(version: int, end: str, tmp_path: Path) -> None:
    path = tmp_path / f"net.{end}"
    write_katago(path, made_up(version, metadata=version >= 15))
    network, checkpoint = load_checkpoint(path)
    assert read_description(path) == checkpoint
    assert isinstance(network, KataGoFileNetwork)
    assert network.config == checkpoint.config
    assert (network.version, network.training) == (version, False)
    assert checkpoint.notes == {"name": f"made-up-{version}"}
    assert (checkpoint.config.blocks, checkpoint.config.channels, checkpoint.config.input_planes) == (3, 4, 23)
    assert checkpoint.config.encoding == ("katago-v7-suicide" if version >= 15 else "katago-v7")
    assert (checkpoint.board_sizes, checkpoint.steps) == (tuple(range(7, 20)), UNKNOWN)


@pytest.mark.parametrize(
    ("path", "size"), [(SMALL, "b2c16"), pytest.param(REAL, "b6c96", marks=needs_real_network)], ids=["small", "real"]
)
def test_trained_networks(path: Path, size: str) -> None:
    network, checkpoint = load_checkpoint(path)
    assert read_description(path) == checkpoint
    assert checkpoint.config.size == size
    assert all(bool(torch.isfinite(tensor).all()) for tensor in network.state_dict().values())


def damaged(kind: str) -> bytes:
    """What could be in a file that is called net.bin.gz."""
    whole = encode_katago(made_up(8))
    match kind:
        case "empty":
            return b""
        case "noise":
            return bytes(range(256)) * 40
        case "truncated":
            return gzip.compress(whole)[:-600]
        case "weights missing":
            return gzip.compress(whole[:-100])
        case "more behind":
            return gzip.compress(whole + b"more\n")
        case "broken gzip":
            packed = bytearray(gzip.compress(whole))
            packed[200] ^= 255
            return bytes(packed)
        case "newer":
            return gzip.compress(whole.replace(b"made-up-8\n8\n", b"made-up-8\n17\n"))
        case "other inputs":
            return gzip.compress(whole.replace(b"\n22\n19\n", b"\n13\n19\n", 1))
        case "attention":
            return gzip.compress(whole.replace(b"ordinary_block", b"transformer_attention_block"))
        case "one channel":
            return gzip.compress(whole.replace(b"trunk\n3\n4\n", b"trunk\n3\n1\n"))
        case _:
            return gzip.compress(whole.replace(b"trunk\n3\n", b"trunk\n3000\n"))


SAID_AT_ONCE = ["empty", "noise", "newer", "other inputs", "one channel", "too many blocks"]


@pytest.mark.parametrize(
    "kind", [*SAID_AT_ONCE, "truncated", "weights missing", "more behind", "broken gzip", "attention"]
)
def test_bad_files_are_refused_by_name(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "net.bin.gz"
    path.write_bytes(damaged(kind))
    for read in (load_checkpoint, load_network, *([read_description] if kind in SAID_AT_ONCE else [])):
        with pytest.raises(CheckpointError, match=r"^net\.bin\.gz: [^\n]+$"):
            read(path)


def test_networks_of_other_kinds_are_not_taken_for_katagos(tmp_path: Path) -> None:
    (tmp_path / "net.safetensors").write_bytes(SMALL.read_bytes())
    with pytest.raises(CheckpointError, match=r"^net\.safetensors: not a whole safetensors file"):
        load_network(tmp_path / "net.safetensors")
    with pytest.raises(FileNotFoundError):
        load_network(tmp_path / "missing.bin.gz")
    with pytest.raises(FileNotFoundError):
        read_description(tmp_path / "missing.bin.gz")


def test_a_network_from_a_file_is_no_checkpoint(tmp_path: Path) -> None:
    """What would be written could not be read again."""
    network, checkpoint = load_checkpoint(SMALL)
    assert isinstance(checkpoint, Checkpoint)
    with pytest.raises(ValueError, match=r"from a KataGo file is saved as one: `export_katago`"):
        save_checkpoint(tmp_path / "net.safetensors", network, checkpoint)
    assert not list(tmp_path.iterdir())
