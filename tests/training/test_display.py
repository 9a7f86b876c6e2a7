"""What a training run shows: on a terminal, in a file, and not at all."""

import io
import math
import sys
import time
from typing import Any

import pytest
from rich.console import Console

from mini_alphago.training.display import (
    Display,
    LiveDisplay,
    PlainDisplay,
    iteration_line,
    make_display,
    match_lines,
    minutes_left,
    sparkline,
    time_bar,
)

from .reports import a_worker

METRICS: dict[str, Any] = {
    "iteration": 12,
    "minutes": 33.1,
    "seconds": 120.0,
    "games": 3100,
    "positions": 300_000,
    "steps": 1800,
    "game_length": 82.3,
    "black_win_rate": 0.51,
    "total_loss": 2.31,
    "policy_loss": 1.8,
    "value_loss": 0.31,
    "reply_loss": None,
    "soft_loss": None,
    "policy_entropy": 2.04,
    "target_entropy": 1.75,
    "games_per_second": 1.62,
    "positions_per_second": 140.4,
    "evals_per_second": 4210.0,
    "time": {"network": 50.0, "tree": 10.0, "training": 40.0},
    "elo": 512.0,
    "elo_error": 44.0,
    "matches": [{"opponent": "iteration 5", "wins": 14, "draws": 0, "losses": 2, "visits": 32}],
}
LINE = (
    "iteration 12/100  33.1 min  3,100 games  300,000 positions  loss 2.31 (policy 1.80 value 0.31)  "
    "82 moves a game  140 positions/s  Elo 512 ± 44"
)
MATCH = "    against iteration 5: 14 won, 0 drawn, 2 lost (88%) at 32 visits"
ODD: list[dict[str, Any]] = [
    {},
    {"iteration": 1, "total_loss": math.nan, "minutes": None, "time": None, "matches": None, "elo": math.inf},
    {"workers": [None, {}, {"node": None, "positions_per_second": math.nan}], "staleness": math.nan},
    {"workers": "many", "staleness": "much"},
    {"iteration": "one", "time": {"network": None}, "matches": [None, {}], "games": "many"},
]
BOARD = "   A B C\n 3 . . X 3\n 2 . O . 2\n 1 . . . 1\n   A B C"


def terminal(width: int = 120, height: int = 40) -> Console:
    environment = {"TERM": "xterm-256color"}
    return Console(
        record=True, force_terminal=True, width=width, height=height, file=io.StringIO(), _environ=environment
    )


def screen(display: Display, width: int = 120) -> str:
    """The screen of a live display as text, without what was drawn before."""
    assert isinstance(display, LiveDisplay)
    paper = Console(record=True, width=width, file=io.StringIO())
    paper.print(display.render())
    return paper.export_text()


# --- which one ------------------------------------------------------------------------------------------------------


def test_the_display_fits_the_console() -> None:
    assert type(make_display(terminal())) is LiveDisplay
    assert type(make_display(Console(file=io.StringIO()))) is PlainDisplay
    dumb = Console(force_terminal=True, file=io.StringIO(), _environ={"TERM": "dumb"})
    assert type(make_display(dumb)) is PlainDisplay
    old = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    assert type(make_display(Console(force_terminal=True, file=old, _environ={"TERM": "xterm"}))) is PlainDisplay
    assert type(make_display(terminal(), quiet=True)) is Display


def test_quiet_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    with make_display(None, quiet=True) as display:
        tell_everything(display)
    assert capfd.readouterr() == ("", "")


def tell_everything(display: Display) -> None:
    display.start("9×9, b6c96", "runs/first", resumed=False, total_iterations=100, minutes=None)
    display.phase("self-play", 3, 256, "3 of 256 games")
    display.game(BOARD, "game 3100: B+4.5")
    display.iteration(METRICS)
    display.say("a checkpoint was written")
    display.finish("100 iterations are done")


# --- plain ----------------------------------------------------------------------------------------------------------


def test_plain_lines() -> None:
    file = io.StringIO()
    with make_display(Console(file=file, width=40)) as display:  # narrow: a line is a line
        tell_everything(display)
    assert file.getvalue().splitlines() == [
        "Training in runs/first: 9×9, b6c96",
        LINE,
        MATCH,
        "a checkpoint was written",
        "100 iterations are done",
    ]


