"""A person looks at what the network thinks."""

import json
import re
from collections.abc import Callable

from playwright.sync_api import Page, WebSocketRoute, expect

from .server import PlayServer
from .table import STONES, Table


def test_analysis_on_and_off(table: Table) -> None:
    table.new_game(color="Both sides")
    table.play("C3")
    page = table.page
    page.get_by_role("switch", name="Analysis").check(force=True)
    expect(page.locator(".layer .candidate").first).to_be_visible()
    expect(page.get_by_test_id("graph").locator(".line.winrate")).not_to_have_attribute("d", "")
    page.get_by_role("switch", name="Policy").check(force=True)
    expect(page.locator(".layer .policy").first).to_be_visible()
    page.get_by_role("switch", name="Territory").check(force=True)
    page.get_by_role("tab", name="Candidates").click()
    first = page.locator(".chip").first
    first.hover()
    expect(page.locator(".layer .pv").first).to_be_visible()
    table.screenshot("analysis")
    best = first.inner_text()
    first.click()
    expect(table.status).to_contain_text(f"White played {best}" if best != "pass" else "White passed")
    page.keyboard.press("a")
    expect(page.locator(".layer .candidate, .layer .policy")).to_have_count(0)
    expect(page.get_by_role("button", name="Turn analysis on")).to_be_visible()


def test_why_shows_the_tree_of_the_search(table: Table) -> None:
    table.new_game(color="Both sides")
    page = table.page
    page.get_by_role("tab", name="Why").click()
    page.get_by_role("button", name="Turn analysis on").click()
    rows = page.locator(".why tbody tr")
    expect(rows.first).to_contain_text("%")
    expect(page.locator(".why .depth-1").first).to_be_visible()
    table.screenshot("why")


def test_a_hint_names_a_move(table: Table) -> None:
    table.new_game()
    table.page.keyboard.press("h")
    expect(table.toast).to_contain_text("Hint: ")
    expect(table.status).to_have_text("Your move, Black.")


def test_a_hint_survives_a_position_that_arrives_late(open_page: Callable[..., Page], server: PlayServer) -> None:
    """Positions are held back until the search for the hint has said something."""
    page = open_page()
    held: list[str | bytes] = []
    holding = False

    def connect(route: WebSocketRoute) -> None:
        def pass_on(message: str | bytes) -> None:
            nonlocal holding
            kind = json.loads(message)["type"]
            if holding and kind == "position":
                held.append(message)
                return
            if held and kind == "analysis":
                holding = False
                for late in held:
                    route.send(late)
            route.send(message)

        route.connect_to_server().on_message(pass_on)

    page.route_web_socket("**/ws*", connect)
    table = Table(page, server.url)
    holding = True
    table.new_game()
    page.keyboard.press("h")
    expect(table.toast).to_contain_text("Hint: ")
    assert held
    assert not holding


def test_another_move_makes_a_variation(table: Table) -> None:
    table.new_game(color="Both sides")
    table.play("C3", "B2", "D4")
    table.page.get_by_test_id("graph").click(position={"x": 1, "y": 20})  # the start of the game
    expect(table.status).to_have_text("Black to move.")
    table.play("B4")
    table.expect_stones({"B4": "B"})
    nodes = table.page.locator("[data-node]")
    expect(nodes).to_have_count(5)
    nodes.nth(3).click()
    expect(table.status).to_contain_text("Move 3: Black played D4")
    table.expect_stones({"C3": "B", "B2": "W", "D4": "B"})


def test_a_review_lists_mistakes_and_leads_to_them(table: Table) -> None:
    table.new_game(color="Both sides")
    table.play("A1", "C3", "A2", "B3", "A5", "D2")
    page = table.page
    page.get_by_role("tab", name="Review").click()
    page.get_by_label("Visits for each position").select_option("25")
    page.get_by_role("button", name="Review this game").click()
    expect(page.get_by_role("button", name="Review again")).to_be_visible(timeout=30_000)
    shown = page.get_by_role("button", name="Show move")
    empty = page.get_by_text("No mistakes worth naming.")
    expect(shown.first.or_(empty)).to_be_visible()
    expect(page.get_by_test_id("graph").locator(".line.winrate")).to_have_attribute("d", lines(6))
    if shown.count():
        number = int(shown.first.inner_text())
        shown.first.click()
        expect(page.locator(STONES)).to_have_count(number - 1)
        expect(page.locator(".layer .pv").first).to_be_visible()


def lines(count: int) -> re.Pattern[str]:
    """The path of a curve with so many pieces."""
    return re.compile(rf"^M[^L]*(L[^L]*){{{count}}}$")
