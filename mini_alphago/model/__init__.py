"""What a network sees and says, and how to ask it."""

from . import symmetry
from .blocks import GlobalPoolingBlock, PostActivationBlock, ResidualBlock
from .checkpoint import Checkpoint, CheckpointError, load_checkpoint, load_network, save_checkpoint
from .evaluator import Evaluation, Evaluator
from .features import ENCODINGS, Encoding, encode_board, get_encoding
from .heads import OwnershipHead, PolicyHead, PooledPolicyHead, ScoreHead, ValueHead
from .network import (
    KataGoNetwork,
    Network,
    NetworkOutput,
    PolicyValueNetwork,
    build_network,
    count_flops,
    count_parameters,
    create_network,
)
from .presets import NAMED_SIZES, NetworkConfig, katago_config, parse_size, tutorial_config

__all__ = [
    "ENCODINGS",
    "NAMED_SIZES",
    "Checkpoint",
    "CheckpointError",
    "Encoding",
    "Evaluation",
    "Evaluator",
    "GlobalPoolingBlock",
    "KataGoNetwork",
    "Network",
    "NetworkConfig",
    "NetworkOutput",
    "OwnershipHead",
    "PolicyHead",
    "PolicyValueNetwork",
    "PooledPolicyHead",
    "PostActivationBlock",
    "ResidualBlock",
    "ScoreHead",
    "ValueHead",
    "build_network",
    "count_flops",
    "count_parameters",
    "create_network",
    "encode_board",
    "get_encoding",
    "katago_config",
    "load_checkpoint",
    "load_network",
    "parse_size",
    "save_checkpoint",
    "symmetry",
    "tutorial_config",
]
