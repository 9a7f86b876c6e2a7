"""A browser, a server with the smallest network and a made-up training run, and pages that must not complain."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from mini_alphago.files import write_atomically
from mini_alphago.training import get_preset
from mini_alphago.training.folder import RunFolder

from .server import PlayServer
from .table import Table

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
ITERATIONS = 6
PATIENCE = 180_000  # ms; a machine that compiles and is busy is no fault of the page

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where Debian's browser is."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (apt install chromium)")
    return CHROMIUM


@pytest.fixture(scope="package")  # no longer: while it lives, nobody else can run an event loop in this thread
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(OPTIONS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def run_folder(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training run that never was: settings, curves, two networks, four games being played."""
    path = tmp_path_factory.mktemp("runs") / "made-up"
    with RunFolder(path).open() as folder:
        folder.write_config(get_preset("tiny"))
        for iteration in (3, ITERATIONS):
            shutil.copy(tiny_model, folder.checkpoint(iteration))
        lines = (json.dumps(_metrics(i)) for i in range(1, ITERATIONS + 1))
        folder.metrics_path.write_text("".join(f"{line}\n" for line in lines))
        write_live(path, move_number=4)
    return path


def _metrics(iteration: int) -> dict[str, Any]:
    line = {
        "iteration": iteration, "minutes": 2.0 * iteration, "games": 100 * iteration, "positions": 2000 * iteration,
        "total_loss": 3.0 / iteration, "policy_loss": 2.0 / iteration, "value_loss": 1.0 / iteration,
        "positions_per_second": 200.0 + iteration, "evals_per_second": 4000.0, "samples_per_second": 900.0,
        "policy_entropy": 2.0, "target_entropy": 1.5, "game_length": 20.0,
    }  # fmt: skip
    measured = {"elo": 100.0 * iteration, "elo_error": 40.0} if iteration % 3 == 0 else {}
    return line | measured


def write_live(run: Path, move_number: int, workers: list[dict[str, Any]] | None = None) -> None:
    """The games that the run plays now, as many stones in a row as moves; or the workers that play them elsewhere."""
    board = [[(1 - 2 * (5 * x + y & 1)) if 5 * x + y < move_number else 0 for y in range(5)] for x in range(5)]
    games = [{"board": board, "moveNumber": move_number, "lastMove": "A5"}] * 4
    live = {"phase": "self-play", "done": move_number, "total": 100, "speed": 12.5}
    live |= {"games": games} if workers is None else {"games": [], "workers": workers}
    write_atomically(run / "live.json", json.dumps(live).encode())


@pytest.fixture(scope="session")
def server(
    chromium: str, tiny_model: Path, run_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PlayServer]:
    """The server of all tests here; without a browser there is nothing to serve."""
    server = PlayServer(tmp_path_factory.mktemp("server"), "--model", str(tiny_model), "--run", str(run_folder))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def open_page(browser: Browser, server: PlayServer) -> Iterator[Callable[..., Page]]:
    """Makes pages like those of different people; whatever a page complains about fails the test."""
    contexts, complaints = [], []

    def make(**options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 860}, **options})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        return page

    yield make
    for context in contexts:
        context.close()
    away = "net::ERR_CONNECTION_REFUSED"  # a server that is stopped on purpose
    assert [text for text in complaints if away not in text] == []


@pytest.fixture
def table(open_page: Callable[..., Page], server: PlayServer) -> Table:
    """A page as somebody has it who comes for the first time."""
    return Table(open_page(), server.url)
