"""`mini-alphago train` and `speedrun`: from the command line to a run, and from Ctrl-C back to the prompt."""

import argparse
import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import arg

from ..arena.command import climb
from ..arena.tournament import MatchSettings
from ..model.evaluator import pick_device
from .config import TrainingConfig
from .display import Display, make_display
from .folder import RunFolder
from .loop import Stopped, Summary, train
from .machine import fit_to_machine, fit_to_speed, memory_of_this_machine, speed_of_network, too_large_for
from .page import page_beside
from .presets import PRESETS, choose_preset, get_preset
from .report import duration_text

_ON_THE_WAY = 3  # earlier networks that a speedrun's ladder has


OnCluster = Callable[..., Summary]  # `train_on_cluster`: this room knows nothing of clusters


def train_verb(arguments: list[str], doc: str, on_cluster: OnCluster) -> Callable[..., Any]:
    """The verb as a function for the command line, its defaults those of the preset or of the run named there."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--preset")
    parser.add_argument("--run")
    known, _ = parser.parse_known_args([_as_tyro_reads(argument) for argument in arguments])
    if known.preset is None and not (known.run and RunFolder(known.run).exists):
        known.preset, reason = choose_preset()
        chosen = f"Preset {known.preset}: {reason}."
    else:
        chosen = ""
    folder = RunFolder(known.run or default_run(known.preset))
    default = folder.read_config() if folder.exists else get_preset(known.preset)

    def verb(
        run: Annotated[str, arg(metavar="DIR", help="The run's folder; one that is there already goes on.")] = str(
            folder.path
        ),
        preset: Annotated[
            str | None, arg(metavar="NAME", help=f"{', '.join(PRESETS)}; by default one for this machine.")
        ] = known.preset,
        init: Annotated[
            str | None,
            arg(metavar="MODEL", help="Begin from this network, not from nothing; it may have fewer blocks."),
        ] = None,
        quiet: Annotated[bool, arg(help="Print nothing.")] = False,
        ray: Annotated[
            tuple[str, ...] | None,
            arg(metavar="[ADDRESS]", help="Play on a Ray cluster: this one, the one that runs here, or a new one."),
        ] = None,
        web: Annotated[
            tuple[int, ...] | None, arg(metavar="[PORT]", help="Show the run in the browser as well, on this port.")
        ] = None,
        config: Annotated[TrainingConfig, arg(name="")] = default,
    ) -> None:
        said = chosen
        if RunFolder(run).exists:  # as when a command is simply given again
            given = (("--preset", known.preset and not chosen), ("--init", init))
            unused = " and ".join(name for name, value in given if value)
            said = f"{run} goes on as it began, without {unused}." if unused else ""
        if web is not None and len(web) > 1:
            raise ValueError("--web takes one port, or none")
        if ray is not None and len(ray) > 1:
            raise ValueError("--ray takes one address, or none")
        elsewhere = None if ray is None else lambda *how: on_cluster(*how, *ray)
        go_on = " ".join(["mini-alphago train --run", run, *(["--ray", *ray] if ray is not None else [])])
        usual = (config.self_play.games, config.games_per_iteration) == (
            default.self_play.games, default.games_per_iteration
        )  # fmt: skip
        _run(config, run, init, quiet, said, web, go_on, elsewhere, adapt=usual)

    verb.__doc__ = doc
    return verb


def _as_tyro_reads(argument: str) -> str:
    """The same with - for _ in the name of an option, and its value as it is."""
    name, equals, value = argument.partition("=")
    return name.replace("_", "-") + equals + value if argument.startswith("--") else argument


def default_run(preset: str) -> Path:
    """Where a run goes if nobody says."""
    return Path("runs") / preset


def speedrun(run: str | None, preset: str | None, minutes: float | None, games: int, visits: int) -> None:
    """Train from nothing against the clock, then rate the network and those on the way to it.

    preset: None for this machine's. minutes: None for the preset's. games: against each opponent, at so many visits.
    ValueError if the run is there already.
    """
    chosen = ""
    if preset is None:
        preset, reason = choose_preset()
        chosen = f"Preset {preset}: {reason}."
    run = run or str(default_run("speedrun"))
    if RunFolder(run).exists:
        raise ValueError(f"{run} is there already, and a speedrun begins from nothing: name another folder with --run")
    config = get_preset(preset)
    config = replace(
        config, minutes=minutes or config.minutes, iterations=None, measure=replace(config.measure, every=0)
    )
    if config.minutes is None:
        raise ValueError(f"preset {preset} has no time of its own: say how long with --minutes")
    began = time.perf_counter()
    done = _run(config, run, None, False, chosen, None, f"mini-alphago train --run {run}", adapt=True)
    if done is None:
        print(f"Its ladder, whenever you like: mini-alphago ladder {run}")
        return
    clock = (time.perf_counter() - began) / 60
    made = f"{done.games:,} games, {done.positions:,} positions"
    print(f"From nothing: {done.minutes:.1f} minutes ({clock:.1f} by the clock), {made}.")
    play = config.self_play
    settings = MatchSettings(games, min(games, 32), visits, config.board_size, play.komi, device=config.device)
    climb(run, [], _ON_THE_WAY, settings, f"{run}/ladder")


def _run(
    config: TrainingConfig,
    run: str,
    init: str | None,
    quiet: bool,
    chosen: str,
    web: tuple[int, ...] | None,
    go_on: str,
    elsewhere: OnCluster | None = None,
    adapt: bool = False,
) -> Summary | None:
    """Train, and say how it ended; None if somebody stopped it.

    go_on: the command to go on with it. adapt: a new run may have fewer games, where the device is slow.
    """
    display = make_display(quiet=quiet)
    if chosen:
        display.say(chosen)
    if elsewhere is None:  # workers there see to it themselves, each for its own machine
        config = _fit(config, RunFolder(run), display, adapt)
    with contextlib.ExitStack() as beside, _ctrl_c() as stop:

        def began() -> None:
            if web is not None:
                beside.enter_context(page_beside(run, web[0] if web else None, display.say))

        try:
            if elsewhere is None:
                done = train(config, run, display, init, stop, lambda _: config, began).summary()
            else:
                done = elsewhere(config, run, display, init, stop, began)
            display.finish(_farewell(config, done, run, go_on))
            return done
        except Stopped:
            display.finish(f"Stopped; nothing is lost. Go on with: {go_on}")
            return None


def _fit(config: TrainingConfig, folder: RunFolder, display: Display, adapt: bool) -> TrainingConfig:
    """The settings as this machine can bear them; if a run cannot change to that any more, it is only said."""
    memory = memory_of_this_machine()
    if adapt and not folder.exists and pick_device(config.device).type == "cuda":
        config, slow = fit_to_speed(config, speed_of_network(config))
        if slow:
            display.say(slow)
    if not folder.exists or folder.is_at_rest():
        config, about = fit_to_machine(config, memory)
    else:
        about = too_large_for(config, memory)
    if about:
        display.say(about)
    return config


@contextlib.contextmanager
def _ctrl_c() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets within this block; the second time it is a KeyboardInterrupt."""
    stop = threading.Event()

    def asked(*_: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt  # the second time: at once
        stop.set()

    before = signal.signal(signal.SIGINT, asked) if threading.current_thread() is threading.main_thread() else None
    try:
        yield stop
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


def _farewell(config: TrainingConfig, done: Summary, run: str, go_on: str) -> str:
    if config.iterations is not None and done.iteration >= config.iterations:
        count = done.iteration
        reached, limit = f"{count} iteration{'s' * (count != 1)}", f"--iterations {2 * count}"
    else:
        reached, limit = duration_text(done.minutes), f"--minutes {2 * (config.minutes or 1):g}"
    play = f"Play it: mini-alphago play --model {run}"
    return f"Done: {reached}. {play}. The report: {run}/report.html. For more: {go_on} {limit}"
