"""What a person sees of a training run: one live screen on a terminal, plain lines in a file or a pipe."""

import itertools
import statistics
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from .nodes import nodes_text, workers_text
from .report import Metrics, duration_text, elo_text, matches_of, number, score_text

SECONDS_BETWEEN_REFRESHES = 0.4
WIDTH_FOR_BOARD = 100  # columns; on a narrower terminal the board at the side is left out
SPARK_WIDTH = 32
TIME_BAR_WIDTH = 32
RECENT = 20  # iterations from which the time that is left is estimated
PART_STYLES = ("blue", "yellow", "green", "magenta", "cyan", "red", "white")
LOSSES = {"policy_loss": "policy", "value_loss": "value", "score_loss": "score"}
LOSSES |= {"ownership_loss": "ownership", "reply_loss": "reply", "soft_loss": "softened"}


class Display:
    """Sees nothing, says nothing: what a quiet run uses, and what the others fill in.

    Use it as a context manager around the run; `start` comes first and `finish` last. No method raises for metrics with
    missing, null or not finite entries. Call it from one thread.
    """

    total_iterations: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def start(
        self,
        config_summary: str,
        run_folder: str,
        resumed: bool,
        total_iterations: int | None,
        minutes: float | None,
        history: Sequence[Metrics] = (),
    ) -> None:
        """The run begins, or goes on after the iterations in `history`; its end is whichever limit comes first."""

    def phase(self, name: str, done: float, total: float, details: str = "") -> None:
        """Work goes on, `done` of `total`. Cheap enough to call for every batch: most calls draw nothing."""

    def iteration(self, metrics: Metrics) -> None:
        """An iteration is finished."""

    def game(self, board_text: str, caption: str) -> None:
        """A game is finished, and this was its last position."""

    def say(self, text: str) -> None:
        """Something that a person should know, once."""

    def finish(self, text: str) -> None:
        """The run is over, and why."""


def make_display(console: Console | None = None, quiet: bool = False) -> Display:
    """The display for a console (by default, standard output): live on a terminal that can show it, otherwise plain."""
    if quiet:
        return Display()
    console = console or Console()
    if console.is_interactive and console.encoding.lower().startswith("utf"):
        return LiveDisplay(console)
    return PlainDisplay(console)


