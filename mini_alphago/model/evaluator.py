"""One evaluator for everything: positions in, what the network says of them out, as fast as the hardware can."""

import hashlib
import warnings
from collections import OrderedDict
from collections.abc import Callable
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
import torch

from ..game import state
from ..threads import set_threads
from . import symmetry
from .base import Network
from .encodings import Encoding, get_encoding
from .evaluation import Evaluation
from .inference import DTYPES, NOT_FINITE, Backend, CudaGraphBackend, Precision, Ready, TorchBackend
from .openvino import OpenVinoBackend

Engine = Literal["auto", "torch", "openvino"]
Way = tuple[str, Callable[[], Backend]]  # to a backend, and its name

# How far half precision may be from float32 on real positions before it is not used.
POLICY_TOLERANCE = 0.02  # total variation
VALUE_TOLERANCE = 0.02


class Evaluator:
    """A network on a device, ready to be asked.

    device: `auto` takes CUDA, then Apple's MPS, then the CPU.
    precision: `auto` takes half precision where the device has it; whatever is taken is first compared with float32 on
        real positions, and not used, with one warning, if they disagree.
    engine: `torch`, `openvino` (CPU only), or `auto`: on a CPU OpenVINO if it is installed, since small batches take
        half the time there.
    average_symmetries: ask for all eight views of each position, and average the answers.
    cache_size: how many answers to keep, by what the network sees of the position.
    compiled: use `torch.compile` on CUDA; worth its minute for long runs.
    """

    def __init__(
        self,
        network: Network,
        device: str = "auto",
        precision: str = "auto",
        *,
        engine: Engine = "auto",
        average_symmetries: bool = False,
        cache_size: int = 0,
        compiled: bool = False,
    ) -> None:
        self.network = network
        self.config = network.config
        self.encoding: Encoding = get_encoding(self.config.encoding)
        self.device = pick_device(device)
        self.threads = set_threads()
        self.average_symmetries = average_symmetries
        self.engine = _pick_engine(engine, self.device)
        self._compiled = compiled
        self._cache: OrderedDict[bytes, Evaluation] = OrderedDict()
        self._cache_size = cache_size
        self.precision, self._backend = self._pick_precision(precision)

    # --- asking -----------------------------------------------------------------------------------------------------

    def evaluate(self, states: state.Games) -> Evaluation:
        """Evaluate every game of a batch, of any size and of any mixture of board sizes."""
        sizes = states.info["size"]
        width = self.config.board_size or int(sizes.max())
        planes = np.empty((len(sizes), self.encoding.planes, width, width), np.int8)
        self.encoding.encode(states, planes)
        return self.run(planes, sizes)

    def run(self, planes: np.ndarray, sizes: np.ndarray) -> Evaluation:
        """Evaluate encoded positions: planes `[B, C, W, W]` int8 and the size of each board, `[B]`."""
        if self.config.board_size not in (None, planes.shape[-1]):
            size, width = self.config.board_size, planes.shape[-1]
            raise ValueError(f"this network is for boards of {size}×{size}, not {width}×{width}")
        if self._cache_size:
            return self._run_cached(planes, sizes)
        if self.average_symmetries:
            return self._run_averaged(planes, sizes)
        return self._run(planes, sizes)

    def submit(self, planes: np.ndarray, sizes: np.ndarray, lane: int = 0) -> Callable[[], Evaluation]:
        """`run`, but the answer comes when the function that is returned is called.

        On CUDA the device works meanwhile; elsewhere the work is done at once. Each lane has one question at a time,
        and its answer is good until the next.
        """
        start = getattr(self._backend, "start", None)
        plain = not (self._cache_size or self.average_symmetries or (sizes != planes.shape[-1]).any())
        collect = start(planes, lane) if start is not None and plain else None
        if collect is None:
            result = self.run(planes, sizes)
            return lambda: result
        return lambda: Evaluation(*collect())

    def buffer(self, shape: tuple[int, ...], lane: int) -> np.ndarray | None:
        """Memory for planes `[B, C, W, W]` int8 of a lane that need not be copied any more; None if there is none."""
        make = getattr(self._backend, "buffer", None)
        return None if make is None else make(shape, lane)

    def _run(self, planes: np.ndarray, sizes: np.ndarray) -> Evaluation:
        width = planes.shape[-1]
        mask = None
        if (sizes != width).any():
            inside = np.arange(width) < sizes[:, None]  # [B, W]
            mask = (inside[:, None, :, None] & inside[:, None, None, :]).copy()
        return _checked(Evaluation(*self._backend(planes, mask)))

    def _run_averaged(self, planes: np.ndarray, sizes: np.ndarray) -> Evaluation:
        """The mean over the eight symmetries: of probabilities for the policy, of everything else as it is."""
        width = planes.shape[-1]
        if (sizes != width).any():
            return _joined([self._run_averaged_corner(planes[i : i + 1], int(sizes[i])) for i in range(len(sizes))])
        drawn = self.encoding.drawn
        views = np.concatenate([symmetry.apply_encoded(planes, drawn, s) for s in range(symmetry.COUNT)])
        answers = self._run(views, np.tile(sizes, symmetry.COUNT))

        def turned_back(part: np.ndarray | None) -> np.ndarray | None:
            if part is None:
                return None
            parts = np.split(part, symmetry.COUNT)
            if part.ndim == 2:
                parts = [symmetry.apply(p, symmetry.inverse(s), width) for s, p in enumerate(parts)]
            return np.asarray(np.mean(parts, axis=0, dtype=np.float32))

        odds = turned_back(_softmax(answers.policy))
        value = turned_back(answers.value)
        assert odds is not None
        assert value is not None
        policy = np.log(np.maximum(odds, 1e-12))
        return Evaluation(policy, value, turned_back(answers.score), turned_back(answers.ownership))

    def _run_averaged_corner(self, planes: np.ndarray, size: int) -> Evaluation:
        """One board that is smaller than its tensor: turned within its corner, answered in the tensor's layout."""
        width = planes.shape[-1]
        if self.config.board_size is not None or size < self.encoding.smallest:
            # Linear layers know one size: other views mean nothing to them. Numbers need a corner that holds them.
            return self._run(planes, np.array([size]))
        small = self._run_averaged(self.encoding.corner(planes, size), np.array([size]))
        policy = np.full((1, width * width + 1), -1e4, np.float32)
        policy[:, :-1].reshape(1, width, width)[:, :size, :size] = small.policy[:, :-1].reshape(1, size, size)
        policy[:, -1] = small.policy[:, -1]
        ownership = None
        if small.ownership is not None:
            ownership = np.zeros((1, width * width), np.float32)
            ownership.reshape(1, width, width)[:, :size, :size] = small.ownership.reshape(1, size, size)
        return Evaluation(policy, small.value, small.score, ownership)

    def _run_cached(self, planes: np.ndarray, sizes: np.ndarray) -> Evaluation:
        header = str(planes.shape[1:]).encode()
        keys = [
            hashlib.blake2b(header + bytes([sizes[i]]) + planes[i].tobytes(), digest_size=16).digest()
            for i in range(len(planes))
        ]
        missing = [i for i, key in enumerate(keys) if key not in self._cache]
        answers: dict[bytes, Evaluation] = {}
        if missing:
            ask = self._run_averaged if self.average_symmetries else self._run
            fresh = ask(np.ascontiguousarray(planes[missing]), sizes[missing])
            for row, i in enumerate(missing):
                answers[keys[i]] = Evaluation(*(None if part is None else part[row : row + 1] for part in fresh))  # type: ignore[arg-type]
        for key in keys:
            if key not in answers:
                answers[key] = self._cache[key]
            self._cache[key] = answers[key]
            self._cache.move_to_end(key)
        while len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)
        return _joined([answers[key] for key in keys])

    def update(self, network: Network) -> None:
        """Take the weights of another network of the same shape; graphs and compiled code stay."""
        if network.config != self.config:
            raise ValueError(f"a network of another shape ({network.config.size}) needs an evaluator of its own")
        self.network = network
        self._cache.clear()
        self._backend.update(Ready(network, self.encoding.scale, DTYPES[self._ready_precision()]))

    # --- getting ready ----------------------------------------------------------------------------------------------

    def _ready_precision(self) -> Precision:
        return "f32" if self.engine == "openvino" else self.precision  # OpenVINO rounds weights by itself

    def _make_backend(self, precision: Precision, engine: str) -> Backend:
        def ready(dtype: torch.dtype = DTYPES[precision]) -> Ready:
            return Ready(self.network, self.encoding.scale, dtype)

        ways: list[Way] = [("plain PyTorch", lambda: TorchBackend(ready(), self.device))]
        if engine == "openvino":
            ways.insert(0, ("OpenVINO", lambda: OpenVinoBackend(ready(torch.float32), precision)))
        elif self.device.type == "cuda":
            ways.insert(0, ("a CUDA graph", lambda: CudaGraphBackend(ready(), self.device, compiled=False)))
            if self._compiled:
                ways.insert(0, ("torch.compile", lambda: CudaGraphBackend(ready(), self.device, compiled=True)))
        backend = first_that_works(ways, trial_planes(self.encoding, self.config.board_size or 9))
        if isinstance(backend, TorchBackend):
            self.engine = "torch"
        return backend

    def _pick_precision(self, wanted: str) -> tuple[Precision, Backend]:
        precision = _check_precision(wanted, self.device)
        backend = self._make_backend(precision, self.engine)
        if precision == "f32" and self.engine == "torch":
            return precision, backend
        exact = TorchBackend(Ready(self.network, self.encoding.scale, torch.float32), torch.device("cpu"))
        planes = trial_planes(self.encoding, self.config.board_size or 9)
        difference = disagreement(exact(planes, None), backend(planes, None))
        if difference is None:
            return precision, backend
        warnings.warn(
            f"{self.engine} in {precision} on {self.device.type} disagrees with float32 ({difference}): using float32",
            stacklevel=4,
        )
        self.engine = "torch"
        return "f32", self._make_backend("f32", "torch")


