"""Networks in PyTorch written for KataGo: what is read back says the same, and what cannot be written is refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from mini_alphago.model import KataGoNetwork, Network, PolicyValueNetwork, build_network, get_encoding, katago_config
from mini_alphago.model.evaluator import trial_planes
from mini_alphago.model.export import export_katago
from mini_alphago.model.katago.describe import describe
from mini_alphago.model.katago.description import Block, BottleneckBlock, Description, PoolingBlock
from mini_alphago.model.katago.layers import Conv
from mini_alphago.model.katago.network import KataGoFileNetwork
from mini_alphago.model.katago.reader import read_katago

from ..weights import trained
from .made_up import KINDS, VERSIONS, made_up

pytestmark = pytest.mark.usefixtures("one_seed")


def planes(size: int = 5, encoding: str = "katago-v7") -> torch.Tensor:
    """Real positions of one size, 16 of them."""
    return torch.from_numpy(trial_planes(get_encoding(encoding), size)).float()


def _alike(block: Block) -> Block:
    """The same block; kernels side by side are as large as each other, with zeros around the smaller."""
    if isinstance(block, BottleneckBlock):
        return replace(block, blocks=tuple(map(_alike, block.blocks)))
    if isinstance(block, PoolingBlock):
        more = (block.local.weights.shape[0] - block.pooled.weights.shape[0]) // 2
        weights = np.pad(block.pooled.weights, ((more, more), (more, more), (0, 0), (0, 0)))
        return replace(block, pooled=Conv(block.pooled.name, weights))
    return block


def writable(version: int, metadata: bool = False) -> Description:
    """A made-up network with all kinds of blocks, none with kernels of two sizes."""
    network = made_up(version, metadata=metadata, seed=version)
    return replace(network, trunk=replace(network.trunk, blocks=tuple(map(_alike, network.trunk.blocks))))


def trained_here() -> KataGoFileNetwork:
    """What training makes, its running statistics included."""
    network = trained(build_network(katago_config(3, 16, encoding="katago-v7")))
    assert isinstance(network, KataGoFileNetwork)
    return network


def written(network: Network, path: Path, name: str | None = None) -> KataGoFileNetwork:
    export_katago(network, path, name)
    return KataGoFileNetwork(read_katago(path))


def assert_same_answers(one: KataGoFileNetwork, other: KataGoFileNetwork, x: torch.Tensor) -> None:
    """In the corner of a larger tensor too, and in all that KataGo says of a position."""
    size = x.shape[-1]
    mask = torch.zeros(len(x), 1, size, size, dtype=torch.bool)
    mask[:, :, : size - 1, : size - 2] = True
    with torch.inference_mode():
        for on in (None, mask):
            for ours, theirs in zip(one.outputs(x, on), other.outputs(x, on), strict=True):
                torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=2e-5)
            for name, ours, theirs in zip(
                one.explain(x)._fields, one.explain(x, on), other.explain(x, on), strict=True
            ):
                torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4, msg=name)


@pytest.mark.parametrize(("version", "metadata"), [*((v, False) for v in VERSIONS), (15, True), (16, True)])
def test_every_version_says_the_same_again(version: int, metadata: bool, tmp_path: Path) -> None:
    network = KataGoFileNetwork(writable(version, metadata))
    again = written(network, tmp_path / "net.bin.gz")
    x = planes(6, network.config.encoding)
    assert float(network.outputs(x).policy.detach().std()) > 0.01  # there is something to compare
    assert_same_answers(network, again, x)
    assert (again.name, again.version, again.config) == (network.name, version, network.config)
    assert (again.multipliers, again.trunk_sizes) == (network.multipliers, network.trunk_sizes)
    assert again.pass_alive_suicide == network.pass_alive_suicide == (version >= 15)
    assert (again.metadata is not None) == metadata


@pytest.mark.parametrize("end", ["bin.gz", "txt.gz", "bin", "txt"])
def test_a_network_trained_here(end: str, tmp_path: Path) -> None:
    network = trained_here()
    again = written(network, tmp_path / f"net.{end}")
    with torch.inference_mode():
        for size in (5, 9):
            x = planes(size)
            for ours, theirs in zip(network.outputs(x), again.outputs(x), strict=True):
                torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
            # It learned one score, which is both of KataGo's; as it stands in the module the mean is arbitrary.
            values = again.explain(x)
            torch.testing.assert_close(values.score_mean, values.lead, rtol=1e-5, atol=1e-5)
            assert float((network.explain(x).score_mean - values.score_mean).abs().max()) > 1e-3
            torch.testing.assert_close(values.lead.float(), network.outputs(x).score, rtol=1e-4, atol=1e-4)
            torch.testing.assert_close(values.win - values.loss, network.outputs(x).value.double(), rtol=0, atol=1e-4)
    assert again.config.family == "katago-file"


def test_a_network_in_training_is_written_as_it_answers(tmp_path: Path) -> None:
    """By its running statistics, which a step in training has moved, and without moving them."""
    network = trained_here()
    network.train().outputs(planes())
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    again = written(network, tmp_path / "net.bin.gz")
    assert network.training
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items())
    with torch.inference_mode():
        torch.testing.assert_close(again.outputs(planes()), network.eval().outputs(planes()), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["fresh", "file"])
def test_written_twice_is_the_same_to_the_byte(kind: str, tmp_path: Path) -> None:
    network = trained_here() if kind == "fresh" else KataGoFileNetwork(writable(16, metadata=True))
    for name in ("one.bin.gz", "other.bin.gz"):
        export_katago(network, tmp_path / name)
    assert (tmp_path / "one.bin.gz").read_bytes() == (tmp_path / "other.bin.gz").read_bytes()
    with torch.no_grad():
        network.blocks[0].conv1.weight[0, 0, 0, 0] += 1e-3
    export_katago(network, tmp_path / "changed.bin.gz")
    assert (tmp_path / "changed.bin.gz").read_bytes() != (tmp_path / "one.bin.gz").read_bytes()


def test_names_become_words_that_katago_takes() -> None:
    network = trained_here()
    assert describe(network).name == "mini-alphago"
    assert describe(network, "runs/my laptop.2").name == "runs-my-laptop-2"
    assert describe(network, "x" * 200).name == "x" * 96


@pytest.mark.parametrize("network", [KataGoNetwork(1, 8), PolicyValueNetwork(5, 7, 8, 1)], ids=["katago", "tutorial"])
def test_networks_with_other_inputs_are_refused(network: Network, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"own inputs only: train with --network\.encoding katago-v7$"):
        export_katago(network, tmp_path / "net.bin.gz")
    assert not list(tmp_path.iterdir())


def test_kernels_of_two_sizes_are_refused(tmp_path: Path) -> None:
    """Such a file can be read; its two convolutions are one here, and do not come apart again."""
    network = KataGoFileNetwork(made_up(14, KINDS))
    with pytest.raises(ValueError, match=r"block3/1: kernels of two sizes side by side can be read, but not written$"):
        export_katago(network, tmp_path / "net.bin.gz")
    assert not list(tmp_path.iterdir())


def test_a_file_is_its_only_description() -> None:
    """Weights alone do not rebuild it, so it is not made anew from its config."""
    with pytest.raises(ValueError, match="from that file only"):
        build_network(KataGoFileNetwork(made_up(8)).config)
