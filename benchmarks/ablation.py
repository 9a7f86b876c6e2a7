"""What each part of a recipe is worth: `python benchmarks/ablation.py --preset gpu --minutes 1.5 --seeds 3`.

Every variant is trained from nothing for the same time on the same machine, with each seed, and its networks meet all
those of the unchanged preset on paired openings. Runs of one recipe differ by chance (docs/experiments.md has two that
differ by 165 Elo): the last column has the mean over seeds, and how far it may be off. Seeds take turns, so that a
machine that becomes slower does so for all. All lies in `--folder`: what is there already is neither trained nor played
again. Kernels are compiled before the first clock starts. With `--init` all begin from one network in place of nothing:
what a recipe is worth then depends less on chance, and on how late its first good network comes.
"""

import argparse
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mini_alphago.arena import PlayerMaker, elo_ratings, play_match, random_openings
from mini_alphago.model import load_network
from mini_alphago.model.checkpoint import newest_network
from mini_alphago.training import TrainingConfig, get_preset, train
from mini_alphago.training.folder import RunFolder


class Times(float):
    """So many times what the preset has, of a setting that is no whole number."""


BASE = "the preset"
Run = tuple[str, int]  # the variant's name, the seed
Result = tuple[str, str, int, int, int]  # one, other, wins, losses, draws
# 32 a move on average, 64 late, as many as the preset `gpu` has without them.
CAPS = {
    "simulations": 80, "fast_simulations": 16, "full_share": 0.25, "decided_above": None, "forced_playouts": 2.0,
    "late_simulations": 208,
}  # fmt: skip
LATER = {"search_value": 0.7, "value_horizon": 8.0}
_SHOWN = {"games": ",.0f", "positions": ",.0f", "evals_per_second": ",.0f", "policy_loss": ".3f", "value_loss": ".3f"}
_T = (np.inf, np.inf, 4.30, 2.78, 2.45, 2.31, 2.23)  # by seeds: of 2 (seeds − 1) degrees of freedom, 95 %
VARIANTS: dict[str, dict[str, dict[str, Any]]] = {  # by name: section, setting, value
    BASE: {},
    "PUCT": {"self_play": {"method": "puct", "fpu_reduction": 0.2}},
    "fast searches where it is decided": {"self_play": {"fast_simulations": 4, "decided_above": 0.9}},
    "all searches in full": {"self_play": {"fast_simulations": 0, "decided_above": None}},
    "PUCT with playout caps": {"self_play": {"method": "puct", "fpu_reduction": 0.2, **CAPS}},
    "no score, no ownership": {"learning": {"score_weight": 0.0, "ownership_weight": 0.0}},
    "half the value weight": {"learning": {"value_weight": 0.75}},
    "the opponent's reply": {"learning": {"reply_weight": 0.15}},
    "surprising positions more often": {"learning": {"surprise_weight": 0.5}},
    "a softened policy too": {"learning": {"soft_weight": 8.0}},
    "results only": {"learning": {"search_value": 0.0}},
    "half of the search's value": {"learning": {"search_value": 0.5}},
    "values of later searches": {"learning": LATER},
    "values of later searches, a softened policy": {"learning": {"soft_weight": 8.0, **LATER}},
    "positions used once": {"learning": {"uses": 1.0}},
    "positions used six times": {"learning": {"uses": 6.0}},
    "half the learning rate": {"learning": {"learning_rate": Times(0.5)}},
    "twice the learning rate": {"learning": {"learning_rate": Times(2)}},
    "AdamW in place of Muon": {"learning": {"optimizer": "adamw", "learning_rate": Times(1 / 3), "weight_decay": 1e-4}},
    "more weight decay": {"learning": {"weight_decay": 0.05}},
    "down to a hundredth of the learning rate": {"learning": {"final_rate": 0.01}},
    "a smaller window": {"replay": {"exponent": 0.5}},
    "one komi": {"self_play": {"komi_spread": 0.0}},
    "settled games go on": {"self_play": {"end_when_settled": False}},
    "resignation": {"self_play": {"resign_below": -0.95, "resign_played_out": 0.15}},
    "random openings": {"self_play": {"random_openings": 0.5}},
    "milder targets": {"self_play": {"c_scale": 0.5}},
    "16 simulations, then 48": {"self_play": {"simulations": 16, "late_simulations": 48}},
    "32 simulations throughout": {"self_play": {"late_simulations": 0}},
}


def changed(config: TrainingConfig, changes: dict[str, dict[str, Any]]) -> TrainingConfig:
    """The settings with these changes, by section."""
    for section, values in changes.items():
        before = getattr(config, section)
        values = {k: v * getattr(before, k) if isinstance(v, Times) else v for k, v in values.items()}
        config = replace(config, **{section: replace(before, **values)})
    return config


def begin_from(config: TrainingConfig, init: str | None, rate: float | None) -> TrainingConfig:
    """The settings for runs that begin from this network, with that learning rate; None: as they are."""
    if init is not None:
        config = replace(config, network=replace(config.network, size=load_network(init).config.size))
    if rate is not None:
        config = replace(config, learning=replace(config.learning, learning_rate=rate))
    return config


def compile_all(config: TrainingConfig, init: str | None, chosen: list[str], folder: Path) -> None:
    """An iteration of each method, so that no clock has compiling in it."""
    by_method = {changed(config, VARIANTS[name]).self_play.method: name for name in chosen}
    for method, name in by_method.items():
        short = replace(changed(config, VARIANTS[name]), minutes=None, iterations=1, games_per_iteration=1)
        train(short, str(folder / f"compile-{method}"), init=init)


