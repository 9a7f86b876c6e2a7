"""The training loop: self-play, learning, measuring, and a commit after each iteration from which a run goes on."""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import torch

from ..files import write_atomically
from ..game.diagram import draw as draw_board
from ..model import Checkpoint, Evaluator, build_network, save_checkpoint
from ..model.evaluator import pick_device
from ..model.grow import first_network
from ..threads import set_threads
from .choice import choose
from .clock import Clock
from .config import LearningSettings, TrainingConfig, from_toml, to_toml
from .display import Display
from .folder import RunFolder, to_arrays, to_tensors
from .live import Live
from .measure import Strength
from .parallel import learning_devices, make_trainer
from .records import Records, game_metrics, record_board, result_text, sgf_text
from .replay import Replay
from .report import Metrics, ReportGame, write_report
from .samples import SampleMaker
from .self_play import UNSIGNED
from .tensorboard import Events
from .trainer import check_finite
from .workers import LocalWorkers, Workers

_LEARN = 3  # what a random stream is for; self_play has 2
_REPORT_SECONDS = 30.0
_REPORT_GAMES = 6
# What a run that goes on cannot change: its network, its games in play, and how the journal's steps become games.
_FIXED = (
    "board_size", "seed", "network", "self_play.games", "self_play.groups", "self_play.move_limit", "self_play.rules",
    "self_play.komi", "self_play.komi_spread", "self_play.random_openings", "self_play.end_when_settled",
    "self_play.resign_below", "self_play.resign_played_out", "learning.optimizer", "learning.ema",
    "learning.reply_weight", "learning.soft_weight",
)  # fmt: skip


MakeWorkers = Callable[[Evaluator, TrainingConfig, RunFolder], Workers]


class Stopped(Exception):
    """Somebody asked the run to stop; nothing is lost."""


class Summary(NamedTuple):
    """What a run has come to."""

    iteration: int
    minutes: float
    games: int
    positions: int


