"""Everybody can use it: what axe-core finds on each view, light and dark."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from ...training.reports import a_worker
from .conftest import write_live
from .server import PlayServer
from .table import Table

AXE = Path(__file__).parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def findings(page: Page) -> list[str]:
    """What axe-core finds serious or critical."""
    page.evaluate(AXE.read_text())  # not as a script of the page: its content policy allows no such
    found: Any = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{one['id']}: {one['help']}: {[node['html'][:120] for node in one['nodes']][:3]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed (make web)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_findings(open_page: Callable[..., Page], server: PlayServer, run_folder: Path, scheme: str) -> None:
    table = Table(open_page(color_scheme=scheme, reduced_motion="reduce"), server.url)
    page = table.page
    table.new_game(color="Both sides")
    table.play("C3")
    assert findings(page) == []
    page.keyboard.press("a")
    for name in ("Candidates", "Why"):
        page.get_by_role("tab", name=name).click()
        expect(page.locator(".numbers tbody tr").first).to_be_visible()
        assert findings(page) == []
    page.get_by_role("tab", name="Review").click()
    assert findings(page) == []
    table.passes()
    table.passes()
    expect(page.get_by_test_id("score")).to_be_visible()
    assert findings(page) == []
    page.get_by_role("button", name="Keys and help").click()
    assert findings(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("n")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert findings(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("link", name="Training").click()
    expect(page.locator(".elo .interval")).to_have_count(2)
    table.screenshot(f"training-{scheme}")
    assert findings(page) == []
    write_live(run_folder, 4, [a_worker(0, "10.0.0.5", seconds=1.0), a_worker(1, "10.0.0.6", seconds=40.0)])
    expect(page.locator(".workers .silent")).to_have_count(1)
    assert findings(page) == []
    write_live(run_folder, 4)