def trained(config: TrainingConfig, init: str | None, run: Run, folder: Path) -> tuple[Path, dict[str, Any]]:
    """Where that run is, trained if it was not, and the last line of its metrics."""
    name, seed = run
    path = folder / f"{re.sub('[^a-z0-9]+', '-', name.lower())}-{seed}"
    last = path / "metrics.jsonl"
    wanted = replace(changed(config, VARIANTS[name]), seed=seed)
    if RunFolder(str(path)).exists and RunFolder(str(path)).read_config() != wanted:
        raise SystemExit(f"{path} is a run with other settings: name another --folder")
    if not (path / "done").exists():
        train(None if last.exists() else wanted, str(path), init=init)
        (path / "done").touch()
    line: dict[str, Any] = json.loads(last.read_text().splitlines()[-1])
    return path, line


def played(
    pairs: list[tuple[Run, Run]], paths: dict[Run, Path], maker: PlayerMaker, games: int, config: TrainingConfig
) -> list[Result]:
    """The result of each pair: wins, losses and draws of the first one's network against the second one's."""
    openings = random_openings(games // 2, config.board_size, config.self_play.komi, 2, seed=5)
    results: list[Result] = []
    for one, other in track(pairs, "matches"):
        kept = paths[one] / f"against-{paths[other].name}.json"
        if not kept.exists():
            first, second = (maker.make(str(newest_network(paths[run]))) for run in (one, other))
            found = play_match(first, second, openings)
            first.close()
            second.close()
            kept.write_text(json.dumps((found.wins, found.losses, found.draws)))
        wins, losses, draws = json.loads(kept.read_text())
        results.append((str(one), str(other), wins, losses, draws))
    return results


def add_row(table: Table, name: str, lines: list[dict[str, Any]], elo: np.ndarray, base: np.ndarray) -> None:
    """Means over seeds; elo, base: [seeds], ratings of the variant's runs and of the preset's."""
    mean = {key: np.mean([line[key] for line in lines]) for key in _SHOWN}
    row = [
        name,
        *(f"{mean[key]:{form}}" for key, form in _SHOWN.items()),
        " ".join(f"{e - base.mean():+.0f}" for e in elo),
    ]
    if name != BASE:
        seeds = len(elo)
        # Both means are off by chance. With few runs their spread is not known well itself: Student's t.
        row.append(f"{elo.mean() - base.mean():+.0f}")
        if seeds > 1:
            spread = np.sqrt((elo.var(ddof=1) + base.var(ddof=1)) / seeds)
            row[-1] += f" ± {_T[min(seeds, len(_T) - 1)] * spread:.0f}"
    table.add_row(*row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("variants", nargs="*", metavar="NAME", help=f"of: {'; '.join(VARIANTS)}. All, if none is named")
    parser.add_argument("--preset", default="gpu")
    parser.add_argument("--init", metavar="MODEL", help="begin from this network, not from nothing")
    parser.add_argument("--learning-rate", type=float, metavar="RATE", help="in place of the preset's")
    parser.add_argument("--minutes", type=float, default=1.5, help="of each run")
    parser.add_argument("--seeds", type=int, default=3, help="how many runs of each variant")
    parser.add_argument("--games", type=int, default=400, help="of each run, against all of the preset's together")
    parser.add_argument("--visits", type=int, default=100, help="a move in them")
    parser.add_argument("--folder", type=Path, default=Path("ablation"), help="where runs are kept")
    arguments = parser.parse_args()
    if unknown := set(arguments.variants) - set(VARIANTS):
        parser.error(f"no variant {', '.join(unknown)}: they are {'; '.join(VARIANTS)}")
    if arguments.seeds < 1:
        parser.error(f"--seeds is {arguments.seeds}: it is 1 or more")
    chosen = [name for name in VARIANTS if name in (BASE, *(arguments.variants or VARIANTS))]
    seeds = range(1, arguments.seeds + 1)
    config = get_preset(arguments.preset)
    config = replace(config, minutes=arguments.minutes, measure=replace(config.measure, every=0))
    config = begin_from(config, arguments.init, arguments.learning_rate)
    chosen = [name for name in chosen if name == BASE or changed(config, VARIANTS[name]) != config]  # a preset has some
    games = max(2, arguments.games // len(seeds))
    maker = PlayerMaker(config.board_size, games, arguments.visits, 1, "auto", 60.0)
    console = Console(width=140)
    compile_all(config, arguments.init, chosen, arguments.folder)
    paths: dict[Run, Path] = {}
    lines: dict[Run, dict[str, Any]] = {}
    for run in [(name, seed) for seed in seeds for name in chosen]:
        paths[run], lines[run] = trained(config, arguments.init, run, arguments.folder)
        console.print(*run, *(f"{key} {lines[run][key]:{form}}" for key, form in _SHOWN.items()), highlight=False)
    base = [(BASE, seed) for seed in seeds]
    pairs = [(one, other) for one in paths for other in base if one not in base or one > other]
    ratings = elo_ratings(played(pairs, paths, maker, games, config), str(base[0]))
    table = Table("", *(key.replace("_", " ") for key in _SHOWN), "Elo by seed", "Elo (95 %)")
    for name in chosen:
        elo, its = (np.array([ratings[str((n, seed))].elo for seed in seeds]) for n in (name, BASE))
        add_row(table, name, [lines[name, seed] for seed in seeds], elo, its)
    console.print(table)


if __name__ == "__main__":
    main()
