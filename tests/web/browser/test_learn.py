"""A person watches a training run, and plays against what it has made."""

from pathlib import Path

from playwright.sync_api import expect

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
