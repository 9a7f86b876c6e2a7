"""What a network sees and says, and how to ask it. Whatever needs PyTorch is imported when it is asked for."""

from typing import TYPE_CHECKING

from ..lazy import lazily
from .checkpoint import (
    SHIPPED,
    Checkpoint,
    CheckpointError,
    load_checkpoint,
    load_network,
    read_description,
    save_checkpoint,
)
from .encodings import ENCODINGS, Encoding, encode_board, get_encoding
from .evaluation import Evaluation
from .presets import NAMED_SIZES, NetworkConfig, katago_config, parse_size, tutorial_config

if TYPE_CHECKING:
    from . import symmetry
    from .base import Network, NetworkOutput
    from .blocks import GlobalPoolingBlock, PostActivationBlock, ResidualBlock
    from .evaluator import Evaluator
    from .heads import OwnershipHead, PolicyHead, PooledPolicyHead, ScoreHead, ValueHead
    from .network import (
        KataGoNetwork,
        PolicyValueNetwork,
        build_network,
        count_flops,
        count_parameters,
        create_network,
    )
else:
    __getattr__ = lazily(__name__, "evaluator", "network", "base", "blocks", "heads")

__all__ = [
    "ENCODINGS",
    "NAMED_SIZES",
    "SHIPPED",
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
    "read_description",
    "save_checkpoint",
    "symmetry",
    "tutorial_config",
]
