"""Plots as inline SVG, drawn here so that a report needs no library, no script and no network.

Every function returns one HTML `<figure>`: the title and the key as text, then the SVG. Colours are CSS variables, set
once for a light and once for a dark page by `PLOT_STYLE`; the SVG itself is well-formed XML.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

PLOT_STYLE = """
:root { --ink: #1c1e21; --soft: #62676e; --rule: #e3e5e8; --page: #f6f7f8; --card: #ffffff;
  --c0: #1f6fd0; --c1: #d4601a; --c2: #17875c; --c3: #8b4cc4; --c4: #b58900; --c5: #c2366f; --c6: #6b7280; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --soft: #9aa1ab; --rule: #32363c; --page: #15171a;
  --card: #1e2125; --c0: #6aa9f4; --c1: #f0924f; --c2: #4dc596; --c3: #bb8cec; --c4: #dcb83a; --c5: #ef7aa6;
  --c6: #a3a9b3; } }
.c0 { --c: var(--c0); } .c1 { --c: var(--c1); } .c2 { --c: var(--c2); } .c3 { --c: var(--c3); }
.c4 { --c: var(--c4); } .c5 { --c: var(--c5); } .c6 { --c: var(--c6); }
figure { margin: 0; padding: 12px 14px 6px; background: var(--card); border: 1px solid var(--rule);
  border-radius: 8px; }
figcaption { display: flex; flex-wrap: wrap; gap: 2px 14px; align-items: baseline; font-size: 13px; }
figcaption .key { color: var(--soft); white-space: nowrap; }
figcaption .key i { display: inline-block; width: 9px; height: 9px; margin-right: 5px; border-radius: 2px;
  background: var(--c); }
svg.plot { display: block; width: 100%; height: auto; margin-top: 6px; font-size: 11.5px; }
.plot text { fill: var(--soft); } .plot .rule { stroke: var(--rule); } .plot .axis { stroke: var(--soft); }
.plot .line { stroke: var(--c); stroke-width: 1.8; stroke-linejoin: round; fill: none; }
.plot .error { stroke: var(--c); stroke-width: 1.3; stroke-opacity: 0.7; } .plot .dot { fill: var(--c); }
.plot .band { fill: var(--c); fill-opacity: 0.2; } .plot .share { fill: var(--c); fill-opacity: 0.85; }
"""

COLOURS = 7
MOST_POINTS = 300  # more than this cannot be told apart on a plot, and would only make the page large
MOST_ERROR_BARS = 40


@dataclass(frozen=True)
class Series:
    """One line: `y` over `x`, both as long. Points whose `y` is None are left out; an error of None draws none."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    errors: Sequence[float | None] | None = None


class _Point(NamedTuple):
    x: float
    y: float
    error: float | None


class _Frame(NamedTuple):
    """Where numbers lie on the picture: the axes go to the last tick upwards, and to the last number sideways."""

    width: int
    height: int
    x_high: float
    y_ticks: list[float]
    percent: bool

    def x(self, value: float) -> float:
        return round(LEFT + (self.width - LEFT - RIGHT) * value / self.x_high, 1)

    def y(self, value: float) -> float:
        low, high = self.y_ticks[0], self.y_ticks[-1]
        return round(self.height - BOTTOM - (self.height - TOP - BOTTOM) * (value - low) / (high - low), 1)


LEFT, RIGHT, TOP, BOTTOM = 48, 12, 8, 34


def line_plot(
    title: str,
    series: Sequence[Series],
    x_label: str,
    *,
    percent: bool = False,
    from_zero: bool = False,
    width: int = 340,
    height: int = 180,
) -> str:
    """Lines over a common axis that begins at 0, with the last value of each in the key.

    `percent` shows fractions as percent, `from_zero` keeps 0 on the upright axis. Errors are bars when they are few and
    a band when they are many. Long series are thinned by averaging. Without a single point the result is empty.
    """
    drawn = [(name, points) for name, points in ((one.name, _points(one)) for one in series) if points]
    if not drawn:
        return ""
    everything = [point for _, points in drawn for point in points]
    low = min(point.y - (point.error or 0) for point in everything)
    high = max(point.y + (point.error or 0) for point in everything)
    ticks = nice_ticks(min(low, 0) if from_zero else low, high, 5 if height > 200 else 3)
    frame = _Frame(width, height, max(point.x for point in everything) or 1.0, ticks, percent)
    lines = [_line(frame, points, colour % COLOURS) for colour, (_, points) in enumerate(drawn)]
    key = {name: _value_text(points[-1], percent) for name, points in drawn}
    return _figure(title, key, _axes(frame, x_label) + "".join(lines), frame)


def share_plot(
    title: str,
    x: Sequence[float],
    parts: Mapping[str, Sequence[float | None]],
    x_label: str,
    *,
    width: int = 340,
    height: int = 180,
) -> str:
    """Shares of a whole, stacked to 100 %: entry i of each part covers the time from x[i − 1], or 0, to x[i].

    A part of None counts as 0; where all are 0 there is a gap. Without any number above 0 the result is empty.
    """
    amounts = {name: [max(value or 0.0, 0.0) for value in values] for name, values in parts.items()}
    amounts = {name: values for name, values in amounts.items() if any(values)}
    if not amounts:
        return ""
    starts, ends, columns = _columns(x, list(zip(*amounts.values(), strict=True)))
    frame = _Frame(width, height, max(ends) or 1.0, [0, 0.25, 0.5, 0.75, 1], True)
    paths = []
    for part in range(len(amounts)):
        boxes = []
        for start, end, column in zip(starts, ends, columns, strict=True):
            if (whole := sum(column)) and column[part]:
                low, high = sum(column[:part]) / whole, sum(column[: part + 1]) / whole
                left, right = frame.x(start), frame.x(end)
                boxes.append(f"M{left} {frame.y(low)}H{right}V{frame.y(high)}H{left}Z")
        paths.append(f'<path class="share c{part % COLOURS}" d="{"".join(boxes)}"/>')
    last = next(column for column in reversed(columns) if sum(column))
    key = {name: f"{amount / sum(last):.0%}" for name, amount in zip(amounts, last, strict=True)}
    return _figure(title, key, "".join(paths) + _axes(frame, x_label), frame)


def nice_ticks(low: float, high: float, count: int) -> list[float]:
    """About `count` + 1 round numbers, evenly apart, the first not above `low` and the last not below `high`."""
    if high - low < 1e-9 * max(abs(low), abs(high), 1e-3):
        low, high = (low - abs(low) / 10, high + abs(high) / 10) if high else (0.0, 1.0)
    step = _nice_step(high - low, count)
    return [k * step for k in range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)]


