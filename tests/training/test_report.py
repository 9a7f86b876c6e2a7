"""The report of a run, what it is made from, and the same numbers as TensorBoard events."""

import json
import math
import random
import re
import sys
import warnings
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from mini_alphago.game import parse_sgf
from mini_alphago.plot import Series, line_plot, nice_ticks, number_text, share_plot
from mini_alphago.training.report import ReportGame, duration_text, goban, number, read_metrics, write_report
from mini_alphago.training.tensorboard import Events

SVG = "{http://www.w3.org/2000/svg}"
VOID = {"meta"}


def a_run(iterations: int) -> list[dict[str, Any]]:
    """Metrics such as a run of that length might write, measured every fifth iteration."""
    dice = random.Random(1)
    found = []
    for i in range(1, iterations + 1):
        fall = math.exp(-i / 15)
        metrics: dict[str, Any] = {"iteration": i, "minutes": 2.5 * i, "seconds": 150.0, "games": 256 * i}
        metrics |= {"positions": 21_000 * i, "steps": 150 * i, "new_games": 256, "new_positions": 21_000}
        metrics |= {"game_length": 80 + dice.gauss(0, 2), "black_win_rate": 0.5, "draw_rate": 0.01}
        metrics |= {"total_loss": 2 + 2.5 * fall, "policy_loss": 1.2 + 1.9 * fall, "value_loss": 0.3}
        metrics |= {"score_loss": 0.1, "ownership_loss": 0.3 + fall / 3, "reply_loss": None}
        metrics |= {"policy_entropy": 2.0, "target_entropy": 1.7}
        metrics |= {"learning_rate": 2e-3, "window": 150_000, "games_per_second": 2.5, "positions_per_second": 210.0}
        metrics |= {"evals_per_second": 6_900.0, "samples_per_second": 1_500.0, "false_resign_rate": None}
        metrics["time"] = {"network": 80.0, "tree": 10.0, "training": 50.0, "measure": 9.5, "other": 0.5}
        metrics["ended"] = {"passes": 100, "settled": 120, "limit": 30, "resigned": 6}
        measured = i % 5 == 0
        metrics |= {"elo": 100.0 * i if measured else None, "elo_error": 44.0 if measured else None}
        match = {"opponent": f"iteration {i - 5}", "wins": 14, "draws": 0, "losses": 2, "visits": 32}
        metrics["matches"] = [match] if measured else []
        found.append(metrics)
    return found