def test_plain_lines_are_flushed_and_not_interpreted() -> None:
    raw = io.BytesIO()
    display = make_display(Console(file=io.TextIOWrapper(raw, encoding="utf-8", write_through=False)))
    display.say("[bold]x[/bold] :smile: [1, 2]")
    assert raw.getvalue().decode().splitlines() == ["[bold]x[/bold] :smile: [1, 2]"]


def test_an_old_encoding_loses_a_character_not_the_run() -> None:
    raw = io.BytesIO()
    display = make_display(Console(file=io.TextIOWrapper(raw, encoding="ascii")))
    display.iteration(METRICS)
    assert b"Elo 512 ? 44" in raw.getvalue()


def test_a_resumed_run_says_so() -> None:
    file = io.StringIO()
    make_display(Console(file=file)).start("9×9", "runs/a", True, None, 60.0, history=[METRICS])
    assert file.getvalue() == "Training in runs/a, resumed after iteration 12: 9×9\n"


def test_lines_leave_out_what_is_not_known() -> None:
    assert iteration_line(METRICS, 100) == LINE
    assert iteration_line({"iteration": 3}) == "iteration 3"
    assert iteration_line({"iteration": 3, "total_loss": 2.0, "elo": 5.0}) == "iteration 3  loss 2.00  Elo 5"
    assert [iteration_line(odd) for odd in ODD] == [
        "iteration ?",
        "iteration 1",
        "iteration ?  2 workers",
        "iteration ?",
        "iteration ?",
    ]
    assert match_lines(METRICS) == [MATCH]
    assert match_lines(ODD[4]) == ["    against ?: 0 won, 0 drawn, 0 lost"]


# --- live -----------------------------------------------------------------------------------------------------------


def test_the_live_screen_says_it_all() -> None:
    console = terminal()
    with make_display(console) as display:
        history = [{"iteration": i, "minutes": 2.0 * i, "total_loss": 5.0 - i, "elo": 50.0 * i} for i in range(1, 12)]
        display.start("9×9, b6c96 [bold]", "runs/first", True, 100, 240.0, history=history)
        display.iteration(METRICS)
        display.game(BOARD, "game 3100: B+4.5")
        display.phase("training", 30, 150, "step 30 [x]")
        shown = screen(display)
    for words in (
        "runs/first",
        "9×9, b6c96 [bold]",
        "iteration 13 of 100  ·  33.1 min of 4 h 00 min  ·  about 2 h 56 min left",
        "3,100 games  300,000 positions  1,800 steps",
        "1.62 games/s  140 positions/s  4,210 evals/s",
        "network 50%  tree 10%  training 40%",
        "2.31 (policy 1.80 value 0.31)",
        "network 2.04  search 1.75",
        "82 moves  Black wins 51%",
        "512 ± 44",
        "▁▂▂▃▄▅▅▆▇▇█▇",
        "against iteration 5: 14 won",
        "20% step 30 [x]",
        "game 3100: B+4.5",
        " 2 . O . 2",
    ):
        assert words in shown, words
    assert all(len(line) <= 120 for line in shown.splitlines())
    assert "512 ± 44" in console.export_text()  # it was drawn


def test_the_board_needs_room() -> None:
    for width, height, wanted in ((120, 40, True), (100, 40, True), (99, 40, False), (120, 8, False)):
        with make_display(terminal(width, height)) as display:
            display.start("", "runs/first", False, None, None)
            display.game(BOARD, "game 3100")
            shown = screen(display, width)
        assert ("game 3100" in shown) == wanted
        assert "iteration" in shown


def test_messages_stay_above_the_screen() -> None:
    console = terminal()
    with make_display(console) as display:
        tell_everything(display)
        print("from somewhere else")
        assert sys.stdout is sys.__stdout__ or "rich" not in type(sys.stdout).__module__  # given back by finish
        assert " left" not in screen(display)  # nothing is, once the run is over
    text = console.export_text()
    assert "a checkpoint was written" in text
    assert text.rstrip().endswith("100 iterations are done")


def test_an_error_gives_the_terminal_back() -> None:
    console = terminal()
    before = sys.stdout

    def fail() -> None:
        with make_display(console) as display:
            display.start("", "runs/first", False, None, None)
            assert sys.stdout is not before
            raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        fail()
    assert sys.stdout is before
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().endswith("\x1b[?25h")  # the cursor is shown again


