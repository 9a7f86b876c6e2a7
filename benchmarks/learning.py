"""Which way of learning learns more from the same games: `python benchmarks/learning.py runs/laptop optimizer=muon`.

Two training runs of one recipe differ by more than most ideas are worth, since each makes games of its own. Here every
variant gets the same ones: those of a run that was trained before, but for every tenth iteration. Networks begin from
nothing, or from `--init`, learn from as many samples, or for the same time, and are asked then about the games of that
tenth. A smaller error there is no strength yet, but it is seen in minutes; with `--keep` the networks stay, and can
play matches. Variants take turns, seed by seed; the first is the run's own recipe.
"""

import mini_alphago  # noqa: F401  # before torch, see its __init__

# isort: split
import argparse
import re
import time
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mini_alphago.model import build_network, count_flops, get_encoding, parse_size
from mini_alphago.model.evaluator import pick_device
from mini_alphago.model.grow import first_network
from mini_alphago.training import Trainer, TrainingConfig
from mini_alphago.training.choice import choose, draw, usable
from mini_alphago.training.config import LearningSettings
from mini_alphago.training.folder import RunFolder
from mini_alphago.training.records import Records, join_records
from mini_alphago.training.replay import read_games
from mini_alphago.training.samples import SampleMaker
from mini_alphago.training.trainer import losses

SHOWN = ("policy_loss", "value_loss", "score_loss", "ownership_loss")
HELD_OUT = 10  # every so many iterations
_CHOSEN = 500  # steps whose positions are chosen at once: it takes a while where there are millions


@dataclass(frozen=True)
class Variant:
    """A way of learning."""

    name: str
    size: str
    settings: LearningSettings


def read_variant(text: str, config: TrainingConfig) -> Variant:
    """The run's recipe with changes, as `size=b6c64,optimizer=muon`. ValueError if there is no such setting."""
    size, changes = config.network.size, {}
    kinds = {field.name: field.type for field in fields(LearningSettings)}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name == "size":
            size = value
        elif name in kinds:
            changes[name] = kinds[name](value) if kinds[name] in (int, float) else value
        else:
            raise ValueError(f"no setting {name!r}: they are size, {', '.join(kinds)}")
    parse_size(size)
    return Variant(text.replace(",", ", ") or "as the run", size, replace(config.learning, **changes))