class Training:
    """One run in its folder: made anew, or taken up where it was.

    stop: an event that ends the run after the step at hand. make_workers: who plays the games.
    """

    def __init__(
        self,
        folder: RunFolder,
        config: TrainingConfig,
        display: Display,
        stop: threading.Event | None = None,
        make_workers: MakeWorkers = LocalWorkers,
    ) -> None:
        self.folder, self.config, self.display = folder, config, display
        self.stop = stop or threading.Event()
        set_threads(config.threads)
        torch.manual_seed(config.seed)
        device = pick_device(config.device)
        self.network = build_network(config.network.config(config.board_size)).to(device)
        self.trainer = make_trainer(self.network, config.learning.learning_rate, config.learning)
        self.evaluator = Evaluator(self.trainer.average, config.device, compiled=device.type == "cuda")
        self.workers = make_workers(self.evaluator, config, folder)
        self.replay = Replay(folder.replay, config.board_size, config.replay)
        self.samples = SampleMaker(
            self.evaluator.encoding, config.board_size, config.self_play.rules, config.learning.batch_size,
            config.self_play.limit_for(config.board_size), pinned=device.type == "cuda",
        )  # fmt: skip
        self.iteration = self.games = 0
        self.minutes = 0.0
        self._paced: Sequence[int] = (0, 0)  # positions when `uses` or `batch_size` changed last, and steps due then
        self.strength = Strength(config, folder)
        self.live = Live(folder.path, self.workers.boards)
        self.history: list[Metrics] = []
        self._reported = 0.0

    # --- beginning --------------------------------------------------------------------------------------------------

    def start(self, init: str | None = None) -> bool:
        """Take the run up where it was, or begin it, from checkpoint `init` if given; True if it was taken up."""
        saved = self.folder.load_state()
        if saved is None:
            if init:
                network = first_network(init, self.network.config)
                self.network.load_state_dict(network.state_dict())
                self.trainer.average.load_state_dict(network.state_dict())
            self._publish()
            self._save_network(0)
            self._commit()
            return False
        tensors, info = saved
        _check_same(from_toml(info["config"]), self.config, self.folder.is_at_rest())
        self.trainer.restore({k.removeprefix("trainer."): v for k, v in tensors.items() if k.startswith("trainer.")})
        self.workers.restore(to_arrays(tensors, "play.", UNSIGNED))
        self.iteration, self.games, self.minutes = info["iteration"], info["games"], info["minutes"]
        self._paced = info.get("paced", self._paced)
        before = from_toml(info["config"]).learning
        if (before.uses, before.batch_size) != (self.config.learning.uses, self.config.learning.batch_size):
            self._paced = info["positions"], self._steps_due(before, info["positions"])
        self._publish()
        self.strength = Strength(self.config, self.folder, info["matches"])
        self.replay.load(self.iteration, info["positions"], info.get("oldest", 1))
        lines = [line for line in self.folder.read_metrics() if line["iteration"] < self.iteration]
        self.history = [*lines, info["metrics"]] if info["metrics"] else lines
        self.folder.write_metrics(self.history)
        self.folder.tidy(self.iteration, self._is_kept)
        return True

    def _publish(self) -> None:
        """Let everybody play with the network as it is now."""
        self.evaluator.update(self.trainer.average)
        self.workers.update(self.trainer.average, self.iteration)

    def _commit(self, metrics: Metrics | None = None) -> None:
        """Make everything up to this iteration permanent."""
        tensors = {f"trainer.{name}": tensor for name, tensor in self.trainer.state().items()}
        tensors |= to_tensors(self.workers.state(), "play.")
        info = {
            "iteration": self.iteration, "games": self.games, "positions": self.replay.positions,
            "minutes": self.minutes, "matches": self.strength.played, "metrics": metrics, "oldest": self.replay.oldest,
            "config": to_toml(self.config), "paced": self._paced,
        }  # fmt: skip
        self.folder.save_state(tensors, info)

    def _save_network(self, iteration: int) -> None:
        notes = {"games": self.games, "positions": self.replay.positions, "minutes": round(self.minutes, 2)}
        checkpoint = Checkpoint(
            self.network.config, (self.config.board_size,), self.config.self_play.rules, self.trainer.steps, notes
        )
        save_checkpoint(self.folder.checkpoint(iteration), self.trainer.average, checkpoint)

    def _is_kept(self, iteration: int) -> bool:
        """Whether a network is kept for good: every so many are, and those that were measured."""
        measured = any(row[0] == iteration for row in self.strength.played)
        return iteration % self.config.checkpoint_every == 0 or measured

    # --- running ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Iterate until a limit is reached. Stopped if somebody asked for it."""
        events = Events(self.folder.path / "events", self.iteration + 1)
        try:
            while not self.is_done():
                metrics = self.iterate()
                self.folder.append_metrics(metrics)
                self.folder.tidy(self.iteration, self._is_kept)
                self.history.append(metrics)
                self.display.iteration(metrics)
                events.write(metrics)
                if time.monotonic() - self._reported > _REPORT_SECONDS:
                    self.report()
        finally:
            events.close()
            self.workers.close()
            self.report()
            self.live.end()

    def is_done(self) -> bool:
        """Whether the run has reached one of its limits."""
        iterations, minutes = self.config.iterations, self.config.minutes
        return (iterations is not None and self.iteration >= iterations) or (
            minutes is not None and self.minutes >= minutes
        )

    def progress(self) -> float:
        """How far the run is, from 0 to 1; 0 if it has no limit."""
        done = [0.0]
        if self.config.iterations:
            done.append(self.iteration / self.config.iterations)
        if self.config.minutes:
            done.append(self.minutes / self.config.minutes)
        return max(done)

    def summary(self) -> Summary:
        """What it has come to so far."""
        return Summary(self.iteration, self.minutes, self.games, self.replay.positions)

    def iterate(self) -> Metrics:
        """One iteration: games, learning, now and then matches, and the commit."""
        clock = Clock()
        number = self.iteration + 1
        records, play_metrics = self._play(number, clock)
        self.replay.save(number, records)
        self._write_games(number, records)
        self.replay.add(number, records)
        learned = self._learn(number, clock)
        self.iteration, self.games = number, self.games + len(records.id)
        self._publish()
        before = self.minutes
        self.minutes += clock.total() / 60  # now, since the last network of a run is measured
        measured = self._measure(clock)
        seconds = clock.total()
        self.minutes = before + seconds / 60
        metrics: Metrics = {
            "iteration": number, "minutes": round(self.minutes, 4), "seconds": seconds, "games": self.games,
            "positions": self.replay.positions, "steps": self.trainer.steps, "window": self.replay.samples,
            **play_metrics, **learned, **measured, "time": clock.parts(),
        }  # fmt: skip
        self._save_network(number)
        self._commit(metrics)
        return metrics

    def _check_stop(self) -> None:
        if self.stop.is_set():
            raise Stopped

    def _play(self, number: int, clock: Clock) -> tuple[Records, Metrics]:
        """The games of an iteration, and what there is to say about them."""
        wanted = self.config.games_per_iteration

        def progress(done: int, speed: float, newest: Records | None) -> None:
            self._check_stop()
            self.display.phase("self-play", done, wanted, f"{speed:,.0f} evals/s")
            self.live.phase("self-play", done, wanted, round(speed, 1), self.workers.rows())
            if newest is not None and len(newest.id):
                self._show_game(newest)

        played = self.workers.play(number, self.config.self_play.simulations_at(self.progress()), progress)
        for part, seconds in played.seconds.items():
            clock.add(part, seconds)
        clock.add_earlier(played.earlier)
        return played.records, {**game_metrics(played.records), **played.metrics}

    def _steps_due(self, settings: LearningSettings, positions: int) -> int:
        """How many steps there are to be, in all, after so many positions."""
        since, steps = self._paced
        return steps + int(settings.uses * (positions - since) / settings.batch_size)

    def _learn(self, number: int, clock: Clock) -> Metrics:
        """Training steps, so many that each position is used as often as the settings say."""
        began, settings = time.perf_counter(), self.config.learning
        records = self.replay.records()
        steps = self._steps_due(settings, self.replay.positions) - self.trainer.steps
        if steps <= 0 or not records.samples:
            return {}
        rng = np.random.default_rng([self.config.seed, _LEARN, number])
        shape = (steps, settings.batch_size)
        game, at = choose(records, shape, settings.surprise_weight, rng)
        views = rng.integers(0, 8, shape)
        found: list[dict[str, torch.Tensor]] = []
        for i in range(steps):
            self._check_stop()
            batch = self.samples.make(records, game[i], at[i], views[i], settings.search_value, settings.value_horizon)
            self.trainer.set_progress(self.progress())
            found.append(self.trainer.step(batch))
            self.display.phase("training", i + 1, steps)
            self.live.phase("training", i + 1, steps, workers=self.workers.rows())
        losses = {name: float(torch.stack([part[name] for part in found]).mean()) for name in found[0]}
        check_finite(losses)
        self.trainer.check_weights()
        seconds = time.perf_counter() - began
        clock.add("training", seconds)
        return {**losses, "learning_rate": self.trainer.current_rate, "samples_per_second": game.size / seconds}

    def _measure(self, clock: Clock) -> Metrics:
        every = self.config.measure.every
        if not every or (self.iteration % every and not self.is_done()):
            return {}
        began = time.perf_counter()

        def progress(opponent: str, done: int, total: int) -> None:
            self._check_stop()
            self.display.phase("measuring", done, total, f"against {opponent}")
            self.live.phase(f"measuring against {opponent}", done, total, workers=self.workers.rows())

        result = self.strength.measure(self.iteration, self.evaluator, progress)
        clock.add("measure", time.perf_counter() - began)
        return {"elo": result.elo, "elo_error": result.error, "matches": result.matches}

    # --- for people -------------------------------------------------------------------------------------------------

    def _write_games(self, number: int, records: Records) -> None:
        rules = self.config.self_play.rules
        text = "\n".join(sgf_text(records, g, rules) for g in range(len(records.id)))
        write_atomically(self.folder.games / f"{number:06d}.sgf", text.encode())

    def _show_game(self, records: Records) -> None:
        last = len(records.id) - 1
        board = record_board(records, last, self.config.self_play.rules)
        diagram, _, _ = draw_board(board).rpartition("\n")  # without whose turn it would be
        self.display.game(diagram, _caption(records, last))

    def report(self) -> None:
        """Write report.html."""
        self._reported = time.monotonic()
        games = []
        if self.replay.samples:
            records, rules = self.replay.records(), self.config.self_play.rules
            for g in range(max(0, len(records.id) - _REPORT_GAMES), len(records.id)):
                board = record_board(records, g, rules)
                rows = ["".join(".XO"[color] for color in row) for row in board.board.tolist()]
                last = board.history[-1][:2] if board.history else None
                games.append(ReportGame(_caption(records, g), rows, last, sgf_text(records, g, rules)))
        write_report(self.folder.path, self.history, to_toml(self.config), games)


