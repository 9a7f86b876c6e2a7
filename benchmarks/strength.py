"""Strength against minutes of training: `python benchmarks/strength.py 2.1=a.safetensors 4.8=b.safetensors --anchor N`.

Networks of one training, each with the minutes that it had, play on paired random openings on 9×9: the last few meet
the anchor, the others their neighbours. One table of Elo ratings, relative to the anchor, and with `--svg FILE` a
picture of it. `--keep FILE` keeps the results as they come and goes on with what is there: a picture can be drawn
again without a game.
"""

import argparse
import json
import re
from html import escape
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from mini_alphago.arena import PlayerMaker, Rating, elo_ratings, play_match, random_openings

ANCHOR = "anchor"
Result = tuple[str, str, int, int, int]  # one, other, wins, losses, draws
WIDTH, HEIGHT, LEFT, BOTTOM = 640, 360, 56, 40


def pairs(names: list[str], anchored: int) -> list[tuple[str, str]]:
    """The last few and the anchor; of the others, each and the next."""
    first = max(0, len(names) - anchored)
    return [*zip(names[1 : first + 1], names, strict=False), *((name, ANCHOR) for name in names[first:])]


def play(
    chosen: list[tuple[str, str]], players: dict[str, str], games: int, visits: int, keep: Path | None
) -> list[Result]:
    """The results of these pairs; those that are kept already are not played again."""
    results: list[Result] = [tuple(row) for row in json.loads(keep.read_text())] if keep and keep.exists() else []
    missing = [pair for pair in chosen if pair not in {row[:2] for row in results}]
    maker, openings = PlayerMaker(9, games, visits, 1, "auto", 60.0), random_openings(games // 2, 9, 7, 2, seed=5)
    with Progress() as progress:
        bar = progress.add_task("", total=len(missing) * games)
        for i, (one, other) in enumerate(missing):
            progress.update(bar, description=f"{one} – {other}", completed=i * games)

            def show(done: int, total: int, before: int = i * games) -> None:
                progress.update(bar, completed=before + done)

            first, second = maker.make(players[one]), maker.make(players[other])
            found = play_match(first, second, openings, show)
            first.close()
            second.close()
            results.append((one, other, found.wins, found.losses, found.draws))
            if keep:
                keep.write_text(json.dumps(results))
    return results


def picture(ratings: dict[str, Rating], anchor: str) -> str:
    """Minutes to the right, Elo upwards, with its error; the anchor is the dashed line."""
    points = [(float(name), rating) for name, rating in ratings.items() if name != ANCHOR]
    low = min(0.0, *(rating.elo - rating.error for _, rating in points)) - 50
    high = max(0.0, *(rating.elo + rating.error for _, rating in points)) + 50
    most = max(minutes for minutes, _ in points) * 1.05

    def x(minutes: float) -> float:
        return LEFT + (WIDTH - LEFT - 10) * minutes / most

    def y(elo: float) -> float:
        return 10 + (HEIGHT - BOTTOM - 10) * (high - elo) / (high - low)

    parts = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    parts.append(f'<path d="M{LEFT} {y(0):.1f}H{WIDTH - 10}" stroke="#999" stroke-dasharray="5 4"/>')
    parts.append(f'<text x="{WIDTH - 10}" y="{y(0) + 18:.1f}" text-anchor="end" fill="#777">{escape(anchor)}</text>')
    parts.append(f'<text x="{LEFT + 6}" y="20" fill="#777">Elo</text>')
    for elo in range(-3000, 3001, 200):
        if low < elo < high:
            parts.append(f'<text x="{LEFT - 8}" y="{y(elo) + 4:.1f}" text-anchor="end">{elo:+d}</text>')
    for minutes in range(0, int(most) + 1, 10):
        parts.append(f'<text x="{x(minutes):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{minutes}</text>')
    parts.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 6}" text-anchor="middle">minutes of training on one GPU</text>')
    line = " ".join(f"{x(minutes):.1f},{y(rating.elo):.1f}" for minutes, rating in points)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#2a6" stroke-width="2"/>')
    for minutes, rating in points:
        top, bottom = y(rating.elo + rating.error), y(rating.elo - rating.error)
        parts.append(f'<path d="M{x(minutes):.1f} {top:.1f}V{bottom:.1f}" stroke="#2a6"/>')
        parts.append(f'<circle cx="{x(minutes):.1f}" cy="{y(rating.elo):.1f}" r="4" fill="#2a6"/>')
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13"'
    start = f'<svg xmlns="http://www.w3.org/2000/svg" {box}>'
    return start + "".join(parts) + "</svg>\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="+", metavar="MINUTES=PATH", help="in order")
    parser.add_argument("--anchor", required=True, help="what the ratings are relative to: a network, gnugo:10, …")
    parser.add_argument("--name", help="what table and picture call it; by default as it was given")
    parser.add_argument("--anchored", type=int, default=4, help="so many of the last networks meet the anchor")
    parser.add_argument("--games", type=int, default=400, help="of each pair")
    parser.add_argument("--visits", type=int, default=100, help="a move, of all networks")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where results are kept")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="where to draw the picture")
    arguments = parser.parse_args()
    if not all(re.fullmatch(r"\d+(\.\d+)?=.+", text) for text in arguments.networks):
        parser.error("networks are given as MINUTES=PATH, such as 4.8=net.safetensors")
    players = dict(text.split("=", 1) for text in arguments.networks)
    chosen = pairs(list(players), arguments.anchored)
    players[ANCHOR] = arguments.anchor
    results = play(chosen, players, arguments.games, arguments.visits, arguments.keep)
    ratings = elo_ratings(results, ANCHOR)
    anchor = arguments.name or arguments.anchor
    table = Table("minutes", f"Elo ({anchor} = 0)", "± (95 %)")
    for name in players:
        table.add_row(name, f"{ratings[name].elo:+.0f}", f"{ratings[name].error:.0f}")
    Console().print(table)
    if arguments.svg:
        arguments.svg.write_text(picture({name: ratings[name] for name in players}, anchor))


if __name__ == "__main__":
    main()
