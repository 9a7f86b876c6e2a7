"""How fast the network answers: `python benchmarks/network.py`, or `make bench`.

For three sizes of network on 9×9 and 19×19, at several batch sizes: positions a second through `Evaluator.run`, what
that is in GFLOP/s, and which share of this machine's own peak at multiplying matrices in the same precision, measured
in the same run just before. Then every engine and precision on one case, what it brings to give each core a part of the
batch, and the cost of encoding.
"""

import mini_alphago  # noqa: F401  # before torch, see its __init__

# isort: split
import argparse
import importlib.util
import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from mini_alphago.game import state
from mini_alphago.model import Evaluator, KataGoNetwork, count_flops, parse_size
from mini_alphago.model.evaluator import trial_planes
from mini_alphago.model.inference import DTYPES
from mini_alphago.model.openvino import OpenVinoBackend

SIZES = ("b4c64", "b6c96", "b10c128")
BOARDS = (9, 19)
BATCHES = {"cpu": (1, 8, 64, 256), "cuda": (1, 64, 512, 2048), "mps": (1, 8, 64, 256)}


def median_seconds(work: Callable[[], object], budget: float = 1.0) -> float:
    """The median time of one call, over at least three of them."""
    work()
    times: list[float] = []
    end = time.perf_counter() + budget
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 200):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def gemm_peak(device: torch.device, precision: str) -> float:
    """GFLOP/s of the best of several square matrix products."""
    best = 0.0
    for n in (512, 1024, 2048) if device.type == "cpu" else (4096, 8192):
        a = torch.randn(n, n, device=device).to(DTYPES[precision])  # type: ignore[index]

        def work(a: torch.Tensor = a) -> None:
            torch.mm(a, a)
            if a.device.type == "cuda":
                torch.cuda.synchronize()

        best = max(best, 2 * n**3 / median_seconds(work, 0.5) / 1e9)
    return best


def make_network(size: str) -> KataGoNetwork:
    """A network whose blocks are not the identity: zeros would multiply faster than real weights."""
    torch.manual_seed(1)
    network = KataGoNetwork(*parse_size(size))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.02 * torch.randn_like(parameter))
    return network.eval()


def rate(evaluator: Evaluator, board: int, batch: int) -> float:
    """Positions a second."""
    planes = np.resize(trial_planes(evaluator.encoding, board), (batch, evaluator.encoding.planes, board, board))
    sizes = np.full(batch, board)
    return batch / median_seconds(lambda: evaluator.run(planes, sizes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--compiled", action="store_true", help="use torch.compile on CUDA")
    arguments = parser.parse_args()
    console = Console()
    warnings.simplefilter("ignore")
    columns = ["network", "board", "batch", "evals/s", "GFLOP/s", "of peak", "engine"]
    table = Table(*columns, title="Network evaluations", title_justify="left")
    for size in SIZES:
        network = make_network(size)
        evaluator = Evaluator(network, arguments.device, arguments.precision, compiled=arguments.compiled)
        for board in BOARDS:
            with console.status(f"measuring {size} on {board}×{board}…"):
                peak = gemm_peak(evaluator.device, evaluator.precision)
                for batch in BATCHES[evaluator.device.type]:
                    speed = rate(evaluator, board, batch)
                    flops = speed * count_flops(network, board) / 1e9
                    how = f"{evaluator.engine} {evaluator.precision} on {evaluator.device.type}, peak {peak:,.0f}"
                    table.add_row(size, f"{board}×{board}", str(batch), f"{speed:,.0f}", f"{flops:,.0f}",
                                  f"{flops / peak:.2f}", how)  # fmt: skip
        table.add_section()
    console.print(table)
    compare_engines(console)
    compare_parts(console)
    encoding_share(console, arguments.device, arguments.precision)


def compare_engines(console: Console) -> None:
    """b6c96 on 9×9 at batch 64, in turn, so that a busy machine is unfair to none."""
    engines = ["torch"] + ["openvino"] * (importlib.util.find_spec("openvino") is not None)
    precisions = ["f32", "bf16"]
    network = make_network("b6c96")
    evaluators = {
        f"{e} {p}": Evaluator(network, "cpu", p, engine=e)  # type: ignore[arg-type]
        for e in engines
        for p in precisions
    }
    speeds: dict[str, list[float]] = {name: [] for name in evaluators}
    with console.status("comparing engines on the CPU…"):
        for _ in range(3):
            for name, evaluator in evaluators.items():
                speeds[name].append(rate(evaluator, 9, 64))
    plain = statistics.median(speeds["torch f32"])
    chosen = Evaluator(network, "cpu")
    console.print(f"On the CPU, b6c96, 9×9, batch 64 (auto takes {chosen.engine} {chosen.precision}):")
    for name, values in speeds.items():
        value = statistics.median(values)
        used = evaluators[name].precision
        fallback = "" if name.endswith(used) else " (fell back to f32)"
        console.print(f"  {name:14} {value:8,.0f} evals/s, {value / plain:.2f} × torch f32{fallback}")


def compare_parts(console: Console) -> None:
    """OpenVINO with a part of the batch for each core, beside all cores at work on the whole; 9×9, in turn."""
    if importlib.util.find_spec("openvino") is None:
        return
    for name in ("b4c48", "b6c96", "b10c96"):
        apart, together = (Evaluator(make_network(name), "cpu", engine="openvino") for _ in range(2))
        backend, cores = together._backend, torch.get_num_threads()
        assert isinstance(backend, OpenVinoBackend)
        backend._requests[9, cores] = backend._compile(9, 1)
        for batch in (8, 128):
            with console.status(f"parts of batches, {name}…"):
                pairs = [(rate(apart, 9, batch), rate(together, 9, batch)) for _ in range(5)]
            one, other = (statistics.median(column) for column in zip(*pairs, strict=True))
            ratios = sorted(a / b for a, b in pairs)
            console.print(
                f"OpenVINO, {name}, batch {batch}: a part for each of {cores} cores {one:,.0f} evals/s, all on the "
                f"whole {other:,.0f}: {statistics.median(ratios):.2f} × ({ratios[0]:.2f} to {ratios[-1]:.2f})"
            )


def encoding_share(console: Console, device: str, precision: str) -> None:
    """What encoding costs beside evaluating, b6c96, 9×9, batch 64."""
    evaluator = Evaluator(make_network("b6c96"), device, precision)
    games = state.new_games(64, 9, 100)
    games.info["ko_rule"] = state.KO_POSITIONAL
    rng = np.random.default_rng(1)
    for g in range(64):
        state.clear(games, g)
        for point in rng.integers(0, 81, 40):
            state.try_play(games, g, int(point))
    planes = np.empty((64, evaluator.encoding.planes, 9, 9), np.int8)
    encode = median_seconds(lambda: evaluator.encoding.encode(games, planes))
    run = median_seconds(lambda: evaluator.run(planes, games.info["size"]))
    console.print(f"Encoding 64 positions: {encode * 1e6:,.0f} µs, {100 * encode / run:.1f} % of evaluating them.")


if __name__ == "__main__":
    main()
