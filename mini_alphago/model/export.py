"""Networks for other programs: ONNX, and KataGo's own files."""

import contextlib
import importlib.util
import io
import logging
import os
import warnings

import torch
from torch import Tensor, nn

from ..files import write_atomically
from .base import Network
from .norms import fold

_NAMES = ("policy", "value", "score", "ownership")


class _Named(nn.Module):
    """The network as a function of planes alone, its outputs in order."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = fold(network)

    def forward(self, planes: Tensor) -> tuple[Tensor, ...]:
        """[B, C, N, N] float32 → policy logits [B, N² + 1], value [B], then score [B], ownership [B, N²] if any."""
        return tuple(part for part in self.network.outputs(planes) if part is not None)


def export_onnx(network: Network, path: str | os.PathLike[str], board_size: int | None = None) -> list[str]:
    """Write a network as ONNX, for any batch of boards of one size; returns the names of its outputs.

    Input `planes` [batch, C, N, N] float32; outputs `policy` (logits), `value`, and `score` and `ownership` if the
    network has them. Needs the extra `onnx`, else ValueError.
    """
    if missing := [name for name in ("onnx", "onnxscript") if importlib.util.find_spec(name) is None]:
        raise ValueError(f"{' and '.join(missing)} not installed: pip install 'mini-alphago[onnx]'")
    size = network.config.board_size or board_size or 9
    if board_size not in (None, size):
        raise ValueError(f"this network is for {size}×{size} boards only, not {board_size}×{board_size}")
    example = torch.zeros(2, network.config.input_planes, size, size)
    outputs = list(_NAMES[: 2 if network.config.family == "tutorial" else 4])
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):  # the exporter talks a lot
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            _Named(network).eval(),
            (example,),
            input_names=["planes"],
            output_names=outputs,
            dynamic_shapes={"planes": {0: torch.export.Dim("batch", min=1)}},
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    write_atomically(path, program.model_proto.SerializeToString())
    return outputs


def export_katago(network: Network, path: str | os.PathLike[str], name: str | None = None) -> None:
    """Write a network that was trained with the encoding `katago-v7` as KataGo reads it; the same bytes every time.

    `path` ends with `.bin.gz`, `.txt.gz`, `.bin` or `.txt`. name: what KataGo calls it. ValueError for other networks.
    """
    from .katago.describe import describe
    from .katago.writer import write_katago

    write_katago(path, describe(network, name))
