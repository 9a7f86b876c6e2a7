"""A person plays: by clicking, by keys, by touch; and neither a reload nor a restart of the server loses the game."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from .server import PlayServer
from .table import STONES, Table

LIMIT = 60  # moves of a small game


def test_a_whole_game_by_clicking_to_the_count(table: Table) -> None:
    table.new_game(size=5)
    table.play("C3")
    assert len(table.stones()) == 2
    score = table.page.get_by_test_id("score")
    for _ in range(LIMIT):
        if score.count():
            break
        table.passes()
    expect(score).to_contain_text("wins")
    table.screenshot("score")

    before = score.inner_text()
    table.page.locator(".shudan-vertex.shudan-sign_-1").first.click()  # White's are dead, or alive after all
    expect(score).not_to_have_text(before)
    counted = score.inner_text()
    table.button("Accept").click()
    expect(table.status).to_have_text(f"{counted}.")
    expect(score).to_have_count(0)


def test_who_does_not_agree_plays_on(table: Table) -> None:
    table.new_game(color="Both sides")
    table.play("C3", "C2")
    table.passes()
    table.passes()
    expect(table.page.get_by_test_id("score")).to_be_visible()
    table.button("Go on playing").click()
    table.play("D2")
    assert table.stones() == {"C3": "B", "C2": "W", "D2": "B"}


def test_undo_takes_back_the_answer_too(table: Table) -> None:
    table.new_game()
    table.play("B2", "D4")
    assert len(table.stones()) == 4
    table.button("Undo").click()
    expect(table.page.locator(STONES)).to_have_count(2)
    assert table.stones()["B2"] == "B"
    expect(table.status).to_contain_text("Your move, Black")


def test_illegal_moves_are_explained(table: Table) -> None:
    table.new_game(color="Both sides")
    for vertex in ("B3", "C3", "A2", "D2", "B1", "C1", "C2"):  # a ko: White takes C2 with B2
        table.play(vertex)
    table.play("B2")
    assert "C2" not in table.stones()
    table.point("C2").click()
    expect(table.toast).to_contain_text("C2: ")
    expect(table.toast).to_contain_text("ko")
    table.point("B2").click()
    expect(table.toast).to_contain_text("already")
    assert table.stones()["B2"] == "W"
    expect(table.page.locator(".player[data-color=W]")).to_contain_text("1 taken")


def test_white_with_handicap_and_resignation(table: Table) -> None:
    table.button("New game").click()
    dialog = table.page.get_by_role("dialog")
    table.choose("White")
    dialog.get_by_label("Handicap").select_option("2")
    assert dialog.get_by_label("Komi").input_value() == "0.5"
    dialog.get_by_role("button", name="Start").click()
    expect(table.page.locator(".shudan-vertex.shudan-sign_1")).to_have_count(2)
    expect(table.status).to_have_text("Your move, White.")
    table.button("Resign").click()
    table.button("Really resign?").click()
    expect(table.status).to_have_text("Black wins by resignation.")


def test_a_reload_in_the_middle(table: Table) -> None:
    table.new_game()
    table.play("B2", "D4")
    before = table.stones()
    table.page.reload()
    table.expect_stones(before)
    table.point("A1").click()
    table.page.reload()  # whether the computer has answered or not: it does now
    expect(table.status).to_contain_text("Your move, Black")
    assert len(table.stones()) % 2 == 0


def test_a_restart_of_the_server_in_the_middle(table: Table, server: PlayServer) -> None:
    table.new_game()
    table.play("C3")
    before = table.stones()
    server.stop()
    expect(table.page.get_by_role("status").first).to_contain_text("No connection to the server")
    table.point("A1").click()
    expect(table.toast).to_contain_text("no connection")
    table.screenshot("no-connection")
    server.start()
    expect(table.page.locator(".banner.warning")).to_have_count(0)
    assert table.stones() == before
    table.play("A1")
    assert len(table.stones()) == 4


def test_a_record_goes_out_and_comes_back(table: Table, tmp_path: Path) -> None:
    table.new_game(color="Both sides")
    table.play("C3", "B2", "D4")
    table.page.keyboard.press("ArrowLeft")
    table.play("D2")
    table.page.get_by_label("Comment on move 3").fill("a variation")
    with table.page.expect_download() as download:
        table.button("Save SGF").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert path.suffix == ".sgf"
    text = path.read_text()
    assert "SZ[5]" in text
    assert "a variation" in text
    assert text.count("(;") == 3  # the game and two ways to go on

    table.new_game(size=9, color="Both sides")
    drop(table.page, path.name, text)
    expect(table.page.locator(".shudan-vertex")).to_have_count(25)
    expect(table.page.locator("[data-node]")).to_have_count(5)
    table.expect_stones({"C3": "B", "B2": "W", "D4": "B"})
    table.page.keyboard.press("ArrowDown")
    expect(table.page.get_by_label("Comment on move 3")).to_have_value("a variation")
    table.expect_stones({"C3": "B", "B2": "W", "D2": "B"})

    table.page.get_by_label("Record").set_input_files(path)
    expect(table.toast).to_contain_text("is open")
    table.button("Back to the former game").click()
    expect(table.status).to_contain_text("D2")


def drop(page: Page, name: str, text: str) -> None:
    """Drop a file on the page."""
    page.evaluate(
        """([name, text]) => {
            const data = new DataTransfer();
            data.items.add(new File([text], name));
            const options = { dataTransfer: data, bubbles: true, cancelable: true };
            for (const type of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(type, options));
        }""",
        [name, text],
    )


def test_a_damaged_record_is_named(table: Table) -> None:
    drop(table.page, "odd.sgf", "(;SZ[5];B[zz]")
    expect(table.toast).to_contain_text("odd.sgf: ")


def test_by_keys_alone(table: Table) -> None:
    page = table.page
    page.keyboard.press("n")
    expect(page.get_by_role("button", name="Start")).to_be_focused()
    page.get_by_role("radio", name="9×9").focus()
    page.keyboard.press("ArrowLeft")  # the circle goes round: "Other"
    page.keyboard.press("Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    expect(page.locator(".shudan-vertex")).to_have_count(25)
    page.locator(".board").focus()
    announced = page.get_by_test_id("announcer")
    page.keyboard.press("ArrowLeft")
    expect(announced).to_have_text("B3")
    expect(page.locator(".cursor")).to_be_visible()
    table.screenshot("cursor")
    page.keyboard.press("Enter")
    expect(announced).to_contain_text("White")
    table.wait()
    assert table.stones()["B3"] == "B"
    page.keyboard.press("u")
    expect(page.locator(STONES)).to_have_count(0)
    page.keyboard.press("p")
    expect(announced).to_contain_text("White")
    page.keyboard.press("Escape")
    page.keyboard.press("Home")
    expect(table.status).to_have_text("Your move, Black.")
    page.keyboard.press("ArrowRight")
    expect(announced).to_have_text("Move 1: Black passes")


def test_one_dialog_right_after_another(table: Table) -> None:
    """The browser tells of a closed dialog only later, when the next one may be there already."""
    page = table.page
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys and help")).to_be_visible()
    page.evaluate("""() => {
        document.querySelector("dialog").close();
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true }));
    }""")
    page.wait_for_timeout(200)
    expect(page.get_by_role("dialog", name="New game")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_on_a_phone(open_page: Callable[..., Page], server: PlayServer) -> None:
    phone = {"viewport": {"width": 375, "height": 740}, "has_touch": True, "is_mobile": True}
    table = Table(open_page(**phone), server.url)
    table.new_game(size=19, color="Both sides")
    assert table.page.evaluate("document.documentElement.scrollWidth") == 375
    table.point("D4").tap()  # points are small here: the first tap shows, the second plays
    expect(table.toast).to_contain_text("Tap D4 again")
    assert table.stones() == {}
    table.point("D4").tap()
    expect(table.page.locator(".shudan-vertex.shudan-sign_1")).to_have_count(1)
    table.screenshot("phone")
    table.new_game(size=5, color="Both sides")
    table.point("C3").tap()
    expect(table.page.locator(".shudan-vertex.shudan-sign_1")).to_have_count(1)


def test_the_page_is_small(open_page: Callable[..., Page], server: PlayServer) -> None:
    page, sizes = open_page(), []
    page.on("response", lambda answer: sizes.append(len(answer.body())))
    page.goto(server.url, wait_until="networkidle")
    assert sum(sizes) < 300_000
    assert all(
        address.startswith(server.url)
        for address in page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
    )


def test_numbers_are_typed_as_they_are_written(table: Table) -> None:
    """Key by key: what is not a number yet ("6.", "-") must stay in the field."""
    for text in ("6.5", "-0.5"):
        table.button("New game").click()
        dialog = table.page.get_by_role("dialog")
        table.choose("Both sides")
        field = dialog.get_by_label("Komi")
        field.click()
        table.page.keyboard.press("Control+A")
        table.page.keyboard.type(text, delay=20)
        assert field.input_value() == text
        dialog.get_by_role("button", name="Start").click()
        expect(table.page.locator(".player[data-color=W]")).to_contain_text(f"komi {text}")
    table.button("New game").click()
    table.choose("19×19")  # komi follows the size
    assert table.page.get_by_role("dialog").get_by_label("Komi").input_value() == "7.5"


def test_keys_work_after_a_click_on_a_switch_a_tab_or_the_board(table: Table) -> None:
    page = table.page
    table.new_game(color="Both sides")
    table.play("C3")
    page.get_by_text("Analysis", exact=True).first.click()
    page.keyboard.press("p")
    expect(table.status).to_contain_text("White passed")
    page.get_by_role("tab").nth(1).click()
    page.keyboard.press("u")
    expect(table.status).to_contain_text("Black played C3")
    page.get_by_role("tab").first.click()
    page.get_by_label("Comment on move 1").fill("good")
    table.play("B2")
    page.keyboard.press("u")
    expect(page.get_by_label("Comment on move 1")).to_have_value("good")
    expect(page.locator(STONES)).to_have_count(1)


def test_a_record_in_another_charset(table: Table, tmp_path: Path) -> None:
    for charset, name in (("gb2312", "柯洁"), ("utf-8", "芝野虎丸"), (None, "Müller")):
        declared = f"CA[{charset}]" if charset else ""
        path = tmp_path / f"{charset}.sgf"
        path.write_bytes(f"(;GM[1]FF[4]{declared}SZ[5]PB[{name}];B[cc])".encode(charset or "latin-1"))
        table.page.get_by_label("Record").set_input_files(path)
        expect(table.page.locator(".player[data-color=B]")).to_contain_text(name)


def test_a_move_that_is_made_again_is_the_main_line_again(table: Table, tmp_path: Path) -> None:
    table.new_game(color="Both sides")
    table.play("C3", "B2", "D4")
    for _ in range(3):
        table.button("Undo").click()
    expect(table.page.locator(STONES)).to_have_count(0)
    table.play("C3")
    table.play("D2")
    with table.page.expect_download() as download:
        table.button("Save SGF").click()
    path = tmp_path / "game.sgf"
    download.value.save_as(path)
    table.page.get_by_label("Record").set_input_files(path)
    expect(table.toast).to_contain_text("is open")
    table.expect_stones({"C3": "B", "D2": "W"})


def test_playing_on_from_before_the_end(table: Table, tmp_path: Path) -> None:
    """The game is over, not what one may still try; if that ends too, it is what the record has for its main line."""
    table.new_game()
    table.play("C3")
    table.button("Resign").click()
    table.button("Really resign?").click()
    expect(table.status).to_have_text("White wins by resignation.")
    table.page.keyboard.press("Home")
    table.play("B4")
    assert len(table.stones()) == 2
    assert table.stones()["B4"] == "B"
    again = table.stones()
    table.button("Resign").click()
    table.button("Really resign?").click()
    expect(table.status).to_have_text("White wins by resignation.")
    with table.page.expect_download() as download:
        table.button("Save SGF").click()
    download.value.save_as(tmp_path / "game.sgf")
    table.page.get_by_label("Record").set_input_files(tmp_path / "game.sgf")
    expect(table.toast).to_contain_text("is open")
    table.expect_stones(again)
    expect(table.status).to_have_text("White wins by resignation.")


def test_who_lost_on_time_may_take_it_back(table: Table) -> None:
    page = table.page
    page.clock.install()
    page.reload()
    table.wait()
    table.button("New game").click()
    dialog = page.get_by_role("dialog")
    table.choose("Both sides")
    dialog.get_by_label("Minutes each").fill("1")
    dialog.get_by_role("button", name="Start").click()
    page.clock.run_for(2000)
    table.play("C3")
    page.clock.run_for(70_000)
    expect(table.status).to_have_text("Black wins on time.")
    table.button("Undo").click()
    page.clock.run_for(5000)
    expect(table.status).to_contain_text("White to move")
    table.play("D4")
    page.clock.run_for(5000)
    expect(table.status).to_contain_text("Black to move")
