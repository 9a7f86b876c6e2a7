"""What each part of a recipe is worth: `python benchmarks/ablation.py --preset gpu --minutes 1.5`.

Every variant is trained from nothing for the same time on the same machine, one after the other, then meets the
unchanged preset on paired openings. All lies in `--folder`: what is there already is neither trained nor played again.
Kernels are compiled before the first clock starts, and the preset runs a second time, with another seed, at the end:
what lies between those two is chance, or a machine that changed meanwhile.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from mini_alphago.arena import PlayerMaker, elo_interval, play_match, random_openings
from mini_alphago.model.checkpoint import newest_network
from mini_alphago.training import TrainingConfig, get_preset, train

BASE, AGAIN = "the preset", "the preset again"
# 32 a move on average, 64 late, as many as the preset `gpu` has without them.
CAPS = {"simulations": 80, "fast_simulations": 16, "full_share": 0.25, "forced_playouts": 2.0, "late_simulations": 208}
LATER = {"search_value": 0.7, "value_horizon": 8.0}
VARIANTS: dict[str, dict[str, dict[str, Any]]] = {  # by name: section, setting, value
    BASE: {},
    "PUCT": {"self_play": {"method": "puct", "fpu_reduction": 0.2}},
    "PUCT with playout caps": {"self_play": {"method": "puct", "fpu_reduction": 0.2, **CAPS}},
    "no score, no ownership": {"learning": {"score_weight": 0.0, "ownership_weight": 0.0}},
    "half the value weight": {"learning": {"value_weight": 0.75}},
    "the opponent's reply": {"learning": {"reply_weight": 0.15}},
    "a softened policy too": {"learning": {"soft_weight": 8.0}},
    "results only": {"learning": {"search_value": 0.0}},
    "half of the search's value": {"learning": {"search_value": 0.5}},
    "values of later searches": {"learning": LATER},
    "values of later searches, a softened policy": {"learning": {"soft_weight": 8.0, **LATER}},
    "positions used once": {"learning": {"uses": 1.0}},
    "positions used six times": {"learning": {"uses": 6.0}},
    "half the learning rate": {"learning": {"learning_rate": 1e-3}},
    "twice the learning rate": {"learning": {"learning_rate": 4e-3}},
    "weights that decay": {"learning": {"weight_decay": 0.05}},
    "a smaller window": {"replay": {"exponent": 0.5}},
    "one komi": {"self_play": {"komi_spread": 0.0}},
    "settled games go on": {"self_play": {"end_when_settled": False}},
    "resignation": {"self_play": {"resign_below": -0.95, "resign_played_out": 0.15}},
    "random openings": {"self_play": {"random_openings": 0.5}},
    "milder targets": {"self_play": {"c_scale": 0.5}},
    "16 simulations, then 48": {"self_play": {"simulations": 16, "late_simulations": 48}},
    "32 simulations throughout": {"self_play": {"late_simulations": 0}},
    AGAIN: {"": {"seed": 2}},
}


def changed(config: TrainingConfig, changes: dict[str, dict[str, Any]]) -> TrainingConfig:
    """The settings with these changes, by section; "" is the run itself."""
    for section, values in changes.items():
        if section:
            config = replace(config, **{section: replace(getattr(config, section), **values)})
        else:
            config = replace(config, **values)
    return config


def compile_all(config: TrainingConfig, chosen: list[str], folder: Path) -> None:
    """An iteration of each method, so that no clock has compiling in it."""
    by_method = {changed(config, VARIANTS[name]).self_play.method: name for name in chosen}
    for method, name in by_method.items():
        short = replace(changed(config, VARIANTS[name]), minutes=None, iterations=1, games_per_iteration=1)
        train(short, str(folder / f"compile-{method}"))


def trained(config: TrainingConfig, name: str, folder: Path) -> tuple[Path, dict[str, Any]]:
    """The run of a variant, and the last line of its metrics."""
    run = folder / name.replace(" ", "-").replace(",", "").replace("'", "")
    last = run / "metrics.jsonl"
    if not (run / "done").exists():
        train(None if last.exists() else changed(config, VARIANTS[name]), str(run))
        (run / "done").touch()
    line: dict[str, Any] = json.loads(last.read_text().splitlines()[-1])
    return run, line


def played(run: Path, base: Path, maker: PlayerMaker, games: int, config: TrainingConfig) -> tuple[int, int, int]:
    """Wins, losses and draws of a run's network against that of the base."""
    kept = run / "match.json"
    if not kept.exists():
        openings = random_openings(games // 2, config.board_size, config.self_play.komi, 2, seed=5)
        one, other = (maker.make(str(newest_network(path))) for path in (run, base))
        found = play_match(one, other, openings)
        one.close()
        other.close()
        kept.write_text(json.dumps((found.wins, found.losses, found.draws)))
    wins, losses, draws = json.loads(kept.read_text())
    return wins, losses, draws


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("variants", nargs="*", metavar="NAME", help=f"of: {'; '.join(VARIANTS)}. All, if none is named")
    parser.add_argument("--preset", default="gpu")
    parser.add_argument("--minutes", type=float, default=1.5, help="of each run")
    parser.add_argument("--games", type=int, default=400, help="of each match")
    parser.add_argument("--visits", type=int, default=100, help="a move in them")
    parser.add_argument("--folder", type=Path, default=Path("ablation"), help="where runs are kept")
    arguments = parser.parse_args()
    if unknown := set(arguments.variants) - set(VARIANTS):
        parser.error(f"no variant {', '.join(unknown)}: they are {'; '.join(VARIANTS)}")
    chosen = [name for name in VARIANTS if name in (BASE, *(arguments.variants or VARIANTS))]
    config = get_preset(arguments.preset)
    config = replace(config, minutes=arguments.minutes, measure=replace(config.measure, every=0))
    maker = PlayerMaker(config.board_size, arguments.games, arguments.visits, 1, "auto", 60.0)
    console = Console(width=140)
    compile_all(config, chosen, arguments.folder)
    table = Table("", "games", "positions", "evals/s", "policy loss", "value loss", "won–drawn–lost", "Elo (95 %)")
    for name in chosen:
        run, line = trained(config, name, arguments.folder)
        row = [f"{line['games']:,}", f"{line['positions']:,}", f"{line['evals_per_second']:,.0f}"]
        row += [f"{line['policy_loss']:.3f}", f"{line['value_loss']:.3f}"]
        if name == BASE:
            base = run
        else:
            wins, losses, draws = played(run, base, maker, arguments.games, config)
            elo, low, high = elo_interval(wins, losses, draws)
            row += [f"{wins}–{draws}–{losses}", f"{elo:+.0f} ({low:+.0f} to {high:+.0f})"]
        table.add_row(name, *row)
        console.print(name, *row, highlight=False)  # as it comes: the rest takes a while
    console.print(table)


if __name__ == "__main__":
    main()
