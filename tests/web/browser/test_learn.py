"""A person watches a training run, and plays against what it has made."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from ...training.reports import a_worker
from .conftest import ITERATIONS, write_live
from .table import Table


def test_the_page_of_a_run(table: Table, run_folder: Path) -> None:
    page = table.page
    page.get_by_role("link", name="Training").click()
    expect(page.locator(".progress")).to_contain_text("made-up")
    expect(page.locator(".progress dd").first).to_have_text(str(ITERATIONS))
    expect(page.locator("figure", has_text="Losses").locator(".curve")).to_have_count(3)
    expect(page.locator(".elo .interval")).to_have_count(2)
    expect(page.locator(".small-board").first.locator("circle.B")).to_have_count(2)
    table.screenshot("training")

    write_live(run_folder, move_number=8)  # the games move while one looks at them
    expect(page.locator(".small-board").first.locator("circle.B")).to_have_count(4)
    expect(page.get_by_text("move 8").first).to_be_visible()

    with (run_folder / "metrics.jsonl").open("a") as file:
        file.write('{"iteration": 7, "minutes": 14.5, "games": 700, "positions": 14000, "total_loss": 0.4}\n')
    expect(page.locator(".progress dd").first).to_have_text("7")


def test_the_workers_of_a_run_on_a_cluster(table: Table, run_folder: Path) -> None:
    page = table.page
    page.get_by_role("link", name="Training").click()
    workers, staleness = page.locator(".workers"), page.locator("figure", has_text="Staleness")
    expect(page.locator(".progress")).to_contain_text("made-up")
    expect(workers).to_have_count(0)  # all is played here so far
    expect(staleness).to_have_count(0)

    there: list[dict[str, Any]] = [
        a_worker(10, "10.0.0.10", device="cpu", games=5, evals_per_second=2000.0, version=None, seconds=2.0),
        a_worker(2, "10.0.0.5", version=4, seconds=31.4),
        a_worker(1, "10.0.0.5", version=7, seconds=0.3),
    ]
    write_live(run_folder, 8, there)
    expect(workers.locator("tbody tr")).to_have_text(
        [
            "10.0.0.5 1cuda7 1.2k40613k",
            "10.0.0.5 (silent for 31 s)2cuda4 (3 behind)1.2k40613k",
            "10.0.0.10 10cpu– 54062.0k",
        ]
    )
    expect(workers.locator(".silent")).to_have_count(1)
    # The games of all, but the speed only of those who were heard of.
    expect(workers.locator("tfoot tr")).to_have_text("Total: 3 workers on 2 nodes, 1 silent2.5k81215k")
    expect(page.locator(".small-board")).to_have_count(0)
    expect(page.get_by_text("Games now")).to_have_count(0)

    lines = [{"iteration": i, "minutes": 2.2 * i, "games": 100 * i, "staleness": i / 10} for i in (8, 9)]
    with (run_folder / "metrics.jsonl").open("a") as file:
        file.writelines(json.dumps({**line, "workers": [a_worker(3, "node-of-the-line")]}) + "\n" for line in lines)
    expect(staleness.locator(".curve")).to_have_count(1)
    expect(staleness.locator("figcaption")).to_contain_text("iterations behind 0.90")
    expect(workers.locator("tbody tr").first).to_contain_text("7 (2 behind)")
    table.screenshot("workers")

    write_live(run_folder, 8, [])
    expect(page.get_by_role("region", name="Workers")).to_contain_text("None is there now")
    write_live(run_folder, 8)  # games, and no word of workers: then those of the last iteration
    expect(workers.locator("tbody tr")).to_contain_text(["node-of-the-line"])
    write_live(run_folder, 8, [{}, {"node": {}, "version": "x", "games": "many", "seconds": None}])
    expect(workers.locator("tbody tr")).to_have_count(2)


def test_play_against_a_point_of_the_elo_curve(table: Table) -> None:
    page = table.page
    page.get_by_role("link", name="Training").click()
    page.get_by_role("link", name="Play against Iteration 3, Elo 300").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Network")).to_have_value("iteration-3")
    table.choose("Other")
    dialog.get_by_label("5 to 19").fill("5")
    dialog.get_by_label("Level").select_option("beginner")
    dialog.get_by_role("button", name="Start").click()
    expect(page.locator(".player[data-color=W]")).to_contain_text("Iteration 3, Beginner")
    table.play("C3")
    assert len(table.stones()) == 2