def first_that_works(ways: list[Way], planes: np.ndarray) -> Backend:
    """The backend of the first way that can answer these planes; of each that cannot, one warning says why.

    Old cards have no `torch.compile`, some drivers capture no graphs, and memory may be short. The last way is not
    tried: what is wrong with it is for the caller to hear.
    """
    for (name, make), (other, _) in pairwise(ways):
        try:
            backend = make()
            backend(planes, None)
            return backend
        except (RuntimeError, ImportError, OSError) as error:  # what torch raises, of all kinds
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            warnings.warn(f"{name} does not work here ({reason[:120]}): using {other}", stacklevel=6)
    return ways[-1][1]()


def _checked(result: Evaluation) -> Evaluation:
    """The same; FloatingPointError if there are numbers in it that are not finite."""
    if not (np.isfinite(result.value).all() and np.isfinite(result.policy).all()):
        raise FloatingPointError(NOT_FINITE)
    return result


def _joined(parts: list[Evaluation]) -> Evaluation:
    first = parts[0]
    return Evaluation(
        np.concatenate([part.policy for part in parts]),
        np.concatenate([part.value for part in parts]),
        None if first.score is None else np.concatenate([part.score for part in parts]),
        None if first.ownership is None else np.concatenate([part.ownership for part in parts]),
    )


