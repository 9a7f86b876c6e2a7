"""Networks on disk: safetensors files that say everything needed to rebuild the network, and can hide no code.

The metadata holds `format` ("mini-alphago"), `version`, and `checkpoint`, a JSON object of `Checkpoint`'s fields.
The tutorial's `.pt` files, plain state dicts, and KataGo's `.bin.gz` and `.txt.gz` are read too.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open

from ..files import write_atomically
from .presets import NetworkConfig, tutorial_config

if TYPE_CHECKING:  # functions import it when they need it: the description of a network can be had without
    from torch import Tensor, nn

    from .base import Network

FORMAT = "mini-alphago"
VERSION = 1
UNKNOWN = -1  # steps
_KATAGO_ENDS = (".bin.gz", ".txt.gz", ".bin", ".txt")
_KATAGO_SIZES = tuple(range(7, 20))  # boards that KataGo trains on
SHIPPED = "shipped"  # in place of a path: the network that comes with the package
_NETWORKS = Path(__file__).parents[1] / "networks"


class CheckpointError(ValueError):
    """A file that is no usable checkpoint; the message says in one sentence what is wrong with it."""


@dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint says of its network."""

    config: NetworkConfig
    board_sizes: tuple[int, ...] = ()  # sizes it was trained on; empty if untrained
    rules: str = "cgos"  # the rule set it was trained under
    steps: int = 0  # training steps so far; UNKNOWN if it was trained elsewhere
    notes: dict[str, Any] = field(default_factory=dict)  # anything else worth keeping, as JSON can hold it


def save_checkpoint(
    path: str | os.PathLike[str], network: "nn.Module", checkpoint: Checkpoint | None = None, half: bool = False
) -> None:
    """Write a network to `path`, atomically; `half` halves its size by rounding weights to float16.

    `checkpoint` tells more of it; its config is always the network's own.
    """
    import torch
    from safetensors.torch import save as save_tensors

    config = _config_of(network)
    checkpoint = replace(checkpoint, config=config) if checkpoint else Checkpoint(config)
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    if half:
        tensors = {name: t.half() if t.dtype == torch.float32 else t for name, t in tensors.items()}
    described = {**asdict(checkpoint), "config": config.to_dict()}
    metadata = {"format": FORMAT, "version": str(VERSION), "checkpoint": json.dumps(described)}
    write_atomically(path, save_tensors(tensors, metadata))


def load_checkpoint(path: str | os.PathLike[str]) -> tuple["Network", Checkpoint]:
    """The network in a file, in eval mode on the CPU in float32, and what the file says of it.

    OSError if there is no such file; CheckpointError if it is truncated, of another kind, of an unknown version, or if
    its weights do not fit the network it describes.
    """
    from .network import build_network

    path = newest_network(path)
    if path.name.endswith(_KATAGO_ENDS):
        return _load_katago(path)
    with _naming(path):
        tensors, checkpoint = _read(path, weights=True)
        network = build_network(checkpoint.config)
        _load_weights(network, tensors)
    return network.eval(), checkpoint


def read_description(path: str | os.PathLike[str]) -> Checkpoint:
    """What a file says of its network, in a moment: as `load_checkpoint`, but the weights are not looked at."""
    path = newest_network(path)
    with _naming(path):
        if path.name.endswith(_KATAGO_ENDS):
            from .katago.reader import read_header

            return _katago_checkpoint(*read_header(path))
        return _read(path, weights=False)[1]


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """What is wrong in this block is wrong with that file."""
    try:
        yield
    except ValueError as error:  # also of a config that no network can have
        raise CheckpointError(f"{path.name}: {error}") from None


def newest_network(path: str | os.PathLike[str]) -> Path:
    """The file itself; of the folder of a training run, its newest network; of "shipped", the package's own.

    CheckpointError if there is none.
    """
    if path == SHIPPED and not Path(path).exists():
        return _NETWORKS / "9x9.safetensors"
    path = Path(path)
    return run_networks(path)[-1] if path.is_dir() else path


def run_networks(folder: str | os.PathLike[str]) -> list[Path]:
    """All networks in the folder of a training run, the oldest first. CheckpointError if there are none."""
    found = [file for file in Path(folder).glob("checkpoints/*.safetensors") if file.stem.isdigit()]
    if not found:
        raise CheckpointError(f"{folder}: a folder without a network; a training run has some in checkpoints/")
    return sorted(found, key=lambda file: int(file.stem))