def number_text(value: float) -> str:
    """A number for people, three digits or so: `0.0123`, `1.82`, `82.3`, `2,313`, `1.25M`."""
    if abs(value) >= 1e6:
        return f"{value / 1e6:.3g}M" if abs(value) < 1e9 else f"{value:.3g}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _value_text(point: _Point, percent: bool) -> str:
    if percent:
        return f"{number_text(100 * point.y)}%"
    return number_text(point.y) + (f" ± {number_text(point.error)}" if point.error is not None else "")


def _nice_step(span: float, count: int) -> float:
    rough = span / count
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))


def _tick_text(value: float, step: float, percent: bool) -> str:
    if percent:
        return f"{100 * value:.{max(0, -math.floor(math.log10(100 * step) + 1e-9))}f}%"
    if abs(value) >= 1e9 or step < 1e-6:
        return f"{value:.3g}"
    for size, unit in ((1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e6 if unit == 'M' else 1e3):g}{unit}"
    return f"{value:,.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"


def _points(series: Series) -> list[_Point]:
    errors = series.errors or [None] * len(series.y)
    known = [_Point(x, y, e) for x, y, e in zip(series.x, series.y, errors, strict=True) if y is not None]
    group = math.ceil(len(known) / MOST_POINTS) or 1
    return [_mean(known[start : start + group]) for start in range(0, len(known), group)]