class Tags(HTMLParser):
    """Checks that every tag is closed in its turn, and keeps what a browser would fetch or follow."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def report(folder: Path, metrics: list[dict[str, Any]], config: str = "", games: list[ReportGame] | None = None) -> str:
    """Write a report, check what holds for every report, and give back its text."""
    write_report(folder, metrics, config, games or [])
    assert [path.name for path in folder.iterdir()] == ["report.html"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert not {"script", "link", "img", "iframe"} & set(tags.seen)
    assert all(link.startswith("data:") for link in tags.links)
    assert "url(" not in page
    assert "@import" not in page
    for svg in drawings(page):
        for element in svg.iter():
            for name, value in element.attrib.items():
                assert not re.search(r"nan|inf|None|e[-+]\d", value) or name == "aria-label", (element.tag, value)
    return page


def drawings(page: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]


def titles(page: str) -> list[str]:
    return [svg.attrib.get("aria-label", "") for svg in drawings(page)]


# --- the page -------------------------------------------------------------------------------------------------------


def test_a_full_report(tmp_path: Path) -> None:
    page = report(tmp_path, a_run(60))
    shown = titles(page)
    for title in (
        "Elo over minutes of training",
        "Elo over games",
        "Loss, all together",
        "Policy loss (KL)",
        "Value loss",
        "Entropy of the policy, nats",
        "Moves a game",
        "How games ended",
        "Games a second",
        "Evaluations a second",
        "Where the time went",
    ):
        assert title in shown
    assert "Reply loss" not in shown  # null throughout
    for number_in_page in ("15,360", "1,260,000", "9,000", "2 h 30 min", "6000 ± 44"):
        assert f"<b>{number_in_page}</b>" in page
    assert "network 53%" in page
    assert "settled 47%" in page
    row = '<tr><td>60</td><td class="name">iteration 55</td><td>32</td><td>14</td><td>0</td><td>2</td><td>88%</td></tr>'
    assert row in page
    assert page.index(row) < page.index(">iteration 50<")  # the latest first
    assert "iteration 5<" in page
    assert "prefers-color-scheme: dark" in page


@pytest.mark.parametrize("iterations", [0, 1, 2, 1200])
def test_any_length(tmp_path: Path, iterations: int) -> None:
    page = report(tmp_path, a_run(iterations))
    assert ("before the first iteration" in page) == (iterations == 0)
    assert bool(drawings(page)) == (iterations > 0)
    assert len(page) < 300_000


def test_missing_null_and_not_finite_numbers(tmp_path: Path) -> None:
    metrics: list[dict[str, Any]] = [
        {"iteration": 1},
        {"iteration": 2, "time": None, "ended": {}, "matches": None, "elo": None, "minutes": None},
        {"iteration": 3, "total_loss": math.nan, "policy_loss": math.inf, "elo": 5.0, "time": {"network": math.nan}},
        {"iteration": 4, "total_loss": 0.0, "games": 1e300, "value_loss": "high", "matches": [{}], "draw_rate": True},
        {"iteration": 5, "total_loss": -1e30, "ended": {"passes": 0}, "games_per_second": 1e-12},
    ]
    page = report(tmp_path, metrics)
    assert "Loss, all together" in titles(page)
    assert "Elo over iteration" in titles(page)  # minutes are not known for all
    absent = {"Policy loss (KL)", "Value loss", "Results", "Where the time went", "How games ended"}
    assert not absent & set(titles(page))


def test_everything_is_escaped(tmp_path: Path) -> None:
    evil = "<script>alert('x')</script>&\""
    metrics = a_run(5)
    metrics[-1]["matches"] = [{"opponent": evil, "wins": 1}]
    metrics[-1]["time"] = {evil: 1.0}
    game = ReportGame(evil, ["X"], None, f"(;C[{evil}])")
    page = report(tmp_path, metrics, config=f"name = {evil}", games=[game])
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 5  # opponent, part of the time, caption, record, settings
    assert "name = &lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;&quot;" in page


def test_the_report_replaces_the_old_one(tmp_path: Path) -> None:
    report(tmp_path, a_run(1))
    assert "<b>10</b>" in report(tmp_path, a_run(10))


# --- games ----------------------------------------------------------------------------------------------------------


def test_a_board_is_drawn_as_it_lies() -> None:
    svg = ElementTree.fromstring(goban([".X.", "..O", "..."], last_move=(1, 2)))
    circles = [(one.attrib["class"], one.attrib["cx"], one.attrib["cy"]) for one in svg.iter(f"{SVG}circle")]
    assert ("black", "1", "0") in circles  # row 0, column 1
    assert ("white", "2", "1") in circles
    assert ("mark on-white", "2", "1") in circles
    assert [one.text for one in svg.iter(f"{SVG}text")] == ["A", "3", "B", "2", "C", "1"]


@pytest.mark.parametrize("last_move", [None, (-1, -1), (0, 0), (5, 5)])
def test_no_stone_no_mark(last_move: tuple[int, int] | None) -> None:
    assert "mark" not in goban(["..", ".X"], last_move)


@pytest.mark.parametrize("board", [[], ["..", "."], ["x"], ["." * 20] * 20])
def test_what_is_no_board(tmp_path: Path, board: list[str]) -> None:
    with pytest.raises(ValueError, match="rows of"):
        write_report(tmp_path, [], "", [ReportGame("bad", board, None, "")])
    assert not list(tmp_path.iterdir())


def test_a_sample_game_can_be_saved(tmp_path: Path) -> None:
    rows = ["." * 9, "." * 9, "......X..", *["." * 9] * 6]
    record = '(;GM[1]FF[4]SZ[9]C[100% & "more" é];B[gc])'
    page = report(tmp_path, [], games=[ReportGame("game 3100: B+4.5, 81 moves", rows, (2, 6), record)])
    assert "game 3100: B+4.5, 81 moves" in page
    link = re.search(r'download="game-1.sgf" href="data:application/x-go-sgf;charset=utf-8,([^"]*)"', page)
    assert link
    assert unquote(link[1]) == record
    assert parse_sgf(unquote(link[1])).size == 9
    assert 'class="mark on-black" cx="6" cy="2"' in page


# --- plots ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "count", "ticks"),
    [
        (0, 10, 5, [0, 2, 4, 6, 8, 10]),
        (3, 97, 5, [0, 20, 40, 60, 80, 100]),
        (-5, 5, 4, [-5, 0, 5]),
        (0, 0, 5, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0.101, 0.147, 3, [0.1, 0.12, 0.14, 0.16]),
    ],
)
def test_ticks_are_round(low: float, high: float, count: int, ticks: list[float]) -> None:
    assert nice_ticks(low, high, count) == pytest.approx(ticks)


def test_ticks_enclose_whatever_there_is() -> None:
    dice = random.Random(2)
    for _ in range(2000):
        low = dice.choice([-1, 1]) * 10 ** dice.uniform(-12, 12)
        high = low + dice.choice([0, 10 ** dice.uniform(-15, 12)])
        ticks = nice_ticks(low, high, 5)
        assert 2 <= len(ticks) <= 8
        slack = 1e-8 * (ticks[-1] - ticks[0]) + 1e-9 * max(abs(low), 1e-3)
        assert ticks[0] <= low + slack
        assert ticks[-1] >= high - slack


def test_a_line_lies_where_its_numbers_are() -> None:
    figure = line_plot("up", [Series("a", [0, 5, 10], [0, None, 100])], "x", width=340, height=180)
    (svg,) = drawings(figure)
    (line,) = svg.iter(f"{SVG}polyline")
    assert line.attrib["points"] == "48.0,146.0 328.0,8.0"  # corner to corner, the unknown left out
    words = [text.text for text in svg.iter(f"{SVG}text")]
    assert {"0", "50", "100", "x"} <= set(words)
    assert "now 100" in figure


def test_few_errors_are_bars_and_many_a_band() -> None:
    def classes(count: int) -> list[str]:
        series = Series("Elo", range(count), [float(i) for i in range(count)], [5.0] * count)
        (svg,) = drawings(line_plot("Elo", [series], "x"))
        return [one.attrib.get("class", "") for one in svg]

    assert classes(12).count("error c0") == 12
    assert classes(12).count("dot c0") == 12
    assert classes(100).count("band c0") == 1
    assert "error c0" not in classes(100)


def test_errors_stay_inside_the_frame() -> None:
    (svg,) = drawings(line_plot("Elo", [Series("Elo", [1], [10.0], [500.0])], "x", height=180))
    (bar,) = (one.attrib["d"] for one in svg if one.attrib.get("class") == "error c0")
    found = re.fullmatch(r"M[\d.]+ ([\d.]+)m-3 0h6m-3 0V([\d.]+)m-3 0h6", bar)
    assert found
    assert 8 <= float(found[2]) < float(found[1]) <= 146


def test_shares_fill_the_whole() -> None:
    figure = share_plot("parts", [1, 2], {"a": [1, 0], "b": [3, None], "c": [0, 0]}, "x", width=340, height=180)
    (svg,) = drawings(figure)
    areas = [one.attrib["d"] for one in svg if one.attrib.get("class", "").startswith("share")]
    assert areas == ["M48.0 146.0H188.0V111.5H48.0Z", "M48.0 111.5H188.0V8.0H48.0Z"]  # and nothing from 1 to 2
    assert "a 25%" in figure
    assert "b 75%" in figure


def test_a_run_that_was_set_back_is_not_drawn_backwards() -> None:
    (svg,) = drawings(share_plot("parts", [1, 5, 3, 6], {"a": [1, 1, 1, 1]}, "x"))
    (area,) = (one.attrib["d"] for one in svg if one.attrib.get("class", "").startswith("share"))
    for left, right in re.findall(r"M([\d.]+) [\d.]+H([\d.]+)", area):
        assert float(left) <= float(right)


def test_nothing_to_draw() -> None:
    assert line_plot("none", [Series("a", [1, 2], [None, None])], "x") == ""
    assert line_plot("none", [], "x") == ""
    assert share_plot("none", [1], {"a": [0]}, "x") == ""
    assert share_plot("none", [], {}, "x") == ""


def test_numbers_for_people() -> None:
    numbers = {0.01234: "0.0123", 1.8249: "1.82", 82.34: "82.3", 2313.4: "2,313", 1.25e6: "1.25M", -3: "-3"}
    for value, text in numbers.items():
        assert number_text(value) == text
    durations = {0.5: "30 s", 33.14: "33.1 min", 302: "5 h 02 min", 4560: "3 d 4 h", 119.99: "2 h 00 min"}
    for minutes, text in durations.items():
        assert duration_text(minutes) == text


def test_only_finite_numbers_count() -> None:
    metrics = {"a": 1, "b": math.nan, "c": math.inf, "d": "1", "e": None, "f": True, "g": {"h": 2.5}, "i": 10**400}
    assert number(metrics, "a") == 1.0
    assert number(metrics, "g", "h") == 2.5
    assert [number(metrics, key) for key in "bcdefgix"] == [None] * 8
    assert number(metrics, "e", "h") is None


# --- metrics.jsonl --------------------------------------------------------------------------------------------------


def test_metrics_come_back(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    assert read_metrics(path) == []
    run = a_run(7)
    path.write_text("".join(json.dumps(one) + "\n" for one in run))
    assert read_metrics(path) == run


def test_of_two_lines_for_an_iteration_the_later_counts(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    lines = [(1, "a"), (2, "a"), (3, "a"), (2, "b"), (3, "b")]
    path.write_text("".join(json.dumps({"iteration": i, "by": by}) + "\n" for i, by in lines))
    assert [(one["iteration"], one["by"]) for one in read_metrics(path)] == [(1, "a"), (2, "b"), (3, "b")]


def test_a_kill_at_any_byte_costs_only_the_last_line(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    whole = b'{"iteration": 1}\n{"iteration": 2, "name": "\xc3\xa9"}'
    for end in range(len(whole) + 1):
        path.write_bytes(whole[:end])
        assert len(read_metrics(path)) == (end >= 16) + (end == len(whole))


@pytest.mark.parametrize("garbage", ["{", "nonsense", "[1]", "{}", '{"iteration": "2"}', '{"iteration": true}', "\xff"])
def test_garbage_in_the_middle_is_named(tmp_path: Path, garbage: str) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"iteration": 1}\n\n' + garbage.encode("latin-1") + b'\n{"iteration": 3}\n')
    with pytest.raises(ValueError, match=r"metrics\.jsonl, line 3: .*iteration"):
        read_metrics(path)


# --- TensorBoard ----------------------------------------------------------------------------------------------------


def test_events_are_what_tensorboard_reads(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    folder = tmp_path / "events"
    events = Events(folder, None)
    assert not folder.exists()
    for metrics in a_run(6):
        events.write(metrics)
    events.write({"iteration": 7, "total_loss": math.nan, "time": None})
    events.write({})
    events.close()
    events.close()
    again = Events(folder, 5)  # a session that goes on after iteration 4
    again.write({"iteration": 5, "total_loss": 9.0})
    again.close()

    read = EventAccumulator(str(folder)).Reload()
    curves = set(read.Tags()["scalars"])
    assert {"loss/total", "speed/evals_per_second", "game/length", "game/ended/settled", "elo/elo"} <= curves
    assert {"time/minutes", "time/network"} <= curves
    assert "loss/reply" not in curves
    losses = [(event.step, event.value) for event in read.Scalars("loss/total")]
    assert [step for step, _ in losses] == [1, 2, 3, 4, 5]
    assert losses[-1][1] == 9.0
    assert [event.step for event in read.Scalars("game/length")] == [1, 2, 3, 4]


def test_without_tensorboard_one_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    events = Events(tmp_path / "events", 1)
    with pytest.warns(UserWarning, match="pip install tensorboard"):
        events.write({"iteration": 1})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        events.write({"iteration": 2})
        events.close()
    assert not (tmp_path / "events").exists()
