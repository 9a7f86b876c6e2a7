"""A network made deeper: blocks are added that change nothing at first, and learn from there."""

from dataclasses import fields

from torch import Tensor

from .base import Network
from .checkpoint import load_network
from .network import KataGoNetwork, build_network
from .norms import restore_sizes
from .presets import NetworkConfig

_DEPTH = ("blocks", "pooling_blocks")  # what may differ


def first_network(path: str, config: NetworkConfig) -> Network:
    """The network of a file as training begins from it, in that shape. ValueError or OSError if it cannot."""
    network = grow_network(load_network(path), config)
    restore_sizes(network)  # so that a learning rate means what it means from nothing
    return network


def grow_network(network: Network, config: NetworkConfig) -> Network:
    """A network of that shape which gives the same answers as `network`; itself if it has that shape already.

    Its tower may be deeper, with blocks between and behind the old ones that start as the identity; all else is the
    same. ValueError if no such network can be made.
    """
    if network.config == config:
        return network
    other = [f.name for f in fields(config) if f.name not in _DEPTH]
    same = all(getattr(network.config, name) == getattr(config, name) for name in other)
    places = _places(network.config, config)
    if not isinstance(network, KataGoNetwork) or not same or places is None:
        allowed = "it may get more blocks, but no other channels, inputs or heads, and KataGo's get none"
        raise ValueError(f"a network of another kind ({network.config.size}) cannot become {config.size}: {allowed}")
    grown = build_network(config)
    grown.load_state_dict({**grown.state_dict(), **_moved(network.state_dict(), places)})
    return grown.train(network.training)


def _places(before: NetworkConfig, after: NetworkConfig) -> list[int] | None:
    """Which block of the new tower each of the old ones becomes, counted from 0 and in order; None if they cannot."""
    places, next_free = [], 0
    for block in range(before.blocks):
        pools = block + 1 in before.pooling_blocks
        while next_free < after.blocks and (next_free + 1 in after.pooling_blocks) != pools:
            next_free += 1
        if next_free == after.blocks:
            return None
        places.append(next_free)
        next_free += 1
    return places


def _moved(weights: dict[str, Tensor], places: list[int]) -> dict[str, Tensor]:
    """The weights under the names that they have in the new tower."""
    moved = {}
    for name, tensor in weights.items():
        part, *rest = name.split(".")
        if part == "blocks":
            name = ".".join((part, str(places[int(rest[0])]), *rest[1:]))
        moved[name] = tensor
    return moved