def _mean(points: list[_Point]) -> _Point:
    errors = [point.error for point in points if point.error is not None]
    n = len(points)
    x, y = sum(point.x for point in points) / n, sum(point.y for point in points) / n
    return _Point(x, y, sum(errors) / len(errors) if errors else None)


def _columns(
    x: Sequence[float], columns: list[tuple[float, ...]]
) -> tuple[list[float], list[float], list[list[float]]]:
    """Where each column starts and ends, and what is in it; columns beyond MOST_POINTS are added together."""
    group = math.ceil(len(columns) / MOST_POINTS) or 1
    ends, sums = [], []
    highest = 0.0
    for start in range(0, len(columns), group):
        highest = max(highest, *x[start : start + group])  # a run that was set back must not draw backwards
        ends.append(highest)
        sums.append([sum(values) for values in zip(*columns[start : start + group], strict=True)])
    return [0.0, *ends[:-1]], ends, sums


def _line(frame: _Frame, points: list[_Point], colour: int) -> str:
    parts = []
    wrong = [point for point in points if point.error is not None]
    if len(wrong) > MOST_ERROR_BARS:
        above = [f"{frame.x(point.x)},{frame.y(point.y + (point.error or 0))}" for point in wrong]
        below = [f"{frame.x(point.x)},{frame.y(point.y - (point.error or 0))}" for point in reversed(wrong)]
        parts.append(f'<polygon class="band c{colour}" points="{" ".join(above + below)}"/>')
    else:
        for x, y, error in wrong:
            bottom, top = frame.y(y - (error or 0)), frame.y(y + (error or 0))
            bar = f"M{frame.x(x)} {bottom}m-3 0h6m-3 0V{top}m-3 0h6"
            parts.append(f'<path class="error c{colour}" d="{bar}"/>')
    corners = " ".join(f"{frame.x(point.x)},{frame.y(point.y)}" for point in points)
    parts.append(f'<polyline class="line c{colour}" points="{corners}"/>')
    marked = points if len(points) == 1 or 0 < len(wrong) <= MOST_ERROR_BARS else []
    for x, y, error in marked:
        tip = _value_text(_Point(x, y, error), frame.percent)
        dot = f'<circle class="dot c{colour}" cx="{frame.x(x)}" cy="{frame.y(y)}" r="2.8">'
        parts.append(f"{dot}<title>{tip} at {number_text(x)}</title></circle>")
    return "".join(parts)


def _axes(frame: _Frame, x_label: str) -> str:
    left, right, bottom = LEFT, frame.width - RIGHT, frame.height - BOTTOM
    parts = []
    y_step = frame.y_ticks[1] - frame.y_ticks[0]
    for tick in frame.y_ticks:
        y, text = frame.y(tick), _tick_text(tick, y_step, frame.percent)
        parts.append(f'<path class="rule" d="M{left} {y}H{right}"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    x_step = _nice_step(frame.x_high, 8 if frame.width > 400 else 5)
    for k in range(math.floor(frame.x_high / x_step + 1e-9) + 1):
        x, text = frame.x(k * x_step), _tick_text(k * x_step, x_step, False)
        parts.append(f'<path class="axis" d="M{x} {bottom}v4"/>')
        parts.append(f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">{text}</text>')
    parts.append(f'<path class="axis" d="M{left} {bottom}H{right}"/>')
    parts.append(f'<text x="{right}" y="{frame.height - 4}" text-anchor="end">{escape(x_label)}</text>')
    return "".join(parts)


def _figure(title: str, key: Mapping[str, str], inside: str, frame: _Frame) -> str:
    names = [
        f'<span class="key c{colour % COLOURS}"><i></i>{escape(name)} {escape(value)}</span>'
        for colour, (name, value) in enumerate(key.items())
    ]
    if len(key) == 1:  # the title names the only line
        names = [f'<span class="key">now {escape(value)}</span>' for value in key.values()]
    size = f'viewBox="0 0 {frame.width} {frame.height}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" aria-label="{escape(title)}" {size}>'
    return f"<figure><figcaption><b>{escape(title)}</b>{''.join(names)}</figcaption>{svg}{inside}</svg></figure>\n"