def load_network(path: str | os.PathLike[str]) -> "Network":
    """`load_checkpoint`, the network alone."""
    return load_checkpoint(path)[0]


def _read(path: Path, weights: bool) -> tuple[dict[str, "Tensor"], Checkpoint]:
    """The weights, if they are wanted, and what they are the weights of."""
    if path.suffix in (".pt", ".pth"):  # says nothing of itself but by its weights
        return _read_tutorial_file(path)
    return _read_safetensors(path, weights)


def _load_katago(path: Path) -> tuple["Network", Checkpoint]:
    from .katago.network import KataGoFileNetwork
    from .katago.reader import read_katago

    description = read_katago(path)
    with _naming(path):
        network = KataGoFileNetwork(description)
    return network, _katago_checkpoint(description.name, network.config)


def _katago_checkpoint(name: str, config: NetworkConfig) -> Checkpoint:
    return Checkpoint(config, _KATAGO_SIZES, "any", UNKNOWN, {"name": name})


def _read_safetensors(path: Path, weights: bool) -> tuple[dict[str, "Tensor"], Checkpoint]:
    with path.open("rb"):  # for an ordinary OSError if it is missing, a folder, or not ours to read
        pass
    try:
        with safe_open(path, framework="pt" if weights else "numpy") as file:
            metadata = file.metadata() or {}
            checkpoint = _read_metadata(metadata)
            return {name: file.get_tensor(name) for name in file.keys() if weights}, checkpoint  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        reason = str(error).replace("\n", " ")[:80]
        raise CheckpointError(f"not a whole safetensors file ({reason})") from None


def _read_metadata(metadata: dict[str, str]) -> Checkpoint:
    if metadata.get("format") != FORMAT:
        raise CheckpointError("a safetensors file, but not a mini-alphago checkpoint")
    if metadata.get("version") != str(VERSION):
        raise CheckpointError(f"checkpoint version {metadata.get('version')!r}: this program reads version {VERSION}")
    try:
        values = json.loads(metadata["checkpoint"])
        config = NetworkConfig.from_dict(values.pop("config"))
        checkpoint = Checkpoint(config, tuple(map(int, values.pop("board_sizes"))), **values)
        if not isinstance(checkpoint.steps, int) or not isinstance(checkpoint.notes, dict):
            raise ValueError("steps or notes are not what they should be")
        return checkpoint
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(f"its description is damaged ({error})") from None


def _read_tutorial_file(path: Path) -> tuple[dict[str, "Tensor"], Checkpoint]:
    """A state dict as the tutorial's Trainer saves it, and the network it must have come from."""
    import torch

    with path.open("rb") as file:
        try:
            # weights_only: unpickles tensors and nothing that could run
            tensors = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # torch has no common class for what can be wrong with a file
            raise CheckpointError(f"not a file of weights ({type(error).__name__})") from None
    try:
        filters, planes = tensors["conv_input.weight"].shape[:2]
        blocks = len({name.split(".")[1] for name in tensors if name.startswith("residual_blocks.")})
        size = round((len(tensors["policy_fc.bias"]) - 1) ** 0.5)
        config = tutorial_config(blocks, filters, board_size=size, input_planes=planes)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise CheckpointError("its weights are not those of the tutorial's network") from None
    return tensors, Checkpoint(config, board_sizes=(size,), steps=UNKNOWN)


def _load_weights(network: "nn.Module", tensors: dict[str, "Tensor"]) -> None:
    import torch

    try:
        network.load_state_dict(tensors)  # copies into float32, whatever the file has
    except RuntimeError as error:
        reason = str(error).split("\n")[1].strip() if "\n" in str(error) else str(error)
        raise CheckpointError(f"its weights do not fit the network it describes ({reason[:120]})") from None
    if not all(bool(torch.isfinite(tensor).all()) for tensor in network.state_dict().values()):
        raise CheckpointError("some of its weights are not finite numbers")


def _config_of(network: "nn.Module") -> NetworkConfig:
    config = getattr(network, "config", None)
    if not isinstance(config, NetworkConfig):
        raise ValueError(f"a {type(network).__name__} cannot be saved: it has no NetworkConfig")
    if config.family == "katago-file":
        raise ValueError("a network from a KataGo file is saved as one: `export_katago` writes it")
    return config
