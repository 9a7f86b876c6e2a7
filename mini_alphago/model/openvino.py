"""OpenVINO, Intel's way to compute networks on a CPU (extra `openvino`), as a backend."""

import sys
import warnings
from typing import Any

import numpy as np
import torch

from .inference import Arrays, Precision, Ready, TorchBackend, as_arrays


class OpenVinoBackend:
    """One compiled model for each board size, for all batch sizes; boards that do not fill the tensor go to PyTorch.

    A batch is shared out evenly among the cores, each of which computes its part alone: within one position, or a few,
    cores would wait for each other at every layer. Only batches smaller than that are computed by all cores together.
    """

    def __init__(self, ready: Ready, precision: Precision) -> None:
        self._ready = ready
        self._precision = precision
        self._plain = TorchBackend(ready, torch.device("cpu"))
        self._cores = torch.get_num_threads()
        self._requests: dict[tuple[int, int], list[Any]] = {}  # by board size and parts of a batch: one for each part

    def __call__(self, planes: np.ndarray, mask: np.ndarray | None) -> Arrays:
        """See Backend."""
        if mask is not None:
            return self._plain(planes, mask)
        parts = self._cores if len(planes) >= self._cores else 1
        key = (planes.shape[-1], parts)
        if key not in self._requests:
            self._requests[key] = self._compile(*key)
        requests, planes = self._requests[key], np.ascontiguousarray(planes)
        edges = [i * len(planes) // len(requests) for i in range(len(requests) + 1)]
        begun: list[Any] = []
        try:
            for i, request in enumerate(requests):
                request.start_async({0: planes[edges[i] : edges[i + 1]]}, share_inputs=True)
                begun.append(request)
        finally:
            for request in begun:  # none may go on reading when somebody has pressed Ctrl-C
                request.wait()
        outputs = range(len(requests[0].model_outputs))
        return as_arrays(tuple(np.concatenate([r.get_output_tensor(i).data for r in requests]) for i in outputs))

    def update(self, ready: Ready) -> None:
        """See Backend. Weights are part of a compiled model, so it is compiled anew: a fraction of a second."""
        self._ready = ready
        self._plain.update(ready)
        self._requests.clear()

    def _compile(self, width: int, parts: int) -> list[Any]:
        # It would tell its makers of each use, from child processes that keep a client's pipes open after our end.
        sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
        import openvino

        example = torch.zeros(2, self._ready.scale.shape[1], width, width, dtype=torch.int8)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tracing warns of checks on shapes, which are fixed but for the batch
            model = openvino.convert_model(self._ready, example_input=example)
        hints = {
            "INFERENCE_PRECISION_HINT": self._precision, "INFERENCE_NUM_THREADS": self._cores, "NUM_STREAMS": parts,
            "ENABLE_CPU_PINNING": False,  # or the threads of two processes would all sit on the same cores
        }  # fmt: skip
        compiled = openvino.Core().compile_model(model, "CPU", hints)
        return [compiled.create_infer_request() for _ in range(parts)]