def _caption(records: Records, g: int) -> str:
    return f"game {int(records.id[g])}: {result_text(records, g)}, {int(records.length[g])} moves"


def _check_same(before: TrainingConfig, now: TrainingConfig, at_rest: bool) -> None:
    """ValueError if a setting was changed that a run cannot change in the middle; `at_rest`: of `RunFolder`."""
    for name in _FIXED:
        old, new = (attrgetter(name)(config) for config in (before, now))
        if old != new and not (at_rest and name in ("self_play.games", "self_play.groups")):
            raise ValueError(
                f"this run has {name} {old}, which cannot change to {new} any more: begin another with --run"
            )


def train(
    config: TrainingConfig | None,
    run: str,
    display: Display | None = None,
    init: str | None = None,
    stop: threading.Event | None = None,
    changes: Callable[[TrainingConfig], TrainingConfig] | None = None,
    began: Callable[[], None] | None = None,
    make_workers: MakeWorkers = LocalWorkers,
) -> Training:
    """Train in the folder `run`: begin with `config`, or, if a run is there, go on with it and its own settings.

    init: a checkpoint to begin from, which may have fewer blocks. changes: what to change in the settings of a run that
    goes on (limits, say). began: called when the folder is there and the display is shown. make_workers: who plays.
    Stopped if `stop` was set. ValueError or OSError, in one sentence, if it cannot be done.
    """
    folder, display = RunFolder(run), display or Display()
    try:
        return _train(config, folder, display, init, stop, changes, began, make_workers)
    except OSError as error:
        if error.filename is None and error.errno is not None:  # a full disk does not say whose
            raise OSError(error.errno, error.strerror, str(folder.path)) from None
        raise


