"""The report of a training run: one HTML page with its curves, its settings and some games, and nothing from outside.

It is made from `metrics.jsonl`, one JSON object per finished iteration. Any key may be missing or null there, since
runs measure different things; whatever cannot be drawn is left out of the page.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..files import write_atomically
from ..game.coords import GTP_COLUMNS, star_points
from ..plot import PLOT_STYLE, Series, line_plot, number_text, share_plot

Metrics = dict[str, Any]  # one finished iteration

MOST_MATCHES = 12  # rows in the table of matches

PAGE_STYLE = """
:root { color-scheme: light dark; }
body { max-width: 1160px; margin: 0 auto; padding: 24px 20px 60px; background: var(--page); color: var(--ink);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 24px; margin: 0; } h2 { font-size: 18px; margin: 34px 0 10px; }
.soft { color: var(--soft); margin: 4px 0; }
.tiles, .large, .small { display: grid; gap: 14px; margin-top: 14px; }
.tiles { grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); margin-top: 18px; }
.tiles div { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 8px 14px; }
.tiles b { display: block; font-size: 19px; white-space: nowrap; } .tiles span { color: var(--soft); font-size: 13px; }
.large { grid-template-columns: repeat(auto-fill, minmax(min(440px, 100%), 1fr)); }
.small { grid-template-columns: repeat(auto-fill, minmax(min(320px, 100%), 1fr)); }
table { width: 100%; border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; margin: 6px 0; }
th, td { padding: 4px 0 4px 12px; text-align: right; border-bottom: 1px solid var(--rule); }
th { color: var(--soft); font-weight: normal; } .total { font-weight: 600; } .name { text-align: left; }
summary { cursor: pointer; color: var(--soft); } a { color: var(--c0); }
pre { overflow: auto; max-height: 420px; padding: 12px; background: var(--card); border: 1px solid var(--rule);
  border-radius: 8px; font-size: 13px; white-space: pre-wrap; overflow-wrap: anywhere; }