class PlainDisplay(Display):
    """A line for each iteration and each message, written at once."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def start(
        self,
        config_summary: str,
        run_folder: str,
        resumed: bool,
        total_iterations: int | None,
        minutes: float | None,
        history: Sequence[Metrics] = (),
    ) -> None:
        """See `Display`."""
        self.total_iterations = total_iterations
        self.say(start_line(config_summary, run_folder, resumed, history))

    def iteration(self, metrics: Metrics) -> None:
        """See `Display`."""
        self.say("\n".join([iteration_line(metrics, self.total_iterations), *match_lines(metrics)]))

    def say(self, text: str) -> None:
        """See `Display`."""
        encoding = self.console.encoding  # a log in an old encoding loses a character, not the run
        readable = text.encode(encoding, "replace").decode(encoding)
        self.console.print(Text(readable), soft_wrap=True, highlight=False)
        self.console.file.flush()

    def finish(self, text: str) -> None:
        """See `Display`."""
        self.say(text)


class LiveDisplay(Display):
    """One screen that is drawn over itself a few times a second; messages scroll by above it."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.history: list[Metrics] = []
        self._minutes: float | None = None
        self._title = "training"
        self._summary = ""
        self._phase: tuple[str, float, float, str] | None = None
        self._game: tuple[str, str] | None = None
        self._drawn = 0.0
        self._over = False
        self._iteration_began = time.monotonic()
        # No thread of its own: the work calls often enough, and a redraw never competes with the search.
        self._live = Live(console=console, auto_refresh=False, get_renderable=self.render)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def start(
        self,
        config_summary: str,
        run_folder: str,
        resumed: bool,
        total_iterations: int | None,
        minutes: float | None,
        history: Sequence[Metrics] = (),
    ) -> None:
        """See `Display`."""
        self.total_iterations, self._minutes, self.history = total_iterations, minutes, list(history)
        self._title, self._summary = run_folder, config_summary
        self._iteration_began = time.monotonic()
        self.say(start_line("", run_folder, resumed, history))
        self._live.start(refresh=True)

    def phase(self, name: str, done: float, total: float, details: str = "") -> None:
        """See `Display`."""
        changed = self._phase is None or self._phase[0] != name
        self._phase = (name, done, total, details)
        if changed or time.monotonic() - self._drawn > SECONDS_BETWEEN_REFRESHES:
            self._refresh()

    def iteration(self, metrics: Metrics) -> None:
        """See `Display`."""
        self.history.append(metrics)
        self._phase = None
        self._iteration_began = time.monotonic()
        self._refresh()

    def game(self, board_text: str, caption: str) -> None:
        """See `Display`."""
        self._game = (board_text, caption)

    def say(self, text: str) -> None:
        """See `Display`."""
        self.console.print(Text(text), highlight=False)

    def finish(self, text: str) -> None:
        """See `Display`."""
        self._phase, self._over = None, True
        self._refresh()
        self._live.stop()
        self.say(text)

    def _refresh(self) -> None:
        self._drawn = time.monotonic()
        if self._live.is_started:
            self._live.refresh()

    def render(self) -> RenderableType:
        """The screen as it is now, fit to the width of the terminal."""
        left: RenderableType = Group(self._progress(), Text(), self._table())
        if self._game and self.console.width >= WIDTH_FOR_BOARD:
            board, caption = self._game
            if board.count("\n") + 6 < self.console.height:
                sides = Table.grid(padding=(0, 2), expand=True)
                sides.add_column(ratio=1)
                # As wide as the board, however long the caption: the first line has the letters of the columns.
                sides.add_column(width=max(len(board.split("\n")[0]) + 4, 26))
                sides.add_row(left, Group(Text(caption, style="bold"), Text(board)))
                left = sides
        return Panel(left, title=Text(self._title), title_align="left", border_style="dim")

    def _progress(self) -> RenderableType:
        done = number(self.history[-1], "iteration") if self.history else 0.0
        now = f"iteration {(done or 0) + (self._phase is not None):,.0f}"
        words = [now + (f" of {self.total_iterations:,}" if self.total_iterations else "")]
        minutes = self._minutes_so_far()
        words.append(duration_text(minutes) + (f" of {duration_text(self._minutes)}" if self._minutes else ""))
        left = minutes_left(self.history, minutes, self.total_iterations, self._minutes)
        if left is not None and not self._over:
            words.append(f"about {duration_text(left)} left")
        lines: list[RenderableType] = [Text(self._summary, style="dim")] if self._summary else []
        lines.append(Text("  ·  ".join(words), style="bold"))
        if self._phase:
            name, amount, total, details = self._phase
            bar = Table.grid(padding=(0, 1))
            share = min(max(amount / total, 0.0), 1.0) if total > 0 else 0.0
            bar.add_row(Text(f"{name:<9}"), ProgressBar(1.0, share, width=32), Text(f"{share:4.0%}"), Text(details))
            lines.append(bar)
        return Group(*lines)

    def _minutes_so_far(self) -> float:
        before = number(self.history[-1], "minutes") if self.history else 0.0
        return (before or 0.0) + (time.monotonic() - self._iteration_began) / 60

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim")
        table.add_column()
        for name, row in screen_rows(self.history):
            table.add_row(name, row)
        return table


def minutes_left(
    history: Sequence[Metrics], minutes_so_far: float, total_iterations: int | None, minutes: float | None
) -> float | None:
    """How long the run will still take, by the limit that is met first; None if there is no telling yet."""
    guesses = [] if minutes is None else [minutes - minutes_so_far]
    seconds = [value for one in history[-RECENT:] if (value := number(one, "seconds")) is not None]
    done = number(history[-1], "iteration") if history else None
    if total_iterations is not None and done:
        before = number(history[-1], "minutes") or 0.0
        pace = statistics.median(seconds) / 60 if seconds else before / done
        guesses.append(before + (total_iterations - done) * pace - minutes_so_far)
    return max(min(guesses), 0.0) if guesses else None


def start_line(config_summary: str, run_folder: str, resumed: bool, history: Sequence[Metrics]) -> str:
    """`Training in runs/a, resumed after iteration 12: 9×9, b6c96`."""
    after = _count(history[-1], "iteration") if history else ""
    went_on = (", resumed" + (f" after iteration {after}" if after else "")) if resumed else ""
    return f"Training in {run_folder}{went_on}" + (f": {config_summary}" if config_summary else "")


def iteration_line(metrics: Metrics, total_iterations: int | None = None) -> str:
    """One line for an iteration; what was not measured is left out."""
    name = f"iteration {_count(metrics, 'iteration') or '?'}"
    words = [f"{name}/{total_iterations:,}" if total_iterations else name]
    if (minutes := number(metrics, "minutes")) is not None:
        words.append(f"{minutes:.1f} min")
    words += [f"{count} {key}" for key in ("games", "positions") if (count := _count(metrics, key))]
    if loss := _losses(metrics, ("policy_loss", "value_loss")):
        words.append(f"loss {loss}")
    if length := _count(metrics, "game_length"):
        words.append(f"{length} moves a game")
    if (speed := number(metrics, "positions_per_second")) is not None:
        words.append(f"{_rate(speed)} positions/s")
    if workers := workers_text(metrics):
        words.append(workers)
    if elo := elo_text(metrics):
        words.append(f"Elo {elo}")
    return "  ".join(words)