def _train(
    config: TrainingConfig | None,
    folder: RunFolder,
    display: Display,
    init: str | None,
    stop: threading.Event | None,
    changes: Callable[[TrainingConfig], TrainingConfig] | None,
    began: Callable[[], None] | None,
    make_workers: MakeWorkers,
) -> Training:
    begun = folder.exists
    if config is not None:  # what is impossible is refused before a folder is made
        learning_devices(pick_device(config.device), config.learning)
        if init and not begun:
            first_network(init, config.network.config(config.board_size))
    with folder.open(), display, contextlib.ExitStack() as end:
        if begun:
            config = folder.read_config()
            config = changes(config) if changes else config
        config = config or TrainingConfig()
        training = Training(folder, config, display, stop, make_workers)
        end.callback(training.trainer.close)
        if not begun:
            folder.write_config(config)
        resumed = training.start(init)
        if begun:  # not before: what cannot go on stays as it was
            folder.write_config(config)
        limits = config.iterations, config.minutes
        display.start(run_summary(config), str(folder.path), resumed, *limits, training.history)
        if began is not None:
            began()
        training.run()
        return training


def run_summary(config: TrainingConfig) -> str:
    """The run in a few words."""
    play = config.self_play
    return (
        f"{config.board_size}×{config.board_size}, {config.network.size}, {play.games} games at once, "
        f"{play.simulations} simulations ({play.method})"
    )
