"""A worker: self-play on some machine of the cluster, with networks that come from elsewhere."""

import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from ..model import Evaluator, build_network
from ..model.evaluator import pick_device
from ..threads import set_threads
from ..training.arrivals import Delivery, first_id, to_parcel
from ..training.config import from_toml
from ..training.machine import fit_to_machine, memory_of_this_machine
from ..training.records import Records, join_records, no_records
from ..training.self_play import SelfPlay
from ..version import __version__
from .networks import load_weights


class Worker:
    """Plays the games of one run, `settings` being its configuration as TOML; `worker`: its number in the run.

    fetch: how to get at the bytes of a network, from what `play` is given; nothing else here knows of Ray.
    """

    def __init__(self, settings: str, worker: int, threads: int | None, fetch: Callable[[Any], bytes]) -> None:
        set_threads(threads)
        config, self._fewer = fit_to_machine(from_toml(settings), memory_of_this_machine())
        device = "cpu" if config.device == "cpu" else "auto"  # which GPU the learner has is its own affair
        config = replace(config, device=device, threads=threads)
        self._worker, self._fetch, self._number, self._version = worker, fetch, 0, -1
        self._network = build_network(config.network.config(config.board_size))
        self._evaluator = Evaluator(self._network, config.device, compiled=pick_device(config.device).type == "cuda")
        # Of its own, or all workers would make the same draws at the same steps.
        seed = int(np.random.SeedSequence([config.seed, worker]).generate_state(1)[0]) >> 1
        self._play = SelfPlay(
            self._evaluator, config.board_size, config.self_play, seed, staggered=True, next_id=first_id(worker)
        )
        self._packer = ThreadPoolExecutor(1)
        self._packing = self._packer.submit(self._pack, 0, no_records(config.board_size), -1, (0, 0, 0.0))

    def about(self) -> dict[str, Any]:
        """Where it is and what it has: node, device, version, and what it had to do without."""
        device = self._evaluator.device.type
        return {"host": socket.gethostname(), "device": device, "version": __version__, "note": self._fewer}

    def play(self, network: Any, version: int, simulations: int, seconds: float) -> Delivery:
        """Play for about so long, at least one move in every game.

        Returns the games that ended in the call before, packed while others were played. So the first one is empty.
        """
        if version != self._version:
            self._play.rest()
            load_weights(self._network, self._fetch(network))
            self._evaluator.update(self._network)
            self._play.version = self._version = version
        if simulations != self._play.simulations:
            self._play.simulations = simulations
        play, began = self._play, time.perf_counter()
        evaluations, positions = play.evaluations, 0
        parts: list[Records] = []
        while len(parts) < len(play.searches) or time.perf_counter() - began < seconds:
            step = play.think()
            positions += int(np.count_nonzero(step.full))
            parts.append(play.apply(step))
        self._number += 1
        sent, made = self._packing, (positions, play.evaluations - evaluations, time.perf_counter() - began)
        self._packing = self._packer.submit(self._pack, self._number, join_records(parts, play.size), version, made)
        return sent.result()

    def _pack(self, number: int, records: Records, version: int, made: tuple[int, int, float]) -> Delivery:
        return Delivery(self._worker, number, len(records.id), to_parcel(records), version, *made)
