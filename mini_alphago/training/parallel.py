"""Learning on several GPUs of one machine: a process for each, of which the training process is the first.

The others are helpers. They get word of what to do through a pipe, and end with it: a training process that is killed
closes its end, too. Batches, gradients and statistics go the way of the group (`group.py`).
"""

import contextlib
import math
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from safetensors.torch import load, save
from torch import Tensor

from ..model import Network, NetworkConfig, build_network
from .config import LearningSettings
from .group import LostError, SharedTrainer, Store, join_group, open_store, scatter, shapes_of_part
from .samples import Batch
from .trainer import Trainer

_TIMEOUT = 120.0  # seconds that a process may keep the others waiting within a step
_GRACE = 5.0  # seconds for a process to end, or to be seen to have ended

_GONE = EOFError, BrokenPipeError, ConnectionResetError  # what a pipe says when nobody is at its other end


def learning_devices(device: torch.device, settings: LearningSettings) -> list[torch.device]:
    """The devices to learn on, `device` first. ValueError if there are not so many, or they cannot share a batch."""
    wanted = settings.processes
    if device.type == "cuda":
        own, count = device.index or 0, torch.cuda.device_count()
        wanted = wanted or count
        if wanted > count:
            raise ValueError(f"processes is {wanted}: there are only {count} GPUs here")
        others = [i for i in range(count) if i != own]
        devices = [torch.device("cuda", i) for i in (own, *others[: wanted - 1])]
    elif device.type == "cpu" or wanted <= 1:
        devices = [device] * (wanted or 1)
    else:
        raise ValueError(f"processes is {wanted}: several learn together on NVIDIA GPUs or on the CPU, not on {device}")
    if settings.batch_size % len(devices):
        raise ValueError(f"batch_size is {settings.batch_size}: {len(devices)} processes cannot share it evenly")
    return devices


def make_trainer(network: Network, learning_rate: float, settings: LearningSettings) -> Trainer:
    """A trainer on as many devices as the settings say. ValueError as `learning_devices`."""
    devices = learning_devices(next(network.parameters()).device, settings)
    if len(devices) == 1:
        return Trainer(network, learning_rate, settings)
    return ParallelTrainer(network, learning_rate, settings, devices)


# --- the training process ---------------------------------------------------------------------------------------------


class _Job(NamedTuple):
    """What a helper is to know."""

    network: NetworkConfig
    learning_rate: float
    settings: LearningSettings
    device: torch.device
    rank: int
    processes: int
    threads: int
    port: int  # where the group meets
    timeout: float


class _Helper(NamedTuple):
    process: BaseProcess
    pipe: Connection
    name: str


