"""Networks on disk: they come back as they were, and bad files are refused in one sentence."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from mini_alphago.game import Board
from mini_alphago.model import (
    SHIPPED,
    Checkpoint,
    CheckpointError,
    Evaluator,
    KataGoNetwork,
    PolicyValueNetwork,
    load_checkpoint,
    load_network,
    read_description,
    save_checkpoint,
)
from mini_alphago.model.checkpoint import newest_network

from .weights import trained

NETWORKS = {
    "tutorial": lambda: PolicyValueNetwork(5, 7, 8, 2),
    "alphazero planes": lambda: PolicyValueNetwork(7, 17, 8, 1),
    "pooled": lambda: KataGoNetwork(3, 16),
    "fc": lambda: KataGoNetwork(2, 16, heads="fc", board_size=7),
}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("half", [False, True])
def test_round_trip(name: str, half: bool, tmp_path: Path) -> None:
    network = trained(NETWORKS[name]())
    told = Checkpoint(network.config, board_sizes=(5, 7), rules="aga", steps=123, notes={"why": "a test"})
    save_checkpoint(tmp_path / "a.safetensors", network, told, half=half)
    again, checkpoint = load_checkpoint(tmp_path / "a.safetensors")
    assert checkpoint == told
    assert again.config == network.config
    assert not again.training
    for key, tensor in network.state_dict().items():
        torch.testing.assert_close(again.state_dict()[key], tensor, rtol=1e-3 if half else 0, atol=1e-4 if half else 0)
    size = network.config.board_size or 7
    x = torch.randn(2, network.config.input_planes, size, size)
    torch.testing.assert_close(again.outputs(x).value, network.outputs(x).value, rtol=0, atol=0.01 if half else 0)


def test_the_description_alone_is_that_of_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    network = KataGoNetwork(1, 8)
    save_checkpoint(path, network, Checkpoint(network.config, board_sizes=(9, 13), steps=7))
    assert read_description(path) == load_checkpoint(path)[1]
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(CheckpointError, match=r"net\.safetensors: not a whole safetensors file"):
        read_description(path)


def test_reads_the_tutorial_trainers_files(tmp_path: Path) -> None:
    network = trained(PolicyValueNetwork(9, 7, 16, 3))
    torch.save(network.state_dict(), tmp_path / "model_iter_1.pt")
    again, checkpoint = load_checkpoint(tmp_path / "model_iter_1.pt")
    assert checkpoint.config == network.config
    x = torch.randn(2, 7, 9, 9)
    torch.testing.assert_close(again(x)[0], network(x)[0])


class Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return Path.write_text, (Path("/tmp/mini-alphago-was-here"), "pwned")


def damaged(kind: str, path: Path) -> Path:
    """A bad file of some kind."""
    network = KataGoNetwork(2, 16)
    good = path / "good.safetensors"
    save_checkpoint(good, network)
    data = good.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    bad = path / "bad.safetensors"
    if kind == "truncated":
        bad.write_bytes(data[: len(data) // 2])
    elif kind == "truncated header":
        bad.write_bytes(data[:50])
    elif kind == "empty":
        bad.write_bytes(b"")
    elif kind == "huge header length":
        bad.write_bytes(struct.pack("<Q", 2**60) + data[8:])
    elif kind == "text":
        bad.write_text("hello" * 100)
    elif kind == "another safetensors":
        save_file({"x": torch.zeros(3)}, bad)
    elif kind == "pickle":
        bad = bad.with_suffix(".pt")
        torch.save({"x": Evil()}, bad)
    elif kind == "weights of something else":
        bad = bad.with_suffix(".pt")
        torch.save({"x": torch.zeros(3)}, bad)
    else:
        meta = header["__metadata__"]
        told = json.loads(meta["checkpoint"])
        if kind == "version":
            meta["version"] = "99"
        elif kind == "wrong shapes":
            told["config"]["channels"] = 32
        elif kind == "damaged description":
            meta["checkpoint"] = "{"
        elif kind == "unknown field":
            told["config"]["colour"] = "blue"
        elif kind == "giant":
            told["config"].update(blocks=10**9)
        elif kind == "nan":
            data = data[:-4] + struct.pack("<f", float("nan"))
        if kind != "damaged description":
            meta["checkpoint"] = json.dumps(told)
        text = json.dumps(header).encode()
        bad.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])
    return bad


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("truncated", "not a whole safetensors file"),
        ("truncated header", "not a whole safetensors file"),
        ("empty", "not a whole safetensors file"),
        ("huge header length", "not a whole safetensors file"),
        ("text", "not a whole safetensors file"),
        ("another safetensors", "not a mini-alphago checkpoint"),
        ("pickle", "not a file of weights"),
        ("weights of something else", "not those of the tutorial's network"),
        ("version", "version '99': this program reads version 1"),
        ("wrong shapes", "do not fit"),
        ("damaged description", "description is damaged"),
        ("unknown field", "colour"),
        ("giant", "1 to 200"),
        ("nan", "not finite"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(kind: str, message: str, tmp_path: Path) -> None:
    path = damaged(kind, tmp_path)
    with pytest.raises(CheckpointError, match=f"^{path.name}: .*{message}") as error:
        load_network(path)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 250
    assert not Path("/tmp/mini-alphago-was-here").exists()


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_network(tmp_path / "none.safetensors")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    save_checkpoint(path, KataGoNetwork(1, 8))
    before = path.read_bytes()
    with pytest.raises(TypeError):  # notes that JSON cannot hold
        save_checkpoint(path, KataGoNetwork(1, 8), Checkpoint(KataGoNetwork(1, 8).config, notes={"x": object()}))
    with pytest.raises(ValueError, match="no NetworkConfig"):
        save_checkpoint(path, torch.nn.Linear(2, 2))
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.safetensors"]


def test_the_network_that_comes_with_the_package():
    """It is small, knows 9×9, and sees who owns what when both live and Black is 20 points ahead."""
    assert newest_network(SHIPPED).stat().st_size < 5_000_000
    network, checkpoint = load_checkpoint(SHIPPED)
    assert checkpoint.board_sizes == (9,)
    assert checkpoint.steps > 0
    rows = ["..X..XO..", ".X.X.XO.O", "..X..XO..", "X..X.XO.O"] * 2 + ["..X..XO.."]
    board = Board.from_diagram("\n".join(rows), komi=7)
    told = Evaluator(network, "cpu", engine="torch").evaluate(board.games)
    assert board.score() == 20
    assert told.value[0] > 0.9
    assert told.score[0] > 10
    assert (np.sign(told.ownership[0]) == board.ownership().reshape(-1)).all()


def test_a_file_of_that_name_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / SHIPPED).write_bytes(b"")
    assert newest_network(SHIPPED) == Path(SHIPPED)
