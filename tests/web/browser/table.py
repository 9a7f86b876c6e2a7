"""The page as a person uses it: what can be done on it and what can be seen, by names of Go."""

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
STONES = ".shudan-vertex:not(.shudan-sign_0)"
COLUMNS = "ABCDEFGHJKLMNOPQRST"


class Table:
    """A page of the server, with a game on it."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.status = page.get_by_test_id("status")
        self.toast = page.locator(".toast")
        page.goto(url)
        expect(page.locator(".banner.later")).to_have_count(0)

    def new_game(self, size: int = 5, color: str = "Black", visits: int | None = 2) -> None:
        """Begin a game by the dialog, against a search of so many visits; None: as the level says."""
        self.button("New game").click()
        dialog = self.page.get_by_role("dialog")
        self.choose(color)
        if size in (9, 13, 19):
            self.choose(f"{size}×{size}")
        else:
            self.choose("Other")
            dialog.get_by_label("5 to 19").fill(str(size))
        if visits is not None and color != "Both sides":
            dialog.get_by_label("Level").select_option("visits")
            dialog.get_by_label("Visits a move").fill(str(visits))
        dialog.get_by_role("button", name="Start").click()
        expect(dialog).to_have_count(0)
        expect(self.page.locator(".shudan-vertex")).to_have_count(size * size)
        self.wait()

    def choose(self, radio: str) -> None:
        """Choose in the dialog; the browser's own circles lie unseen over their words."""
        self.page.get_by_role("radio", name=radio, exact=True).check(force=True)

    def button(self, name: str) -> Locator:
        """A button by its words."""
        return self.page.get_by_role("button", name=name, exact=True)

    def point(self, vertex: str) -> Locator:
        """A point of the board."""
        rows = round(self.page.locator(".shudan-vertex").count() ** 0.5)
        x, y = COLUMNS.index(vertex[0]), rows - int(vertex[1:])
        return self.page.locator(f".shudan-vertex[data-x='{x}'][data-y='{y}']")

    def play(self, *vertices: str) -> None:
        """Click on points, one after the other, waiting for the computer's answer to each."""
        for vertex in vertices:
            before = self.number()
            self.point(vertex).click()
            expect(self.status).not_to_have_text(before)
            self.wait()

    def passes(self) -> None:
        """Pass, and wait for the answer."""
        before = self.number()
        self.button("Pass").click()
        expect(self.status).not_to_have_text(before)
        self.wait()

    def number(self) -> str:
        """The line on how things stand."""
        return self.status.inner_text()

    def wait(self) -> None:
        """Until nobody thinks and nothing is counted."""
        expect(self.status).not_to_contain_text("…")

    def stones(self) -> dict[str, str]:
        """What lies on the board."""
        seen = self.page.locator(STONES).evaluate_all("all => all.map(e => [e.dataset.x, e.dataset.y, e.className])")
        rows = round(self.page.locator(".shudan-vertex").count() ** 0.5)
        return {
            f"{COLUMNS[int(x)]}{rows - int(y)}": "B" if "shudan-sign_1" in name.split() else "W" for x, y, name in seen
        }

    def expect_stones(self, stones: dict[str, str]) -> None:
        """These stones and no others are on the board, or will be in a moment."""
        for vertex, color in stones.items():
            expect(self.point(vertex)).to_have_class(re.compile(rf"shudan-sign_{1 if color == 'B' else -1}\b"))
        expect(self.page.locator(STONES)).to_have_count(len(stones))

    def screenshot(self, name: str) -> None:
        """Keep a picture of the page, for people."""
        SCREENSHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")