def match_lines(metrics: Metrics) -> list[str]:
    """For each match of an iteration, `    against iteration 5: 14 won, 0 drawn, 2 lost (88%) at 32 visits`."""
    lines = []
    for match in matches_of(metrics):
        results = zip(("wins", "draws", "losses"), ("won", "drawn", "lost"), strict=True)
        counts = ", ".join(f"{number(match, key) or 0:.0f} {word}" for key, word in results)
        score = f" ({text})" if (text := score_text(match)) else ""
        visits = f" at {count} visits" if (count := _count(match, "visits")) else ""
        lines.append(f"    against {match.get('opponent', '?')}: {counts}{score}{visits}")
    return lines


def screen_rows(history: Sequence[Metrics]) -> list[tuple[str, Text]]:
    """What the live screen says of the run so far, as names and values."""
    if not history:
        return [("", Text("the first iteration is under way", style="dim"))]
    last = history[-1]
    speeds = {"games/s": "games_per_second", "positions/s": "positions_per_second"}
    speeds |= {"evals/s": "evals_per_second", "samples/s": "samples_per_second"}
    rates = ((number(last, key), unit) for unit, key in speeds.items())
    totals = [f"{count} {key}" for key in ("games", "positions", "steps") if (count := _count(last, key))]
    rated = [one for one in history if elo_text(one)]
    measured = next((lines for one in reversed(history) if (lines := match_lines(one))), [])
    losses = [number(one, "total_loss") for one in history]
    rows = [
        ("so far", Text("  ".join(totals))),
        ("speed", Text("  ".join(f"{_rate(rate)} {unit}" for rate, unit in rates if rate is not None))),
        ("workers", Text(nodes_text(last))),
        ("time", time_bar(last.get("time"))),
        ("loss", Text(_losses(last, tuple(LOSSES)))),
        ("", Text(sparkline(losses), style="yellow")),
        ("entropy", Text(_entropy(last))),
        ("games", Text(_games(last))),
        ("Elo", Text(elo_text(rated[-1]) if rated else "")),
        ("", Text(sparkline([number(one, "elo") for one in rated]), style="green")),
        ("matches", Text("\n".join(line.strip() for line in measured[:4]))),
    ]
    return [(name, row) for name, row in rows if row.plain]


def sparkline(values: Sequence[float | None], width: int = SPARK_WIDTH) -> str:
    """Numbers as a row of blocks, low to high, `▁▃▆█`; more than `width` are averaged. Fewer than two give nothing."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return ""
    columns = min(width, len(known))
    edges = [round(i * len(known) / columns) for i in range(columns + 1)]
    means = [statistics.fmean(known[start:end]) for start, end in itertools.pairwise(edges)]
    low, span = min(means), max(means) - min(means)
    return "".join("▁▂▃▄▅▆▇█"[round(7 * (mean - low) / span) if span > 0 else 3] for mean in means)


def time_bar(parts: object, width: int = TIME_BAR_WIDTH) -> Text:
    """The share of each part of the time: a bar of coloured blocks, then the names in the same colours."""
    amounts = {str(name): number(parts, name) or 0.0 for name in parts} if isinstance(parts, dict) else {}
    whole = sum(amounts.values())
    bar, names, before = Text(), Text(), 0.0
    for (name, amount), style in zip(amounts.items(), PART_STYLES * len(amounts), strict=False):
        if whole > 0 and amount > 0:
            blocks = round(width * (before + amount) / whole) - round(width * before / whole)
            bar.append("█" * blocks, style=style)
            names.append(f"  {name} {amount / whole:.0%}", style=style)
            before += amount
    return bar + names


def _losses(metrics: Metrics, keys: Sequence[str]) -> str:
    total = number(metrics, "total_loss")
    parts = [f"{LOSSES[key]} {value:.2f}" for key in keys if (value := number(metrics, key)) is not None]
    words = [] if total is None else [f"{total:.2f}"]
    return " ".join(words + ([f"({' '.join(parts)})"] if parts else []))


def _entropy(metrics: Metrics) -> str:
    names = {"policy_entropy": "network", "target_entropy": "search"}
    known = ((word, number(metrics, key)) for key, word in names.items())
    return "  ".join(f"{word} {value:.2f}" for word, value in known if value is not None)


def _games(metrics: Metrics) -> str:
    words = [f"{length} moves"] if (length := _count(metrics, "game_length")) else []
    rates = {"black_win_rate": "Black wins", "draw_rate": "draws", "false_resign_rate": "resigned wrongly"}
    words += [f"{word} {rate:.0%}" for key, word in rates.items() if (rate := number(metrics, key)) is not None]
    if (staleness := number(metrics, "staleness")) is not None:
        words.append(f"{staleness:.2f} iterations behind")
    return "  ".join(words)


def _count(metrics: Metrics, key: str) -> str:
    value = number(metrics, key)
    return f"{value:,.0f}" if value is not None else ""


def _rate(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