def pick_device(name: str) -> torch.device:
    """The device of that name; `auto` is the best there is. ValueError if it is not here."""
    cuda, mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    if name == "auto":
        return torch.device("cuda" if cuda else "mps" if mps else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ValueError(f"unknown device {name!r}: it is auto, cpu, cuda, cuda:1, … or mps") from None
    here = {"cpu": True, "cuda": cuda and (device.index or 0) < torch.cuda.device_count(), "mps": mps}
    if not here.get(device.type):
        raise ValueError(f"there is no device {name!r} here: auto picks one that is")
    return device


def _pick_engine(engine: Engine, device: torch.device) -> str:
    if engine not in get_args(Engine):
        raise ValueError(f"unknown engine {engine!r}: it is {', '.join(get_args(Engine))}")
    if engine == "openvino" and device.type != "cpu":
        raise ValueError("the openvino engine runs on the CPU: use it with device cpu")
    if engine == "openvino" and not _has_openvino():
        raise ValueError("openvino is not installed: pip install 'mini-alphago[openvino]'")
    if engine == "auto":
        return "openvino" if device.type == "cpu" and _has_openvino() else "torch"
    return engine


def _has_openvino() -> bool:
    import importlib.util

    return importlib.util.find_spec("openvino") is not None


def _check_precision(wanted: str, device: torch.device) -> Precision:
    if wanted not in ("auto", *get_args(Precision)):
        raise ValueError(f"unknown precision {wanted!r}: it is auto, f32, bf16 or f16")
    if wanted == "f16" and device.type == "cpu":
        raise ValueError("f16 is not for CPUs: take bf16 or f32")
    if wanted != "auto":
        return wanted  # type: ignore[return-value]
    if device.type == "cpu":
        return "bf16" if cpu_has_bf16() else "f32"
    return "f16"


def cpu_has_bf16() -> bool:
    """Whether this CPU multiplies in bf16 (AVX-512 BF16 or AMX), so that it is faster than float32 there."""
    has_avx, has_amx = torch.cpu._is_avx512_bf16_supported(), torch.cpu._is_amx_tile_supported()
    return bool(has_avx or has_amx)


def trial_planes(encoding: Encoding, size: int, count: int = 16) -> np.ndarray:
    """Encoded real positions, `[count, planes, size, size]` int8: random games, each some moves further."""
    rng = np.random.default_rng(size)
    games = state.new_games(count, size, 4 * count)
    games.info["ko_rule"] = state.KO_POSITIONAL
    games.info["komi"] = 7
    for g in range(count):
        state.clear(games, g)
        for point in rng.integers(0, size * size, 4 * g):
            state.try_play(games, g, int(point))
    planes = np.empty((count, encoding.planes, size, size), np.int8)
    encoding.encode(games, planes)
    return planes


def disagreement(exact: tuple[np.ndarray | None, ...], other: tuple[np.ndarray | None, ...]) -> str | None:
    """What is too far apart between two answers to the same positions, or None."""
    assert exact[0] is not None
    assert other[0] is not None
    assert exact[1] is not None
    assert other[1] is not None
    if not (np.isfinite(other[0]).all() and np.isfinite(other[1]).all()):
        return "numbers that are not finite"
    policy = 0.5 * np.abs(_softmax(exact[0]) - _softmax(other[0])).sum(axis=1).max()
    value = np.abs(exact[1] - other[1]).max()
    if policy > POLICY_TOLERANCE:
        return f"policy by {policy:.3f}"
    return f"value by {value:.3f}" if value > VALUE_TOLERANCE else None


def _softmax(logits: np.ndarray) -> np.ndarray:
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)