def read_run(folder: Path, first: int, size: int) -> tuple[Records, Records]:
    """The games of a run from that iteration on, as far as they are there: to learn from, and to be asked about."""
    numbers = sorted(int(path.stem) for path in (folder / "replay").glob("*.games"))
    parts = {number: read_games(folder / "replay", number, size) for number in numbers if number >= first}
    held_out = [number for number in parts if number % HELD_OUT == HELD_OUT // 2]
    learned = [number for number in parts if number not in held_out]
    return join_records([parts[n] for n in learned], size), join_records([parts[n] for n in held_out], size)


def learn(
    trainer: Trainer, maker: SampleMaker, games: Records, samples: int, seconds: float, seed: int
) -> tuple[int, float]:
    """Learn from so many samples or for that long, whatever comes first; how many steps, and how long each took."""
    settings, rng = trainer.settings, np.random.default_rng(seed)
    spent, steps, last = 0.0, 0, samples // settings.batch_size
    while spent < seconds and steps < last:
        game, at = choose(games, (_CHOSEN, settings.batch_size), settings.surprise_weight, rng)
        for i in range(min(_CHOSEN, last - steps)):
            if spent >= seconds:
                break
            began = time.perf_counter()
            views = rng.integers(0, 8, settings.batch_size)
            batch = maker.make(games, game[i], at[i], views, settings.search_value, settings.value_horizon)
            trainer.set_progress(max(spent / seconds, steps / last))
            trainer.step(batch)
            if trainer.device.type == "cuda":
                torch.cuda.synchronize()
            if steps:  # what the first one sets up is no matter
                spent += time.perf_counter() - began
            steps += 1
    return steps, spent / max(1, steps - 1)


@torch.inference_mode()
def ask(trainer: Trainer, maker: SampleMaker, games: Records, count: int) -> dict[str, float]:
    """Mean losses on positions of these games; the value's is beside the result."""
    network = trainer.average.eval()
    game, at = usable(games)
    rows = draw(len(game), min(count, len(game)) // maker.batch_size * maker.batch_size, np.random.default_rng(0))
    found = []
    for part in np.split(rows, len(rows) // maker.batch_size):
        batch = maker.make(games, game[part], at[part], np.zeros(len(part), np.int64)).to(trainer.device)
        assert trainer._scale is not None
        planes = batch.planes.float() * trainer._scale
        with torch.autocast(trainer.device.type, torch.bfloat16, enabled=trainer._bf16):
            out = network.outputs(planes)
        parts = losses(out, batch, trainer.settings)
        found.append([float(parts.get(name, np.nan)) for name in SHOWN])
    return dict(zip(SHOWN, np.mean(found, axis=0), strict=True))


def make(variant: Variant, config: TrainingConfig, init: str | None, seed: int) -> tuple[Trainer, SampleMaker]:
    """What learns in that way, from nothing or from a network, and what makes its batches."""
    device = pick_device(config.device)
    torch.manual_seed(seed)
    shape = replace(config.network, size=variant.size).config(config.board_size)
    network = (first_network(init, shape) if init else build_network(shape)).to(device)
    maker = SampleMaker(
        get_encoding(shape.encoding), config.board_size, config.self_play.rules, variant.settings.batch_size,
        config.self_play.limit_for(config.board_size), pinned=device.type == "cuda",
    )  # fmt: skip
    return Trainer(network, variant.settings.learning_rate, variant.settings), maker


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, help="the folder of a training run")
    parser.add_argument("variants", nargs="*", metavar="CHANGES", help="size=b6c64,optimizer=muon and the like")
    parser.add_argument("--samples", type=int, default=10**9, help="to learn from, for each")
    parser.add_argument("--seconds", type=float, default=60.0, help="of learning, at most")
    parser.add_argument("--seeds", type=int, default=2, help="how many times each")
    parser.add_argument("--first", type=int, default=1, help="the first iteration whose games are learned from")
    parser.add_argument("--positions", type=int, default=20_000, help="to ask about")
    parser.add_argument(
        "--init", metavar="MODEL", help="begin from this network, which is asked first, not from nothing"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the networks are kept")
    arguments = parser.parse_args()
    console = Console(width=140)
    try:
        config = RunFolder(str(arguments.run)).read_config()
        variants = [read_variant(text, config) for text in ("", *arguments.variants)]
        for variant in variants if arguments.init else ():
            make(variant, config, arguments.init, 0)
        games, held_out = read_run(arguments.run, arguments.first, config.board_size)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    if arguments.positions < max(variant.settings.batch_size for variant in variants):
        parser.error(f"--positions is {arguments.positions}: it is a whole batch or more")
    if not games.samples or held_out.samples < arguments.positions // 4:
        parser.error(f"{arguments.run} has too few games from iteration {arguments.first} on")
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    turns = [(seed, variant, arguments.samples) for seed in range(arguments.seeds) for variant in variants]
    if arguments.init:
        turns.insert(0, (0, replace(variants[0], name=arguments.init), 0))
    rows: dict[str, list[tuple[float, ...]]] = {variant.name: [] for _, variant, _ in turns}
    for seed, variant, samples in track(turns, "learning", console=console):
        trainer, maker = make(variant, config, arguments.init, seed)
        steps, each = learn(trainer, maker, games, samples, arguments.seconds, seed)
        found = ask(trainer, maker, held_out, arguments.positions)
        flops = count_flops(trainer.network, config.board_size)
        rows[variant.name].append((steps, steps and maker.batch_size / each, flops / 1e6, *found.values()))
        console.print(f"{variant.name}, {seed}:", *(f"{name} {loss:.4f}" for name, loss in found.items()))
        if arguments.keep and steps:
            trainer.save(arguments.keep / f"{re.sub('[^a-z0-9.]+', '-', variant.name)}-{seed}.safetensors")
    title = f"{games.samples:,} positions, learned from for {arguments.seconds:g} s at most; ± between seeds"
    table = Table("", "steps", "samples/s", "MFLOP", *(name.replace("_", " ") for name in SHOWN), title=title)
    for name, numbers in rows.items():
        mean = np.mean(numbers, axis=0)
        cells = [f"{loss:.4f}" for loss in mean[3:]]
        if len(numbers) > 1:
            cells = [f"{c} ±{s:.4f}" for c, s in zip(cells, np.std(numbers, axis=0, ddof=1)[3:], strict=True)]
        table.add_row(name, *(f"{number:,.0f}" for number in mean[:3]), *cells)
    console.print(table)


if __name__ == "__main__":
    main()