def test_most_calls_draw_nothing() -> None:
    console = terminal()
    with make_display(console) as display:
        display.start("", "runs/first", False, None, None)
        display.phase("self-play", 0, 10_000)
        assert isinstance(console.file, io.StringIO)
        drawn = len(console.file.getvalue())
        began = time.monotonic()
        for i in range(100):
            display.phase("self-play", i, 10_000)
        if time.monotonic() - began < 0.3:
            assert len(console.file.getvalue()) == drawn
        display.phase("training", 0, 10)
        assert len(console.file.getvalue()) > drawn


@pytest.mark.parametrize("odd", ODD)
def test_odd_metrics_are_shown_as_far_as_they_go(odd: dict[str, Any]) -> None:
    for console in (terminal(), Console(file=io.StringIO())):
        with make_display(console) as display:
            display.start("", "runs/first", False, 10, 5.0)
            display.phase("measuring", 0, 0)
            display.phase("measuring", 5, -1)
            display.iteration(odd)
            display.iteration(METRICS)
            display.iteration(odd)
            display.finish("over")


# --- workers elsewhere ----------------------------------------------------------------------------------------------


def row_of_workers(workers: list[dict[str, Any]] | None) -> str:
    with make_display(terminal()) as display:
        display.start("", "runs/first", False, None, None)
        display.iteration(METRICS if workers is None else METRICS | {"workers": workers, "staleness": 0.416})
        lines = screen(display).splitlines()
    assert any("82 moves  Black wins 51%" + "  0.42 iterations behind" * (workers is not None) in one for one in lines)
    rows = [line.strip("│ ") for line in lines if "workers" in line]
    assert len(rows) == (workers is not None)
    return "".join(rows).removeprefix("workers").strip()


def test_the_nodes_on_the_live_screen() -> None:
    assert row_of_workers(None) == ""
    workers = [a_worker(0, "10.0.0.5"), a_worker(1, "10.0.0.6", positions_per_second=7.25), a_worker(2, "10.0.0.5")]
    assert row_of_workers(workers) == "10.0.0.5: 812/s  10.0.0.6: 7.25/s"
    assert row_of_workers([]) == "none"
    for nodes, more in ((6, ""), (9, "  and 3 more")):
        row = row_of_workers([a_worker(i, f"node{i}") for i in range(nodes)])
        assert row == "  ".join(f"node{i}: 406/s" for i in range(6)) + more


def test_how_many_workers_in_a_plain_line() -> None:
    counts = {0: "0 workers", 1: "1 worker", 3: "3 workers"}
    for count, words in counts.items():
        line = iteration_line(METRICS | {"workers": [a_worker(i, "10.0.0.5") for i in range(count)]}, 100)
        assert line == LINE.replace("140 positions/s", f"140 positions/s  {words}")


# --- parts ----------------------------------------------------------------------------------------------------------


def test_time_left() -> None:
    run = [{"iteration": i, "minutes": 2.0 * i, "seconds": 120.0} for i in range(1, 11)]
    assert minutes_left(run, 20.0, 100, None) == pytest.approx(180)
    assert minutes_left(run, 21.0, 100, None) == pytest.approx(179)  # a minute into the next
    assert minutes_left(run, 20.0, 100, 60.0) == pytest.approx(40)  # whichever comes first
    assert minutes_left(run, 20.0, 12, 60.0) == pytest.approx(4)
    assert minutes_left(run, 99.0, None, 60.0) == 0
    assert minutes_left(run, 20.0, None, None) is None
    assert minutes_left([], 0.0, 100, None) is None
    assert minutes_left([{"iteration": 5, "minutes": 10.0}], 10.0, 10, None) == pytest.approx(10)


def test_sparkline() -> None:
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█"
    assert sparkline([7, None, 0]) == "█▁"
    assert sparkline([2, 2, 2]) == "▄▄▄"
    assert sparkline([1]) == sparkline([]) == sparkline([None, None]) == ""
    assert sparkline(range(1000), width=8) == "▁▂▃▄▅▆▇█"


def test_time_bar() -> None:
    bar = time_bar({"network": 3.0, "tree": 1.0, "other": 0.0}, width=8)
    assert bar.plain == "████████  network 75%  tree 25%"
    assert [span.end - span.start for span in bar.spans][:2] == [6, 2]
    assert time_bar(None).plain == time_bar({}).plain == time_bar({"network": None}).plain == ""