class ParallelTrainer(SharedTrainer):
    """A `Trainer` with helpers on other devices; whatever is asked of it, it sees to it that they do the same.

    devices: its own first. timeout: seconds within a step after which a helper that does not answer is lost.
    ChildProcessError, in one sentence, from any step if a helper failed or ended; then it can only be closed.
    A process has one at a time. Scripts that make one need the usual `if __name__ == "__main__":`.
    """

    def __init__(
        self,
        network: Network,
        learning_rate: float,
        settings: LearningSettings,
        devices: Sequence[torch.device],
        timeout: float = _TIMEOUT,
    ) -> None:
        if not dist.is_available() or (devices[0].type == "cuda" and not dist.is_nccl_available()):
            raise ValueError("this PyTorch was built without what several GPUs need: learn with processes 1")
        if dist.is_initialized():
            raise ValueError("this process learns together with others already: close that trainer first")
        super().__init__(network, learning_rate, settings)
        self.processes = len(devices)
        self._timeout = timeout
        self._helpers: list[_Helper] = []
        self._store: Store | None = open_store()
        self._busy = self._alike = False
        self._progress: float | None = None
        try:
            with self._together():
                self._start(devices)
        except BaseException:
            self.close()
            raise

    def _start(self, devices: Sequence[torch.device]) -> None:
        assert self._store is not None
        precision: Any = "bf16" if self._bf16 else "f32"  # on all of them, whatever each would choose
        settings = replace(self.settings, ema=0.0, precision=precision)
        threads = max(1, torch.get_num_threads() // self.processes)
        context = multiprocessing.get_context("spawn")
        for rank, device in enumerate(devices[1:], start=1):
            job = _Job(
                self.network.config, self.learning_rate, settings, device, rank, self.processes, threads,
                self._store.port, self._timeout,
            )  # fmt: skip
            ours, theirs = context.Pipe()
            process = context.Process(target=_help, args=(job, theirs), daemon=True)
            with _deaf_to_interrupts():
                process.start()
            theirs.close()
            self._helpers.append(_Helper(process, ours, f"learning process {rank} ({device})"))
        for helper in self._helpers:
            self._answer(helper, _TIMEOUT)
        join_group(self.device, 0, self.processes, self._store, self._timeout)

    def close(self) -> None:
        """End the helpers."""
        for helper in self._helpers:
            with contextlib.suppress(OSError):
                helper.process.kill() if self._busy else helper.pipe.send(("close",))
            helper.pipe.close()
        if self._helpers and dist.is_initialized():
            if self._busy and dist.group.WORLD is not None:
                with contextlib.suppress(RuntimeError):
                    dist.group.WORLD.abort()  # it would wait for those who are gone
            with contextlib.suppress(RuntimeError):
                dist.destroy_process_group()
        for helper in self._helpers:
            helper.process.join(_GRACE)
            helper.process.kill()  # nothing, if it has ended
            helper.process.join()
        self._helpers, self._store = [], None

    # --- what the helpers do, too -----------------------------------------------------------------------------------

    def set_progress(self, progress: float) -> None:
        """See Trainer."""
        super().set_progress(progress)
        self._progress = progress

    def step(self, batch: Batch | Sequence[Tensor]) -> dict[str, Tensor]:
        """See Trainer; ValueError if the batch cannot be shared evenly."""
        batch = batch if isinstance(batch, Batch) else Batch(*batch)
        if not self._helpers:
            raise ValueError("this trainer was closed")
        if len(batch.planes) % self.processes:
            raise ValueError(f"{self.processes} processes cannot share a batch of {len(batch.planes)} evenly")
        with self._together():
            if not self._alike:
                self._tell("restore", save(self.state()))
                self._alike = True
            shapes = shapes_of_part(batch, self.processes)
            self._tell("step", self._progress, shapes)
            self._progress = None
            return super().step(scatter(batch.to(self.device), shapes, self.device))

    def load(self, path: str | os.PathLike[str]) -> None:
        """See Trainer."""
        super().load(path)
        self._alike = False

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """See Trainer."""
        super().restore(tensors)
        self._alike = False

    def check_weights(self) -> None:
        """See Trainer; and ChildProcessError if the helpers do not have the same.

        On GPUs this is where the end of a helper shows at the latest: messages between them are on their way while this
        process goes on.
        """
        super().check_weights()
        if self._helpers and self._alike:
            own, *others = self.weights_everywhere()
            for helper, weight in zip(self._helpers, others, strict=True):
                if not math.isclose(own, weight, rel_tol=1e-4):
                    raise ChildProcessError(f"{helper.name} has other weights than the training process")

    def weights_everywhere(self) -> list[float]:
        """What all weights come to in each process: see SharedTrainer.weigh."""
        with self._together():
            self._tell("weigh")
            return [self.weigh(), *(self._answer(helper) for helper in self._helpers)]

    # --- talking to them --------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _together(self) -> Iterator[None]:
        """Around everything that needs the helpers: whatever goes wrong between the processes is their error."""
        self._busy = True  # until all is well
        try:
            for helper in self._helpers:
                if helper.pipe.poll():  # nobody was asked anything
                    self._answer(helper)
            yield
        except ChildProcessError:
            raise
        except (LostError, *_GONE) as error:
            raise self._blame(error) from error
        self._busy = False

    def _tell(self, *message: Any) -> None:
        for helper in self._helpers:
            helper.pipe.send(message)

    def _answer(self, helper: _Helper, timeout: float | None = None) -> Any:
        """What a helper says next. ChildProcessError if it failed, ended, or says nothing."""
        if not helper.pipe.poll(timeout or self._timeout):
            raise ChildProcessError(f"{helper.name} does not answer")
        try:
            kind, answer = helper.pipe.recv()
        except _GONE:
            helper.process.join(_GRACE)
            code = helper.process.exitcode
            how = f"was ended by {signal.Signals(-code).name}" if code and code < 0 else f"ended with status {code}"
            raise ChildProcessError(f"{helper.name} {how}") from None
        if kind == "failed":
            raise ChildProcessError(f"{helper.name} failed: {answer}")
        return answer

    def _blame(self, error: Exception) -> ChildProcessError:
        """Who is to blame for an error between the processes: one that says so, or has ended."""
        for pipe in wait([helper.pipe for helper in self._helpers], _GRACE):
            try:
                self._answer(next(helper for helper in self._helpers if helper.pipe is pipe))
            except ChildProcessError as found:
                return found
        return ChildProcessError(f"the processes that learn together have lost each other: {error}")


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Who is started within this block does not hear Ctrl-C, from its first moment: only the first process decides."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


# --- a helper ---------------------------------------------------------------------------------------------------------


def _help(job: _Job, pipe: Connection) -> None:
    """The life of a helper."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    status = 1
    with contextlib.suppress(*_GONE):
        try:
            _serve(job, pipe)
            status = 0
        except _GONE:
            raise
        except LostError:  # whoever is to blame says so; this one waits for the end
            while True:
                pipe.recv()
        except Exception as error:
            pipe.send(("failed", f"{type(error).__name__}: {error}".splitlines()[0]))
    os._exit(status)  # what is left of a broken group could wait for the others for ever


def _serve(job: _Job, pipe: Connection) -> None:
    """Do what the training process says until it says goodbye. EOFError if it went without."""
    torch.set_num_threads(job.threads)
    if job.device.type == "cuda":
        torch.cuda.set_device(job.device)
    trainer = SharedTrainer(build_network(job.network).to(job.device), job.learning_rate, job.settings)
    pipe.send(("here", None))
    join_group(job.device, job.rank, job.processes, job.port, job.timeout)
    while True:
        kind, *values = pipe.recv()
        if kind == "restore":
            trainer.restore(load(values[0]))
        elif kind == "step":
            progress, shapes = values
            if progress is not None:
                trainer.set_progress(progress)
            trainer.step(scatter(None, shapes, job.device))
        elif kind == "weigh":
            pipe.send(("weight", trainer.weigh()))
        elif kind == "close":
            dist.destroy_process_group()
            return
        else:
            raise ValueError(f"no helper knows how to {kind}")
