"""What the tests of engines in processes of their own share."""

import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of the smallest network, untrained, always the same; it fits every board."""
    import torch

    from mini_alphago.model import build_network, katago_config, save_checkpoint

    with torch.random.fork_rng():
        torch.manual_seed(1)
        network = build_network(katago_config(1, 8))
    path = tmp_path_factory.mktemp("model") / "tiny.safetensors"
    save_checkpoint(path, network)
    return path


@pytest.fixture(scope="session")
def gtp_command(tiny_model: Path) -> list[str]:
    """The command line of a GTP engine with that network; more options may follow."""
    return [sys.executable, "-m", "mini_alphago", "gtp", "--model", str(tiny_model), "--device", "cpu"]
