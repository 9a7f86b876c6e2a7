"""The report of a run, what it is made from, and the same numbers as TensorBoard events."""

import json
import math
import random
import re
import sys
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from mini_alphago.game import parse_sgf
from mini_alphago.plot import Series, line_plot, nice_ticks, number_text, share_plot
from mini_alphago.training.report import ReportGame, duration_text, goban, number, read_metrics, write_report
from mini_alphago.training.tensorboard import Events

from .reports import a_run, a_worker, drawings, report, titles

SVG = "{http://www.w3.org/2000/svg}"


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


# --- workers elsewhere ----------------------------------------------------------------------------------------------


def test_the_workers_of_the_last_iteration(tmp_path: Path) -> None:
    run = a_run(60)
    assert "<h2>Workers</h2>" not in report(tmp_path, run)  # all of it was played here
    for metrics in run:
        metrics |= {"staleness": 0.4, "workers": [a_worker(9, "10.0.0.9")]}
    run[-1]["workers"] = [a_worker(0, "10.0.0.5"), a_worker(1, "10.0.0.6", device="cpu", games=6, version=None)]
    page = report(tmp_path, run)
    assert "Staleness of games, iterations behind" in titles(page)
    assert "<b>Workers, iteration 60</b>" in page
    numbers = "<td>1,234</td><td>406</td><td>13,000</td>"
    assert f'<tr><td class="name">10.0.0.5</td><td>0</td><td class="name">cuda</td><td>59</td>{numbers}</tr>' in page
    numbers = "<td></td><td>6</td><td>406</td><td>13,000</td>"
    assert f'<tr><td class="name">10.0.0.6</td><td>1</td><td class="name">cpu</td>{numbers}</tr>' in page
    assert ">all together</td><td>1,240</td><td>812</td><td>26,000</td>" in page
    assert "10.0.0.9" not in page  # has left


@pytest.mark.parametrize(
    ("workers", "table"),
    [
        (None, False),
        ([], False),
        ("many", False),
        ([None, {}], True),
        ([{"node": "<b>", "device": 7, "games": math.nan, "version": "new", "evals_per_second": 10**400}], True),
    ],
)
def test_odd_workers(tmp_path: Path, workers: Any, table: bool) -> None:
    page = report(tmp_path, [{"iteration": 1, "workers": workers, "staleness": math.inf}])
    assert "Staleness of games, iterations behind" not in titles(page)
    assert ("all together" in page) == table
    assert '<td class="name"><b>' not in page


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


def test_events_of_workers(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = Events(tmp_path, None)
    workers = [a_worker(0, "10.0.0.5"), a_worker(1, "10.0.0.5"), a_worker(2, "10.0.0.6", positions_per_second=None)]
    events.write({"iteration": 1})
    events.write({"iteration": 2, "staleness": 0.5, "workers": workers})
    events.write({"iteration": 3, "staleness": math.nan, "workers": [None, {"node": 5}]})
    events.close()
    read = EventAccumulator(str(tmp_path)).Reload()
    curves = {name: [(event.step, event.value) for event in read.Scalars(name)] for name in read.Tags()["scalars"]}
    assert curves == {
        "workers/staleness": [(2, 0.5)],
        "workers/count": [(2, 3.0), (3, 1.0)],
        "workers/positions_per_second/10.0.0.5": [(2, 812.0)],
        "workers/positions_per_second/10.0.0.6": [(2, 0.0)],
        "workers/positions_per_second/5": [(3, 0.0)],
    }


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
