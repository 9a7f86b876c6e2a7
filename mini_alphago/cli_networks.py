"""Verbs of `mini-alphago` about networks as files. As in `cli.py`, each imports what it needs when it runs."""

from typing import Annotated

from tyro.conf import Positional, arg


def models(
    sizes: Annotated[Positional[tuple[str, ...]], arg(metavar="SIZE", help="As b6c96 (default: the named ones).")] = (),
) -> None:
    """List network sizes with what they cost: parameters, and operations for one position on 9×9 and 19×19.

    Example: mini-alphago models b6c96 b8c112
    """
    import torch
    from rich.console import Console
    from rich.table import Table

    from .model import NAMED_SIZES, build_network, count_flops, count_parameters, katago_config, parse_size

    columns = ["size", "blocks", "channels", "parameters", "GFLOP on 9×9", "GFLOP on 19×19"]
    table = Table(*columns, title="Networks with four pooled heads, for every board size", title_justify="left")
    for name in sizes or NAMED_SIZES:
        blocks, channels = parse_size(name)
        with torch.device("meta"):  # shapes only: no memory, however large
            network = build_network(katago_config(blocks, channels))
        costs = [f"{count_flops(network, size) / 1e9:.3g}" for size in (9, 19)]
        table.add_row(name, str(blocks), str(channels), f"{count_parameters(network):,}", *costs)
    Console().print(table)


def export(
    model: Annotated[str, arg(metavar="PATH", help="The checkpoint, or the folder of a training run, to export.")],
    onnx: Annotated[str | None, arg(metavar="PATH", help="An ONNX file to write.")] = None,
    katago: Annotated[str | None, arg(metavar="NET.bin.gz", help="A file for KataGo to write.")] = None,
    board_size: Annotated[int | None, arg(metavar="N", help="ONNX: its board, if it fits several (9).")] = None,
) -> None:
    """Write a network for other programs: as ONNX, with a free batch axis, or as KataGo reads it.

    KataGo reads networks that were trained with --network.encoding katago-v7.

    Example: mini-alphago export --model net.safetensors --onnx net.onnx
    """
    from .model import load_network
    from .model.export import export_katago, export_onnx

    if onnx is None and katago is None:
        raise ValueError("nothing to write: name a file with --onnx or --katago")
    network = load_network(model)
    if onnx is not None:
        outputs = export_onnx(network, onnx, board_size)
        print(f"{onnx}: planes → {', '.join(outputs)}")
    if katago is not None:
        export_katago(network, katago)
        print(f"{katago}: for KataGo")


def average(
    networks: Annotated[
        Positional[tuple[str, ...]], arg(metavar="MODEL", help="Checkpoints, or folders of training runs.")
    ],
    to: Annotated[str, arg(metavar="FILE", help="The checkpoint to write.")],
    last: Annotated[int, arg(metavar="N", help="Of a folder, its N newest networks.")] = 1,
    shares: Annotated[
        tuple[float, ...], arg(metavar="SHARE …", help="How much each network counts (default: all the same).")
    ] = (),
    half: Annotated[bool, arg(help="Round weights to float16: half the size.")] = False,
) -> None:
    """Write the mean of several networks of one training: of networks near each other it is about as good as the best.

    Example: mini-alphago average runs/gpu --last 10 --to mean.safetensors
    """
    from dataclasses import replace
    from pathlib import Path

    from .model import load_checkpoint, save_checkpoint
    from .model.average import average_networks
    from .model.checkpoint import run_networks

    if last < 1:
        raise ValueError(f"--last is {last}: it is 1 or more")
    if not networks:
        raise ValueError("name the networks whose mean is wanted")
    if not to.endswith(".safetensors"):
        raise ValueError(f"--to is {to}: what is written is a checkpoint, so let its name end in .safetensors")
    paths = [file for path in networks for file in (run_networks(path)[-last:] if Path(path).is_dir() else [path])]
    loaded = [load_checkpoint(path) for path in paths]
    mean = average_networks([network for network, _ in loaded], shares or None)
    checkpoint = loaded[-1][1]
    save_checkpoint(to, mean, replace(checkpoint, notes={**checkpoint.notes, "mean_of": len(paths)}), half)
    print(f"{to}: the mean of {len(paths)} networks, {mean.config.size}")
