"""Metrics of runs that never were, and the reports that are made from them."""

import math
import random
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from mini_alphago.training.report import ReportGame, write_report

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


def a_worker(worker: int, node: str, **other: Any) -> dict[str, Any]:
    """A worker on another machine, as the metrics of an iteration list it; `other` are fields that are so instead."""
    speeds = {"positions_per_second": 406.0, "evals_per_second": 13_000.0}
    return {"worker": worker, "node": node, "device": "cuda", "games": 1234, **speeds, "version": 59, **other}


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
