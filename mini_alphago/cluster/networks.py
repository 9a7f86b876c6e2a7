"""Networks on their way through the cluster: their weights, as bytes."""

from typing import Any

import torch
from safetensors.torch import load, save

from ..model import Network


def weights_of(network: Network) -> bytes:
    """The weights to send; a network of a million of them takes 4 MB."""
    return save({name: tensor.detach().cpu().contiguous().clone() for name, tensor in network.state_dict().items()})


def load_weights(network: Network, data: bytes) -> None:
    """Take the weights that `weights_of` gave, in a network of the same shape."""
    with torch.no_grad():
        network.load_state_dict(load(data))


def fetch(box: list[Any]) -> bytes:
    """The bytes behind an object reference, which travels in a list so that Ray does not fetch it unasked."""
    import ray

    data: bytes = ray.get(box[0])
    return data
