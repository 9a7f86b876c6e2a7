"""`mini-alphago train`: from the command line to a run, and from Ctrl-C back to the prompt."""

import argparse
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import arg

from .config import TrainingConfig, from_toml
from .display import make_display
from .folder import RunFolder
from .loop import Stopped, Training, train
from .presets import PRESETS, choose_preset, get_preset

# A run that goes on has games of this shape in play, and a network of this shape.
_FIXED = ("board_size", "seed", "network", "self_play.games", "self_play.move_limit", "self_play.rules")


def train_verb(arguments: list[str], doc: str) -> Callable[..., Any]:
    """The verb as a function for the command line, its defaults those of the preset or of the run named there."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--preset")
    parser.add_argument("--run")
    known, _ = parser.parse_known_args([a.replace("_", "-") if a.startswith("--") else a for a in arguments])
    if known.run is None and known.preset is None:
        known.preset, reason = choose_preset()
        chosen = f"Preset {known.preset}: {reason}."
    else:
        chosen = ""
    folder = RunFolder(known.run or default_run(known.preset))
    default = from_toml(folder.read_config()) if folder.exists else get_preset(known.preset or choose_preset()[0])

    def verb(
        run: Annotated[str, arg(metavar="DIR", help="The run's folder; one that is there already goes on.")] = str(
            folder.path
        ),
        preset: Annotated[
            str | None, arg(metavar="NAME", help=f"{', '.join(PRESETS)}; by default one for this machine.")
        ] = known.preset,
        init: Annotated[str | None, arg(metavar="MODEL", help="Begin from this network, not from nothing.")] = None,
        quiet: Annotated[bool, arg(help="Print nothing.")] = False,
        config: Annotated[TrainingConfig, arg(name="")] = default,
    ) -> None:
        start = RunFolder(run)
        if start.exists:
            _check_same(from_toml(start.read_config()), config, known.preset)
        _run(config, run, init, quiet, chosen)

    verb.__doc__ = doc
    return verb


def default_run(preset: str) -> Path:
    """Where a run goes if nobody says."""
    return Path("runs") / preset


def _check_same(before: TrainingConfig, now: TrainingConfig, preset: str | None) -> None:
    """ValueError if a setting was changed that a run cannot change in the middle."""
    for name in _FIXED:
        old: Any = before
        new: Any = now
        for part in name.split("."):
            old, new = getattr(old, part), getattr(new, part)
        if old != new:
            raise ValueError(f"this run has {name} {old}, which cannot change any more: begin another with --run")


def _run(config: TrainingConfig, run: str, init: str | None, quiet: bool, chosen: str) -> None:
    display = make_display(quiet=quiet)
    stop = threading.Event()
    go_on = f"mini-alphago train --run {run}"
    if chosen:
        display.say(chosen)

    def asked(*_: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt  # the second time: at once
        stop.set()

    before = signal.signal(signal.SIGINT, asked) if threading.current_thread() is threading.main_thread() else None
    try:
        training = train(config, run, display, init, stop, lambda _: config)
        display.finish(_farewell(training, run, go_on))
    except Stopped:
        display.finish(f"Stopped; nothing is lost. Go on with: {go_on}")
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


def _farewell(training: Training, run: str, go_on: str) -> str:
    config = training.config
    reached = f"{training.iteration} iterations" if config.minutes is None else f"{training.minutes:.0f} minutes"
    limit = f"--iterations {2 * config.iterations}" if config.iterations else f"--minutes {2 * (config.minutes or 1):g}"
    return f"Done: {reached}. The network is --model {run}, the report {run}/report.html. For more: {go_on} {limit}"