svg.goban { display: block; width: 100%; height: auto; margin: 8px 0; font-size: 0.4px; }
.goban .wood { fill: #dfb671; } .goban path { stroke: #4c3a1c; stroke-width: 0.035; fill: none; }
.goban .star { fill: #4c3a1c; } .goban text { fill: #4c3a1c; text-anchor: middle; }
.goban .black { fill: #17181a; } .goban .white { fill: #fbfaf6; stroke: #55493a; stroke-width: 0.03; }
.goban .mark { fill: none; stroke-width: 0.09; }
.goban .on-black { stroke: #ffffff; } .goban .on-white { stroke: #c22a1c; }
"""


@dataclass(frozen=True)
class ReportGame:
    """A game to show: its final board, rows from the top of `.`, `X` and `O`, and its record.

    `last_move` is (row from the top, column from the left), as everywhere; None or (-1, -1) when it was a pass.
    """

    caption: str
    board: Sequence[str]
    last_move: tuple[int, int] | None
    sgf: str


def read_metrics(path: Path) -> list[Metrics]:
    """The finished iterations in a `metrics.jsonl`, by number; of two lines for one iteration the later counts.

    No file means that no iteration has finished: an empty list. A last line that cannot be read was cut off by a kill
    and is ignored; any other raises ValueError with its number.
    """
    if not path.exists():
        return []
    lines = [(n, line) for n, line in enumerate(path.read_bytes().split(b"\n"), 1) if line.strip()]
    found: dict[int, Metrics] = {}
    for number_of_line, line in lines:
        try:
            metrics = json.loads(line)
            found[_whole(metrics["iteration"])] = metrics
        except (ValueError, TypeError, KeyError, RecursionError):
            if number_of_line != lines[-1][0]:
                wanted = 'a JSON object with a whole number under "iteration"'
                raise ValueError(f"{path}, line {number_of_line}: this is not {wanted}") from None
    return [found[iteration] for iteration in sorted(found)]


def number(metrics: Mapping[str, Any], *keys: str) -> float | None:
    """The number under a key, or under keys one inside the other; None for anything else, NaN and infinity too.

    `number(metrics, "time", "network")` is `metrics["time"]["network"]`.
    """
    value: Any = metrics
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) < 1e100 else None  # NaN is not below either


def matches_of(metrics: Metrics) -> list[Metrics]:
    """The matches of an iteration, each with opponent, wins, draws, losses and perhaps visits; often none."""
    found = metrics.get("matches")
    return [match for match in found if isinstance(match, dict)] if isinstance(found, list) else []


def workers_of(metrics: Metrics) -> list[Metrics] | None:
    """The workers elsewhere that played for an iteration; None if the run has none, as most."""
    found = metrics.get("workers")
    return [worker for worker in found if isinstance(worker, dict)] if isinstance(found, list) else None


def duration_text(minutes: float) -> str:
    """`40 s`, `33.1 min`, `5 h 02 min`, `3 d 4 h`."""
    if minutes < 1:
        return f"{60 * minutes:.0f} s"
    if minutes < 99.95:
        return f"{minutes:.1f} min"
    hours, rest = divmod(round(minutes), 60)
    return f"{hours} h {rest:02d} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def write_report(run_folder: Path, metrics: list[Metrics], config_text: str, games: list[ReportGame]) -> None:
    """Write `report.html` into the run's folder, in one step: a reader sees the old page or the new one.

    `metrics` is as from `read_metrics`, and may be empty. ValueError if a game's board is not square or has characters
    other than `.`, `X` and `O`; nothing is written then.
    """
    name = Path(run_folder).resolve().name
    page = _page(name, metrics, config_text, games)
    write_atomically(Path(run_folder) / "report.html", page.encode(errors="replace"))


def goban(board: Sequence[str], last_move: tuple[int, int] | None) -> str:
    """A picture of a position as SVG: see `ReportGame` for the arguments. ValueError for a board that is none."""
    size = len(board)
    if not 1 <= size <= len(GTP_COLUMNS) or any(len(row) != size or set(row) - set(".XO") for row in board):
        raise ValueError(f"a board is up to 19 equally long rows of '.', 'X' and 'O', not {list(board)}")
    edge = size - 1
    parts = [f'<rect class="wood" x="-1.2" y="-1.2" width="{size + 1}" height="{size + 1}" rx="0.2"/>']
    parts.append(f'<path d="{"".join(f"M0 {i}H{edge}M{i} 0V{edge}" for i in range(size))}"/>')
    for x, y in star_points(size):
        parts.append(f'<circle class="star" cx="{y}" cy="{x}" r="0.1"/>')
    for i in range(size):
        parts.append(
            f'<text x="{i}" y="-0.66">{GTP_COLUMNS[i]}</text><text x="-0.84" y="{i + 0.14:.2f}">{size - i}</text>'
        )
    for x, row in enumerate(board):
        for y, stone in enumerate(row):
            if stone != ".":
                parts.append(f'<circle class="{_colour(stone)}" cx="{y}" cy="{x}" r="0.47"/>')
    x, y = last_move or (-1, -1)
    if 0 <= x < size and 0 <= y < size and board[x][y] != ".":
        parts.append(f'<circle class="mark on-{_colour(board[x][y])}" cx="{y}" cy="{x}" r="0.24"/>')
    box = f"-1.2 -1.2 {size + 1} {size + 1}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" class="goban" role="img" viewBox="{box}">{"".join(parts)}</svg>'


def _page(name: str, metrics: list[Metrics], config_text: str, games: list[ReportGame]) -> str:
    written = f"written {datetime.now():%Y-%m-%d %H:%M}"
    if not metrics:
        written += ", before the first iteration was finished"
    sections = {
        "Strength": _strength(metrics) + _matches(metrics),
        "Learning": _losses(metrics),
        "Games": _games(metrics),
        "Speed": _speed(metrics),
        "Workers": _workers(metrics),
        "Sample games": "".join(_sample(index, game) for index, game in enumerate(games, 1)),
        "Settings": f"<details><summary>config.toml</summary><pre>{escape(config_text)}</pre></details>",
    }
    sections["Sample games"] = _grid("small", sections["Sample games"])
    body = "".join(f"<h2>{title}</h2>\n{inside}" for title, inside in sections.items() if inside)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{escape(name)}: training</title>'
        f'<meta name="viewport" content="width=device-width"><style>{PLOT_STYLE}{PAGE_STYLE}</style></head>\n<body>\n'
        f'<h1>{escape(name)}</h1><p class="soft">A training run of mini-alphago, {written}. '
        f"The numbers are in metrics.jsonl.</p>\n{_tiles(metrics)}{body}</body>\n</html>\n"
    )


def _tiles(metrics: list[Metrics]) -> str:
    if not metrics:
        return ""
    last = metrics[-1]
    tiles = {"iterations": number(last, "iteration"), "games": number(last, "games")}
    tiles |= {"positions": number(last, "positions"), "training steps": number(last, "steps")}
    texts = {name: f"{value:,.0f}" for name, value in tiles.items() if value is not None}
    if (minutes := number(last, "minutes")) is not None:
        texts["training time"] = duration_text(minutes)
    if (loss := number(last, "total_loss")) is not None:
        texts["loss"] = f"{loss:.2f}"
    rated = [one for one in metrics if number(one, "elo") is not None]
    if rated:
        texts[f"Elo, iteration {_text(rated[-1], 'iteration')}"] = elo_text(rated[-1])
    inside = "".join(f"<div><b>{escape(text)}</b><span>{escape(name)}</span></div>" for name, text in texts.items())
    return f'<div class="tiles">{inside}</div>\n'


def elo_text(metrics: Metrics) -> str:
    """`512 ± 44`, without the error if it is not known, and empty if no Elo was measured."""
    elo, error = number(metrics, "elo"), number(metrics, "elo_error")
    if elo is None:
        return ""
    return f"{elo:.0f}" + (f" ± {error:.0f}" if error is not None else "")


def _axis(metrics: list[Metrics]) -> tuple[list[float], str]:
    """What all plots run over: the minutes of training, or the iterations where any of the minutes is missing."""
    minutes = [number(one, "minutes") for one in metrics]
    known = [value for value in minutes if value is not None]
    if len(known) == len(minutes):
        return known, "minutes of training"
    return [number(one, "iteration") or index for index, one in enumerate(metrics, 1)], "iteration"


def _series(metrics: list[Metrics], names: Mapping[str, str]) -> list[Series]:
    x = _axis(metrics)[0]
    return [Series(name, x, [number(one, key) for one in metrics]) for key, name in names.items()]


def _strength(metrics: list[Metrics]) -> str:
    minutes, label = _axis(metrics)
    elo, errors = [number(one, "elo") for one in metrics], [number(one, "elo_error") for one in metrics]
    plots = line_plot(f"Elo over {label}", [Series("Elo", minutes, elo, errors)], label, width=520, height=250)
    rated = [one for one in metrics if number(one, "elo") is not None and number(one, "games") is not None]
    games = [number(one, "games") or 0.0 for one in rated]
    by_games = Series("Elo", games, [number(one, "elo") for one in rated], [number(one, "elo_error") for one in rated])
    plots += line_plot("Elo over games", [by_games], "games of self-play", width=520, height=250)
    return _grid("large", plots)


def _losses(metrics: list[Metrics]) -> str:
    names = {"total_loss": "Loss, all together", "policy_loss": "Policy loss (KL)", "value_loss": "Value loss"}
    names |= {"score_loss": "Score loss", "ownership_loss": "Ownership loss", "reply_loss": "Reply loss"}
    names |= {"soft_loss": "Softened policy's loss"}
    rates = {"learning_rate": "Learning rate", "window": "Positions in the replay window"}
    label = _axis(metrics)[1]
    entropies = _series(metrics, {"policy_entropy": "network", "target_entropy": "search (the target)"})
    plots = line_plot("Entropy of the policy, nats", entropies, label)
    return _grid("small", _one_each(metrics, names) + plots + _one_each(metrics, rates))


def _games(metrics: list[Metrics]) -> str:
    x, label = _axis(metrics)
    plots = line_plot("Moves a game", _series(metrics, {"game_length": "moves"}), label)
    plots += share_plot("How games ended", x, _parts(metrics, "ended"), label)
    rates = {"black_win_rate": "Black wins", "draw_rate": "draws", "false_resign_rate": "resigned wrongly"}
    return _grid("small", plots + line_plot("Results", _series(metrics, rates), label, percent=True, from_zero=True))


def _speed(metrics: list[Metrics]) -> str:
    x, label = _axis(metrics)
    names = {"games_per_second": "Games a second", "positions_per_second": "Positions a second"}
    names |= {"evals_per_second": "Evaluations a second", "samples_per_second": "Training samples a second"}
    shares = share_plot("Where the time went", x, _parts(metrics, "time"), label)
    seconds = line_plot("Seconds an iteration", _series(metrics, {"seconds": "seconds"}), label, from_zero=True)
    return _grid("small", _one_each(metrics, names, from_zero=True) + seconds + shares)


def _one_each(metrics: list[Metrics], names: Mapping[str, str], from_zero: bool = False) -> str:
    """A small plot for each key: their scales have nothing in common."""
    label = _axis(metrics)[1]
    plots = (_series(metrics, {key: name}) for key, name in names.items())
    return "".join(line_plot(one[0].name, one, label, from_zero=from_zero) for one in plots)


def _parts(metrics: list[Metrics], key: str) -> dict[str, list[float | None]]:
    """The numbers in the object under `key`, by name, as long as the metrics."""
    objects = [one[key] if isinstance(one.get(key), dict) else {} for one in metrics]
    names = dict.fromkeys(name for one in objects for name in one)
    return {str(name): [number(one, name) for one in objects] for name in names}


def _matches(metrics: list[Metrics]) -> str:
    played = [(one, match) for one in reversed(metrics) for match in matches_of(one)][:MOST_MATCHES]
    if not played:
        return ""
    names = "".join(f"<th>{name}</th>" for name in ("visits", "wins", "draws", "losses", "score"))
    head = f'<tr><th>iteration</th><th class="name">opponent</th>{names}</tr>'
    rows = []
    for one, match in played:
        cells = [_text(match, key) for key in ("visits", "wins", "draws", "losses")]
        opponent = f'<td class="name">{escape(str(match.get("opponent", "?")))}</td>'
        numbers = "".join(f"<td>{cell}</td>" for cell in (*cells, score_text(match)))
        rows.append(f"<tr><td>{_text(one, 'iteration')}</td>{opponent}{numbers}</tr>")
    table = f"<table>{head}{''.join(rows)}</table>"
    return _grid("large", f"<figure><figcaption><b>The latest matches</b></figcaption>{table}</figure>")


def _workers(metrics: list[Metrics]) -> str:
    """Who played for the last iteration, and how old the networks were with which games were played."""
    label = _axis(metrics)[1]
    staleness = _series(metrics, {"staleness": "staleness"})
    plot = line_plot("Staleness of games, iterations behind", staleness, label, width=520, height=250, from_zero=True)
    workers = workers_of(metrics[-1]) if metrics else None
    if not workers:
        return _grid("large", plot)
    names = "".join(f"<th>{name}</th>" for name in ("network", "games", "positions/s", "evals/s"))
    head = f'<tr><th class="name">node</th><th>worker</th><th class="name">device</th>{names}</tr>'
    keys = ("games", "positions_per_second", "evals_per_second")
    rows = []
    for worker in workers:
        node, device = (f'<td class="name">{escape(str(worker.get(key) or "?"))}</td>' for key in ("node", "device"))
        cells = (_text(worker, "version"), *(_number(number(worker, key)) for key in keys))
        numbers = "".join(f"<td>{cell}</td>" for cell in cells)
        rows.append(f"<tr>{node}<td>{_text(worker, 'worker')}</td>{device}{numbers}</tr>")
    sums = (sum(number(worker, key) or 0.0 for worker in workers) for key in keys)
    total = "".join(f"<td>{_number(value)}</td>" for value in sums)
    rows.append(f'<tr class="total"><td class="name" colspan="4">all together</td>{total}</tr>')
    title = f"<figcaption><b>Workers, iteration {_text(metrics[-1], 'iteration')}</b></figcaption>"
    return _grid("large", f"<figure>{title}<table>{head}{''.join(rows)}</table></figure>" + plot)


def score_text(match: Metrics) -> str:
    """The share of a match that was won, a draw as half: `88%`; empty if nothing was played."""
    wins, draws, losses = (number(match, key) or 0.0 for key in ("wins", "draws", "losses"))
    played = wins + draws + losses
    return f"{(wins + draws / 2) / played:.0%}" if played > 0 else ""


def _sample(index: int, game: ReportGame) -> str:
    data = f"data:application/x-go-sgf;charset=utf-8,{quote(game.sgf, errors='replace')}"
    return (
        f"<figure><figcaption><b>{escape(game.caption)}</b></figcaption>{goban(game.board, game.last_move)}"
        f'<p class="soft"><a download="game-{index}.sgf" href="{data}">Save as SGF</a></p>'
        f"<details><summary>SGF</summary><pre>{escape(game.sgf)}</pre></details></figure>\n"
    )


def _grid(kind: str, inside: str) -> str:
    return f'<div class="{kind}">{inside}</div>\n' if inside else ""


def _number(value: float | None) -> str:
    return number_text(value) if value is not None else ""


def _text(metrics: Metrics, key: str) -> str:
    value = number(metrics, key)
    return f"{value:,.0f}" if value is not None else ""


def _colour(stone: str) -> str:
    return "black" if stone == "X" else "white"


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("not a whole number")
    return value
