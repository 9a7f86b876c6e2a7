"""Sabaki's own GTP client (@sabaki/gtp, on Node.js) drives our engine as Sabaki does; see sabaki/talk.mjs."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mini_alphago.engine.gtp import COMMANDS
from mini_alphago.game import WHITE, Board

FOLDER = Path(__file__).parent / "sabaki"
POINT = r"(?:pass|[A-HJ][1-9])"


def run(*command: str, seconds: float) -> str:
    """What it prints; its complaints are the failure if it fails."""
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not (shutil.which("node") and shutil.which("npm")), reason="there is no Node.js (node and npm)")
def test_sabaki(gtp_command: list[str]) -> None:
    """One dialogue, one test: so that one process alone installs the client, and one alone is started."""
    if not (FOLDER / "node_modules" / "@sabaki" / "gtp" / "package.json").exists():
        run("npm", "ci", "--no-audit", "--no-fund", seconds=120)
    told = json.loads(run("node", "talk.mjs", *gtp_command, "--visits", "16", seconds=300).splitlines()[-1])
    check_start(told)
    check_analysis(told)
    for answer, reason in ((told["illegal"], "illegal move"), (told["unknown"], "unknown command")):
        assert answer["error"]
        assert answer["content"].startswith(reason)
    assert "Board size is not supported" in told["refusedBoard"]
    handicap = Board.from_diagram(told["handicap"]["content"])
    assert [handicap.board[point] for point in ((6, 2), (2, 6), (4, 4))] == [1, 1, 2]
    assert (handicap.board != 0).sum() == 3
    assert told["stopped"]
    assert not any("Traceback" in line for line in told["stderr"])


def check_start(told: dict) -> None:
    about = {name: answer["content"] for name, answer in told["about"].items()}
    assert about["name"] == "mini-alphago"
    assert about["protocol_version"] == "2"
    assert re.fullmatch(r"\d+(\.\d+)+", about["version"])
    assert about["list_commands"].split("\n") == sorted(COMMANDS)
    start = ["komi 6.5", "boardsize 9", "clear_board", "play B E5", "play W C3", "play B G7", "genmove W"]
    assert told["sent"][4 : 4 + len(start)] == start
    assert re.fullmatch(POINT, told["genmove"]["content"])
    assert told["afterGenmove"] == 4
    assert told["sent"][11:13] == ["undo", "showboard"]
    board = Board.from_diagram(told["board"]["content"])
    assert [board.board[point] for point in ((4, 4), (6, 2), (2, 6))] == [1, 2, 1]
    assert (board.board != 0).sum() == 3
    assert board.current_player == WHITE


def check_analysis(told: dict) -> None:
    info = rf"info move {POINT} visits \d+ .*?winrate %s .*?prior %s .*?order \d+ pv(?: {POINT})+"
    share, permyriad = r"[01]\.\d+", r"\d{1,5}"  # Sabaki knows one from the other by the point
    for name, number in (("kata", share), ("lz", permyriad)):
        assert len(told[name]["lines"]) >= 3
        assert not told[name]["error"]
        for line in told[name]["lines"]:
            moves, _, ownership = line.partition(" ownership ")
            assert re.fullmatch(rf"(?:{info % (number, number)} ?)+", moves), line
            assert len(ownership.split()) == (81 if name == "kata" else 0)
    assert told["lz"]["after"]["content"] == "mini-alphago"  # what ended it was answered after it
    made = []
    for name in ("kataGenmove", "lzGenmove"):
        assert not told[name]["error"]
        head, *reports, play, blank = told[name]["lines"]
        assert (head, blank) == ("=", "")
        assert all(line.startswith("info move ") for line in reports)
        made.append(re.fullmatch(rf"play ({POINT})", play)[1].upper())
    assert told["tracked"] == [["W", made[0]], ["B", made[1]]]  # the client knows what was played
